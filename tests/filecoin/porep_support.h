/* A whole partition against known answers: circuit, inputs, values, rows' values. */
#ifndef CUZK_TESTS_FILECOIN_POREP_SUPPORT_H
#define CUZK_TESTS_FILECOIN_POREP_SUPPORT_H

#include "digest_support.h"
#include "filecoin/porep.h"
#include "filecoin/public.h"

struct porep_answers {
    const char *circuit, *inputs, *aux, *a, *b, *c;
    uint32_t aux_count, rows_count;
    uint64_t terms[3]; /* A with the input rows */
    uint32_t density_a_aux, density_b_aux;
};

static inline void check_shape(const struct shape *shape, const struct sector_size *sector,
                               const struct porep_answers *x)
{
    uint8_t digest[32];
    assert_int_equal(shape->inputs, porep_inputs_count(sector));
    assert_int_equal(shape->aux, x->aux_count);
    assert_int_equal(shape->rows, x->rows_count);
    for (int m = 0; m < 3; m++)
        assert_true(shape->terms[m] == x->terms[m]);
    assert_int_equal(shape->density.a_aux_count, x->density_a_aux);
    assert_int_equal(shape->density.b_aux_count, x->density_b_aux);
    assert_int_equal(shape->density.b_input_count, 1);
    ok(shape_rows_digest(digest, shape, true, UINT32_MAX));
    same_hex(digest, 32, x->circuit);
}

/* Synthesises partition 0 and checks all values. */
static inline void check_values(const struct shape *shape, const struct c1 *c1, const struct porep_answers *x,
                                const struct work *work)
{
    struct seeds seeds;
    struct witness witness;
    struct porep_public public;
    fr inputs[POREP_INPUTS_MAX];
    ok(porep_seeds(&seeds, shape, c1, 0));
    ok(porep_public_from_c1(&public, c1));
    porep_inputs(inputs, &public, 0);
    assert_memory_equal(seeds.inputs, inputs, shape->inputs * sizeof(fr));
    values_digest(seeds.inputs, shape->inputs, x->inputs);
    ok(witness_start(&witness, shape));
    ok(witness_expand(&witness, shape, &seeds, work));
    struct section end = {0, shape->aux, 0, NULL, x->aux};
    check_aux(shape, &witness, &end, 1);
    size_t size = shape_all_rows(shape);
    fr *abc = mem_alloc(3 * size, sizeof(fr));
    assert_non_null(abc);
    ok(witness_evaluate(abc, abc + size, abc + 2 * size, size, shape, &witness, work));
    const char *expected[3] = {x->a, x->b, x->c};
    for (int m = 0; m < 3; m++)
        if (expected[m])
            values_digest(abc + (size_t)m * size, shape->rows, expected[m]);
    for (size_t i = 0; i < size; i++) {
        fr product;
        fr_mul(&product, &abc[i], &abc[size + i]);
        if (!fr_equal(&product, &abc[2 * size + i]))
            fail_msg("row %zu is not satisfied", i);
    }
    mem_free(abc);
    witness_end(&witness);
    seeds_end(&seeds);
}

#endif
