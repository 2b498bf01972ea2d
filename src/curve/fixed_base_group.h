/* Fixed-base multiplication in one group: a template, included by fixed_base_g1.c and fixed_base_g2.c with
 * GROUP, FIELD, TASK_SCALARS and the public names defined. No include guard.
 *
 * The table holds d * 2^(cw) * base for every window w and magnitude d = 1 .. 2^(c-1), affine. A task takes
 * a block of scalars window by window, so that the additions of a window are one independent batch into the
 * block's outputs; table entries are asked for ahead, because a window's part of the table (3 MB in G1 at
 * c = 16) is larger than the L2 cache. Cost: W - 1 additions of 5M + 1S a scalar, one a table entry. */

struct FIXED_BASE {
    struct digits_form form;
    size_t magnitudes;      /* 2^(c-1) */
    GN(affine) * multiples; /* [window][magnitude - 1] */
};

size_t FIXED_BASE_TABLE_BYTES(size_t n)
{
    unsigned bits = fixed_base_choose_bits(n), windows = (FR_BITS + bits - 1) / bits;
    return sizeof(struct FIXED_BASE) + ((size_t)windows << (bits - 1)) * sizeof(GN(affine));
}

void FIXED_BASE_END(struct FIXED_BASE *table)
{
    if (table)
        mem_free(table->multiples);
    mem_free(table);
}

/* 2^(cw) * base for each window, as the first entry of its table. */
static void GN(fixed_base_first)(struct FIXED_BASE *table, const GN(affine) * base)
{
    GN(xyzz) power[FR_BITS / FIXED_BASE_BITS_MIN + 1];
    GN(affine) first[FR_BITS / FIXED_BASE_BITS_MIN + 1];
    FIELD scratch[FR_BITS / FIXED_BASE_BITS_MIN + 1];
    unsigned windows = table->form.windows;
    GN(from_affine)(&power[0], base);
    for (unsigned w = 1; w < windows; w++) {
        power[w] = power[w - 1];
        for (unsigned i = 0; i < table->form.bits; i++)
            GN(dbl)(&power[w], &power[w]);
    }
    GN(to_affine_batch_vartime)(first, power, scratch, windows);
    for (unsigned w = 0; w < windows; w++)
        table->multiples[w * table->magnitudes] = first[w];
}

/* The step from multiples 1 .. known to 1 .. 2 known of every window, cut into stretches. */
struct GN(fixed_base_fill) {
    struct FIXED_BASE *table;
    struct slots slots;
    struct GN(batch) * batches;
    size_t known, stretch;
};

static void GN(fixed_base_fill_task)(void *context, size_t task)
{
    struct GN(fixed_base_fill) *fill = context;
    size_t per_window = fill->known / fill->stretch, begin = task % per_window * fill->stretch;
    GN(affine) *m = fill->table->multiples + task / per_window * fill->table->magnitudes;
    unsigned slot = slots_claim(&fill->slots);
    struct GN(batch) *batch = &fill->batches[slot];
    GN(batch_start)(batch);
    for (size_t i = begin; i < begin + fill->stretch; i++)
        GN(batch_add)(batch, &m[fill->known + i], &m[fill->known - 1], false, &m[i], false);
    GN(batch_flush)(batch);
    slots_release(&fill->slots, slot);
}

/* Small steps take all windows in one batch, so that an inversion serves enough additions. */
static void GN(fixed_base_fill_all)(struct GN(fixed_base_fill) * fill)
{
    struct FIXED_BASE *table = fill->table;
    struct GN(batch) *batch = &fill->batches[0];
    GN(batch_start)(batch);
    for (unsigned w = 0; w < table->form.windows; w++) {
        GN(affine) *m = table->multiples + w * table->magnitudes;
        for (size_t i = 0; i < fill->known; i++)
            GN(batch_add)(batch, &m[fill->known + i], &m[fill->known - 1], false, &m[i], false);
    }
    GN(batch_flush)(batch);
}

static bool GN(fixed_base_fill_table)(struct GN(fixed_base_fill) * fill, const struct work *work)
{
    struct FIXED_BASE *table = fill->table;
    for (fill->known = 1; fill->known < table->magnitudes; fill->known *= 2) {
        fill->stretch = fill->known < TASK_MULTIPLES ? fill->known : TASK_MULTIPLES;
        if (fill->known < BATCH_SUMS) {
            if (work_cancelled(work))
                return false;
            GN(fixed_base_fill_all)(fill);
        } else if (!pool_run(work, GN(fixed_base_fill_task), fill,
                             table->form.windows * (fill->known / fill->stretch))) {
            return false;
        }
    }
    return true;
}

struct status FIXED_BASE_MAKE(struct FIXED_BASE **out, const GN(affine) * base, size_t n,
                              const struct work *work) {
    struct status s = status_ok();
    struct GN(fixed_base_fill) fill;
    unsigned threads = pool_threads(work ? work->pool : NULL);
    size_t bytes = FIXED_BASE_TABLE_BYTES(n);
    struct FIXED_BASE *table = mem_alloc_zero(1, sizeof *table);
    *out = NULL;
    fill.table = table;
    fill.batches = mem_alloc(threads, sizeof *fill.batches);
    if (table) {
        digits_form_make(&table->form, fixed_base_choose_bits(n));
        table->magnitudes = (size_t)1 << (table->form.bits - 1);
        table->multiples = mem_alloc(table->form.windows * table->magnitudes, sizeof(GN(affine)));
    }
    if (!table || !fill.batches || !table->multiples) {
        s = mem_failed("table of multiples", 1, bytes);
        goto out;
    }
    slots_start(&fill.slots, threads);
    GN(fixed_base_first)(table, base);
    if (GN(fixed_base_fill_table)(&fill, work))
        *out = table;
    else
        s = work_cancelled_status();
    out : mem_free(fill.batches);
    if (!*out)
        FIXED_BASE_END(table);
    return s;
}

struct GN(fixed_base_slot) {
    struct GN(batch) batch;
    digits_scalar digits[TASK_SCALARS];
    uint32_t pieces[TASK_SCALARS];
};

struct GN(fixed_base_call) {
    GN(affine) * out;
    const struct FIXED_BASE *table;
    const fr *scalars;
    size_t n, block; /* scalars of a task */
    struct slots slots;
    struct GN(fixed_base_slot) * scratch;
};

static const GN(affine) *
    GN(fixed_base_entry)(const struct FIXED_BASE *table, unsigned window, uint32_t piece)
{
    return &table->multiples[window * table->magnitudes + (piece >> 1) - 1];
}

/* Digits of a window; the table entries of the first of them are asked for. */
static void GN(fixed_base_pieces)(struct GN(fixed_base_slot) * slot, const struct FIXED_BASE *table,
                                  unsigned window, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        slot->pieces[i] = digits_get(&slot->digits[i], &table->form, window);
        if (i < PREFETCH_ENTRIES && slot->pieces[i] > 1)
            GN(prefetch)(GN(fixed_base_entry)(table, window, slot->pieces[i]));
    }
}

static void GN(fixed_base_window)(GN(affine) * out, struct GN(fixed_base_slot) * slot,
                                  const struct FIXED_BASE *table, unsigned window, size_t n)
{
    GN(fixed_base_pieces)(slot, table, window, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t piece = slot->pieces[i];
        size_t ahead = i + PREFETCH_ENTRIES;
        if (ahead < n && slot->pieces[ahead] > 1)
            GN(prefetch)(GN(fixed_base_entry)(table, window, slot->pieces[ahead]));
        if (piece > 1)
            GN(batch_add)
        (&slot->batch, &out[i], &out[i], false, GN(fixed_base_entry)(table, window, piece), piece & 1);
    }
    GN(batch_flush)(&slot->batch);
}

static void GN(fixed_base_task)(void *context, size_t task)
{
    struct GN(fixed_base_call) *call = context;
    size_t begin = task * call->block, n = call->n - begin < call->block ? call->n - begin : call->block;
    unsigned number = slots_claim(&call->slots);
    struct GN(fixed_base_slot) *slot = &call->scratch[number];
    GN(batch_start)(&slot->batch);
    digits_from_fr(slot->digits, call->scalars + begin, n, &call->table->form);
    for (size_t i = 0; i < n; i++)
        call->out[begin + i] = (GN(affine)){0};
    for (unsigned window = 0; window < call->table->form.windows; window++)
        GN(fixed_base_window)(call->out + begin, slot, call->table, window, n);
    slots_release(&call->slots, number);
}

/* Scalars of setup are secret: what was made of them is wiped. */
struct status FIXED_BASE_MUL(GN(affine) * out, const struct FIXED_BASE *table, const fr *scalars, size_t n,
                             const struct work *work) {
    struct GN(fixed_base_call) call = {.out = out, .table = table, .scalars = scalars, .n = n};
    unsigned threads = pool_threads(work ? work->pool : NULL);
    struct status s = status_ok();
    size_t share = (n + 4 * (size_t)threads - 1) / (4 * (size_t)threads);
    size_t most = GN(batch_task_sums)() / table->form.windows; /* in a task */
    most = most < TASK_SCALARS ? most : TASK_SCALARS;
    call.block = share > BATCH_SUMS ? share : BATCH_SUMS; /* small batches waste inversions */
    call.block = call.block < most ? call.block : most;
    call.scratch = mem_alloc(threads, sizeof *call.scratch);
    if (!call.scratch)
        return mem_failed("fixed-base multiplication", threads, sizeof *call.scratch);
    slots_start(&call.slots, threads);
    if (!pool_run(work, GN(fixed_base_task), &call, (n + call.block - 1) / call.block))
        s = work_cancelled_status();
    mem_wipe(call.scratch, threads * sizeof *call.scratch);
    mem_free(call.scratch);
    return s;
}
