/* Verification: e(A, B) = e(alpha, beta) e(P, gamma) e(C, delta), as one product of four pairings with one
 * final exponentiation. P = IC[0] + sum of inputs times IC is a small MSM (40 to 328 points). */
#include "base/mem.h"
#include "base/random.h"
#include "curve/msm.h"
#include "groth16/proof.h"

#include <string.h>

static struct status count_status(const struct verifying_key *key, size_t inputs_count)
{
    return status_error(STATUS_INVALID, "proof has %zu public inputs, the verifying key wants %u",
                        inputs_count, key->ic_count - 1);
}

static struct status rejected(void)
{
    return status_error(STATUS_REJECTED, "the proof does not verify");
}

/* out = sum scalars[i] * ic[i]. */
static struct status inputs_point(g1_affine *out, const struct verifying_key *key, const fr *scalars,
                                  const struct work *work)
{
    g1_xyzz sum;
    TRY(msm_g1(&sum, key->ic, scalars, key->ic_count, work));
    g1_to_affine(out, &sum);
    return status_ok();
}

struct status proof_verify(const struct verifying_key *key, const struct proof *proof, const fr *inputs,
                           size_t inputs_count)
{
    if (inputs_count + 1 != key->ic_count)
        return count_status(key, inputs_count);
    fr *scalars = mem_alloc(key->ic_count, sizeof *scalars);
    struct g2_prepared *b = mem_alloc(1, sizeof *b);
    struct status s;
    if (scalars == NULL || b == NULL) {
        s = mem_failed("verification", key->ic_count, sizeof *scalars);
        goto out;
    }
    scalars[0] = FR_ONE;
    memcpy(scalars + 1, inputs, inputs_count * sizeof *inputs);
    struct work here = {NULL, PRIORITY_CRITICAL, NULL};
    g1_affine p, a_neg;
    TRY_OUT(inputs_point(&p, key, scalars, &here));
    g1_affine_neg(&a_neg, &proof->a);
    g2_prepare(b, &proof->b);
    /* e(-A, B) e(alpha, beta) e(-P, -gamma) e(-C, -delta) = 1 */
    g1_affine p_neg, c_neg;
    g1_affine_neg(&p_neg, &p);
    g1_affine_neg(&c_neg, &proof->c);
    struct pairing_term terms[4] = {
        {&a_neg, b}, {&key->alpha_g1, &key->beta}, {&p_neg, &key->gamma_neg}, {&c_neg, &key->delta_neg}};
    s = pairing_product_is_one(terms, 4) ? status_ok() : rejected();
out:
    mem_free(scalars);
    mem_free(b);
    return s;
}

/* ---- batches ---- */

struct batch {
    const struct verifying_key *key;
    const struct proof *proofs;
    const fr *inputs;
    size_t inputs_count;
    fr *z;                 /* one random weight per proof */
    g1_affine *a, *c;      /* z_j A_j, z_j C_j */
    struct g2_prepared *b; /* B_j negated */
    struct pairing_term *terms;
};

static void weigh_proof(void *context, size_t j)
{
    struct batch *batch = context;
    fr_int z;
    fr_to_int(&z, &batch->z[j]);
    g1_xyzz t;
    g1_from_affine(&t, &batch->proofs[j].a);
    g1_mul_vartime(&t, &t, &z);
    g1_to_affine(&batch->a[j], &t);
    g1_from_affine(&t, &batch->proofs[j].c);
    g1_mul_vartime(&t, &t, &z);
    g1_to_affine(&batch->c[j], &t);
    g2_affine negated;
    g2_affine_neg(&negated, &batch->proofs[j].b);
    g2_prepare(&batch->b[j], &negated);
    batch->terms[j] = (struct pairing_term){&batch->a[j], &batch->b[j]};
}

static struct status draw_weights(fr *z, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        uint8_t bytes[16];
        do {
            TRY(random_bytes(bytes, sizeof bytes));
            fr_from_bytes_reduce(&z[j], bytes, sizeof bytes);
        } while (fr_is_zero(&z[j]));
    }
    return status_ok();
}

/* The three terms shared by all proofs: sum z alpha with beta, -sum of weighted inputs with -gamma, -sum z C
 * with -delta. */
static struct status shared_terms(g1_affine shared[3], struct batch *batch, size_t n, fr *scalars,
                                  const struct work *work)
{
    memset(scalars, 0, batch->key->ic_count * sizeof *scalars);
    g1_xyzz sum_c;
    g1_infinity(&sum_c);
    for (size_t j = 0; j < n; j++) {
        fr_add(&scalars[0], &scalars[0], &batch->z[j]);
        for (size_t i = 0; i < batch->inputs_count; i++) {
            fr t;
            fr_mul(&t, &batch->z[j], &batch->inputs[j * batch->inputs_count + i]);
            fr_add(&scalars[i + 1], &scalars[i + 1], &t);
        }
        g1_add_affine(&sum_c, &sum_c, &batch->c[j]);
    }
    fr_int z_sum;
    fr_to_int(&z_sum, &scalars[0]);
    g1_xyzz t;
    g1_from_affine(&t, &batch->key->alpha_g1);
    g1_mul_vartime(&t, &t, &z_sum);
    g1_to_affine(&shared[0], &t);
    TRY(inputs_point(&shared[1], batch->key, scalars, work));
    g1_affine_neg(&shared[1], &shared[1]);
    g1_to_affine(&shared[2], &sum_c);
    g1_affine_neg(&shared[2], &shared[2]);
    return status_ok();
}

static struct status verify_weighted(struct batch *batch, size_t n, fr *scalars, const struct work *work)
{
    TRY(draw_weights(batch->z, n));
    if (!pool_run(work, weigh_proof, batch, n))
        return work_cancelled_status();
    g1_affine shared[3];
    TRY(shared_terms(shared, batch, n, scalars, work));
    batch->terms[n] = (struct pairing_term){&shared[0], &batch->key->beta};
    batch->terms[n + 1] = (struct pairing_term){&shared[1], &batch->key->gamma_neg};
    batch->terms[n + 2] = (struct pairing_term){&shared[2], &batch->key->delta_neg};
    return pairing_product_is_one(batch->terms, n + 3) ? status_ok() : rejected();
}

struct status proof_verify_batch(const struct verifying_key *key, const struct proof *proofs, size_t n,
                                 const fr *inputs, size_t inputs_count, const struct work *work)
{
    if (n == 0)
        return status_error(STATUS_INVALID, "no proof to verify");
    if (n == 1)
        return proof_verify(key, proofs, inputs, inputs_count);
    if (inputs_count + 1 != key->ic_count)
        return count_status(key, inputs_count);
    struct batch batch = {.key = key, .proofs = proofs, .inputs = inputs, .inputs_count = inputs_count};
    batch.z = mem_alloc(n, sizeof *batch.z);
    batch.a = mem_alloc(n, sizeof *batch.a);
    batch.c = mem_alloc(n, sizeof *batch.c);
    batch.b = mem_alloc(n, sizeof *batch.b);
    batch.terms = mem_alloc(n + 3, sizeof *batch.terms);
    fr *scalars = mem_alloc(key->ic_count, sizeof *scalars);
    struct status s;
    if (batch.z == NULL || batch.a == NULL || batch.c == NULL || batch.b == NULL || batch.terms == NULL ||
        scalars == NULL)
        s = mem_failed("batch verification", n, sizeof *batch.b);
    else
        s = verify_weighted(&batch, n, scalars, work);
    mem_free(batch.z);
    mem_free(batch.a);
    mem_free(batch.c);
    mem_free(batch.b);
    mem_free(batch.terms);
    mem_free(scalars);
    return s;
}
