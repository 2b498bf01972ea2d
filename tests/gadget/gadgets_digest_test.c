/* Every conformance case in generic form: counts, densities and digest of the rows are the reference's; the
 * values satisfy the rows for random and edge inputs; and no value inside a gadget can be another. */
#include "cases.h"

#include "base/mem.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void hex(char out[65], const uint8_t bytes[32])
{
    for (int i = 0; i < 32; i++)
        sprintf(out + 2 * i, "%02x", bytes[i]);
}

static void run(struct cs *cs, struct dictionary *d, const struct gadget_case *c, bool rows, struct maker *m)
{
    assert_int_equal(cs_init(cs, d, rows, m != NULL).code, STATUS_OK);
    struct maker blank = {.cs = cs, .values = VALUES_ZERO};
    if (!m)
        m = &blank;
    m->cs = cs;
    c->recipe(m);
    if (status_failed(&cs->error))
        fail_msg("%s: %s", c->name, cs->error.message);
}

static void rows_are_those_of_the_reference(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < gadget_cases_count; i++) {
        const struct gadget_case *c = &gadget_cases[i];
        struct dictionary d;
        struct cs cs;
        struct cs_density density;
        uint8_t digest[32];
        char text[65];
        assert_int_equal(dictionary_init(&d).code, STATUS_OK);
        run(&cs, &d, c, true, NULL);
        cs_rows_digest(digest, &cs, true, UINT32_MAX);
        hex(text, digest);
        assert_int_equal(cs_count_density(&density, &cs).code, STATUS_OK);
        if (cs.inputs != c->counts[0] || cs.aux != c->counts[1] || cs.rows.rows != c->counts[2] ||
            density.a_aux != c->density[0] || density.b_input != c->density[1] ||
            density.b_aux != c->density[2] || strcmp(text, c->digest) != 0)
            fail_msg("%s: %u inputs %u aux %u rows, density %u %u %u, digest %s", c->name, cs.inputs, cs.aux,
                     cs.rows.rows, density.a_aux, density.b_input, density.b_aux, text);
        cs_end(&cs);
        dictionary_end(&d);
    }
}

static void values_satisfy_the_rows(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < gadget_cases_count; i++) {
        const struct gadget_case *c = &gadget_cases[i];
        if (strcmp(c->name, "bool_eq") == 0) /* equates constants with a bit and its negation */
            continue;
        uint32_t rounds = c->counts[1] < 3000 ? 12 : c->counts[1] < 100000 ? VALUES_COUNT : 1;
        for (uint32_t round = 0; round < rounds; round++) {
            struct dictionary d;
            struct cs cs;
            struct maker m = {.random_state = 1000 * i + round,
                              .values = round < VALUES_COUNT ? (enum values)round : VALUES_RANDOM};
            assert_int_equal(dictionary_init(&d).code, STATUS_OK);
            run(&cs, &d, c, true, &m);
            uint32_t row = cs_first_unsatisfied(&cs);
            if (row != UINT32_MAX)
                fail_msg("%s, seed %u: row %u does not hold", c->name, 1000 * i + round, row);
            cs_end(&cs);
            dictionary_end(&d);
        }
    }
}

/* Rows in which each aux variable occurs. */
struct uses {
    uint32_t *first, *rows;
};

static struct uses uses_of(const struct cs *cs)
{
    struct uses u = {calloc(cs->aux + 2, sizeof(uint32_t)), malloc(cs->rows.terms * sizeof(uint32_t) + 1)};
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t row = 0; row < cs->rows.rows; row++)
            for (uint64_t i = cs->rows.first[3 * row]; i < cs->rows.first[3 * row + 3]; i++) {
                variable v = {cs->rows.columns[i]};
                if (!variable_is_aux(v))
                    continue;
                if (fill)
                    u.rows[u.first[variable_index(v) + 1]++] = row;
                else
                    u.first[variable_index(v) + 2]++;
            }
        for (uint32_t i = 0; !fill && i < cs->aux; i++)
            u.first[i + 2] += u.first[i + 1];
    }
    return u;
}

static bool row_holds(const struct cs *cs, uint32_t row)
{
    fr side[3], t;
    for (uint32_t k = 0; k < 3; k++) {
        side[k] = FR_ZERO;
        for (uint64_t i = cs->rows.first[3 * row + k]; i < cs->rows.first[3 * row + k + 1]; i++) {
            t = cs_value(cs, (variable){cs->rows.columns[i]});
            fr_mul(&t, &t, &cs->dictionary->values[cs->rows.coefficients[i]]);
            fr_add(&side[k], &side[k], &t);
        }
    }
    fr_mul(&t, &side[0], &side[1]);
    return fr_equal(&t, &side[2]);
}

/* Numbers that the recipe itself made may be free (a sibling that is not selected); everything that a gadget
 * made is determined by its rows. */
static void no_value_can_be_another(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < gadget_cases_count; i++) {
        const struct gadget_case *c = &gadget_cases[i];
        if (strcmp(c->name, "bool_eq") == 0)
            continue;
        struct dictionary d;
        struct cs cs;
        struct maker m = {.random_state = 77 + i, .is_free = calloc(c->counts[1] + 1, 1)};
        assert_int_equal(dictionary_init(&d).code, STATUS_OK);
        run(&cs, &d, c, true, &m);
        struct uses uses = uses_of(&cs);
        uint32_t step = cs.aux < 6000 ? 1 : cs.aux / 3000;
        for (uint32_t v = 0; v < cs.aux; v += step == 1 ? 1 : 1 + (uint32_t)(maker_random(&m) % (2 * step))) {
            if (m.is_free[v])
                continue;
            fr kept = cs.aux_values[v], delta = maker_element(&m);
            fr_add(&cs.aux_values[v], &kept, &delta);
            bool broken = false;
            for (uint32_t k = uses.first[v]; k < uses.first[v + 1] && !broken; k++)
                broken = !row_holds(&cs, uses.rows[k]);
            if (!broken)
                fail_msg("%s: value %u may be another", c->name, v);
            cs.aux_values[v] = kept;
        }
        free(uses.first);
        free(uses.rows);
        free(m.is_free);
        cs_end(&cs);
        dictionary_end(&d);
    }
}

static void values_need_no_rows(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < gadget_cases_count; i++) {
        const struct gadget_case *c = &gadget_cases[i];
        if (c->counts[1] > 60000)
            continue;
        struct dictionary d;
        struct cs with, without;
        struct maker m[2] = {{.random_state = i}, {.random_state = i}};
        assert_int_equal(dictionary_init(&d).code, STATUS_OK);
        run(&with, &d, c, true, &m[0]);
        run(&without, NULL, c, false, &m[1]);
        assert_int_equal(with.aux, without.aux);
        assert_memory_equal(with.aux_values, without.aux_values, with.aux * sizeof(fr));
        assert_memory_equal(with.input_values, without.input_values, with.inputs * sizeof(fr));
        cs_end(&with);
        cs_end(&without);
        dictionary_end(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_the_reference),
        cmocka_unit_test(values_satisfy_the_rows),
        cmocka_unit_test(no_value_can_be_another),
        cmocka_unit_test(values_need_no_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
