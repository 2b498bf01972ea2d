/* The witness kernels on the host stand-in of the runtime, against expansion and evaluation on the CPU: a
 * circuit of every step, small circuits of every kind of proof; and every runtime call made to fail in turn.
 */
#include "gadget/expanders.h"
#include "witness_cases.h"

#include "device/cuda/witness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* of standin/cuda_runtime.h, which is C++ */
void standin_fail_at(uint64_t n);
uint64_t standin_calls(void);

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_those_of_the_cpu),
        cmocka_unit_test(circuits_are_those_of_the_cpu),
        cmocka_unit_test(every_expander_was_among_them),
        cmocka_unit_test(every_failing_call_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
