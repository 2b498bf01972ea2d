/* Shapes and witnesses of a circuit made of the pieces that fill a PoRep: middle blocks of SHA-256 labels,
 * chained in twenties over bits of numbers, and oct Poseidon path elements. Times are of one thread and by
 * processor time. Evaluation and expansion stand beside the time that their multiplications alone would take,
 * and beside the time of filling the same memory. Circuits of more than 2^24 rows are only built.
 *
 *     shape_bench [blocks [elements]]     104 64: as many as in a 2 KiB PoRep; 5040 2880: a 32 GiB partition
 */
#include "base/mem.h"
#include "base/sha256.h"
#include "../field/mul_time.h"
#include "gadget/expanders.h"
#include "gadget/merkle.h"
#include "gadget/poseidon.h"
#include "gadget/sha256.h"
#include "r1cs/witness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct work ALONE = {.priority = PRIORITY_NORMAL};

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
    fprintf(stderr, "shape_bench: %s\n", s.message);
    exit(1);
}

/* ---- templates ---- */

enum { NUMBERS, STATE, TO_BITS, BLOCK, ELEMENT, TEMPLATES };
#define NUMBERS_TOGETHER 16

static struct template recorded(struct cs *cs, const char *name, uint32_t ports, const uint8_t *seed,
                                enum expander_number expander, const uint32_t *parameters, uint32_t count)
{
    struct template t;
    bool hints = expander == EXPANDER_SHA256_BLOCK, none = expander == EXPANDER_NONE;
    stop(template_from_cs(&t, cs, name, ports, seed, hints ? SHA256_BLOCK_HINTS : 0, !hints && !none,
                          none ? NULL : gadget_expander(expander), parameters, count));
    cs_end(cs);
    return t;
}

static struct template block_template(struct dictionary *d)
{
    struct cs cs;
    struct uint32_bits state[8];
    struct boolean block[512];
    uint32_t parameters[SHA256_BLOCK_PARAMETERS] = {0};
    stop(cs_init(&cs, d, true, false));
    for (int i = 0; i < 256; i++)
        state[i / 32].bit[i % 32] = boolean_is(cs_alloc(&cs, KIND_BIT, NULL), false);
    for (int i = 0; i < 512; i++) { /* byte by byte, lowest first; of each 256 the last is 0 */
        bool constant = i % 256 == 255;
        block[i / 8 * 8 + 7 - i % 8] =
            constant ? boolean_const(false) : boolean_is(cs_alloc(&cs, KIND_BIT, NULL), false);
        if (constant) /* the top bit of the last byte of a word */
            parameters[i / 32] |= 1u << 7;
    }
    sha256_compression(&cs, state, block);
    return recorded(&cs, "label block", 256 + 510, NULL, EXPANDER_SHA256_BLOCK, parameters, 17);
}

static struct template element_template(struct dictionary *d)
{
    struct cs cs;
    struct boolean bits[3];
    struct number siblings[7], children[8];
    uint64_t none = 0;
    uint32_t arity = 8;
    uint8_t seed[1024] = {0};
    stop(cs_init(&cs, d, true, false));
    struct number node = number_alloc(&cs, &FR_ZERO);
    bits_alloc(&cs, bits, &none, 3);
    for (int i = 0; i < 7; i++)
        siblings[i] = number_alloc(&cs, &FR_ZERO);
    number_insert(&cs, children, &node, bits, 3, siblings);
    poseidon_circuit(&cs, children, 8, poseidon_merkle_tag(8));
    memset(seed, 1, 10);
    return recorded(&cs, "path element", 1, seed, EXPANDER_PATH_ELEMENT, &arity, 1);
}

static void add_templates(struct shape_builder *b)
{
    struct dictionary *d = shape_builder_dictionary(b);
    struct cs cs;
    struct boolean bits[FR_BITS];
    uint64_t none[4] = {0};
    struct template t[TEMPLATES];
    stop(cs_init(&cs, d, true, false));
    for (int i = 0; i < NUMBERS_TOGETHER; i++)
        number_alloc(&cs, &FR_ZERO);
    t[NUMBERS] = recorded(&cs, "numbers", 0, NULL, EXPANDER_NONE, NULL, 0);
    stop(cs_init(&cs, d, true, false));
    for (int i = 0; i < 4; i++)
        bits_alloc(&cs, bits, none, 64);
    t[STATE] = recorded(&cs, "state", 0, NULL, EXPANDER_NONE, NULL, 0);
    stop(cs_init(&cs, d, true, false));
    struct number x = number_alloc(&cs, &FR_ZERO);
    number_to_bits(&cs, bits, &x);
    t[TO_BITS] = recorded(&cs, "to bits", 1, NULL, EXPANDER_TO_BITS, NULL, 0);
    t[BLOCK] = block_template(d);
    t[ELEMENT] = element_template(d);
    for (uint32_t i = 0; i < TEMPLATES; i++) {
        uint32_t number;
        stop(shape_builder_template(b, &number, &t[i]));
    }
}

/* ---- the circuit: shape and seeds by the same walk ---- */

struct circuit {
    uint32_t blocks, elements;
    struct shape_builder *builder; /* or */
    struct seeds *seeds;
    fr numbers[NUMBERS_TOGETHER];
    uint32_t number_aux, bits_aux[NUMBERS_TOGETHER];
};

static uint32_t place(struct circuit *c, uint32_t number, const struct port_run *runs, size_t count)
{
    uint32_t first = 0;
    stop(shape_builder_place(c->builder, number, runs, count, &first, NULL));
    return first;
}

static void walk_numbers(struct circuit *c)
{
    for (uint64_t i = 0; i < NUMBERS_TOGETHER; i++) {
        fr_from_u64(&c->numbers[i], i + 5);
        fr_inv(&c->numbers[i], &c->numbers[i]);
        if (c->seeds)
            seeds_field(c->seeds, &c->numbers[i]);
    }
    if (c->builder)
        c->number_aux = place(c, NUMBERS, NULL, 0);
    for (uint32_t i = 0; i < NUMBERS_TOGETHER && c->builder; i++) {
        struct port_run run = {variable_aux(c->number_aux + i), 1, 0};
        c->bits_aux[i] = place(c, TO_BITS, &run, 1);
    }
}

/* Runs of the words of the state in the last variables of the block before. */
static void chain_runs(struct port_run runs[8], uint32_t end)
{
    uint32_t at = end - 268;
    for (uint32_t i = 0; i < 8; i++) {
        runs[i] = (struct port_run){variable_aux(at), 32, 0};
        at += i % 4 ? 33 : 35;
    }
}

static void walk_label(struct circuit *c, uint32_t label, uint32_t blocks)
{
    uint32_t state[8], aux = 0, locals = 0;
    struct port_run runs[10];
    for (uint32_t i = 0; i < 8; i++)
        state[i] = label * 8 + i;
    if (c->builder)
        aux = place(c, STATE, NULL, 0);
    for (uint32_t i = 0; i < 8 && c->seeds; i++)
        seeds_bits(c->seeds, state[i], 32);
    for (uint32_t i = 0; i < blocks; i++) {
        uint8_t message[64];
        uint32_t x = (label + i) % NUMBERS_TOGETHER, y = (label + 3 * i + 1) % NUMBERS_TOGETHER;
        fr_to_bytes(message, &c->numbers[x]);
        fr_to_bytes(message + 32, &c->numbers[y]);
        if (c->builder) {
            size_t count = i ? 8 : 1;
            if (i)
                chain_runs(runs, aux + locals);
            else
                runs[0] = (struct port_run){variable_aux(aux), 256, 0};
            runs[count++] = (struct port_run){variable_aux(c->bits_aux[x]), 255, 0};
            runs[count++] = (struct port_run){variable_aux(c->bits_aux[y]), 255, 0};
            aux = place(c, BLOCK, runs, count);
            locals = 26158;
        } else {
            uint32_t words[16];
            for (int k = 0; k < 16; k++)
                words[k] = (uint32_t)message[4 * k] << 24 | (uint32_t)message[4 * k + 1] << 16 |
                           (uint32_t)message[4 * k + 2] << 8 | message[4 * k + 3];
            seeds_hints(c->seeds, state, 8);
            seeds_hints(c->seeds, words, 16);
        }
        sha256_compress(state, message);
    }
}

static void walk(struct circuit *c)
{
    walk_numbers(c);
    for (uint32_t done = 0; done < c->blocks; done += 20)
        walk_label(c, done / 20, c->blocks - done < 20 ? c->blocks - done : 20);
    uint32_t node = c->number_aux;
    for (uint32_t i = 0; i < c->elements; i++) {
        struct port_run run = {variable_aux(i % 10 ? node : c->number_aux), 1, 0};
        if (c->builder)
            node = place(c, ELEMENT, &run, 1) + 536;
        else
            seeds_bits(c->seeds, i, 3);
        for (uint32_t k = 0; k < 7 && c->seeds; k++)
            seeds_field(c->seeds, &c->numbers[(i + k) % NUMBERS_TOGETHER]);
    }
}

/* ---- measuring ---- */

static void count_terms(void *context, const struct row_view *row)
{
    *(uint64_t *)context += row->count[0] + row->count[1] + row->count[2];
}

/* Multiplications that evaluation needs: field variables with coefficients other than 1 and -1. */
static uint64_t multiplications(const struct shape *s, int sides)
{
    uint64_t per[TEMPLATES] = {0}, sum = 0;
    for (uint32_t k = 0; k < s->templates_count; k++) {
        const struct template *t = &s->templates[k];
        for (uint32_t side = 0; side < 3 * t->rows; side++)
            for (uint32_t i = t->first[side]; i < t->first[side + 1]; i++) {
                uint32_t type = t->columns[i] >> COLUMN_SHIFT;
                bool field = type == COLUMN_LOCAL_FIELD || type == COLUMN_PORT_FIELD;
                bool skipped = sides == 2 && (side % 3 == 2 || t->classes[side] == COMBINATION_AS_C);
                per[k] += field && t->coefficients[i] > 1 && !skipped;
            }
    }
    for (uint32_t i = 0; i < s->instances_count; i++)
        sum += per[s->instances[i].template_number];
    return sum;
}

static struct shape *measure_build(struct circuit *c)
{
    struct shape *s;
    double start = cpu_ms();
    stop(shape_builder_start(&c->builder));
    add_templates(c->builder);
    double templates = cpu_ms();
    walk(c);
    double placed = cpu_ms();
    stop(shape_builder_finish(&s, c->builder));
    double finished = cpu_ms();
    c->builder = NULL;
    printf("%u rows, %u aux (%u fields), %llu + %llu + %llu terms, %u instances, %u waves\n", s->rows, s->aux,
           s->fields, (unsigned long long)s->terms[0], (unsigned long long)s->terms[1],
           (unsigned long long)s->terms[2], s->instances_count, s->waves);
    printf("build      %8.1f ms  (templates %.1f, placing %.1f, finishing %.1f); %.1f MB\n", finished - start,
           templates - start, placed - templates, finished - placed, (double)shape_bytes(s) / 1e6);
    return s;
}

static void measure_files(const struct shape *s)
{
    char path[] = "/tmp/cuzk-shape-bench-XXXXXX";
    struct shape *loaded;
    size_t count;
    const struct expander *const *expanders = gadget_expanders(&count);
    close(mkstemp(path));
    double start = cpu_ms();
    stop(shape_save(s, path));
    double saved = cpu_ms();
    stop(shape_load(&loaded, path, expanders, count));
    printf("file       %8.1f ms written, %.1f read\n", saved - start, cpu_ms() - saved);
    shape_release(loaded);
    unlink(path);
}

static void measure_rows(const struct shape *s)
{
    uint64_t terms = 0;
    uint8_t digest[32];
    double start = cpu_ms();
    stop(shape_visit_rows(s, 0, shape_all_rows(s), count_terms, &terms));
    double walked = cpu_ms();
    stop(shape_rows_digest(digest, s, true, UINT32_MAX));
    double hashed = cpu_ms();
    printf("rows       %8.1f ms walked (%.1f ns a term), %.1f hashed\n", walked - start,
           (walked - start) * 1e6 / (double)terms, hashed - walked);
}

static void measure_witness(struct circuit *c, const struct shape *s)
{
    struct seeds seeds;
    struct witness w;
    double start = cpu_ms();
    stop(seeds_start(&seeds, s));
    c->seeds = &seeds;
    walk(c);
    double seeded = cpu_ms();
    printf("seeds      %8.1f ms, %.2f MB\n", seeded - start, (double)seeds_bytes(s) / 1e6);
    size_t size = (size_t)1 << shape_log2_domain(s);
    fr *v[3];
    for (int k = 0; k < 3; k++) {
        v[k] = mem_alloc(size, sizeof(fr));
        if (!v[k])
            stop(mem_failed("vectors", size, sizeof(fr)));
        memset(v[k], 1, size * sizeof(fr));
    }
    stop(witness_start(&w, s));
    stop(witness_expand(&w, s, &seeds, &ALONE));
    double mul = mul_time_fr_ns();
    for (int repeat = 0; repeat < 3; repeat++) {
        memset(w.bits, 0, (size_t)s->aux / 8);
        start = cpu_ms();
        stop(witness_expand(&w, s, &seeds, &ALONE));
        double expanded = cpu_ms();
        stop(witness_evaluate(v[0], v[1], NULL, size, s, &w, &ALONE));
        double two = cpu_ms();
        stop(witness_evaluate(v[0], v[1], v[2], size, s, &w, &ALONE));
        double three = cpu_ms();
        memset(v[0], 1, size * sizeof(fr));
        memset(v[1], 1, size * sizeof(fr));
        double filled = cpu_ms();
        printf("expand     %8.1f ms\n", expanded - start);
        printf("evaluate   %8.1f ms for a and b, floor %.1f (%.1f multiplying, %.1f filling); %.1f with c\n",
               two - expanded, (double)multiplications(s, 2) * mul / 1e6 + filled - three,
               (double)multiplications(s, 2) * mul / 1e6, filled - three, three - two);
    }
    uint32_t row;
    start = cpu_ms();
    stop(witness_first_unsatisfied(&row, s, &w));
    printf("check      %8.1f ms: %s\n", cpu_ms() - start, row == UINT32_MAX ? "all rows hold" : "BROKEN");
    for (int k = 0; k < 3; k++)
        mem_free(v[k]);
    witness_end(&w);
    seeds_end(&seeds);
}

int main(int argc, char **argv)
{
    struct circuit c = {.blocks = argc > 1 ? (uint32_t)atoi(argv[1]) : 104,
                        .elements = argc > 2 ? (uint32_t)atoi(argv[2]) : 64};
    struct shape *s = measure_build(&c);
    measure_files(s);
    if (shape_log2_domain(s) <= 24) {
        measure_rows(s);
        measure_witness(&c, s);
    }
    shape_release(s);
    return 0;
}
