/* The journal's place in the service: a thread of its own writes what the records of jobs have to say, in
 * batches with one sync each, and whoever needs to know that it is on disk waits by callback.
 *
 * What waits for the disk: the answer to SubmitProof, and results. What does not: WinningPoSt, which comes
 * and goes as if there were no journal and is written when there is time; proving, which begins at once; and
 * results when the disk takes longer than journal_wait_ms, for a proof at hand is worth more than a proof on
 * disk.
 *
 * When it cannot be written (full disk), that is said once, nothing waits any more, and every few seconds it
 * is tried again; then everything that still stands is written.
 *
 * All functions but those that say otherwise are called under the service's lock and do nothing if there is
 * no journal. */
#ifndef CUZK_ENGINE_JOURNAL_KEEP_H
#define CUZK_ENGINE_JOURNAL_KEEP_H

#include "engine/service.h"

struct record;
struct waiter;
struct keeper;

/* What a record has to do with the journal. */
struct keep {
    struct record *next;
    bool dirty;              /* what is on disk is not what is to be there */
    bool queued, busy;       /* waits for the thread; is being written */
    bool spooled;            /* its bytes are on disk */
    bool storing;            /* it has ended, and those who wait for it wait for the disk */
    bool survives;           /* it ended only because the daemon stops: it stays in the journal as waiting */
    bool release_due;        /* its bytes were to be released while they were being written */
    bool replayed, poisoned; /* comes from the journal; failed because it took the process down */
    int watched;             /* slot in the table of running jobs, plus 1; 0: none */
    int64_t accepted_ms, ended_ms; /* Unix time */
    uint64_t since_ms;             /* storing: since when */
    struct waiter *acknowledge;
};

/* Opens the journal and takes up what is in it. Not under the lock; the engine runs, nobody submits yet. */
MUST_USE struct status keeper_start(struct engine_service *s, const struct service_options *options);
/* Writes what is left and closes it. Not under the lock. */
void keeper_stop(struct engine_service *s);

/* Something of the record is to be written: it is new, was joined, has ended. */
void keeper_note(struct engine_service *s, struct record *r);
/* Work on it begins; nothing of it runs any more. */
void keeper_begun(struct engine_service *s, struct record *r);
void keeper_closed(struct engine_service *s, struct record *r);
/* It has ended. True if those who wait are told later, by the journal. */
bool keeper_ended(struct engine_service *s, struct record *r, uint64_t now);
/* It was refused after all and never was. */
void keeper_drop(struct engine_service *s, struct record *r);
/* The request's bytes are still to be written. */
bool keeper_holds(const struct record *r);
/* Those who waited long enough for the disk; when to look again. */
uint64_t keeper_expire(struct engine_service *s, uint64_t now);
/* Out of what waits here, or NULL. */
struct waiter *keeper_take_waiter(struct engine_service *s, uint64_t id);
/* Whether an acknowledgement of the record has to wait; then the waiter is taken. */
bool keeper_acknowledge(struct engine_service *s, struct record *r, struct waiter *w);
struct metrics_now;
void keeper_look(const struct engine_service *s, struct metrics_now *out);
/* That the bytes of a job taken up again are what they were. Not under the lock. */
MUST_USE struct status keeper_check(const struct record *r);

/* ---- journal_replay.c ---- */
MUST_USE struct status keeper_replay(struct engine_service *s, struct keeper *k);
/* Results of former runs whose time is over. */
void keeper_forget_loaded(struct engine_service *s, struct keeper *k, uint64_t now);

#endif
