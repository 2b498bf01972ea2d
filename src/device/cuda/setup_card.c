/* A parameter set made on the card, straight into its memory (groth16 specification 4): L_k(tau) by an
 * inverse transform of the powers of tau; for each matrix the column sums, template by template over all
 * instances; then each query as scalars and fixed-base multiples, a piece at a time.
 *
 * Device memory besides the set itself: 32 bytes a row, and 160 a variable; the arena is given up meanwhile.
 */
#include "device/cuda/backend_internal.h"
#include "device/cuda/msm_indexed.h"
#include "device/cuda/setup_kernels.h"

#include "base/mem.h"

#include <string.h>

#define PIECE_G1 ((size_t)1 << 21) /* scalars at a time: 5 GB of scratch */
#define PIECE_G2 ((size_t)1 << 20)
#define POWERS   ((size_t)1 << GPU_SETUP_LOW)

struct card_setup {
    struct device_cuda *cuda;
    const struct shape *shape;
    const struct device_shape *loaded;
    const struct toxic *toxic;
    struct device_srs *srs;
    struct CUstream_st *stream;
    size_t m, variables;
    fr vanishing;
    void *powers[2]; /* of tau: low, high */
    void *sums[3];   /* of the matrices, a field element a variable */
    void *scalars;   /* a piece */
    uint32_t *positions;
    uint32_t *found;
    /* fixed base */
    void *table[2], *scratch;
    size_t piece[2];
    uint32_t window_bits;
    /* template tables, while columns are summed */
    uint32_t *port_variables;
    struct gpu_setup_instance *instances;
    void *dictionary;
};

/* ---- powers of tau ---- */

/* s tau^i for i < 2^31 as products of two tables: low tau^k, high s tau^(k 2^15). */
static struct status load_powers(struct card_setup *s, const fr *scale)
{
    fr *table = mem_alloc(2 * POWERS, sizeof *table), step;
    if (table == NULL)
        return mem_failed("setup", 2 * POWERS, sizeof *table);
    table[0] = FR_ONE;
    for (size_t i = 1; i < POWERS; i++)
        fr_mul(&table[i], &table[i - 1], &s->toxic->tau);
    fr_mul(&step, &table[POWERS - 1], &s->toxic->tau);
    table[POWERS] = *scale;
    for (size_t i = POWERS + 1; i < 2 * POWERS; i++)
        fr_mul(&table[i], &table[i - 1], &step);
    struct status status = gpu_upload(s->powers[0], table, POWERS * sizeof(fr), s->stream);
    if (!status_failed(&status))
        status = gpu_upload(s->powers[1], table + POWERS, POWERS * sizeof(fr), s->stream);
    if (!status_failed(&status))
        status = gpu_wait(s->stream);
    mem_wipe(table, 2 * POWERS * sizeof *table);
    mem_free(table);
    return status;
}

/* ---- columns ---- */

/* Instances by template, in one array; begin[t] .. begin[t + 1] are those of template t. */
static struct status load_instances(struct card_setup *s, uint32_t *begin)
{
    const struct shape *shape = s->shape;
    size_t n = shape->instances_count;
    struct gpu_setup_instance *sorted = mem_alloc(n, sizeof *sorted);
    uint32_t *next = mem_alloc(shape->templates_count, sizeof *next);
    if (sorted == NULL || next == NULL) {
        mem_free(sorted);
        mem_free(next);
        return mem_failed("setup", n, sizeof *sorted);
    }
    memset(begin, 0, ((size_t)shape->templates_count + 1) * sizeof *begin);
    for (size_t i = 0; i < n; i++)
        begin[shape->instances[i].template_number + 1]++;
    for (uint32_t t = 0; t < shape->templates_count; t++) {
        begin[t + 1] += begin[t];
        next[t] = begin[t];
    }
    uint32_t port = 0;
    for (size_t i = 0; i < n; i++) {
        const struct instance *x = &shape->instances[i];
        sorted[next[x->template_number]++] = (struct gpu_setup_instance){x->first_row, x->first_aux, port};
        port += shape->templates[x->template_number].ports;
    }
    struct status status = gpu_upload(s->instances, sorted, n * sizeof *sorted, s->stream);
    if (!status_failed(&status))
        status = gpu_wait(s->stream);
    mem_free(sorted);
    mem_free(next);
    return status;
}

/* Runs lie in the order of instances and ports, so their places follow from their counts. */
static struct status load_ports(struct card_setup *s)
{
    const struct shape *shape = s->shape;
    size_t n = shape->runs_count;
    uint32_t *host = mem_alloc(3 * n, sizeof *host), *dev = NULL;
    if (host == NULL)
        return mem_failed("setup", 3 * n, sizeof *host);
    uint32_t port = 0;
    for (size_t i = 0; i < n; i++) {
        host[i] = shape->runs[i].first.id;
        host[n + i] = shape->runs[i].count;
        host[2 * n + i] = port;
        port += shape->runs[i].count;
    }
    struct status status = gpu_alloc((void **)&dev, 3 * n * sizeof *host, "ports of the setup");
    if (!status_failed(&status))
        status = gpu_alloc((void **)&s->port_variables, port * sizeof(uint32_t), "ports of the setup");
    if (!status_failed(&status))
        status = gpu_upload(dev, host, 3 * n * sizeof *host, s->stream);
    if (!status_failed(&status))
        status = gpu_setup_ports(s->port_variables, dev, dev + n, dev + 2 * n, n, s->stream);
    if (!status_failed(&status))
        status = gpu_wait(s->stream);
    gpu_free(dev);
    mem_free(host);
    return status;
}

struct template_arrays {
    void *memory;
    struct gpu_setup_template on_card;
};

static struct status load_template(struct template_arrays *out, const struct template *t,
                                   struct CUstream_st *stream)
{
    size_t terms = t->first[3 * (size_t)t->rows],
           sizes[4] = {(3 * (size_t)t->rows + 1) * sizeof(uint32_t), terms * sizeof(uint32_t),
                       t->local_fields * sizeof(uint32_t), terms * sizeof(uint16_t)};
    const void *from[4] = {t->first, t->columns, t->field_local, t->coefficients};
    const char *at[4];
    size_t bytes = 0;
    for (int i = 0; i < 4; i++)
        bytes += aligned(sizes[i]);
    TRY(gpu_alloc(&out->memory, bytes, "templates of the setup"));
    bytes = 0;
    for (int i = 0; i < 4; i++) {
        char *to = (char *)out->memory + bytes;
        at[i] = to;
        TRY(gpu_upload(to, from[i], sizes[i], stream));
        bytes += aligned(sizes[i]);
    }
    out->on_card = (struct gpu_setup_template){
        (const uint32_t *)(const void *)at[0], (const uint32_t *)(const void *)at[1],
        (const uint32_t *)(const void *)at[2], (const uint16_t *)(const void *)at[3], t->rows};
    return gpu_wait(stream);
}

static struct status sum_matrix(struct card_setup *s, int matrix, uint64_t *sums, const void *lagrange,
                                const struct template_arrays *templates, const uint32_t *begin)
{
    const struct shape *shape = s->shape;
    TRY(gpu_fill(sums, 0, s->variables * GPU_SETUP_SUM_WORDS * sizeof *sums, s->stream));
    for (uint32_t t = 0; t < shape->templates_count; t++)
        TRY(gpu_setup_rows(sums, lagrange, &templates[t].on_card, s->instances + begin[t],
                           begin[t + 1] - begin[t], s->port_variables, s->dictionary, shape->inputs,
                           (uint32_t)matrix, s->stream));
    if (matrix == 0)
        TRY(gpu_setup_input_rows(sums, (const char *)lagrange + (size_t)shape->rows * sizeof(fr),
                                 shape->inputs, s->stream));
    TRY(gpu_setup_reduce(s->sums[matrix], sums, s->variables, s->stream));
    return gpu_wait(s->stream);
}

static struct status sum_columns_with(struct card_setup *s, void *lagrange, struct template_arrays *templates,
                                      uint32_t *begin)
{
    const struct shape *shape = s->shape;
    uint64_t *sums = NULL;
    unsigned log_size = shape_log2_domain(shape);
    fr size, scale;
    fr_from_u64(&size, s->m);
    fr_inv(&scale, &size); /* the inverse transform is not divided by m */
    TRY(load_powers(s, &scale));
    TRY(gpu_setup_powers(lagrange, s->powers[0], s->powers[1], s->m, log_size, false, s->stream));
    TRY(gpu_ntt(lagrange, s->cuda->twiddles, log_size, GPU_NTT_INVERSE, s->stream));
    TRY(load_instances(s, begin));
    TRY(load_ports(s));
    TRY(gpu_upload(s->dictionary, shape->dictionary.values, shape->dictionary.count * sizeof(fr), s->stream));
    for (uint32_t t = 0; t < shape->templates_count; t++)
        TRY(load_template(&templates[t], &shape->templates[t], s->stream));
    TRY(gpu_alloc((void **)&sums, s->variables * GPU_SETUP_SUM_WORDS * sizeof *sums, "column sums"));
    struct status status = status_ok();
    for (int k = 0; k < 3 && !status_failed(&status); k++)
        status = sum_matrix(s, k, sums, lagrange, templates, begin);
    gpu_free(sums);
    return status;
}

static struct status sum_columns(struct card_setup *s)
{
    const struct shape *shape = s->shape;
    struct template_arrays *templates = mem_alloc_zero(shape->templates_count, sizeof *templates);
    uint32_t *begin = mem_alloc((size_t)shape->templates_count + 1, sizeof *begin);
    void *lagrange = NULL;
    struct status status;
    if (templates == NULL || begin == NULL)
        status = mem_failed("setup", shape->templates_count, sizeof *templates);
    else
        status = gpu_alloc(&lagrange, s->m * sizeof(fr), "Lagrange values");
    if (!status_failed(&status))
        status =
            gpu_alloc((void **)&s->instances, shape->instances_count * sizeof *s->instances, "instances");
    if (!status_failed(&status))
        status = gpu_alloc(&s->dictionary, shape->dictionary.count * sizeof(fr), "coefficients");
    if (!status_failed(&status))
        status = sum_columns_with(s, lagrange, templates, begin);
    for (uint32_t t = 0; templates != NULL && t < shape->templates_count; t++)
        gpu_free(templates[t].memory);
    gpu_free(lagrange);
    gpu_free(s->instances);
    gpu_free(s->port_variables);
    gpu_free(s->dictionary);
    s->instances = NULL;
    s->port_variables = NULL;
    s->dictionary = NULL;
    mem_free(templates);
    mem_free(begin);
    return status;
}

/* ---- points ---- */

/* Multiples for the first n of the scalars, which become plain integers first unless they are. */
static struct status multiples(struct card_setup *s, enum query q, size_t first, size_t n, bool plain,
                               const char *what)
{
    bool g2 = q == QUERY_B_G2;
    char *out = (char *)s->srs->memory + (s->srs->query[q] - (const char *)s->srs->memory) +
                first * query_point_bytes(q);
    uint32_t found;
    if (!plain)
        TRY(gpu_fr_to_int(s->scalars, n, s->stream));
    TRY(gpu_fill(s->found, 0, sizeof found, s->stream));
    TRY(gpu_setup_find_zero(s->found, s->scalars, n, s->stream));
    TRY(g2 ? gpu_fixed_base_g2(out, s->table[1], s->window_bits, s->scalars, n, s->scratch, s->stream)
           : gpu_fixed_base_g1(out, s->table[0], s->window_bits, s->scalars, n, s->scratch, s->stream));
    TRY(gpu_download(&found, s->found, sizeof found, s->stream));
    if (found != 0)
        return status_error(STATUS_INVALID, "setup gave a point at infinity: %s %zu", what,
                            first + found - 1);
    return status_ok();
}

static size_t piece_of(const struct card_setup *s, bool g2, size_t left)
{
    return left < s->piece[g2] ? left : s->piece[g2];
}

static struct status make_h(struct card_setup *s)
{
    fr scale;
    fr_inv(&scale, &s->toxic->delta);
    fr_mul(&scale, &scale, &s->vanishing);
    for (size_t first = 0, n; first < s->m - 1; first += n) {
        n = piece_of(s, false, s->m - 1 - first);
        fr power, here;
        fr_pow_u64_vartime(&power, &s->toxic->tau, first);
        fr_mul(&here, &scale, &power);
        TRY(load_powers(s, &here));
        TRY(gpu_setup_powers(s->scalars, s->powers[0], s->powers[1], n, 0, true, s->stream));
        TRY(multiples(s, QUERY_H, first, n, true, "power"));
    }
    return status_ok();
}

static const void *variable_at(const struct card_setup *s, int matrix, size_t number)
{
    return (const char *)s->sums[matrix] + number * sizeof(fr);
}

static struct status external(struct card_setup *s, size_t number, size_t n, const fr *scale)
{
    return gpu_setup_external(s->scalars, variable_at(s, 0, number), variable_at(s, 1, number),
                              variable_at(s, 2, number), n, &s->toxic->alpha, &s->toxic->beta, scale,
                              s->stream);
}

static struct status make_l(struct card_setup *s)
{
    fr scale;
    fr_inv(&scale, &s->toxic->delta);
    for (size_t first = 0, n; first < s->shape->aux; first += n) {
        n = piece_of(s, false, s->shape->aux - first);
        TRY(external(s, s->shape->inputs + first, n, &scale));
        TRY(multiples(s, QUERY_L, first, n, false, "the circuit leaves unconstrained aux variable"));
    }
    return status_ok();
}

/* Points of the dense inputs, at the start of a query. */
static struct status make_dense_inputs(struct card_setup *s, enum query q, int matrix, uint32_t *count)
{
    const struct shape *shape = s->shape;
    char *to = s->scalars;
    *count = 0;
    for (uint32_t i = 0; i < shape->inputs; i++) {
        if (matrix != 0 && !(shape->density.b_input[i / 64] >> (i % 64) & 1))
            continue;
        TRY(gpu_copy(to, variable_at(s, matrix, i), sizeof(fr), s->stream));
        to += sizeof(fr);
        ++*count;
    }
    return multiples(s, q, 0, *count, false, "input");
}

static struct status make_dense(struct card_setup *s, enum query q, int matrix, const uint64_t *dense_dev,
                                uint32_t dense_count)
{
    uint32_t inputs;
    TRY(make_dense_inputs(s, q, matrix, &inputs));
    CHECK(inputs + dense_count == s->srs->counts.query[q]);
    TRY(gpu_setup_positions(s->positions, dense_dev, s->shape->aux, s->scratch, s->stream));
    for (size_t first = 0, n; first < dense_count; first += n) {
        n = piece_of(s, q == QUERY_B_G2, dense_count - first);
        TRY(gpu_gather(s->scalars, variable_at(s, matrix, s->shape->inputs), s->positions + first, n,
                       sizeof(fr), s->stream));
        TRY(multiples(s, q, inputs + first, n, false, "dense variable"));
    }
    return status_ok();
}

/* ---- the key ---- */

static void times_g1(g1_affine *out, const fr *scalar)
{
    fr_int plain;
    g1_xyzz p;
    fr_to_int(&plain, scalar);
    g1_from_affine(&p, &G1_GENERATOR);
    g1_mul(&p, &p, &plain);
    g1_to_affine(out, &p);
}

static void times_g2(g2_affine *out, const fr *scalar)
{
    fr_int plain;
    g2_xyzz p;
    fr_to_int(&plain, scalar);
    g2_from_affine(&p, &G2_GENERATOR);
    g2_mul(&p, &p, &plain);
    g2_to_affine(out, &p);
}

static struct status make_key(struct verifying_key *key, struct card_setup *s)
{
    const struct toxic *t = s->toxic;
    size_t inputs = s->shape->inputs;
    fr scale;
    memset(key, 0, sizeof *key);
    times_g1(&key->alpha_g1, &t->alpha);
    times_g1(&key->beta_g1, &t->beta);
    times_g1(&key->delta_g1, &t->delta);
    times_g2(&key->beta_g2, &t->beta);
    times_g2(&key->gamma_g2, &t->gamma);
    times_g2(&key->delta_g2, &t->delta);
    key->ic = mem_alloc(inputs, sizeof *key->ic);
    if (key->ic == NULL)
        return mem_failed("verifying key", inputs, sizeof *key->ic);
    key->ic_count = (uint32_t)inputs;
    fr_inv(&scale, &t->gamma);
    for (size_t first = 0, n; first < inputs; first += n) {
        n = piece_of(s, false, inputs - first);
        TRY(external(s, first, n, &scale));
        TRY(gpu_fr_to_int(s->scalars, n, s->stream));
        /* the h query is made later: its place holds them until they are down */
        TRY(gpu_fixed_base_g1((char *)s->srs->memory, s->table[0], s->window_bits, s->scalars, n, s->scratch,
                              s->stream));
        TRY(gpu_download(key->ic + first, s->srs->memory, n * sizeof *key->ic, s->stream));
    }
    vk_prepare(key);
    return status_ok();
}

/* ---- all of it ---- */

static size_t at_least(size_t a, size_t b)
{
    return a > b ? a : b;
}

static struct status open_points(struct card_setup *s)
{
    /* no larger than what there is to make: scratch goes by the piece */
    size_t most = at_least(s->m, at_least(s->shape->inputs, s->shape->aux)), bytes;
    s->window_bits = most < ((size_t)1 << 17) ? 8 : 16; /* a table of 16 bits is half a million points */
    s->piece[0] = most < PIECE_G1 ? most : PIECE_G1;
    s->piece[1] = most < PIECE_G2 ? most : PIECE_G2;
    bytes = at_least(gpu_fixed_base_g1_scratch_bytes(s->piece[0], s->window_bits),
                     gpu_fixed_base_g2_scratch_bytes(s->piece[1], s->window_bits));
    bytes = at_least(bytes, gpu_setup_positions_scratch_bytes(s->shape->aux));
    TRY(gpu_alloc(&s->scalars, at_least(s->piece[0], s->shape->inputs) * sizeof(fr), "scalars of the setup"));
    TRY(gpu_alloc((void **)&s->positions, s->shape->aux * sizeof(uint32_t), "dense variables"));
    TRY(gpu_alloc((void **)&s->found, sizeof *s->found, "a flag"));
    TRY(gpu_alloc(&s->table[0], gpu_fixed_base_g1_table_bytes(s->window_bits), "multiples of the generator"));
    TRY(gpu_alloc(&s->table[1], gpu_fixed_base_g2_table_bytes(s->window_bits), "multiples of the generator"));
    TRY(gpu_alloc(&s->scratch, bytes, "scratch of the setup"));
    TRY(gpu_fixed_base_g1_table(s->table[0], &G1_GENERATOR, s->window_bits, s->scratch, s->stream));
    return gpu_fixed_base_g2_table(s->table[1], &G2_GENERATOR, s->window_bits, s->scratch, s->stream);
}

static struct status make_all(struct verifying_key *key, struct card_setup *s)
{
    const struct density *density = &s->shape->density;
    for (int i = 0; i < 2; i++)
        TRY(gpu_alloc(&s->powers[i], POWERS * sizeof(fr), "powers of tau"));
    for (int k = 0; k < 3; k++)
        TRY(gpu_alloc(&s->sums[k], s->variables * sizeof(fr), "column sums"));
    TRY(sum_columns(s));
    cuda_part(s->cuda, &s->cuda->lanes[LANE_WIDE], "column sums");
    TRY(open_points(s));
    TRY(make_key(key, s));
    cuda_part(s->cuda, &s->cuda->lanes[LANE_WIDE], "tables and key");
    TRY(make_h(s));
    cuda_part(s->cuda, &s->cuda->lanes[LANE_WIDE], "points of h");
    TRY(make_l(s));
    cuda_part(s->cuda, &s->cuda->lanes[LANE_WIDE], "points of l");
    TRY(make_dense(s, QUERY_A, 0, s->loaded->a_aux_dev, density->a_aux_count));
    cuda_part(s->cuda, &s->cuda->lanes[LANE_WIDE], "points of a");
    TRY(make_dense(s, QUERY_B_G1, 1, s->loaded->b_aux_dev, density->b_aux_count));
    cuda_part(s->cuda, &s->cuda->lanes[LANE_WIDE], "points of b in G1");
    TRY(make_dense(s, QUERY_B_G2, 1, s->loaded->b_aux_dev, density->b_aux_count));
    cuda_part(s->cuda, &s->cuda->lanes[LANE_WIDE], "points of b in G2");
    return status_ok();
}

static void end(struct card_setup *s)
{
    gpu_free(s->powers[0]);
    gpu_free(s->powers[1]);
    for (int k = 0; k < 3; k++)
        gpu_free(s->sums[k]);
    gpu_free(s->scalars);
    gpu_free(s->positions);
    gpu_free(s->found);
    gpu_free(s->table[0]);
    gpu_free(s->table[1]);
    gpu_free(s->scratch);
}

struct status cuda_setup(struct device_srs **out, struct verifying_key *key, struct device_cuda *cuda,
                         struct device_shape *shape, const struct toxic *toxic)
{
    struct card_setup s = {.cuda = cuda,
                           .shape = shape->shape,
                           .loaded = shape,
                           .toxic = toxic,
                           .stream = cuda->lanes[LANE_WIDE].stream,
                           .m = (size_t)1 << shape_log2_domain(shape->shape),
                           .variables = (size_t)shape->shape->inputs + shape->shape->aux};
    struct params_counts counts;
    shape_params_counts(&counts, shape->shape);
    fr_pow_u64_vartime(&s.vanishing, &toxic->tau, s.m);
    fr_sub(&s.vanishing, &s.vanishing, &FR_ONE);
    memset(key, 0, sizeof *key);
    if (fr_is_zero(&s.vanishing) || fr_is_zero(&toxic->gamma) || fr_is_zero(&toxic->delta))
        return status_error(STATUS_INVALID,
                            "setup values do not work: tau lies in the domain, or gamma or delta is zero");
    cuda_parts_begin(cuda, &cuda->lanes[LANE_WIDE]);
    cuda_drop_arenas(cuda);
    struct status status = cuda_srs_alloc(&s.srs, cuda, &counts);
    if (!status_failed(&status))
        status = make_all(key, &s);
    end(&s);
    struct status fit = cuda_fit(cuda);
    if (!status_failed(&status))
        status = fit;
    if (status_failed(&status)) {
        cuda_drop_srs(s.srs);
        vk_end(key);
    } else {
        *out = s.srs;
    }
    return status;
}
