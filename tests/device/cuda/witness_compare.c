/* See witness_cases.h. */
#include "check_kernels.h"
#include "device/cuda/kernels.h"
#include "device/cuda/witness.h"
#include "witness_cases.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

static bool quiet;

void compare_witness_quietly(bool on)
{
    quiet = on;
}

struct comparison {
    const struct witness_case *c;
    const char *name;
    const struct work *work;
    struct gpu_shape *tables;
    void *arena, *a_dev, *b_dev;
    struct witness mine;
    fr *want, *got; /* 2^log_size each; bits too come here */
    unsigned log_size;
    bool differs;
};

static void compare(struct comparison *x, const void *want, const void *got, size_t count, size_t size,
                    const char *what)
{
    if (count == 0 || memcmp(want, got, count * size) == 0)
        return;
    size_t i = 0;
    while (memcmp((const char *)want + i * size, (const char *)got + i * size, size) == 0)
        i++;
    printf("%s: %s differ from %zu of %zu on\n", x->name, what, i, count);
    x->differs = true;
}

static struct status compare_values(struct comparison *x, const struct gpu_witness *w)
{
    const struct shape *s = x->c->shape;
    size_t words = ((size_t)s->aux + 63) / 64;
    void *got = x->got;
    TRY(check_download(got, w->bits_dev, words * sizeof(uint64_t)));
    compare(x, x->mine.bits, got, words, sizeof(uint64_t), "words of bits");
    TRY(check_download(got, w->inputs_dev, s->inputs * sizeof(fr)));
    compare(x, x->mine.inputs, got, s->inputs, sizeof(fr), "inputs");
    TRY(check_download(got, w->fields_dev, s->fields * sizeof(fr)));
    compare(x, x->mine.fields, got, s->fields, sizeof(fr), "field values");
    return status_ok();
}

/* want: a, then b. */
static struct status compare_rows(struct comparison *x, const struct gpu_witness *w)
{
    size_t m = (size_t)1 << x->log_size;
    TRY(gpu_witness_evaluate(x->a_dev, x->b_dev, w, x->tables, x->log_size, NULL));
    for (int k = 0; k < 2; k++) {
        void *from = k == 0 ? x->a_dev : x->b_dev;
        TRY(gpu_bit_reverse(from, x->log_size, NULL));
        TRY(check_download(x->got, from, m * sizeof(fr)));
        compare(x, x->want + (size_t)k * m, x->got, m, sizeof(fr), k == 0 ? "values of a" : "values of b");
    }
    return status_ok();
}

static struct status run(struct comparison *x)
{
    const struct shape *s = x->c->shape;
    size_t m = (size_t)1 << x->log_size, most = m > s->fields ? m : s->fields, bytes = gpu_witness_bytes(s);
    const int rounds = quiet || x->log_size > 18 ? 1 : 2; /* the second in memory that is not clean */
    struct gpu_witness w;
    x->want = mem_alloc(2 * m, sizeof(fr));
    x->got = mem_alloc(most > s->aux / 256 ? most : s->aux / 256 + 8, sizeof(fr));
    if (x->want == NULL || x->got == NULL)
        return mem_failed("comparison", 2 * m, sizeof(fr));
    TRY(witness_start(&x->mine, s));
    TRY(witness_expand(&x->mine, s, &x->c->seeds, x->work));
    TRY(witness_evaluate(x->want, x->want + m, NULL, m, s, &x->mine, x->work));
    TRY(gpu_shape_load(&x->tables, s, NULL));
    TRY(check_alloc(&x->arena, bytes));
    TRY(check_alloc(&x->a_dev, m * sizeof(fr)));
    TRY(check_alloc(&x->b_dev, m * sizeof(fr)));
    for (int round = 0; round < rounds && !x->differs; round++) {
        TRY(gpu_witness_expand(&w, x->tables, &x->c->seeds, x->arena, bytes, NULL));
        TRY(compare_values(x, &w));
        TRY(compare_rows(x, &w));
    }
    return status_ok();
}

bool compare_witness(const struct witness_case *c, const char *name, const struct work *work)
{
    struct comparison x = {.c = c, .name = name, .work = work, .log_size = shape_log2_domain(c->shape)};
    struct status s = run(&x);
    if (status_failed(&s) && !quiet)
        printf("%s: %s | %s\n", name, s.message, s.detail);
    gpu_shape_end(x.tables);
    check_free(x.arena);
    check_free(x.a_dev);
    check_free(x.b_dev);
    witness_end(&x.mine);
    mem_free(x.want);
    mem_free(x.got);
    return !status_failed(&s) && !x.differs;
}
