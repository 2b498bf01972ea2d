/* Between the parts of cuzk inspect. */
#ifndef CUZK_CMD_CUZK_INSPECT_H
#define CUZK_CMD_CUZK_INSPECT_H

#include "cmd/cuzk/commands.h"

#include "base/pool.h"

struct inspect {
    const char *what, *path;
    bool subgroup, json;
    struct pool *pool;
    struct work work;
};
/* Reports the error; returns the exit code. */
int inspect_failed(const struct inspect *in, const struct status *s);
int inspect_vanilla(const struct inspect *in);

#endif
