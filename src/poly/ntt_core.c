/* The transforms.
 *
 * A transform of 2^k points is a row of passes, each of which does some bits of the index: strided passes
 * of at most 8 bits over columns, and one pass over contiguous blocks. Decimation in frequency (natural ->
 * bit-reversed) begins with the strided passes, decimation in time (bit-reversed -> natural) ends with them.
 *
 * A strided pass sees a block of 2^high points as R = 2^(high-low) rows of C = 2^low columns. It copies a
 * tile of R rows and TILE_WIDTH columns to the stack (rows lie a power of two apart, and would fall
 * into the same cache sets if worked on in place), transforms the columns, and multiplies row r of column
 * c by W^(rho c), W the root of order 2^high and rho = r reversed (Gentleman and Sande's factorisation).
 * Blocks that follow are then independent plain transforms, whose factors come from one small table.
 *
 * The factors of a column are the powers of d = W^c, formed by doubling: one multiplication each, shared by
 * all vectors of the call. A coset makes d = W^c shift^(2^(k-high)), since row rho of this pass counts for
 * 2^(k-high) in the exponent; a scale multiplies the first power. So both are free here, and only the
 * contiguous pass multiplies by the table of shifts. Where a factor is 1 (the first of each stage: m of a
 * short transform's multiplications) nothing is multiplied.
 *
 * The tile and its factors take 2^8 * 4 * 2 elements = 64 KiB of stack. Tasks are about 2^11 elements, half
 * a millisecond, times the number of vectors. */
#include "poly/ntt_core.h"
#include "poly/ntt_plan.h"
#include <string.h>

#define TILE_WIDTH ((size_t)4)
#define TILE_ROWS  ((size_t)1 << DOMAIN_PASS_LOG2)

/* Decimation in frequency of 2^log2 rows of `width` columns: butterfly (x + y, (x - y) w). */
static inline __attribute__((always_inline)) void frequency_stages(fr *x, unsigned log2, size_t width,
                                                                   const fr *stages)
{
    size_t rows = (size_t)1 << log2;
    for (size_t half = rows / 2; half > 0; half /= 2)
        for (size_t base = 0; base < rows; base += 2 * half)
            for (size_t j = 0; j < half; j++) {
                const fr *w = &stages[half + j];
                fr *upper = x + (base + j) * width, *lower = upper + half * width;
                for (size_t c = 0; c < width; c++) {
                    fr difference;
                    fr_sub(&difference, &upper[c], &lower[c]);
                    fr_add(&upper[c], &upper[c], &lower[c]);
                    if (j == 0)
                        lower[c] = difference;
                    else
                        fr_mul(&lower[c], &difference, w);
                }
            }
}

/* Decimation in time: butterfly (x + w y, x - w y). */
static inline __attribute__((always_inline)) void time_stages(fr *x, unsigned log2, size_t width,
                                                              const fr *stages)
{
    size_t rows = (size_t)1 << log2;
    for (size_t half = 1; half < rows; half *= 2)
        for (size_t base = 0; base < rows; base += 2 * half)
            for (size_t j = 0; j < half; j++) {
                const fr *w = &stages[half + j];
                fr *upper = x + (base + j) * width, *lower = upper + half * width;
                for (size_t c = 0; c < width; c++) {
                    fr product;
                    if (j == 0)
                        product = lower[c];
                    else
                        fr_mul(&product, &lower[c], w);
                    fr_sub(&lower[c], &upper[c], &product);
                    fr_add(&upper[c], &upper[c], &product);
                }
            }
}

/* out = the power with this exponent, from w^(2^i). */
static void power(fr *out, const fr *squares, size_t exponent)
{
    *out = FR_ONE;
    for (; exponent; exponent &= exponent - 1)
        fr_mul(out, out, &squares[__builtin_ctzll(exponent)]);
}

/* factors[r][j] = scale (W^(column + j) shift^(2^(k - high)))^(r reversed). */
static void fill_factors(fr factors[TILE_ROWS][TILE_WIDTH], const struct pass *pass, size_t column)
{
    const struct ntt_job *job = pass->job;
    unsigned above = job->domain->log2_size - pass->high;
    size_t rows = (size_t)1 << (pass->high - pass->low);
    fr d[TILE_WIDTH];
    power(&d[0], job->roots->squares + above, column);
    if (job->shift)
        fr_mul(&d[0], &d[0], &job->shift->squares[above]);
    for (size_t j = 0; j < TILE_WIDTH; j++) {
        if (j > 0)
            fr_mul(&d[j], &d[j - 1], &job->roots->squares[above]);
        factors[0][j] = job->scale && above == 0 ? *job->scale : FR_ONE;
    }
    for (size_t step = rows / 2; step > 0; step /= 2) {
        for (size_t r = 0; r < rows; r += 2 * step)
            for (size_t j = 0; j < TILE_WIDTH; j++)
                fr_mul(&factors[r + step][j], &factors[r][j], &d[j]);
        for (size_t j = 0; j < TILE_WIDTH; j++)
            fr_sqr(&d[j], &d[j]);
    }
}

static void strided_tile(const struct pass *pass, size_t tile, bool frequency)
{
    fr x[TILE_ROWS][TILE_WIDTH], factors[TILE_ROWS][TILE_WIDTH];
    const struct ntt_job *job = pass->job;
    unsigned log2 = pass->high - pass->low;
    size_t rows = (size_t)1 << log2, columns = (size_t)1 << pass->low;
    size_t column, start = plan_tile(pass, tile, TILE_WIDTH, &column);
    fill_factors(factors, pass, column);
    for (size_t v = 0; v < job->count; v++) {
        fr *data = job->vectors[v] + start;
        for (size_t r = 0; r < rows; r++)
            memcpy(x[r], data + r * columns, sizeof x[r]);
        if (frequency)
            frequency_stages(x[0], log2, TILE_WIDTH, job->roots->stages);
        for (size_t i = 0; i < rows * TILE_WIDTH; i++)
            fr_mul(x[0] + i, x[0] + i, factors[0] + i);
        if (!frequency)
            time_stages(x[0], log2, TILE_WIDTH, job->roots->stages);
        for (size_t r = 0; r < rows; r++)
            memcpy(data + r * columns, x[r], sizeof x[r]);
    }
}

/* A factor for each element of a block, and the scale if no strided pass has done it. */
static void scale_block(const struct ntt_job *job, fr *x)
{
    unsigned log2 = job->domain->block_log2;
    size_t size = (size_t)1 << log2;
    if (job->shift)
        for (size_t i = 0; i < size; i++)
            fr_mul(&x[i], &x[i], &job->shift->stages[i]);
    if (job->scale && log2 == job->domain->log2_size)
        for (size_t i = 0; i < size; i++)
            fr_mul(&x[i], &x[i], job->scale);
}

static void block(const struct pass *pass, size_t index, bool frequency)
{
    const struct ntt_job *job = pass->job;
    unsigned log2 = job->domain->block_log2;
    for (size_t v = 0; v < job->count; v++) {
        fr *x = job->vectors[v] + (index << log2);
        if (frequency)
            frequency_stages(x, log2, 1, job->roots->stages);
        scale_block(job, x);
        if (!frequency)
            time_stages(x, log2, 1, job->roots->stages);
    }
}

static void strided_frequency(const struct pass *pass, size_t tile)
{
    strided_tile(pass, tile, true);
}

static void strided_time(const struct pass *pass, size_t tile)
{
    strided_tile(pass, tile, false);
}

static void block_frequency(const struct pass *pass, size_t index)
{
    block(pass, index, true);
}

static void block_time(const struct pass *pass, size_t index)
{
    block(pass, index, false);
}

PLAN_TASK(strided_frequency_task, strided_frequency)
PLAN_TASK(strided_time_task, strided_time)
PLAN_TASK(block_frequency_task, block_frequency)
PLAN_TASK(block_time_task, block_time)

bool FLAVOUR(ntt_dif)(const struct ntt_job *job)
{
    return plan_frequency(job, strided_frequency_task, block_frequency_task, TILE_WIDTH);
}

bool FLAVOUR(ntt_dit)(const struct ntt_job *job)
{
    return plan_time(job, strided_time_task, block_time_task, TILE_WIDTH);
}

/* ---- element by element ---- */

#define CHUNK ((size_t)1 << 12)

static size_t chunk_end(size_t start, size_t n)
{
    return n - start < CHUNK ? n : start + CHUNK;
}

struct multiply {
    fr *out;
    const fr *a, *b;
    size_t n;
};

static void multiply_task(void *context, size_t task)
{
    const struct multiply *m = context;
    size_t end = chunk_end(task * CHUNK, m->n);
    for (size_t i = task * CHUNK; i < end; i++)
        fr_mul(&m->out[i], &m->a[i], &m->b[i]);
}

bool FLAVOUR(ntt_multiply_core)(const struct work *work, fr *out, const fr *a, const fr *b, size_t n)
{
    struct multiply m = {out, a, b, n};
    return pool_run(work, multiply_task, &m, (n + CHUNK - 1) / CHUNK);
}

/* Bit reversal in tiles: index = (high, middle, low) with TILE_BITS bits at both ends. The tile of one middle
 * goes, transposed and with both coordinates reversed, to the tile of the reversed middle, and back. So
 * whole cache lines are read and written. */
#define TILE_BITS 3
#define TILE      ((size_t)1 << TILE_BITS)

struct reversal {
    fr *v;
    const fr *less;
    unsigned log2_size;
    size_t middles;
};

static void load_tile(fr tile[TILE][TILE], const struct reversal *r, size_t middle)
{
    size_t stride = (size_t)1 << (r->log2_size - TILE_BITS);
    for (size_t high = 0; high < TILE; high++) {
        size_t start = high * stride + middle * TILE;
        for (size_t low = 0; low < TILE; low++) {
            fr *to = &tile[bits_reversed(low, TILE_BITS)][bits_reversed(high, TILE_BITS)];
            *to = r->v[start + low];
            if (r->less)
                fr_sub(to, to, &r->less[start + low]);
        }
    }
}

static void store_tile(const struct reversal *r, size_t middle, fr tile[TILE][TILE])
{
    size_t stride = (size_t)1 << (r->log2_size - TILE_BITS);
    for (size_t high = 0; high < TILE; high++)
        memcpy(r->v + high * stride + middle * TILE, tile[high], sizeof tile[high]);
}

static void reversal_task(void *context, size_t task)
{
    const struct reversal *r = context;
    fr one[TILE][TILE], other[TILE][TILE];
    size_t per_task = CHUNK / TILE / TILE, end = (task + 1) * per_task;
    for (size_t middle = task * per_task; middle < end && middle < r->middles; middle++) {
        size_t mirrored = bits_reversed(middle, r->log2_size - 2 * TILE_BITS);
        if (mirrored < middle)
            continue;
        load_tile(one, r, middle);
        load_tile(other, r, mirrored);
        store_tile(r, mirrored, one);
        store_tile(r, middle, other);
    }
}

static void reverse_small(fr *v, const fr *less, unsigned log2_size)
{
    size_t n = (size_t)1 << log2_size;
    for (size_t i = 0; less && i < n; i++)
        fr_sub(&v[i], &v[i], &less[i]);
    for (size_t i = 0; i < n; i++) {
        size_t j = bits_reversed(i, log2_size);
        if (i < j) {
            fr t = v[i];
            v[i] = v[j];
            v[j] = t;
        }
    }
}

bool FLAVOUR(ntt_bit_reverse_core)(const struct work *work, fr *v, const fr *less, unsigned log2_size)
{
    if (log2_size < 2 * TILE_BITS) {
        if (work_cancelled(work))
            return false;
        reverse_small(v, less, log2_size);
        return true;
    }
    struct reversal r = {v, less, log2_size, (size_t)1 << (log2_size - 2 * TILE_BITS)};
    size_t per_task = CHUNK / TILE / TILE;
    return pool_run(work, reversal_task, &r, (r.middles + per_task - 1) / per_task);
}

/* ---- Lagrange values ---- */

#define LAGRANGE_CHUNK ((size_t)1 << 10)

struct lagrange {
    fr *out;
    fr start, less;
    const fr *squares;
    size_t n;
};

/* c w^i / (tau - w^i) = 1 / (w^-i tau/c - 1/c): one multiplication for the power, three for the inversion. */
static void lagrange_task(void *context, size_t task)
{
    const struct lagrange *l = context;
    fr scratch[LAGRANGE_CHUNK], x;
    size_t first = task * LAGRANGE_CHUNK;
    size_t count = l->n - first < LAGRANGE_CHUNK ? l->n - first : LAGRANGE_CHUNK;
    power(&x, l->squares, first);
    fr_mul(&x, &x, &l->start);
    for (size_t i = 0; i < count; i++) {
        fr_sub(&l->out[first + i], &x, &l->less);
        fr_mul(&x, &x, &l->squares[0]);
    }
    fr_inv_batch_vartime(l->out + first, scratch, count);
}

bool FLAVOUR(ntt_lagrange_core)(const struct work *work, fr *out, const fr *start, const fr *less,
                                const fr *squares, size_t n)
{
    struct lagrange l = {out, *start, *less, squares, n};
    return pool_run(work, lagrange_task, &l, (n + LAGRANGE_CHUNK - 1) / LAGRANGE_CHUNK);
}
