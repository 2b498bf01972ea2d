/* Witnesses against the generic system: expansion, evaluation, single values, digests; every value changed
 * once; with and without a pool; cancelled; without memory. */
#include "random_circuit.h"

#include "base/mem.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define assert_ok(expression)                                                                                \
    do {                                                                                                     \
        struct status assert_status_ = (expression);                                                         \
        if (status_failed(&assert_status_))                                                                  \
            fail_msg("%s", assert_status_.message);                                                          \
    } while (0)

static const struct work ALONE = {.priority = PRIORITY_NORMAL};

static fr side_value(const struct cs *cs, uint64_t side)
{
    fr sum = FR_ZERO, t;
    for (uint64_t i = cs->rows.first[side]; i < cs->rows.first[side + 1]; i++) {
        t = cs_value(cs, (variable){cs->rows.columns[i]});
        fr_mul(&t, &t, &cs->dictionary->values[cs->rows.coefficients[i]]);
        fr_add(&sum, &sum, &t);
    }
    return sum;
}

/* The same values piece by piece, with and without c; a piece may be empty. */
static void check_pieces(fr *const whole[3], const struct random_circuit *c, const struct witness *w,
                         const struct work *work)
{
    uint32_t rows = c->shape->rows, begin = 0;
    for (unsigned round = 0; begin < rows; round++) {
        uint32_t count = round == 0 ? 0 : 1 + random_below(rows - begin);
        fr *piece[3];
        for (int k = 0; k < 3; k++)
            piece[k] = malloc((count + 1) * sizeof(fr));
        for (int with_c = 0; with_c < 2; with_c++) {
            for (int k = 0; k < 3; k++)
                memset(piece[k], 0xab, (count + 1) * sizeof(fr));
            assert_ok(witness_evaluate_rows(piece[0], piece[1], with_c ? piece[2] : NULL, begin,
                                            begin + count, c->shape, w, work));
            for (int k = 0; k < 2 + with_c; k++) {
                assert_memory_equal(piece[k], whole[k] + begin, count * sizeof(fr));
                assert_int_equal(((uint8_t *)&piece[k][count])[0], 0xab); /* nothing behind it */
            }
        }
        for (int k = 0; k < 3; k++)
            free(piece[k]);
        begin += count;
    }
}

static void check_evaluation(const struct random_circuit *c, const struct witness *w, const struct work *work)
{
    const struct cs *cs = &c->oracle;
    size_t rows = cs->rows.rows, size = shape_all_rows(c->shape) + random_below(300);
    fr *out[3], *quick[2];
    for (int k = 0; k < 3; k++) {
        out[k] = malloc(size * sizeof(fr));
        memset(out[k], 0xab, size * sizeof(fr));
    }
    for (int k = 0; k < 2; k++) {
        quick[k] = malloc(size * sizeof(fr));
        memset(quick[k], 0xcd, size * sizeof(fr));
    }
    assert_ok(witness_evaluate(out[0], out[1], out[2], size, c->shape, w, work));
    assert_ok(witness_evaluate(quick[0], quick[1], NULL, size, c->shape, w, work));
    for (size_t row = 0; row < size; row++)
        for (unsigned k = 0; k < 3; k++) {
            fr expected = FR_ZERO;
            if (row < rows)
                expected = side_value(cs, 3 * row + k);
            else if (row - rows < cs->inputs && k == 0)
                expected = cs->input_values[row - rows];
            if (!fr_equal(&out[k][row], &expected))
                fail_msg("side %u of row %zu of %zu", k, row, rows);
            if (k < 2 && !fr_equal(&quick[k][row], &expected))
                fail_msg("side %u of row %zu of %zu, without c", k, row, rows);
        }
    check_pieces(out, c, w, work);
    for (int k = 0; k < 3; k++)
        free(out[k]);
    for (int k = 0; k < 2; k++)
        free(quick[k]);
}

static void check_values(const struct random_circuit *c, const struct witness *w)
{
    uint8_t ours[32], oracle[32];
    for (uint32_t i = 0; i < c->oracle.aux; i++) {
        fr x = witness_value(w, c->shape, variable_aux(i)), y = cs_value(&c->oracle, variable_aux(i));
        if (!fr_equal(&x, &y))
            fail_msg("aux %u of %u", i, c->oracle.aux);
    }
    for (uint32_t i = 0; i < c->oracle.inputs; i++) {
        fr x = witness_value(w, c->shape, variable_input(i));
        assert_true(fr_equal(&x, &c->oracle.input_values[i]));
    }
    for (int round = 0; round < 3; round++) {
        uint32_t end = round ? random_below(c->oracle.aux + 1) : UINT32_MAX;
        witness_aux_digest(ours, w, c->shape, end);
        cs_aux_digest(oracle, &c->oracle, end);
        assert_memory_equal(ours, oracle, 32);
    }
    uint32_t row;
    assert_ok(witness_first_unsatisfied(&row, c->shape, w));
    assert_int_equal(row, UINT32_MAX);
}

static void run_random(uint64_t from, uint64_t to, const struct work *work, bool large)
{
    for (uint64_t seed = from; seed < to; seed++) {
        struct random_circuit c;
        struct witness w;
        print_message("seed %llu\n", (unsigned long long)seed);
        random_seed(seed);
        random_circuit_make(&c, large ? 400 : (uint32_t)seed % 40,
                            large ? 200 : 2 + (uint32_t)(seed * 11) % 120);
        assert_ok(witness_start(&w, c.shape));
        assert_ok(witness_expand(&w, c.shape, &c.seeds, work));
        check_values(&c, &w);
        check_evaluation(&c, &w, work);
        witness_end(&w);
        random_circuit_end(&c);
    }
}

static void random_witnesses_equal_the_generic_run(void **state)
{
    (void)state;
    run_random(200, 250, &ALONE, false);
}

static void a_pool_gives_the_same(void **state)
{
    (void)state;
    struct work work = {.priority = PRIORITY_HIGH};
    assert_ok(pool_start(&work.pool, 4));
    run_random(300, 310, &work, false);
    run_random(310, 312, &work, true);
    pool_end(work.pool);
}

/* Changes one aux value. */
static void flip(struct witness *w, const struct shape *s, const uint32_t *slots, uint32_t aux)
{
    if (slots[aux] == UINT32_MAX)
        w->bits[aux / 64] ^= UINT64_C(1) << (aux % 64);
    else
        fr_add(&w->fields[slots[aux]], &w->fields[slots[aux]], &FR_ONE);
    (void)s;
}

static void every_value_matters(void **state)
{
    (void)state;
    for (uint64_t seed = 400; seed < 406; seed++) {
        struct random_circuit c;
        struct witness w;
        uint32_t row;
        random_seed(seed);
        random_circuit_make(&c, 12, 12);
        assert_ok(witness_start(&w, c.shape));
        assert_ok(witness_expand(&w, c.shape, &c.seeds, &ALONE));
        uint32_t *variables = malloc((c.shape->fields + 1) * sizeof *variables);
        uint32_t *slots = malloc(c.shape->aux * sizeof *slots);
        memset(slots, 0xff, c.shape->aux * sizeof *slots);
        shape_field_variables(variables, c.shape);
        for (uint32_t i = 0; i < c.shape->fields; i++)
            slots[variables[i]] = i;
        for (uint32_t aux = 0; aux < c.shape->aux; aux++) {
            fr old = slots[aux] == UINT32_MAX ? FR_ZERO : w.fields[slots[aux]];
            flip(&w, c.shape, slots, aux);
            assert_ok(witness_first_unsatisfied(&row, c.shape, &w));
            if (row == UINT32_MAX)
                fail_msg("seed %llu: aux %u may have any value", (unsigned long long)seed, aux);
            c.oracle.aux_values[aux] = witness_value(&w, c.shape, variable_aux(aux));
            assert_int_equal(row, cs_first_unsatisfied(&c.oracle));
            if (slots[aux] == UINT32_MAX)
                flip(&w, c.shape, slots, aux);
            else
                w.fields[slots[aux]] = old;
            c.oracle.aux_values[aux] = witness_value(&w, c.shape, variable_aux(aux));
        }
        for (uint32_t i = 1; i < c.shape->inputs; i++) {
            fr old = c.seeds.inputs[i];
            fr_add(&c.seeds.inputs[i], &old, &FR_ONE);
            assert_ok(witness_first_unsatisfied(&row, c.shape, &w));
            assert_int_not_equal(row, UINT32_MAX);
            c.seeds.inputs[i] = old;
        }
        assert_ok(witness_first_unsatisfied(&row, c.shape, &w));
        assert_int_equal(row, UINT32_MAX);
        free(variables);
        free(slots);
        witness_end(&w);
        random_circuit_end(&c);
    }
}

/* With c wanted, a row that does not hold is evaluated as it stands. */
static void broken_rows_are_evaluated_exactly(void **state)
{
    (void)state;
    struct random_circuit c;
    struct witness w;
    random_seed(500);
    random_circuit_make(&c, 20, 40);
    assert_ok(witness_start(&w, c.shape));
    assert_ok(witness_expand(&w, c.shape, &c.seeds, &ALONE));
    for (uint32_t i = 0; i < c.shape->fields; i++)
        w.fields[i] = random_fr();
    size_t size = shape_all_rows(c.shape);
    fr *a = malloc(size * sizeof *a), *b = malloc(size * sizeof *b), *d = malloc(size * sizeof *d);
    assert_ok(witness_evaluate(a, b, d, size, c.shape, &w, &ALONE));
    for (uint32_t i = 0; i < c.oracle.aux; i++)
        c.oracle.aux_values[i] = witness_value(&w, c.shape, variable_aux(i));
    for (uint32_t row = 0; row < c.oracle.rows.rows; row++) {
        fr x = side_value(&c.oracle, 3 * (uint64_t)row), y = side_value(&c.oracle, 3 * (uint64_t)row + 2);
        assert_true(fr_equal(&x, &a[row]) && fr_equal(&y, &d[row]));
    }
    free(a);
    free(b);
    free(d);
    witness_end(&w);
    random_circuit_end(&c);
}

static void cancelled_work_says_so(void **state)
{
    (void)state;
    struct random_circuit c;
    struct witness w;
    struct cancel cancel;
    struct work work = {.priority = PRIORITY_NORMAL, .cancel = &cancel};
    atomic_init(&cancel.requested, true);
    random_seed(600);
    random_circuit_make(&c, 20, 20);
    size_t size = shape_all_rows(c.shape);
    fr *a = malloc(2 * size * sizeof *a);
    assert_ok(witness_start(&w, c.shape));
    assert_int_equal(witness_expand(&w, c.shape, &c.seeds, &work).code, STATUS_CANCELLED);
    assert_int_equal(witness_evaluate(a, a + size, NULL, size, c.shape, &w, &work).code, STATUS_CANCELLED);
    free(a);
    witness_end(&w);
    random_circuit_end(&c);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct random_circuit c;
    random_seed(700);
    random_circuit_make(&c, 10, 10);
    size_t size = shape_all_rows(c.shape), before = mem_used();
    fr *a = malloc(2 * size * sizeof *a);
    for (uint64_t n = 1;; n++) {
        struct witness w;
        uint32_t row;
        mem_fail_after(n);
        struct status s = witness_start(&w, c.shape);
        if (!status_failed(&s))
            s = witness_expand(&w, c.shape, &c.seeds, &ALONE);
        if (!status_failed(&s))
            s = witness_evaluate(a, a + size, NULL, size, c.shape, &w, &ALONE);
        if (!status_failed(&s))
            s = witness_first_unsatisfied(&row, c.shape, &w);
        mem_fail_after(0);
        witness_end(&w);
        assert_int_equal(mem_used(), before);
        if (!status_failed(&s))
            break;
        assert_int_equal(s.code, STATUS_MEMORY);
    }
    free(a);
    random_circuit_end(&c);
}

static void bytes_are_what_is_held(void **state)
{
    (void)state;
    struct random_circuit c;
    struct witness w;
    random_seed(800);
    random_circuit_make(&c, 10, 100);
    size_t before = mem_used();
    assert_ok(witness_start(&w, c.shape));
    assert_int_equal(mem_used() - before, witness_bytes(c.shape));
    witness_end(&w);
    seeds_end(&c.seeds);
    before = mem_used();
    assert_ok(seeds_start(&c.seeds, c.shape));
    assert_int_equal(mem_used() - before, seeds_bytes(c.shape));
    assert_true(fr_equal(&c.seeds.inputs[0], &FR_ONE));
    assert_false(seeds_complete(&c.seeds));
    random_circuit_end(&c);
}

/* ---- broken contracts abort ---- */

static struct random_circuit broken;

static void too_many_fields(void)
{
    seeds_field(&broken.seeds, &FR_ONE);
}

static void too_many_bits(void)
{
    seeds_bits(&broken.seeds, 0, 1);
}

static void too_many_hints(void)
{
    seeds_hints(&broken.seeds, &(uint32_t){0}, 1);
}

static void too_many_inputs(void)
{
    seeds_input(&broken.seeds, &FR_ONE);
}

static void too_few_seeds(void)
{
    struct witness w;
    broken.seeds.fields_count--;
    if (!witness_start(&w, broken.shape).code &&
        !witness_expand(&w, broken.shape, &broken.seeds, &ALONE).code)
        exit(0);
}

static void too_few_rows(void)
{
    struct witness w = {0};
    fr a[1];
    if (!witness_evaluate(a, a, NULL, shape_all_rows(broken.shape) - 1, broken.shape, &w, &ALONE).code)
        exit(0);
}

static void expect_abort(void (*act)(void))
{
    int how;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(2); /* the message is expected */
        signal(SIGABRT, SIG_DFL);
        act();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT);
}

static void broken_contracts_abort(void **state)
{
    (void)state;
    random_seed(900);
    random_circuit_make(&broken, 10, 20);
    assert_true(broken.shape->seed_fields > 0);
    expect_abort(too_many_fields);
    expect_abort(too_many_bits);
    expect_abort(too_many_hints);
    expect_abort(too_many_inputs);
    expect_abort(too_few_seeds);
    expect_abort(too_few_rows);
    random_circuit_end(&broken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_witnesses_equal_the_generic_run),
        cmocka_unit_test(a_pool_gives_the_same),
        cmocka_unit_test(every_value_matters),
        cmocka_unit_test(broken_rows_are_evaluated_exactly),
        cmocka_unit_test(cancelled_work_says_so),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(bytes_are_what_is_held),
        cmocka_unit_test(broken_contracts_abort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
