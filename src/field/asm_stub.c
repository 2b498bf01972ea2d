/* Stands in for asm_x86_64.S until that file is there. */
#include "field/fp.h"
#include "field/fr.h"
void fr_mul_adx(fr *out, const fr *a, const fr *b)
{
    fr_mul_portable(out, a, b);
}
void fr_sqr_adx(fr *out, const fr *a)
{
    fr_mul_portable(out, a, a);
}
void fp_mul_adx(fp *out, const fp *a, const fp *b)
{
    fp_mul_portable(out, a, b);
}
void fp_sqr_adx(fp *out, const fp *a)
{
    fp_mul_portable(out, a, a);
}
