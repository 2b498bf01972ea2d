/* See witness_part.h. Floors: for evaluation, the bytes of a and b at the rate of copies; for expansion, the
 * multiplications of its Poseidon permutations, or the bytes of the witness if they take longer. */
#include "witness_part.h"
#include "check_kernels.h"
#include "device/cuda/kernels.h"
#include "device/cuda/witness.h"
#include "gadget/expanders.h"
#include "gadget/poseidon.h"
#include "witness_cases.h"

#include <stdio.h>
#include <time.h>

#define ROUNDS 5

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double poseidon_multiplications(const struct shape *s)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->instances_count; i++) {
        const struct template *t = &s->templates[s->instances[i].template_number];
        uint32_t number = t->expander ? t->expander->number : EXPANDER_NONE;
        if (number != EXPANDER_POSEIDON && number != EXPANDER_PATH_ELEMENT)
            continue;
        const struct poseidon *p = poseidon_of(t->parameters[0]);
        double w = p->width, r = p->partial_rounds;
        sum += 3 * (8 * w + r) + 7 * w * w + w + r * (2 * w - 1);
    }
    return sum;
}

static void row(const char *kernel, const char *circuit, double ms, double floor_ms)
{
    printf("| %-28s | %-18s | %9.3f ms | %12s | %9.3f ms | %5.2f |\n", kernel, circuit, ms, "", floor_ms,
           ms / floor_ms);
    fflush(stdout);
}

struct device_memory {
    struct gpu_shape *tables;
    void *arena, *a, *b;
};

static struct status times(struct device_memory *d, const struct witness_case *c, const char *circuit,
                           double fr_rate, double copy_rate)
{
    unsigned log_size = shape_log2_domain(c->shape);
    size_t m = (size_t)1 << log_size, bytes = gpu_witness_bytes(c->shape);
    struct gpu_witness w;
    double expand = 1e9, evaluate = 1e9;
    TRY(check_alloc(&d->arena, bytes));
    TRY(check_alloc(&d->a, m * sizeof(fr)));
    TRY(check_alloc(&d->b, m * sizeof(fr)));
    for (int i = 0; i < ROUNDS; i++) {
        struct check_phase phases[CHECK_PHASES];
        if (i == ROUNDS - 1)
            check_phases_on();
        check_timer_start();
        TRY(gpu_witness_expand(&w, d->tables, &c->seeds, d->arena, bytes, NULL));
        double ms = check_timer_stop();
        if (i == ROUNDS - 1) {
            int n = check_phases(phases);
            for (int k = 0; k < n; k++)
                printf("    %-28s %9.3f ms\n", phases[k].name, phases[k].ms);
        } else if (ms < expand) {
            expand = ms;
        }
        check_timer_start();
        TRY(gpu_witness_evaluate(d->a, d->b, &w, d->tables, log_size, NULL));
        ms = check_timer_stop();
        evaluate = ms < evaluate ? ms : evaluate;
    }
    double multiplications = poseidon_multiplications(c->shape) / fr_rate * 1e3,
           written = 2.0 * (double)witness_bytes(c->shape) / copy_rate * 1e3;
    row("seeds and expansion", circuit, expand, multiplications > written ? multiplications : written);
    row("evaluation of a and b", circuit, evaluate, 2.0 * (double)(m * sizeof(fr)) / copy_rate * 1e3);
    return status_ok();
}

struct status witness_part(bool *good, const char *circuit, bool compare, double fr_rate, double copy_rate)
{
    struct pool *pool;
    struct witness_case c;
    struct device_memory d = {NULL, NULL, NULL, NULL};
    TRY(pool_start(&pool, 0));
    struct work work = {pool, PRIORITY_NORMAL, NULL};
    double start = now_ms();
    struct status s = witness_case_make(&c, circuit, &work);
    if (!status_failed(&s)) {
        const struct shape *shape = c.shape;
        printf("%s: %u rows, %u aux, %u of them numbers, %u instances in %u waves, made in %.0f ms\n",
               circuit, shape->rows, shape->aux, shape->fields, shape->instances_count, shape->waves,
               now_ms() - start);
        start = now_ms();
        s = gpu_shape_load(&d.tables, shape, NULL);
        printf("%s: %zu bytes of tables loaded in %.0f ms, %zu bytes of seeds, %zu of witness\n", circuit,
               gpu_shape_bytes(shape), now_ms() - start, seeds_bytes(shape), gpu_witness_bytes(shape));
        fflush(stdout);
        if (!status_failed(&s))
            s = times(&d, &c, circuit, fr_rate, copy_rate);
        gpu_shape_end(d.tables);
        check_free(d.arena);
        check_free(d.a);
        check_free(d.b);
        *good = !compare || compare_witness(&c, circuit, &work);
        printf("%s: %s\n", circuit,
               !compare ? "not compared"
               : *good  ? "as on the CPU"
                        : "NOT as on the CPU");
        witness_case_end(&c);
    }
    pool_end(pool);
    return s;
}
