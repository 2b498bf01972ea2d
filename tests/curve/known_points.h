/* Points with known exponents, k[i] * generator, for tests of bulk functions of one group: a template,
 * included with GROUP, FIELD and GENERATOR defined after curve_test.h and known_scalars.h. A sum of multiples
 * of such points is checked by one multiplication of the generator, whatever its length. No include guard. */

/* sum = exponent * generator? */
static inline void GN(assert_exponent)(const GN(xyzz) * sum, const fr *exponent)
{
    GN(xyzz) expected;
    fr_int e;
    GN(from_affine)(&expected, &GENERATOR);
    fr_to_int(&e, exponent);
    GN(mul_vartime)(&expected, &expected, &e);
    assert_true(GN(equal)(sum, &expected));
}

static inline void GN(known_point)(GN(affine) * out, const fr *exponent)
{
    GN(xyzz) p;
    fr_int e;
    GN(from_affine)(&p, &GENERATOR);
    fr_to_int(&e, exponent);
    GN(mul_vartime)(&p, &p, &e);
    GN(to_affine)(out, &p);
}

/* n points and their exponents. */
static inline void GN(known_points)(GN(affine) * points, fr *exponents, size_t n, enum point_kind kind)
{
    fr k, step = FR_ONE;
    GN(affine) base;
    GN(xyzz) sum;
    random_fr(&k);
    GN(known_point)(&base, &k);
    GN(from_affine)(&sum, &base);
    for (size_t i = 0; i < n; i++) {
        GN(to_affine)(&points[i], &sum);
        exponents[i] = k;
        switch (kind) {
        case POINTS_DISTINCT:
            GN(add_affine)(&sum, &sum, &GENERATOR);
            fr_add(&k, &k, &step);
            break;
        case POINTS_SAME:
            break;
        case POINTS_OPPOSITE:
            GN(neg)(&sum, &sum);
            fr_neg(&k, &k);
            break;
        case POINTS_FEW: /* five points, their negatives and infinity, in any order */
            switch (random_u64() % 4) {
            case 0:
                GN(add_affine)(&sum, &sum, &GENERATOR);
                fr_add(&k, &k, &step);
                break;
            case 1:
                GN(neg)(&sum, &sum);
                fr_neg(&k, &k);
                break;
            case 2:
                GN(from_affine)(&sum, &base);
                k = exponents[0];
                break;
            default:
                GN(infinity)(&sum);
                k = FR_ZERO;
                break;
            }
            break;
        case POINTS_INFINITY:
            points[i] = (GN(affine)){0};
            exponents[i] = FR_ZERO;
            break;
        case POINT_KINDS:
            break;
        }
    }
}
