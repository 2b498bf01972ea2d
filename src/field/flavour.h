/* Flavours of bulk field arithmetic.
 *
 * A file listed as FLAVOURED in its room is compiled once for portable C and, on x86-64, once more
 * with the MULX/ADX multiplication routines of field/asm_x86_64.S. Inside such a file every name
 * with external linkage is written FLAVOUR(name) and becomes name_portable or name_adx. The room's
 * public function chooses between them once per bulk operation:
 *
 *     void ntt_run(...) { FLAVOUR_CALL(ntt_run_impl, ...); }
 *
 * The choice is fixed at first use: ADX where the processor has BMI2 and ADX, unless the environment
 * variable CUZK_CPU is "portable" (or "adx", which aborts where it cannot work). Kernels that go eight at a
 * time by AVX-512 IFMA belong to their rooms; whether to use them is decided here too: where the processor
 * has it and CUZK_CPU is not set, or is "ifma", which insists.
 * Files that are not FLAVOURED get portable arithmetic from the same headers. */
#ifndef CUZK_FIELD_FLAVOUR_H
#define CUZK_FIELD_FLAVOUR_H

#include <stdbool.h>

enum flavour { FLAVOUR_PORTABLE, FLAVOUR_ADX };

/* The flavour in force for this process; constant after the first call; thread safe. */
enum flavour flavour_in_force(void);
const char *flavour_name(enum flavour flavour);
/* Whether the AVX-512 IFMA kernels are to run; constant after the first call; only with the ADX flavour. */
bool flavour_ifma_in_force(void);
/* Whether this processor (and build) can run the flavour; for tests and benches that run both. */
bool flavour_available(enum flavour flavour);
bool flavour_ifma_available(void); /* AVX-512 F, DQ, VL, IFMA and VBMI2, beside BMI2 and ADX */

#define FLAVOUR_PASTE2(name, suffix) name##suffix
#define FLAVOUR_PASTE(name, suffix)  FLAVOUR_PASTE2(name, suffix)
#ifdef CUZK_FLAVOUR_SUFFIX
#define FLAVOUR(name) FLAVOUR_PASTE(name, CUZK_FLAVOUR_SUFFIX)
#endif

#ifdef CUZK_X86_64
#define FLAVOUR_CALL(name, ...)                                                                              \
    (flavour_in_force() == FLAVOUR_ADX ? name##_adx(__VA_ARGS__) : name##_portable(__VA_ARGS__))
/* Declares both flavours of a function: FLAVOUR_DECLARE(void, fr_mul_many, (fr *out, ...)); */
#define FLAVOUR_DECLARE(type, name, args)                                                                    \
    type name##_portable args;                                                                               \
    type name##_adx args
#else
#define FLAVOUR_CALL(name, ...)           (name##_portable(__VA_ARGS__))
#define FLAVOUR_DECLARE(type, name, args) type name##_portable args
#endif

/* Inside a FLAVOURED file: this file's flavour of the function. Elsewhere: the flavour in force. */
#ifdef CUZK_FLAVOUR_SUFFIX
#define FLAVOUR_HERE(name, ...) (FLAVOUR(name)(__VA_ARGS__))
#else
#define FLAVOUR_HERE(name, ...) FLAVOUR_CALL(name, __VA_ARGS__)
#endif

#endif
