/* Circuits in walker form. Each is walked twice: with a builder and the generic form, which gives the shape
 * and must have the reference's digest; and with seeds and the generic form, which gives a witness by
 * expansion that must equal the generic values one by one. That makes the generic gadgets the oracle of every
 * template and every expander. */
#include "cases.h"

#include "base/mem.h"
#include "gadget/circuit.h"
#include "gadget/expanders.h"
#include "gadget/poseidon.h"
#include "base/sha256.h"
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A circuit and its values; m->cs is not used. values_wanted false: shape only, values may be left out. */
typedef void walk_function(struct circuit *c, struct maker *m, const void *context);

static struct status build_shape(struct shape **out, walk_function *walk, const void *context, struct cs *cs)
{
    struct shape_builder *builder;
    struct circuit c;
    struct maker m = {.values = VALUES_ZERO};
    TRY(shape_builder_start(&builder));
    struct status s = circuit_start(&c, builder, NULL, cs);
    if (!status_failed(&s)) {
        walk(&c, &m, context);
        s = circuit_end(&c);
    }
    if (status_failed(&s)) {
        shape_builder_abandon(builder);
        return s;
    }
    return shape_builder_finish(out, builder);
}

static struct status build_witness(struct seeds *seeds, struct witness *witness, const struct shape *shape,
                                   walk_function *walk, const void *context, struct maker *m, struct cs *cs)
{
    const struct work work = {0};
    struct circuit c;
    TRY(seeds_start(seeds, shape));
    struct status s = circuit_start(&c, NULL, seeds, cs);
    if (!status_failed(&s)) {
        walk(&c, m, context);
        s = circuit_end(&c);
    }
    if (!status_failed(&s)) {
        assert_true(seeds_complete(seeds));
        s = witness_start(witness, shape);
    }
    if (!status_failed(&s)) {
        s = witness_expand(witness, shape, seeds, &work);
        if (status_failed(&s))
            witness_end(witness);
    }
    if (status_failed(&s))
        seeds_end(seeds);
    return s;
}

/* The expansion of these values is what the generic form computes; without the generic form in the walk the
 * seeds are the same. */
static void assert_expansion(const char *name, const struct shape *shape, walk_function *walk,
                             const void *context, const struct maker *values)
{
    struct seeds seeds, alone;
    struct witness witness;
    struct cs cs;
    struct maker m = *values;
    uint32_t row;
    assert_int_equal(cs_init(&cs, NULL, false, true).code, STATUS_OK);
    assert_int_equal(build_witness(&seeds, &witness, shape, walk, context, &m, &cs).code, STATUS_OK);
    assert_int_equal(cs.aux, shape->aux);
    assert_int_equal(cs.inputs, shape->inputs);
    for (uint32_t i = 0; i < cs.inputs; i++)
        if (!fr_equal(&cs.input_values[i], &witness.inputs[i]))
            fail_msg("%s: input %u differs", name, i);
    for (uint32_t i = 0; i < cs.aux; i++) {
        fr value = witness_value(&witness, shape, variable_aux(i));
        if (!fr_equal(&cs.aux_values[i], &value))
            fail_msg("%s: aux %u differs", name, i);
    }
    assert_int_equal(witness_first_unsatisfied(&row, shape, &witness).code, STATUS_OK);
    if (row != UINT32_MAX)
        fail_msg("%s: row %u does not hold", name, row);
    witness_end(&witness);
    cs_end(&cs);
    m = *values;
    assert_int_equal(build_witness(&alone, &witness, shape, walk, context, &m, NULL).code, STATUS_OK);
    assert_memory_equal(seeds.inputs, alone.inputs, seeds.inputs_count * sizeof(fr));
    assert_memory_equal(seeds.fields, alone.fields, seeds.fields_count * sizeof(fr));
    assert_memory_equal(seeds.bits, alone.bits, (seeds.bits_count + 7) / 8);
    assert_memory_equal(seeds.hints, alone.hints, seeds.hints_count * sizeof(uint32_t));
    witness_end(&witness);
    seeds_end(&alone);
    seeds_end(&seeds);
}

/* Both forms have the same rows; digest: those of the reference, or NULL. */
static struct shape *checked_shape(const char *name, walk_function *walk, const void *context,
                                   const char *digest)
{
    struct dictionary d;
    struct shape *shape, *alone;
    struct cs cs;
    uint8_t both[2][32];
    char text[65];
    assert_int_equal(dictionary_init(&d).code, STATUS_OK);
    assert_int_equal(cs_init(&cs, &d, true, false).code, STATUS_OK);
    struct status s = build_shape(&shape, walk, context, &cs);
    if (status_failed(&s))
        fail_msg("%s: %s", name, s.message);
    assert_int_equal(build_shape(&alone, walk, context, NULL).code, STATUS_OK);
    assert_memory_equal(shape->digest, alone->digest, 32);
    shape_release(alone);
    cs_rows_digest(both[0], &cs, true, UINT32_MAX);
    assert_int_equal(shape_rows_digest(both[1], shape, true, UINT32_MAX).code, STATUS_OK);
    for (int k = 0; k < 32; k++)
        sprintf(text + 2 * k, "%02x", both[1][k]);
    if (memcmp(both[0], both[1], 32) != 0 || (digest && strcmp(digest, text) != 0))
        fail_msg("%s: digest %s", name, text);
    cs_end(&cs);
    dictionary_end(&d);
    return shape;
}

static const char *digest_of(const char *name)
{
    for (uint32_t i = 0; i < gadget_cases_count; i++)
        if (strcmp(gadget_cases[i].name, name) == 0)
            return gadget_cases[i].digest;
    fail_msg("no case %s", name);
    return NULL;
}

static void check(const char *name, walk_function *walk, const void *context, bool reference, uint32_t rounds)
{
    struct shape *shape = checked_shape(name, walk, context, reference ? digest_of(name) : NULL);
    for (uint32_t round = 0; round < rounds; round++) {
        struct maker m = {.random_state = round + 1,
                          .values = round < VALUES_COUNT ? (enum values)round : VALUES_RANDOM};
        assert_expansion(name, shape, walk, context, &m);
    }
    shape_release(shape);
}

/* ---- paths ---- */

struct por_context {
    const char *name;
    struct tree_form form;
    bool private_root;
};

static void walk_por_values(struct circuit *c, struct maker *m, const void *context)
{
    const struct por_context *p = context;
    fr siblings[64], leaf = maker_element(m), root;
    struct tree_path path = {.siblings = siblings};
    for (uint32_t i = 0; i < tree_form_siblings(&p->form); i++)
        siblings[i] = maker_element(m);
    path.leaf = (m->values == VALUES_RANDOM ? maker_random(m)
                 : m->values == VALUES_ZERO ? 0
                                            : UINT64_MAX) &
                ((UINT64_C(1) << tree_form_log2_leaves(&p->form)) - 1);
    fr cur = leaf;
    const fr *sibling = siblings;
    uint64_t index = path.leaf;
    for (uint32_t level = 0; level < tree_form_levels(&p->form); level++) {
        uint32_t arity = tree_form_arity(&p->form, level);
        fr children[8];
        for (uint32_t i = 0; i < arity; i++)
            children[i] = i == index % arity ? cur : *sibling++;
        index /= arity;
        if (p->form.hasher == HASHER_POSEIDON) {
            poseidon_hash(&cur, poseidon_of(arity), children);
        } else {
            uint8_t message[256], digest[32];
            for (uint32_t i = 0; i < arity; i++)
                fr_to_bytes(message + (size_t)32 * i, &children[i]);
            sha256(digest, message, (size_t)32 * arity);
            digest[31] &= 0x3f;
            fr_from_bytes(&cur, digest);
        }
    }
    root = cur;
    circuit_por_values(c, &p->form, &leaf, &path, &root, p->private_root);
}

static void paths_have_the_digests_of_the_reference(void **state)
{
    (void)state;
    static const struct por_context cases[] = {
        {"por_poseidon_2_64", {HASHER_POSEIDON, 2, 6, 0, 0}, false},
        {"por_poseidon_4_64", {HASHER_POSEIDON, 4, 3, 0, 0}, false},
        {"por_poseidon_8_64", {HASHER_POSEIDON, 8, 2, 0, 0}, false},
        {"por_poseidon_8_64_priv", {HASHER_POSEIDON, 8, 2, 0, 0}, true},
        {"por_poseidon_8_2", {HASHER_POSEIDON, 8, 2, 2, 0}, false},
        {"por_poseidon_8_8", {HASHER_POSEIDON, 8, 2, 8, 0}, false},
        {"por_poseidon_8_8_2", {HASHER_POSEIDON, 8, 2, 8, 2}, false},
        {"por_poseidon_8_4_2", {HASHER_POSEIDON, 8, 2, 4, 2}, false},
        {"por_poseidon_8_2_4", {HASHER_POSEIDON, 8, 2, 2, 4}, false},
        {"por_sha_2_64", {HASHER_SHA256, 2, 6, 0, 0}, false},
        {"por_sha_4_64", {HASHER_SHA256, 4, 3, 0, 0}, false},
        {"por_sha_8_64", {HASHER_SHA256, 8, 2, 0, 0}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(cases[i].name, walk_por_values, &cases[i], true,
              cases[i].form.hasher == HASHER_POSEIDON ? 12 : VALUES_COUNT);
}

/* r = nums(1); value Val, root Var(r), private */
static void walk_por_var(struct circuit *c, struct maker *m, const void *context)
{
    static const struct tree_form form = {HASHER_POSEIDON, 8, 2, 0, 0};
    (void)context;
    fr siblings[14], leaf_value = maker_element(m), root_value, children[8];
    for (int i = 0; i < 14; i++)
        siblings[i] = maker_element(m);
    struct tree_path path = {.leaf = 8 * 5 + 2, .siblings = siblings};
    memcpy(children, siblings, 7 * sizeof(fr));
    memmove(children + 3, children + 2, 5 * sizeof(fr));
    children[2] = leaf_value;
    poseidon_hash(&root_value, poseidon_of(8), children);
    memcpy(children, siblings + 7, 7 * sizeof(fr));
    memmove(children + 6, children + 5, 2 * sizeof(fr));
    children[5] = root_value;
    poseidon_hash(&root_value, poseidon_of(8), children);
    struct number root = circuit_number(c, &root_value), leaf = circuit_number(c, &leaf_value);
    circuit_por(c, &form, &leaf, &path, &root);
}

static void walk_sha_numbers(struct circuit *c, struct maker *m, const void *context)
{
    const uint32_t *count = context;
    fr values[8];
    struct number x[8];
    for (uint32_t i = 0; i < *count; i++)
        values[i] = maker_element(m);
    circuit_numbers(c, x, values, *count);
    circuit_sha_numbers(c, x, *count);
}

static void walk_poseidon(struct circuit *c, struct maker *m, const void *context)
{
    const uint32_t *arity = context;
    fr values[36];
    struct number x[36];
    for (uint32_t i = 0; i < *arity; i++)
        values[i] = maker_element(m);
    circuit_numbers(c, x, values, *arity);
    circuit_poseidon(c, x, *arity);
}

static void walk_poseidon_custom(struct circuit *c, struct maker *m, const void *context)
{
    (void)context;
    struct number x[2];
    fr values[2] = {maker_element(m), maker_element(m)};
    circuit_numbers(c, x, values, 2);
    circuit_poseidon_tagged(c, x, 2, POSEIDON_TAG_CUSTOM_1);
}

static void walk_to_bits(struct circuit *c, struct maker *m, const void *context)
{
    (void)context;
    fr value = maker_element(m);
    struct number x = circuit_number(c, &value);
    circuit_to_bits(c, &x);
}

static void walk_to_bits_update(struct circuit *c, struct maker *m, const void *context)
{
    (void)context;
    fr value = maker_element(m);
    struct number x = circuit_number(c, &value);
    circuit_to_bits_update(c, &x);
}

static void walk_uint64_pack(struct circuit *c, struct maker *m, const void *context)
{
    (void)context;
    circuit_uint64(c, maker_random(m));
    struct bits b = circuit_uint64(c, maker_random(m));
    circuit_pack_input(c, &b);
}

static void walk_label_production(struct circuit *c, struct maker *m, const void *context)
{
    (void)context;
    struct bits bits[15];
    const struct bits *parents[LABEL_PARENTS];
    for (int i = 0; i < 15; i++) {
        fr value = maker_element(m);
        struct number x = circuit_number(c, &value);
        bits[i] = circuit_to_bits(c, &x);
    }
    for (int i = 0; i < LABEL_PARENTS; i++)
        parents[i] = &bits[1 + i % 14];
    struct bits node = circuit_uint64(c, m->values == VALUES_RANDOM ? maker_random(m) : 5);
    circuit_label(c, &bits[0], parents, 3, &node);
}

/* ---- sector updates, and paths of which every part exists ---- */

static void walk_gen_challenge_bits(struct circuit *c, struct maker *m, const void *context)
{
    (void)context;
    fr values[2] = {maker_element(m), maker_element(m)};
    struct number n[2];
    circuit_numbers(c, n, values, 2);
    for (uint32_t j = 0; j < 10; j++) { /* 86 challenges of 26 bits, 9 to a digest */
        struct number inputs[2] = {n[0], circuit_scale_add(c, &n[1], 10, j)};
        struct number digest = circuit_poseidon_valued(c, inputs, 2, POSEIDON_TAG_CUSTOM_1);
        circuit_to_bits_update(c, &digest);
    }
}

static void walk_high_bits(struct circuit *c, struct maker *m, const void *context)
{
    (void)context;
    struct bits challenge = circuit_bits(c, maker_random(m), 10),
                select = circuit_bits(c, maker_random(m), 6);
    struct number z[6];
    for (uint32_t h = 1; h <= 6; h++) {
        struct bits high = bits_slice(&challenge, 10 - h, h), bit = bits_slice(&select, h - 1, 1);
        struct number v = circuit_pack(c, &high);
        z[h - 1] = circuit_mul_bit(c, &v, &bit);
    }
    circuit_sum(c, z, 6);
}

static void walk_label_r_new(struct circuit *c, struct maker *m, const void *context)
{
    (void)context;
    fr values[3] = {maker_element(m), maker_element(m), maker_element(m)};
    struct number n[3];
    circuit_numbers(c, n, values, 3);
    struct number product = circuit_mul(c, &n[1], &n[2]);
    circuit_add(c, &n[0], &product);
}

static fr sha_two(const fr *pair)
{
    uint8_t message[64], digest[32];
    fr out;
    fr_to_bytes(message, &pair[0]);
    fr_to_bytes(message + 32, &pair[1]);
    sha256(digest, message, 64);
    digest[31] &= 0x3f;
    fr_from_bytes(&out, digest);
    return out;
}

static void walk_apex_por(struct circuit *c, struct maker *m, const void *context)
{
    static const struct tree_form form = {HASHER_SHA256, 2, 1, 0, 0};
    (void)context;
    fr v[5], pair[2];
    for (int i = 0; i < 5; i++)
        v[i] = maker_element(m);
    bool right = maker_random(m) & 1;
    pair[0] = sha_two(v);
    pair[1] = sha_two(v + 2);
    pair[right] = sha_two(pair);
    pair[!right] = v[4];
    fr root = sha_two(pair);
    struct number d = circuit_number(c, &root), leaves[4], row[2], sibling;
    struct bits index = circuit_bits(c, right, 1);
    circuit_numbers(c, leaves, v, 4);
    sibling = circuit_number(c, &v[4]);
    for (int i = 0; i < 2; i++)
        row[i] = circuit_sha_numbers(c, leaves + 2 * i, 2);
    struct number apex = circuit_sha_numbers(c, row, 2);
    circuit_por_existing(c, &form, &index, &apex, &sibling, &d);
}

static void walk_no_challenge_poseidon(struct circuit *c, struct maker *m, const void *context)
{
    static const struct tree_form form = {HASHER_POSEIDON, 8, 2, 2, 0};
    (void)context;
    fr sibling_values[15], children[8], leaf_value = maker_element(m), cur = leaf_value;
    uint64_t index = maker_random(m) & 127;
    for (int i = 0; i < 15; i++)
        sibling_values[i] = maker_element(m);
    const fr *next = sibling_values;
    for (uint32_t level = 0, left = (uint32_t)index; level < 3; level++) {
        uint32_t arity = tree_form_arity(&form, level);
        for (uint32_t i = 0; i < arity; i++)
            children[i] = i == left % arity ? cur : *next++;
        left /= arity;
        poseidon_hash(&cur, poseidon_of(arity), children);
    }
    struct number leaf = circuit_number(c, &leaf_value), root = circuit_number(c, &cur), siblings[15];
    struct bits bits = circuit_bits(c, index, 7);
    circuit_numbers(c, siblings, sibling_values, 15);
    circuit_por_existing(c, &form, &bits, &leaf, siblings, &root);
}

/* ---- bits in two places ---- */

/* `count` bits of which the first `split` come from one run and the others from another. apart: the runs are
 * exchanged and other bits lie between them; else they are what one run would be. */
struct split_context {
    uint32_t split, count;
    bool apart;
};

static struct joined_bits split_bits(struct circuit *c, uint64_t value, const struct split_context *x)
{
    struct joined_bits out = {.low = {.count = 0}};
    uint32_t rest = x->count - x->split;
    if (x->apart && rest) {
        out.high = circuit_bits(c, value >> x->split, rest);
        circuit_bits(c, 5, 3);
    }
    if (x->split)
        out.low = circuit_bits(c, value, x->split);
    if (!x->apart && rest)
        out.high = circuit_bits(c, value >> x->split, rest);
    assert_int_equal(joined_count(&out), x->count);
    assert_true(joined_value(&out) == (value & ((UINT64_C(1) << x->count) - 1)));
    return out;
}

static void walk_joined_poseidon(struct circuit *c, struct maker *m, const void *context)
{
    static const struct tree_form form = {HASHER_POSEIDON, 8, 2, 2, 0};
    fr values[15], children[8], leaf_value = maker_element(m), cur = leaf_value;
    uint64_t index = maker_random(m) & 127;
    for (int i = 0; i < 15; i++)
        values[i] = maker_element(m);
    const fr *next = values;
    for (uint32_t level = 0, left = (uint32_t)index; level < 3; level++) {
        uint32_t arity = tree_form_arity(&form, level);
        for (uint32_t i = 0; i < arity; i++)
            children[i] = i == left % arity ? cur : *next++;
        left /= arity;
        poseidon_hash(&cur, poseidon_of(arity), children);
    }
    struct number leaf = circuit_number(c, &leaf_value), root = circuit_number(c, &cur), siblings[15];
    struct joined_bits bits = split_bits(c, index, context);
    circuit_numbers(c, siblings, values, 15);
    circuit_por_joined(c, &form, &bits, &leaf, siblings, &root);
}

static void walk_joined_sha(struct circuit *c, struct maker *m, const void *context)
{
    static const struct tree_form form = {HASHER_SHA256, 2, 3, 0, 0};
    fr v[4], pair[2];
    uint64_t index = maker_random(m) & 7;
    for (int i = 0; i < 4; i++)
        v[i] = maker_element(m);
    fr cur = v[0];
    for (int level = 0; level < 3; level++) {
        bool right = index >> level & 1;
        pair[right] = cur;
        pair[!right] = v[1 + level];
        cur = sha_two(pair);
    }
    struct number n[4], root = circuit_number(c, &cur);
    circuit_numbers(c, n, v, 4);
    struct joined_bits bits = split_bits(c, index, context);
    circuit_por_joined(c, &form, &bits, &n[0], n + 1, &root);
}

static void walk_select(struct circuit *c, struct maker *m, const void *context)
{
    const struct split_context *x = context;
    fr values[128];
    struct number from[128];
    struct joined_bits index = split_bits(c, maker_random(m), x);
    for (uint32_t i = 0; i < 1u << x->count; i++)
        values[i] = maker_element(m);
    circuit_numbers(c, from, values, 1u << x->count);
    circuit_select(c, from, &index);
}

/* A path without levels, packings of some bits and of none, a number that is the sum of bits. */
static void walk_joined_rest(struct circuit *c, struct maker *m, const void *context)
{
    static const struct tree_form none = {HASHER_SHA256, 2, 0, 0, 0};
    static const struct joined_bits no_bits = {.low = {.count = 0}};
    struct joined_bits bits = split_bits(c, maker_random(m), context);
    for (uint32_t from = 0; from <= joined_count(&bits); from++)
        for (uint32_t count = 0; count <= joined_count(&bits) - from; count += 3) {
            struct joined_bits slice = joined_slice(&bits, from, count);
            circuit_pack_joined(c, &slice);
        }
    struct number zero = circuit_pack_joined(c, &no_bits), packed = circuit_pack_joined(c, &bits);
    if (bits.low.count && !bits.high.count)
        circuit_bits_equal(c, &bits.low, &packed);
    circuit_por_joined(c, &none, &no_bits, &packed, NULL, &packed);
    circuit_scale_add(c, &zero, 3, 4);
}

static void bits_of_two_runs_are_those_of_one(void **state)
{
    (void)state;
    static const char *selects[] = {NULL, "select_2", "select_4", "select_8", "select_16"};
    for (uint32_t apart = 0; apart < 2; apart++) {
        for (uint32_t split = 0; split <= 7; split++) {
            struct split_context x = {split, 7, apart};
            check("por_nochallenge_poseidon_8_2", walk_joined_poseidon, &x, !apart, 8);
            check("select of 128", walk_select, &x, false, 12);
            check("joined", walk_joined_rest, &x, false, 8);
        }
        for (uint32_t split = 0; split <= 3; split++) {
            struct split_context x = {split, 3, apart};
            check("joined sha", walk_joined_sha, &x, false, 4);
        }
        for (uint32_t count = 1; count <= 6; count++)
            for (uint32_t split = 0; split <= count; split++) {
                struct split_context x = {split, count, apart};
                check(count <= 4 ? selects[count] : "select", walk_select, &x, count <= 4 && !apart, 12);
            }
    }
}

static void updates_have_the_digests_of_the_reference(void **state)
{
    (void)state;
    check("upd_gen_challenge_bits_86_26", walk_gen_challenge_bits, NULL, true, 6);
    check("upd_high_bits", walk_high_bits, NULL, true, 40);
    check("upd_label_r_new", walk_label_r_new, NULL, true, 12);
    check("upd_apex_por_4_1", walk_apex_por, NULL, true, 5);
    check("por_nochallenge_poseidon_8_2", walk_no_challenge_poseidon, NULL, true, 20);
}

static void steps_have_the_digests_of_the_reference(void **state)
{
    (void)state;
    static const uint32_t counts[] = {2, 4, 8, 11, 16, 24, 36};
    static const char *poseidons[] = {"poseidon_2",  "poseidon_4",  "poseidon_8", "poseidon_11",
                                      "poseidon_16", "poseidon_24", "poseidon_36"};
    static const char *shas[] = {"sha_multi_leaf_2", "sha_multi_leaf_4", "sha_multi_leaf_8"};
    for (int i = 0; i < 7; i++)
        check(poseidons[i], walk_poseidon, &counts[i], true, 12);
    for (int i = 0; i < 3; i++)
        check(shas[i], walk_sha_numbers, &counts[i], true, 6);
    check("poseidon_2_custom1", walk_poseidon_custom, NULL, true, 12);
    check("por_poseidon_8_64_var_priv", walk_por_var, NULL, true, 12);
    check("to_bits_le", walk_to_bits, NULL, true, 12);
    check("upd_num_to_bits", walk_to_bits_update, NULL, true, 12);
    check("uint64_pack", walk_uint64_pack, NULL, true, 12);
    check("create_label_production", walk_label_production, NULL, true, 2);
}

/* Everything else that a circuit can say, after one another. */
static void walk_rest(struct circuit *c, struct maker *m, const void *context)
{
    (void)context;
    fr values[3] = {maker_element(m), maker_element(m), maker_element(m)};
    struct number x[3];
    circuit_numbers(c, x, values, 3);
    circuit_inputize(c, &x[1]);
    struct number sum = circuit_add(c, &x[0], &x[1]), difference = circuit_sub(c, &sum, &x[0]);
    circuit_equal(c, &difference, &x[1]);
    struct number product = circuit_mul(c, &sum, &sum), encoded = circuit_encode(c, &product, &x[2]);
    circuit_inputize(c, &encoded);
    struct bits small = circuit_bits(c, maker_random(m), 7), all = circuit_to_bits(c, &product);
    circuit_pack_input(c, &small);
    struct bits slice = bits_slice(&all, 1, 254), inner = bits_slice(&slice, 60, 70);
    struct number packed = circuit_pack(c, &slice);
    circuit_inputize(c, &packed);
    circuit_pack_input(c, &inner);
    packed = circuit_pack(c, &inner);
    struct number hash = circuit_hash2(c, &packed, &encoded);
    circuit_add(c, &hash, &hash);
}

static void every_other_step_agrees_with_its_generic_form(void **state)
{
    (void)state;
    check("rest", walk_rest, NULL, false, 40);
}

static void counts_are_those_of_either_form(void **state)
{
    (void)state;
    struct dictionary d;
    struct cs cs;
    struct circuit c;
    struct shape_builder *builder;
    struct maker m = {.values = VALUES_ZERO};
    uint32_t by_builder[3], by_cs[3];
    assert_int_equal(dictionary_init(&d).code, STATUS_OK);
    assert_int_equal(shape_builder_start(&builder).code, STATUS_OK);
    assert_int_equal(circuit_start(&c, builder, NULL, NULL).code, STATUS_OK);
    walk_rest(&c, &m, NULL);
    circuit_counts(&c, &by_builder[0], &by_builder[1], &by_builder[2]);
    assert_int_equal(circuit_end(&c).code, STATUS_OK);
    shape_builder_abandon(builder);
    assert_int_equal(cs_init(&cs, &d, true, false).code, STATUS_OK);
    assert_int_equal(circuit_start(&c, NULL, NULL, &cs).code, STATUS_OK);
    walk_rest(&c, &m, NULL);
    circuit_counts(&c, &by_cs[0], &by_cs[1], &by_cs[2]);
    assert_int_equal(circuit_end(&c).code, STATUS_OK);
    assert_memory_equal(by_builder, by_cs, sizeof by_cs);
    cs_end(&cs);
    dictionary_end(&d);
}

static void every_failing_allocation_is_reported(void **state)
{
    (void)state;
    poseidon_of(2);
    size_t before = mem_used();
    for (uint64_t n = 1;; n += 1 + n / 8) {
        struct shape *shape;
        mem_fail_after(n);
        struct status s = build_shape(&shape, walk_rest, NULL, NULL);
        mem_fail_after(0);
        if (!status_failed(&s)) {
            shape_release(shape);
            assert_true(mem_used() == before);
            assert_true(n > 100);
            return;
        }
        assert_int_equal(s.code, STATUS_MEMORY);
        assert_true(mem_used() == before);
    }
}

static void shapes_survive_their_file_form(void **state)
{
    (void)state;
    static const uint32_t two = 2;
    static const struct por_context por = {"por_poseidon_8_4_2", {HASHER_POSEIDON, 8, 2, 4, 2}, false};
    struct {
        walk_function *walk;
        const void *context;
    } circuits[] = {{walk_rest, NULL}, {walk_sha_numbers, &two}, {walk_por_values, &por}};
    char path[] = "/tmp/circuit_test_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    size_t expanders_count;
    const struct expander *const *expanders = gadget_expanders(&expanders_count);
    for (int i = 0; i < 3; i++) {
        struct shape *shape, *loaded;
        assert_int_equal(build_shape(&shape, circuits[i].walk, circuits[i].context, NULL).code, STATUS_OK);
        assert_int_equal(shape_save(shape, path).code, STATUS_OK);
        struct status s = shape_load(&loaded, path, expanders, expanders_count);
        if (status_failed(&s))
            fail_msg("%s", s.message);
        assert_memory_equal(loaded->digest, shape->digest, 32);
        struct maker m = {.random_state = 3};
        assert_expansion("loaded", loaded, circuits[i].walk, circuits[i].context, &m);
        shape_release(loaded);
        shape_release(shape);
    }
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_have_the_digests_of_the_reference),
        cmocka_unit_test(paths_have_the_digests_of_the_reference),
        cmocka_unit_test(updates_have_the_digests_of_the_reference),
        cmocka_unit_test(bits_of_two_runs_are_those_of_one),
        cmocka_unit_test(every_other_step_agrees_with_its_generic_form),
        cmocka_unit_test(counts_are_those_of_either_form),
        cmocka_unit_test(every_failing_allocation_is_reported),
        cmocka_unit_test(shapes_survive_their_file_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
