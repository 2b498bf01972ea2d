/* Every conformance case as a template with a single instance, all of whose values are seeds: the shape has
 * the reference's digest and densities, and a witness of the generic values satisfies it. */
#include "cases.h"

#include "r1cs/witness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Turns the inputs of a recorded system into its first variables, which will be ports. */
static uint32_t inputs_to_ports(struct cs *cs)
{
    uint32_t ports = cs->inputs - 1;
    if (ports == 0)
        return 0;
    for (uint64_t i = 0; i < cs->rows.terms; i++) {
        variable v = {cs->rows.columns[i]};
        if (variable_is_aux(v))
            cs->rows.columns[i] = variable_aux(variable_index(v) + ports).id;
        else if (v.id != VARIABLE_ONE.id)
            cs->rows.columns[i] = variable_aux(variable_index(v) - 1).id;
    }
    uint32_t aux = cs->aux;
    for (uint32_t i = 0; i < ports; i++)
        cs_alloc(cs, KIND_FIELD, NULL);
    memmove(cs->aux_kinds + ports, cs->aux_kinds, aux);
    memset(cs->aux_kinds, KIND_FIELD, ports);
    cs->inputs = 1;
    return ports;
}

static struct shape *single_instance(const struct gadget_case *c)
{
    struct shape_builder *builder;
    struct shape *shape;
    struct template t;
    struct cs cs;
    uint32_t number;
    assert_int_equal(shape_builder_start(&builder).code, STATUS_OK);
    assert_int_equal(cs_init(&cs, shape_builder_dictionary(builder), true, false).code, STATUS_OK);
    struct maker m = {.cs = &cs, .values = VALUES_ZERO};
    c->recipe(&m);
    assert_int_equal(cs.error.code, STATUS_OK);
    uint32_t ports = inputs_to_ports(&cs);
    for (uint32_t i = 0; i < ports; i++)
        assert_int_equal(shape_builder_input(builder).id, i + 1);
    struct status s = template_from_cs(&t, &cs, c->name, ports, NULL, 0, false, NULL, NULL, 0);
    cs_end(&cs);
    assert_int_equal(s.code, STATUS_OK);
    assert_int_equal(shape_builder_template(builder, &number, &t).code, STATUS_OK);
    template_end(&t);
    struct port_run run = {.first = variable_input(1), .count = ports};
    s = shape_builder_place(builder, number, &run, ports ? 1 : 0, NULL, NULL);
    if (status_failed(&s))
        fail_msg("%s: %s", c->name, s.message);
    assert_int_equal(shape_builder_finish(&shape, builder).code, STATUS_OK);
    return shape;
}

static void shapes_have_the_digests_of_the_reference(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < gadget_cases_count; i++) {
        const struct gadget_case *c = &gadget_cases[i];
        struct shape *shape = single_instance(c);
        uint8_t digest[32];
        char text[65];
        assert_int_equal(shape_rows_digest(digest, shape, true, UINT32_MAX).code, STATUS_OK);
        for (int k = 0; k < 32; k++)
            sprintf(text + 2 * k, "%02x", digest[k]);
        if (shape->inputs != c->counts[0] || shape->aux != c->counts[1] || shape->rows != c->counts[2] ||
            shape->density.a_aux_count != c->density[0] || shape->density.b_input_count != c->density[1] ||
            shape->density.b_aux_count != c->density[2] || strcmp(text, c->digest) != 0)
            fail_msg("%s: %u inputs %u aux %u rows, density %u %u %u, digest %s", c->name, shape->inputs,
                     shape->aux, shape->rows, shape->density.a_aux_count, shape->density.b_input_count,
                     shape->density.b_aux_count, text);
        shape_release(shape);
    }
}

static void witnesses_satisfy_the_shapes(void **state)
{
    (void)state;
    const struct work work = {0};
    for (uint32_t i = 0; i < gadget_cases_count; i++) {
        const struct gadget_case *c = &gadget_cases[i];
        if (c->counts[1] > 100000 || strcmp(c->name, "bool_eq") == 0)
            continue;
        struct shape *shape = single_instance(c);
        struct seeds seeds;
        struct witness witness;
        struct cs cs;
        struct maker m = {.cs = &cs, .random_state = 31 + i};
        assert_int_equal(cs_init(&cs, NULL, false, true).code, STATUS_OK);
        c->recipe(&m);
        assert_int_equal(seeds_start(&seeds, shape).code, STATUS_OK);
        for (uint32_t k = 1; k < cs.inputs; k++)
            seeds_input(&seeds, &cs.input_values[k]);
        for (uint32_t k = 0; k < cs.aux; k++)
            if (cs.aux_kinds[k] == KIND_FIELD)
                seeds_field(&seeds, &cs.aux_values[k]);
            else
                seeds_bits(&seeds, !fr_is_zero(&cs.aux_values[k]), 1);
        assert_int_equal(witness_start(&witness, shape).code, STATUS_OK);
        assert_int_equal(witness_expand(&witness, shape, &seeds, &work).code, STATUS_OK);
        uint32_t row;
        assert_int_equal(witness_first_unsatisfied(&row, shape, &witness).code, STATUS_OK);
        if (row != UINT32_MAX)
            fail_msg("%s: row %u does not hold", c->name, row);
        witness_end(&witness);
        seeds_end(&seeds);
        cs_end(&cs);
        shape_release(shape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_have_the_digests_of_the_reference),
        cmocka_unit_test(witnesses_satisfy_the_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
