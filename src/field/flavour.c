/* Which flavour of field arithmetic this process uses. The processor is asked once; the answer is kept in
 * one atomic word, so that threads that race for the first call all store the same value. */
#include "field/flavour.h"

#include "base/status.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef CUZK_X86_64
#include <cpuid.h>
#endif

/* BMI2 (MULX) and ADX: leaf 7, EBX bits 8 and 19. Neither needs support from the operating system. */
static bool processor_has_adx(void)
{
#ifdef CUZK_X86_64
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
        return false;
    return (ebx >> 8 & 1) && (ebx >> 19 & 1);
#else
    return false;
#endif
}

static enum flavour flavour_choose(void)
{
    bool can_adx = processor_has_adx();
    const char *wish = getenv("CUZK_CPU");
    if (wish == NULL || *wish == 0)
        return can_adx ? FLAVOUR_ADX : FLAVOUR_PORTABLE;
    if (strcmp(wish, "portable") == 0)
        return FLAVOUR_PORTABLE;
    bool wish_is_adx_or_portable = strcmp(wish, "adx") == 0;
    CHECK(wish_is_adx_or_portable && "environment variable CUZK_CPU");
    CHECK(can_adx && "CUZK_CPU=adx needs a processor with BMI2 and ADX");
    return FLAVOUR_ADX;
}

enum flavour flavour_in_force(void)
{
    static atomic_int known = -1;
    int value = atomic_load_explicit(&known, memory_order_relaxed);
    if (__builtin_expect(value < 0, 0)) {
        value = (int)flavour_choose();
        atomic_store_explicit(&known, value, memory_order_relaxed);
    }
    return (enum flavour)value;
}

const char *flavour_name(enum flavour flavour)
{
    return flavour == FLAVOUR_ADX ? "adx" : "portable";
}

bool flavour_available(enum flavour flavour)
{
    return flavour == FLAVOUR_PORTABLE || processor_has_adx();
}
