/* Multiplication by a secret: run under valgrind, with the scalar marked undefined, so that every jump and
 * every address that depends on it is reported. Portable flavour (valgrind knows no ADX). With the argument
 * "vartime" it multiplies by the functions that are allowed to leak, which must be reported: the proof that
 * the check sees anything. */
#include "curve/point.h"

#include <string.h>
#include <valgrind/memcheck.h>

int main(int argc, char **argv)
{
    bool vartime = argc > 1 && strcmp(argv[1], "vartime") == 0;
    fr_int scalar = {{UINT64_C(0x6f8a2d1c94b7e053), UINT64_C(0x1d9c5b7ae2f08463),
                      UINT64_C(0x8e31f6c05a2b9d74), UINT64_C(0x5a7c3e19d0f4b286)}};
    g1_xyzz p;
    g2_xyzz q;
    g1_affine a;
    g2_affine b;
    if (!RUNNING_ON_VALGRIND)
        return 2;
    g1_from_affine(&p, &G1_GENERATOR);
    g2_from_affine(&q, &G2_GENERATOR);
    (void)VALGRIND_MAKE_MEM_UNDEFINED(&scalar, sizeof scalar);
    if (vartime) {
        g1_mul_vartime(&p, &p, &scalar);
    } else {
        g1_mul(&p, &p, &scalar);
        g2_mul(&q, &q, &scalar);
    }
    g1_to_affine(&a, &p);
    g2_to_affine(&b, &q);
    return 0;
}
