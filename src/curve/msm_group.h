/* Multi-scalar multiplication in one group: a template, included by msm_g1.c and msm_g2.c with GROUP, FIELD
 * and the public names MSM, MSM_INDEXED, MSM_SCRATCH_BYTES defined. No include guard.
 *
 * Terms are taken in chunks; a task is one window of one chunk. It sorts the chunk's digits, so that the
 * points of a bucket stand together, and sums them by rounds of batch-affine additions: in each round the
 * items of a bucket are added in pairs and an odd one is added to the bucket, which nobody else touches in
 * that round. Every round halves what is left, so any distribution of digits costs the same: an addition a
 * term and log2(chunk) rounds at most. Points of a chunk and the buckets of a window (3 MB each in G1) stay
 * in the cache; buckets are walked in order. Cost: W (n - 2^(c-1)) additions of 5M + 1S.
 *
 * The buckets' weighted sum takes 2 batch-affine additions a bucket instead of 24M by running sums: bucket
 * numbers are written hi * 2^l + lo, and rows and columns of that table are summed. */

struct GN(msm_slot) {
    struct GN(batch) * batch;
    GN(affine) * tree[2]; /* chunk / 2 and chunk / 4 points */
    uint32_t *order, *keys, *end;
    struct msm_run *runs;
};

struct GN(msm) {
    struct msm_plan plan;
    const GN(affine) * points;
    const uint32_t *index; /* or NULL */
    const fr *scalars;
    size_t n;
    size_t first; /* term of this step */
    struct slots slots;
    GN(affine) * buckets;  /* [set][window][magnitude - 1] */
    GN(affine) * gathered; /* of this step, if indexed */
    digits_scalar *digits; /* of this step */
    GN(xyzz) * parts;      /* [window][part]: sum of the buckets and weighted sum */
    uint8_t *scratch;
};

static size_t GN(msm_bucket_count)(const struct msm_plan *plan)
{
    return plan->buckets * plan->form.windows * plan->sets;
}

/* Points into the scratch at `base`, or its size if there is none. */
static size_t GN(msm_layout)(struct GN(msm) * m, uint8_t *base, bool indexed)
{
    const struct msm_plan *plan = &m->plan;
    size_t step = plan->chunk * plan->sets, end = 0;
    size_t digits = layout_take(&end, step * sizeof(digits_scalar));
    size_t gathered = layout_take(&end, indexed ? step * sizeof(GN(affine)) : 0);
    size_t parts =
        layout_take(&end, 2 * plan->form.windows * (plan->buckets / plan->part) * sizeof(GN(xyzz)));
    if (base) {
        m->digits = (digits_scalar *)(base + digits);
        m->gathered = (GN(affine) *)(base + gathered);
        m->parts = (GN(xyzz) *)(base + parts);
        m->scratch = base + end;
    }
    return end;
}

/* One slot's part, behind the shared one. Fills `slot` if it is not NULL. */
static size_t GN(msm_slot_layout)(const struct msm_plan *plan, struct GN(msm_slot) * slot, uint8_t *base)
{
    size_t half = plan->chunk / 2, runs = half < plan->buckets ? half : plan->buckets, end = 0;
    size_t tree = half > plan->part / 2 ? half : plan->part / 2;
    size_t batch = layout_take(&end, sizeof(struct GN(batch)));
    size_t tree0 = layout_take(&end, tree * sizeof(GN(affine)));
    size_t tree1 = layout_take(&end, half / 2 * sizeof(GN(affine)));
    size_t order = layout_take(&end, plan->chunk * sizeof(uint32_t));
    size_t keys = layout_take(&end, plan->chunk * sizeof(uint32_t));
    size_t ends = layout_take(&end, plan->buckets * sizeof(uint32_t));
    size_t run = layout_take(&end, runs * sizeof(struct msm_run));
    if (slot) {
        slot->batch = (struct GN(batch) *)(base + batch);
        slot->tree[0] = (GN(affine) *)(base + tree0);
        slot->tree[1] = (GN(affine) *)(base + tree1);
        slot->order = (uint32_t *)(base + order);
        slot->keys = (uint32_t *)(base + keys);
        slot->end = (uint32_t *)(base + ends);
        slot->runs = (struct msm_run *)(base + run);
    }
    return end;
}

static size_t GN(msm_scratch)(struct GN(msm) * m, bool indexed)
{
    return GN(msm_layout)(m, NULL, indexed) + m->plan.threads * GN(msm_slot_layout)(&m->plan, NULL, NULL);
}

size_t MSM_SCRATCH_BYTES(size_t n, unsigned threads)
{
    struct GN(msm) m;
    if (n < MSM_SMALL)
        return 0;
    msm_plan_make(&m.plan, n, threads, GN(batch_task_sums)());
    return sizeof m + GN(msm_bucket_count)(&m.plan) * sizeof(GN(affine)) + GN(msm_scratch)(&m, true);
}

static unsigned GN(msm_claim)(struct GN(msm) * m, struct GN(msm_slot) * slot)
{
    unsigned number = slots_claim(&m->slots);
    size_t bytes = GN(msm_slot_layout)(&m->plan, NULL, NULL);
    GN(msm_slot_layout)(&m->plan, slot, m->scratch + number * bytes);
    GN(batch_start)(slot->batch);
    return number;
}

/* Digits, and points if they are scattered, of one stretch of the step. */
static void GN(msm_prepare_task)(void *context, size_t task)
{
    struct GN(msm) *m = context;
    size_t step = m->plan.chunk * m->plan.sets, begin = task * PREPARE_TERMS, end = begin + PREPARE_TERMS;
    if (step > m->n - m->first)
        step = m->n - m->first;
    if (end > step)
        end = step;
    digits_from_fr(m->digits + begin, m->scalars + m->first + begin, end - begin, &m->plan.form);
    if (!m->index)
        return;
    const uint32_t *index = m->index + m->first;
    for (size_t i = begin; i < end; i++) {
        if (i + PREFETCH_TERMS < end)
            GN(prefetch)(&m->points[index[i + PREFETCH_TERMS]]);
        m->gathered[i] = m->points[index[i]];
    }
}

/* First round: points in pairs into the tree. Returns the number of runs in it. */
static size_t GN(msm_first_round)(struct GN(msm_slot) * slot, GN(affine) * buckets, size_t bucket_count,
                                  const GN(affine) * points)
{
    const uint32_t *order = slot->order;
    uint32_t total = slot->end[bucket_count - 1], i = 0, used = 0;
    size_t runs = 0;
    for (uint32_t k = 0; k < PREFETCH_TERMS && k < total; k++)
        GN(prefetch)(&points[order[k] >> 1]);
    for (size_t bucket = 0; bucket < bucket_count; bucket++) {
        uint32_t end = slot->end[bucket], count = end - i;
        if (bucket + PREFETCH_TERMS < bucket_count)
            GN(prefetch)(&buckets[bucket + PREFETCH_TERMS]);
        if (count & 1) {
            if (i + PREFETCH_TERMS < total)
                GN(prefetch)(&points[order[i + PREFETCH_TERMS] >> 1]);
            GN(batch_add)
            (slot->batch, &buckets[bucket], &buckets[bucket], false, &points[order[i] >> 1], order[i] & 1);
            i++;
        }
        if (count > 1)
            slot->runs[runs++] = (struct msm_run){(uint32_t)bucket, used, count / 2};
        for (; i < end; i += 2) {
            for (uint32_t k = i + PREFETCH_TERMS; k < i + PREFETCH_TERMS + 2 && k < total; k++)
                GN(prefetch)(&points[order[k] >> 1]);
            GN(batch_add)
            (slot->batch, &slot->tree[0][used++], &points[order[i] >> 1], order[i] & 1,
             &points[order[i + 1] >> 1], order[i + 1] & 1);
        }
    }
    GN(batch_flush)(slot->batch);
    return runs;
}

/* A later round: from one tree into the other. */
static size_t GN(msm_round)(struct GN(msm_slot) * slot, GN(affine) * buckets, const GN(affine) * from,
                            GN(affine) * to, size_t runs)
{
    size_t left = 0;
    uint32_t used = 0;
    for (size_t r = 0; r < runs; r++) {
        struct msm_run run = slot->runs[r];
        const GN(affine) *item = from + run.start, *end = item + run.count;
        if (run.count & 1) {
            GN(batch_add)
            (slot->batch, &buckets[run.bucket], &buckets[run.bucket], false, item, false);
            item++;
        }
        if (run.count > 1)
            slot->runs[left++] = (struct msm_run){run.bucket, used, run.count / 2};
        for (; item < end; item += 2)
            GN(batch_add)(slot->batch, &to[used++], item, false, item + 1, false);
    }
    GN(batch_flush)(slot->batch);
    return left;
}

/* Adds one window of one chunk to its buckets. */
static void GN(msm_window_task)(void *context, size_t task)
{
    struct GN(msm) *m = context;
    const struct msm_plan *plan = &m->plan;
    size_t set = task / plan->form.windows, begin = set * plan->chunk, left = m->n - m->first;
    unsigned window = (unsigned)(task % plan->form.windows);
    if (begin >= left)
        return;
    size_t terms = plan->chunk < left - begin ? plan->chunk : left - begin;
    const GN(affine) *points = m->index ? m->gathered + begin : m->points + m->first + begin;
    GN(affine) *buckets = m->buckets + task * plan->buckets;
    struct GN(msm_slot) slot;
    unsigned number = GN(msm_claim)(m, &slot);
    digits_sort(slot.order, slot.end, slot.keys, m->digits + begin, terms, &plan->form, window);
    size_t runs = GN(msm_first_round)(&slot, buckets, plan->buckets, points);
    for (unsigned from = 0; runs; from ^= 1)
        runs = GN(msm_round)(&slot, buckets, slot.tree[from], slot.tree[from ^ 1], runs);
    slots_release(&m->slots, number);
}

/* sum of (i + 1) b[i] and sum of b[i] for i < 2^log: rows of 2^l. Overwrites b; temporary has half of it. */
static void GN(msm_weighted)(GN(xyzz) * sum, GN(xyzz) * weighted, GN(affine) * b, unsigned log,
                             GN(affine) * temporary, struct GN(batch) * batch)
{
    unsigned l = (log + 1) / 2;
    size_t row = (size_t)1 << l, rows = (size_t)1 << (log - l), half = (row * rows) / 2;
    for (size_t i = 0; i < half; i++)
        GN(batch_add)(batch, &temporary[i], &b[2 * i], false, &b[2 * i + 1], false);
    GN(batch_flush)(batch);
    for (size_t stride = 1; stride < row / 2; stride *= 2) {
        for (size_t i = 0; i < half; i += 2 * stride)
            GN(batch_add)(batch, &temporary[i], &temporary[i], false, &temporary[i + stride], false);
        GN(batch_flush)(batch);
    }
    for (size_t upper = rows / 2; upper >= 1; upper /= 2) {
        for (size_t i = 0; i < upper * row; i++)
            GN(batch_add)(batch, &b[i], &b[i], false, &b[i + upper * row], false);
        GN(batch_flush)(batch);
    }
    GN(xyzz) columns;
    GN(infinity)(sum);
    GN(infinity)(weighted);
    GN(infinity)(&columns);
    for (size_t hi = rows; hi-- > 1;) {
        GN(add_affine)(sum, sum, &temporary[hi * row / 2]);
        GN(add)(weighted, weighted, sum);
    }
    GN(add_affine)(sum, sum, &temporary[0]);
    for (unsigned i = 0; i < l; i++)
        GN(dbl)(weighted, weighted);
    for (size_t lo = row; lo-- > 1;) {
        GN(add_affine)(&columns, &columns, &b[lo]);
        GN(add)(weighted, weighted, &columns);
    }
    GN(add)(weighted, weighted, sum);
}

static void GN(msm_reduce_task)(void *context, size_t task)
{
    struct GN(msm) *m = context;
    const struct msm_plan *plan = &m->plan;
    size_t set = plan->buckets * plan->form.windows;
    GN(affine) *b = m->buckets + task * plan->part;
    struct GN(msm_slot) slot;
    unsigned number = GN(msm_claim)(m, &slot);
    for (size_t other = 1; other < plan->sets; other++) {
        for (size_t i = 0; i < plan->part; i++)
            GN(batch_add)(slot.batch, &b[i], &b[i], false, &b[other * set + i], false);
        GN(batch_flush)(slot.batch);
    }
    GN(msm_weighted)
    (&m->parts[2 * task], &m->parts[2 * task + 1], b, (unsigned)__builtin_ctzll(plan->part), slot.tree[0],
     slot.batch);
    slots_release(&m->slots, number);
}

/* Parts to windows to the result: part q counts for weighted[q] + q * part * sum[q]. */
static void GN(msm_combine)(GN(xyzz) * out, const struct GN(msm) * m)
{
    const struct msm_plan *plan = &m->plan;
    size_t parts = plan->buckets / plan->part;
    GN(infinity)(out);
    for (unsigned window = plan->form.windows; window-- > 0;) {
        const GN(xyzz) *part = m->parts + 2 * parts * window;
        GN(xyzz) running, high;
        for (unsigned i = 0; i < plan->form.bits; i++)
            GN(dbl)(out, out);
        GN(infinity)(&running);
        GN(infinity)(&high);
        for (size_t q = parts; q-- > 1;) {
            GN(add)(&running, &running, &part[2 * q]);
            GN(add)(&high, &high, &running);
        }
        for (size_t i = 1; i < plan->part; i *= 2)
            GN(dbl)(&high, &high);
        GN(add)(out, out, &high);
        for (size_t q = 0; q < parts; q++)
            GN(add)(out, out, &part[2 * q + 1]);
    }
}

static bool GN(msm_run)(GN(xyzz) * out, struct GN(msm) * m, const struct work *work)
{
    const struct msm_plan *plan = &m->plan;
    size_t step = plan->chunk * plan->sets;
    for (m->first = 0; m->first < m->n; m->first += step) {
        size_t terms = step < m->n - m->first ? step : m->n - m->first;
        if (!pool_run(work, GN(msm_prepare_task), m, (terms + PREPARE_TERMS - 1) / PREPARE_TERMS) ||
            !pool_run(work, GN(msm_window_task), m, (size_t)plan->form.windows * plan->sets))
            return false;
    }
    if (!pool_run(work, GN(msm_reduce_task), m, plan->form.windows * (plan->buckets / plan->part)))
        return false;
    GN(msm_combine)(out, m);
    return true;
}

static struct status GN(msm_large)(GN(xyzz) * out, const GN(affine) * points, const uint32_t *index,
                                   const fr *scalars, size_t n, const struct work *work)
{
    struct msm_plan plan;
    msm_plan_make(&plan, n, pool_threads(work ? work->pool : NULL), GN(batch_task_sums)());
    struct status s = status_ok();
    struct GN(msm) *m = mem_alloc_zero(1, sizeof *m);
    if (!m)
        return mem_failed("multi-scalar multiplication", 1, sizeof *m);
    *m = (struct GN(msm)){.plan = plan, .points = points, .index = index, .scalars = scalars, .n = n};
    size_t bytes = GN(msm_scratch)(m, index != NULL), buckets = GN(msm_bucket_count)(&plan);
    uint8_t *scratch = mem_alloc(1, bytes);
    m->buckets = mem_alloc_zero(buckets, sizeof(GN(affine)));
    if (!scratch || !m->buckets) {
        s = mem_failed("multi-scalar multiplication", 1, bytes + buckets * sizeof(GN(affine)));
        goto out;
    }
    GN(msm_layout)(m, scratch, index != NULL);
    slots_start(&m->slots, plan.threads);
    if (!GN(msm_run)(out, m, work))
        s = work_cancelled_status();
out:
    mem_free(m->buckets);
    mem_free(scratch);
    mem_free(m);
    return s;
}

/* Few terms: XYZZ buckets, 10M an addition, no memory but the stack. */
static void GN(msm_small)(GN(xyzz) * out, const GN(affine) * points, const uint32_t *index, const fr *scalars,
                          size_t n)
{
    enum { BITS_MAX = 5 };
    struct digits_form form;
    digits_scalar digits[MSM_SMALL];
    GN(xyzz) buckets[1 << (BITS_MAX - 1)], running, sum;
    unsigned bits = n < 8 ? 3 : n < 24 ? 4 : BITS_MAX;
    digits_form_make(&form, bits);
    digits_from_fr(digits, scalars, n, &form);
    GN(infinity)(&sum);
    for (unsigned window = form.windows; window-- > 0;) {
        for (unsigned i = 0; i < bits; i++)
            GN(dbl)(&sum, &sum);
        for (size_t b = 0; b < (size_t)1 << (bits - 1); b++)
            GN(infinity)(&buckets[b]);
        for (size_t i = 0; i < n; i++) {
            uint32_t digit = digits_get(&digits[i], &form, window);
            GN(affine) p = points[index ? index[i] : i];
            if (digit & 1)
                GN(affine_neg)(&p, &p);
            if (digit > 1)
                GN(add_affine)(&buckets[(digit >> 1) - 1], &buckets[(digit >> 1) - 1], &p);
        }
        GN(infinity)(&running);
        for (size_t b = (size_t)1 << (bits - 1); b-- > 0;) {
            GN(add)(&running, &running, &buckets[b]);
            GN(add)(&sum, &sum, &running);
        }
    }
    *out = sum;
}

struct status MSM_INDEXED(GN(xyzz) * out, const GN(affine) * points, const uint32_t *index, const fr *scalars,
                          size_t n, const struct work *work) {
    if (n >= MSM_SMALL)
        return GN(msm_large)(out, points, index, scalars, n, work);
    if (work_cancelled(work))
        return work_cancelled_status();
    GN(msm_small)(out, points, index, scalars, n);
    return status_ok();
}

struct status
MSM(GN(xyzz) * out, const GN(affine) * points, const fr *scalars, size_t n, const struct work *work) {
    return MSM_INDEXED(out, points, NULL, scalars, n, work);
}
