/* Sums over set bits in one group: a template, included by bitsum_g1.c and bitsum_g2.c with GROUP, FIELD
 * and the public names defined. No include guard.
 *
 * A slot (one a thread) has BATCH_SUMS accumulators. Points are added to them in turn, a whole batch at a
 * time, so one inversion serves BATCH_SUMS additions, nothing but the points is read from far away, and
 * memory does not depend on n. At the end the accumulators of all slots are summed by halving. Cost: an
 * addition of 5M + 1S a set bit, and reading the point. */

struct GN(bitsum_slot) {
    struct GN(batch) batch;
    GN(affine) sums[BATCH_SUMS];
    size_t next;                            /* accumulator of the next point */
    const GN(affine) * waiting[BATCH_SUMS]; /* points asked for */
    size_t count;
};

struct GN(bitsum) {
    const GN(affine) * points;
    const uint64_t *bits, *present;
    size_t n;
    uint64_t *rank; /* of each task's first variable; NULL if all are present */
    struct slots slots;
    struct GN(bitsum_slot) * scratch;
};

static size_t GN(bitsum_tasks)(size_t n)
{
    return (n + GN(batch_task_sums)() - 1) / GN(batch_task_sums)();
}

size_t BITSUM_SCRATCH_BYTES(size_t n, unsigned threads)
{
    return threads * sizeof(struct GN(bitsum_slot)) + GN(bitsum_tasks)(n) * sizeof(uint64_t);
}

/* The points asked for are here now: one goes to each accumulator. */
static void GN(bitsum_add_waiting)(struct GN(bitsum_slot) * slot)
{
    for (size_t i = 0; i < slot->count; i++) {
        GN(affine) *sum = &slot->sums[slot->next];
        GN(batch_add)(&slot->batch, sum, sum, false, slot->waiting[i], false);
        slot->next = (slot->next + 1) % BATCH_SUMS;
    }
    GN(batch_flush)(&slot->batch);
    slot->count = 0;
}

static void GN(bitsum_rank_task)(void *context, size_t task)
{
    struct GN(bitsum) *b = context;
    size_t share = GN(batch_task_sums)() / 64, begin = task * share, words = (b->n + 63) / 64;
    size_t end = words - begin < share ? words : begin + share;
    uint64_t count = 0;
    for (size_t word = begin; word < end; word++)
        count += (uint64_t)__builtin_popcountll(b->present[word]);
    b->rank[task] = count;
}

static void GN(bitsum_task)(void *context, size_t task)
{
    struct GN(bitsum) *b = context;
    size_t share = GN(batch_task_sums)() / 64, begin = task * share, words = (b->n + 63) / 64;
    size_t end = words - begin < share ? words : begin + share;
    uint64_t rank = b->present ? b->rank[task] : 0;
    unsigned number = slots_claim(&b->slots);
    struct GN(bitsum_slot) *slot = &b->scratch[number];
    for (size_t word = begin; word < end; word++) {
        uint64_t present = b->present ? b->present[word] : UINT64_MAX, set = b->bits[word] & present;
        const GN(affine) *base = b->points + (b->present ? rank : word * 64);
        if (word == words - 1 && b->n % 64)
            set &= (UINT64_C(1) << (b->n % 64)) - 1;
        rank += (uint64_t)__builtin_popcountll(present);
        for (; set; set &= set - 1) {
            uint64_t below = (set & (0 - set)) - 1; /* mask of the bits under the lowest set one */
            const GN(affine) *point = base + __builtin_popcountll(present & below);
            GN(prefetch)(point);
            slot->waiting[slot->count++] = point;
            if (slot->count == BATCH_SUMS)
                GN(bitsum_add_waiting)(slot);
        }
    }
    slots_release(&b->slots, number);
}

/* Moves the accumulators of all slots together and sums them: the last few in XYZZ, where an inversion
 * would serve too few additions. */
static void GN(bitsum_finish)(GN(xyzz) * out, struct GN(bitsum) * b)
{
    struct GN(bitsum_slot) *first = &b->scratch[0];
    for (unsigned slot = 0; slot < b->slots.count; slot++)
        GN(bitsum_add_waiting)(&b->scratch[slot]);
    for (unsigned slot = 1; slot < b->slots.count; slot++) {
        for (size_t i = 0; i < BATCH_SUMS; i++)
            GN(batch_add)
        (&first->batch, &first->sums[i], &first->sums[i], false, &b->scratch[slot].sums[i], false);
        GN(batch_flush)(&first->batch);
    }
    for (size_t half = BATCH_SUMS / 2; half >= XYZZ_FROM; half /= 2) {
        for (size_t i = 0; i < half; i++)
            GN(batch_add)
        (&first->batch, &first->sums[i], &first->sums[i], false, &first->sums[i + half], false);
        GN(batch_flush)(&first->batch);
    }
    GN(infinity)(out);
    for (size_t i = 0; i < XYZZ_FROM; i++)
        GN(add_affine)(out, out, &first->sums[i]);
}

static bool GN(bitsum_run)(GN(xyzz) * out, struct GN(bitsum) * b, const struct work *work)
{
    size_t tasks = GN(bitsum_tasks)(b->n);
    if (b->present) {
        uint64_t rank = 0;
        if (!pool_run(work, GN(bitsum_rank_task), b, tasks))
            return false;
        for (size_t task = 0; task < tasks; task++) {
            uint64_t count = b->rank[task];
            b->rank[task] = rank;
            rank += count;
        }
    }
    if (!pool_run(work, GN(bitsum_task), b, tasks))
        return false;
    GN(bitsum_finish)(out, b);
    return true;
}

struct status BITSUM(GN(xyzz) * out, const GN(affine) * points, const uint64_t *bits, const uint64_t *present,
                     size_t n, const struct work *work) {
    struct GN(bitsum) b = {.points = points, .bits = bits, .present = present, .n = n};
    unsigned threads = pool_threads(work ? work->pool : NULL);
    struct status s = status_ok();
    b.scratch = mem_alloc_zero(threads, sizeof *b.scratch); /* all accumulators infinity */
    b.rank = present ? mem_alloc(GN(bitsum_tasks)(n), sizeof *b.rank) : NULL;
    if (!b.scratch || (present && !b.rank)) {
        s = mem_failed("sum over set bits", 1, BITSUM_SCRATCH_BYTES(n, threads));
        goto out;
    }
    slots_start(&b.slots, threads);
    if (!GN(bitsum_run)(out, &b, work))
        s = work_cancelled_status();
    out : mem_free(b.rank);
    mem_free(b.scratch);
    return s;
}
