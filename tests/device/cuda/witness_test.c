/* The witness kernels on the host stand-in of the runtime, against expansion and evaluation on the CPU: a
 * circuit of every step, small circuits of every kind of proof; and every runtime call, and every
 * allocation, made to fail in turn.
 */
#include "gadget/expanders.h"
#include "witness_cases.h"

#include "base/mem.h"
#include "device/cuda/witness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* of standin/cuda_runtime.h, which is C++ */
void standin_fail_at(uint64_t n);
uint64_t standin_calls(void);
size_t standin_memory(size_t bytes);

#define CARD_BYTES ((size_t)16 << 30)

static const struct work HERE = {NULL, PRIORITY_NORMAL, NULL};

static bool seen[EXPANDER_COUNT]; /* expanders that some circuit had */

static void make(struct witness_case *c, const char *name)
{
    struct status s = witness_case_make(c, name, &HERE);
    if (status_failed(&s))
        fail_msg("%s: %s | %s", name, s.message, s.detail);
}

static void check(const char *name)
{
    struct witness_case c;
    make(&c, name);
    printf("%s: %u rows, %u aux, %u of them numbers, %u instances in %u waves\n", name, c.shape->rows,
           c.shape->aux, c.shape->fields, c.shape->instances_count, c.shape->waves);
    for (uint32_t i = 0; i < c.shape->instances_count; i++) {
        const struct expander *e = c.shape->templates[c.shape->instances[i].template_number].expander;
        seen[e ? e->number : EXPANDER_NONE] = true;
    }
    assert_true(compare_witness(&c, name, &HERE));
    witness_case_end(&c);
}

static void steps_are_those_of_the_cpu(void **unused)
{
    (void)unused;
    check("steps");
}

static void rows_are_those_of_the_cpu(void **unused)
{
    (void)unused;
    static const char *const names[] = {"rows-0",   "rows-1",    "rows-2",   "rows-6",   "rows-7",
                                        "rows-50",  "rows-150",  "rows-254", "rows-255", "rows-510",
                                        "rows-511", "rows-1000", "rows"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check(names[i]);
}

static void circuits_are_those_of_the_cpu(void **unused)
{
    (void)unused;
    static const char *const names[] = {"winning-2k", "window-2k", "porep-2k", "snap-2k"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check(names[i]);
}

static void every_expander_was_among_them(void **unused)
{
    (void)unused;
    for (int i = 0; i < EXPANDER_COUNT; i++)
        if (!seen[i])
            fail_msg("no circuit has expander %d", i);
}

static void every_failing_call_is_told(void **unused)
{
    (void)unused;
    struct witness_case c;
    uint64_t n = 1, calls;
    bool good;
    make(&c, "window-2k");
    compare_witness_quietly(true);
    do {
        standin_fail_at(n);
        good = compare_witness(&c, "failing", &HERE);
        calls = standin_calls();
        standin_fail_at(0);
        assert_true(good == (calls < n));
        n += n < 60 ? 1 : 17;
    } while (!good);
    compare_witness_quietly(false);
    witness_case_end(&c);
}

static void tables_hold_what_was_planned(void **unused)
{
    (void)unused;
    struct witness_case c;
    struct gpu_shape *tables;
    make(&c, "steps");
    size_t bytes = gpu_shape_bytes(c.shape);
    assert_int_equal(standin_memory(CARD_BYTES), 0);
    assert_int_equal(gpu_shape_load(&tables, c.shape, NULL).code, STATUS_OK);
    assert_int_equal(standin_memory(bytes - 1), bytes);
    gpu_shape_end(tables);
    struct status s = gpu_shape_load(&tables, c.shape, NULL);
    assert_int_equal(s.code, STATUS_MEMORY);
    assert_int_equal(standin_memory(CARD_BYTES), 0);
    witness_case_end(&c);
}

static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    struct witness_case c;
    struct gpu_shape *tables;
    struct status s;
    uint64_t n = 1;
    make(&c, "window-2k");
    size_t used = mem_used();
    do {
        mem_fail_after(n);
        s = gpu_shape_load(&tables, c.shape, NULL);
        mem_fail_after(0);
        assert_true(s.code == STATUS_OK || s.code == STATUS_MEMORY);
        if (s.code == STATUS_OK)
            gpu_shape_end(tables);
        assert_int_equal(mem_used(), used);
        assert_int_equal(standin_memory(CARD_BYTES), 0);
    } while (s.code != STATUS_OK && n++ < 10);
    assert_true(n > 1 && s.code == STATUS_OK);
    witness_case_end(&c);
}

/* A build that is older than the circuit. */
static void unknown_expanders_are_refused(void **unused)
{
    (void)unused;
    static const struct expander later = {EXPANDER_COUNT, "LATER", NULL, NULL};
    struct witness_case c;
    struct gpu_shape *tables;
    make(&c, "window-2k");
    struct template *t = c.shape->templates;
    while (t->expander == NULL)
        t++;
    const struct expander *known = t->expander;
    t->expander = &later;
    assert_int_equal(gpu_shape_load(&tables, c.shape, NULL).code, STATUS_UNSUPPORTED);
    t->expander = known;
    witness_case_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_those_of_the_cpu),    cmocka_unit_test(rows_are_those_of_the_cpu),
        cmocka_unit_test(circuits_are_those_of_the_cpu), cmocka_unit_test(every_expander_was_among_them),
        cmocka_unit_test(every_failing_call_is_told),    cmocka_unit_test(tables_hold_what_was_planned),
        cmocka_unit_test(every_allocation_may_fail),     cmocka_unit_test(unknown_expanders_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
