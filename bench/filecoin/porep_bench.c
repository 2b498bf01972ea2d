/* From C1 output to witness on one thread, processor time: parsing, checking, shape, seeds, expansion.
 * Floors: parsing beside counting the commas of the text; checking beside its Poseidon hashes.
 *
 *     porep_bench [2k|32g]     32g: a text of 39 MB with made-up content, and the shape of that size */
#include "base/file.h"
#include "base/mem.h"
#include "filecoin/check.h"
#include "filecoin/porep.h"
#include "gadget/poseidon.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
    fprintf(stderr, "porep_bench: %s\n", s.message);
    exit(1);
}

/* Best of `runs`. */
#define BEST_MS(out, runs, statement)                                                                        \
    do {                                                                                                     \
        out = 1e30;                                                                                          \
        for (int run_ = 0; run_ < (runs); run_++) {                                                          \
            double begin_ = cpu_ms();                                                                        \
            statement;                                                                                       \
            double taken_ = cpu_ms() - begin_;                                                               \
            out = taken_ < out ? taken_ : out;                                                               \
        }                                                                                                    \
    } while (0)

static size_t commas;

static void count_commas(const uint8_t *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        commas += text[i] == ',';
}

static void bench_parse(const char *what, const uint8_t *text, size_t size)
{
    struct c1 c1;
    double parse, floor;
    BEST_MS(parse, 8, (stop(c1_parse(&c1, text, size)), c1_end(&c1)));
    BEST_MS(floor, 8, count_commas(text, size));
    printf("parse %-22s %8.2f ms  %7.0f MB/s  (counting commas %.2f ms)\n", what, parse,
           (double)size / parse / 1e3, floor);
}

static double poseidon_ms(uint32_t arity)
{
    fr inputs[SECTOR_ARITY_MAX + 3], out;
    double ms;
    for (uint32_t i = 0; i < arity; i++)
        fr_from_u64(&inputs[i], i + 1);
    BEST_MS(ms, 10, for (int i = 0; i < 50; i++) poseidon_hash(&out, poseidon_of(arity), inputs));
    return ms / 50;
}

static void bench_check(const struct c1 *c1)
{
    struct porep_public public;
    const struct work work = {NULL, PRIORITY_NORMAL, NULL};
    uint32_t arities[SECTOR_LEVELS_MAX], levels = sector_arities(arities, c1->sector);
    double ms, floor = 15 * poseidon_ms(c1->sector->layers);
    for (uint32_t i = 0; i < levels; i++)
        floor += 16 * poseidon_ms(arities[i]);
    floor *= c1->partitions * c1->challenges;
    BEST_MS(ms, 10, (stop(porep_public_from_c1(&public, c1)), stop(c1_check(c1, &public, &work))));
    printf("check %s: %.2f ms, %.2f of its Poseidon hashes (%.2f ms)\n", c1->sector->name, ms, ms / floor,
           floor);
}

static struct shape *bench_shape(const struct sector_size *sector, int runs)
{
    struct shape *shape = NULL;
    double ms;
    BEST_MS(ms, runs, (shape_release(shape), stop(porep_shape(&shape, sector))));
    printf("shape %s: %.0f ms, %.1f MB, %u rows\n", sector->name, ms, (double)shape_bytes(shape) / 1e6,
           shape->rows);
    return shape;
}

static void bench_synthesis(const struct shape *shape, const struct c1 *c1)
{
    struct seeds seeds;
    struct witness witness;
    const struct work work = {NULL, PRIORITY_NORMAL, NULL};
    double write, expand;
    stop(porep_seeds(&seeds, shape, c1, 0));
    BEST_MS(write, 10, (seeds_end(&seeds), stop(porep_seeds(&seeds, shape, c1, 0))));
    BEST_MS(expand, 10,
            (stop(witness_start(&witness, shape)), stop(witness_expand(&witness, shape, &seeds, &work)),
             witness_end(&witness)));
    printf("synthesis %s, one partition: seeds %.2f ms (%.2f MB), expansion %.2f ms, together %.2f ms\n",
           c1->sector->name, write, (double)seeds_bytes(shape) / 1e6, expand, write + expand);
    seeds_end(&seeds);
}

static void bench_2k(void)
{
    uint8_t *text;
    size_t size;
    struct c1 c1;
    stop(file_read(&text, &size, CUZK_TEST_DATA "/porep-2k/c1.json", 1 << 20, C1_PADDING));
    bench_parse("2 KiB", text, size);
    stop(c1_parse(&c1, text, size));
    bench_check(&c1);
    struct shape *shape = bench_shape(c1.sector, 5);
    bench_synthesis(shape, &c1);
    shape_release(shape);
    c1_end(&c1);
    mem_free(text);
}

/* Content that is right in form only; every byte below 64, so that all is canonical. */
static void fill(uint8_t *bytes, size_t size, uint32_t *state)
{
    for (size_t i = 0; i < size; i++) {
        *state = *state * 1664525 + 1013904223;
        bytes[i] = i % 32 == 31 ? (uint8_t)(*state >> 26) : (uint8_t)(*state >> 24);
    }
}

static void fill_merkle(struct merkle_proof *m, uint32_t *state)
{
    fill(m->leaf, 32, state);
    fill(m->root, 32, state);
    for (uint32_t i = 0; i < m->length; i++)
        fill(m->path[i].siblings[0], 32 * (m->path[i].arity - 1), state);
}

static void fill_c1(struct c1 *c1)
{
    uint32_t state = 1;
    for (uint32_t i = 0; i < c1->partitions * c1->challenges; i++) {
        struct vanilla_proof *p = &c1->proofs[i];
        fill_merkle(&p->comm_d, &state);
        fill_merkle(&p->comm_r_last, &state);
        for (uint32_t k = 0; k < 1 + PARENTS; k++) {
            struct column_proof *c = k ? &p->parents[k - 1] : &p->c_x;
            fill(c->rows[0], 32 * c1->sector->layers, &state);
            fill_merkle(&c->inclusion, &state);
        }
        for (uint32_t l = 0; l < c1->sector->layers; l++)
            fill(p->labels[l].parents[0], 32 * LABEL_INPUTS, &state);
        fill(p->encoding.parents[0], 32 * LABEL_INPUTS, &state);
    }
}

static void bench_32g(void)
{
    for (int wrapped = 0; wrapped < 2; wrapped++) {
        struct c1 c1;
        uint8_t *text, *padded;
        size_t size;
        stop(c1_start(&c1, sector_by_circuit("32g")));
        c1.seal = &REGISTERED_SEAL[8];
        fill_c1(&c1);
        stop(c1_write(&text, &size, &c1, wrapped));
        padded = mem_alloc_zero(1, size + C1_PADDING);
        memcpy(padded, text, size);
        bench_parse(wrapped ? "32 GiB, wrapped" : "32 GiB", padded, size);
        if (wrapped) {
            struct shape *shape = bench_shape(c1.sector, 1);
            bench_synthesis(shape, &c1);
            shape_release(shape);
        }
        c1_end(&c1);
        mem_free(text);
        mem_free(padded);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "32g") != 0)
        bench_2k();
    if (strcmp(what, "2k") != 0)
        bench_32g();
    return commas == 1;
}
