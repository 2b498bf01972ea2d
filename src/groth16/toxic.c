/* The five secret values of a setup. Whoever knows them can forge proofs, hence "for tests, not for a
 * network": they are drawn or derived here, used in setup.c, and wiped. */
#include "groth16/setup.h"

#include "base/mem.h"
#include "base/random.h"
#include "base/sha512.h"

#include <stddef.h>
#include <string.h>

struct toxic_field {
    const char *name;
    size_t offset;
};

static const struct toxic_field TOXIC_FIELDS[] = {
    {"alpha", offsetof(struct toxic, alpha)}, {"beta", offsetof(struct toxic, beta)},
    {"gamma", offsetof(struct toxic, gamma)}, {"delta", offsetof(struct toxic, delta)},
    {"tau", offsetof(struct toxic, tau)},
};
#define TOXIC_COUNT (sizeof TOXIC_FIELDS / sizeof TOXIC_FIELDS[0])

static fr *toxic_value(struct toxic *toxic, size_t i)
{
    return (fr *)(void *)((char *)toxic + TOXIC_FIELDS[i].offset);
}

struct status toxic_random(struct toxic *out)
{
    uint8_t bytes[64];
    struct status s = status_ok();
    for (size_t i = 0; i < TOXIC_COUNT && !status_failed(&s); i++) {
        do {
            s = random_bytes(bytes, sizeof bytes);
            if (!status_failed(&s))
                fr_from_bytes_reduce(toxic_value(out, i), bytes, sizeof bytes);
        } while (!status_failed(&s) && fr_is_zero(toxic_value(out, i)));
    }
    mem_wipe(bytes, sizeof bytes);
    return s;
}

struct status toxic_from_name(struct toxic *out, const char *name)
{
    for (size_t i = 0; i < TOXIC_COUNT; i++) {
        uint8_t digest[64];
        struct sha512 h;
        TRY(sha512_begin(&h));
        struct status s = sha512_add(&h, name, strlen(name));
        if (!status_failed(&s))
            s = sha512_add(&h, "-", 1);
        if (!status_failed(&s))
            s = sha512_add(&h, TOXIC_FIELDS[i].name, strlen(TOXIC_FIELDS[i].name));
        if (status_failed(&s)) {
            sha512_abandon(&h);
            return s;
        }
        TRY(sha512_end(&h, digest));
        fr_from_bytes_reduce(toxic_value(out, i), digest, sizeof digest);
    }
    return status_ok();
}

void toxic_wipe(struct toxic *toxic)
{
    mem_wipe(toxic, sizeof *toxic);
}
