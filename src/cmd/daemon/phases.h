/* The phases of a start, with their times: for the log (a line when each is over), /startupz and systemd. */
#ifndef CUZK_CMD_DAEMON_PHASES_H
#define CUZK_CMD_DAEMON_PHASES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PHASES_MAX 16

struct phases {
    pthread_mutex_t lock; /* all below; phases are begun by the main thread, looked at by others */
    uint32_t count;
    struct phase {
        char name[64];
        uint64_t began_ms, ended_ms; /* monotonic; ended 0: it goes on */
    } list[PHASES_MAX];
};

uint64_t monotonic_ms(void);

void phases_init(struct phases *p);
/* The phase that goes on ends: true, with its name and length, if there was one. name NULL: none begins.
 * Beyond PHASES_MAX the last one is written over. */
bool phases_begin(struct phases *p, const char *name, struct phase *ended);
/* A copy; how many. */
size_t phases_look(struct phases *p, struct phase out[PHASES_MAX]);

#endif
