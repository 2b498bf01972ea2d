/* cuzk-bench sweep: the same batch under every combination of settings, each with a daemon of its own: what
 * an operator does by hand with an editor and a stop watch. It can be stopped at any time and continued;
 * nothing of it touches the installed configuration. */
#include "cmd/bench/sweep.h"

#include "cmd/daemon/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READY_MS  UINT64_C(1800000)
#define SETTLE_MS UINT64_C(60000)

struct options {
    struct arg_list sets;
    const char *file, *partition_workers, *gpu_workers, *config, *memory_limit, *ready_timeout, *settle;
    bool carry_on;
};

/* The daemon beside this program, where it is installed, or wherever PATH has it. */
static const char *find_daemon(struct sweep *s)
{
    static const char *const PLACES[] = {"cuzk-daemon", "../sbin/cuzk-daemon", "../daemon/cuzk-daemon"};
    char self[256];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/');
    for (size_t i = 0; slash != NULL && i < sizeof PLACES / sizeof PLACES[0]; i++) {
        snprintf(s->daemon_found, sizeof s->daemon_found, "%.*s/%s", (int)(slash - self), self, PLACES[i]);
        if (access(s->daemon_found, X_OK) == 0)
            return s->daemon_found;
    }
    return "cuzk-daemon";
}

/* What the installed daemon would use, under an address and folders of the sweep's own. */
static struct status make_base(struct sweep *s, const char *config)
{
    char text[CONFIG_TEXT_MAX];
    config_defaults(&s->base);
    TRY(config_load(&s->base, config));
    TRY(config_environment(&s->base));
    if (strlen(s->folder) < 90)
        snprintf(text, sizeof text, "unix://%s/socket", s->folder);
    else /* a socket's path is short */
        snprintf(text, sizeof text, "unix:///tmp/cuzk-sweep-%d.socket", (int)getpid());
    TRY(config_set(&s->base, "daemon.listen", text, "the sweep"));
    TRY(config_set(&s->base, "daemon.status_listen", "", "the sweep"));
    snprintf(text, sizeof text, "%.480s/state", s->folder);
    TRY(config_set(&s->base, "daemon.state_dir", text, "the sweep"));
    return config_set(&s->base, "journal.path", "", "the sweep");
}

/* The base has the environment in it; the daemons are to follow their files alone. */
static void clear_environment(void)
{
    extern char **environ;
    char name[128];
    for (char **e = environ; *e != NULL;) {
        size_t length = strcspn(*e, "=");
        if (strncmp(*e, "CUZK_", 5) == 0 && length < sizeof name) {
            memcpy(name, *e, length);
            name[length] = 0;
            unsetenv(name);
            e = environ;
        } else {
            e++;
        }
    }
}

static struct status add_shortcut(struct sweep *s, const char *key, const char *values)
{
    char text[1024];
    if (values == NULL)
        return status_ok();
    snprintf(text, sizeof text, "%s=%.900s", key, values);
    return sweep_add(s, text);
}

static struct status make_plan(struct sweep *s, const struct options *o)
{
    TRY(make_base(s, o->config));
    TRY(add_shortcut(s, "synthesis.partition_workers", o->partition_workers));
    TRY(add_shortcut(s, "gpus.gpu_workers_per_device", o->gpu_workers));
    for (size_t i = 0; i < o->sets.count; i++)
        TRY(sweep_add(s, o->sets.items[i]));
    if (o->file != NULL)
        TRY(sweep_add_file(s, o->file));
    return sweep_combine(s);
}

static struct status make_folder(struct sweep *s, const struct options *o)
{
    if (mkdir(s->folder, 0755) != 0 && errno != EEXIST)
        return status_error(STATUS_IO, "cannot make \"%.200s\": %s", s->folder, strerror(errno));
    struct status status = sweep_recall(s);
    if (status.code == STATUS_MISSING)
        return status_ok();
    TRY(status);
    if (!o->carry_on)
        return status_hint(
            status_error(STATUS_INVALID, "\"%.200s\" has results of an earlier sweep", s->folder),
            "--continue goes on with it; another --out begins anew");
    return status_ok();
}

static void recommend(const struct sweep *s)
{
    const struct sweep_run *best = sweep_best(s);
    if (best == NULL) {
        puts("no run can be recommended");
        return;
    }
    fputs("recommended:", stdout);
    for (size_t k = 0; k < s->keys_count; k++)
        printf(" %s = %s", s->keys[k].name, sweep_value(s, best, k));
    printf(" (%.3f s/proof, %.3f GiB", best->per_proof, (double)best->peak_bytes / 0x1p30);
    if (s->memory_limit != 0)
        printf(" of %.3f GiB", (double)s->memory_limit / 0x1p30);
    printf(")\n%s/results.csv, results.json, plot.svg\n", s->folder);
}

static int run_all(struct sweep *s)
{
    struct machine_memory before;
    machine_memory(&before, "");
    bool going = true;
    size_t done = 0;
    sweep_catch_interrupts();
    if (!s->json)
        sweep_table_head(s);
    for (size_t i = 0; i < s->runs_count && going; i++) {
        if (s->runs[i].outcome == SWEEP_NOT_YET) {
            going = sweep_settle(s, before.available) && sweep_do(s, i);
            struct status status = sweep_write(s);
            if (status_failed(&status))
                return report_status(&status, s->json);
        }
        if (!s->json && s->runs[i].outcome != SWEEP_NOT_YET)
            sweep_table_row(s, &s->runs[i]);
        done += s->runs[i].outcome == SWEEP_DONE;
    }
    struct status status = sweep_write(s);
    if (status_failed(&status))
        return report_status(&status, s->json);
    if (s->json)
        sweep_json(s, stdout);
    else if (going)
        recommend(s);
    if (!going)
        fprintf(stderr, "stopped; the same command with --continue goes on\n");
    return fflush(stdout) == 0 && going && done > 0 ? EXIT_DONE : EXIT_FAILED;
}

/* Options of sweep itself that are no plan. */
static int check_options(struct sweep *s, const struct options *o)
{
    s->ready_ms = READY_MS;
    s->settle_ms = SETTLE_MS;
    if (o->memory_limit != NULL && (!parse_bytes(&s->memory_limit, o->memory_limit) || s->memory_limit == 0))
        return usage_error(NULL, "--memory-limit wants a size such as 400GiB, not \"%s\"", o->memory_limit);
    if (o->ready_timeout != NULL && (!parse_duration_ms(&s->ready_ms, o->ready_timeout) || s->ready_ms == 0))
        return usage_error(NULL, "--ready-timeout wants a duration such as 10m, not \"%s\"",
                           o->ready_timeout);
    if (o->settle != NULL && !parse_duration_ms(&s->settle_ms, o->settle))
        return usage_error(NULL, "--settle wants a duration such as 60s, not \"%s\"", o->settle);
    if (s->folder == NULL || s->folder[0] != '/' || strlen(s->folder) > 400)
        return usage_error(NULL, "--out wants a folder with its whole path, from / on");
    if (s->batch == NULL || s->batch[0] == NULL)
        return usage_error("cuzk-bench sweep ... -- -t porep --c1 FILE -c 10 -j 4",
                           "what is measured must follow --, as options of cuzk-bench batch");
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    static struct sweep s;
    static struct options o;
    const struct arg args[] = {
        {"--partition-workers", ARG_TEXT, &o.partition_workers, NULL, "N,N,...",
         "values of synthesis.partition_workers", false},
        {"--gpu-workers", ARG_TEXT, &o.gpu_workers, NULL, "N,N,...", "values of gpus.gpu_workers_per_device",
         false},
        {"--set", ARG_LIST, &o.sets, NULL, "KEY=V,V,...",
         "values of any key of cuzk.toml(5); may be repeated", false},
        {"--sweep", ARG_TEXT, &o.file, NULL, "FILE", "TOML with lists of values in place of values", false},
        {"--config", ARG_TEXT, &o.config, NULL, "FILE",
         "the configuration that is varied; by default the file that the daemon would use", false},
        {"--daemon", ARG_TEXT, &s.daemon, NULL, "PROGRAM",
         "cuzk-daemon; by default the one beside this program", false},
        {"--out", ARG_TEXT, &s.folder, NULL, "DIR", "where configurations, logs and results go", true},
        {"--continue", ARG_FLAG, &o.carry_on, NULL, NULL, "go on with the sweep in DIR", false},
        {"--memory-limit", ARG_TEXT, &o.memory_limit, NULL, "SIZE", "recommend only what stays below it",
         false},
        {"--ready-timeout", ARG_TEXT, &o.ready_timeout, NULL, "T", "for each start; by default 30m", false},
        {"--settle", ARG_TEXT, &o.settle, NULL, "T",
         "wait so long at most for memory to be free again; by default 60s", false},
        {"--json", ARG_FLAG, &s.json, NULL, NULL, "result as JSON", false},
    };
    int exit_code, count = 0;
    while (count < argc && strcmp(argv[count], "--") != 0)
        count++;
    if (!args_parse(&COMMAND_SWEEP, args, sizeof args / sizeof args[0], count, argv, NULL, 0, &exit_code))
        return exit_code;
    s.batch = count < argc ? argv + count + 1 : NULL;
    exit_code = check_options(&s, &o);
    if (exit_code != EXIT_DONE)
        return exit_code;
    if (s.daemon == NULL)
        s.daemon = find_daemon(&s);
    struct status status = make_plan(&s, &o);
    if (!status_failed(&status))
        status = make_folder(&s, &o);
    if (!status_failed(&status))
        status = sweep_alone();
    clear_environment();
    exit_code = status_failed(&status) ? report_status(&status, s.json) : run_all(&s);
    config_end(&s.base);
    return exit_code;
}

const struct command COMMAND_SWEEP = {
    "sweep", "measure a batch under every combination of settings",
    "--out DIR [--partition-workers N,N] [--set KEY=V,V] [--continue] ... -- BATCH OPTIONS", run};
