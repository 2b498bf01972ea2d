/* Setup: the points of a parameter set from a shape and five scalars (groth16 specification 4).
 *
 * Two phases. First, in scalars: L_k(tau) for every row, then for every variable the sums a(tau), b(tau),
 * c(tau) of its coefficients times L, by one walk over the rows per matrix. Then, in points: each query is
 * produced in blocks of scalars -> points -> bytes -> file, so that no query is ever held whole. */
#include "groth16/setup.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "curve/encoding.h"
#include "curve/fixed_base.h"
#include "poly/lagrange.h"

#include <string.h>

#define BLOCK_POINTS  ((size_t)1 << 16) /* points between writes: 14 MB of buffers */
#define ENCODE_POINTS ((size_t)4096)    /* a task */
#define WALK_ROWS     8192u             /* rows a task: about 5 ms */

void shape_params_counts(struct params_counts *out, const struct shape *shape)
{
    out->ic = shape->inputs;
    out->query[QUERY_H] = (uint32_t)((UINT64_C(1) << shape_log2_domain(shape)) - 1);
    out->query[QUERY_L] = shape->aux;
    out->query[QUERY_A] = shape->inputs + shape->density.a_aux_count;
    out->query[QUERY_B_G1] = out->query[QUERY_B_G2] =
        shape->density.b_input_count + shape->density.b_aux_count;
}

uint64_t setup_steps(const struct shape *shape)
{
    struct params_counts counts;
    shape_params_counts(&counts, shape);
    uint64_t steps = counts.ic;
    for (enum query q = 0; q < QUERY_COUNT; q++)
        steps += counts.query[q];
    return steps;
}

struct setup {
    const struct shape *shape;
    const struct toxic *toxic;
    const struct setup_functions *functions;
    const struct work *work;
    atomic_ullong *done;
    struct params_counts counts;
    struct domain domain;
    fr vanishing; /* tau^m - 1 */
    fr *lagrange; /* m; freed after the walk */
    fr *sums[3];  /* per matrix: a value per variable, inputs then aux */
    /* one block */
    fr *scalars;
    void *points; /* g1_affine or g2_affine */
    uint8_t *bytes;
    struct file_writer writer;
};

/* ---- phase one: scalars ---- */

struct walk {
    struct setup *setup;
    uint32_t begin, end;
    struct status status[3];
};

struct walk_matrix {
    struct setup *setup;
    int matrix;
};

static void add_row(void *context, const struct row_view *row)
{
    const struct walk_matrix *w = context;
    const struct shape *shape = w->setup->shape;
    const fr *lagrange = &w->setup->lagrange[row->row];
    fr *sums = w->setup->sums[w->matrix];
    for (uint32_t i = 0; i < row->count[w->matrix]; i++) {
        struct row_term t = row->terms[w->matrix][i];
        variable v = {t.column};
        fr *sum = &sums[variable_is_aux(v) ? shape->inputs + variable_index(v) : variable_index(v)];
        if (t.coefficient == 0) { /* dictionary: 1 */
            fr_add(sum, sum, lagrange);
        } else if (t.coefficient == 1) { /* dictionary: -1 */
            fr_sub(sum, sum, lagrange);
        } else {
            fr p;
            fr_mul(&p, lagrange, row_coefficient(shape, row, t));
            fr_add(sum, sum, &p);
        }
    }
}

/* One matrix of one range of rows: the matrices have sums of their own, so three tasks never meet. */
static void walk_task(void *context, size_t task)
{
    struct walk *walk = context;
    struct walk_matrix w = {walk->setup, (int)task};
    walk->status[task] = shape_visit_rows(walk->setup->shape, walk->begin, walk->end, add_row, &w);
}

static struct status sum_columns(struct setup *s)
{
    uint32_t rows = shape_all_rows(s->shape);
    for (uint32_t begin = 0; begin < rows; begin += WALK_ROWS) {
        struct walk walk = {
            .setup = s, .begin = begin, .end = rows - begin < WALK_ROWS ? rows : begin + WALK_ROWS};
        if (!pool_run(s->work, walk_task, &walk, 3))
            return work_cancelled_status();
        for (int k = 0; k < 3; k++)
            if (status_failed(&walk.status[k]))
                return walk.status[k];
    }
    return status_ok();
}

static struct status scalar_phase(struct setup *s)
{
    size_t m = (size_t)s->counts.query[QUERY_H] + 1, variables = (size_t)s->shape->inputs + s->shape->aux;
    fr_pow_u64_vartime(&s->vanishing, &s->toxic->tau, m);
    fr_sub(&s->vanishing, &s->vanishing, &FR_ONE);
    if (fr_is_zero(&s->vanishing) || fr_is_zero(&s->toxic->gamma) || fr_is_zero(&s->toxic->delta))
        return status_error(STATUS_INVALID,
                            "setup values do not work: tau lies in the domain, or gamma or delta is zero");
    s->lagrange = mem_alloc(m, sizeof(fr));
    if (s->lagrange == NULL)
        return mem_failed("setup", m, sizeof(fr));
    for (int k = 0; k < 3; k++) {
        s->sums[k] = mem_alloc_zero(variables, sizeof(fr));
        if (s->sums[k] == NULL)
            return mem_failed("setup", variables, sizeof(fr));
    }
    TRY(lagrange_at_vartime(&s->domain, s->work, s->lagrange, &s->toxic->tau));
    TRY(sum_columns(s));
    mem_free(s->lagrange);
    s->lagrange = NULL;
    return status_ok();
}

/* ---- phase two: points ---- */

struct encode {
    struct setup *setup;
    size_t count;
    bool g2;
    atomic_bool infinity;
};

static void encode_task(void *context, size_t task)
{
    struct encode *e = context;
    size_t first = task * ENCODE_POINTS,
           n = e->count - first < ENCODE_POINTS ? e->count - first : ENCODE_POINTS;
    if (e->g2) {
        const g2_affine *p = (const g2_affine *)e->setup->points + first;
        g2_to_uncompressed_many(e->setup->bytes + 192 * first, p, n);
        for (size_t i = 0; i < n; i++)
            if (g2_affine_is_infinity(&p[i]))
                atomic_store(&e->infinity, true);
    } else {
        const g1_affine *p = (const g1_affine *)e->setup->points + first;
        g1_to_uncompressed_many(e->setup->bytes + 96 * first, p, n);
        for (size_t i = 0; i < n; i++)
            if (g1_affine_is_infinity(&p[i]))
                atomic_store(&e->infinity, true);
    }
}

/* Multiplies, encodes and writes the first `count` scalars of the block. */
static struct status emit_block(struct setup *s, size_t count, bool g2)
{
    if (g2)
        TRY(s->functions->g2(s->functions->context, s->points, s->scalars, count, s->work));
    else
        TRY(s->functions->g1(s->functions->context, s->points, s->scalars, count, s->work));
    struct encode e = {.setup = s, .count = count, .g2 = g2};
    atomic_init(&e.infinity, false);
    if (!pool_run(s->work, encode_task, &e, (count + ENCODE_POINTS - 1) / ENCODE_POINTS))
        return work_cancelled_status();
    if (atomic_load(&e.infinity))
        return status_error(STATUS_INVALID,
                            "setup gave a point at infinity: the values do not suit this circuit");
    TRY(file_writer_add(&s->writer, s->bytes, count * (g2 ? 192 : 96)));
    if (s->done != NULL)
        atomic_fetch_add_explicit(s->done, count, memory_order_relaxed);
    return status_ok();
}

static struct status emit_count(struct setup *s, enum query q)
{
    uint8_t bytes[4];
    store_be32(bytes, s->counts.query[q]);
    return file_writer_add(&s->writer, bytes, sizeof bytes);
}

/* h: tau^i (tau^m - 1) / delta. */
static struct status emit_h(struct setup *s)
{
    TRY(emit_count(s, QUERY_H));
    fr next;
    fr_inv(&next, &s->toxic->delta);
    fr_mul(&next, &next, &s->vanishing);
    size_t left = s->counts.query[QUERY_H];
    while (left > 0) {
        size_t n = left < BLOCK_POINTS ? left : BLOCK_POINTS;
        for (size_t i = 0; i < n; i++) {
            s->scalars[i] = next;
            fr_mul(&next, &next, &s->toxic->tau);
        }
        TRY(emit_block(s, n, false));
        left -= n;
    }
    return status_ok();
}

/* (beta a + alpha b + c) * scale of variable v. */
static void external(fr *out, const struct setup *s, size_t v, const fr *scale)
{
    fr t;
    fr_mul(out, &s->toxic->beta, &s->sums[0][v]);
    fr_mul(&t, &s->toxic->alpha, &s->sums[1][v]);
    fr_add(out, out, &t);
    fr_add(out, out, &s->sums[2][v]);
    fr_mul(out, out, scale);
}

static struct status emit_l(struct setup *s)
{
    TRY(emit_count(s, QUERY_L));
    fr scale;
    fr_inv(&scale, &s->toxic->delta);
    for (size_t first = 0; first < s->shape->aux;) {
        size_t n = s->shape->aux - first < BLOCK_POINTS ? s->shape->aux - first : BLOCK_POINTS;
        for (size_t i = 0; i < n; i++) {
            external(&s->scalars[i], s, s->shape->inputs + first + i, &scale);
            if (fr_is_zero(&s->scalars[i]))
                return status_error(STATUS_INVALID, "the circuit leaves aux variable %zu unconstrained",
                                    first + i);
        }
        TRY(emit_block(s, n, false));
        first += n;
    }
    return status_ok();
}

static bool bit_is_set(const uint64_t *bits, size_t i)
{
    return bits[i / 64] >> (i % 64) & 1;
}

/* The sums of matrix k over the variables that are dense there: inputs (all of them for A), then aux. */
static struct status emit_dense(struct setup *s, enum query q, int k)
{
    const struct density *density = &s->shape->density;
    const uint64_t *inputs = k == 0 ? NULL : density->b_input,
                   *aux = k == 0 ? density->a_aux : density->b_aux;
    TRY(emit_count(s, q));
    size_t n = 0, written = 0, variables = (size_t)s->shape->inputs + s->shape->aux;
    for (size_t v = 0; v < variables; v++) {
        bool dense = v >= s->shape->inputs ? bit_is_set(aux, v - s->shape->inputs)
                                           : inputs == NULL || bit_is_set(inputs, v);
        if (dense)
            s->scalars[n++] = s->sums[k][v];
        else if (!fr_is_zero(&s->sums[k][v]))
            return status_error(STATUS_INVALID, "shape is wrong: variable %zu is not dense but has a sum", v);
        if (n == BLOCK_POINTS || (v + 1 == variables && n > 0)) {
            TRY(emit_block(s, n, q == QUERY_B_G2));
            written += n;
            n = 0;
        }
    }
    CHECK(written == s->counts.query[q]);
    return status_ok();
}

static struct status make_key(struct verifying_key *key, struct setup *s)
{
    const struct toxic *t = s->toxic;
    fr g1_scalars[3] = {t->alpha, t->beta, t->delta}, g2_scalars[3] = {t->beta, t->gamma, t->delta}, scale;
    g1_affine g1[3];
    g2_affine g2[3];
    struct status status = s->functions->g1(s->functions->context, g1, g1_scalars, 3, s->work);
    if (!status_failed(&status))
        status = s->functions->g2(s->functions->context, g2, g2_scalars, 3, s->work);
    mem_wipe(g1_scalars, sizeof g1_scalars);
    mem_wipe(g2_scalars, sizeof g2_scalars);
    TRY(status);
    memset(key, 0, sizeof *key);
    key->alpha_g1 = g1[0];
    key->beta_g1 = g1[1];
    key->delta_g1 = g1[2];
    key->beta_g2 = g2[0];
    key->gamma_g2 = g2[1];
    key->delta_g2 = g2[2];
    key->ic = mem_alloc(s->shape->inputs, sizeof *key->ic);
    fr *scalars = mem_alloc(s->shape->inputs, sizeof *scalars);
    if (key->ic == NULL || scalars == NULL) {
        mem_free(scalars);
        return mem_failed("verifying key", s->shape->inputs, sizeof *key->ic);
    }
    key->ic_count = s->shape->inputs;
    fr_inv(&scale, &t->gamma);
    for (size_t i = 0; i < s->shape->inputs; i++)
        external(&scalars[i], s, i, &scale);
    status = s->functions->g1(s->functions->context, key->ic, scalars, s->shape->inputs, s->work);
    mem_free(scalars);
    return status;
}

static struct status write_vk(const struct setup *s, const uint8_t *bytes, const char *path)
{
    struct file_writer writer;
    TRY(file_writer_open(&writer, path));
    struct status status = file_writer_add(&writer, bytes, vk_bytes(s->shape->inputs));
    if (!status_failed(&status))
        return file_writer_finish(&writer);
    file_writer_abandon(&writer);
    return status;
}

static struct status write_keys(struct setup *s, const char *vk_path)
{
    struct verifying_key key = {0};
    size_t size = vk_bytes(s->shape->inputs);
    uint8_t *bytes = mem_alloc(size, 1);
    struct status status = bytes == NULL ? mem_failed("verifying key", size, 1) : make_key(&key, s);
    if (!status_failed(&status)) {
        vk_write(bytes, &key);
        status = file_writer_add(&s->writer, bytes, size);
    }
    if (!status_failed(&status) && vk_path != NULL)
        status = write_vk(s, bytes, vk_path);
    if (!status_failed(&status) && s->done != NULL)
        atomic_fetch_add_explicit(s->done, s->shape->inputs, memory_order_relaxed);
    vk_end(&key);
    mem_free(bytes);
    return status;
}

static struct status point_phase(struct setup *s, const char *vk_path)
{
    s->scalars = mem_alloc(BLOCK_POINTS, sizeof(fr));
    s->points = mem_alloc(BLOCK_POINTS, sizeof(g2_affine));
    s->bytes = mem_alloc(BLOCK_POINTS, 192);
    if (s->scalars == NULL || s->points == NULL || s->bytes == NULL)
        return mem_failed("setup", BLOCK_POINTS, sizeof(fr) + sizeof(g2_affine) + 192);
    TRY(write_keys(s, vk_path));
    TRY(emit_h(s));
    TRY(emit_l(s));
    TRY(emit_dense(s, QUERY_A, 0));
    TRY(emit_dense(s, QUERY_B_G1, 1));
    return emit_dense(s, QUERY_B_G2, 1);
}

static void setup_end(struct setup *s)
{
    mem_free(s->lagrange);
    for (int k = 0; k < 3; k++)
        mem_free(s->sums[k]);
    if (s->scalars != NULL)
        mem_wipe(s->scalars, BLOCK_POINTS * sizeof(fr));
    mem_free(s->scalars);
    mem_free(s->points);
    mem_free(s->bytes);
}

static struct status setup_with(const char *params_path, const char *vk_path, struct setup *s)
{
    TRY(domain_open(&s->domain, shape_log2_domain(s->shape)));
    struct status status = scalar_phase(s);
    if (!status_failed(&status)) {
        status = file_writer_open(&s->writer, params_path);
        if (!status_failed(&status)) {
            status = point_phase(s, vk_path);
            if (status_failed(&status))
                file_writer_abandon(&s->writer);
            else
                status = file_writer_finish(&s->writer);
        }
    }
    domain_close(&s->domain);
    setup_end(s);
    return status;
}

/* ---- this machine's own multiplication ---- */

struct own_tables {
    struct fixed_base_g1 *g1;
    struct fixed_base_g2 *g2;
};

static struct status own_g1(void *context, g1_affine *out, const fr *scalars, size_t n,
                            const struct work *work)
{
    return fixed_base_g1_mul(out, ((struct own_tables *)context)->g1, scalars, n, work);
}

static struct status own_g2(void *context, g2_affine *out, const fr *scalars, size_t n,
                            const struct work *work)
{
    return fixed_base_g2_mul(out, ((struct own_tables *)context)->g2, scalars, n, work);
}

struct status setup_run(const char *params_path, const char *vk_path, const struct shape *shape,
                        const struct toxic *toxic, const struct setup_functions *functions,
                        const struct work *work, atomic_ullong *done)
{
    struct setup s = {.shape = shape, .toxic = toxic, .work = work, .done = done};
    shape_params_counts(&s.counts, shape);
    struct own_tables tables = {0};
    struct setup_functions own = {&tables, own_g1, own_g2};
    s.functions = functions != NULL ? functions : &own;
    struct status status = status_ok();
    if (functions == NULL) {
        status = fixed_base_g1_make(&tables.g1, &G1_GENERATOR,
                                    (size_t)(setup_steps(shape) - s.counts.query[QUERY_B_G2]), work);
        if (!status_failed(&status))
            status = fixed_base_g2_make(&tables.g2, &G2_GENERATOR, s.counts.query[QUERY_B_G2], work);
    }
    if (!status_failed(&status))
        status = setup_with(params_path, vk_path, &s);
    fixed_base_g1_end(tables.g1);
    fixed_base_g2_end(tables.g2);
    return status;
}
