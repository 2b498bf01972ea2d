/* Runs the known answers of tests/data/field/vectors.txt, which make_vectors.py computed with Python
 * integers. Run with CUZK_CPU=portable too, so that both flavours meet them. */
#include "field_test.h"

#include "field/fp12.h"

enum { NUMBERS_MAX = 40, NUMBER_BYTES = 64 };

struct test_case {
    char name[32];
    size_t inputs, outputs;
    uint8_t value[NUMBERS_MAX][NUMBER_BYTES]; /* big-endian; inputs, then outputs */
};

static void parse_number(uint8_t out[NUMBER_BYTES], const char *hex)
{
    size_t digits = strlen(hex);
    assert_true(digits > 0 && digits <= 2 * NUMBER_BYTES);
    memset(out, 0, NUMBER_BYTES);
    for (size_t i = 0; i < digits; i++) {
        char c = hex[digits - 1 - i];
        int digit = c >= 'a' ? c - 'a' + 10 : c - '0';
        assert_true(digit >= 0 && digit < 16);
        out[NUMBER_BYTES - 1 - i / 2] |= (uint8_t)(i % 2 ? digit << 4 : digit);
    }
}

static bool parse_case(struct test_case *out, char *text)
{
    char *save = NULL, *word = strtok_r(text, " \n", &save);
    if (word == NULL || word[0] == '#')
        return false;
    assert_true(strlen(word) < sizeof out->name);
    strcpy(out->name, word);
    out->inputs = out->outputs = 0;
    bool after = false;
    while ((word = strtok_r(NULL, " \n", &save)) != NULL) {
        if (strcmp(word, "=") == 0) {
            after = true;
            continue;
        }
        assert_true(out->inputs + out->outputs < NUMBERS_MAX);
        parse_number(out->value[out->inputs + out->outputs], word);
        if (after)
            out->outputs++;
        else
            out->inputs++;
    }
    assert_true(after);
    return true;
}

static uint64_t get_u64(const struct test_case *c, size_t i)
{
    uint64_t x = 0;
    for (int j = NUMBER_BYTES - 8; j < NUMBER_BYTES; j++)
        x = x << 8 | c->value[i][j];
    return x;
}

static fr get_fr(const struct test_case *c, size_t i)
{
    uint8_t le[32];
    fr x;
    for (int j = 0; j < 32; j++)
        le[j] = c->value[i][NUMBER_BYTES - 1 - j];
    assert_true(fr_from_bytes(&x, le));
    return x;
}

static fp get_fp(const struct test_case *c, size_t i)
{
    fp x;
    assert_true(fp_from_bytes(&x, c->value[i] + NUMBER_BYTES - 48));
    return x;
}

static fp2 get_fp2(const struct test_case *c, size_t i)
{
    return (fp2){get_fp(c, i), get_fp(c, i + 1)};
}

static fp12 get_fp12(const struct test_case *c, size_t i)
{
    fp12 a;
    a.c0.c0 = get_fp2(c, i), a.c1.c0 = get_fp2(c, i + 2), a.c0.c1 = get_fp2(c, i + 4);
    a.c1.c1 = get_fp2(c, i + 6), a.c0.c2 = get_fp2(c, i + 8), a.c1.c2 = get_fp2(c, i + 10);
    return a;
}

static bool is(const struct test_case *c, const char *name)
{
    return strcmp(c->name, name) == 0;
}

static bool run_fr(const struct test_case *c)
{
    fr x;
    if (is(c, "fr_root")) {
        fr_root_of_unity(&x, (unsigned)get_u64(c, 0));
    } else if (is(c, "fr_reduce")) {
        uint8_t le[NUMBER_BYTES];
        for (int j = 0; j < NUMBER_BYTES; j++)
            le[j] = c->value[1][NUMBER_BYTES - 1 - j];
        fr_from_bytes_reduce(&x, le, (size_t)get_u64(c, 0));
    } else {
        fr a = get_fr(c, 0);
        if (is(c, "fr_mul") || is(c, "fr_add") || is(c, "fr_sub")) {
            fr b = get_fr(c, 1);
            (is(c, "fr_mul") ? fr_mul : is(c, "fr_add") ? fr_add : fr_sub)(&x, &a, &b);
        } else if (is(c, "fr_sqr")) {
            fr_sqr(&x, &a);
        } else if (is(c, "fr_inv")) {
            fr_inv_vartime(&x, &a);
        } else if (is(c, "fr_pow")) {
            fr_pow_u64_vartime(&x, &a, get_u64(c, 1));
        } else {
            return false;
        }
    }
    fr want = get_fr(c, c->inputs);
    assert_true(fr_equal(&x, &want));
    return true;
}

static bool run_fp(const struct test_case *c)
{
    fp a = get_fp(c, 0), x;
    if (is(c, "fp_mul") || is(c, "fp_add") || is(c, "fp_sub")) {
        fp b = get_fp(c, 1);
        (is(c, "fp_mul") ? fp_mul : is(c, "fp_add") ? fp_add : fp_sub)(&x, &a, &b);
    } else if (is(c, "fp_sqr")) {
        fp_sqr(&x, &a);
    } else if (is(c, "fp_inv")) {
        fp_inv_vartime(&x, &a);
    } else if (is(c, "fp_pow")) {
        uint64_t e = get_u64(c, 1);
        fp_pow_vartime(&x, &a, &e, 1);
    } else if (is(c, "fp_sqrt")) { /* the answer is the smaller root */
        fp want = get_fp(c, 2);
        assert_int_equal(fp_sqrt_vartime(&x, &a), get_u64(c, 1));
        if (fp_is_large(&x))
            fp_neg(&x, &x);
        assert_true(fp_equal(&x, &want));
        return true;
    } else {
        return false;
    }
    fp want = get_fp(c, c->inputs);
    assert_true(fp_equal(&x, &want));
    return true;
}

static bool run_tower(const struct test_case *c)
{
    if (strncmp(c->name, "fp2_", 4) == 0) {
        fp2 a = get_fp2(c, 0), x, want = get_fp2(c, c->inputs);
        if (is(c, "fp2_mul")) {
            fp2 b = get_fp2(c, 2);
            fp2_mul(&x, &a, &b);
        } else if (is(c, "fp2_sqr")) {
            fp2_sqr(&x, &a);
        } else if (is(c, "fp2_inv")) {
            fp2_inv_vartime(&x, &a);
        } else {
            return false;
        }
        assert_true(fp2_equal(&x, &want));
        return true;
    }
    fp12 a = get_fp12(c, is(c, "fp12_frobenius") ? 1 : 0), x, want = get_fp12(c, c->inputs);
    if (is(c, "fp12_mul")) {
        fp12 b = get_fp12(c, 12);
        fp12_mul(&x, &a, &b);
    } else if (is(c, "fp12_sqr")) {
        fp12_sqr(&x, &a);
    } else if (is(c, "fp12_inv")) {
        fp12_inv_vartime(&x, &a);
    } else if (is(c, "fp12_frobenius")) {
        fp12_frobenius(&x, &a, (unsigned)get_u64(c, 0));
    } else {
        return false;
    }
    assert_true(fp12_equal(&x, &want));
    return true;
}

static void test_vectors(void **state)
{
    (void)state;
    static char text[8192];
    static struct test_case c;
    FILE *file = fopen(CUZK_TEST_DATA "/field/vectors.txt", "r");
    assert_non_null(file);
    size_t count = 0, number = 0;
    while (fgets(text, sizeof text, file) != NULL) {
        number++;
        assert_true(strchr(text, '\n') != NULL);
        if (!parse_case(&c, text))
            continue;
        bool known = strncmp(c.name, "fr_", 3) == 0   ? run_fr(&c)
                     : strncmp(c.name, "fp_", 3) == 0 ? run_fp(&c)
                                                      : run_tower(&c);
        if (!known)
            fail_msg("line %zu: no such operation: %s", number, c.name);
        count++;
    }
    fclose(file);
    assert_true(count > 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
