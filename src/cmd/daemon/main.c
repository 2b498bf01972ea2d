/* cuzk-daemon: from nothing to ready, and back to nothing, with a line for each phase. A failure on the way
 * says in one line what, why and what to do, on standard error, standard output and in the log file, and the
 * exit code tells its kind: 2 wrong use or configuration, 3 could not become ready, 1 failed while running.
 */
#include "cmd/daemon/crash.h"
#include "cmd/daemon/daemon.h"
#include "cmd/daemon/outside.h"

#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cuzk/cuzk.h"

struct flags {
    const char *config, *listen, *log_level, *log_file;
    bool check, show_config;
};

static void help(FILE *out)
{
    fputs("cuzk-daemon: proves Filecoin sectors over gRPC\n\n"
          "usage: cuzk-daemon [-c FILE] [-l ADDR] [--log-level LEVEL] [--log-file FILE] [--check] "
          "[--show-config]\n\n"
          "  -c, --config FILE      configuration (default: /etc/cuzk/cuzk.toml, then /data/zk/cuzk.toml)\n"
          "  -l, --listen ADDR      unix:///path or host:port\n"
          "      --log-level LEVEL  error, warn, info or debug\n"
          "      --log-file FILE    \"\" for none\n"
          "      --check            check configuration and memory plan, then end\n"
          "      --show-config      print the configuration in force, then end\n"
          "      --version          print the version\n",
          out);
}

/* -1: go on; else the exit code. */
static int parse_flags(struct flags *f, int argc, char **argv)
{
    enum { LEVEL = 256, FILE_FLAG, CHECK_FLAG, SHOW, VERSION };
    static const struct option options[] = {{"config", required_argument, NULL, 'c'},
                                            {"listen", required_argument, NULL, 'l'},
                                            {"log-level", required_argument, NULL, LEVEL},
                                            {"log-file", required_argument, NULL, FILE_FLAG},
                                            {"check", no_argument, NULL, CHECK_FLAG},
                                            {"show-config", no_argument, NULL, SHOW},
                                            {"version", no_argument, NULL, VERSION},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "c:l:h", options, NULL)) != -1;) {
        if (c == 'c') {
            f->config = optarg;
        } else if (c == 'l') {
            f->listen = optarg;
        } else if (c == LEVEL) {
            f->log_level = optarg;
        } else if (c == FILE_FLAG) {
            f->log_file = optarg;
        } else if (c == CHECK_FLAG) {
            f->check = true;
        } else if (c == SHOW) {
            f->show_config = true;
        } else if (c == VERSION) {
            printf("cuzk-daemon %s\n", cuzk_version());
            return 0;
        } else if (c == 'h') {
            help(stdout);
            return 0;
        } else {
            return 2; /* getopt has said what is wrong */
        }
    }
    if (optind < argc) {
        fprintf(stderr, "error: unexpected argument \"%s\"\nhint: cuzk-daemon --help\n", argv[optind]);
        return 2;
    }
    return -1;
}

static struct status configure(struct config *c, const struct flags *f)
{
    config_defaults(c);
    TRY(config_load(c, f->config));
    TRY(config_environment(c));
    if (f->listen != NULL)
        TRY(config_set(c, "daemon.listen", f->listen, "--listen"));
    if (f->log_level != NULL)
        TRY(config_set(c, "logging.level", f->log_level, "--log-level"));
    if (f->log_file != NULL)
        TRY(config_set(c, "logging.file", f->log_file, "--log-file"));
    return config_check(c);
}

static enum log_level level_of(const char *name)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    for (int i = 0; i < 4; i++)
        if (strcmp(names[i], name) == 0)
            return (enum log_level)i;
    return LOG_INFO;
}

static int fail(struct daemon *d, const struct status *s, int code)
{
    log_fatal(d->log, s);
    outside_failed(d, s);
    daemon_phase(d, d->record.phase, s->message);
    return code;
}

/* Before the configuration counts: the line that must stand whatever comes. */
static void first_line(struct daemon *d, const struct status *configured)
{
    const char *file = d->config.file[0] != 0 ? d->config.file : "none (built-in values)";
    const char *log = d->config.logging.file[0] != 0 ? d->config.logging.file : "none";
    log_line(d->log, LOG_INFO, "cuzk-daemon %s starting, pid %d, config %s, log %s", cuzk_version(),
             (int)getpid(), file, status_failed(configured) ? "not yet known" : log);
}

static int run(struct daemon *d, const struct flags *f)
{
    struct status s = configure(&d->config, f);
    outside_begin(d);
    if (!status_failed(&s) && f->show_config) {
        config_show(&d->config, stdout);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    first_line(d, &s);
    if (status_failed(&s))
        return fail(d, &s, 2);
    log_set(d->log, level_of(d->config.logging.level), strcmp(d->config.logging.format, "json") == 0);
    log_line(d->log, LOG_INFO, "configuration loaded from %s",
             d->config.file[0] != 0 ? d->config.file : "built-in values");
    for (uint32_t i = 0; i < d->config.warnings_count; i++)
        log_line(d->log, LOG_WARN, "%s", d->config.warnings[i]);
    if (!f->check) {
        s = log_open_file(d->log, d->config.logging.file);
        if (!status_failed(&s))
            s = daemon_lock(d);
        if (status_failed(&s))
            return fail(d, &s, 3);
    }
    s = daemon_plan(d);
    if (status_failed(&s) || f->check)
        return status_failed(&s) ? fail(d, &s, 3) : 0;
    s = daemon_start(d);
    if (status_failed(&s)) {
        int code = fail(d, &s, 3);
        daemon_stop(d);
        return code;
    }
    return daemon_serve(d);
}

int main(int argc, char **argv)
{
    struct flags flags = {0};
    static struct daemon daemon;
    int code = parse_flags(&flags, argc, argv);
    if (code >= 0)
        return code;
    /* Blinding values pass through this process' memory. */
    struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_DUMPABLE, 0);
    /* What is freed goes back to the system, so that the process uses what the memory plan says. */
    (void)mallopt(M_ARENA_MAX, 2);
    (void)mallopt(M_MMAP_THRESHOLD, 128 << 10);
    (void)mallopt(M_TRIM_THRESHOLD, 256 << 10);
    signal(SIGPIPE, SIG_IGN);
    crash_watch(cuzk_version(), service_crashed); /* the journal is told that the process dies of itself */
    daemon_block_signals();                       /* before any thread exists */
    struct status s = log_start(&daemon.log);
    if (status_failed(&s)) {
        fprintf(stderr, "error: %s\n", s.message);
        return 3;
    }
    code = run(&daemon, &flags);
    daemon_finish(&daemon, code);
    outside_end(&daemon);
    log_end(daemon.log);
    config_end(&daemon.config);
    return code;
}
