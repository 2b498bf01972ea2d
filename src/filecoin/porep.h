/* The circuit of one PoRep partition, for every sector size: one walk (porep_circuit) that gives the shape,
 * the seeds of a real witness, or the generic system, by the sinks of the circuit it runs over. The API
 * version does not enter: it only decides which challenges and parents the public inputs name. */
#ifndef CUZK_FILECOIN_POREP_H
#define CUZK_FILECOIN_POREP_H

#include "filecoin/c1.h"
#include "gadget/circuit.h"

/* Where the walk stands, for digests of sections. The number is the parent's or the layer's, from 0. */
enum porep_section {
    POREP_REPLICA_BITS,
    POREP_COMMITMENTS, /* comm_c is allocated */
    POREP_TOP,
    POREP_TREE_D,
    POREP_PARENT_HASH,
    POREP_PARENT_PATH,
    POREP_NODE,
    POREP_LABEL_BITS,
    POREP_LABEL,
    POREP_ENCODE,
    POREP_TREE_R,
    POREP_COLUMN_HASH,
    POREP_CHALLENGE, /* the whole challenge */
};
typedef void porep_mark(void *context, struct circuit *c, enum porep_section section, uint32_t challenge,
                        uint32_t number);
struct porep_observer {
    porep_mark *mark;
    void *context;
};

/* Walks partition k. c1 may be NULL without a value sink; its hashes must be canonical (c1_parse sees to
 * that). observer may be NULL. */
void porep_circuit(struct circuit *c, const struct sector_size *sector, const struct c1 *c1, uint32_t k,
                   const struct porep_observer *observer);

/* The shape of a partition: the same for all. */
MUST_USE struct status porep_shape(struct shape **out, const struct sector_size *sector);
/* The seeds of partition k over that shape; a few MB at most. The C1 output should have passed c1_check:
 * from a bad one come seeds that satisfy no circuit. */
MUST_USE struct status porep_seeds(struct seeds *out, const struct shape *shape, const struct c1 *c1,
                                   uint32_t k);

#endif
