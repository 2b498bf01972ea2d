/* The memory ledger: every large buffer is reserved before it exists. Three classes with a limit each; a
 * reservation waits for its turn by priority (first come first served within one), or is refused at once if
 * it can never fit. A lease may shrink when part of what it stands for is freed. Waiting never blocks a
 * thread: the ledger calls back. */
#ifndef CUZK_BASE_LEDGER_H
#define CUZK_BASE_LEDGER_H

#include "base/pool.h"
#include "base/status.h"

enum ledger_class { LEDGER_HOST, LEDGER_PINNED, LEDGER_DEVICE, LEDGER_CLASSES };

struct ledger;
struct lease {
    struct ledger *ledger;
    enum ledger_class class;
    uint64_t bytes; /* 0: none */
    const char *purpose;
};

MUST_USE struct status ledger_make(struct ledger **out, const uint64_t limits[LEDGER_CLASSES]);
void ledger_end(struct ledger *ledger); /* all leases must have ended */
void ledger_set_limit(struct ledger *ledger, enum ledger_class class, uint64_t bytes);
/* For as long as the machine is short: all but PRIORITY_CRITICAL fill no more than this, and wait. What can
 * never fit is still judged by the limit. UINT64_MAX: no shortage. */
void ledger_set_shortage(struct ledger *ledger, enum ledger_class class, uint64_t bytes);
/* Bytes of a class that only PRIORITY_CRITICAL may use. */
void ledger_set_reserve(struct ledger *ledger, enum ledger_class class, uint64_t bytes);

/* At once or not at all: false if it does not fit now (or others wait before it). purpose: static text. */
MUST_USE bool ledger_try(struct ledger *ledger, struct lease *out, enum ledger_class class, uint64_t bytes,
                         enum priority priority, const char *purpose);
/* Calls granted(context, &lease) once, possibly before returning, from the thread that frees the bytes.
 * STATUS_MEMORY with the numbers if it can never fit. *ticket may be given to ledger_withdraw while waiting.
 */
typedef void ledger_granted(void *context, const struct lease *lease);
MUST_USE struct status ledger_wait(struct ledger *ledger, uint64_t *ticket, enum ledger_class class,
                                   uint64_t bytes, enum priority priority, const char *purpose,
                                   ledger_granted *granted, void *context);
/* True if the ticket was still waiting and no callback will come. */
bool ledger_withdraw(struct ledger *ledger, uint64_t ticket);
void lease_shrink(struct lease *lease, uint64_t bytes); /* to `bytes`; never grows */
void lease_end(struct lease *lease);

struct ledger_view {
    uint64_t limit, used, peak, waiting_bytes;
    uint32_t leases, waiting;
};
void ledger_look(struct ledger *ledger, enum ledger_class class, struct ledger_view *out);
/* Sum by purpose; returns how many purposes there are (at most max are written). */
size_t ledger_purposes(struct ledger *ledger, enum ledger_class class, const char **purposes, uint64_t *bytes,
                       size_t max);

#endif
