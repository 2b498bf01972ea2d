/* The CPU backend's proof: the reference for every other backend.
 *
 * The order keeps memory low. h first: a and b (2^k elements each) and one more vector of that size live only
 * until h stands; h itself only until its MSM is done. The sums over the witness come last, with nothing else
 * held but the witness (a bit or 32 bytes a variable). Peak: 3 * 2^k * 32 bytes + witness, or h + MSM scratch
 * + witness. */
#include "base/mem.h"
#include "curve/msm.h"
#include "device/cpu/cpu.h"
#include "groth16/setup.h"
#include "poly/h.h"

#include <string.h>

/* ---- the H query ---- */

static struct status quotient(fr *a, fr *b, fr *scratch, unsigned log2_size, const struct work *work)
{
    struct domain domain;
    TRY(domain_open(&domain, log2_size));
    struct status s = poly_h(&domain, work, a, b, scratch);
    domain_close(&domain);
    return s;
}

static struct status sum_h(g1_xyzz *out, const struct image *image, const struct shape *shape,
                           const struct witness *witness, const struct work *work)
{
    unsigned log2_size = shape_log2_domain(shape);
    size_t size = (size_t)1 << log2_size;
    fr *a = mem_alloc(size, sizeof *a), *b = mem_alloc(size, sizeof *b), *scratch = NULL;
    struct status s = status_ok();
    if (a == NULL || b == NULL) {
        s = mem_failed("evaluations", size, 2 * sizeof *a);
        goto out;
    }
    TRY_OUT(witness_evaluate(a, b, NULL, size, shape, witness, work));
    scratch = mem_alloc(size, sizeof *scratch);
    if (scratch == NULL) {
        s = mem_failed("evaluations", size, sizeof *scratch);
        goto out;
    }
    s = quotient(a, b, scratch, log2_size, work);
    if (status_failed(&s))
        goto out;
    mem_free(scratch);
    mem_free(b);
    scratch = b = NULL;
    s = msm_g1(out, image->h, a, size - 1, work);
out:
    mem_free(scratch);
    mem_free(a);
    mem_free(b);
    return s;
}

/* ---- the queries over the witness ---- */

/* Field values of a query: all of them as they lie, or those it has points for, gathered. */
static struct status field_values(const fr **out, fr **owned, const struct field_places *places,
                                  const struct witness *witness)
{
    *owned = NULL;
    *out = witness->fields;
    if (places->slot == NULL)
        return status_ok();
    *owned = mem_alloc(places->count, sizeof(fr));
    if (*owned == NULL)
        return mem_failed("field values", places->count, sizeof(fr));
    for (uint32_t i = 0; i < places->count; i++)
        (*owned)[i] = witness->fields[places->slot[i]];
    *out = *owned;
    return status_ok();
}

/* Bits and fields of the aux variables over points[]. present NULL: every aux variable has a point. */
static struct status sum_aux_g1(g1_xyzz *out, const g1_affine *points, const uint64_t *present,
                                const struct field_places *places, const struct shape *shape,
                                const struct witness *witness, const struct work *work)
{
    g1_xyzz fields;
    const fr *values;
    fr *owned;
    TRY(bitsum_g1(out, points, witness->bits, present, shape->aux, work));
    TRY(field_values(&values, &owned, places, witness));
    struct status s = msm_g1_indexed(&fields, points, places->place, values, places->count, work);
    mem_free(owned);
    TRY(s);
    g1_add(out, out, &fields);
    return status_ok();
}

static struct status sum_aux_g2(g2_xyzz *out, const g2_affine *points, const uint64_t *present,
                                const struct field_places *places, const struct shape *shape,
                                const struct witness *witness, const struct work *work)
{
    g2_xyzz fields;
    const fr *values;
    fr *owned;
    TRY(bitsum_g2(out, points, witness->bits, present, shape->aux, work));
    TRY(field_values(&values, &owned, places, witness));
    struct status s = msm_g2_indexed(&fields, points, places->place, values, places->count, work);
    mem_free(owned);
    TRY(s);
    g2_add(out, out, &fields);
    return status_ok();
}

static struct status sum_a(g1_xyzz *out, const struct image *image, const struct device_shape *shape,
                           const struct witness *witness, const struct work *work)
{
    g1_xyzz inputs;
    const struct shape *s = shape->shape;
    TRY(msm_g1(&inputs, image->a, witness->inputs, s->inputs, work));
    TRY(sum_aux_g1(out, image->a + s->inputs, s->density.a_aux, &shape->a, s, witness, work));
    g1_add(out, out, &inputs);
    return status_ok();
}

static struct status sum_b(g1_xyzz *out1, g2_xyzz *out2, const struct image *image,
                           const struct device_shape *shape, const struct witness *witness,
                           const struct work *work)
{
    const struct shape *s = shape->shape;
    uint32_t dense = s->density.b_input_count;
    fr *values = mem_alloc(dense, sizeof *values);
    if (values == NULL)
        return mem_failed("inputs", dense, sizeof *values);
    uint32_t k = 0;
    for (uint32_t i = 0; i < s->inputs; i++)
        if (s->density.b_input[i / 64] >> (i % 64) & 1)
            values[k++] = witness->inputs[i];
    CHECK(k == dense);
    g1_xyzz inputs1;
    g2_xyzz inputs2;
    struct status status = msm_g1(&inputs1, image->b_g1, values, dense, work);
    if (!status_failed(&status))
        status = msm_g2(&inputs2, image->b_g2, values, dense, work);
    mem_free(values);
    TRY(status);
    TRY(sum_aux_g1(out1, image->b_g1 + dense, s->density.b_aux, &shape->b, s, witness, work));
    TRY(sum_aux_g2(out2, image->b_g2 + dense, s->density.b_aux, &shape->b, s, witness, work));
    g1_add(out1, out1, &inputs1);
    g2_add(out2, out2, &inputs2);
    return status_ok();
}

static struct status sum_witness(struct partial_sums *out, const struct image *image,
                                 const struct device_shape *shape, const struct witness *witness,
                                 const struct work *work)
{
    TRY(sum_aux_g1(&out->l, image->l, NULL, &shape->l, shape->shape, witness, work));
    TRY(sum_a(&out->a, image, shape, witness, work));
    return sum_b(&out->b_g1, &out->b_g2, image, shape, witness, work);
}

struct status cpu_prove(struct partial_sums *out, const struct image *image, const struct device_shape *shape,
                        const struct seeds *seeds, const struct work *work)
{
    struct params_counts want;
    shape_params_counts(&want, shape->shape);
    TRY(params_match(&image->counts, &want, "in use", "of this shape"));
    if (!seeds_complete(seeds))
        return status_error(STATUS_INVALID,
                            "the witness is not complete: its circuit wrote fewer seeds than the shape has");
    struct witness witness;
    TRY(witness_start(&witness, shape->shape));
    struct status s = witness_expand(&witness, shape->shape, seeds, work);
    if (!status_failed(&s))
        s = sum_h(&out->h, image, shape->shape, &witness, work);
    if (!status_failed(&s))
        s = sum_witness(out, image, shape, &witness, work);
    witness_end(&witness);
    return s;
}
