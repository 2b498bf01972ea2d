/* Assembling and encoding proofs. The blinding values r and s meet only fixed points and five sums here, by
 * constant-time multiplications (eight in all, a few milliseconds), and are wiped by their owner. */
#include "groth16/proof.h"

#include "base/mem.h"
#include "base/random.h"
#include "curve/encoding.h"

static struct status random_nonzero(fr *out)
{
    uint8_t bytes[64];
    do {
        struct status s = random_bytes(bytes, sizeof bytes);
        if (status_failed(&s)) {
            mem_wipe(bytes, sizeof bytes);
            return s;
        }
        fr_from_bytes_reduce(out, bytes, sizeof bytes);
    } while (fr_is_zero(out));
    mem_wipe(bytes, sizeof bytes);
    return status_ok();
}

struct status blinding_random(struct blinding *out)
{
    TRY(random_nonzero(&out->r));
    return random_nonzero(&out->s);
}

void blinding_wipe(struct blinding *blinding)
{
    mem_wipe(blinding, sizeof *blinding);
}

/* C = s (alpha + S_A) + r (beta + S_B1) + rs delta + S_H + S_L (section 5.1 with s and r factored out). */
static void assemble_c(g1_xyzz *out, const struct partial_sums *sums, const struct verifying_key *key,
                       const fr_int *r, const fr_int *s, const fr_int *rs)
{
    g1_xyzz t;
    g1_add_affine(&t, &sums->a, &key->alpha_g1);
    g1_mul(out, &t, s);
    g1_add_affine(&t, &sums->b_g1, &key->beta_g1);
    g1_mul(&t, &t, r);
    g1_add(out, out, &t);
    g1_from_affine(&t, &key->delta_g1);
    g1_mul(&t, &t, rs);
    g1_add(out, out, &t);
    g1_add(out, out, &sums->h);
    g1_add(out, out, &sums->l);
    mem_wipe(&t, sizeof t);
}

struct status proof_assemble(struct proof *out, const struct partial_sums *sums,
                             const struct verifying_key *key, const struct blinding *blinding)
{
    if (g1_affine_is_infinity(&key->delta_g1) || g2_affine_is_infinity(&key->delta_g2))
        return status_error(STATUS_INVALID, "verifying key: delta is the point at infinity");
    fr rs_product;
    fr_int r, s, rs;
    fr_mul(&rs_product, &blinding->r, &blinding->s);
    fr_to_int(&r, &blinding->r);
    fr_to_int(&s, &blinding->s);
    fr_to_int(&rs, &rs_product);

    g1_xyzz a, c;
    g2_xyzz b;
    g1_from_affine(&a, &key->delta_g1);
    g1_mul(&a, &a, &r);
    g1_add(&a, &a, &sums->a);
    g1_add_affine(&a, &a, &key->alpha_g1);
    g2_from_affine(&b, &key->delta_g2);
    g2_mul(&b, &b, &s);
    g2_add(&b, &b, &sums->b_g2);
    g2_add_affine(&b, &b, &key->beta_g2);
    assemble_c(&c, sums, key, &r, &s, &rs);
    g1_to_affine(&out->a, &a);
    g2_to_affine(&out->b, &b);
    g1_to_affine(&out->c, &c);

    mem_wipe(&rs_product, sizeof rs_product);
    mem_wipe(&r, sizeof r);
    mem_wipe(&s, sizeof s);
    mem_wipe(&rs, sizeof rs);
    return status_ok();
}

void proof_encode(uint8_t bytes[PROOF_BYTES], const struct proof *proof)
{
    g1_to_compressed(bytes, &proof->a);
    g2_to_compressed(bytes + 48, &proof->b);
    g1_to_compressed(bytes + 144, &proof->c);
}

static struct status element_status(const char *name, enum point_error error)
{
    return status_error(STATUS_INVALID, "proof: element %s: %s", name,
                        error == POINT_OK ? "point at infinity" : point_error_text(error));
}

struct status proof_decode(struct proof *out, const uint8_t bytes[PROOF_BYTES])
{
    enum point_error error = g1_from_compressed(&out->a, bytes, true);
    if (error != POINT_OK || g1_affine_is_infinity(&out->a))
        return element_status("A", error);
    error = g2_from_compressed(&out->b, bytes + 48, true);
    if (error != POINT_OK || g2_affine_is_infinity(&out->b))
        return element_status("B", error);
    error = g1_from_compressed(&out->c, bytes + 144, true);
    if (error != POINT_OK || g1_affine_is_infinity(&out->c))
        return element_status("C", error);
    return status_ok();
}
