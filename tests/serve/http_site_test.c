/* The pages of a daemon over the fake engine: what /status, /metrics and the probes say in each situation. */
#include "proving_support.h"

#include "base/mem.h"
#include "http_support.h"
#include "serve/http/site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static char answer[1 << 18];
static struct site *site;
static uint16_t port;
static bool loading;

static void memory(void *context, struct site_memory *out)
{
    (void)context;
    *out = (struct site_memory){.machine_bytes = 400,
                                .machine_available_bytes = 300,
                                .process_bytes = 77,
                                .resident_bytes = 88,
                                .budget_bytes = 20000};
}

static size_t phases(void *context, struct site_phase out[SITE_PHASES])
{
    (void)context;
    out[0] = (struct site_phase){.name = "starting the engine", .ms = 1234};
    out[1] = (struct site_phase){.name = "loading parameters", .ms = 61250, .running = loading};
    return 2;
}

static int setup(void **state)
{
    struct listener *listener;
    if (fixture_setup(state) != 0)
        return -1;
    struct fixture *f = *state;
    struct site_options options = {.service = f->service,
                                   .proving = f->proving,
                                   .ledger = f->ledger,
                                   .version = "1.2.3",
                                   .memory = memory,
                                   .phases = phases};
    loading = true;
    ok(listen_open(&listener, "127.0.0.1:0", NULL));
    port = listener->port;
    ok(site_start(&site, &options, listener));
    return 0;
}

static int teardown(void **state)
{
    site_stop(site);
    return fixture_teardown(state);
}

static int get(const char *path)
{
    return http_ask(port, "GET", path, answer, sizeof answer);
}

static void has(const char *part)
{
    if (strstr(answer, part) == NULL)
        fail_msg("lacks %s:\n%s", part, answer);
}

static void set_jobs(struct service_view *v)
{
    v->jobs_count = 2;
    struct service_job_view *job = &v->jobs[0];
    *job = (struct service_job_view){.id = "job-1",
                                     .request_id = "wd\"post",
                                     .kind = PROOF_WINDOW,
                                     .state = JOB_RUNNING,
                                     .priority = PRIORITY_HIGH,
                                     .age_ms = 5250,
                                     .partitions = 3,
                                     .partitions_done = 1};
    static const enum partition_state states[3] = {PARTITION_DONE, PARTITION_DEVICE, PARTITION_PENDING};
    static const uint32_t at[3][PARTITION_TIMES] = {{100, 1100, 1200, 2200, 2300},
                                                    {200, 1300, 2250, TIME_NONE, TIME_NONE},
                                                    {TIME_NONE, TIME_NONE, TIME_NONE, TIME_NONE, TIME_NONE}};
    memcpy(job->partition, states, sizeof states);
    memcpy(job->at_ms, at, sizeof at);
    v->jobs[1] = (struct service_job_view){.id = "job-2",
                                           .kind = PROOF_SNAP_POSEIDON,
                                           .state = JOB_QUEUED,
                                           .priority = PRIORITY_NORMAL,
                                           .age_ms = 7};
}

static void set_view(struct engine_service *s)
{
    struct service_view *v = &s->view;
    pthread_mutex_lock(&s->lock);
    memset(v, 0, sizeof *v);
    v->uptime_ms = 61999;
    v->partition_workers = 4;
    v->workers_per_device = 2;
    v->completed[PROOF_POREP] = 5;
    v->completed[PROOF_WINNING] = 2;
    v->failed[PROOF_SNAP] = 1;
    v->late[PROOF_WINDOW] = 3;
    v->plan = (struct plan){.budget = 20000,
                            .baseline = 10,
                            .threads = 20,
                            .requests = 30,
                            .winning = 40,
                            .peak = 18000,
                            .fits = true,
                            .partition_workers = 4,
                            .ready_capacity = 4,
                            .device_workers = 2,
                            .finishers = 3,
                            .circuits_count = 1};
    v->plan.circuits[0] = (struct plan_circuit){.name = "winning-2k",
                                                .facts.load_bytes = 1,
                                                .kept = 2,
                                                .waiting = 3,
                                                .devices = 4,
                                                .finishing = 5,
                                                .peak = 6,
                                                .fits = true,
                                                .workers_most = 7};
    v->failed[PROOF_SNAP_POSEIDON] = 1;
    v->pending[PROOF_SNAP_POSEIDON] = 1;
    v->in_progress[PROOF_WINDOW] = 1;
    v->counts = (struct engine_counts){.jobs_waiting = 1,
                                       .jobs_running = 1,
                                       .permits_in_use = 3,
                                       .ready_waiting = 1,
                                       .ready_length = 2,
                                       .ready_capacity = 4,
                                       .devices_busy = 1,
                                       .budget = 15000,
                                       .short_of_memory = true,
                                       .lease_bytes = 500,
                                       .lease_peak = 900};
    v->devices_count = 1;
    v->devices[0] = (struct service_device_view){.name = "CPU",
                                                 .state = DEVICE_BUSY,
                                                 .job = "job-1",
                                                 .kind = PROOF_WINDOW,
                                                 .busy_ms = 3000,
                                                 .strikes = 1};
    v->circuits_count = 3;
    v->circuits[0] = (struct service_circuit_view){
        .name = "winning-2k", .loaded = true, .bytes = 12345, .shape_bytes = 345, .idle_ms = 1500};
    v->circuits[1] = (struct service_circuit_view){.name = "porep-2k", .loading = true};
    v->circuits[2] = (struct service_circuit_view){.name = "snap-2k", .failed = true};
    set_jobs(v);
    v->ended_count = 1;
    v->ended[0] = (struct service_ended_view){.id = "job-0",
                                              .request_id = "porep-1000-1",
                                              .kind = PROOF_POREP,
                                              .state = JOB_FAILED,
                                              .ended_ms_ago = 9000,
                                              .total_ms = 12500,
                                              .reason = "partition 3: it \"failed\""};
    pthread_mutex_unlock(&s->lock);
}

static void ap_12_status(void **state)
{
    struct fixture *f = *state;
    set_view(f->service);
    assert_int_equal(get("/status"), 200);
    has("Content-Type: application/json\r\n");
    has("Access-Control-Allow-Origin: *\r\n");
    has("\"uptime_secs\":61,\"version\":\"1.2.3\",\"ready\":false,\"draining\":false,");
    has("{\"name\":\"starting the engine\",\"secs\":1.234,\"running\":false}");
    has("{\"name\":\"loading parameters\",\"secs\":61.250,\"running\":true}");
    has("\"memory\":{\"total_bytes\":20000,\"used_bytes\":12845,\"available_bytes\":7155,"
        "\"partitions_bytes\":500,\"partitions_peak_bytes\":900,\"requests_bytes\":0,"
        "\"parameters_bytes\":12345,\"process_bytes\":77,\"resident_bytes\":88,"
        "\"limit_now_bytes\":15000,\"short\":true,\"machine_bytes\":400,"
        "\"machine_available_bytes\":300}");
    has("\"plan\":{\"budget_bytes\":20000,\"baseline_bytes\":10,\"threads_bytes\":20,\"requests_bytes\":30,"
        "\"winning_bytes\":40,\"peak_bytes\":18000,\"fits\":true,\"partition_workers\":4,\"ready_capacity\":"
        "4,"
        "\"device_workers\":2,\"finishers\":3,\"circuits\":[{\"circuit_id\":\"winning-2k\",\"parameters_"
        "bytes\":1,"
        "\"kept_bytes\":2,\"waiting_bytes\":3,\"devices_bytes\":4,\"finishing_bytes\":5,\"peak_bytes\":6,"
        "\"fits\":true,\"partition_workers_most\":7}]}");
    has("\"late_by_kind\":{\"porep-c2\":0,\"snap-update\":0,\"window-post\":3,\"winning-post\":0}");
    has("\"busy_secs\":3.000,\"strikes\":1}");
    has("\"synthesis\":{\"max_concurrent\":4,\"active\":2,");
    has("\"ready_queue\":{\"length\":2,\"capacity\":4}");
    has("{\"job_id\":\"job-1\",\"proof_kind\":\"window-post\",\"started_secs_ago\":5.250,"
        "\"total_partitions\":3,\"partitions_done\":1,\"partitions\":[");
    has("{\"index\":0,\"state\":\"done\",\"synth_ms\":1000,\"gpu_ms\":1000,\"stage\":\"done\",\"device\":0,"
        "\"at_ms\":{\"synthesis\":100,\"ready\":1100,\"device\":1200,\"pending\":2200,\"end\":2300}}");
    has("{\"index\":1,\"state\":\"gpu\",\"synth_ms\":1100,\"gpu_ms\":3000,\"stage\":\"device\",\"device\":0,"
        "\"at_ms\":{\"synthesis\":200,\"ready\":1300,\"device\":2250}}");
    has("{\"index\":2,\"state\":\"pending\",\"synth_ms\":null,\"gpu_ms\":null,\"stage\":\"pending\",\"at_"
        "ms\":{}}");
    has("\"request_id\":\"wd\\\"post\",\"state\":\"running\",\"priority\":\"high\"}");
    has("{\"job_id\":\"job-2\",\"proof_kind\":\"snap-update\",");
    has("\"gpu_workers\":[{\"worker_id\":0,\"gpu_ordinal\":0,\"state\":\"proving\",\"current_job\":\"job-1\","
        "\"current_partition\":1,\"busy_secs\":3.000},{\"worker_id\":1,\"gpu_ordinal\":0,\"state\":\"idle\","
        "\"current_job\":null,\"current_partition\":null,\"busy_secs\":0}]");
    has("\"srs\":[{\"circuit_id\":\"winning-2k\",\"bytes\":12000,\"last_used_secs_ago\":1.500,"
        "\"evictable\":false,\"references\":0}],\"pce\":[{\"circuit_id\":\"winning-2k\",\"bytes\":345,");
    has("\"loading\":[\"porep-2k\"],\"failed\":[\"snap-2k\"]");
    has("\"counters\":{\"total_completed\":7,\"total_failed\":2,\"completed_by_kind\":{\"porep-c2\":5,"
        "\"snap-update\":0,\"window-post\":0,\"winning-post\":2},\"failed_by_kind\":{\"porep-c2\":0,"
        "\"snap-update\":2,\"window-post\":0,\"winning-post\":0},\"queue_depth\":1,\"running\":1,");
    has("{\"proof_kind\":\"snap-update\",\"pending\":1,\"in_progress\":0}");
    has("\"buffers\":{\"synth_in_flight\":2,\"provers_in_flight\":4,\"aux_in_flight\":4,"
        "\"shells_in_flight\":0,\"pending_handles\":0}");
    has("\"recent\":[{\"job_id\":\"job-0\",\"request_id\":\"porep-1000-1\",\"proof_kind\":\"porep-c2\","
        "\"state\":\"failed\",\"ended_secs_ago\":9.000,\"total_secs\":12.500,"
        "\"error\":\"partition 3: it \\\"failed\\\"\"}]}");
    proving_ready(f->proving, true);
    assert_int_equal(get("/status"), 200);
    has("\"ready\":true,\"draining\":false,");
    proving_drain(f->proving);
    assert_int_equal(get("/status"), 200);
    has("\"ready\":false,\"draining\":true,");
}

static void ap_14_metrics(void **state)
{
    struct fixture *f = *state;
    char *text;
    size_t size;
    (void)client_unary(f->client, METRICS, "", 0); /* the connection is seen, and is the only one */
    assert_int_equal(get("/metrics"), 200);
    has("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
    has("cuzk_uptime_seconds 5\n");
    has("cuzk_grpc_connections 1\n");
    ok(proving_metrics(f->proving, &text, &size));
    assert_string_equal(http_body(answer), text); /* what GetMetrics answers */
    mem_free(text);
}

/* Loading is not being dead: alive while it loads, started and ready only after. */
static void st_06_probes_through_a_life(void **state)
{
    struct fixture *f = *state;
    set_view(f->service);
    assert_int_equal(get("/livez"), 200);
    assert_string_equal(http_body(answer), "ok\n");
    assert_int_equal(get("/readyz"), 503);
    has("[-] start: loading parameters, since 61.2 s\n");
    has("[+] winning-post\n"); /* loaded first, served first */
    has("[-] porep-c2\n");
    has("readyz: failed\n");
    assert_int_equal(get("/startupz"), 503);
    has("[+] starting the engine ok: 1.234 s\n");
    has("[-] start: loading parameters, since 61.2 s\n");
    loading = false;
    proving_ready(f->proving, true);
    assert_int_equal(get("/startupz"), 200);
    assert_string_equal(http_body(answer), "ok\n");
    assert_int_equal(get("/startupz?verbose"), 200);
    has("[+] loading parameters ok: 61.250 s\n[+] start ok\nstartupz: ok\n");
    assert_int_equal(get("/readyz"), 200);
    assert_string_equal(http_body(answer), "ok\n");
    assert_int_equal(get("/readyz?verbose"), 200);
    has("[+] engine ok\n[+] start ok\n[+] device 0 (CPU) ok\n[+] porep-c2\n[-] snap-update\n");
    proving_drain(f->proving);
    assert_int_equal(get("/readyz"), 503);
    has("[-] drain: ");
    assert_int_equal(get("/livez"), 200);
    assert_int_equal(get("/startupz"), 200);
}

static void ap_16_stuck_or_lost(void **state)
{
    struct fixture *f = *state;
    set_view(f->service);
    proving_ready(f->proving, true);
    pthread_mutex_lock(&f->service->lock);
    f->service->view.devices_count = 2;
    f->service->view.devices[1] = (struct service_device_view){.name = "Card", .state = DEVICE_LOST};
    pthread_mutex_unlock(&f->service->lock);
    assert_int_equal(get("/readyz"), 200); /* one of two */
    assert_int_equal(get("/readyz?verbose"), 200);
    has("[-] device 1 (Card): lost\n");
    pthread_mutex_lock(&f->service->lock);
    f->service->view.devices[0].state = DEVICE_LOST;
    pthread_mutex_unlock(&f->service->lock);
    assert_int_equal(get("/readyz"), 503);
    has("[-] devices: every one is lost\n");
    assert_int_equal(get("/livez"), 200); /* a restart may not help, and it is not stuck */
    pthread_mutex_lock(&f->service->lock);
    f->service->silence_ms = 12345;
    pthread_mutex_unlock(&f->service->lock);
    assert_int_equal(get("/livez"), 503);
    has("[-] engine: its loop has not gone round for 12 s\nlivez: failed\n");
    assert_int_equal(get("/readyz"), 503);
    has("[-] engine: its loop");
}

/* Everything that a page needs is in it: no address of another host, nothing to fetch but /status. */
static void test_page(void **state)
{
    (void)state;
    assert_int_equal(get("/"), 200);
    has("Content-Type: text/html; charset=utf-8\r\n");
    has("Content-Security-Policy: default-src 'none';");
    const char *body = http_body(answer);
    assert_non_null(strstr(body, "/status"));
    static const char *const absent[] = {"http://", "https://", "//cdn", " src=", "@import", "url("};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_null(strstr(body, absent[i]));
}

#define SITE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SITE_TEST(ap_12_status),        SITE_TEST(ap_14_metrics), SITE_TEST(st_06_probes_through_a_life),
        SITE_TEST(ap_16_stuck_or_lost), SITE_TEST(test_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
