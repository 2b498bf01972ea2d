/* What the journal costs: accepting jobs (bytes and row, synced) and ending them (row, synced), one at a time
 * and in batches, beside the floor: the same bytes written to one file and synced once a batch.
 *
 *     journal_bench [FOLDER]      where the journal is made; the disk that is asked about. Default: /tmp */
#include "base/mem.h"
#include "engine/journal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BATCH_MAX 64

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(struct status s)
{
    if (!status_failed(&s))
        return;
    fprintf(stderr, "error: %s\n", s.message);
    exit(1);
}

static double floor_of(const char *folder, const uint8_t *bytes, size_t size, size_t count, int rounds)
{
    char path[512];
    snprintf(path, sizeof path, "%s/floor", folder);
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    double began = now();
    for (int r = 0; r < rounds; r++) {
        for (size_t i = 0; i < count; i++)
            if (write(fd, bytes, size) != (ssize_t)size)
                exit(1);
        if (fdatasync(fd) != 0)
            exit(1);
    }
    double seconds = now() - began;
    close(fd);
    unlink(path);
    return seconds / rounds;
}

static void measure(struct journal *j, const char *folder, const uint8_t *bytes, size_t size, size_t count,
                    int rounds)
{
    static struct journal_entry entries[BATCH_MAX];
    static char ids[BATCH_MAX][40];
    static uint8_t digest[64], proof[1920];
    struct bytes_view vanilla = {bytes, size};
    double accept = 0, end = 0;
    for (int r = 0; r < rounds; r++) {
        for (size_t i = 0; i < count; i++) {
            snprintf(ids[i], sizeof ids[i], "%zu-%zu-%d-%zu", size, count, r, i);
            entries[i] = (struct journal_entry){
                .id = ids[i],
                .request_id = "porep-1000-1",
                .circuit = "porep-32g",
                .digest = digest,
                .request = {.kind = PROOF_POREP, .vanilla = &vanilla, .vanilla_count = 1},
                .partitions = 10,
                .status = status_ok()};
        }
        double began = now();
        must(journal_write(j, entries, count));
        accept += now() - began;
        for (size_t i = 0; i < count; i++) {
            entries[i].state = JOURNAL_COMPLETED;
            entries[i].proof = proof;
            entries[i].proof_size = sizeof proof;
            entries[i].spooled = true;
        }
        began = now();
        must(journal_write(j, entries, count));
        end += now() - began;
    }
    double least = floor_of(folder, bytes, size, count, rounds);
    printf("%4zu jobs of %9zu bytes: accept %9.2f ms = %5.1f x floor (%9.2f ms), a job %7.2f ms; end %8.2f "
           "ms, a job %6.2f ms\n",
           count, size, 1e3 * accept / rounds, accept / rounds / least, 1e3 * least,
           1e3 * accept / rounds / (double)count, 1e3 * end / rounds, 1e3 * end / rounds / (double)count);
}

int main(int argc, char **argv)
{
    char folder[256], path[300], command[400];
    struct journal *j;
    const size_t large = 50 << 20;
    snprintf(folder, sizeof folder, "%.200s/journal-bench-XXXXXX", argc > 1 ? argv[1] : "/tmp");
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/journal", folder);
    must(journal_open(&j, path));
    uint8_t *bytes = mem_alloc_zero(large, 1);
    for (size_t i = 0; i < large; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    measure(j, folder, bytes, 25 << 10, 1, 50);
    measure(j, folder, bytes, 25 << 10, 64, 10);
    measure(j, folder, bytes, 164 << 10, 1, 30);
    measure(j, folder, bytes, large, 1, 4);
    journal_close(j);
    mem_free(bytes);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? 0 : 1;
}
