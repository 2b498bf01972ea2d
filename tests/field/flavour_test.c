/* The choice of flavour: what the processor can do unless CUZK_CPU says otherwise, wrong wishes abort. The
 * choice is made once a process, so each case runs in a child of its own. */
#include "field_test.h"

#include "field/flavour.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the kernel says of the processor. */
static bool kernel_sees_flag(const char *flag)
{
    static char text[1 << 16];
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL)
        return false;
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    char *line = strstr(text, "\nflags"), *end = line != NULL ? strchr(line + 1, '\n') : NULL;
    if (end == NULL)
        return false;
    *end = 0;
    const char *found = strstr(line, flag);
    return found != NULL && found[-1] == ' ' && (found[strlen(flag)] == ' ' || found[strlen(flag)] == 0);
}

static void test_available(void **state)
{
    (void)state;
    assert_true(flavour_available(FLAVOUR_PORTABLE));
#ifdef CUZK_X86_64
    assert_int_equal(flavour_available(FLAVOUR_ADX), kernel_sees_flag("bmi2") && kernel_sees_flag("adx"));
    assert_int_equal(flavour_ifma_available(),
                     kernel_sees_flag("avx512ifma") && kernel_sees_flag("avx512vl") &&
                         kernel_sees_flag("avx512dq") && kernel_sees_flag("avx512_vbmi2") &&
                         kernel_sees_flag("adx"));
#else
    (void)kernel_sees_flag;
    assert_false(flavour_ifma_available());
    assert_false(flavour_available(FLAVOUR_ADX));
#endif
}

/* Exit status of a child in which CUZK_CPU is `wish` (NULL: not set): 10 + flavour, 10 more with IFMA, or
 * -signal. */
static int choose_in_child(const char *wish)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (wish == NULL)
            unsetenv("CUZK_CPU");
        else
            setenv("CUZK_CPU", wish, 1);
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(1);
        signal(SIGABRT, SIG_DFL);
        enum flavour first = flavour_in_force();
        setenv("CUZK_CPU", "nonsense", 1); /* later changes do not count */
        if (flavour_ifma_in_force() && first != FLAVOUR_ADX)
            _exit(3);
        _exit(flavour_in_force() == first ? 10 + (int)first + 10 * flavour_ifma_in_force() : 2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void test_choice(void **state)
{
    (void)state;
    int best = 10 + (flavour_available(FLAVOUR_ADX) ? FLAVOUR_ADX : FLAVOUR_PORTABLE) +
               10 * flavour_ifma_available();
    assert_int_equal(choose_in_child(NULL), best);
    assert_int_equal(choose_in_child(""), best);
    assert_int_equal(choose_in_child("portable"), 10 + FLAVOUR_PORTABLE);
    assert_int_equal(choose_in_child("adx"), flavour_available(FLAVOUR_ADX) ? 10 + FLAVOUR_ADX : -SIGABRT);
    assert_int_equal(choose_in_child("ifma"), flavour_ifma_available() ? 20 + FLAVOUR_ADX : -SIGABRT);
    assert_int_equal(choose_in_child("ADX"), -SIGABRT);
    assert_int_equal(choose_in_child("fast"), -SIGABRT);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(flavour_name(FLAVOUR_PORTABLE), "portable");
    assert_string_equal(flavour_name(FLAVOUR_ADX), "adx");
}

/* Both flavours give the same through the public functions. */
static int digest_in_child(const char *wish)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("CUZK_CPU", wish, 1);
        fp a = test_random_fp(), b;
        fp2 c = test_random_fp2();
        fr d = test_random_fr();
        uint64_t sum = 0;
        for (int i = 0; i < 20; i++) {
            fp_sqrt_vartime(&b, &a), fp_inv(&a, &a), fp_add(&a, &a, &b);
            fp2_sqrt_vartime(&c, &c), fp2_inv_vartime(&c, &c), fp_add(&c.c0, &c.c0, &a);
            fr_inv(&d, &d), fr_pow_u64_vartime(&d, &d, 12345 + (uint64_t)i);
        }
        for (int i = 0; i < 6; i++)
            sum = (sum ^ a.l[i] ^ c.c0.l[i] ^ c.c1.l[i] ^ d.l[i % 4]) * UINT64_C(0x9e3779b97f4a7c15);
        _exit((int)(sum >> 57));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_same_results(void **state)
{
    (void)state;
    if (!flavour_available(FLAVOUR_ADX))
        skip();
    for (int i = 0; i < 8; i++) {
        assert_int_equal(digest_in_child("portable"), digest_in_child("adx"));
        test_random(); /* move the seed on: children start from the parent's state */
    }
}

static void *ask(void *slot)
{
    *(enum flavour *)slot = flavour_in_force();
    return NULL;
}

static void test_threads_agree(void **state)
{
    (void)state;
    enum flavour seen[8];
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &seen[i]), 0);
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(seen[i], flavour_in_force());
    }
}

int main(int argc, char **argv)
{
    test_seed(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice), /* first: before this process has chosen */
        cmocka_unit_test(test_available),    cmocka_unit_test(test_names),
        cmocka_unit_test(test_same_results), cmocka_unit_test(test_threads_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
