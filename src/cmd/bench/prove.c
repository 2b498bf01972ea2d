/* cuzk-bench single and batch: proofs from the daemon, with the times and memory they took. */
#include "cmd/bench/report.h"
#include "cmd/bench/sampler.h"

#include "base/file.h"
#include "base/mem.h"

#include <cuzk.pb-c.h>
#include <stdio.h>
#include <string.h>

#define ROUND_MS          200 /* between samples of memory */
#define COUNT_MAX         1000000
#define CONCURRENCY_MAX   4096
#define STATUS_TIMEOUT_MS 5000

struct batch {
    struct target target;
    struct input input;
    const char *output;
    uint64_t count, concurrency;
    struct channel *channel;
    struct sampler sampler;
    struct proof *proofs;
    uint32_t running;
    size_t started, verified;
    uint64_t pinned_bytes;
    char error[512]; /* the first */
};

static void first_error(struct batch *b, const char *text)
{
    if (b->error[0] == 0)
        snprintf(b->error, sizeof b->error, "%s", text);
}

static size_t ended(const struct batch *b)
{
    return b->started - b->running;
}

/* Keeps `concurrency` calls open until all have ended, or the connection is gone. */
static void run_proofs(struct batch *b)
{
    bool connected = true;
    while (connected && ended(b) < b->count) {
        while (b->started < b->count && b->running < b->concurrency) {
            struct proof *p = &b->proofs[b->started];
            p->running = &b->running;
            p->keep = b->input.vk != NULL || b->output != NULL;
            struct status s = proof_start(p, b->channel, &b->input, b->started);
            if (status_failed(&s)) {
                first_error(b, s.message);
                connected = false;
                break;
            }
            b->started++;
        }
        connected = channel_poll(b->channel, ROUND_MS) && connected;
        sampler_take(&b->sampler);
        progress_bar(NULL, "proofs", ended(b), b->count);
    }
    while (b->running > 0 && channel_poll(b->channel, ROUND_MS)) /* after a failed start */
        sampler_take(&b->sampler);
    progress_clear();
    for (size_t i = 0; i < b->started; i++)
        if (!b->proofs[i].completed)
            first_error(b, b->proofs[i].error);
}

/* What the daemon has pinned counts as used, and /proc does not show it. */
static void ask_pinned(struct batch *b)
{
    struct call_reply reply;
    struct status s =
        target_call(b->channel, "/cuzk.v1.ProvingEngine/GetStatus", NULL, 0, STATUS_TIMEOUT_MS, &reply);
    if (status_failed(&s))
        return;
    Cuzk__V1__GetStatusResponse *r = cuzk__v1__get_status_response__unpack(NULL, reply.size, reply.data);
    if (r != NULL) {
        b->pinned_bytes = r->pinned_memory_bytes;
        cuzk__v1__get_status_response__free_unpacked(r, NULL);
    }
    mem_free(reply.data);
}

/* Every proof again, here, with the key that was given; EXIT_INVALID_PROOF if one is not valid. */
static int verify_all(struct batch *b)
{
    struct cuzk *cuzk;
    struct cuzk_error error;
    if (b->input.vk == NULL)
        return EXIT_DONE;
    if (cuzk_open(&cuzk, NULL, &error) != CUZK_OK)
        return report_error(&error, false);
    if (input_check(&b->input, cuzk, &error) != CUZK_OK) {
        cuzk_close(cuzk);
        return report_error(&error, false);
    }
    for (size_t i = 0; i < b->started; i++) {
        const struct proof *p = &b->proofs[i];
        if (!p->completed)
            continue;
        if (p->bytes != NULL && input_verify(&b->input, cuzk, p->bytes, p->size, &error) == CUZK_OK)
            b->verified++;
        else
            first_error(b, p->bytes == NULL ? "out of memory" : error.message);
    }
    cuzk_close(cuzk);
    size_t completed = 0;
    for (size_t i = 0; i < b->started; i++)
        completed += b->proofs[i].completed;
    return b->verified == completed ? EXIT_DONE : EXIT_INVALID_PROOF;
}

static int prove(struct batch *b)
{
    struct status s = target_resolve(&b->target);
    if (!status_failed(&s))
        s = target_connect(&b->channel, &b->target);
    if (status_failed(&s))
        return report_status(&s, b->target.json);
    b->proofs = mem_alloc_zero(b->count, sizeof *b->proofs);
    if (b->proofs == NULL) {
        s = mem_failed("proofs", b->count, sizeof *b->proofs);
        return report_status(&s, b->target.json);
    }
    sampler_start(&b->sampler, target_pid(&b->target, b->channel));
    run_proofs(b);
    ask_pinned(b);
    return verify_all(b);
}

static void release(struct batch *b)
{
    for (size_t i = 0; b->proofs != NULL && i < b->started; i++)
        mem_free(b->proofs[i].bytes);
    mem_free(b->proofs);
    channel_close(b->channel);
    input_end(&b->input);
}

/* ---- results ---- */

static void show_memory(struct result *r, const struct batch *b)
{
    if (b->sampler.peak_resident != 0) {
        result_bytes(r, "peak_memory_bytes", b->sampler.peak_used + b->pinned_bytes);
        result_bytes(r, "peak_rss_bytes", b->sampler.peak_resident);
    }
    if (b->pinned_bytes != 0)
        result_bytes(r, "pinned_bytes", b->pinned_bytes);
}

static int show_single(struct batch *b)
{
    const struct proof *p = &b->proofs[0];
    struct result r = {.json = b->target.json};
    result_text(&r, "type", b->input.type);
    result_text(&r, "job_id", p->job_id);
    result_bool(&r, "completed", p->completed);
    if (p->completed)
        result_number(&r, "proof_bytes", p->size);
    if (b->output != NULL && p->completed)
        result_text(&r, "output", b->output);
    if (b->input.vk != NULL)
        result_bool(&r, "verified_here", b->verified == 1);
    result_seconds(&r, "seconds", p->ended - p->started);
    result_seconds(&r, "queue_wait_seconds", 1e-3 * (double)p->queue_wait_ms);
    result_seconds(&r, "parameters_seconds", 1e-3 * (double)p->srs_load_ms);
    result_seconds(&r, "synthesis_seconds", 1e-3 * (double)p->synthesis_ms);
    result_seconds(&r, "device_seconds", 1e-3 * (double)p->gpu_compute_ms);
    show_memory(&r, b);
    if (b->error[0] != 0)
        result_text(&r, "error", b->error);
    return result_end(&r);
}

static void show_times(struct result *r, const struct figures *f)
{
    result_seconds(r, "wall_seconds", f->wall);
    if (f->completed == 0)
        return;
    result_seconds(r, "seconds_per_proof", f->per_proof);
    if (f->steady_count > 0) {
        result_seconds(r, "steady_seconds_per_proof", f->steady);
        result_seconds(r, "steady_spread_seconds", f->steady_spread);
        result_number(r, "steady_proofs", f->steady_count);
    }
    result_seconds(r, "min_seconds", f->least);
    result_seconds(r, "mean_seconds", f->mean);
    result_seconds(r, "p50_seconds", f->p50);
    result_seconds(r, "p95_seconds", f->p95);
    result_seconds(r, "max_seconds", f->most);
    result_seconds(r, "queue_wait_mean_seconds", f->queue_wait);
    result_seconds(r, "parameters_mean_seconds", f->srs_load);
    result_seconds(r, "synthesis_mean_seconds", f->synthesis);
    result_seconds(r, "device_mean_seconds", f->device);
}

static int show_batch(struct batch *b)
{
    struct figures f;
    struct result r = {.json = b->target.json};
    if (!figures_of(&f, b->proofs, b->started, b->concurrency)) {
        struct status s = mem_failed("figures", b->started, sizeof(double));
        return report_status(&s, b->target.json);
    }
    result_text(&r, "type", b->input.type);
    result_number(&r, "count", b->count);
    result_number(&r, "concurrency", b->concurrency);
    result_number(&r, "completed", f.completed);
    result_number(&r, "failed", b->count - f.completed);
    if (b->input.vk != NULL)
        result_number(&r, "verified_here", b->verified);
    show_times(&r, &f);
    show_memory(&r, b);
    if (b->error[0] != 0)
        result_text(&r, "error", b->error);
    return result_end(&r);
}

static struct status write_output(const struct batch *b)
{
    struct file_writer writer;
    const struct proof *p = &b->proofs[0];
    if (p->bytes == NULL)
        return mem_failed("proof", p->size, 1);
    TRY(file_writer_open(&writer, b->output));
    struct status s = file_writer_add(&writer, p->bytes, p->size);
    if (!status_failed(&s))
        return file_writer_finish(&writer);
    file_writer_abandon(&writer);
    return s;
}

/* The worst of what went wrong. */
static int run_and_show(struct batch *b, bool single)
{
    int exit_code = input_open(&b->input, b->target.json);
    if (exit_code == EXIT_DONE)
        exit_code = prove(b);
    if (b->proofs == NULL) {
        release(b);
        return exit_code;
    }
    if (b->output != NULL && b->proofs[0].completed && exit_code == EXIT_DONE) {
        struct status s = write_output(b);
        if (status_failed(&s))
            exit_code = report_status(&s, false);
    }
    if (exit_code == EXIT_DONE && b->error[0] != 0)
        exit_code = EXIT_FAILED;
    if (b->error[0] != 0)
        fprintf(stderr, "error: %s\n", b->error);
    int shown = single ? show_single(b) : show_batch(b);
    release(b);
    return exit_code != EXIT_DONE ? exit_code : shown;
}

static int run_single(int argc, char **argv)
{
    static struct batch b = {.count = 1, .concurrency = 1};
    const struct arg args[] = {
        INPUT_ARGS(b.input),
        {"--output", ARG_TEXT, &b.output, NULL, "FILE", "where the proof goes", false},
        TARGET_ARGS(b.target),
    };
    int exit_code;
    if (!args_parse(&COMMAND_SINGLE, args, sizeof args / sizeof args[0], argc, argv, NULL, 0, &exit_code))
        return exit_code;
    return run_and_show(&b, true);
}

static int run_batch(int argc, char **argv)
{
    static struct batch b = {.count = 1, .concurrency = 1};
    const struct arg args[] = {
        INPUT_ARGS(b.input),
        {"--count", ARG_NUMBER, &b.count, NULL, "N", "how many proofs (-c)", false},
        {"-c", ARG_ALIAS, "--count", NULL, NULL, NULL, false},
        {"--concurrency", ARG_NUMBER, &b.concurrency, NULL, "J", "how many at once (-j)", false},
        {"-j", ARG_ALIAS, "--concurrency", NULL, NULL, NULL, false},
        TARGET_ARGS(b.target),
    };
    int exit_code;
    if (!args_parse(&COMMAND_BATCH, args, sizeof args / sizeof args[0], argc, argv, NULL, 0, &exit_code))
        return exit_code;
    if (b.count == 0 || b.count > COUNT_MAX)
        return usage_error(NULL, "--count is from 1 to %d", COUNT_MAX);
    if (b.concurrency == 0 || b.concurrency > CONCURRENCY_MAX)
        return usage_error(NULL, "--concurrency is from 1 to %d", CONCURRENCY_MAX);
    return run_and_show(&b, false);
}

const struct command COMMAND_SINGLE = {"single", "ask for one proof",
                                       "-t KIND --c1 FILE | --vanilla FILE ... [--output FILE]", run_single};
const struct command COMMAND_BATCH = {"batch", "ask for many proofs and report seconds per proof and memory",
                                      "-t KIND --c1 FILE | --vanilla FILE ... -c N -j J", run_batch};
