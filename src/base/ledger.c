/* See ledger.h. One mutex; leases are plain values whose sums live here. Who waits stands in one list per
 * class and priority; whatever is freed goes to the first of the highest priority that waits, and nobody
 * passes one that waits before it: a large reservation is not starved by small ones. Grants are called after
 * the mutex is released, so a callback may use the ledger. */
#include "base/ledger.h"

#include "base/mem.h"

#include <pthread.h>
#include <string.h>

struct waiter {
    struct waiter *next;
    uint64_t ticket, bytes;
    enum ledger_class class;
    const char *purpose;
    ledger_granted *granted;
    void *context;
};

#define PURPOSES_MAX 64
struct purpose {
    const char *name;
    uint64_t bytes;
    uint32_t leases;
};

struct account {
    uint64_t limit, reserve, shortage, used, peak, waiting_bytes;
    uint32_t leases, waiting;
    struct waiter *first[PRIORITY_COUNT], **last[PRIORITY_COUNT];
    struct purpose purposes[PURPOSES_MAX]; /* the last one takes what finds no place */
    size_t purposes_count;
};

struct ledger {
    pthread_mutex_t lock;
    uint64_t next_ticket;
    struct account accounts[LEDGER_CLASSES];
};

static const char *const CLASS_NAME[LEDGER_CLASSES] = {"host", "pinned", "device"};

struct status ledger_make(struct ledger **out, const uint64_t limits[LEDGER_CLASSES])
{
    *out = NULL;
    struct ledger *l = mem_alloc_zero(1, sizeof *l);
    if (l == NULL)
        return mem_failed("memory ledger", 1, sizeof *l);
    CHECK(pthread_mutex_init(&l->lock, NULL) == 0);
    l->next_ticket = 1;
    for (int c = 0; c < LEDGER_CLASSES; c++) {
        l->accounts[c].limit = limits[c];
        l->accounts[c].shortage = UINT64_MAX;
        for (int p = 0; p < PRIORITY_COUNT; p++)
            l->accounts[c].last[p] = &l->accounts[c].first[p];
    }
    *out = l;
    return status_ok();
}

void ledger_end(struct ledger *l)
{
    if (l == NULL)
        return;
    for (int c = 0; c < LEDGER_CLASSES; c++)
        CHECK(l->accounts[c].leases == 0 && l->accounts[c].used == 0 && l->accounts[c].waiting == 0);
    pthread_mutex_destroy(&l->lock);
    mem_free(l);
}

/* ---- under the lock ---- */

static struct purpose *find_purpose(struct account *a, const char *name)
{
    for (size_t i = 0; i < a->purposes_count; i++)
        if (a->purposes[i].name == name || strcmp(a->purposes[i].name, name) == 0)
            return &a->purposes[i];
    if (a->purposes_count < PURPOSES_MAX) {
        a->purposes[a->purposes_count].name = a->purposes_count + 1 < PURPOSES_MAX ? name : "others";
        return &a->purposes[a->purposes_count++];
    }
    return &a->purposes[PURPOSES_MAX - 1];
}

/* What this priority may fill. */
static uint64_t limit_of(const struct account *a, enum priority priority)
{
    if (priority == PRIORITY_CRITICAL)
        return a->limit;
    return a->limit > a->reserve ? a->limit - a->reserve : 0;
}

static bool fits(const struct account *a, uint64_t bytes, enum priority priority)
{
    uint64_t limit = limit_of(a, priority);
    if (priority != PRIORITY_CRITICAL && limit > a->shortage)
        limit = a->shortage;
    return a->used <= limit && bytes <= limit - a->used;
}

static bool others_first(const struct account *a, enum priority priority)
{
    for (int p = 0; p <= (int)priority; p++)
        if (a->first[p] != NULL)
            return true;
    return false;
}

static void account_add(struct account *a, uint64_t bytes, const char *purpose)
{
    struct purpose *p = find_purpose(a, purpose);
    a->used += bytes;
    a->leases++;
    p->bytes += bytes;
    p->leases++;
    if (a->used > a->peak)
        a->peak = a->used;
}

static struct waiter *unlink_waiter(struct account *a, enum priority p, struct waiter **at)
{
    struct waiter *w = *at;
    *at = w->next;
    if (a->last[p] == &w->next)
        a->last[p] = at;
    w->next = NULL;
    a->waiting--;
    a->waiting_bytes -= w->bytes;
    return w;
}

/* Those whose turn has come, as a list, in order; their bytes are theirs already. */
static struct waiter *take_granted(struct account *a)
{
    struct waiter *list = NULL, **end = &list;
    for (enum priority p = 0; p < PRIORITY_COUNT; p++) {
        while (a->first[p] != NULL && fits(a, a->first[p]->bytes, p)) {
            struct waiter *w = unlink_waiter(a, p, &a->first[p]);
            account_add(a, w->bytes, w->purpose);
            *end = w;
            end = &w->next;
        }
        if (a->first[p] != NULL)
            break; /* nobody of a lower priority passes it */
    }
    return list;
}

static void call_granted(struct ledger *l, struct waiter *list)
{
    while (list != NULL) {
        struct waiter *w = list;
        struct lease lease = {.ledger = l, .class = w->class, .bytes = w->bytes, .purpose = w->purpose};
        list = w->next;
        w->granted(w->context, &lease);
        mem_free(w);
    }
}

static void unlock_and_grant(struct ledger *l, struct account *a)
{
    struct waiter *list = take_granted(a);
    pthread_mutex_unlock(&l->lock);
    call_granted(l, list);
}

/* ---- from outside ---- */

void ledger_set_limit(struct ledger *l, enum ledger_class class, uint64_t bytes)
{
    pthread_mutex_lock(&l->lock);
    l->accounts[class].limit = bytes;
    unlock_and_grant(l, &l->accounts[class]);
}

void ledger_set_shortage(struct ledger *l, enum ledger_class class, uint64_t bytes)
{
    pthread_mutex_lock(&l->lock);
    l->accounts[class].shortage = bytes;
    unlock_and_grant(l, &l->accounts[class]);
}

void ledger_set_reserve(struct ledger *l, enum ledger_class class, uint64_t bytes)
{
    pthread_mutex_lock(&l->lock);
    l->accounts[class].reserve = bytes;
    unlock_and_grant(l, &l->accounts[class]);
}

bool ledger_try(struct ledger *l, struct lease *out, enum ledger_class class, uint64_t bytes,
                enum priority priority, const char *purpose)
{
    struct account *a = &l->accounts[class];
    pthread_mutex_lock(&l->lock);
    bool now = fits(a, bytes, priority) && !others_first(a, priority);
    if (now)
        account_add(a, bytes, purpose);
    pthread_mutex_unlock(&l->lock);
    *out = (struct lease){.class = class, .purpose = purpose};
    if (now) {
        out->ledger = l;
        out->bytes = bytes;
    }
    return now;
}

static struct status never_fits(const struct account *a, enum ledger_class class, uint64_t bytes,
                                enum priority priority, const char *purpose)
{
    struct status s =
        status_error(STATUS_MEMORY, "%s needs %llu bytes of %s memory; the limit is %llu", purpose,
                     (unsigned long long)bytes, CLASS_NAME[class], (unsigned long long)limit_of(a, priority));
    if (priority != PRIORITY_CRITICAL && a->reserve > 0)
        s = status_detail(s, "%llu of %llu bytes are kept for WinningPoSt", (unsigned long long)a->reserve,
                          (unsigned long long)a->limit);
    return status_hint(s, class == LEDGER_DEVICE ? "use a device with more memory"
                                                 : "raise memory.total_budget, or use a larger machine");
}

struct status ledger_wait(struct ledger *l, uint64_t *ticket, enum ledger_class class, uint64_t bytes,
                          enum priority priority, const char *purpose, ledger_granted *granted, void *context)
{
    struct account *a = &l->accounts[class];
    struct waiter *w = mem_alloc_zero(1, sizeof *w);
    *ticket = 0;
    if (w == NULL)
        return mem_failed("reservation", 1, sizeof *w);
    pthread_mutex_lock(&l->lock);
    if (bytes > limit_of(a, priority)) {
        struct status s = never_fits(a, class, bytes, priority, purpose);
        pthread_mutex_unlock(&l->lock);
        mem_free(w);
        return s;
    }
    *w = (struct waiter){.ticket = l->next_ticket++,
                         .bytes = bytes,
                         .class = class,
                         .purpose = purpose,
                         .granted = granted,
                         .context = context};
    *ticket = w->ticket;
    *a->last[priority] = w;
    a->last[priority] = &w->next;
    a->waiting++;
    a->waiting_bytes += bytes;
    unlock_and_grant(l, a);
    return status_ok();
}

bool ledger_withdraw(struct ledger *l, uint64_t ticket)
{
    struct waiter *found = NULL;
    pthread_mutex_lock(&l->lock);
    for (int c = 0; c < LEDGER_CLASSES && found == NULL; c++) {
        struct account *a = &l->accounts[c];
        for (enum priority p = 0; p < PRIORITY_COUNT && found == NULL; p++) {
            for (struct waiter **at = &a->first[p]; *at != NULL && found == NULL; at = &(*at)->next) {
                if ((*at)->ticket == ticket) {
                    found = unlink_waiter(a, p, at);
                    break;
                }
            }
        }
        if (found != NULL) { /* others may have waited behind it */
            unlock_and_grant(l, a);
            mem_free(found);
            return true;
        }
    }
    pthread_mutex_unlock(&l->lock);
    return false;
}

static void give_back(struct lease *lease, uint64_t keep, bool whole)
{
    struct ledger *l = lease->ledger;
    struct account *a = &l->accounts[lease->class];
    pthread_mutex_lock(&l->lock);
    struct purpose *p = find_purpose(a, lease->purpose);
    CHECK(keep <= lease->bytes && a->used >= lease->bytes && p->bytes >= lease->bytes);
    a->used -= lease->bytes - keep;
    p->bytes -= lease->bytes - keep;
    lease->bytes = keep;
    if (whole) {
        CHECK(a->leases > 0 && p->leases > 0);
        a->leases--;
        p->leases--;
    }
    unlock_and_grant(l, a);
}

void lease_shrink(struct lease *lease, uint64_t bytes)
{
    CHECK(bytes <= lease->bytes);
    if (lease->ledger != NULL && bytes < lease->bytes)
        give_back(lease, bytes, false);
}

void lease_end(struct lease *lease)
{
    if (lease->ledger == NULL)
        return;
    give_back(lease, 0, true);
    lease->ledger = NULL;
}

void ledger_look(struct ledger *l, enum ledger_class class, struct ledger_view *out)
{
    const struct account *a = &l->accounts[class];
    pthread_mutex_lock(&l->lock);
    *out = (struct ledger_view){.limit = a->limit,
                                .used = a->used,
                                .peak = a->peak,
                                .waiting_bytes = a->waiting_bytes,
                                .leases = a->leases,
                                .waiting = a->waiting};
    pthread_mutex_unlock(&l->lock);
}

size_t ledger_purposes(struct ledger *l, enum ledger_class class, const char **purposes, uint64_t *bytes,
                       size_t max)
{
    const struct account *a = &l->accounts[class];
    pthread_mutex_lock(&l->lock);
    size_t count = a->purposes_count;
    for (size_t i = 0; i < count && i < max; i++) {
        purposes[i] = a->purposes[i].name;
        bytes[i] = a->purposes[i].bytes;
    }
    pthread_mutex_unlock(&l->lock);
    return count;
}
