/* Evaluation domains: how a size is chosen and the tables are filled. All of it costs less than 2^15
 * multiplications, so it runs in the caller's thread. */
#include "poly/domain.h"
#include "base/mem.h"
#include "poly/ntt_ifma.h"

bool domain_log2_for(unsigned *log2_size, uint64_t rows)
{
    unsigned k = 0;
    while (k <= DOMAIN_LOG2_MOST && UINT64_C(1) << k < rows)
        k++;
    *log2_size = k;
    return k <= DOMAIN_LOG2_MOST;
}

/* Short transforms are one block; long ones leave as much as they can to the blocks. */
static unsigned best_block(unsigned log2_size)
{
    if (log2_size <= 10)
        return log2_size;
    if (log2_size > 20)
        return DOMAIN_TABLE_LOG2;
    unsigned strided = log2_size / 2 < DOMAIN_PASS_LOG2 ? log2_size / 2 : DOMAIN_PASS_LOG2;
    return log2_size - strided;
}

static void fill_squares(fr squares[32], const fr *x)
{
    squares[0] = *x;
    for (size_t i = 1; i < 32; i++)
        fr_sqr(&squares[i], &squares[i - 1]);
}

/* Stage s of a transform of 2^s pairs multiplies by powers of the root of order 2^(s+1). */
static void fill_stages(struct domain_powers *p, unsigned log2_size, unsigned table_log2)
{
    p->stages[0] = FR_ONE;
    for (unsigned s = 0; s < table_log2; s++) {
        size_t half = (size_t)1 << s;
        const fr *root = &p->squares[log2_size - s - 1];
        p->stages[half] = FR_ONE;
        for (size_t j = 1; j < half; j++)
            fr_mul(&p->stages[half + j], &p->stages[half + j - 1], root);
    }
}

static void fill_shifts(struct domain_powers *p, unsigned log2_size, unsigned table_log2)
{
    size_t count = (size_t)1 << table_log2;
    fr x = FR_ONE;
    for (size_t i = 0; i < count; i++) {
        p->stages[bits_reversed(i, table_log2)] = x;
        fr_mul(&x, &x, &p->squares[log2_size - table_log2]);
    }
}

static bool has_order(const fr *root, unsigned log2_size)
{
    fr x = *root;
    for (unsigned i = 0; i < log2_size; i++) {
        if (fr_equal(&x, &FR_ONE))
            return false;
        fr_sqr(&x, &x);
    }
    return fr_equal(&x, &FR_ONE);
}

struct status domain_open_blocks(struct domain *out, unsigned log2_size, unsigned block, unsigned pass,
                                 const fr *root, const fr *shift)
{
    *out = (struct domain){0};
    if (log2_size > DOMAIN_LOG2_MOST)
        return status_hint(status_error(STATUS_INVALID,
                                        "a domain of 2^%u points is too large: 2^%d is the most", log2_size,
                                        DOMAIN_LOG2_MOST),
                           "split the circuit");
    CHECK(block <= DOMAIN_TABLE_LOG2 && (block == log2_size || (block >= 2 && block < log2_size)));
    CHECK(pass >= 1 && pass <= DOMAIN_PASS_LOG2 && (pass <= block || block == log2_size));
    size_t count = (size_t)1 << block;
    struct domain d = {.log2_size = log2_size,
                       .block_log2 = block,
                       .pass_log2 = pass,
                       .size = (size_t)1 << log2_size,
                       .root = *root,
                       .shift = *shift};
    fr x;
    fr_pow_u64_vartime(&x, shift, d.size);
    fr_sub(&d.vanishing, &x, &FR_ONE);
    if (!has_order(root, log2_size) || fr_is_zero(shift) || fr_is_zero(&d.vanishing))
        return status_error(STATUS_INVALID, "the root or the shift does not fit a domain of 2^%u points",
                            log2_size);
    d.tables = mem_alloc(4 * count, sizeof(fr));
    if (!d.tables)
        return mem_failed("tables of a domain", 4 * count, sizeof(fr));
    d.forward.stages = d.tables;
    d.inverse.stages = d.tables + count;
    d.shift_forward.stages = d.tables + 2 * count;
    d.shift_inverse.stages = d.tables + 3 * count;
    fr_from_u64(&x, d.size);
    fr_inv_vartime(&d.size_inverse, &x);
    fill_squares(d.forward.squares, root);
    fr_inv_vartime(&x, root);
    fill_squares(d.inverse.squares, &x);
    fill_squares(d.shift_forward.squares, shift);
    fr_inv_vartime(&x, shift);
    fill_squares(d.shift_inverse.squares, &x);
    fill_stages(&d.forward, log2_size, block);
    fill_stages(&d.inverse, log2_size, block);
    fill_shifts(&d.shift_forward, log2_size, block);
    fill_shifts(&d.shift_inverse, log2_size, block);
    struct status s = status_ok();
#ifdef CUZK_X86_64
    if (block >= 6 && flavour_ifma_in_force())
        s = ntt_ifma_prepare(&d);
#endif
    if (status_failed(&s))
        domain_close(&d);
    *out = d;
    return s;
}

struct status domain_open_with(struct domain *out, unsigned log2_size, const fr *root, const fr *shift)
{
    unsigned block = log2_size <= DOMAIN_LOG2_MOST ? best_block(log2_size) : 0;
    unsigned pass = block >= 1 && block < DOMAIN_PASS_LOG2 ? block : DOMAIN_PASS_LOG2;
    return domain_open_blocks(out, log2_size, block, pass, root, shift);
}

struct status domain_open(struct domain *out, unsigned log2_size)
{
    fr root = FR_ONE;
    if (log2_size <= FR_TWO_ADICITY)
        fr_root_of_unity(&root, log2_size);
    return domain_open_with(out, log2_size, &root, &FR_GENERATOR);
}

void domain_close(struct domain *domain)
{
    mem_free(domain->tables);
    mem_free(domain->vectors);
    *domain = (struct domain){0};
}
