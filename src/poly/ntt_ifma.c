/* The transforms of poly/ntt_core.c with AVX-512 IFMA: same passes, same order of elements, same bits.
 *
 * What differs is the network. Values grow by every butterfly and are reduced only at the end of a pass, so
 * both directions use x + w y, x - w y, where a stage adds less than 2 r to its inputs (the other butterfly
 * doubles sums). Bit-reversed -> natural is decimation in time as before. Natural -> bit-reversed splits
 * x^n - c into x^(n/2) - s and x^(n/2) + s, s^2 = c: the factor belongs to a block, not to a place in it, and
 * block i of any stage has the factor root^(i reversed), from one table for all stages. Bounds: at most 12
 * stages; the first two leave out multiplications by 1 and reach 5 r or 7.1 r, the others add 2 r each: below
 * 28 r in the end.
 *
 * In a strided pass a row of a tile is one vector. A contiguous block is rows of eight; the three stages
 * within a row are done on transposed groups of 64 elements, whose vectors hold a column each.
 * Stack: 160 KiB (a tile of 2^8 rows and its factors, or a block of 2^12, at 40 bytes an element). */
#include "poly/ntt_ifma.h"
#include "poly/fr8.h"
#include "poly/ntt_plan.h"
#include "base/mem.h"

#define WIDTH ((size_t)8)
#define ROWS  ((size_t)1 << DOMAIN_PASS_LOG2)
#define BLOCK ((size_t)1 << DOMAIN_TABLE_LOG2)

struct limbs {
    uint64_t l[5];
};

/* One allocation; N = block size. Factors are in Montgomery form with radix 2^260. */
struct ntt_vectors {
    struct limbs time_rows[ROWS];            /* [h + j] = (root of order 2h)^j */
    struct limbs frequency_rows[BLOCK / 16]; /* [i] = inverse root^(i reversed) */
    fr8 *time;                               /* N/8: [h + j], lanes: the stage of 8h pairs, places 8j.. */
    fr8 *frequency_4, *frequency_2, *frequency_1; /* N/64, N/32, N/16: the stages within rows, transposed */
    fr8 *shift, *shift_inverse;                   /* N/8 each, transposed */
    fr8 data[];
};

/* ---- factors ---- */

/* Eight elements as factors. */
static fr8 factors_of(const fr x[8])
{
    return fr8_finish(fr8_load(x, 4));
}

static struct limbs factor_of(const fr *x)
{
    fr eight[8] = {*x};
    fr8 f = factors_of(eight);
    struct limbs out;
    for (int i = 0; i < 5; i++) {
        uint64_t lanes[8];
        _mm512_storeu_si512(lanes, f.l[i]);
        out.l[i] = lanes[0];
    }
    return out;
}

/* Block i of every stage of the other network: with 2^t > i, the root of order 2^(t+1) to the power i
 * reversed. */
static const fr *block_factor(const struct domain_powers *roots, size_t i)
{
    unsigned t = i == 0 ? 0 : 64 - (unsigned)__builtin_clzll(i);
    return &roots->stages[((size_t)1 << t) + bits_reversed(i, t)];
}

static void fill_transposed(struct ntt_vectors *v, const struct domain *d)
{
    size_t size = (size_t)1 << d->block_log2;
    for (size_t g = 0; g < size / 64; g++) {
        for (size_t step = 1; step <= 4; step *= 2) {
            fr8 *to = step == 1 ? v->frequency_4 : step == 2 ? v->frequency_2 : v->frequency_1;
            for (size_t j = 0; j < step; j++) {
                fr x[8];
                for (size_t lane = 0; lane < 8; lane++)
                    x[lane] = *block_factor(&d->inverse, step * (8 * g + lane) + j);
                to[step * g + j] = factors_of(x);
            }
        }
        for (size_t j = 0; j < 8; j++) {
            fr x[8], y[8];
            for (size_t lane = 0; lane < 8; lane++) {
                x[lane] = d->shift_forward.stages[64 * g + 8 * lane + j];
                y[lane] = d->shift_inverse.stages[64 * g + 8 * lane + j];
            }
            v->shift[8 * g + j] = factors_of(x);
            v->shift_inverse[8 * g + j] = factors_of(y);
        }
    }
}

struct status ntt_ifma_prepare(struct domain *domain)
{
    CHECK(domain->block_log2 >= 6);
    size_t size = (size_t)1 << domain->block_log2;
    size_t vectors = 3 * (size / 8) + size / 64 + size / 32 + size / 16;
    size_t bytes = sizeof(struct ntt_vectors) + vectors * sizeof(fr8);
    struct ntt_vectors *v = mem_alloc(1, bytes);
    if (!v)
        return mem_failed("vector tables of a domain", 1, bytes);
    v->time = v->data;
    v->shift = v->time + size / 8;
    v->shift_inverse = v->shift + size / 8;
    v->frequency_4 = v->shift_inverse + size / 8;
    v->frequency_2 = v->frequency_4 + size / 64;
    v->frequency_1 = v->frequency_2 + size / 32;
    for (size_t i = 1; i < ROWS && i < size; i++)
        v->time_rows[i] = factor_of(&domain->forward.stages[i]);
    for (size_t i = 0; i < BLOCK / 16 && i < size / 2; i++)
        v->frequency_rows[i] = factor_of(block_factor(&domain->inverse, i));
    for (size_t i = 1; i < size / 8; i++)
        v->time[i] = factors_of(&domain->forward.stages[8 * i]);
    fill_transposed(v, domain);
    domain->vectors = v;
    return status_ok();
}

/* ---- stages ---- */

FR8_INLINE void butterfly(fr8 *x, fr8 *y, fr8 w)
{
    fr8 product = fr8_mul(fr8_tighten(*y), w), sum = fr8_add(*x, product);
    *y = fr8_sub(*x, product, FR8_2R);
    *x = sum;
}

/* With w = 1 and y below `more`. */
FR8_INLINE void butterfly_1(fr8 *x, fr8 *y, const uint64_t more[5])
{
    fr8 sum = fr8_add(*x, *y);
    *y = fr8_sub(*x, *y, more);
    *x = sum;
}

/* Natural -> bit-reversed on rows; inputs below 2 r. */
static void frequency_stages(fr8 *x, unsigned log2, const struct limbs *factors)
{
    size_t rows = (size_t)1 << log2;
    for (unsigned t = 0; t < log2; t++) {
        size_t half = rows >> (t + 1);
        for (size_t i = 0; i < (size_t)1 << t; i++) {
            fr8 *upper = x + 2 * half * i, *lower = upper + half;
            if (i == 0 && t < 2) {
                for (size_t j = 0; j < half; j++)
                    butterfly_1(&upper[j], &lower[j], FR8_2R);
                continue;
            }
            fr8 w = fr8_broadcast(factors[i].l);
            for (size_t j = 0; j < half; j++)
                butterfly(&upper[j], &lower[j], w);
        }
    }
}

/* Bit-reversed -> natural on the rows of a tile; inputs below 1.1 r. */
static void time_stages(fr8 *x, unsigned log2, const struct limbs *factors)
{
    size_t rows = (size_t)1 << log2;
    for (size_t half = 1; half < rows; half *= 2)
        for (size_t j = 0; j < half; j++) {
            if (j == 0 && half <= 2) {
                for (size_t base = 0; base < rows; base += 2 * half)
                    butterfly_1(&x[base], &x[base + half], half == 1 ? FR8_2R : FR8_4R);
                continue;
            }
            fr8 w = fr8_broadcast(factors[half + j].l);
            for (size_t base = j; base < rows; base += 2 * half)
                butterfly(&x[base], &x[base + half], w);
        }
}

/* ---- strided passes ---- */

/* factors[r] lane j = scale (W^(column + j) shift^(2^(k - high)))^(r reversed), tight, below 1.2 r. */
static void fill_factors(fr8 *factors, const struct pass *pass, size_t column,
                         const struct domain_powers *roots)
{
    const struct ntt_job *job = pass->job;
    unsigned above = job->domain->log2_size - pass->high;
    size_t rows = (size_t)1 << (pass->high - pass->low);
    fr d[WIDTH] = {FR_ONE};
    for (size_t e = column; e; e &= e - 1)
        fr_mul_adx(&d[0], &d[0], &roots->squares[above + (unsigned)__builtin_ctzll(e)]);
    if (job->shift)
        fr_mul_adx(&d[0], &d[0], &job->shift->squares[above]);
    for (size_t j = 1; j < WIDTH; j++)
        fr_mul_adx(&d[j], &d[j - 1], &roots->squares[above]);
    fr8 power = factors_of(d);
    for (size_t j = 0; j < WIDTH; j++)
        d[j] = job->scale && above == 0 ? *job->scale : FR_ONE;
    factors[0] = factors_of(d);
    for (size_t step = rows / 2; step > 0; step /= 2) {
        for (size_t r = 0; r < rows; r += 2 * step)
            factors[r + step] = fr8_tighten(fr8_mul(factors[r], power));
        power = fr8_tighten(fr8_mul(power, power));
    }
}

static void strided_frequency(const struct pass *pass, size_t tile)
{
    fr8 x[ROWS], factors[ROWS];
    const struct ntt_job *job = pass->job;
    const struct ntt_vectors *tables = job->domain->vectors;
    unsigned log2 = pass->high - pass->low;
    size_t rows = (size_t)1 << log2, columns = (size_t)1 << pass->low;
    size_t column, start = plan_tile(pass, tile, WIDTH, &column);
    fill_factors(factors, pass, column, &job->domain->inverse);
    for (size_t v = 0; v < job->count; v++) {
        fr *data = job->vectors[v] + start;
        for (size_t r = 0; r < rows; r++)
            x[r] = fr8_load(data + r * columns, 0);
        frequency_stages(x, log2, tables->frequency_rows);
        for (size_t r = 0; r < rows; r++)
            fr8_store(data + r * columns, fr8_subtract_once(fr8_mul(fr8_tighten(x[r]), factors[r])));
    }
}

static void strided_time(const struct pass *pass, size_t tile)
{
    fr8 x[ROWS], factors[ROWS];
    const struct ntt_job *job = pass->job;
    const struct ntt_vectors *tables = job->domain->vectors;
    unsigned log2 = pass->high - pass->low;
    size_t rows = (size_t)1 << log2, columns = (size_t)1 << pass->low;
    size_t column, start = plan_tile(pass, tile, WIDTH, &column);
    fill_factors(factors, pass, column, &job->domain->forward);
    for (size_t v = 0; v < job->count; v++) {
        fr *data = job->vectors[v] + start;
        for (size_t r = 0; r < rows; r++)
            x[r] = fr8_mul(fr8_load(data + r * columns, 0), factors[r]);
        time_stages(x, log2, tables->time_rows);
        for (size_t r = 0; r < rows; r++)
            fr8_store(data + r * columns, fr8_finish(x[r]));
    }
}

/* ---- contiguous blocks ---- */

/* The last three stages of group g of 64 elements, its rows transposed, and what is multiplied at the end. */
static void frequency_group(fr *out, fr8 t[8], const struct ntt_job *job, size_t g, const struct limbs *scale)
{
    const struct ntt_vectors *tables = job->domain->vectors;
    for (int j = 0; j < 4; j++)
        butterfly(&t[j], &t[j + 4], tables->frequency_4[g]);
    for (size_t j = 0; j < 8; j += j % 4 == 1 ? 3 : 1)
        butterfly(&t[j], &t[j + 2], tables->frequency_2[2 * g + j / 4]);
    for (size_t j = 0; j < 8; j += 2)
        butterfly(&t[j], &t[j + 1], tables->frequency_1[4 * g + j / 2]);
    for (size_t j = 0; j < 8; j++) {
        if (job->shift)
            t[j] = fr8_mul(fr8_tighten(t[j]), tables->shift_inverse[8 * g + j]);
        if (scale)
            t[j] = fr8_mul(fr8_tighten(t[j]), fr8_broadcast(scale->l));
        fr8_store_strided(out + j, fr8_finish(t[j]));
    }
}

static void block_frequency(const struct pass *pass, size_t index)
{
    fr8 x[BLOCK / WIDTH];
    const struct ntt_job *job = pass->job;
    unsigned log2 = job->domain->block_log2;
    size_t rows = (size_t)1 << (log2 - 3);
    bool scaled = job->scale && log2 == job->domain->log2_size; /* else a strided pass has done it */
    struct limbs scale = {{0}};
    if (scaled)
        scale = factor_of(job->scale);
    for (size_t v = 0; v < job->count; v++) {
        fr *data = job->vectors[v] + (index << log2);
        for (size_t r = 0; r < rows; r++)
            x[r] = fr8_load(data + 8 * r, 0);
        frequency_stages(x, log2 - 3, job->domain->vectors->frequency_rows);
        for (size_t g = 0; g < rows / 8; g++) {
            fr8_transpose(x + 8 * g);
            frequency_group(data + 64 * g, x + 8 * g, job, g, scaled ? &scale : NULL);
        }
    }
}

/* The first three stages of group g, transposed. */
static void time_group(fr8 t[8], const fr *in, const struct ntt_job *job, size_t g, const struct limbs *scale)
{
    const struct ntt_vectors *tables = job->domain->vectors;
    for (size_t j = 0; j < 8; j++) {
        t[j] = fr8_load_strided(in + j);
        if (job->shift)
            t[j] = fr8_mul(t[j], tables->shift[8 * g + j]);
        if (scale)
            t[j] = fr8_mul(fr8_tighten(t[j]), fr8_broadcast(scale->l));
    }
    time_stages(t, 3, tables->time_rows);
}

static void block_time(const struct pass *pass, size_t index)
{
    fr8 x[BLOCK / WIDTH];
    const struct ntt_job *job = pass->job;
    const struct ntt_vectors *tables = job->domain->vectors;
    unsigned log2 = job->domain->block_log2;
    size_t rows = (size_t)1 << (log2 - 3);
    bool scaled = job->scale && log2 == job->domain->log2_size;
    struct limbs scale = {{0}};
    if (scaled)
        scale = factor_of(job->scale);
    for (size_t v = 0; v < job->count; v++) {
        fr *data = job->vectors[v] + (index << log2);
        for (size_t g = 0; g < rows / 8; g++) {
            time_group(x + 8 * g, data + 64 * g, job, g, scaled ? &scale : NULL);
            fr8_transpose(x + 8 * g);
        }
        for (size_t half = 1; half < rows; half *= 2)
            for (size_t base = 0; base < rows; base += 2 * half)
                for (size_t j = 0; j < half; j++)
                    butterfly(&x[base + j], &x[base + j + half], tables->time[half + j]);
        for (size_t r = 0; r < rows; r++)
            fr8_store(data + 8 * r, fr8_finish(x[r]));
    }
}

PLAN_TASK(strided_frequency_task, strided_frequency)
PLAN_TASK(strided_time_task, strided_time)
PLAN_TASK(block_frequency_task, block_frequency)
PLAN_TASK(block_time_task, block_time)

bool ntt_dif_ifma(const struct ntt_job *job)
{
    CHECK(job->domain->vectors && job->roots == &job->domain->inverse &&
          (!job->shift || job->shift == &job->domain->shift_inverse));
    return plan_frequency(job, strided_frequency_task, block_frequency_task, WIDTH);
}

bool ntt_dit_ifma(const struct ntt_job *job)
{
    CHECK(job->domain->vectors && job->roots == &job->domain->forward &&
          (!job->shift || job->shift == &job->domain->shift_forward));
    return plan_time(job, strided_time_task, block_time_task, WIDTH);
}

struct multiply {
    fr *out;
    const fr *a, *b;
    size_t n;
};

#define CHUNK ((size_t)1 << 14)

static void multiply_task(void *context, size_t task)
{
    const struct multiply *m = context;
    size_t first = task * CHUNK, end = m->n - first < CHUNK ? m->n : first + CHUNK;
    for (size_t i = first; i < end; i += 8)
        fr8_store(m->out + i, fr8_subtract_once(fr8_mul(fr8_load(m->a + i, 4), fr8_load(m->b + i, 0))));
}

bool ntt_multiply_ifma(const struct work *work, fr *out, const fr *a, const fr *b, size_t n)
{
    struct multiply m = {out, a, b, n};
    CHECK(n % 8 == 0);
    return pool_run(work, multiply_task, &m, (n + CHUNK - 1) / CHUNK);
}
