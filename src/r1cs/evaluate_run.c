/* Cuts evaluation into tasks of some milliseconds: ranges of circuit rows, then what lies behind them (the
 * input rows and zeros up to the wanted size). */
#include "r1cs/evaluate.h"

#include "base/mem.h"

#define ROWS_TOGETHER ((size_t)16384)
#define TAIL_TOGETHER ((size_t)1 << 17)

struct evaluation_run {
    struct evaluation e;
    uint32_t end; /* of the circuit rows, from e.first on */
    size_t size, row_tasks, ports;
    atomic_bool out_of_memory;
};

static void row_task(struct evaluation_run *r, size_t task)
{
    struct evaluation_ports ports = {
        .bits = mem_alloc(words_for_bits(r->ports), sizeof *ports.bits),
        .fields = mem_alloc(r->ports, sizeof *ports.fields),
    };
    size_t begin = r->e.first + task * ROWS_TOGETHER, left = r->end - begin;
    size_t end = begin + (left < ROWS_TOGETHER ? left : ROWS_TOGETHER);
    if (ports.bits && ports.fields)
        FLAVOUR_CALL(evaluate_rows, &r->e, &ports, (uint32_t)begin, (uint32_t)end);
    else
        atomic_store(&r->out_of_memory, true);
    mem_free(ports.bits);
    mem_free(ports.fields);
}

static void tail_task(const struct evaluation_run *r, size_t task)
{
    const struct shape *s = r->e.shape;
    size_t begin = s->rows + task * TAIL_TOGETHER, left = r->size - begin;
    size_t count = left < TAIL_TOGETHER ? left : TAIL_TOGETHER;
    memset(r->e.a + begin, 0, count * sizeof(fr));
    memset(r->e.b + begin, 0, count * sizeof(fr));
    if (r->e.c)
        memset(r->e.c + begin, 0, count * sizeof(fr));
    for (size_t i = begin; i < begin + count && i < shape_all_rows(s); i++)
        r->e.a[i] = r->e.witness->inputs[i - s->rows];
}

static void evaluate_task(void *context, size_t task)
{
    struct evaluation_run *r = context;
    if (task < r->row_tasks)
        row_task(r, task);
    else
        tail_task(r, task - r->row_tasks);
}

/* tails: tasks for what lies behind the circuit rows. */
static struct status run_tasks(struct evaluation_run *r, size_t tails, const struct work *work)
{
    const struct shape *shape = r->e.shape;
    atomic_init(&r->out_of_memory, false);
    fr *zero = &r->e.small[SMALL_SUM_MAX];
    *zero = FR_ZERO;
    for (int i = 1; i <= SMALL_SUM_MAX; i++) {
        fr_add(&zero[i], &zero[i - 1], &FR_ONE);
        fr_sub(&zero[-i], &zero[1 - i], &FR_ONE);
    }
    for (uint32_t i = 0; i < shape->templates_count; i++)
        if (shape->templates[i].ports > r->ports)
            r->ports = shape->templates[i].ports;
    r->row_tasks = (r->end - r->e.first + ROWS_TOGETHER - 1) / ROWS_TOGETHER;
    if (!pool_run(work, evaluate_task, r, r->row_tasks + tails))
        return work_cancelled_status();
    if (atomic_load(&r->out_of_memory))
        return mem_failed("evaluation", r->ports, sizeof(fr *));
    return status_ok();
}

struct status witness_evaluate(fr *a, fr *b, fr *c, size_t size, const struct shape *shape,
                               const struct witness *witness, const struct work *work)
{
    CHECK(size >= shape_all_rows(shape));
    struct evaluation_run r = {
        .e = {.shape = shape, .witness = witness, .a = a, .b = b, .c = c},
        .end = shape->rows,
        .size = size,
    };
    return run_tasks(&r, (size - shape->rows + TAIL_TOGETHER - 1) / TAIL_TOGETHER, work);
}

struct status witness_evaluate_rows(fr *a, fr *b, fr *c, uint32_t begin, uint32_t end,
                                    const struct shape *shape, const struct witness *witness,
                                    const struct work *work)
{
    CHECK(begin <= end && end <= shape->rows);
    struct evaluation_run r = {
        .e = {.shape = shape, .witness = witness, .a = a, .b = b, .c = c, .first = begin},
        .end = end,
    };
    return run_tasks(&r, 0, work);
}
