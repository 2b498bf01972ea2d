/* See child.h. */
#include "cmd/bench/child.h"

#include "cmd/cuzk/args.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOADER_FAILED 127 /* what ld.so exits with */
#define LAST_WORDS    4096

static void open_console(struct child *child, const char *path)
{
    struct stat facts;
    child->console = path[0] == 0 ? -1 : open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    if (child->console >= 0)
        snprintf(child->console_path, sizeof child->console_path, "%s", path);
    else
        child->console = memfd_create("console", MFD_CLOEXEC);
    if (child->console >= 0 && fstat(child->console, &facts) == 0)
        child->console_start = facts.st_size;
}

/* In the new process. Errors of exec go back through the pipe, which closes itself when exec succeeds. */
static void become(char *const *words, int console, bool all, int failure)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setsid();
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(all && console >= 0 ? console : null, STDOUT_FILENO);
    dup2(console >= 0 ? console : null, STDERR_FILENO);
    if (null > STDERR_FILENO)
        close(null);
    execvp(words[0], words);
    int error = errno;
    ssize_t n = write(failure, &error, sizeof error);
    _exit(n == sizeof error ? LOADER_FAILED : LOADER_FAILED - 1);
}

struct status child_start(struct child *child, char *const *words, const char *console_path, bool all)
{
    int failure[2], error = 0;
    memset(child, 0, sizeof *child);
    child->program = words[0];
    if (pipe2(failure, O_CLOEXEC) != 0)
        return status_error(STATUS_IO, "cannot start %.150s: %s", words[0], strerror(errno));
    open_console(child, console_path);
    child->pid = fork();
    if (child->pid == 0)
        become(words, child->console, all, failure[1]);
    if (child->pid < 0)
        error = errno;
    close(failure[1]);
    if (child->pid > 0 && read(failure[0], &error, sizeof error) != sizeof error)
        error = 0;
    close(failure[0]);
    if (error == 0)
        return status_ok();
    if (child->pid > 0)
        waitpid(child->pid, &child->wait_status, 0);
    child->pid = 0;
    child_forget(child);
    return status_error(error == ENOENT ? STATUS_MISSING : STATUS_IO, "cannot start %.150s: %s", words[0],
                        strerror(error));
}

bool child_ended(struct child *child)
{
    if (child->pid > 0 && waitpid(child->pid, &child->wait_status, WNOHANG) == child->pid)
        child->pid = 0;
    return child->pid == 0;
}

/* The last line that is not empty, without time and level. */
static void last_words(char *out, size_t room, const struct child *child)
{
    static char text[LAST_WORDS + 1];
    struct stat facts;
    out[0] = 0;
    if (child->console < 0 || fstat(child->console, &facts) != 0)
        return;
    off_t from = facts.st_size > LAST_WORDS ? facts.st_size - LAST_WORDS : 0;
    if (from < child->console_start)
        from = child->console_start;
    ssize_t n = pread(child->console, text, LAST_WORDS, from);
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
        n--;
    if (n <= 0)
        return;
    text[n] = 0;
    char *line = strrchr(text, '\n');
    line = line == NULL ? text : line + 1;
    char *level = strstr(line, "Z error ");
    if (level != NULL && level - line < 40)
        line = level + strlen("Z error ");
    snprintf(out, room, "%.599s", line);
}

struct status child_story(const struct child *child, const char *phase)
{
    struct status s;
    char words[600], in_phase[96] = "";
    last_words(words, sizeof words, child);
    if (phase[0] != 0)
        snprintf(in_phase, sizeof in_phase, ", in phase %.80s", phase);
    const char *program = strrchr(child->program, '/');
    program = program == NULL ? child->program : program + 1;
    if (WIFSIGNALED(child->wait_status)) {
        int number = WTERMSIG(child->wait_status);
        s = status_error(STATUS_DEVICE, "%.60s was ended by signal %d (%s) before it was ready%s", program,
                         number, strsignal(number), in_phase);
        if (number == SIGKILL)
            s = status_hint(s, "the kernel's out-of-memory killer does this: see dmesg");
    } else if (WEXITSTATUS(child->wait_status) == LOADER_FAILED &&
               strstr(words, "shared libraries") != NULL) {
        s = status_hint(status_error(STATUS_MISSING, "the dynamic loader could not start %.60s", program),
                        "install the library that it names");
    } else {
        int code = WEXITSTATUS(child->wait_status);
        s = status_error(code == EXIT_USAGE ? STATUS_INVALID : STATUS_IO,
                         "%.60s ended before it was ready, exit code %d%s%s", program, code,
                         code == 2   ? " (wrong use or configuration)"
                         : code == 3 ? " (could not become ready)"
                                     : "",
                         in_phase);
    }
    /* The daemon's line carries its own hint. */
    char *hint = strstr(words, "; hint: ");
    if (hint != NULL) {
        *hint = 0;
        s = status_hint(s, "%s", hint + strlen("; hint: "));
    }
    if (words[0] != 0)
        s = status_detail(s, "%s", words);
    return s;
}

int child_exit_code(const struct child *child)
{
    int code = WIFEXITED(child->wait_status) ? WEXITSTATUS(child->wait_status) : EXIT_FAILED;
    return code == 0 ? EXIT_FAILED : code;
}

void child_stop(struct child *child)
{
    struct timespec tenth = {0, 100000000};
    if (!child_ended(child))
        kill(child->pid, SIGTERM);
    for (int i = 0; i < 100 && !child_ended(child); i++)
        nanosleep(&tenth, NULL);
    if (!child_ended(child)) {
        kill(child->pid, SIGKILL);
        waitpid(child->pid, &child->wait_status, 0);
        child->pid = 0;
    }
    child_forget(child);
}

void child_forget(struct child *child)
{
    if (child->console >= 0)
        close(child->console);
    child->console = -1;
}
