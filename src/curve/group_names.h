/* Names in templates over the two groups: with GROUP g1 and FIELD fp, GN(affine) is g1_affine and FN(mul)
 * is fp_mul. */
#ifndef CUZK_CURVE_GROUP_NAMES_H
#define CUZK_CURVE_GROUP_NAMES_H

#define GROUP_NAME_2(a, b) a##_##b
#define GROUP_NAME(a, b)   GROUP_NAME_2(a, b)
#define GN(name)           GROUP_NAME(GROUP, name)
#define FN(name)           GROUP_NAME(FIELD, name)

/* FLAVOUR_CALL and FLAVOUR_DECLARE for names made by GN. */
#define GN_CALL(name, ...)           FLAVOUR_CALL(name, __VA_ARGS__)
#define GN_DECLARE(type, name, args) FLAVOUR_DECLARE(type, name, args)

#endif
