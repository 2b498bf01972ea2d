/* cuzk doctor: what would make a launch of the daemon fail, or slow, before it does. It reads the daemon's
 * own configuration with the daemon's own code, and changes nothing. */
#include "cmd/cuzk/commands.h"
#include "cmd/cuzk/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const VERDICT_NAME[VERDICTS] = {"ok", "warn", "fail"};

void doctor_say(struct doctor *d, const char *check, enum verdict verdict, const char *remedy,
                const char *format, ...)
{
    va_list list;
    if (d->count == FINDINGS_MAX)
        return;
    struct finding *f = &d->findings[d->count++];
    f->check = check;
    f->verdict = verdict;
    snprintf(f->remedy, sizeof f->remedy, "%s", remedy != NULL ? remedy : "");
    va_start(list, format);
    vsnprintf(f->text, sizeof f->text, format, list);
    va_end(list);
}

static void configuration(struct doctor *d, const char *path)
{
    config_defaults(&d->config);
    struct status s = config_load(&d->config, path);
    if (!status_failed(&s))
        s = config_environment(&d->config);
    if (!status_failed(&s))
        s = config_check(&d->config);
    if (status_failed(&s))
        doctor_say(d, "configuration", VERDICT_FAIL, s.hint[0] != 0 ? s.hint : "correct it: cuzk.toml(5)",
                   "%s", s.message);
    else
        doctor_say(d, "configuration", VERDICT_OK, NULL, "%s",
                   d->config.file[0] != 0 ? d->config.file : "none: built-in values");
    for (uint32_t i = 0; i < d->config.warnings_count; i++)
        doctor_say(d, "configuration", VERDICT_WARN, "take the key out", "%s", d->config.warnings[i]);
}

static void show_json(const struct doctor *d, const size_t counts[VERDICTS])
{
    fputs("{\"checks\":[", stdout);
    for (size_t i = 0; i < d->count; i++) {
        const struct finding *f = &d->findings[i];
        printf("%s{\"check\":\"%s\",\"verdict\":\"%s\",\"text\":", i > 0 ? "," : "", f->check,
               VERDICT_NAME[f->verdict]);
        print_json_string(f->text);
        fputs(",\"remedy\":", stdout);
        print_json_string(f->remedy);
        fputs("}", stdout);
    }
    printf("],\"ok\":%zu,\"warn\":%zu,\"fail\":%zu}\n", counts[VERDICT_OK], counts[VERDICT_WARN],
           counts[VERDICT_FAIL]);
}

static void show_text(const struct doctor *d, const size_t counts[VERDICTS])
{
    for (size_t i = 0; i < d->count; i++) {
        const struct finding *f = &d->findings[i];
        printf("%-4s  %-13s  %s\n", VERDICT_NAME[f->verdict], f->check, f->text);
        if (f->remedy[0] != 0)
            printf("                     -> %s\n", f->remedy);
    }
    printf("%zu ok, %zu warn, %zu fail\n", counts[VERDICT_OK], counts[VERDICT_WARN], counts[VERDICT_FAIL]);
}

static int run(int argc, char **argv)
{
    static struct doctor d = {.root = ""};
    const char *path = NULL;
    bool json = false, plan = false;
    const struct arg args[] = {
        {"--config", ARG_TEXT, &path, NULL, "FILE",
         "the daemon's configuration; by default the file that it would use", false},
        {"-c", ARG_ALIAS, "--config", NULL, NULL, NULL, false},
        {"--digests", ARG_FLAG, &d.digests, NULL, NULL,
         "hash parameter files of more than 256 MiB too, if that was not done before (a minute for 47 GB)",
         false},
        {"--plan", ARG_FLAG, &plan, NULL, NULL, "the memory plan too, as cuzk-daemon --check makes it",
         false},
        {"--root", ARG_TEXT, &d.root, NULL, "DIR",
         "read DIR/proc, DIR/sys and DIR/dev instead of this machine's", false},
        {"--json", ARG_FLAG, &json, NULL, NULL, "result as JSON", false},
    };
    int exit_code;
    if (!args_parse(&COMMAND_DOCTOR, args, sizeof args / sizeof args[0], argc, argv, NULL, 0, &exit_code))
        return exit_code;
    configuration(&d, path);
    doctor_memory(&d);
    doctor_limits(&d);
    doctor_card(&d);
    doctor_parameters(&d);
    doctor_socket(&d);
    doctor_disk(&d);
    doctor_journal(&d);
    doctor_clock(&d);
    if (plan)
        doctor_plan(&d, path);
    size_t counts[VERDICTS] = {0};
    for (size_t i = 0; i < d.count; i++)
        counts[d.findings[i].verdict]++;
    (json ? show_json : show_text)(&d, counts);
    config_end(&d.config);
    return fflush(stdout) != 0 || counts[VERDICT_FAIL] > 0 ? EXIT_FAILED : EXIT_DONE;
}

const struct command COMMAND_DOCTOR = {"doctor",
                                       "what would make a launch of cuzk-daemon fail, and the remedy",
                                       "[--config FILE] [--digests] [--plan] [--json]", run};
