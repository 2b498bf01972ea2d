/* Secure randomness from the kernel. Blinding values come from here, so there is no fallback: a kernel that
 * cannot give random bytes ends the operation with an error. */
#include "base/random.h"
#include <errno.h>
#include <string.h>
#include <sys/random.h>

struct status random_bytes(uint8_t *out, size_t size)
{
    while (size > 0) {
        ssize_t got = getrandom(out, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return status_hint(status_error(STATUS_IO, "cannot get %zu random bytes from the kernel: %s",
                                            size, strerror(errno)),
                               "the getrandom system call must be allowed");
        out += got;
        size -= (size_t)got;
    }
    return status_ok();
}
