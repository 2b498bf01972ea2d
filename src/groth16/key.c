/* Reading and writing verifying keys. A key decides what is accepted as a proof, so every point of it is
 * checked completely, subgroup included: 40 to 328 points, some milliseconds. */
#include "groth16/key.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "curve/encoding.h"

#include <string.h>

static struct status point_status(enum point_error error, bool infinity, const char *name, uint32_t index)
{
    const char *why = infinity ? "point at infinity" : point_error_text(error);
    if (index == UINT32_MAX)
        return status_error(STATUS_INVALID, "verifying key: %s: %s", name, why);
    return status_error(STATUS_INVALID, "verifying key: %s[%u]: %s", name, index, why);
}

static struct status read_g1(g1_affine *out, const uint8_t *bytes, const char *name, uint32_t index)
{
    enum point_error error = g1_from_uncompressed(out, bytes, true);
    if (error != POINT_OK || g1_affine_is_infinity(out))
        return point_status(error, error == POINT_OK, name, index);
    return status_ok();
}

static struct status read_g2(g2_affine *out, const uint8_t *bytes, const char *name)
{
    enum point_error error = g2_from_uncompressed(out, bytes, true);
    if (error != POINT_OK || g2_affine_is_infinity(out))
        return point_status(error, error == POINT_OK, name, UINT32_MAX);
    return status_ok();
}

static struct status read_points(struct verifying_key *key, const uint8_t *bytes)
{
    TRY(read_g1(&key->alpha_g1, bytes, "alpha_g1", UINT32_MAX));
    TRY(read_g1(&key->beta_g1, bytes + 96, "beta_g1", UINT32_MAX));
    TRY(read_g2(&key->beta_g2, bytes + 192, "beta_g2"));
    TRY(read_g2(&key->gamma_g2, bytes + 384, "gamma_g2"));
    TRY(read_g1(&key->delta_g1, bytes + 576, "delta_g1", UINT32_MAX));
    TRY(read_g2(&key->delta_g2, bytes + 672, "delta_g2"));
    for (uint32_t i = 0; i < key->ic_count; i++)
        TRY(read_g1(&key->ic[i], bytes + VK_FIXED_BYTES + 96 * (size_t)i, "ic", i));
    return status_ok();
}

struct status vk_read(struct verifying_key *out, const uint8_t *bytes, size_t size, size_t *used)
{
    memset(out, 0, sizeof *out);
    if (size < VK_FIXED_BYTES)
        return status_error(STATUS_INVALID, "verifying key ends after %zu of at least %d bytes", size,
                            VK_FIXED_BYTES);
    uint32_t count = load_be32(bytes + VK_FIXED_BYTES - 4);
    if (count == 0)
        return status_error(STATUS_INVALID, "verifying key: it has no ic point");
    if ((size - VK_FIXED_BYTES) / 96 < count)
        return status_error(STATUS_INVALID,
                            "verifying key ends after %zu bytes: it announces %u ic points (%zu bytes)", size,
                            count, vk_bytes(count));
    if (used == NULL && size != vk_bytes(count))
        return status_error(STATUS_INVALID, "verifying key has %zu bytes after its %u ic points",
                            size - vk_bytes(count), count);
    out->ic = mem_alloc(count, sizeof *out->ic);
    if (out->ic == NULL)
        return mem_failed("verifying key", count, sizeof *out->ic);
    out->ic_count = count;
    struct status s = read_points(out, bytes);
    if (status_failed(&s)) {
        vk_end(out);
        return s;
    }
    vk_prepare(out);
    if (used != NULL)
        *used = vk_bytes(count);
    return status_ok();
}

void vk_write(uint8_t *bytes, const struct verifying_key *key)
{
    g1_to_uncompressed(bytes, &key->alpha_g1);
    g1_to_uncompressed(bytes + 96, &key->beta_g1);
    g2_to_uncompressed(bytes + 192, &key->beta_g2);
    g2_to_uncompressed(bytes + 384, &key->gamma_g2);
    g1_to_uncompressed(bytes + 576, &key->delta_g1);
    g2_to_uncompressed(bytes + 672, &key->delta_g2);
    store_be32(bytes + VK_FIXED_BYTES - 4, key->ic_count);
    g1_to_uncompressed_many(bytes + VK_FIXED_BYTES, key->ic, key->ic_count);
}

void vk_prepare(struct verifying_key *key)
{
    g2_affine negated;
    g2_affine_neg(&negated, &key->gamma_g2);
    g2_prepare(&key->gamma_neg, &negated);
    g2_affine_neg(&negated, &key->delta_g2);
    g2_prepare(&key->delta_neg, &negated);
    g2_prepare(&key->beta, &key->beta_g2);
}

void vk_end(struct verifying_key *key)
{
    mem_free(key->ic);
    key->ic = NULL;
    key->ic_count = 0;
}
