/* cuzk params check, apart from the command's options. */
#ifndef CUZK_CMD_CUZK_PARAMS_H
#define CUZK_CMD_CUZK_PARAMS_H

#include "cmd/cuzk/commands.h"

struct params_check {
    const char *dir;
    const char *kinds, *sizes; /* lists with commas; NULL: all */
    bool subgroup, json;
    uint64_t threads;
};
int params_check_run(const struct params_check *check);

#endif
