/* The 2 KiB circuit, section by section and whole, in template form and generic form; its synthesis from
 * changed data; allocation failures. */
#include "porep_support.h"
#include "filecoin/check.h"
#include <time.h>

static const struct porep_answers ANSWERS = {
    .circuit = "af16fbd708cbd37b1079f0f7bf0b5a50567901bf72bf6d9291fa081dc6797a2a",
    .inputs = "0907b8386e4bebb45bce0b65bf5ec46333778777580c8852846f80507a49f27d",
    .aux = "2fcd810c1dd8ec6286d2c5804df33388a5e7475816c836f292c83751f2c445ae",
    .a = "9c84038028395efc62263c381b252c2a83c3d7a5ef34b5afd888b6dbc5d5ce0b",
    .b = "c68ea4a9536034fb259a95b3a918dafa4ee2557d7453a8a01bcede3d8ecba622",
    .c = "b16ddfc25ea127f12d46759de972e8d006bcfb563bd1e7c2f74c79ad99f9cf9e",
    .aux_count = 2685673,
    .rows_count = 2687921,
    .terms = {6421005, 2689006, 5824682},
    .density_a_aux = 2674908,
    .density_b_aux = 685521,
};

/* Section, challenge, number: as the walk marks them. */
static const struct {
    enum porep_section section;
    uint32_t challenge, number;
    struct section at;
} SECTIONS[] = {
    {POREP_REPLICA_BITS,
     0,
     0,
     {257, 256, 2, "1b2ca0178c3aaccb91f989add34721653edfd34811843cc4db746345acb6a76e",
      "077fff0db6da3fbfffd73084fd90b008be0476afd24bcd06fbefb7bfe8cebf10"}},
    {POREP_COMMITMENTS,
     0,
     0,
     {259, 260, 4, "71c834f1bec95934f989f55d71d73303e00eb492a477b4292e67b468f7c639af",
      "955e92a0241c4567a8b2cce481a81a748cd744cd4eb372cf06e9aca4bc791a8a"}},
    {POREP_TOP,
     0,
     0,
     {571, 571, 4, "681bfeb5237a77e92c0fc9dfbf20ef5588a0c960a9ac7ad6e9f6f84be2f4b97b",
      "2a1f93f485c024b0b629f12593ad0d2a9d80c6b3c8fd52502ae8a406c92fa2db"}},
    {POREP_TREE_D,
     0,
     0,
     {272865, 272582, 5, "a2813cff7e0940dd10d667864f5cfb13201034a9474fd91918df88cc22e80f05",
      "b8eb3e5742316b45649330fb4b3ba163f8eecc805c167e6a10a6cc8533247bec"}},
    {POREP_PARENT_HASH,
     0,
     0,
     {273176, 272895, 5, "61f61066a17a5a0b747c0ab0e3b9430842a29eb3bdd7a6640fbf6ef801e42861",
      "a4bc9229a697eafc3967256d0b8e2729f33681148844737eebd52cc16ccceb03"}},
    {POREP_PARENT_PATH,
     0,
     0,
     {274238, 273969, 6, "5482a3fb8967af97f767a564f6f87f16e497072ba2b99e09e1b2ebd5f7c491e6",
      "368cdb9a3c6a5689e3c49c527e11aafad4ee18f6e03d100a8841d2799a7fcdaf"}},
    {POREP_PARENT_PATH,
     0,
     5,
     {281103, 280904, 11, "6296f6de0131197bfb0787dc6cd3c0d01302321e8313295c839963266f5dcf39",
      "d2975c5171f1f6d11cbd50ed1b82279b8331ee125c6270929c982d82ccb1f23d"}},
    {POREP_PARENT_PATH,
     0,
     13,
     {292087, 292000, 19, "8cd646da1d9d4f36bbfa368d03b84f172b347933bc07a4e4819bb77d6f5f44ff",
      "f8f24a7bab00b958d00cd7b168a857695afd6b1bc5f375793e564eb6605d006d"}},
    {POREP_NODE,
     0,
     0,
     {292152, 292064, 20, "2b9ea02a6f6ea1ed87fa1780907c7fadac01a80836ab54cea3c7f6f17206acc3",
      "644d17183d04ff3dd0d83014bce13ec17a49599ba08971adf32a0de4a1c178c5"}},
    {POREP_LABEL_BITS,
     0,
     0,
     {293688, 293594, 20, "9f1d84cf5c9a6dad2b7f01038f202b1f37ed37f4ab6561d166beb4eb5ecac5b9",
      "5720988c98a4dcba56bf202c24ff7a3cfb079fa9540e2ff682e4df3a56318ddc"}},
    {POREP_LABEL,
     0,
     0,
     {815957, 815343, 20, "ad80a9c8f546aad00607a76c961b1c22f96c055edc3cde9aa705f3fa06b89fae",
      "0099cea3148287c7ab10261147db4cb98069ff311f490675ba4ef76132117243"}},
    {POREP_LABEL_BITS,
     0,
     1,
     {819541, 818913, 20, "d8215580aab1993bb21ccea36c43d95d9f641dc6899ec840287bb8d85b81fe5e",
      "991a8b340e535ea29976bf609802ac7c79293cde150e5daca8c7e36a0a1e2c7c"}},
    {POREP_LABEL,
     0,
     1,
     {1341810, 1340662, 20, "2ba1843440396de9300f1b1af2a1187fffc81e78c53bb2c0084cd13f89432850",
      "eea9a4bd92a4621496ae3ee883595fb4888d30861f9f47aae410a3435f7394b5"}},
    {POREP_ENCODE,
     0,
     0,
     {1341811, 1340663, 20, "54bb009078a2f00db443d0ab1bbf6658958e481a3c12393eb391e97d131f7435",
      "96d78a0d13b693aef68bbb5d6683ed33f71c02b7437269b58be2cb115829081f"}},
    {POREP_TREE_R,
     0,
     0,
     {1342873, 1341737, 21, "18106437a80875c1186d7525772f4efc95e6ae45b4fb0c53c558552e6c60e8bd",
      "48409c8d0384ee3ad7d7ae6628789a6e6a54bceec07206a5b0917e7ce2c8a414"}},
    {POREP_COLUMN_HASH,
     0,
     0,
     {1343184, 1342048, 21, "ee6ea213a90ae58890f7559c8ce8a7dc2a99917f5820ab14981092a0999aa6c3",
      "3b11a95e23a7fd267162a523fc3d5720cfe54dac3a57cde4ee23e1882e8041cc"}},
    {POREP_CHALLENGE,
     0,
     0,
     {1344246, 1343122, 22, "edccf624b9281a5ef7256d5f8a16dc681248236e886a95e7be132ac5e74c0c61",
      "3f531c4a3382d7749632b29a04da897eeb7fca695f64989ddb5087618408757c"}},
    {POREP_CHALLENGE,
     1,
     0,
     {2687921, 2685673, 40, "c48acf08e6220b0839cc17ab449cb1bf5d81d70f6c4048d301be4cadb3658429",
      "2fcd810c1dd8ec6286d2c5804df33388a5e7475816c836f292c83751f2c445ae"}},
};
#define SECTIONS_COUNT (sizeof SECTIONS / sizeof *SECTIONS)

/* Notes the counts where the walk says it is. */
static void compare_counts(void *context, struct circuit *c, enum porep_section section, uint32_t challenge,
                           uint32_t number)
{
    uint32_t *found = context, rows, aux, inputs;
    for (size_t i = 0; i < SECTIONS_COUNT; i++) {
        if (SECTIONS[i].section != section || SECTIONS[i].challenge != challenge ||
            SECTIONS[i].number != number)
            continue;
        circuit_counts(c, &rows, &aux, &inputs);
        assert_int_equal(rows, SECTIONS[i].at.rows_count);
        assert_int_equal(aux, SECTIONS[i].at.aux_count);
        assert_int_equal(inputs, SECTIONS[i].at.inputs_count);
        ++*found;
    }
}

static struct shape *SHAPE;

static int make_shape(void **state)
{
    (void)state;
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    ok(porep_shape(&SHAPE, sector_by_circuit("2k")));
    clock_gettime(CLOCK_MONOTONIC, &b);
    print_message("shape: %.0f ms, %.1f MB\n",
                  (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6,
                  (double)shape_bytes(SHAPE) / 1e6);
    return 0;
}

static int drop_shape(void **state)
{
    (void)state;
    shape_release(SHAPE);
    return 0;
}

static void counts_of_sections(void **state)
{
    (void)state;
    struct shape_builder *builder;
    struct circuit c;
    uint32_t found = 0;
    struct porep_observer observer = {compare_counts, &found};
    ok(shape_builder_start(&builder));
    ok(circuit_start(&c, builder, NULL, NULL));
    porep_circuit(&c, sector_by_circuit("2k"), NULL, 0, &observer);
    ok(circuit_end(&c));
    shape_builder_abandon(builder);
    assert_int_equal(found, SECTIONS_COUNT);
}

static void rows_of_sections(void **state)
{
    (void)state;
    struct section at[SECTIONS_COUNT];
    for (size_t i = 0; i < SECTIONS_COUNT; i++)
        at[i] = SECTIONS[i].at;
    check_rows(SHAPE, at, SECTIONS_COUNT);
}

static void values_of_sections(void **state)
{
    (void)state;
    struct section at[SECTIONS_COUNT];
    struct c1 c1;
    struct seeds seeds;
    struct witness witness;
    struct work work = {NULL, PRIORITY_NORMAL, NULL};
    for (size_t i = 0; i < SECTIONS_COUNT; i++)
        at[i] = SECTIONS[i].at;
    test_c1(&c1, "porep-2k/c1.json");
    ok(porep_seeds(&seeds, SHAPE, &c1, 0));
    ok(witness_start(&witness, SHAPE));
    ok(witness_expand(&witness, SHAPE, &seeds, &work));
    check_aux(SHAPE, &witness, at, SECTIONS_COUNT);
    witness_end(&witness);
    seeds_end(&seeds);
    c1_end(&c1);
}

static void whole_circuit(void **state)
{
    (void)state;
    struct c1 c1;
    struct pool *pool;
    ok(pool_start(&pool, 2));
    struct work work = {pool, PRIORITY_NORMAL, NULL};
    test_c1(&c1, "porep-2k/c1.json");
    check_shape(SHAPE, c1.sector, &ANSWERS);
    check_values(SHAPE, &c1, &ANSWERS, &work);
    c1_end(&c1);
    pool_end(pool);
}

/* The generic system is the oracle: same rows, same values. */
static void generic_form(void **state)
{
    (void)state;
    struct c1 c1;
    struct dictionary dictionary;
    struct cs cs;
    struct circuit c;
    uint8_t digest[32];
    test_c1(&c1, "porep-2k/c1.json");
    ok(dictionary_init(&dictionary));
    ok(cs_init(&cs, &dictionary, true, true));
    ok(circuit_start(&c, NULL, NULL, &cs));
    porep_circuit(&c, c1.sector, &c1, 0, NULL);
    ok(circuit_end(&c));
    cs_rows_digest(digest, &cs, true, UINT32_MAX);
    same_hex(digest, 32, ANSWERS.circuit);
    cs_aux_digest(digest, &cs, UINT32_MAX);
    same_hex(digest, 32, ANSWERS.aux);
    assert_int_equal(cs_first_unsatisfied(&cs), UINT32_MAX);
    cs_end(&cs);
    dictionary_end(&dictionary);
    c1_end(&c1);
}

/* One row of an expander parent's column plus one, everything recomputed: three rows break, the three
 * equalities of roots that depend on it (specification 7.4). */
static void changed_column(void **state)
{
    (void)state;
    struct c1 c1;
    struct seeds seeds;
    struct witness witness;
    struct work work = {NULL, PRIORITY_NORMAL, NULL};
    test_c1(&c1, "porep-2k/c1.json");
    c1_proof(&c1, 0, 0)->parents[DRG_PARENTS + 2].rows[0][0] ^= 1;
    ok(porep_seeds(&seeds, SHAPE, &c1, 0));
    ok(witness_start(&witness, SHAPE));
    ok(witness_expand(&witness, SHAPE, &seeds, &work));
    size_t size = shape_all_rows(SHAPE), broken = 0;
    fr *abc = mem_alloc(3 * size, sizeof(fr));
    ok(witness_evaluate(abc, abc + size, abc + 2 * size, size, SHAPE, &witness, &work));
    for (size_t i = 0; i < size; i++) {
        fr product;
        fr_mul(&product, &abc[i], &abc[size + i]);
        broken += !fr_equal(&product, &abc[2 * size + i]);
    }
    assert_int_equal(broken, 3);
    mem_free(abc);
    witness_end(&witness);
    seeds_end(&seeds);
    c1_end(&c1);
}

/* The generic parts of a shape allocate much; some numbers out of every range are enough. */
static void failing_allocations(void **state)
{
    (void)state;
    struct c1 c1;
    test_c1(&c1, "porep-2k/c1.json");
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        struct seeds seeds;
        size_t before = mem_used();
        mem_fail_after(n);
        struct status s = porep_seeds(&seeds, SHAPE, &c1, 0);
        mem_fail_after(0);
        done = !status_failed(&s);
        if (done)
            seeds_end(&seeds);
        else
            assert_int_equal(s.code, STATUS_MEMORY);
        assert_int_equal(mem_used(), before);
        assert_true(n < 100);
    }
    done = false;
    for (uint64_t n = 1; !done; n += 1 + n / 8) {
        struct shape *shape;
        size_t before = mem_used();
        mem_fail_after(n);
        struct status s = porep_shape(&shape, sector_by_circuit("2k"));
        mem_fail_after(0);
        done = !status_failed(&s);
        if (done)
            shape_release(shape);
        else
            assert_int_equal(s.code, STATUS_MEMORY);
        assert_int_equal(mem_used(), before);
    }
    c1_end(&c1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_of_sections), cmocka_unit_test(rows_of_sections),
        cmocka_unit_test(values_of_sections), cmocka_unit_test(whole_circuit),
        cmocka_unit_test(generic_form),       cmocka_unit_test(changed_column),
        cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, make_shape, drop_shape);
}
