/* Making parameter sets from a shape and five toxic values (groth16 specification 4). The result of equal
 * values is equal to the byte whatever computes the multiplications: they come in as functions, so that a
 * card can lend them. A set made here is from a single party: for tests, not for a network. */
#ifndef CUZK_GROTH16_SETUP_H
#define CUZK_GROTH16_SETUP_H

#include "groth16/params.h"
#include "r1cs/shape.h"

struct toxic {
    fr alpha, beta, gamma, delta, tau;
};
MUST_USE struct status toxic_random(struct toxic *out); /* from getrandom, none zero, tau not in the domain */
/* X = SHA-512(name "-" letter names: NAME-alpha, NAME-beta, ...) read little-endian, modulo r. */
MUST_USE struct status toxic_from_name(struct toxic *out, const char *name);
void toxic_wipe(struct toxic *toxic);

/* The arrays' lengths for a shape. */
void shape_params_counts(struct params_counts *out, const struct shape *shape);

/* Multiples of the generators: out[i] = scalars[i] * G. */
struct setup_functions {
    void *context;
    struct status (*g1)(void *context, g1_affine *out, const fr *scalars, size_t n, const struct work *work);
    struct status (*g2)(void *context, g2_affine *out, const fr *scalars, size_t n, const struct work *work);
};

/* Computes all and writes PARAMS_PATH and, unless NULL, VK_PATH (temporary names, synced, renamed; the key
 * first). functions NULL: this machine's own. *done of setup_steps() counts progress. Memory: about 3 * 2^k *
 * 32 bytes
 * + 3 * 32 bytes a variable + tables. Errors: "unconstrained variable N", memory, writing, cancelled. */
MUST_USE struct status setup_run(const char *params_path, const char *vk_path, const struct shape *shape,
                                 const struct toxic *toxic, const struct setup_functions *functions,
                                 const struct work *work, atomic_ullong *done);
uint64_t setup_steps(const struct shape *shape);

#endif
