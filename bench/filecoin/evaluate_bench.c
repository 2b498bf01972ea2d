/* The rows of a 32 GiB PoRep partition, all 130 million: expanded, evaluated piece by piece, and each of the
 * three vectors hashed as it comes, so that the values that enter the NTT are compared with those of the
 * reference (tests/data/production) without ever being in memory together. The pieces are hashed while the
 * next one is evaluated. Exit code 1 if a digest differs, so that it is a test, too.
 *
 *     evaluate_bench [THREADS]     2 by default; 0 for all */
#include "base/file.h"
#include "base/hex.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "filecoin/fabricate_porep.h"
#include "filecoin/porep.h"
#include "r1cs/witness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define ROWS_TOGETHER (UINT32_C(1) << 17)
#define TEXT_VALUES   1024

static struct work work;

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double begun_wall, begun_cpu;

static void begin(void)
{
    begun_wall = read_clock(CLOCK_MONOTONIC);
    begun_cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static void tell(const char *what)
{
    struct rusage usage;
    double wall = read_clock(CLOCK_MONOTONIC) - begun_wall;
    double cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID) - begun_cpu;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-42s %7.2f s, %7.2f s of processors; peak memory so far %4.0f MB\n", what, wall, cpu,
           (double)usage.ru_maxrss / 1e3);
    fflush(stdout);
}

static void must(struct status s)
{
    if (!status_failed(&s))
        return;
    fprintf(stderr, "evaluate_bench: %s\n", s.message);
    exit(1);
}

/* ---- evaluating and hashing at the same time ---- */

struct stream {
    const struct shape *shape;
    const struct witness *witness;
    struct sha256 hash[3];
    fr *values[2][3]; /* of two pieces: one that is written, one that is hashed */
    unsigned piece;   /* number of the one to evaluate */
    uint32_t begin;   /* its first row */
    uint32_t ready;   /* values of the one before it */
    bool hashing;
};

static uint32_t piece_end(const struct stream *s)
{
    uint32_t left = s->shape->rows - s->begin;
    return s->begin + (left < ROWS_TOGETHER ? left : ROWS_TOGETHER);
}

static void hash_side(struct stream *s, const fr *values, int side)
{
    static const uint8_t bits[2][32] = {{0}, {1}};
    uint8_t text[TEXT_VALUES][32];
    for (uint32_t i = 0; i < s->ready; i += TEXT_VALUES) {
        uint32_t count = s->ready - i < TEXT_VALUES ? s->ready - i : TEXT_VALUES;
        for (uint32_t k = 0; k < count; k++) {
            const fr *x = &values[i + k];
            if (memcmp(x, &FR_ZERO, sizeof *x) == 0)
                memcpy(text[k], bits[0], 32);
            else if (memcmp(x, &FR_ONE, sizeof *x) == 0)
                memcpy(text[k], bits[1], 32);
            else
                fr_to_bytes(text[k], x);
        }
        sha256_add(&s->hash[side], text, 32 * (size_t)count);
    }
}

/* Task 0 evaluates the piece, in tasks of its own; tasks 1 to 3 hash the one before it. */
static void stream_task(void *context, size_t task)
{
    struct stream *s = context;
    fr **out = s->values[s->piece % 2], **in = s->values[1 - s->piece % 2];
    if (task > 0 && s->hashing)
        hash_side(s, in[task - 1], (int)task - 1);
    if (task == 0 && s->begin < s->shape->rows)
        must(witness_evaluate_rows(out[0], out[1], out[2], s->begin, piece_end(s), s->shape, s->witness,
                                   &work));
}

/* The last piece is hashed in a round with nothing left to evaluate. */
static void stream_all(struct stream *s)
{
    s->begin = s->ready = 0;
    for (int i = 0; i < 3; i++)
        sha256_begin(&s->hash[i]);
    for (s->piece = 0; s->begin < s->shape->rows || s->ready > 0; s->piece++) {
        uint32_t end = piece_end(s);
        if (!pool_run(&work, stream_task, s, 4))
            exit(1);
        s->ready = end - s->begin;
        s->begin = end;
    }
}

/* ---- what is expected ---- */

/* The text that follows `"key": "` in the facts. */
static void expect(const char *facts, const char *key, struct sha256 *hash)
{
    char pattern[32], hex[65];
    uint8_t digest[32];
    sha256_end(hash, digest);
    hex_encode(hex, digest, 32);
    snprintf(pattern, sizeof pattern, "\"%s\": \"", key);
    const char *at = strstr(facts, pattern);
    if (at == NULL || strncmp(at + strlen(pattern), hex, 64) != 0) {
        fprintf(stderr, "evaluate_bench: %s is %s, not that of the reference\n", key, hex);
        exit(1);
    }
    printf("%s %s, as the reference has it\n", key, hex);
}

static void fabricate(struct seeds *seeds, struct shape **shape)
{
    struct c1 c1;
    const struct fabricate_porep_request wanted = {
        .seal = &REGISTERED_SEAL[8], .miner = 1000, .sector_number = 1};
    begin();
    must(fabricate_porep(&c1, &wanted, &work));
    tell("ten partitions fabricated");
    begin();
    must(porep_shape(shape, c1.sector));
    must(porep_seeds(seeds, *shape, &c1, 0));
    tell("shape, and seeds of partition 0");
    c1_end(&c1);
}

int main(int argc, char **argv)
{
    struct pool *pool;
    struct shape *shape;
    struct seeds seeds;
    struct witness witness;
    uint8_t *facts;
    size_t size;
    must(pool_start(&pool, argc > 1 ? (unsigned)atoi(argv[1]) : 2));
    work = (struct work){pool, PRIORITY_NORMAL, NULL};
    must(file_read(&facts, &size, CUZK_TEST_DATA "/production/porep-32g.facts.json", 1 << 20, 1));
    facts[size] = 0;
    fabricate(&seeds, &shape);
    struct stream s = {.shape = shape, .witness = &witness};
    for (int i = 0; i < 6; i++) {
        s.values[i / 3][i % 3] = mem_alloc(ROWS_TOGETHER, sizeof(fr));
        if (s.values[i / 3][i % 3] == NULL)
            must(mem_failed("values", ROWS_TOGETHER, sizeof(fr)));
    }
    begin();
    must(witness_start(&witness, shape));
    must(witness_expand(&witness, shape, &seeds, &work));
    tell("expanded");
    begin();
    stream_all(&s);
    tell("a, b, c of 130,278,541 rows");
    s.hashing = true;
    begin();
    stream_all(&s);
    tell("the same, each hashed");
    static const char *const keys[3] = {"a_digest", "b_digest", "c_digest"};
    for (int i = 0; i < 3; i++)
        expect((const char *)facts, keys[i], &s.hash[i]);
    for (int i = 0; i < 6; i++)
        mem_free(s.values[i / 3][i % 3]);
    witness_end(&witness);
    seeds_end(&seeds);
    shape_release(shape);
    mem_free(facts);
    pool_end(pool);
    return 0;
}
