/* Poseidon and expansion beside the time that their multiplications alone would take; and walks of circuits
 * of the size of production ones: building the shape, its memory, writing the seeds. One thread, processor
 * time.
 *
 *     gadget_bench [small]     small: only hashes, expansion and the 2 KiB walk */
#include "../field/mul_time.h"
#include "base/mem.h"
#include "gadget/circuit.h"
#include "gadget/expanders.h"
#include "gadget/poseidon.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void stop(struct status s)
{
    if (!status_failed(&s))
        return;
    fprintf(stderr, "gadget_bench: %s\n", s.message);
    exit(1);
}

/* Best time of one call among slices of `calls`. */
#define BEST_NS(out, calls, statement)                                                                       \
    do {                                                                                                     \
        out = 1e30;                                                                                          \
        for (int slice_ = 0; slice_ < 20; slice_++) {                                                        \
            double begin_ = cpu_ns();                                                                        \
            for (int call_ = 0; call_ < (calls); call_++) {                                                  \
                statement;                                                                                   \
            }                                                                                                \
            double taken_ = (cpu_ns() - begin_) / (calls);                                                   \
            out = taken_ < out ? taken_ : out;                                                               \
        }                                                                                                    \
    } while (0)

static uint32_t poseidon_multiplications(const struct poseidon *p)
{
    uint32_t t = p->width;
    return 3 * (8 * t + p->partial_rounds) + 7 * t * t + t + p->partial_rounds * (2 * t - 1);
}

static void bench_poseidon(double mul_ns)
{
    static const uint32_t arities[] = {2, 4, 8, 11};
    fr inputs[36], out = FR_ONE;
    double ns;
    for (int i = 0; i < 36; i++)
        fr_from_u64(&inputs[i], (uint64_t)i + 5);
    for (int i = 0; i < 4; i++) {
        const struct poseidon *p = poseidon_of(arities[i]);
        BEST_NS(ns, 100, (inputs[0] = out, poseidon_hash(&out, p, inputs)));
        uint32_t count = poseidon_multiplications(p);
        printf("poseidon arity %2u        %8.1f us  %u multiplications  %.2f of their time\n", arities[i],
               ns / 1e3, count, ns / (count * mul_ns));
    }
}

static void bench_expansion(double mul_ns)
{
    static uint64_t bits[512];
    static fr fields[1024];
    fr node = FR_ONE;
    uint32_t hints[SHA256_BLOCK_HINTS];
    struct template t = {0};
    struct expansion x = {
        .template = &t, .bits = bits, .fields = fields, .hints = hints, .port_fields = &node};
    double ns;
    for (uint32_t i = 0; i < SHA256_BLOCK_HINTS; i++)
        hints[i] = i * 0x9e3779b9u;
    BEST_NS(ns, 200, gadget_expander(EXPANDER_SHA256_BLOCK)->run(&x));
    printf("expand SHA-256 block     %8.2f us  26,166 bits\n", ns / 1e3);
    t.parameters[7] = t.parameters[15] = 0x80;
    t.parameters[16] = 1;
    BEST_NS(ns, 200, gadget_expander(EXPANDER_SHA256_BLOCK)->run(&x));
    printf("expand first SHA block   %8.2f us  of two numbers\n", ns / 1e3);
    t.parameters[0] = 8;
    memset(fields, 0, sizeof fields);
    BEST_NS(ns, 100, (memset(bits, 0, 16), gadget_expander(EXPANDER_PATH_ELEMENT)->run(&x)));
    uint32_t count = poseidon_multiplications(poseidon_of(8));
    printf("expand oct path element  %8.1f us  %.2f of its %u multiplications\n", ns / 1e3,
           ns / (count * mul_ns), count);
    BEST_NS(ns, 1000, (memset(bits, 0, 64), gadget_expander(EXPANDER_TO_BITS)->run(&x)));
    printf("expand to_bits           %8.3f us\n", ns / 1e3);
}

/* ---- walks ---- */

static fr zeros[128];

struct porep {
    uint32_t challenges, layers, log2_nodes, tree_levels;
};

static void walk_column(struct circuit *c, struct number *rows, uint32_t layers, const struct tree_form *form,
                        const struct tree_path *path, const struct number *root)
{
    circuit_numbers(c, rows, zeros, layers);
    struct number hash = circuit_poseidon(c, rows, layers);
    circuit_por(c, form, &hash, path, root);
}

/* As much as the PoRep circuit; its values satisfy nothing. */
static void walk_porep(struct circuit *c, const void *context)
{
    const struct porep *p = context;
    struct tree_form tree_d = {HASHER_SHA256, 2, p->log2_nodes, 0, 0};
    struct tree_form tree = {HASHER_POSEIDON, 8, p->tree_levels, 0, 0};
    struct tree_path path = {0, zeros};
    struct number top[5], rows[14][11], labels[11];
    circuit_numbers(c, top, zeros, 5);
    struct bits id = circuit_to_bits(c, &top[0]), parents[14];
    for (uint32_t k = 0; k < p->challenges; k++) {
        struct number data = circuit_number(c, zeros);
        circuit_por(c, &tree_d, &data, &path, &top[1]);
        for (int i = 0; i < 14; i++)
            walk_column(c, rows[i], p->layers, &tree, &path, &top[4]);
        struct bits node = circuit_uint64(c, k);
        circuit_pack_input(c, &node);
        for (uint32_t layer = 0; layer < p->layers; layer++) {
            const struct bits *list[LABEL_PARENTS];
            int count = layer ? 14 : 6;
            for (int i = 0; i < count; i++)
                parents[i] = circuit_to_bits(c, &rows[i][layer]);
            for (int i = 0; i < LABEL_PARENTS; i++)
                list[i] = &parents[i % count];
            labels[layer] = circuit_label(c, &id, list, layer + 1, &node);
        }
        struct number replica = circuit_encode(c, &labels[p->layers - 1], &data);
        circuit_por(c, &tree, &replica, &path, &top[3]);
        struct number hash = circuit_poseidon(c, labels, p->layers);
        circuit_por(c, &tree, &hash, &path, &top[4]);
    }
}

static void walk_window(struct circuit *c, const void *context)
{
    const uint32_t *sectors = context;
    struct tree_form tree = {HASHER_POSEIDON, 8, 10, 0, 0};
    struct tree_path path = {0, zeros};
    for (uint32_t s = 0; s < *sectors; s++) {
        struct number top[3];
        circuit_numbers(c, top, zeros, 3);
        circuit_inputize(c, &top[0]);
        struct number hash = circuit_hash2(c, &top[1], &top[2]);
        circuit_equal(c, &top[0], &hash);
        for (int i = 0; i < 10; i++) {
            struct number leaf = circuit_number(c, zeros);
            circuit_por(c, &tree, &leaf, &path, &top[2]);
        }
    }
}

static void bench_walk(const char *name, void (*walk)(struct circuit *c, const void *context),
                       const void *context)
{
    struct shape_builder *builder;
    struct shape *shape;
    struct circuit c;
    struct seeds seeds;
    double begin = cpu_ns();
    stop(shape_builder_start(&builder));
    stop(circuit_start(&c, builder, NULL, NULL));
    walk(&c, context);
    stop(circuit_end(&c));
    double placed = cpu_ns();
    stop(shape_builder_finish(&shape, builder));
    double built = cpu_ns();
    printf("%-12s %u rows, %u aux, %u instances of %u templates, %u waves\n", name, shape->rows, shape->aux,
           shape->instances_count, shape->templates_count, shape->waves);
    printf("             shape: placed in %.0f ms, finished in %.0f ms, %.1f MB\n", (placed - begin) / 1e6,
           (built - placed) / 1e6, (double)shape_bytes(shape) / 1e6);
    stop(seeds_start(&seeds, shape));
    begin = cpu_ns();
    stop(circuit_start(&c, NULL, &seeds, NULL));
    walk(&c, context);
    stop(circuit_end(&c));
    printf("             seeds: written in %.2f ms, %.2f MB\n", (cpu_ns() - begin) / 1e6,
           (double)seeds_bytes(shape) / 1e6);
    seeds_end(&seeds);
    shape_release(shape);
}

int main(int argc, char **argv)
{
    bool small = argc > 1 && strcmp(argv[1], "small") == 0;
    double mul_ns = mul_time_fr_ns();
    printf("Fr multiplication        %8.1f ns (%s)\n", mul_ns, flavour_name(flavour_in_force()));
    bench_poseidon(mul_ns);
    bench_expansion(mul_ns);
    bench_walk("PoRep 2 KiB", walk_porep, &(struct porep){2, 2, 6, 2});
    if (small)
        return 0;
    bench_walk("PoRep 32 GiB", walk_porep, &(struct porep){18, 11, 30, 10});
    bench_walk("Window 32 GiB", walk_window, &(uint32_t){2349});
    return 0;
}
