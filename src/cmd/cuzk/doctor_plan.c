/* The memory plan, by the daemon itself: `cuzk-daemon --check` makes it from the same configuration on this
 * machine and starts nothing, so what is said here is what a start would say. */
#include "cmd/cuzk/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX 65536

/* The daemon beside this program, where it is installed, or wherever PATH has it. */
static void find_daemon(char out[512])
{
    static const char *const PLACES[] = {"cuzk-daemon", "../sbin/cuzk-daemon", "daemon/cuzk-daemon"};
    char self[256];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/');
    for (size_t i = 0; slash != NULL && i < sizeof PLACES / sizeof PLACES[0]; i++) {
        snprintf(out, 512, "%.*s/%s", (int)(slash - self), self, PLACES[i]);
        if (access(out, X_OK) == 0)
            return;
    }
    snprintf(out, 512, "cuzk-daemon");
}

static int check(char *out, size_t size, const char *daemon, const char *config)
{
    int ends[2], status = 0;
    size_t used = 0;
    if (pipe(ends) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        if (config != NULL)
            execlp(daemon, daemon, "--check", "-c", config, (char *)NULL);
        else
            execlp(daemon, daemon, "--check", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    for (ssize_t n = 1; n > 0 && used + 1 < size; used += n > 0 ? (size_t)n : 0)
        n = read(ends[0], out + used, size - 1 - used);
    out[used] = 0;
    close(ends[0]);
    if (pid < 0)
        return -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A line of the daemon's: "TIME level text". False if it is no such line. */
static bool split(char **level, char **text, char *line)
{
    char *space = strchr(line, ' ');
    if (space == NULL)
        return false;
    *level = space + 1;
    space = strchr(*level, ' ');
    if (space == NULL)
        return false;
    *space = 0;
    *text = space + 1 + strspn(space + 1, " ");
    return true;
}

void doctor_plan(struct doctor *d, const char *config)
{
    static char output[OUTPUT_MAX];
    char daemon[512], *rest = NULL, *level, *text;
    find_daemon(daemon);
    int code = check(output, sizeof output, daemon, config);
    bool said = false;
    for (char *line = strtok_r(output, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        if (!split(&level, &text, line))
            continue;
        bool plan = strncmp(text, "plan: ", 6) == 0 || strncmp(text, "memory plan", 11) == 0;
        if (strcmp(level, "error") == 0 && !said) {
            char *hint = strstr(text, "; hint: ");
            if (hint != NULL)
                *hint = 0;
            doctor_say(d, "plan", VERDICT_FAIL, hint != NULL ? hint + 8 : "see cuzk-daemon --check", "%s",
                       text);
            said = true;
        } else if (plan && strcmp(level, "warn") == 0) {
            doctor_say(d, "plan", VERDICT_WARN,
                       "fewer partition_workers, a greater budget, or another machine for it", "%s", text);
        } else if (plan && strcmp(level, "info") == 0) {
            doctor_say(d, "plan", VERDICT_OK, NULL, "%s", text);
        }
    }
    if (code != 0 && !said)
        doctor_say(d, "plan", VERDICT_FAIL, "install it, or put it into PATH",
                   "\"%.200s\" --check ended with exit code %d", daemon, code);
}
