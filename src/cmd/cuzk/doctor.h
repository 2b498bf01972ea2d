/* cuzk doctor: each check adds lines; the command shows them. */
#ifndef CUZK_CMD_CUZK_DOCTOR_H
#define CUZK_CMD_CUZK_DOCTOR_H

#include "base/status.h"
#include "cmd/daemon/config.h"

enum verdict { VERDICT_OK, VERDICT_WARN, VERDICT_FAIL, VERDICTS };

#define FINDINGS_MAX 128
struct finding {
    const char *check; /* a name that does not change: "memory", "socket" */
    enum verdict verdict;
    char text[512], remedy[256]; /* remedy: empty where the verdict is ok */
};

struct doctor {
    const char *root; /* before /proc, /sys and /dev; "" is the machine itself */
    bool digests;     /* hash what has not been hashed, however long it takes */
    struct config config;
    struct finding findings[FINDINGS_MAX];
    size_t count;
};

/* remedy NULL where the verdict is ok. */
void doctor_say(struct doctor *d, const char *check, enum verdict verdict, const char *remedy,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

/* ---- doctor_machine.c: what the machine has, by root ---- */
void doctor_memory(struct doctor *d);
void doctor_limits(struct doctor *d);
void doctor_card(struct doctor *d);
void doctor_clock(struct doctor *d);
/* ---- doctor_files.c: what the configuration names ---- */
void doctor_parameters(struct doctor *d);
void doctor_socket(struct doctor *d);
void doctor_disk(struct doctor *d);
void doctor_journal(struct doctor *d);
/* ---- doctor_plan.c: what the daemon would say; config: its file, or NULL ---- */
void doctor_plan(struct doctor *d, const char *config);

#endif
