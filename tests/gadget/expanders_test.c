/* Expanders on their own: SHA-256 blocks with every kind of constant mask against the generic circuit, both
 * flavours against each other, and the check that refuses templates from files whose form is not the
 * expander's. (Every expander against its generic gadget in a circuit: circuit_test.c.) */
#include "cases.h"

#include "field/flavour.h"
#include "gadget/circuit.h"
#include "gadget/expand.h"
#include "gadget/expanders.h"
#include "gadget/poseidon.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static uint32_t random_mask(struct maker *m)
{
    switch (maker_random(m) % 5) {
    case 0:
        return 0;
    case 1:
        return UINT32_MAX;
    case 2:
        return (uint32_t)maker_random(m);
    case 3:
        return (uint32_t)(maker_random(m) & maker_random(m) & maker_random(m));
    default:
        return UINT32_C(1) << (maker_random(m) % 32);
    }
}

/* A block whose message has constant bits, in generic form; the first `*ports` variables are outside. */
static void generic_block(struct cs *cs, const uint32_t *hints, const uint32_t *parameters, uint32_t *ports)
{
    struct uint32_bits state[8];
    struct boolean block[512];
    for (uint32_t i = 0; i < 256; i++) {
        bool value = (hints[i / 32] >> (i % 32)) & 1;
        state[i / 32].bit[i % 32] = parameters[16] ? boolean_const(value) : bit_alloc(cs, value);
    }
    for (uint32_t i = 0; i < 512; i++) {
        uint32_t bit = 31 - i % 32;
        bool value = (hints[8 + i / 32] >> bit) & 1, constant = (parameters[i / 32] >> bit) & 1;
        block[i] = constant ? boolean_const(value) : bit_alloc(cs, value);
    }
    *ports = cs->aux;
    sha256_compression(cs, state, block);
}

static void blocks_with_any_constants_are_those_of_the_circuit(void **state)
{
    (void)state;
    struct maker m = {.random_state = 2024};
    for (int round = 0; round < 300; round++) {
        uint32_t hints[SHA256_BLOCK_HINTS], parameters[SHA256_BLOCK_PARAMETERS], ports;
        uint64_t bits[412] = {0};
        struct template t = {0};
        struct cs cs;
        for (int i = 0; i < SHA256_BLOCK_HINTS; i++)
            hints[i] = round % 7 == 1 ? 0 : round % 7 == 2 ? UINT32_MAX : (uint32_t)maker_random(&m);
        for (int i = 0; i < 16; i++)
            parameters[i] = round % 5 == 0 ? 0 : round % 5 == 1 ? UINT32_MAX : random_mask(&m);
        parameters[16] = maker_random(&m) & 1;
        memcpy(t.parameters, parameters, sizeof parameters);
        struct expansion x = {
            .template = &t, .bits = bits, .bit_offset = (uint32_t)round % 64, .hints = hints};
        gadget_expander(EXPANDER_SHA256_BLOCK)->run(&x);
        assert_int_equal(cs_init(&cs, NULL, false, true).code, STATUS_OK);
        generic_block(&cs, hints, parameters, &ports);
        uint32_t locals = cs.aux - ports;
        assert_int_equal(sha256_block_locals(parameters), locals);
        for (uint32_t i = 0; i < locals; i++)
            if (expansion_get_bit(&x, i) != !fr_is_zero(&cs.aux_values[ports + i]))
                fail_msg("round %d: bit %u of %u differs", round, i, locals);
        for (uint32_t i = 0; i < 412 * 64; i++)
            if (i < x.bit_offset || i >= x.bit_offset + locals)
                assert_int_equal((bits[i / 64] >> (i % 64)) & 1, 0);
        cs_end(&cs);
    }
}

/* A circuit with all expanders; its shape's templates. */
static struct shape *shape_of_all(void)
{
    static const struct tree_form forms[] = {{HASHER_POSEIDON, 8, 1, 4, 2}, {HASHER_SHA256, 2, 1, 4, 8}};
    struct shape_builder *builder;
    struct shape *shape;
    struct circuit c;
    struct number x[8], siblings[11];
    assert_int_equal(shape_builder_start(&builder).code, STATUS_OK);
    assert_int_equal(circuit_start(&c, builder, NULL, NULL).code, STATUS_OK);
    circuit_numbers(&c, x, NULL, 8);
    circuit_numbers(&c, siblings, NULL, 11);
    for (int i = 0; i < 2; i++)
        circuit_por(&c, &forms[i], &x[0], NULL, &x[1]);
    struct bits index = circuit_bits(&c, 0, 6), bit = bits_slice(&index, 2, 1);
    circuit_por_existing(&c, &forms[0], &index, &x[0], siblings, &x[1]);
    struct bits bits = circuit_to_bits(&c, &x[0]), some = bits_slice(&bits, 3, 100);
    circuit_pack(&c, &some);
    circuit_sum(&c, x, 5);
    circuit_sub(&c, &x[0], &x[1]);
    circuit_mul(&c, &x[0], &x[1]);
    circuit_mul_bit(&c, &x[0], &bit);
    circuit_scale_add(&c, &x[0], 10, 7);
    circuit_poseidon(&c, x, 8);
    struct joined_bits joined = {bits_slice(&bits, 0, 2), bits_slice(&index, 0, 1)};
    circuit_select(&c, x, &joined);
    assert_int_equal(circuit_end(&c).code, STATUS_OK);
    assert_int_equal(shape_builder_finish(&shape, builder).code, STATUS_OK);
    return shape;
}

static void templates_of_another_form_are_refused(void **state)
{
    (void)state;
    struct shape *shape = shape_of_all();
    bool seen[EXPANDER_COUNT] = {false};
    for (uint32_t i = 0; i < shape->templates_count; i++) {
        const struct template *t = &shape->templates[i];
        if (!t->expander)
            continue;
        uint32_t number = t->expander->number;
        bool (*fits)(const struct template *) = t->expander->fits;
        struct template bad = *t;
        seen[number] = true;
        assert_true(fits(t));
        bad.locals--;
        assert_false(fits(&bad));
        bad.locals += 2;
        bad.local_kind = malloc(bad.locals);
        bad.seed = calloc(bad.locals, 1);
        memcpy(bad.local_kind, t->local_kind, t->locals);
        memcpy(bad.seed, t->seed, t->locals);
        bad.local_kind[t->locals] = t->local_kind[t->locals - 1];
        assert_false(fits(&bad));
        bad.locals--;
        assert_true(fits(&bad));
        bad.local_kind[t->locals / 2] ^= 1;
        assert_false(fits(&bad));
        bad.local_kind[t->locals / 2] ^= 1;
        bad.seed[t->locals - 1] ^= 1;
        assert_false(fits(&bad));
        free(bad.local_kind);
        free(bad.seed);
        bad = *t;
        bad.reads_ports = !bad.reads_ports;
        assert_false(fits(&bad));
        bad = *t;
        bad.hint_words++;
        assert_false(fits(&bad));
        if (number != EXPANDER_SHA256_BLOCK) {
            bad = *t;
            bad.ports--;
            assert_false(fits(&bad));
        }
        if (number == EXPANDER_TO_BITS || number == EXPANDER_DIFFERENCE || number == EXPANDER_MUL ||
            number == EXPANDER_MUL_BIT || number == EXPANDER_SCALE_ADD)
            continue; /* no parameters, or any */
        static const uint32_t others[] = {0, 1, 3, 16, 36, 255, UINT32_MAX};
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
            bad = *t;
            bad.parameters[number == EXPANDER_SHA256_BLOCK ? 16 : 0] = others[k];
            if (memcmp(bad.parameters, t->parameters, sizeof bad.parameters) != 0)
                assert_false(fits(&bad));
        }
    }
    for (uint32_t number = 1; number < EXPANDER_COUNT; number++)
        assert_true(seen[number]);
    shape_release(shape);
}

#ifdef CUZK_X86_64
static void run_flavour(bool adx, const struct expansion *x)
{
    switch (x->template->expander->number) {
#define CASE(NUMBER, name)                                                                                   \
    case EXPANDER_##NUMBER:                                                                                  \
        (adx ? name##_adx : name##_portable)(x);                                                             \
        break;
        CASE(POSEIDON, expand_poseidon)
        CASE(PATH_ELEMENT, expand_path_element)
        CASE(TO_BITS, expand_to_bits)
        CASE(SHA_PATH_HEAD, expand_sha_path_head)
        CASE(PACK, expand_pack)
        CASE(MUL, expand_mul)
        CASE(SCALE_ADD, expand_scale_add)
    default:
        x->template->expander->run(x);
    }
}
#endif

static void both_flavours_agree(void **state)
{
    (void)state;
#ifdef CUZK_X86_64
    if (!flavour_available(FLAVOUR_ADX))
        skip();
    static fr fields[2][2000], port_fields[256];
    static uint64_t bits[2][500], port_bits[16];
    struct shape *shape = shape_of_all();
    struct maker m = {.random_state = 9};
    for (uint32_t i = 0; i < shape->templates_count; i++) {
        const struct template *t = &shape->templates[i];
        for (int round = 0; t->expander && !t->hint_words && round < 5; round++) {
            memset(bits, 0, sizeof bits);
            for (int k = 0; k < 64; k++)
                fields[0][k] = fields[1][k] = maker_element(&m);
            for (int k = 0; k < 256; k++)
                port_fields[k] = maker_element(&m);
            for (int k = 0; k < 16; k++)
                port_bits[k] = maker_random(&m);
            bits[0][0] = bits[1][0] = t->seed_bits ? maker_random(&m) & ((1u << t->seed_bits) - 1) : 0;
            for (int adx = 0; adx < 2; adx++) {
                struct expansion x = {.template = t,
                                      .fields = fields[adx],
                                      .bits = bits[adx],
                                      .port_fields = port_fields,
                                      .port_bits = port_bits};
                run_flavour(adx, &x);
            }
            assert_memory_equal(bits[0], bits[1], sizeof bits[0]);
            assert_memory_equal(fields[0], fields[1], t->local_fields * sizeof(fr));
        }
    }
    shape_release(shape);
#else
    skip();
#endif
}

static void numbers_never_change(void **state)
{
    (void)state;
    size_t count;
    const struct expander *const *all = gadget_expanders(&count);
    static const char *names[] = {"SHA256_BLOCK", "POSEIDON", "PATH_ELEMENT", "TO_BITS", "SHA_PATH_HEAD",
                                  "PACK",         "SUM",      "DIFFERENCE",   "MUL",     "MUL_BIT",
                                  "SCALE_ADD",    "INSERT",   "SELECT"};
    assert_int_equal(count, sizeof names / sizeof names[0]);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(all[i]->number, i + 1);
        assert_string_equal(all[i]->name, names[i]);
        assert_ptr_equal(gadget_expander((enum expander_number)(i + 1)), all[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_with_any_constants_are_those_of_the_circuit),
        cmocka_unit_test(templates_of_another_form_are_refused),
        cmocka_unit_test(both_flavours_agree),
        cmocka_unit_test(numbers_never_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
