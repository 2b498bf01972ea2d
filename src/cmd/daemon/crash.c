/* See crash.h. */
#include "cmd/daemon/crash.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define EVENTS     16
#define EVENT_MAX  256
#define FRAMES_MAX 24

static const struct {
    int number;
    const char *name;
} SIGNALS[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}};
#define SIGNALS_COUNT (sizeof SIGNALS / sizeof SIGNALS[0])

static struct {
    const char *version;
    void (*also)(void);
    char build_id[2 * 32 + 1];
    char record[512];
    int log;
    bool json;
    int pipe[2]; /* to read memory that may not be there */
    atomic_bool crashed;
    atomic_uint events_count;
    struct event {
        struct timespec time;
        int level;
        char text[EVENT_MAX];
    } events[EVENTS];
} crash = {.log = -1, .build_id = "none", .pipe = {-1, -1}};

/* ---- before ---- */

void crash_event(int level, const char *text)
{
    unsigned n = atomic_load(&crash.events_count);
    struct event *e = &crash.events[n % EVENTS];
    clock_gettime(CLOCK_REALTIME, &e->time);
    e->level = level;
    size_t length = strnlen(text, EVENT_MAX - 1);
    memcpy(e->text, text, length);
    e->text[length] = 0;
    atomic_store(&crash.events_count, n + 1);
}

void crash_log(int descriptor, bool json)
{
    crash.log = descriptor;
    crash.json = json;
}

void crash_record(const char *path)
{
    snprintf(crash.record, sizeof crash.record, "%s", path);
}

const char *crash_build_id(void)
{
    return crash.build_id;
}

extern const char __ehdr_start[], _end[]; /* the linker's: where this program begins and ends in memory */

static void read_note(const uint8_t *at, size_t size)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, at, sizeof note);
        size_t name = (note.n_namesz + 3u) & ~(size_t)3, value = (note.n_descsz + 3u) & ~(size_t)3;
        if (sizeof note + name + value > size)
            return;
        const uint8_t *id = at + sizeof note + name;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz <= 32) {
            for (size_t i = 0; i < note.n_descsz; i++)
                snprintf(crash.build_id + 2 * i, 3, "%02x", id[i]);
            return;
        }
        at += sizeof note + name + value;
        size -= sizeof note + name + value;
    }
}

static void find_build_id(void)
{
    const uint8_t *base = (const uint8_t *)__ehdr_start;
    ElfW(Ehdr) head;
    memcpy(&head, base, sizeof head);
    for (unsigned i = 0; i < head.e_phnum; i++) {
        ElfW(Phdr) segment;
        memcpy(&segment, base + head.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_NOTE && strcmp(crash.build_id, "none") == 0)
            read_note(base + segment.p_vaddr - (head.e_type == ET_EXEC ? (uintptr_t)base : 0),
                      segment.p_filesz);
    }
}

/* ---- a line, without the library's help ---- */

struct line {
    size_t used;
    char text[1024];
};

static void put(struct line *l, const char *text)
{
    while (*text != 0 && l->used < sizeof l->text - 4) {
        char c = *text++;
        if ((unsigned char)c < 0x20)
            c = ' ';
        else if (crash.json && (c == '"' || c == '\\'))
            c = '\'';
        l->text[l->used++] = c;
    }
}

static void put_raw(struct line *l, const char *text)
{
    while (*text != 0 && l->used < sizeof l->text - 1)
        l->text[l->used++] = *text++;
}

static void put_number(struct line *l, uint64_t n, unsigned base, int width)
{
    char digits[24];
    int i = sizeof digits;
    digits[--i] = 0;
    do {
        digits[--i] = "0123456789abcdef"[n % base];
        n /= base;
    } while (n > 0 || (int)sizeof digits - 1 - i < width);
    put(l, digits + i);
}

static bool leap(unsigned year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* As the log writes it. gmtime_r() is not among what a handler may call. */
static void put_time(struct line *l, const struct timespec *t)
{
    static const unsigned lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    uint64_t seconds = (uint64_t)t->tv_sec, days = seconds / 86400;
    unsigned year = 1970, month = 0;
    for (unsigned length; days >= (length = leap(year) ? 366 : 365); year++)
        days -= length;
    for (unsigned length; days >= (length = lengths[month] + (month == 1 && leap(year) ? 1 : 0)); month++)
        days -= length;
    const uint64_t parts[] = {year,        month + 1, days + 1, seconds / 3600 % 24, seconds / 60 % 60,
                              seconds % 60};
    static const char *const after[] = {"-", "-", "T", ":", ":", "."};
    for (int i = 0; i < 6; i++) {
        put_number(l, parts[i], 10, i == 0 ? 4 : 2);
        put(l, after[i]);
    }
    put_number(l, (uint64_t)t->tv_nsec / 1000000, 10, 3);
    put(l, "Z");
}

static void begin(struct line *l, const struct timespec *time)
{
    l->used = 0;
    if (crash.json)
        put_raw(l, "{\"time\":\"");
    put_time(l, time);
    put_raw(l, crash.json ? "\",\"level\":\"error\",\"message\":\"" : " error ");
}

static void write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        text += n;
        size -= (size_t)n;
    }
}

/* Once to each file among standard error, standard output and the log. */
static void end(struct line *l)
{
    const int files[] = {STDERR_FILENO, STDOUT_FILENO, crash.log};
    struct stat seen[3];
    put_raw(l, crash.json ? "\"}\n" : "\n");
    for (int i = 0; i < 3; i++) {
        bool again = files[i] < 0 || fstat(files[i], &seen[i]) != 0;
        if (again)
            seen[i] = (struct stat){.st_ino = 0};
        for (int k = 0; k < i && !again; k++)
            again = seen[k].st_ino == seen[i].st_ino && seen[k].st_dev == seen[i].st_dev;
        if (!again)
            write_all(files[i], l->text, l->used);
    }
}

/* ---- where ---- */

/* Two words at an address, if they are there: the kernel looks, so that a wrong one is no second fault. */
static bool read_words(uintptr_t at, uintptr_t words[2])
{
    const void *from = (const void *)at;
    return at % sizeof(uintptr_t) == 0 &&
           write(crash.pipe[1], from, 2 * sizeof words[0]) == 2 * sizeof words[0] &&
           read(crash.pipe[0], words, 2 * sizeof words[0]) == 2 * sizeof words[0];
}

/* Offsets into this program, for addr2line; others as they are. */
static void put_address(struct line *l, uintptr_t pc)
{
    uintptr_t base = (uintptr_t)__ehdr_start, behind = (uintptr_t)_end;
    bool ours = pc >= base && pc < behind;
    put(l, ours ? " +0x" : " 0x");
    put_number(l, ours ? pc - base : pc, 16, 1);
}

/* The chain of frames: all of this program is compiled with frame pointers. */
static void put_frames(struct line *l, const ucontext_t *context)
{
#if defined(__x86_64__)
    uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP],
              frame = (uintptr_t)context->uc_mcontext.gregs[REG_RBP];
#elif defined(__aarch64__)
    uintptr_t pc = context->uc_mcontext.pc, frame = context->uc_mcontext.regs[29];
#else
    uintptr_t pc = 0, frame = 0;
    (void)context;
#endif
    uintptr_t words[2];
    put_address(l, pc);
    for (int i = 0; i < FRAMES_MAX && read_words(frame, words); i++) {
        if (words[1] == 0)
            return;
        put_address(l, words[1]);
        if (words[0] <= frame) /* stacks grow downwards: callers lie above */
            return;
        frame = words[0];
    }
}

/* ---- the handler ---- */

static const char *name_of(int number)
{
    for (size_t i = 0; i < SIGNALS_COUNT; i++)
        if (SIGNALS[i].number == number)
            return SIGNALS[i].name;
    return "?";
}

static void write_record(int number)
{
    struct line l = {.used = 0};
    int fd = crash.record[0] != 0 ? open(crash.record, O_WRONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    put(&l, "crashed: signal ");
    put_number(&l, (uint64_t)number, 10, 1);
    put(&l, " (");
    put(&l, name_of(number));
    put(&l, "), build ");
    put(&l, crash.build_id);
    put_raw(&l, "\n");
    if (lseek(fd, -1, SEEK_END) > 0) /* over the end of the line "ending " */
        write_all(fd, l.text, l.used);
    close(fd);
}

static void say_crash(int number, const siginfo_t *info, const ucontext_t *context)
{
    static struct line l;
    struct timespec time;
    char thread[17] = "";
    clock_gettime(CLOCK_REALTIME, &time);
    (void)prctl(PR_GET_NAME, thread);
    begin(&l, &time);
    put(&l, "cuzk-daemon ");
    put(&l, crash.version);
    put(&l, " crashed: signal ");
    put_number(&l, (uint64_t)number, 10, 1);
    put(&l, " (");
    put(&l, name_of(number));
    put(&l, ")");
    if (info->si_code > 0 && (number == SIGSEGV || number == SIGBUS)) {
        put(&l, " at address 0x");
        put_number(&l, (uintptr_t)info->si_addr, 16, 1);
    } else if (info->si_code <= 0 && info->si_pid != 0 && info->si_pid != getpid()) {
        put(&l, " sent by process ");
        put_number(&l, (uint64_t)info->si_pid, 10, 1);
    }
    put(&l, ", thread ");
    put(&l, thread);
    put(&l, ", build ");
    put(&l, crash.build_id);
    put(&l, ", stack");
    put_frames(&l, context);
    end(&l);
}

static void say_events(void)
{
    static struct line l;
    unsigned n = atomic_load(&crash.events_count);
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    for (unsigned i = n > EVENTS ? n - EVENTS : 0; i < n; i++) {
        const struct event *e = &crash.events[i % EVENTS];
        begin(&l, &time);
        put(&l, "before the crash: ");
        put_time(&l, &e->time);
        put(&l, " ");
        put(&l, e->text);
        end(&l);
    }
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    if (atomic_exchange(&crash.crashed, true)) /* one tells it; this thread waits for the end */
        for (;;)
            pause();
    say_crash(number, info, context);
    say_events();
    write_record(number);
    if (crash.also != NULL)
        crash.also();
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t unblock;
    sigemptyset(&unblock);
    sigaddset(&unblock, number);
    sigaction(number, &standard, NULL);
    sigprocmask(SIG_UNBLOCK, &unblock, NULL);
    raise(number);
    _exit(128 + number); /* not reached */
}

void crash_watch(const char *version, void (*also)(void))
{
    static char stack[65536]; /* of the main thread, in case its own is at its end */
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    crash.version = version;
    crash.also = also;
    find_build_id();
    if (pipe2(crash.pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        crash.pipe[0] = crash.pipe[1] = -1; /* then there is one frame */
    (void)sigaltstack(&other, NULL);
    for (size_t i = 0; i < SIGNALS_COUNT; i++) {
        struct sigaction old, new = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigemptyset(&new.sa_mask);
        if (sigaction(SIGNALS[i].number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(SIGNALS[i].number, &new, NULL);
    }
}
