/* See sampler.h. */
#include "cmd/bench/sampler.h"

#include "cmd/daemon/machine.h"

#include <stdio.h>
#include <string.h>

void sampler_start(struct sampler *sampler, pid_t pid)
{
    memset(sampler, 0, sizeof *sampler);
    if (pid > 0)
        snprintf(sampler->pid, sizeof sampler->pid, "%d", (int)pid);
    sampler_take(sampler);
}

void sampler_take(struct sampler *sampler)
{
    if (sampler->pid[0] == 0)
        return;
    process_memory(&sampler->used, &sampler->resident, sampler->pid);
    if (sampler->used > sampler->peak_used)
        sampler->peak_used = sampler->used;
    if (sampler->resident > sampler->peak_resident)
        sampler->peak_resident = sampler->resident;
}
