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

/* The kept answer: the flavour, and one bit more for IFMA. */
enum { ANSWER_PORTABLE = FLAVOUR_PORTABLE, ANSWER_ADX = FLAVOUR_ADX, ANSWER_IFMA = 2 };

#ifdef CUZK_X86_64
/* Leaf 7: EBX bits 8 BMI2 (MULX) and 19 ADX, which need nothing from the operating system. */
static bool processor_has_adx(void)
{
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
        return false;
    return (ebx >> 8 & 1) && (ebx >> 19 & 1);
}

/* Leaf 7: EBX bits 16 AVX512F, 17 DQ, 21 IFMA, 31 VL, ECX bit 6 VBMI2; and the operating system saves the
 * registers: leaf 1 ECX bit 27 (XGETBV works), then XCR0 bits 1, 2 (SSE, AVX) and 5 to 7 (AVX-512). */
static bool processor_has_ifma(void)
{
    const unsigned needed = 1u << 16 | 1u << 17 | 1u << 21 | 1u << 31;
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx >> 27 & 1))
        return false;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || (ebx & needed) != needed || !(ecx >> 6 & 1))
        return false;
    __asm__ volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
    return (eax & 0xe6) == 0xe6 && processor_has_adx();
}
#else
static bool processor_has_adx(void)
{
    return false;
}

static bool processor_has_ifma(void)
{
    return false;
}
#endif

static int choose(void)
{
    const char *wish = getenv("CUZK_CPU");
    if (wish == NULL || *wish == 0)
        return processor_has_ifma() ? ANSWER_IFMA : processor_has_adx() ? ANSWER_ADX : ANSWER_PORTABLE;
    if (strcmp(wish, "portable") == 0)
        return ANSWER_PORTABLE;
    if (strcmp(wish, "ifma") == 0) {
        CHECK(processor_has_ifma() && "CUZK_CPU=ifma needs a processor with AVX-512 IFMA, BMI2 and ADX");
        return ANSWER_IFMA;
    }
    bool wish_is_known = strcmp(wish, "adx") == 0;
    CHECK(wish_is_known && "environment variable CUZK_CPU must be portable, adx or ifma");
    CHECK(processor_has_adx() && "CUZK_CPU=adx needs a processor with BMI2 and ADX");
    return ANSWER_ADX;
}

static int answer(void)
{
    static atomic_int known = -1;
    int value = atomic_load_explicit(&known, memory_order_relaxed);
    if (__builtin_expect(value < 0, 0)) {
        value = choose();
        atomic_store_explicit(&known, value, memory_order_relaxed);
    }
    return value;
}

enum flavour flavour_in_force(void)
{
    return answer() == ANSWER_PORTABLE ? FLAVOUR_PORTABLE : FLAVOUR_ADX;
}

bool flavour_ifma_in_force(void)
{
    return answer() == ANSWER_IFMA;
}

const char *flavour_name(enum flavour flavour)
{
    return flavour == FLAVOUR_ADX ? "adx" : "portable";
}

bool flavour_available(enum flavour flavour)
{
    return flavour == FLAVOUR_PORTABLE || processor_has_adx();
}

bool flavour_ifma_available(void)
{
    return processor_has_ifma();
}
