/* A device for tests: the CPU backend with faults and delays by hand, and with a memory, so that the sums of
 * a request seen before cost nothing (equal seeds and parameters have equal sums). The memory is the
 * program's, not one device's: a proof under ThreadSanitizer takes long. */
#ifndef CUZK_TESTS_ENGINE_TEST_DEVICE_H
#define CUZK_TESTS_ENGINE_TEST_DEVICE_H

#include "device/device.h"

#include <pthread.h>

struct test_device {
    struct device device; /* first */
    struct device *cpu;
    atomic_bool hold;       /* prove_start waits until this is false, or for its cancel flag */
    atomic_int holding;     /* how many wait so */
    atomic_int errors_left; /* prove_start fails with STATUS_DEVICE that many times */
    atomic_int bad_left;    /* prove_finish gives sums of no proof that many times */
    atomic_bool lost;
    atomic_int starts, pendings; /* begun so far; alive now */
    atomic_int srs, shapes;      /* loaded now */
};

void test_device_open(struct test_device *out, struct pool *pool);
void test_device_close(struct test_device *device);

#endif
