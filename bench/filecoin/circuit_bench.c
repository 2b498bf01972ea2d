/* Shapes of the production circuits of every kind, one thread, processor time: built, written, loaded from
 * the stored form. The floor of loading is reading and hashing the file's bytes and filling the memory that
 * the shape holds.
 *
 *     circuit_bench [NAME...]     by default all kinds of 32 and 64 GiB; names as porep-32g */
#include "base/file.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "filecoin/request.h"
#include "gadget/expanders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RUNS 7

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void stop(struct status s)
{
    if (!status_failed(&s))
        return;
    fprintf(stderr, "circuit_bench: %s\n", s.message);
    exit(1);
}

/* Best of RUNS. */
#define BEST_MS(out, statement)                                                                              \
    do {                                                                                                     \
        out = 1e30;                                                                                          \
        for (int run_ = 0; run_ < RUNS; run_++) {                                                            \
            double begin_ = cpu_ms();                                                                        \
            statement;                                                                                       \
            double taken_ = cpu_ms() - begin_;                                                               \
            out = taken_ < out ? taken_ : out;                                                               \
        }                                                                                                    \
    } while (0)

static void fill(size_t bytes)
{
    uint8_t *memory = mem_alloc(bytes, 1);
    if (memory == NULL)
        stop(mem_failed("memory", bytes, 1));
    memset(memory, 1, bytes);
    __asm__ volatile("" : : "r"(memory) : "memory");
    mem_free(memory);
}

static void hash(const char *path)
{
    struct file_map map;
    uint8_t digest[32];
    stop(file_map_open(&map, path));
    sha256(digest, map.data, map.size);
    file_map_close(&map);
}

static void bench(const char *name)
{
    enum proof_kind kind;
    const struct sector_size *sector;
    struct shape *shape = NULL, *loaded = NULL;
    char path[] = "/tmp/cuzk-circuit-bench-XXXXXX";
    size_t count;
    const struct expander *const *expanders = gadget_expanders(&count);
    double build, save, load, hashing, filling;
    if (!circuit_by_name(&kind, &sector, name)) {
        fprintf(stderr, "circuit_bench: no circuit is called %s\n", name);
        exit(2);
    }
    close(mkstemp(path));
    BEST_MS(build, (shape_release(shape), stop(circuit_shape(&shape, kind, sector))));
    BEST_MS(save, stop(shape_save(shape, path)));
    BEST_MS(load, (shape_release(loaded), stop(shape_load(&loaded, path, expanders, count))));
    BEST_MS(hashing, hash(path));
    BEST_MS(filling, fill(shape_bytes(shape)));
    struct file_map map;
    stop(file_map_open(&map, path));
    printf("%-12s %11u rows, %6u instances: built %6.1f ms, %5.1f MB; file %5.1f MB, written %6.1f ms, "
           "loaded %6.1f ms, %4.1f of its floor (%.1f hashing, %.1f filling)\n",
           name, shape->rows, shape->instances_count, build, (double)shape_bytes(shape) / 1e6,
           (double)map.size / 1e6, save, load, load / (hashing + filling), hashing, filling);
    fflush(stdout);
    file_map_close(&map);
    unlink(path);
    shape_release(shape);
    shape_release(loaded);
}

int main(int argc, char **argv)
{
    static const char *const all[] = {"porep-32g", "snap-32g", "winning-32g", "wpost-32g",
                                      "porep-64g", "snap-64g", "winning-64g", "wpost-64g"};
    for (int i = 1; i < argc; i++)
        bench(argv[i]);
    for (size_t i = 0; argc == 1 && i < sizeof all / sizeof *all; i++)
        bench(all[i]);
    return 0;
}
