/* The inline operations of Fr and Fp behind function pointers, once for each flavour (field_ops.c), so that
 * one test can run the same pairs through both. */
#ifndef CUZK_TESTS_FIELD_OPS_H
#define CUZK_TESTS_FIELD_OPS_H

#include "field/flavour.h"
#include <stdbool.h>
#include <stdint.h>

struct field_ops {
    const char *name;
    int limbs;
    const uint64_t *modulus;
    void (*mul)(uint64_t *out, const uint64_t *a, const uint64_t *b);
    void (*add)(uint64_t *out, const uint64_t *a, const uint64_t *b);
    void (*sub)(uint64_t *out, const uint64_t *a, const uint64_t *b);
    void (*sqr)(uint64_t *out, const uint64_t *a);
    void (*dbl)(uint64_t *out, const uint64_t *a);
    void (*neg)(uint64_t *out, const uint64_t *a);
};

FLAVOUR_DECLARE(const struct field_ops *, field_ops_fr, (void));
FLAVOUR_DECLARE(const struct field_ops *, field_ops_fp, (void));
/* Runs every operation of the flavour with its output in place of each input; false if one differs. */
FLAVOUR_DECLARE(bool, field_ops_alias_fr, (const uint64_t *a, const uint64_t *b));
FLAVOUR_DECLARE(bool, field_ops_alias_fp, (const uint64_t *a, const uint64_t *b));

#endif
