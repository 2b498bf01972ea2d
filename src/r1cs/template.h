/* A template: the rows of a block that a circuit repeats, over local columns (variables that the block
 * allocates) and ports (variables from outside), and an expand function that fills the local values.
 *
 * Constants and negations of outside bits are part of a template: a port is always a variable, and a block
 * whose message has other constant bits, or another layer number, is another template. Each local column is
 * a bit or a field element, and is either a seed (written by the circuit) or derived (written by expand).
 * Expansion may also read hints: words that the circuit writes for the instance although they follow from
 * other variables (a SHA-256 block's message and chaining words), so that instances do not wait for each
 * other. A wrong hint gives an unsatisfied row, never a wrong proof that verifies. */
#ifndef CUZK_R1CS_TEMPLATE_H
#define CUZK_R1CS_TEMPLATE_H

#include "r1cs/cs.h"

/* A column of a template's row: what it is in the top 3 bits, its number below. */
#define COLUMN_SHIFT  29
#define COLUMN_NUMBER UINT32_C(0x1fffffff)
enum column_type {
    COLUMN_LOCAL_BIT,   /* number = local column */
    COLUMN_LOCAL_FIELD, /* number = rank among the local field columns */
    COLUMN_PORT_BIT,    /* number = port */
    COLUMN_PORT_FIELD,  /* number = port */
    COLUMN_ONE,         /* number = 0 */
};

struct template;

/* What an expand function sees of one instance. Seeds stand already in fields[] and in the bits. */
struct expansion {
    const struct template *template;
    fr *fields;          /* local field columns by rank: seeds in, all out */
    uint64_t *bits;      /* local bits: column j is bit (bit_offset + j); derived ones are zero on entry */
    uint32_t bit_offset; /* 0..63 */
    const uint32_t *hints;
    /* Values of ports, gathered by the driver if template->reads_ports: */
    const fr *port_fields;     /* field ports in port order, fields only */
    const uint64_t *port_bits; /* bit p = value of port p (bit ports only) */
};
/* Writes every derived local and nothing else: seeds may be read by other instances at the same time. */
typedef void expand_function(const struct expansion *x);

/* Known expand functions; the number goes into shape files and selects a device kernel. */
struct expander {
    uint32_t number; /* 0: none, every local is a seed */
    const char *name;
    expand_function *run;
    /* Whether `run` stays within such a template's columns: asked of templates from files. NULL: always. */
    bool (*fits)(const struct template *t);
};

/* How one combination of a row (the A, B or C side) is best evaluated. */
enum combination_class {
    COMBINATION_SMALL, /* bits and ONE only, coefficients small integers: an integer sum and a table */
    COMBINATION_BITS,  /* bits and ONE only: a sum of coefficients */
    COMBINATION_MIXED, /* field variables among them */
    COMBINATION_AS_C,  /* A of a row with B = {ONE: 1} and a cheaper C: equals C if the row holds */
};

#define TEMPLATE_PARAMETERS 24
struct template
{
    char name[40];
    uint32_t rows, locals, local_fields, ports, port_fields;
    uint32_t *first;        /* 3*rows + 1: A, B, C of each row */
    uint32_t *columns;      /* column_type << COLUMN_SHIFT | number */
    uint16_t *coefficients; /* numbers of the shape's dictionary */
    uint32_t *field_local;  /* rank -> local column */
    uint8_t *local_kind;    /* enum variable_kind per local column */
    uint8_t *port_kind;     /* enum variable_kind per port */
    uint8_t *seed;          /* per local column: 1 seed, 0 derived */
    uint32_t seed_fields, seed_bits;
    uint32_t *seed_field_rank; /* k-th field seed -> rank */
    uint32_t *seed_bit_local;  /* k-th bit seed -> local column */
    uint32_t hint_words;
    bool reads_ports;
    const struct expander *expander;          /* NULL: every local is a seed */
    uint32_t parameters[TEMPLATE_PARAMETERS]; /* for the expander, e.g. arity, constant masks */
    /* Known once a shape has taken the template: */
    uint8_t *classes;  /* enum combination_class, 3*rows */
    uint32_t terms[3]; /* of A, B, C */
    uint32_t longest;  /* most terms of one combination */
};

/* Turns a recorded cs into a template. The cs' first `ports` aux variables stand for the ports (their kinds
 * were given at allocation), the later ones are the local columns; it may not hold inputs besides ONE.
 * seed[j] marks local column j as a seed (NULL: all are, if expander is NULL, else none are).
 * The dictionary of the cs must be that of the shape. */
MUST_USE struct status template_from_cs(struct template *out, const struct cs *cs, const char *name,
                                        uint32_t ports, const uint8_t *seed, uint32_t hint_words,
                                        bool reads_ports, const struct expander *expander,
                                        const uint32_t *parameters, uint32_t parameters_count);
void template_end(struct template *t);
size_t template_bytes(const struct template *t); /* memory that its arrays hold */

/* Helpers for expand functions. count <= 64; bits that are already set stay set. */
static inline void expansion_put_bits(const struct expansion *x, uint32_t local, uint64_t value,
                                      uint32_t count)
{
    uint32_t at = x->bit_offset + local, shift = at & 63;
    if (count < 64)
        value &= (UINT64_C(1) << count) - 1;
    x->bits[at >> 6] |= value << shift;
    if (shift + count > 64)
        x->bits[(at >> 6) + 1] |= value >> (64 - shift);
}

static inline uint32_t expansion_get_bit(const struct expansion *x, uint32_t local)
{
    uint32_t at = x->bit_offset + local;
    return (uint32_t)(x->bits[at >> 6] >> (at & 63)) & 1;
}

#endif
