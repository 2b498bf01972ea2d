/* The quotient polynomial, in its fast and its literal form.
 *
 * All constants ride on transforms that multiply anyway: the first three give z A, z B, z C; the product on
 * the coset is then z^2 A B, and the last transform's scale takes one z away again. What is left to do at the
 * end is a subtraction, which goes along with the bit reversal. */
#include "poly/h.h"

struct status poly_h(const struct domain *domain, const struct work *work, fr *a, fr *b, fr *scratch)
{
    fr z;
    fr *const all[3] = {a, b, scratch};
    fr_inv_vartime(&z, &domain->vanishing);
    TRY(ntt_multiply(domain, work, scratch, a, b));
    TRY(ntt_inverse(domain, work, all, 3, &z));
    TRY(ntt_forward_coset(domain, work, all, 2));
    TRY(ntt_multiply(domain, work, a, a, b));
    TRY(ntt_inverse_coset(domain, work, &a, 1, &domain->vanishing));
    return ntt_bit_reverse(domain, work, a, scratch);
}

struct combine {
    fr *a;
    const fr *b, *c;
    fr z;
    size_t n;
};

static void combine_task(void *context, size_t task)
{
    const struct combine *p = context;
    size_t first = task << 12, end = p->n - first < 1 << 12 ? p->n : first + (1 << 12);
    for (size_t i = first; i < end; i++) {
        fr x;
        fr_mul(&x, &p->a[i], &p->b[i]);
        fr_sub(&x, &x, &p->c[i]);
        fr_mul(&p->a[i], &x, &p->z);
    }
}

struct status poly_h_literal(const struct domain *domain, const struct work *work, fr *a, fr *b, fr *c)
{
    fr *const all[3] = {a, b, c};
    struct combine p = {.a = a, .b = b, .c = c, .n = domain->size};
    fr_inv_vartime(&p.z, &domain->vanishing);
    for (size_t i = 0; i < 3; i++) {
        TRY(ntt_inverse(domain, work, &all[i], 1, NULL));
        TRY(ntt_forward_coset(domain, work, &all[i], 1));
    }
    if (!pool_run(work, combine_task, &p, (domain->size + (1 << 12) - 1) >> 12))
        return work_cancelled_status();
    TRY(ntt_inverse_coset(domain, work, &a, 1, NULL));
    return ntt_bit_reverse(domain, work, a, NULL);
}
