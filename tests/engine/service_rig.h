/* The service over small circuits: parameters made once per build folder, real requests of really sealed 2
 * KiB sectors, callers that wait. */
#ifndef CUZK_TESTS_ENGINE_SERVICE_RIG_H
#define CUZK_TESTS_ENGINE_SERVICE_RIG_H

#include "engine/service.h"
#include "test_device.h"

#define WINDOW  "wpost-2k"
#define WINNING "winning-2k"

void rig_must(struct status s);
/* Makes what is missing; the folder of the parameters. */
const char *rig_params(void);

/* Shared, read-only bytes of golden vanilla proofs. */
struct golden {
    struct bytes_view window[2], winning[1];
    uint8_t *bytes[3];
};
void golden_read(struct golden *out);
void golden_end(struct golden *g);

/* A request of one kind; `released` counts how often its owner was released. */
struct caller {
    struct service_submit submit;
    struct bytes_view vanilla[2];
    uint8_t randomness[32];
    atomic_int released;
};
void caller_make(struct caller *out, const struct golden *g, enum proof_kind kind, const char *request_id);

/* Waits by callback. */
struct answer {
    pthread_mutex_t lock;
    pthread_cond_t came;
    int count;
    struct job_result result;
    uint8_t proof[PROOF_BYTES * 2];
};
void answer_start(struct answer *a);
void answer_end(struct answer *a);
void answer_callback(void *context, const struct job_result *result);
enum job_state answer_wait(struct answer *a); /* until it comes */
/* Awaits the job and gives its state. */
enum job_state await_job(struct engine_service *s, struct answer *a, const char *id, uint64_t timeout_ms);

struct service_rig {
    struct engine_service *service;
    struct pool *pool;
    struct test_device device;
    char state_dir[64];
    struct golden golden;
    size_t mem_before;
    int threads_before, files_before;
    pthread_mutex_t log_lock;
    char log[65536];
};
/* A test device, circuits WINDOW and WINNING, test parameters admitted. change may adjust the options. */
void service_rig_start(struct service_rig *rig, void (*change)(struct service_options *options));
/* Ends it; memory, threads and files are as before. */
void service_rig_end(struct service_rig *rig);
bool service_rig_logged(struct service_rig *rig, const char *text);
/* Until the condition holds, or aborts after a minute. */
#define UNTIL(condition)                                                                                     \
    do {                                                                                                     \
        int until_ = 0;                                                                                      \
        while (!(condition)) {                                                                               \
            struct timespec wait_ = {0, 2000000};                                                            \
            nanosleep(&wait_, NULL);                                                                         \
            if (++until_ > 30000)                                                                            \
                check_failed(__FILE__, __LINE__, "comes true: " #condition);                                 \
        }                                                                                                    \
    } while (0)

int threads_now(void);
int files_now(void);
/* The proof verifies under the parameters' own key and the inputs that a verifier derives. */
bool proof_stands(const struct caller *c, const uint8_t *proof, const char *circuit);

#endif
