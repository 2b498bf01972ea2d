/* Recipes in the order of the table at the end. Recipes that "continue" another one run it first. */
#include "cases.h"

#include "gadget/merkle.h"
#include "gadget/poseidon.h"
#include "gadget/sha256.h"
#include "gadget/update.h"
#include "base/sha256.h"
#include <stdlib.h>
#include <string.h>

uint64_t maker_random(struct maker *m)
{
    uint64_t z = (m->random_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

fr maker_element(struct maker *m)
{
    uint8_t bytes[64];
    fr out;
    switch (m->values) {
    case VALUES_ZERO:
        return FR_ZERO;
    case VALUES_ONE:
        return FR_ONE;
    case VALUES_TOP:
        fr_neg(&out, &FR_ONE);
        return out;
    default:
        for (int i = 0; i < 64; i += 8) {
            uint64_t r = maker_random(m);
            memcpy(bytes + i, &r, 8);
        }
        fr_from_bytes_reduce(&out, bytes, 64);
        return out;
    }
}

static bool maker_bit(struct maker *m)
{
    if (m->values == VALUES_RANDOM)
        return maker_random(m) & 1;
    return m->values != VALUES_ZERO;
}

static void bits(struct maker *m, struct boolean *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = bit_alloc(m->cs, maker_bit(m));
}

static struct number num_of(struct maker *m, const fr *value)
{
    if (m->is_free)
        m->is_free[m->cs->aux] = 1;
    return number_alloc(m->cs, value);
}

static void nums(struct maker *m, struct number *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fr value = maker_element(m);
        out[i] = num_of(m, &value);
    }
}

/* ---- booleans ---- */

static void kinds(struct maker *m, struct boolean k[3][4])
{
    struct boolean v[3];
    bits(m, v, 3);
    for (int s = 0; s < 3; s++) {
        k[s][0] = boolean_const(false);
        k[s][1] = boolean_const(true);
        k[s][2] = v[s];
        k[s][3] = boolean_not(v[s]);
    }
}

static void xor_and(struct maker *m, struct boolean k[3][4])
{
    kinds(m, k);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            boolean_xor(m->cs, k[0][i], k[1][j]);
            boolean_and(m->cs, k[0][i], k[1][j]);
        }
}

static void bool_xor_and(struct maker *m)
{
    struct boolean k[3][4];
    xor_and(m, k);
}

static void bool_ch_maj(struct maker *m)
{
    struct boolean k[3][4];
    xor_and(m, k);
    for (int i = 0; i < 64; i++) {
        boolean_ch(m->cs, k[0][i / 16], k[1][i / 4 % 4], k[2][i % 4]);
        boolean_maj(m->cs, k[0][i / 16], k[1][i / 4 % 4], k[2][i % 4]);
    }
}

static void bool_eq(struct maker *m)
{
    static const uint8_t pairs[12][2] = {{0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 0}, {2, 1},
                                         {3, 0}, {3, 1}, {2, 2}, {2, 3}, {3, 2}, {3, 3}};
    struct boolean v[2], k[2][4];
    bits(m, v, 2);
    for (int s = 0; s < 2; s++) {
        k[s][0] = boolean_const(false);
        k[s][1] = boolean_const(true);
        k[s][2] = v[s];
        k[s][3] = boolean_not(v[s]);
    }
    for (int i = 0; i < 12; i++)
        boolean_enforce_equal(m->cs, k[0][pairs[i][0]], k[1][pairs[i][1]]);
    bit_alloc_conditionally(m->cs, false, v[0]);
}

/* ---- numbers ---- */

static void mul_square_nonzero(struct maker *m, struct number n[2])
{
    nums(m, n, 2);
    if (m->values == VALUES_ZERO && m->cs->with_values) { /* zero has no inverse */
        m->cs->aux_values[0] = FR_ONE;
        n[0].value = FR_ONE;
    }
    number_mul(m->cs, &n[0], &n[1]);
    number_square(m->cs, &n[0]);
    number_assert_nonzero(m->cs, &n[0]);
}

static void num_mul_square_nonzero(struct maker *m)
{
    struct number n[2];
    mul_square_nonzero(m, n);
}

static void num_misc(struct maker *m)
{
    struct number n[2], c, d;
    struct boolean s;
    mul_square_nonzero(m, n);
    bits(m, &s, 1);
    number_conditionally_reverse(m->cs, &c, &d, &n[0], &n[1], &s);
    struct boolean not_s = boolean_not(s);
    number_conditionally_reverse(m->cs, &c, &d, &n[0], &n[1], &not_s);
    number_inputize(m->cs, &n[0]);
    cs_alloc_input(m->cs, &FR_ONE);
}

static void to_bits_le(struct maker *m)
{
    struct number a;
    struct boolean out[FR_BITS];
    nums(m, &a, 1);
    number_to_bits(m->cs, out, &a);
}

static void to_bits_le_strict(struct maker *m)
{
    struct number a;
    struct boolean out[FR_BITS];
    nums(m, &a, 1);
    number_to_bits_strict(m->cs, out, &a);
}

static void u64_bits(struct maker *m)
{
    struct boolean b[64];
    bits(m, b, 64);
}

static void uint64_pack(struct maker *m)
{
    struct boolean b[64];
    u64_bits(m);
    bits(m, b, 64);
    pack_into_inputs(m->cs, b, 64);
}

static void pack_inputs(struct maker *m, uint32_t count)
{
    struct boolean b[600];
    bits(m, b, count);
    pack_into_inputs(m->cs, b, count);
}

static void pack_into_inputs_64(struct maker *m)
{
    pack_inputs(m, 64);
}

static void pack_into_inputs_254(struct maker *m)
{
    pack_inputs(m, 254);
}

static void pack_into_inputs_255(struct maker *m)
{
    pack_inputs(m, 255);
}

static void pack_into_inputs_600(struct maker *m)
{
    pack_inputs(m, 600);
}

static void pack(struct maker *m, uint32_t count)
{
    struct boolean b[600];
    bits(m, b, count);
    b[3] = boolean_const(true);
    b[5] = boolean_const(false);
    b[7] = boolean_not(b[7]);
    pack_bits(m->cs, b, count);
}

static void pack_bits_64(struct maker *m)
{
    pack(m, 64);
}

static void pack_bits_254(struct maker *m)
{
    pack(m, 254);
}

static void pack_bits_255(struct maker *m)
{
    pack(m, 255);
}

static void pack_bits_600(struct maker *m)
{
    pack(m, 600);
}

/* ---- words and SHA-256 ---- */

static struct uint32_bits word(struct maker *m)
{
    struct uint32_bits out;
    bits(m, out.bit, 32);
    return out;
}

static void uint32_mix(struct maker *m)
{
    struct cs *cs = m->cs;
    struct multi_eq eq;
    multi_eq_init(&eq, cs);
    struct uint32_bits a = word(m), b = word(m);
    struct uint32_bits k = uint32_constant(0x80000001), k2 = uint32_constant(0xffffffff);
    struct uint32_bits x = uint32_xor(cs, &a, &b), t = uint32_rotr(&a, 7);
    struct uint32_bits y = uint32_xor(cs, &t, &k);
    t = uint32_shr(&b, 3);
    struct uint32_bits z = uint32_xor(cs, &b, &t), c = uint32_ch(cs, &a, &k, &b);
    struct uint32_bits d = uint32_maj(cs, &k2, &a, &y);
    struct uint32_bits s1 = uint32_add_many(&eq, (const struct uint32_bits *[]){&a, &b}, 2);
    struct uint32_bits s2 = uint32_add_many(&eq, (const struct uint32_bits *[]){&k, &k2}, 2);
    struct uint32_bits s3 = uint32_add_many(&eq, (const struct uint32_bits *[]){&x, &y, &z, &c, &d}, 5);
    struct uint32_bits s4 =
        uint32_add_many(&eq, (const struct uint32_bits *[]){&s1, &s2, &s3, &s3, &a, &a, &b}, 7);
    for (int i = 0; i < 6; i++)
        uint32_add_many(&eq, (const struct uint32_bits *[]){&s4, &s3, &k}, 3);
    multi_eq_end(&eq);
}

static void sha256_compress_512(struct maker *m)
{
    struct boolean b[512];
    struct uint32_bits state[8];
    bits(m, b, 512);
    sha256_initial_state(state);
    sha256_compression(m->cs, state, b);
}

static void sha(struct maker *m, uint32_t count)
{
    struct boolean b[1024], out[256];
    bits(m, b, count);
    sha256_bits(m->cs, out, b, count);
}

static void sha256_0(struct maker *m)
{
    sha(m, 0);
}

static void sha256_8(struct maker *m)
{
    sha(m, 8);
}

static void sha256_256(struct maker *m)
{
    sha(m, 256);
}

static void sha256_440(struct maker *m)
{
    sha(m, 440);
}

static void sha256_448(struct maker *m)
{
    sha(m, 448);
}

static void sha256_512(struct maker *m)
{
    sha(m, 512);
}

static void sha256_1024(struct maker *m)
{
    sha(m, 1024);
}

static void sha256_mixed_512(struct maker *m)
{
    struct boolean b[512], out[256];
    bits(m, b, 512);
    for (int i = 0; i < 64; i++) {
        b[200 + i] = boolean_const(i % 3 == 0);
        b[300 + i] = boolean_not(b[300 + i]);
    }
    sha256_bits(m->cs, out, b, 512);
}

/* ---- Poseidon ---- */

static void poseidon(struct maker *m, uint32_t arity)
{
    struct number x[36];
    nums(m, x, arity);
    poseidon_circuit(m->cs, x, arity, poseidon_merkle_tag(arity));
}

static void poseidon_2(struct maker *m)
{
    poseidon(m, 2);
}

static void poseidon_4(struct maker *m)
{
    poseidon(m, 4);
}

static void poseidon_8(struct maker *m)
{
    poseidon(m, 8);
}

static void poseidon_11(struct maker *m)
{
    poseidon(m, 11);
}

static void poseidon_16(struct maker *m)
{
    poseidon(m, 16);
}

static void poseidon_24(struct maker *m)
{
    poseidon(m, 24);
}

static void poseidon_36(struct maker *m)
{
    poseidon(m, 36);
}

static void poseidon_2_custom1(struct maker *m)
{
    struct number x[2];
    nums(m, x, 2);
    poseidon_circuit(m->cs, x, 2, POSEIDON_TAG_CUSTOM_1);
}

/* ---- insertion and selection ---- */

static void insert(struct maker *m, uint32_t log2_size)
{
    struct number e, x[15], out[16];
    struct boolean b[4];
    nums(m, &e, 1);
    bits(m, b, log2_size);
    nums(m, x, (1u << log2_size) - 1);
    number_insert(m->cs, out, &e, b, log2_size, x);
}

static void insert_2(struct maker *m)
{
    insert(m, 1);
}

static void insert_4(struct maker *m)
{
    insert(m, 2);
}

static void insert_8(struct maker *m)
{
    insert(m, 3);
}

static void insert_16(struct maker *m)
{
    insert(m, 4);
}

static void select_among(struct maker *m, uint32_t log2_size)
{
    struct number x[16];
    struct boolean b[4];
    bits(m, b, log2_size);
    nums(m, x, 1u << log2_size);
    number_select(m->cs, x, b, log2_size);
}

static void select_2(struct maker *m)
{
    select_among(m, 1);
}

static void select_4(struct maker *m)
{
    select_among(m, 2);
}

static void select_8(struct maker *m)
{
    select_among(m, 3);
}

static void select_16(struct maker *m)
{
    select_among(m, 4);
}

static void constraint_encode_xor(struct maker *m)
{
    struct number n[2];
    struct boolean k[256], d[512];
    nums(m, n, 2);
    number_add(m->cs, &n[0], &n[1]);
    number_sub(m->cs, &n[0], &n[1]);
    number_equal(m->cs, &n[0], &n[0]);
    number_add(m->cs, &n[0], &n[1]);
    number_sub(m->cs, &n[1], &n[0]);
    bits(m, k, 256);
    bits(m, d, 512);
    for (int i = 0; i < 512; i++)
        boolean_xor(m->cs, d[i], k[i % 256]);
}

/* ---- SHA-256 of numbers ---- */

static void sha_numbers(struct maker *m, uint32_t count)
{
    struct number x[8];
    nums(m, x, count);
    sha256_hash_numbers(m->cs, x, count);
}

static void sha_multi_leaf_2(struct maker *m)
{
    sha_numbers(m, 2);
}

static void sha_multi_leaf_4(struct maker *m)
{
    sha_numbers(m, 4);
}

static void sha_multi_leaf_8(struct maker *m)
{
    sha_numbers(m, 8);
}

static void sha_hash_leaf(struct maker *m)
{
    struct number x[2];
    struct boolean b[2][FR_BITS];
    nums(m, x, 2);
    for (int i = 0; i < 2; i++)
        number_to_bits(m->cs, b[i], &x[i]);
    sha256_hash_leaf_bits(m->cs, b[0], FR_BITS, b[1], FR_BITS);
}

static void sha_hash2(struct maker *m)
{
    sha_numbers(m, 2);
}

static void sha_hash_leaf_bits_256(struct maker *m)
{
    struct boolean l[256], r[256];
    bits(m, l, 256);
    bits(m, r, 256);
    sha256_hash_leaf_bits(m->cs, l, 256, r, 256);
}

static void sha_hash_circuit_const(struct maker *m)
{
    struct number unused;
    struct boolean b[512];
    nums(m, &unused, 1);
    for (int i = 0; i < 512; i++)
        b[i] = boolean_const(false);
    sha256_hash_bits(m->cs, b, 512);
}

static void poseidon_md(struct maker *m, uint32_t count)
{
    struct number x[71];
    nums(m, x, count);
    poseidon_md_circuit(m->cs, x, count);
}

static void poseidon_md_71(struct maker *m)
{
    poseidon_md(m, 71);
}

static void poseidon_md_40(struct maker *m)
{
    poseidon_md(m, 40);
}

/* ---- Merkle paths ---- */

static fr plain_hash(enum hasher hasher, const fr *x, uint32_t count)
{
    fr out;
    uint8_t message[8 * 32], digest[32];
    if (hasher == HASHER_POSEIDON) {
        poseidon_hash(&out, poseidon_of(count), x);
        return out;
    }
    for (uint32_t i = 0; i < count; i++)
        fr_to_bytes(message + (size_t)i * 32, &x[i]);
    sha256(digest, message, (size_t)count * 32);
    digest[31] &= 0x3f;
    fr_from_bytes(&out, digest);
    return out;
}

static fr plain_root(const struct tree_form *form, const fr *leaf, const struct tree_path *path)
{
    fr cur = *leaf, children[8];
    const fr *sibling = path->siblings;
    uint64_t index = path->leaf;
    for (uint32_t level = 0; level < tree_form_levels(form); level++) {
        uint32_t arity = tree_form_arity(form, level);
        for (uint32_t i = 0; i < arity; i++)
            children[i] = i == index % arity ? cur : *sibling++;
        index /= arity;
        cur = plain_hash(form->hasher, children, arity);
    }
    return cur;
}

#define SIBLINGS_MAX 64
static struct tree_path random_path(struct maker *m, const struct tree_form *form, fr siblings[SIBLINGS_MAX])
{
    for (uint32_t i = 0; i < tree_form_siblings(form); i++)
        siblings[i] = maker_element(m);
    uint64_t leaf = m->values == VALUES_RANDOM ? maker_random(m) : m->values == VALUES_ZERO ? 0 : UINT64_MAX;
    return (struct tree_path){leaf & ((UINT64_C(1) << tree_form_log2_leaves(form)) - 1), siblings};
}

enum { ROOT_PUBLIC, ROOT_PRIVATE, ROOT_VARIABLE };
static void por(struct maker *m, struct tree_form form, int root_form)
{
    fr siblings[SIBLINGS_MAX], leaf = maker_element(m);
    struct tree_path path = random_path(m, &form, siblings);
    fr root = plain_root(&form, &leaf, &path);
    if (root_form == ROOT_VARIABLE) {
        struct number root_number = num_of(m, &root), leaf_number = number_alloc(m->cs, &leaf);
        por_circuit(m->cs, &form, &leaf_number, &path, &root_number);
    } else {
        por_circuit_values(m->cs, &form, &leaf, &path, &root, root_form == ROOT_PRIVATE);
    }
}

#define POR(name, root_form, ...)                                                                            \
    static void name(struct maker *m)                                                                        \
    {                                                                                                        \
        por(m, (struct tree_form){__VA_ARGS__}, root_form);                                                  \
    }
POR(por_poseidon_2_64, ROOT_PUBLIC, HASHER_POSEIDON, 2, 6, 0, 0)
POR(por_poseidon_4_64, ROOT_PUBLIC, HASHER_POSEIDON, 4, 3, 0, 0)
POR(por_poseidon_8_64, ROOT_PUBLIC, HASHER_POSEIDON, 8, 2, 0, 0)
POR(por_poseidon_8_64_priv, ROOT_PRIVATE, HASHER_POSEIDON, 8, 2, 0, 0)
POR(por_poseidon_8_64_var_priv, ROOT_VARIABLE, HASHER_POSEIDON, 8, 2, 0, 0)
POR(por_poseidon_8_2, ROOT_PUBLIC, HASHER_POSEIDON, 8, 2, 2, 0)
POR(por_poseidon_8_8, ROOT_PUBLIC, HASHER_POSEIDON, 8, 2, 8, 0)
POR(por_poseidon_8_8_2, ROOT_PUBLIC, HASHER_POSEIDON, 8, 2, 8, 2)
POR(por_poseidon_8_4_2, ROOT_PUBLIC, HASHER_POSEIDON, 8, 2, 4, 2)
POR(por_poseidon_8_2_4, ROOT_PUBLIC, HASHER_POSEIDON, 8, 2, 2, 4)
POR(por_sha_2_64, ROOT_PUBLIC, HASHER_SHA256, 2, 6, 0, 0)
POR(por_sha_4_64, ROOT_PUBLIC, HASHER_SHA256, 4, 3, 0, 0)
POR(por_sha_8_64, ROOT_PUBLIC, HASHER_SHA256, 8, 2, 0, 0)

static void no_challenge(struct maker *m, struct tree_form form)
{
    fr sibling_values[SIBLINGS_MAX], leaf_value = maker_element(m);
    struct tree_path path = random_path(m, &form, sibling_values);
    fr root_value = plain_root(&form, &leaf_value, &path);
    struct number leaf = num_of(m, &leaf_value), root = num_of(m, &root_value), siblings[SIBLINGS_MAX];
    struct boolean cb[64];
    bits_alloc(m->cs, cb, &path.leaf, tree_form_log2_leaves(&form));
    for (uint32_t i = 0; i < tree_form_siblings(&form); i++)
        siblings[i] = num_of(m, &sibling_values[i]);
    por_no_challenge_circuit(m->cs, &form, cb, &leaf, siblings, &root);
}

static void por_nochallenge_poseidon_8_2(struct maker *m)
{
    no_challenge(m, (struct tree_form){HASHER_POSEIDON, 8, 2, 2, 0});
}

static void por_nochallenge_sha_2(struct maker *m)
{
    no_challenge(m, (struct tree_form){HASHER_SHA256, 2, 2, 0, 0});
}

/* ---- labels ---- */

static void label_of_bits(struct maker *m, bool allocated_node)
{
    struct boolean id[256], node[64];
    struct boolean(*parents)[256] = malloc(LABEL_PARENTS * sizeof *parents);
    const struct boolean *list[LABEL_PARENTS];
    uint32_t counts[LABEL_PARENTS];
    struct uint32_bits layer = uint32_constant(3), low = uint32_constant(22), high = uint32_constant(0);
    bits(m, id, 256);
    for (int i = 0; i < LABEL_PARENTS; i++) {
        bits(m, parents[i], 256);
        list[i] = parents[i];
        counts[i] = 256;
    }
    if (allocated_node) {
        bits(m, node, 64);
    } else {
        memcpy(node, low.bit, sizeof low.bit);
        memcpy(node + 32, high.bit, sizeof high.bit);
    }
    label_circuit(m->cs, id, 256, list, counts, &layer, node);
    free(parents);
}

static void create_label_const_layer_node(struct maker *m)
{
    label_of_bits(m, false);
}

static void create_label_alloc_node(struct maker *m)
{
    label_of_bits(m, true);
}

static void create_label_production(struct maker *m)
{
    struct boolean b[FR_BITS], numbered[15][256], node[64];
    const struct boolean *list[LABEL_PARENTS];
    uint32_t counts[LABEL_PARENTS];
    struct uint32_bits layer = uint32_constant(3);
    for (int i = 0; i < 15; i++) {
        struct number n;
        nums(m, &n, 1);
        number_to_bits(m->cs, b, &n);
        reverse_bit_numbering(numbered[i], b, FR_BITS);
    }
    for (int i = 0; i < LABEL_PARENTS; i++) {
        list[i] = numbered[1 + i % 14];
        counts[i] = 256;
    }
    bits(m, node, 64);
    label_circuit(m->cs, numbered[0], 256, list, counts, &layer, node);
}

/* ---- sector updates ---- */

static void upd_num_to_bits(struct maker *m)
{
    struct number a;
    struct boolean out[FR_BITS];
    nums(m, &a, 1);
    number_to_bits_update(m->cs, out, &a);
}

static void upd_gen_challenge_bits_86_26(struct maker *m)
{
    struct number n[2];
    struct boolean out[86 * 26];
    nums(m, n, 2);
    gen_challenge_bits(m->cs, out, &n[0], &n[1], 86, 26);
}

static void upd_high_bits(struct maker *m)
{
    static const uint32_t heights[6] = {1, 2, 3, 4, 5, 6};
    struct boolean cb[10], hb[6];
    bits(m, cb, 10);
    bits(m, hb, 6);
    challenge_high_bits(m->cs, cb, 10, hb, heights, 6);
}

static void upd_label_r_new(struct maker *m)
{
    struct number n[3];
    nums(m, n, 3);
    label_r_new(m->cs, &n[0], &n[1], &n[2]);
}

static void upd_apex_por_4_1(struct maker *m)
{
    struct tree_form form = {HASHER_SHA256, 2, 3, 0, 0};
    fr v[5], pair[2];
    for (int i = 0; i < 5; i++)
        v[i] = maker_element(m);
    bool right = maker_bit(m);
    for (int i = 0; i < 2; i++)
        pair[i] = plain_hash(HASHER_SHA256, v + 2 * i, 2);
    fr apex = plain_hash(form.hasher, pair, 2);
    pair[right] = apex;
    pair[!right] = v[4];
    fr root = plain_hash(form.hasher, pair, 2);
    struct number d = num_of(m, &root), al[4], pp;
    struct boolean pb = bit_alloc(m->cs, right);
    for (int i = 0; i < 4; i++)
        al[i] = num_of(m, &v[i]);
    pp = num_of(m, &v[4]);
    apex_por(m->cs, al, 4, &pb, &pp, 1, &d);
}

#define CASE(name, inputs, aux, rows, a_aux, b_inputs, b_aux, digest)                                        \
    {#name, name, {inputs, aux, rows}, {a_aux, b_inputs, b_aux}, digest},
const struct gadget_case gadget_cases[] = {
#include "cases_list.h"
};
const uint32_t gadget_cases_count = sizeof gadget_cases / sizeof gadget_cases[0];
