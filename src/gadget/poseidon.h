/* Poseidon over Fr as the Filecoin circuits use it (gadgets specification, 8): constants, the plain hash, and
 * the legacy circuit.
 *
 * Constants come from the Grain generator and a Cauchy matrix. They are computed once per arity, at first
 * use, into static storage: 3 ms for arity 2, 9 ms for arity 11 on a slow core. Thread safe, cannot fail. */
#ifndef CUZK_GADGET_POSEIDON_H
#define CUZK_GADGET_POSEIDON_H

#include "gadget/number.h"

#define POSEIDON_FULL_ROUNDS  8
#define POSEIDON_WIDTH_MAX    37
#define POSEIDON_PARTIAL_MAX  60
#define POSEIDON_CIRCUIT_MAX  1385 /* variables of the circuit for the greatest arity */
#define POSEIDON_TAG_CUSTOM_1 (UINT64_C(1) << 40)

struct poseidon {
    uint32_t arity, width, partial_rounds;
    const fr *rounds;     /* compressed round constants: 8 width + partial_rounds */
    const fr *plain;      /* round constants as generated: (8 + partial_rounds) width */
    const fr *mds;        /* width x width, symmetric */
    const fr *pre_sparse; /* width x width, row by row: out[j] = sum of state[i] pre[i][j] */
    const fr *sparse;     /* per partial round: first column (width), rest of the first row (width - 1) */
};

/* Arities 2, 4, 8, 11, 16, 24, 36; any other is a broken contract. */
const struct poseidon *poseidon_of(uint32_t arity);
bool poseidon_has(uint32_t arity);
/* 2^arity - 1: the domain tag of Merkle trees. */
uint64_t poseidon_merkle_tag(uint32_t arity);
/* Variables, and rows, of the circuit. */
uint32_t poseidon_circuit_size(const struct poseidon *p);

/* The hash of arity inputs with the Merkle tag, or with another. */
void poseidon_hash(fr *out, const struct poseidon *p, const fr *inputs);
void poseidon_hash_tagged(fr *out, const struct poseidon *p, uint64_t tag, const fr *inputs);
/* The values of the circuit's variables in allocation order; the last one is the hash. */
void poseidon_trace(fr *trace, const struct poseidon *p, uint64_t tag, const fr *inputs);

/* The circuit. */
struct number poseidon_circuit(struct cs *cs, const struct number *inputs, uint32_t arity, uint64_t tag);
/* hash_md_circuit: arity 36, chained. */
struct number poseidon_md_circuit(struct cs *cs, const struct number *inputs, uint32_t count);

#endif
