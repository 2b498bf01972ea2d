/* The hand-written decoder of the large message against protobuf's generated code: what both accept must be
 * the same, whole or cut, and the peek at a head must not read past it. The first byte says whether the
 * message is a ProveRequest. */
#include "base/mem.h"
#include "cuzk.pb-c.h"
#include "serve/submission.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void same(struct bytes_view v, const ProtobufCBinaryData *b)
{
    check(v.size == b->len && (v.size == 0 || memcmp(v.data, b->data, v.size) == 0));
}

static void compare(const struct submission *s, const Cuzk__V1__SubmitProofRequest *p)
{
    check(s->proof_kind == (int32_t)p->proof_kind && s->priority == (int32_t)p->priority);
    check(s->sector_size == p->sector_size && s->registered_proof == p->registered_proof);
    check(s->sector_number == p->sector_number && s->miner_id == p->miner_id);
    check(s->partition_index == p->partition_index);
    /* Generated code ends a text at its first zero byte. */
    ProtobufCBinaryData id = {strlen(p->request_id), (uint8_t *)p->request_id};
    struct bytes_view mine = s->request_id;
    const uint8_t *zero = mine.size != 0 ? memchr(mine.data, 0, mine.size) : NULL;
    if (zero != NULL)
        mine.size = (size_t)(zero - mine.data);
    same(mine, &id);
    same(s->vanilla_proof, &p->vanilla_proof);
    same(s->randomness, &p->randomness);
    same(s->comm_r_old, &p->comm_r_old);
    same(s->comm_r_new, &p->comm_r_new);
    same(s->comm_d_new, &p->comm_d_new);
    check(s->vanilla_proofs_count == p->n_vanilla_proofs);
    for (size_t i = 0; i < p->n_vanilla_proofs; i++)
        same(s->vanilla_proofs[i], &p->vanilla_proofs[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    bool wrapped = data[0] & 1;
    struct submission s;
    int32_t kind, priority;
    data++;
    size--;
    submission_peek(&kind, &priority, data, size, wrapped);
    struct status status = submission_decode(&s, data, size, wrapped);
    if (!status_failed(&status)) {
        struct proof_request request;
        struct status use = submission_request(&request, &s);
        check(use.code == STATUS_OK || use.code == STATUS_INVALID);
        if (!wrapped) {
            Cuzk__V1__SubmitProofRequest *p = cuzk__v1__submit_proof_request__unpack(NULL, size, data);
            if (p != NULL) {
                compare(&s, p);
                cuzk__v1__submit_proof_request__free_unpacked(p, NULL);
            }
        }
        submission_end(&s);
    } else {
        check(status.code == STATUS_INVALID);
    }
    check(mem_used() == 0);
    return 0;
}
