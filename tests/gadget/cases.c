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

const struct gadget_case gadget_cases[] = {
    {"bool_xor_and",
     bool_xor_and,
     {1, 11, 11},
     {3, 1, 3},
     "ad26255b716bd9194eb2c76175db443c6e8eb4d6a553eaf5c38fbbd3f6c1b536"},
    {"bool_ch_maj",
     bool_ch_maj,
     {1, 79, 79},
     {11, 1, 3},
     "cee4f730307bcaeb064747fd8867bbd75068af05e3ed21f6154143e9de1a6690"},
    {"bool_eq",
     bool_eq,
     {1, 3, 15},
     {3, 0, 3},
     "247dbeeb30104533dd64cda9518054d01a42c356cad82e23bc4a2f48ac67fdda"},
    {"num_mul_square_nonzero",
     num_mul_square_nonzero,
     {1, 5, 3},
     {1, 0, 3},
     "9bc18aad482894834c47864d0e0c32dac43a7e76340400405655072feeb190a7"},
    {"num_misc",
     num_misc,
     {3, 10, 9},
     {3, 1, 4},
     "031caf380aebb2523f6dc693e3d47735f3f0199222bab6ebf3fdffb639b25d41"},
    {"to_bits_le",
     to_bits_le,
     {1, 256, 256},
     {255, 0, 255},
     "3ee48e5d8aae79e0905a860ce038f3f14cc2fb7cb6e708bcef309729e7b4aa90"},
    {"to_bits_le_strict",
     to_bits_le_strict,
     {1, 388, 388},
     {387, 0, 298},
     "b11dbfcce08631cc67dbf322f133d256126d3557f353882652c491a05585cea7"},
    {"u64_bits",
     u64_bits,
     {1, 64, 64},
     {64, 0, 64},
     "82b0054465ba5f34424badd7376d86c72f3d8993a2d8886a15923759d1c63d74"},
    {"uint64_pack",
     uint64_pack,
     {2, 128, 129},
     {128, 1, 128},
     "fa6cf7114228922805cf408a791ed569cc2f2740ac27d8a13588a42494d6043c"},
    {"pack_into_inputs_64",
     pack_into_inputs_64,
     {2, 64, 65},
     {64, 1, 64},
     "447c77929841f0ed80cdb74a7c98d09691bff32acba0ca03b427c6d0a21dd0d7"},
    {"pack_into_inputs_254",
     pack_into_inputs_254,
     {2, 254, 255},
     {254, 1, 254},
     "f44f620b7fd503c3c644d486a38534be43abe8441962e71a249dda0c3ffad238"},
    {"pack_into_inputs_255",
     pack_into_inputs_255,
     {3, 255, 257},
     {255, 1, 255},
     "aaa7dce317ba62b6d2ebdb361693e8a07ce8da4d55de07d023c8d742a80409af"},
    {"pack_into_inputs_600",
     pack_into_inputs_600,
     {4, 600, 603},
     {600, 1, 600},
     "4f385fb7bc4d9b49abfcd176d7f52ebf031eef587885addef7b83b893eb6fb9a"},
    {"pack_bits_64",
     pack_bits_64,
     {1, 65, 65},
     {64, 1, 64},
     "5d5165110c1101512b0279912b6cc123a5a5af04d2cf74847e34fcfc32a2c919"},
    {"pack_bits_254",
     pack_bits_254,
     {1, 255, 255},
     {254, 1, 254},
     "ba499a74f35b1c1416784ccb891461771fd78a1842a3db9172045100750c10f2"},
    {"pack_bits_255",
     pack_bits_255,
     {1, 256, 256},
     {255, 1, 255},
     "9cdc73693c5708674bfdeb371a6a8f696250628bd3a3937c0ecdbd13ef3e147a"},
    {"pack_bits_600",
     pack_bits_600,
     {1, 601, 601},
     {600, 1, 600},
     "8e8219da3e8562bc580e5cd115f1e602e543c5008b90cfb08c60f3fddb27c3d0"},
    {"uint32_mix",
     uint32_mix,
     {1, 496, 498},
     {496, 1, 371},
     "a0ecaeef280502d11ee11743acefecab104b23bf8dd64597898ca0c87456aaca"},
    {"sha256_compress_512",
     sha256_compress_512,
     {1, 26326, 26352},
     {26326, 1, 6822},
     "a4d697b35ac7340e12f4084254235340bddf35f510e50a12142a1d97992eac4f"},
    {"sha256_0",
     sha256_0,
     {1, 0, 0},
     {0, 0, 0},
     "ca888f40c3caca805b37a5434c75de5550616e0795e7602fb91156f22dd90851"},
    {"sha256_8",
     sha256_8,
     {1, 24352, 24378},
     {24352, 1, 6216},
     "6dcb7db0d5470c1824e9522f78a55fdf2cdd07e663ea6b49a6b7d536eb6ef7cc"},
    {"sha256_256",
     sha256_256,
     {1, 25474, 25500},
     {25474, 1, 6566},
     "e0f213a33f54448dbfedc42a485d96d8468eda91f1fcda2346d29723eecd0202"},
    {"sha256_440",
     sha256_440,
     {1, 26003, 26029},
     {26003, 1, 6750},
     "4d5fb83258cc469ac56d640c23edf6aa9102c1f6a16330b2e14f9f95c9758020"},
    {"sha256_448",
     sha256_448,
     {1, 45046, 45092},
     {45046, 1, 11436},
     "3a6cd0013ca06f33920051a7655639077c3244e4e8542b4de1cf9489c7a376dd"},
    {"sha256_512",
     sha256_512,
     {1, 45340, 45386},
     {45340, 1, 11500},
     "9a0fc214ecf78963986959369f521b6e8b07a268dfb28ad6f019183adaf8defa"},
    {"sha256_1024",
     sha256_1024,
     {1, 72018, 72090},
     {72018, 1, 18322},
     "762aeaf6f9540a4e3e7ef5442c07e3749efaf8ed3db4125182de08d06b7a77b4"},
    {"sha256_mixed_512",
     sha256_mixed_512,
     {1, 45198, 45244},
     {45176, 1, 11522},
     "1087416e3d55eecc35fbbf4d174604583c80cd7f177479c1365039c7483b9c5f"},
    {"poseidon_2",
     poseidon_2,
     {1, 313, 311},
     {234, 1, 234},
     "542a664989edd65296051e47b9f0cbf3add6fad002f50b7aadc669cff0797d66"},
    {"poseidon_4",
     poseidon_4,
     {1, 381, 377},
     {285, 1, 285},
     "f987cb0bcb3643b8a0bbdc869569ecc1f822d03cbd1e5fbc9bd9097407a7c157"},
    {"poseidon_8",
     poseidon_8,
     {1, 513, 505},
     {384, 1, 384},
     "859e707c9fcdd9e7baa4a0015520f5fd39c05e0d0821cc37176c5aee6dce2b94"},
    {"poseidon_11",
     poseidon_11,
     {1, 609, 598},
     {456, 1, 456},
     "7d8b464cc9389d977b928ba3917b9d470be00b10b48ba537a397529489c9efc3"},
    {"poseidon_16",
     poseidon_16,
     {1, 777, 761},
     {582, 1, 582},
     "03ba1239656b55fd152457f08a5cfd445199fb2fa50714d2be9b02b2b4c9c3ee"},
    {"poseidon_24",
     poseidon_24,
     {1, 1033, 1009},
     {774, 1, 774},
     "f03a0044253b52c65f620cfbd8086a7f4004208438d6c63b9aa3eb449307a784"},
    {"poseidon_36",
     poseidon_36,
     {1, 1421, 1385},
     {1065, 1, 1065},
     "570404fbfe331ce7f34dd19b567128d399772cc2eac3c47bcc020056ff88c455"},
    {"poseidon_2_custom1",
     poseidon_2_custom1,
     {1, 313, 311},
     {234, 1, 234},
     "b19467b7b0d1c25720c80bf6d075f356212d2a3132bbc59e69536ed875c85e28"},
    {"insert_2",
     insert_2,
     {1, 5, 3},
     {3, 0, 1},
     "394cff4162936674b517640cb7929673938d646173af87fe249772b867aa3739"},
    {"insert_4",
     insert_4,
     {1, 14, 10},
     {10, 0, 2},
     "9a13652daf3601c521570a162888ede555711cece6be6eb9104674ff51874511"},
    {"insert_8",
     insert_8,
     {1, 33, 25},
     {23, 1, 5},
     "ba982ae8b6886fc4d5924670ea2b34b84ba05727541b88e1f8c9ffb34008afca"},
    {"insert_16",
     insert_16,
     {1, 260, 244},
     {244, 0, 4},
     "5db0fd862c9f89d0aea2abbd941b7c101bf60edce88ffb212f35d050c8b15da6"},
    {"select_2",
     select_2,
     {1, 4, 2},
     {3, 0, 1},
     "fb0af6cca211d213d5013fba9af33a7d59a2863e8e15146e9d05ebd41d025a86"},
    {"select_4",
     select_4,
     {1, 9, 5},
     {8, 0, 2},
     "22f956bb7244e3423b075838471057a6f7327dec32e5534537761c56ae63dbf8"},
    {"select_8",
     select_8,
     {1, 18, 10},
     {17, 0, 3},
     "5eee3ad015fdaf0cb29c39a5fe3a83d330f2dfaf912690582bcdbb80bf6bfb9b"},
    {"select_16",
     select_16,
     {1, 35, 19},
     {34, 0, 4},
     "2debed92e03c7b2349e2ae07e9a2260b2a2895ea0b4c5c40a4bf82328131b9dd"},
    {"constraint_encode_xor",
     constraint_encode_xor,
     {1, 1286, 1285},
     {772, 1, 768},
     "43e5901b5ca527a41f602812b319c42cf09c7d875a3eb24caeca40e9394b9607"},
    {"sha_multi_leaf_2",
     sha_multi_leaf_2,
     {1, 45333, 45379},
     {45330, 1, 11498},
     "69682e511c1b07920152580010f7e59873bb3b8660f79e68fcdf52c61b5f6632"},
    {"sha_multi_leaf_4",
     sha_multi_leaf_4,
     {1, 72003, 72075},
     {71998, 1, 18318},
     "863ecfd065606f862b215a0878d1dae98b9863bb10426e29835d3193a036e7a2"},
    {"sha_multi_leaf_8",
     sha_multi_leaf_8,
     {1, 125343, 125467},
     {125334, 1, 31958},
     "b610a8030539d4fb9f485f80d7acad869bbcc45692af16182b10317296c43268"},
    {"sha_hash_leaf",
     sha_hash_leaf,
     {1, 45333, 45379},
     {45330, 1, 11498},
     "69682e511c1b07920152580010f7e59873bb3b8660f79e68fcdf52c61b5f6632"},
    {"sha_hash2",
     sha_hash2,
     {1, 45333, 45379},
     {45330, 1, 11498},
     "69682e511c1b07920152580010f7e59873bb3b8660f79e68fcdf52c61b5f6632"},
    {"sha_hash_leaf_bits_256",
     sha_hash_leaf_bits_256,
     {1, 45341, 45387},
     {45340, 1, 11500},
     "38d67a5b076f422823e1bf7d886774eb4f430db801a05451ba16430d21ec17e8"},
    {"sha_hash_circuit_const",
     sha_hash_circuit_const,
     {1, 2, 1},
     {0, 1, 0},
     "76d4e81e024eefe0ed5243f4cf56134994240a5cea180435102bc73b7d46244f"},
    {"poseidon_md_71",
     poseidon_md_71,
     {1, 2841, 2770},
     {2130, 1, 2130},
     "7f1866236a54e9a7e2a5a16e384e6a5ddce9e7ba9c9f452c4d9afb8de7e5f8b6"},
    {"poseidon_md_40",
     poseidon_md_40,
     {1, 2841, 2770},
     {2130, 1, 2130},
     "48a32f60207c45a7215dce11e1b85ba9f5c2c188296b9ab834141364a8980b93"},
    {"por_poseidon_2_64",
     por_poseidon_2_64,
     {3, 1892, 1887},
     {1423, 1, 1410},
     "0fad0990c51fd1ae68982dd11a3aeebeaace498cfdecdaef29b53aca90e7542d"},
    {"por_poseidon_4_64",
     por_poseidon_4_64,
     {3, 1172, 1164},
     {886, 1, 861},
     "9ff44197b1b089a5c14b3b1424351cebcebbe75ea69e7638b2be4a6d4f9df16c"},
    {"por_poseidon_8_64",
     por_poseidon_8_64,
     {3, 1076, 1063},
     {815, 1, 778},
     "10831581bb9fed1bab9a7ed74c5e4ced311dee8d7221331e6a575b1b66bdbaae"},
    {"por_poseidon_8_64_priv",
     por_poseidon_8_64_priv,
     {2, 1076, 1062},
     {815, 1, 778},
     "317e536fb144e1aa0a44f8a0205c6ea3673a8a1da2c1bc0dc1aaf9bd79ac7970"},
    {"por_poseidon_8_64_var_priv",
     por_poseidon_8_64_var_priv,
     {2, 1076, 1062},
     {815, 1, 778},
     "0a9a29705bf74b240be735a9c0821f7e55c092ead5db3c4fa09ca590f9e04fee"},
    {"por_poseidon_8_2",
     por_poseidon_8_2,
     {3, 1391, 1377},
     {1052, 1, 1013},
     "ff232b8c0078f620978751675c838d83c88f59417e8e6a1b2625834c1c0dbaf4"},
    {"por_poseidon_8_8",
     por_poseidon_8_8,
     {3, 1613, 1593},
     {1222, 1, 1167},
     "6707e6424bd4fb878dbd4656b588a6a387bcfeadd23b850bd036a447aa6294b0"},
    {"por_poseidon_8_8_2",
     por_poseidon_8_8_2,
     {3, 1928, 1907},
     {1459, 1, 1402},
     "a5076edd5cff63f3ce0b8785151820a875c73afafde1eb22ff8a59212a6a6bcd"},
    {"por_poseidon_8_4_2",
     por_poseidon_8_4_2,
     {3, 1781, 1764},
     {1347, 1, 1300},
     "dd199bef8f1818389eb2210dc56c547e93e4b0b92b05cf1dffae703540d3cb4e"},
    {"por_poseidon_8_2_4",
     por_poseidon_8_2_4,
     {3, 1781, 1764},
     {1347, 1, 1300},
     "c13db67fefed253f54541f9d5ca6764aed570b61ef07f4f328d1ac2c422a6381"},
    {"por_sha_2_64",
     por_sha_2_64,
     {3, 272012, 272295},
     {271999, 1, 68994},
     "55738c0a51fc4d8af22f1b031df1f37a1dd9315e00549aad222c8a0be5377a2b"},
    {"por_sha_4_64",
     por_sha_4_64,
     {3, 216038, 216258},
     {216025, 1, 54960},
     "290bd5e87056179895f5707b18ac8ac724a2dd6788a10322751ac49ee051d971"},
    {"por_sha_8_64",
     por_sha_8_64,
     {3, 250736, 250987},
     {250715, 1, 63926},
     "7954f65bf1088b9712547bd5ee744c530776a20b4139cf78fbf879a7a72494af"},
    {"por_nochallenge_poseidon_8_2",
     por_nochallenge_poseidon_8_2,
     {1, 1391, 1375},
     {1052, 1, 1013},
     "95abbfee717b3e507e15ba70f16093793a6784a7721e5e00599ee019bf8e5f11"},
    {"por_nochallenge_sha_2",
     por_nochallenge_sha_2,
     {1, 90672, 90765},
     {90667, 1, 22998},
     "a72fe00699058f3bea21cb3b627c01c1e695034e35ce434c15c0b64fcf6fd480"},
    {"create_label_const_layer_node",
     create_label_const_layer_node,
     {1, 531505, 532025},
     {531504, 1, 135928},
     "9792bc62354f1e5925d34c9dad4149638950bf7a6d3105d30a46f76a4d5020f0"},
    {"create_label_alloc_node",
     create_label_alloc_node,
     {1, 531691, 532211},
     {531690, 1, 135992},
     "dde3ce19280a2350494349b70738b8b3e8897cb7acc56fc6b4f56981f950f8d3"},
    {"create_label_production",
     create_label_production,
     {1, 525653, 526173},
     {525637, 1, 130089},
     "a4070c8456d8470686516539aa7b3393411dab4be219a253f33acacd2744881a"},
    {"upd_num_to_bits",
     upd_num_to_bits,
     {1, 256, 256},
     {255, 1, 255},
     "7bee0f27fec67534c7b771e8dbd5dfffbdb0ce407c22fcb742497cb70978cb73"},
    {"upd_gen_challenge_bits_86_26",
     upd_gen_challenge_bits_86_26,
     {1, 5672, 5680},
     {4882, 1, 4881},
     "6f5a76d4cdb1e70e5126ec735b9f21e228d072f2ad541096cfce1cfb667573e5"},
    {"upd_high_bits",
     upd_high_bits,
     {1, 29, 29},
     {28, 1, 16},
     "08c2fd6fc316de0a890c868bd4fb88bea5dfe96f18d275d6d304670517ee5693"},
    {"upd_label_r_new",
     upd_label_r_new,
     {1, 5, 2},
     {3, 1, 1},
     "e5a1fe910af9b719b74595eae570358a233b3f6ea7b4393aceac8c8da1e40cbb"},
    {"upd_apex_por_4_1",
     upd_apex_por_4_1,
     {1, 181333, 181520},
     {181324, 1, 45993},
     "ae8d7aa6343bbfa66249d833d4f7f266da727d176d7aa029e3f260407de38f25"},
};
const uint32_t gadget_cases_count = sizeof gadget_cases / sizeof gadget_cases[0];
