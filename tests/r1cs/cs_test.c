/* The generic constraint system: merging and sorting of linear combinations against a plain sum, the
 * dictionary, digests of a system small enough to serialise by hand, and every allocation failing once. */
#include "r1cs/cs.h"

#include "base/mem.h"
#include <openssl/sha.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static uint64_t random_state = 20240611;

static uint64_t random_u64(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static fr small(int64_t v)
{
    fr out;
    fr_from_u64(&out, (uint64_t)(v < 0 ? -v : v));
    if (v < 0)
        fr_neg(&out, &out);
    return out;
}

static void dictionary_numbers_by_first_use(void **state)
{
    (void)state;
    struct dictionary d;
    uint16_t number;
    assert_int_equal(dictionary_init(&d).code, STATUS_OK);
    fr one = small(1), minus = small(-1);
    assert_int_equal(dictionary_number(&d, &number, &minus).code, STATUS_OK);
    assert_int_equal(number, 1);
    assert_int_equal(dictionary_number(&d, &number, &one).code, STATUS_OK);
    assert_int_equal(number, 0);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 2; i < 65536; i++) {
            fr v = small(i);
            assert_int_equal(dictionary_number(&d, &number, &v).code, STATUS_OK);
            assert_int_equal(number, i);
        }
    assert_int_equal(d.count, 65536);
    fr v = small(65536);
    assert_int_equal(dictionary_number(&d, &number, &v).code, STATUS_UNSUPPORTED);
    dictionary_end(&d);
}

static void simplify_is_sorted_merged_and_nonzero(void **state)
{
    (void)state;
    struct lc l;
    lc_init(&l);
    for (int round = 0; round < 2000; round++) {
        int64_t sums[2][24] = {{0}};
        uint32_t terms = (uint32_t)(random_u64() % 60);
        lc_clear(&l);
        for (uint32_t i = 0; i < terms; i++) {
            uint32_t space = (uint32_t)(random_u64() & 1), index = (uint32_t)(random_u64() % 24);
            int64_t c = (int64_t)(random_u64() % 5) - 2;
            fr coefficient = small(c);
            sums[space][index] += c;
            lc_add(&l, space ? variable_aux(index) : variable_input(index), &coefficient);
        }
        lc_simplify(&l);
        uint32_t at = 0;
        for (uint32_t space = 0; space < 2; space++)
            for (uint32_t index = 0; index < 24; index++) {
                if (sums[space][index] == 0)
                    continue;
                fr coefficient = small(sums[space][index]);
                assert_true(at < l.count);
                assert_int_equal(l.terms[at].v.id, (space ? variable_aux(index) : variable_input(index)).id);
                assert_true(fr_equal(&l.terms[at].coefficient, &coefficient));
                at++;
            }
        assert_int_equal(at, l.count);
    }
    lc_end(&l);
}

/* x * y = z, z public; then (x + 2 y - x) * 1 = 2 y: x cancels. */
static struct status build(struct cs *cs, struct dictionary *d, int64_t z_value)
{
    struct lc l[4];
    fr x_value = small(3), y_value = small(5), product = small(z_value), two = small(2);
    TRY(cs_init(cs, d, true, true));
    for (int i = 0; i < 4; i++)
        lc_init(&l[i]);
    variable x = cs_alloc(cs, KIND_FIELD, &x_value), y = cs_alloc(cs, KIND_FIELD, &y_value);
    variable z = cs_alloc_input(cs, &product);
    lc_add_one(&l[0], x);
    lc_add_one(&l[1], y);
    lc_add_one(&l[2], z);
    cs_enforce(cs, &l[0], &l[1], &l[2]);
    lc_add(&l[0], y, &two);
    lc_sub_one(&l[0], x);
    lc_clear(&l[1]);
    lc_add_one(&l[1], VARIABLE_ONE);
    lc_clear(&l[2]);
    lc_add(&l[3], y, &FR_ONE);
    lc_add_lc(&l[2], &l[3], &two);
    cs_enforce(cs, &l[0], &l[1], &l[2]);
    fr expected = small(10), got = cs_lc_value(cs, &l[0]);
    if (!status_failed(&cs->error)) {
        assert_true(fr_equal(&got, &expected));
    }
    for (int i = 0; i < 4; i++)
        lc_end(&l[i]);
    struct status error = cs->error;
    if (status_failed(&error))
        cs_end(cs);
    return error;
}

static void put_term(uint8_t **to, uint8_t kind, uint32_t index, uint8_t coefficient)
{
    (*to)[0] = kind;
    memcpy(*to + 1, &index, 4);
    memset(*to + 5, 0, 32);
    (*to)[5] = coefficient;
    *to += 37;
}

static void put_count(uint8_t **to, uint32_t count)
{
    memcpy(*to, &count, 4);
    *to += 4;
}

static void digests_are_those_of_the_serialised_rows(void **state)
{
    (void)state;
    struct dictionary d;
    struct cs cs;
    uint8_t bytes[1024], *to = bytes, expected[32], got[32];
    assert_int_equal(dictionary_init(&d).code, STATUS_OK);
    assert_int_equal(build(&cs, &d, 15).code, STATUS_OK);
    put_count(&to, 2);
    put_count(&to, 2);
    put_count(&to, 2);
    put_count(&to, 1);
    put_term(&to, 1, 0, 1);
    put_count(&to, 1);
    put_term(&to, 1, 1, 1);
    put_count(&to, 1);
    put_term(&to, 0, 1, 1);
    uint8_t *first_row_end = to;
    put_count(&to, 1);
    put_term(&to, 1, 1, 2);
    put_count(&to, 1);
    put_term(&to, 0, 0, 1);
    put_count(&to, 1);
    put_term(&to, 1, 1, 2);
    SHA256(bytes, (size_t)(to - bytes), expected);
    cs_rows_digest(got, &cs, true, UINT32_MAX);
    assert_memory_equal(got, expected, 32);
    SHA256(bytes + 12, (size_t)(first_row_end - bytes - 12), expected);
    cs_rows_digest(got, &cs, false, 1);
    assert_memory_equal(got, expected, 32);
    memset(bytes, 0, 64);
    bytes[0] = 3;
    bytes[32] = 5;
    SHA256(bytes, 64, expected);
    cs_aux_digest(got, &cs, UINT32_MAX);
    assert_memory_equal(got, expected, 32);
    SHA256(bytes, 32, expected);
    cs_aux_digest(got, &cs, 1);
    assert_memory_equal(got, expected, 32);

    struct cs_density density;
    assert_int_equal(cs_count_density(&density, &cs).code, STATUS_OK);
    assert_int_equal(density.a_aux, 2);
    assert_int_equal(density.b_aux, 1);
    assert_int_equal(density.b_input, 1);
    assert_int_equal(cs_first_unsatisfied(&cs), UINT32_MAX);
    cs_end(&cs);
    assert_int_equal(build(&cs, &d, 16).code, STATUS_OK);
    assert_int_equal(cs_first_unsatisfied(&cs), 0);
    cs_end(&cs);
    dictionary_end(&d);
}

static void either_sink_may_be_absent(void **state)
{
    (void)state;
    struct dictionary d;
    struct cs cs;
    struct lc l;
    fr value = small(7);
    assert_int_equal(dictionary_init(&d).code, STATUS_OK);
    lc_init(&l);
    assert_int_equal(cs_init(&cs, &d, true, false).code, STATUS_OK);
    lc_add_one(&l, cs_alloc(&cs, KIND_BIT, NULL));
    cs_enforce(&cs, &l, &l, &l);
    fr got = cs_lc_value(&cs, &l);
    assert_true(fr_is_zero(&got));
    assert_int_equal(cs.rows.rows, 1);
    assert_int_equal(cs.aux_kinds[0], KIND_BIT);
    cs_end(&cs);
    assert_int_equal(cs_init(&cs, NULL, false, true).code, STATUS_OK);
    lc_clear(&l);
    for (int i = 0; i < 1000; i++)
        lc_add_one(&l, cs_alloc(&cs, KIND_FIELD, &value));
    cs_enforce(&cs, &l, &l, &l);
    fr sum = small(7000);
    got = cs_lc_value(&cs, &l);
    assert_true(fr_equal(&got, &sum));
    assert_int_equal(cs.rows.rows, 0);
    cs_end(&cs);
    lc_end(&l);
    dictionary_end(&d);
}

static void every_failing_allocation_is_reported(void **state)
{
    (void)state;
    size_t before = mem_used();
    for (uint64_t n = 1;; n++) {
        struct dictionary d;
        struct cs cs;
        mem_fail_after(n);
        struct status s = dictionary_init(&d);
        if (!status_failed(&s)) {
            s = build(&cs, &d, 15);
            if (!status_failed(&s))
                cs_end(&cs);
            dictionary_end(&d);
        }
        mem_fail_after(0);
        assert_true(mem_used() == before);
        if (!status_failed(&s)) {
            assert_true(n > 8);
            return;
        }
        assert_int_equal(s.code, STATUS_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dictionary_numbers_by_first_use),
        cmocka_unit_test(simplify_is_sorted_merged_and_nonzero),
        cmocka_unit_test(digests_are_those_of_the_serialised_rows),
        cmocka_unit_test(either_sink_may_be_absent),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
