/* Lagrange values by the closed formula; the parallel part is in poly/ntt_core.c because it is flavoured. */
#include "poly/lagrange.h"
#include "poly/ntt_core.h"

/* tau is w^i for one i: the formula would divide zero by zero there. */
static struct status unit_vector(const struct domain *domain, const struct work *work, fr *out, const fr *tau)
{
    fr x = FR_ONE;
    for (size_t i = 0; i < domain->size; i++) {
        if (i % 65536 == 0 && work_cancelled(work))
            return work_cancelled_status();
        out[i] = fr_equal(&x, tau) ? FR_ONE : FR_ZERO;
        fr_mul(&x, &x, &domain->root);
    }
    return status_ok();
}

struct status lagrange_at_vartime(const struct domain *domain, const struct work *work, fr *out,
                                  const fr *tau)
{
    fr c, start, less;
    fr_pow_u64_vartime(&c, tau, domain->size);
    fr_sub(&c, &c, &FR_ONE);
    if (fr_is_zero(&c))
        return unit_vector(domain, work, out, tau);
    fr_mul(&c, &c, &domain->size_inverse);
    fr_inv_vartime(&less, &c);
    fr_mul(&start, tau, &less);
    bool ran =
        FLAVOUR_CALL(ntt_lagrange_core, work, out, &start, &less, domain->inverse.squares, domain->size);
    return ran ? status_ok() : work_cancelled_status();
}
