/* The public face of the transforms: which roots, shift and scale the core runs with, and the choice of
 * the flavour, made once per call. */
#include "poly/ntt.h"
#include "poly/ntt_core.h"
#include "poly/ntt_ifma.h"

static struct status finished(bool ran)
{
    return ran ? status_ok() : work_cancelled_status();
}

static bool frequency(const struct ntt_job *job)
{
#ifdef CUZK_X86_64
    if (job->domain->vectors)
        return ntt_dif_ifma(job);
#endif
    return FLAVOUR_CALL(ntt_dif, job);
}

static bool in_time(const struct ntt_job *job)
{
#ifdef CUZK_X86_64
    if (job->domain->vectors)
        return ntt_dit_ifma(job);
#endif
    return FLAVOUR_CALL(ntt_dit, job);
}

static struct status inverse(const struct domain *domain, const struct work *work, fr *const *vectors,
                             size_t count, const fr *scale, const struct domain_powers *shift)
{
    fr whole = domain->size_inverse;
    if (scale)
        fr_mul(&whole, &whole, scale);
    struct ntt_job job = {domain, work, vectors, count, &domain->inverse, shift, &whole};
    return finished(frequency(&job));
}

struct status ntt_inverse(const struct domain *domain, const struct work *work, fr *const *vectors,
                          size_t count, const fr *scale)
{
    return inverse(domain, work, vectors, count, scale, NULL);
}

struct status ntt_inverse_coset(const struct domain *domain, const struct work *work, fr *const *vectors,
                                size_t count, const fr *scale)
{
    return inverse(domain, work, vectors, count, scale, &domain->shift_inverse);
}

struct status ntt_forward(const struct domain *domain, const struct work *work, fr *const *vectors,
                          size_t count)
{
    struct ntt_job job = {domain, work, vectors, count, &domain->forward, NULL, NULL};
    return finished(in_time(&job));
}

struct status ntt_forward_coset(const struct domain *domain, const struct work *work, fr *const *vectors,
                                size_t count)
{
    struct ntt_job job = {domain, work, vectors, count, &domain->forward, &domain->shift_forward, NULL};
    return finished(in_time(&job));
}

struct status ntt_bit_reverse(const struct domain *domain, const struct work *work, fr *v, const fr *less)
{
    return finished(FLAVOUR_CALL(ntt_bit_reverse_core, work, v, less, domain->log2_size));
}

struct status ntt_inverse_natural(const struct domain *domain, const struct work *work, fr *v)
{
    TRY(ntt_inverse(domain, work, &v, 1, NULL));
    return ntt_bit_reverse(domain, work, v, NULL);
}

struct status ntt_forward_natural(const struct domain *domain, const struct work *work, fr *v)
{
    TRY(ntt_bit_reverse(domain, work, v, NULL));
    return ntt_forward(domain, work, &v, 1);
}

struct status ntt_multiply(const struct domain *domain, const struct work *work, fr *out, const fr *a,
                           const fr *b)
{
#ifdef CUZK_X86_64
    if (domain->vectors)
        return finished(ntt_multiply_ifma(work, out, a, b, domain->size));
#endif
    return finished(FLAVOUR_CALL(ntt_multiply_core, work, out, a, b, domain->size));
}
