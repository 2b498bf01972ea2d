/* What comes next in the model: in time (a heap), and among jobs. */
#include "model_internal.h"

#include <stdlib.h>

/* ---- the heap of what is to come ---- */

static bool sooner(const struct item *a, const struct item *b)
{
    return a->at != b->at ? a->at < b->at : a->sequence < b->sequence;
}

void model_push(struct model *m, uint64_t at, uint64_t token, const struct engine_event *event)
{
    if (m->heap_count == m->heap_capacity) {
        m->heap_capacity = m->heap_capacity == 0 ? 256 : 2 * m->heap_capacity;
        m->heap = realloc(m->heap, m->heap_capacity * sizeof *m->heap);
        CHECK(m->heap != NULL);
    }
    size_t i = m->heap_count++;
    struct item item = {
        .at = at, .sequence = m->sequence++, .token = token, .epoch = m->epoch, .arrival = event == NULL};
    if (event != NULL)
        item.event = *event;
    while (i > 0 && sooner(&item, &m->heap[(i - 1) / 2])) {
        m->heap[i] = m->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    m->heap[i] = item;
}

struct item model_pop(struct model *m)
{
    struct item top = m->heap[0], last = m->heap[--m->heap_count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= m->heap_count)
            break;
        if (child + 1 < m->heap_count && sooner(&m->heap[child + 1], &m->heap[child]))
            child++;
        if (!sooner(&m->heap[child], &last))
            break;
        m->heap[i] = m->heap[child];
        i = child;
    }
    if (m->heap_count > 0)
        m->heap[i] = last;
    return top;
}

/* ---- the order, reckoned again from its description ---- */

int model_compare(const struct model *m, const struct mjob *a, const struct mjob *b)
{
    if (a->submit.reserved != b->submit.reserved)
        return a->submit.reserved ? -1 : 1;
    uint64_t key[2][5];
    const struct mjob *both[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        const struct mjob *j = both[i];
        uint64_t p = j->submit.priority;
        if (j->submit.reserved)
            p = PRIORITY_CRITICAL;
        else if (p == PRIORITY_LOW && m->now >= j->created_ms + 10 * 60 * 1000)
            p = PRIORITY_NORMAL;
        uint64_t due = j->submit.deadline_ms != 0 ? j->submit.deadline_ms : j->created_ms + 30 * 60 * 1000;
        bool grouped = m->o.config.sort_by_circuit && p >= PRIORITY_NORMAL;
        key[i][0] = p;
        key[i][1] = grouped ? due / (5 * 60 * 1000) : 0;
        key[i][2] = grouped ? j->submit.circuit : 0;
        key[i][3] = due;
        key[i][4] = j->id;
    }
    for (int k = 0; k < 5; k++)
        if (key[0][k] != key[1][k])
            return key[0][k] < key[1][k] ? -1 : 1;
    return 0;
}

void model_check_first(const struct model *m, const struct mjob *job, uint32_t k, enum spot spot)
{
    for (uint32_t i = 0; i < k; i++)
        PROMISE(m, job->parts[i].spot != spot, "job %" PRIu64 ": partition %u before %u", job->id, k, i);
    for (size_t i = 0; i < m->live_count; i++) {
        const struct mjob *other = m->jobs[m->live[i]];
        if (other == job || other->ended || !other->opened ||
            other->submit.reserved != job->submit.reserved ||
            (spot == S_REST && !m->ready[other->submit.circuit]) || model_compare(m, other, job) > 0)
            continue;
        for (uint32_t n = 0; n < other->submit.partitions; n++)
            PROMISE(m, other->parts[n].spot != spot, "job %" PRIu64 " goes before job %" PRIu64 " at %d",
                    job->id, other->id, (int)spot);
    }
}

void model_fill_queue(struct model *m)
{
    uint32_t a = m->o.config.synthesis_lookahead, b = m->o.config.partition_workers, length = 0;
    for (size_t i = 0; i < m->live_count; i++) {
        const struct mjob *job = m->jobs[m->live[i]];
        for (uint32_t k = 0; k < job->submit.partitions && !job->submit.reserved; k++)
            length += job->parts[k].spot == S_QUEUE;
    }
    for (;;) {
        struct mjob *best = NULL;
        uint32_t at = 0;
        for (size_t i = 0; i < m->live_count; i++) {
            struct mjob *job = m->jobs[m->live[i]];
            for (uint32_t k = 0; k < job->submit.partitions; k++) {
                if (job->parts[k].spot != S_DOOR)
                    continue;
                if (best == NULL || model_compare(m, job, best) < 0) {
                    best = job;
                    at = k;
                }
                break;
            }
        }
        if (best == NULL || (!best->submit.reserved && length >= (a > b ? a : b)))
            return;
        best->parts[at].spot = S_QUEUE;
        length += !best->submit.reserved;
    }
}

void model_check_job_first(const struct model *m, const struct mjob *job, bool open)
{
    for (size_t i = 0; i < m->live_count; i++) {
        const struct mjob *other = m->jobs[m->live[i]];
        if (other == job || other->ended || other->submit.reserved != job->submit.reserved ||
            model_compare(m, other, job) > 0)
            continue;
        if (open)
            PROMISE(m, other->opened || other->opening, "job %" PRIu64 " opens before %" PRIu64, job->id,
                    other->id);
        for (uint32_t k = 0; k < other->submit.partitions && !open; k++)
            PROMISE(m, other->parts[k].spot != S_STAND, "job %" PRIu64 " verifies before %" PRIu64, job->id,
                    other->id);
    }
}
