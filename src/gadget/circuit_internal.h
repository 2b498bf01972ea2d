/* What the sources of the walker share: the templates it can need and how instances of them are placed.
 * Room-internal. */
#ifndef CUZK_GADGET_CIRCUIT_INTERNAL_H
#define CUZK_GADGET_CIRCUIT_INTERNAL_H

#include "gadget/circuit.h"

enum template_kind {
    TEMPLATE_NUMBERS,        /* count */
    TEMPLATE_BITS,           /* count */
    TEMPLATE_INPUTIZE,       /* ports: input, number */
    TEMPLATE_EQUAL,          /* ports: two numbers */
    TEMPLATE_ADD,            /* ports: two numbers */
    TEMPLATE_SUB,            /* ports: two numbers */
    TEMPLATE_MUL,            /* ports: two numbers */
    TEMPLATE_SUM,            /* count; ports: numbers */
    TEMPLATE_SCALE_ADD,      /* scale, offset; port: number */
    TEMPLATE_MUL_BIT,        /* ports: number, bit */
    TEMPLATE_TO_BITS,        /* port: number */
    TEMPLATE_TO_BITS_UPDATE, /* port: number */
    TEMPLATE_PACK_INPUT,     /* count; ports: bits, input or number */
    TEMPLATE_PACK,           /* count; ports: bits; of none, the result is a seed */
    TEMPLATE_SELECT,         /* log2 of the size; ports: index bits, numbers */
    TEMPLATE_POSEIDON,       /* arity, tag low, tag high; ports: numbers */
    TEMPLATE_PATH_ELEMENT,   /* arity; port: node */
    TEMPLATE_SHA_PATH_HEAD,  /* arity; port: node */
    TEMPLATE_INSERT,         /* arity; ports: index bits, node, siblings */
    TEMPLATE_PATH_END,       /* count; ports: bits, input, computed root, root */
    TEMPLATE_SHA256_BLOCK,   /* the expander's parameters, then the constant bits' values by word;
                              * ports: state words unless constant, message bits */
    TEMPLATE_KINDS,
};

#define TEMPLATE_KEY_WORDS 33
struct template_key {
    uint32_t kind;
    uint32_t words[TEMPLATE_KEY_WORDS]; /* unused ones are zero */
};

struct circuit_template {
    struct template_key key;
    uint32_t number; /* in the shape */
    uint32_t out[8]; /* columns of the results; a SHA-256 block: first bit of each word of the state */
};

/* Records the template and gives it to the builder; circuit_record.c. */
MUST_USE struct status circuit_template_record(struct circuit_template *out, struct shape_builder *builder,
                                               const struct template_key *key);

/* Ports of one instance in order, as runs. */
#define PORT_RUNS_MAX 520
struct port_list {
    uint32_t count;
    bool last_is_bits;
    struct port_run runs[PORT_RUNS_MAX];
};
static inline void ports_clear(struct port_list *p)
{
    p->count = 0;
}

static inline void ports_add(struct port_list *p, variable first, uint32_t count, bool bits)
{
    struct port_run *last = p->count ? &p->runs[p->count - 1] : NULL;
    if (last && p->last_is_bits == bits && last->first.id + last->count == first.id) {
        last->count += count;
        return;
    }
    CHECK(p->count < PORT_RUNS_MAX);
    p->runs[p->count++] = (struct port_run){.first = first, .count = count};
    p->last_is_bits = bits;
}

static inline void ports_bits(struct port_list *p, variable first, uint32_t count)
{
    ports_add(p, first, count, true);
}

static inline void ports_joined(struct port_list *p, const struct joined_bits *b)
{
    if (b->low.count)
        ports_bits(p, b->low.first, b->low.count);
    if (b->high.count)
        ports_bits(p, b->high.first, b->high.count);
}

static inline void ports_number(struct port_list *p, variable v)
{
    ports_add(p, v, 1, false);
}

/* Places an instance; returns its first aux variable, and the template's result columns unless out is NULL.
 * On failure the circuit has the error and 0 is returned. */
uint32_t circuit_place(struct circuit *c, const struct template_key *key, const struct port_list *ports,
                       uint32_t out[8]);

/* The same for a template with one result: its aux variable. */
uint32_t circuit_place_number(struct circuit *c, const struct template_key *key,
                              const struct port_list *ports);

static inline bool circuit_ok(const struct circuit *c)
{
    return !status_failed(&c->error);
}

/* Whether values are to be computed by the walk itself. */
static inline bool circuit_has_values(const struct circuit *c)
{
    return c->seeds || (c->cs && c->cs->with_values);
}

/* The result of a step in all its forms: the generic gadget's number, the template's variable, a value. The
 * sinks must agree. */
struct number circuit_result(const struct circuit *c, const struct number *generic, uint32_t placed_aux,
                             bool known, const fr *value);

void bits_to_booleans(struct boolean *out, const struct bits *b);
void joined_to_booleans(struct boolean *out, const struct joined_bits *b);

/* One SHA-256 state in a walk. Words of variables are 32 consecutive bits, lowest first. */
struct sha_state {
    bool constant;
    uint32_t words[8];
    variable first[8];
};
/* One block of a message. Bits are numbered byte by byte, lowest first; `at` is only set where the walk wants
 * variables and the bit is not constant. */
struct sha_message {
    uint32_t words[16], constant[16]; /* masks within words */
    variable at[512];
};
/* Bit of the word that bit i (0..31) of four bytes is. */
static inline uint32_t sha_bit_of_word(uint32_t i)
{
    return 24 - (i & ~7u) + (i & 7);
}

void sha_state_start(struct sha_state *s);
void sha_message_clear(struct sha_message *m); /* all bits constant zero */
/* A number's 255 bits into half 0 or 1 of the block. */
void sha_message_number(struct sha_message *m, uint32_t half, const struct bits *b);
/* The padding that follows `bits` bits, from byte `from` to the end of the block. */
void sha_message_padding(struct sha_message *m, uint32_t from, uint64_t bits);
/* The block's instance, hints and new state. */
void circuit_sha_block(struct circuit *c, struct sha_state *s, const struct sha_message *m);
/* The packed digest, placed and valued but not run generically. */
struct number circuit_sha_digest(struct circuit *c, const struct sha_state *s);
/* The same for the hash of an even count of decomposed numbers. */
struct number circuit_sha_decomposed(struct circuit *c, const struct bits *decomposed, uint32_t count);

#endif
