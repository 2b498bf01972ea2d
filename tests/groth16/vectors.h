/* The test vectors of the Groth16 specification, section 11, as circuits: T1 multiplies two numbers, T2 and
 * T3 are the exclusive or of two bits (the self-test circuit) with small and with full-size values. All were
 * confirmed by the reference implementation. */
#ifndef CUZK_TESTS_GROTH16_VECTORS_H
#define CUZK_TESTS_GROTH16_VECTORS_H

#include "device/self_test.h"
#include "groth16/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct vector {
    const char *name;
    struct shape *shape;
    struct seeds seeds;
    struct toxic toxic;
    struct blinding blinding;
    fr public_input;
    const char *params_sha256, *vk_sha256, *proof; /* hex; vk_sha256 may be NULL */
};

static inline void must(struct status s)
{
    if (status_failed(&s)) {
        fprintf(stderr, "unexpected error: %s | %s | %s\n", s.message, s.detail, s.hint);
        abort();
    }
}

static inline struct status multiplication_shape(struct shape **out)
{
    struct shape_builder *builder;
    TRY(shape_builder_start(&builder));
    struct cs cs;
    TRY(cs_init(&cs, shape_builder_dictionary(builder), true, false));
    variable product = cs_alloc(&cs, KIND_FIELD, NULL), x = cs_alloc(&cs, KIND_FIELD, NULL),
             y = cs_alloc(&cs, KIND_FIELD, NULL);
    struct lc a, b, c;
    lc_init(&a);
    lc_init(&b);
    lc_init(&c);
    lc_add_one(&a, x);
    lc_add_one(&b, y);
    lc_add_one(&c, product);
    cs_enforce(&cs, &a, &b, &c);
    lc_end(&a);
    lc_end(&b);
    lc_end(&c);
    TRY(cs.error);
    struct template t;
    TRY(template_from_cs(&t, &cs, "multiplication", 1, NULL, 0, false, NULL, NULL, 0));
    cs_end(&cs);
    uint32_t number, first_aux, first_field;
    TRY(shape_builder_template(builder, &number, &t));
    struct port_run run = {shape_builder_input(builder), 1, 0};
    TRY(shape_builder_place(builder, number, &run, 1, &first_aux, &first_field));
    return shape_builder_finish(out, builder);
}

static inline void small_values(struct vector *v)
{
    fr_from_u64(&v->toxic.alpha, 48577);
    fr_from_u64(&v->toxic.beta, 22580);
    fr_from_u64(&v->toxic.gamma, 53332);
    fr_from_u64(&v->toxic.delta, 5481);
    fr_from_u64(&v->toxic.tau, 3673);
    fr_from_u64(&v->blinding.r, 27134);
    fr_from_u64(&v->blinding.s, 17146);
}

static inline fr hex_le_bytes_reduced(const uint8_t digest[64])
{
    fr x;
    fr_from_bytes_reduce(&x, digest, 64);
    return x;
}

static inline void vector_t1(struct vector *v)
{
    memset(v, 0, sizeof *v);
    v->name = "T1";
    must(multiplication_shape(&v->shape));
    must(seeds_start(&v->seeds, v->shape));
    fr five, seven;
    fr_from_u64(&five, 5);
    fr_from_u64(&seven, 7);
    fr_from_u64(&v->public_input, 35);
    seeds_input(&v->seeds, &v->public_input);
    seeds_field(&v->seeds, &five);
    seeds_field(&v->seeds, &seven);
    small_values(v);
    v->params_sha256 = "becb08100d9c1b58dd36fbd555d58ff72220b98beae28d8a8253dea46e48c13a";
    v->vk_sha256 = "ec84042936be8c4419dc9e0bc756df6f59e58bde3384a5a5a0b12e68db50143f";
    v->proof =
        "9462c1f237326d896a8645b7ec431f2c0c52a0ea4ae8a4c74fa3698278cab991e151a4539ab9ba6e501ec9c9b3903922"
        "8ccc0f180348242581875bc01f3ec6c06620b55164182fbd8a6aead3e502f331eabc3eb5c2188390785e637c06008143"
        "18e67d8e4f8d2c7dcc5c6bd448654397cec2c791e519d5b18e906dbf2423126c0ca64ece2296a6d95d7a3706bcdc4d8d"
        "8d1048b5105b35d199f8286322905c6550279a57f2ec8868e221e2590bcb82bf9edc1d0f479fe0bb3df1f7ce6617cf8d";
}

static inline void vector_xor(struct vector *v, const char *name)
{
    memset(v, 0, sizeof *v);
    v->name = name;
    must(self_test_shape(&v->shape));
    must(self_test_seeds(&v->seeds, v->shape));
    v->public_input = FR_ONE;
}

static inline void vector_t2(struct vector *v)
{
    vector_xor(v, "T2");
    small_values(v);
    v->params_sha256 = "f325c818d6a46e6b3be79d2142d3587b34c9a780e000da5f1d6820b373cd6950";
    v->vk_sha256 = "181c6b320a969fbab0c045d6951d70f4ffa3c416b6fcfbcdc324e3a508863d60";
    v->proof =
        "8436964be148cb27c63afecd109cce219f8d4a94f61005fbacc727cfeab65a7641dc4a1facbd72e7ebef116c512fb6b2"
        "8de6ee64574c9e2a542db1b71f5b639dfbd1b510ad4ab11df91b55682bcd0284215de0b6591ee532bd2a9f9f39daf8b4"
        "00a8832abdb511b3d8587de7ecd138129cd2b03adc430f7338b1a1b66ee909c7610cd1624a9be84aeb54c58414933a12"
        "96e1eac5738576be5c6410ded96b1ced85219650ded2dd7cbdfffea7f7d4a0341f2f8ce4e143ef2cdb6bd9b4653fd1be";
}

#endif
