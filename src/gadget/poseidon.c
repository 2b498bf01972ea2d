/* The plain hash and the legacy circuit. In the circuit a state element is a variable or a linear
 * combination; mixing makes combinations and no rows, an S-box first turns a combination into a variable.
 * During the partial rounds all elements but the first stay combinations and grow by one term a round. */
#include "gadget/poseidon.h"

#include "gadget/bulk.h"

void poseidon_trace(fr *trace, const struct poseidon *p, uint64_t tag, const fr *inputs)
{
    fr tag_value;
    fr_from_u64(&tag_value, tag);
    FLAVOUR_CALL(poseidon_trace_impl, trace, p, &tag_value, inputs);
}

void poseidon_hash_tagged(fr *out, const struct poseidon *p, uint64_t tag, const fr *inputs)
{
    fr trace[POSEIDON_CIRCUIT_MAX];
    poseidon_trace(trace, p, tag, inputs);
    *out = trace[poseidon_circuit_size(p) - 1];
}

void poseidon_hash(fr *out, const struct poseidon *p, const fr *inputs)
{
    poseidon_hash_tagged(out, p, poseidon_merkle_tag(p->arity), inputs);
}

/* ---- circuit ---- */

struct element {
    struct lc l;
    fr value;
    bool is_variable; /* l is exactly one variable */
    variable v;
};

struct permutation {
    struct cs *cs;
    const struct poseidon *p;
    struct element state[POSEIDON_WIDTH_MAX], next[POSEIDON_WIDTH_MAX];
};

static void element_set(struct element *e, const struct number *x)
{
    lc_clear(&e->l);
    lc_add_one(&e->l, x->v);
    e->value = x->value;
    e->is_variable = true;
    e->v = x->v;
}

/* e += k * other */
static void element_add(struct element *e, const struct element *other, const fr *k)
{
    fr t;
    lc_add_lc(&e->l, &other->l, k);
    fr_mul(&t, &other->value, k);
    fr_add(&e->value, &e->value, &t);
    e->is_variable = false;
}

static void element_clear(struct element *e)
{
    lc_clear(&e->l);
    e->value = FR_ZERO;
    e->is_variable = false;
}

static struct number element_allocate(struct cs *cs, const struct element *e)
{
    if (e->is_variable)
        return (struct number){.v = e->v, .known = cs->with_values, .value = e->value};
    struct number out = number_alloc(cs, &e->value);
    struct lc *row = cs_row(cs);
    lc_add_lc(&row[0], &e->l, NULL);
    lc_add_one(&row[1], VARIABLE_ONE);
    lc_add_one(&row[2], out.v);
    cs_enforce_row(cs);
    return out;
}

/* l5 = (x + p)^5 + q, where p may be absent (NULL) and q too */
static struct number sbox(struct cs *cs, const struct number *x, const fr *p, const fr *q)
{
    fr sum = x->value, value, minus;
    if (p)
        fr_add(&sum, &sum, p);
    fr_mul(&value, &sum, &sum);
    struct number l2 = number_alloc(cs, &value);
    struct lc *row = cs_row(cs);
    for (int side = 0; side < 2; side++) {
        lc_add_one(&row[side], x->v);
        if (p)
            lc_add(&row[side], VARIABLE_ONE, p);
    }
    lc_add_one(&row[2], l2.v);
    cs_enforce_row(cs);
    struct number l4 = number_square(cs, &l2);
    fr_mul(&value, &sum, &l4.value);
    if (q)
        fr_add(&value, &value, q);
    struct number l5 = number_alloc(cs, &value);
    row = cs_row(cs);
    lc_add_one(&row[0], x->v);
    if (p)
        lc_add(&row[0], VARIABLE_ONE, p);
    lc_add_one(&row[1], l4.v);
    lc_add_one(&row[2], l5.v);
    if (q) {
        fr_neg(&minus, q);
        lc_add(&row[2], VARIABLE_ONE, &minus);
    }
    cs_enforce_row(cs);
    return l5;
}

static void sbox_element(struct permutation *s, uint32_t i, const fr *q)
{
    struct number x = element_allocate(s->cs, &s->state[i]);
    struct number l5 = sbox(s->cs, &x, NULL, q);
    element_set(&s->state[i], &l5);
}

static void mix_dense(struct permutation *s, const fr *matrix)
{
    uint32_t width = s->p->width;
    for (uint32_t j = 0; j < width; j++) {
        element_clear(&s->next[j]);
        for (uint32_t i = 0; i < width; i++)
            element_add(&s->next[j], &s->state[i], &matrix[i * width + j]);
        lc_simplify(&s->next[j].l);
    }
    for (uint32_t j = 0; j < width; j++) {
        struct element t = s->state[j];
        s->state[j] = s->next[j];
        s->next[j] = t;
    }
}

static void mix_sparse(struct permutation *s, const fr *sparse)
{
    uint32_t width = s->p->width;
    struct element *first = &s->next[0];
    element_clear(first);
    for (uint32_t i = 0; i < width; i++)
        element_add(first, &s->state[i], &sparse[i]);
    lc_simplify(&first->l);
    for (uint32_t j = 1; j < width; j++)
        element_add(&s->state[j], &s->state[0], &sparse[width + j - 1]);
    struct element t = s->state[0];
    s->state[0] = *first;
    *first = t;
}

static void first_round(struct permutation *s, const struct number *inputs, const fr *tag)
{
    const struct poseidon *p = s->p;
    fr x, t;
    fr_add(&x, tag, &p->rounds[0]);
    fr_mul(&t, &x, &x);
    fr_mul(&t, &t, &t);
    fr_mul(&t, &t, &x);
    fr_add(&t, &t, &p->rounds[p->width]);
    element_clear(&s->state[0]);
    lc_add(&s->state[0].l, VARIABLE_ONE, &t);
    s->state[0].value = t;
    for (uint32_t i = 1; i < p->width; i++) {
        struct number l5 = sbox(s->cs, &inputs[i - 1], &p->rounds[i], &p->rounds[p->width + i]);
        element_set(&s->state[i], &l5);
    }
    mix_dense(s, p->mds);
}

struct number poseidon_circuit(struct cs *cs, const struct number *inputs, uint32_t arity, uint64_t tag)
{
    const struct poseidon *p = poseidon_of(arity);
    struct permutation s = {.cs = cs, .p = p};
    fr tag_value;
    fr_from_u64(&tag_value, tag);
    first_round(&s, inputs, &tag_value);
    const fr *q = p->rounds + 2 * p->width;
    for (uint32_t round = 1; round < 4; round++) {
        for (uint32_t i = 0; i < p->width; i++)
            sbox_element(&s, i, q++);
        mix_dense(&s, round == 3 ? p->pre_sparse : p->mds);
    }
    for (uint32_t round = 0; round < p->partial_rounds; round++) {
        sbox_element(&s, 0, q++);
        mix_sparse(&s, p->sparse + (size_t)round * (2 * p->width - 1));
    }
    for (uint32_t round = 4; round < 8; round++) {
        for (uint32_t i = 0; i < p->width; i++)
            sbox_element(&s, i, round < 7 ? q++ : NULL);
        mix_dense(&s, p->mds);
    }
    struct number out = element_allocate(cs, &s.state[1]);
    for (uint32_t i = 0; i < p->width; i++) {
        lc_end(&s.state[i].l);
        lc_end(&s.next[i].l);
    }
    return out;
}

struct number poseidon_md_circuit(struct cs *cs, const struct number *inputs, uint32_t count)
{
    struct number slots[36], acc = inputs[0];
    for (uint32_t at = 1; at < count; at += 35) {
        slots[0] = acc;
        for (uint32_t i = 0; i < 35; i++)
            slots[i + 1] = at + i < count ? inputs[at + i] : number_alloc(cs, &FR_ZERO);
        acc = poseidon_circuit(cs, slots, 36, poseidon_merkle_tag(36));
    }
    return acc;
}
