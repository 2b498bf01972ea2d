/* The circuit of every sector size. Default: counts of all small sizes, and whole circuits of 4, 16 and 32
 * KiB (sealed here) and 8 MiB (a real C1 output). --full: rows digests of 32 and 64 GiB, after one and two
 * challenges and whole, against whole partitions that the reference synthesised. */
#include "porep_support.h"
#include "seal_support.h"
#include "filecoin/check.h"
#include <time.h>

static struct work WORK;

static int start_pool(void **state)
{
    struct pool *pool;
    (void)state;
    ok(pool_start(&pool, 2));
    WORK = (struct work){pool, PRIORITY_NORMAL, NULL};
    return 0;
}

static int end_pool(void **state)
{
    (void)state;
    pool_end(WORK.pool);
    return 0;
}

static void sealed_sizes(void **state)
{
    (void)state;
    static const char *const circuits[3] = {"4k", "16k", "32k"};
    static const struct porep_answers answers[3] = {
        {"39b8f729e8b1c3bc1d9c2d8e6c2fc918dec77ccb62a645399a4b1c3959e28d16",
         "344b7faf6849c2fad97c84d6b390ae6103d13e44a8f5cb9dd885ad81f987b8e4",
         "e2b1e77f257d1095c05e085b47cdf99589112afb86321b77ce76f285a692e99a",
         "f9baf0a3785dc818f35b913e531e3b17189912f0ba6c26ee036afb5aa862d813",
         "e3c963a40ec438f313eec88a7e1cb36ecb5c34abb8f6a048352701309a5dade0",
         "2f6d794be4378eb417a20b44cbe93a86551ab878cbd4e1fd9263fab6758a481c",
         2786423,
         2788733,
         {6697391, 2789942, 6030908},
         2773158,
         716039},
        {"1d504a5cecf27c3ec7bc7db7daece2bb3014279a75298db83cb5f692e4e29fed",
         "99f53eb913f6177004074eb30122abeab7048fe0241d68abdc612131794a50f5",
         "1d103329f63ffe63819d175e0f46ee21ab54045d8e3160294994c59195365ad9",
         "1d7094b22f444e14c2b341c6b5a4e5b72684e4f43688a269f8ec4af20d694d48",
         "2fdb9795d7ce96100d20541cc205b170032f932ec04d06af63926856eefff7e0",
         "bd10805187fc3d29576b690f116b2edd23a2291b06f9628ea73c4eb66ee6b3e6",
         2974867,
         2977173,
         {7162867, 2978726, 6427232},
         2959930,
         766963},
        {"fe8b1ffd8372ea2f8cfcfd197e9945d6480fa0986532cf39f1ec3f0721e35da2",
         "e55ff55702dcf9baa578b2f824dbf74f9038b2a54f731d9e656a63f4bbcb8810",
         "67a9afdd5293b8995ca462a644ffe13dfa72980d4d388e25325ff834e9bb52b4",
         "16dd206a56224589057c3add481ac8a10f1377fb475ee434035bc9bccee9058f",
         "241093307034fc2fbd7c257dd675a0c6f5f38545f46e09c3363829d3c642e9a0",
         "8cacf8ab15a8b6598d7afac9e0488a19c49bb84350402c365e84bf17cb86187b",
         3075617,
         3077985,
         {7439253, 3079662, 6633458},
         3058180,
         797481},
    };
    for (int i = 0; i < 3; i++) {
        struct c1 c1;
        struct shape *shape;
        ok(seal_known(&c1, circuits[i], 5, 1, &WORK));
        ok(porep_shape(&shape, c1.sector));
        check_shape(shape, c1.sector, &answers[i]);
        check_values(shape, &c1, &answers[i], &WORK);
        shape_release(shape);
        c1_end(&c1);
    }
}

static void real_8m(void **state)
{
    (void)state;
    static const struct porep_answers answers = {
        "6ca9d7bad0711503af3a2285b1b520b4ffe6658d74f49beed5bfff0f4e1497f2",
        "4ec22ce002956c597c2f5817b4d836bbdc96351693894ed68f56c601493b5612",
        "1d08966e3983ab53217209a55845034b96f744916218fca2c6e0f542e0444750",
        "e8b51bddcd45a88de6151a7107b5fab6a84e48b80da81941df85401836f789f4",
        "825bb74e3e3006873259b6eca257b36e8026d055924dfca3fe80ec8026a6d442",
        "ea74bf069d1b8423b4161800692a2d98a29d65a51dc2950b3fbaafe43db98b10",
        3842449,
        3844929,
        {9388453, 3847886, 8234882},
        3814996,
        1011289};
    struct c1 c1;
    struct shape *shape;
    test_c1(&c1, "porep-8m/c1.json");
    ok(porep_shape(&shape, c1.sector));
    check_shape(shape, c1.sector, &answers);
    check_values(shape, &c1, &answers, &WORK);
    shape_release(shape);
    c1_end(&c1);
}

/* Counts of the sizes that have no digest at hand. */
static void counts(void **state)
{
    (void)state;
    static const struct {
        const char *circuit;
        uint32_t aux, rows;
        uint64_t terms[3];
        uint32_t a_aux, b_aux, domain;
    } expected[] = {
        {"16m", 3943199, 3945741, {9664839, 3948822, 8441108}, 3913246, 1041807, 22},
        {"512m", 4420837, 4423433, {10872177, 4427326, 9439982}, 4385040, 1174173, 23},
        {"1g", 4521587, 4524245, {11148563, 4528262, 9646208}, 4483290, 1204691, 23},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct shape *shape;
        ok(porep_shape(&shape, sector_by_circuit(expected[i].circuit)));
        assert_int_equal(shape->inputs, 40);
        assert_int_equal(shape->aux, expected[i].aux);
        assert_int_equal(shape->rows, expected[i].rows);
        for (int m = 0; m < 3; m++)
            assert_true(shape->terms[m] == expected[i].terms[m]);
        assert_int_equal(shape->density.a_aux_count, expected[i].a_aux);
        assert_int_equal(shape->density.b_aux_count, expected[i].b_aux);
        assert_int_equal(shape_log2_domain(shape), expected[i].domain);
        shape_release(shape);
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void production(const char *circuit, const struct porep_answers *x, uint32_t rows_per_challenge,
                       const char *first, const char *second, const char *all)
{
    struct shape *shape;
    double start = seconds();
    ok(porep_shape(&shape, sector_by_circuit(circuit)));
    print_message("porep-%s: shape in %.2f s, %.1f MB\n", circuit, seconds() - start,
                  (double)shape_bytes(shape) / 1e6);
    const struct section at[] = {{571 + rows_per_challenge, 0, 0, first, NULL},
                                 {571 + 2 * rows_per_challenge, 0, 0, second, NULL},
                                 {shape->rows, 0, 0, all, NULL}};
    assert_int_equal(shape->inputs, 328);
    assert_int_equal(shape->aux, x->aux_count);
    assert_int_equal(shape->rows, x->rows_count);
    for (int m = 0; m < 3; m++)
        assert_true(shape->terms[m] == x->terms[m]);
    assert_int_equal(shape->density.a_aux_count, x->density_a_aux);
    assert_int_equal(shape->density.b_aux_count, x->density_b_aux);
    assert_int_equal(shape_log2_domain(shape), 27);
    start = seconds();
    check_rows(shape, at, 3);
    print_message("porep-%s: rows digest in %.1f s\n", circuit, seconds() - start);
    shape_release(shape);
}

static void production_32g(void **state)
{
    (void)state;
    static const struct porep_answers answers = {.aux_count = 130169893,
                                                 .rows_count = 130278541,
                                                 .terms = {309405051, 130327340, 282656500},
                                                 .density_a_aux = 129753292,
                                                 .density_b_aux = 33112281};
    production("32g", &answers, 7237665, "6860eb35201b68c3f78601a5884f52cef6aa3011d088c7311fc43b74503d51cf",
               "afb59c4a5be82636d32e3755a96fcf906f050df9b9cd480ab78cc879eb871519",
               "86a77ddcb20e46c8f18866c40276b89d63bc6524e68562b81c6e6961cffff756");
}

static void production_64g(void **state)
{
    (void)state;
    static const struct porep_answers answers = {.aux_count = 131076643,
                                                 .rows_count = 131185849,
                                                 .terms = {311892525, 131235764, 284512534},
                                                 .density_a_aux = 130637542,
                                                 .density_b_aux = 33386943};
    production("64g", &answers, 7288071, "b9694e049d7c4a8b451ab650d84390d53d4661c9f39a22d7ce9e3ca6846af5bd",
               "ea66ac25940f48542d94a7e7d4f55ac0dc23ae0ba89a1d5a40f912f4e06adeb0",
               "28a13587099a74ab07b1de25e3c930e083ca814b2636eaaf9d1973944ce49b0b");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sealed_sizes), cmocka_unit_test(real_8m),
                                       cmocka_unit_test(counts)};
    const struct CMUnitTest full[] = {cmocka_unit_test(production_32g), cmocka_unit_test(production_64g)};
    if (argc > 1 && strcmp(argv[1], "--full") == 0)
        return cmocka_run_group_tests(full, start_pool, end_pool);
    return cmocka_run_group_tests(tests, start_pool, end_pool);
}
