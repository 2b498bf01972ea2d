/* See witness_cases.h. */
#include "witness_cases.h"

#include "base/mem.h"
#include "filecoin/fabricate_porep.h"
#include "filecoin/fabricate_post.h"
#include "filecoin/fabricate_snap.h"
#include "filecoin/porep.h"
#include "filecoin/post.h"
#include "filecoin/request.h"
#include "filecoin/snap.h"
#include "gadget/circuit.h"
#include "gadget/poseidon.h"

#include <stdlib.h>
#include <string.h>

/* ---- steps ---- */

static fr value_of(uint64_t i)
{
    fr x;
    fr_from_u64(&x, i + 2);
    fr_inv(&x, &x); /* all limbs */
    return x;
}

static void walk_paths(struct circuit *c)
{
    static const struct tree_form forms[] = {
        {HASHER_POSEIDON, 8, 2, 4, 2}, {HASHER_POSEIDON, 4, 3, 0, 0}, {HASHER_SHA256, 2, 1, 0, 0},
        {HASHER_SHA256, 4, 1, 0, 0},   {HASHER_SHA256, 8, 1, 0, 0},
    };
    fr siblings[64], leaf = value_of(1), root = value_of(2); /* not the root: kernels do not mind */
    for (uint32_t i = 0; i < 64; i++)
        siblings[i] = value_of(100 + i);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        for (uint64_t n = 0; n < 8; n++) {
            uint64_t index = n * UINT64_C(0x249) & ((UINT64_C(1) << tree_form_log2_leaves(&forms[i])) - 1);
            struct tree_path path = {index, siblings};
            if (forms[i].hasher == HASHER_SHA256 && n != i)
                continue; /* large ones */
            circuit_por_values(c, &forms[i], &leaf, &path, &root, n & 1);
        }
    }
    for (uint32_t i = 0; i < 10; i++) {
        static const struct tree_form existing[] = {{HASHER_POSEIDON, 8, 2, 2, 4},
                                                    {HASHER_SHA256, 2, 1, 0, 0}};
        const struct tree_form *form = &existing[i == 9];
        struct number numbers[20], top = circuit_number(c, &root), bottom = circuit_number(c, &leaf);
        struct bits index = circuit_bits(c, i * UINT64_C(0x249) + i, tree_form_log2_leaves(form));
        circuit_numbers(c, numbers, siblings, tree_form_siblings(form));
        circuit_por_existing(c, form, &index, &bottom, numbers, &top);
    }
}

static void walk_numbers(struct circuit *c)
{
    static const uint32_t arities[] = {2, 4, 8, 11};
    fr values[128];
    struct number x[128], y;
    for (uint32_t i = 0; i < 128; i++)
        values[i] = value_of(i);
    circuit_numbers(c, x, values, 128);
    circuit_inputize(c, &x[0]);
    circuit_inputize(c, &x[1]);
    y = circuit_sum(c, x, 64);
    y = circuit_sub(c, &y, &x[3]);
    y = circuit_mul(c, &y, &x[1]);
    y = circuit_scale_add(c, &y, 77, 13);
    circuit_equal(c, &y, &y);
    for (uint32_t i = 0; i < 4; i++)
        (void)circuit_poseidon_tagged(c, x + i, arities[i], POSEIDON_TAG_CUSTOM_1 + i);
    for (uint64_t m = 1; m <= 7; m++)
        for (uint64_t value = 0; value < 3; value++) {
            struct bits bits = circuit_bits(c, value * 41 + m, (uint32_t)m);
            struct joined_bits index = {.low = bits_slice(&bits, 0, (uint32_t)m / 2),
                                        .high = bits_slice(&bits, (uint32_t)m / 2, (uint32_t)(m - m / 2))};
            y = circuit_select(c, x, &index);
            struct bits one = bits_slice(&bits, 0, 1);
            (void)circuit_mul_bit(c, &y, &one);
        }
    struct bits all = circuit_to_bits(c, &x[5]);
    (void)circuit_to_bits_update(c, &x[6]);
    for (uint32_t count = 1; count <= 254; count += 23) {
        struct bits some = bits_slice(&all, 255 - count, count);
        (void)circuit_pack(c, &some);
        circuit_pack_input(c, &some);
    }
    circuit_bits_equal(c, &(struct bits){all.first, 254, {0}}, &x[5]);
}

static void walk_steps(struct circuit *c)
{
    fr replica = value_of(9), parents[2] = {value_of(10), value_of(11)};
    walk_numbers(c);
    walk_paths(c);
    struct number numbers[3] = {circuit_number(c, &replica), circuit_number(c, &parents[0]),
                                circuit_number(c, &parents[1])};
    struct bits bits[3], node = circuit_uint64(c, UINT64_C(0xfedcba9876543210));
    for (int i = 0; i < 3; i++)
        bits[i] = circuit_to_bits(c, &numbers[i]);
    const struct bits *from[LABEL_PARENTS];
    for (int i = 0; i < LABEL_PARENTS; i++)
        from[i] = &bits[1 + (i & 1)];
    (void)circuit_label(c, &bits[0], from, 3, &node);
}

static struct status make_steps(struct witness_case *out)
{
    struct shape_builder *builder;
    struct circuit c;
    TRY(shape_builder_start(&builder));
    struct status s = circuit_start(&c, builder, NULL, NULL);
    if (!status_failed(&s)) {
        walk_steps(&c);
        s = circuit_end(&c);
    }
    if (status_failed(&s)) {
        shape_builder_abandon(builder);
        return s;
    }
    TRY(shape_builder_finish(&out->shape, builder));
    TRY(seeds_start(&out->seeds, out->shape));
    TRY(circuit_start(&c, NULL, &out->seeds, NULL));
    walk_steps(&c);
    return circuit_end(&c);
}

/* ---- rows ---- */

/* Rows such as no gadget has: stretches of bits whose coefficients double, or stop doubling somewhere;
 * numbers, ports and ONE among them; sums of small integers up to the greatest. They hold for no witness. */

#define ROWS_BITS   150
#define ROWS_FIELDS 12
#define ROWS_PORTS  9 /* three bits, two numbers, four bits */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static bool port_is_field(uint32_t port)
{
    return port == 3 || port == 4;
}

static void random_combination(struct lc *l, uint64_t *state, bool small)
{
    uint32_t from = ROWS_PORTS + (uint32_t)(next_random(state) % ROWS_BITS), count, odd;
    fr coefficient, twice;
    count = (uint32_t)(next_random(state) % (small ? 8 : ROWS_PORTS + ROWS_BITS - from + 1));
    if (count > ROWS_PORTS + ROWS_BITS - from)
        count = ROWS_PORTS + ROWS_BITS - from;
    odd = (uint32_t)(next_random(state) % 100); /* where doubling stops, if there */
    coefficient = value_of(next_random(state));
    for (uint32_t i = 0; i < count; i++) {
        if (small || i == odd)
            fr_from_u64(&coefficient, next_random(state) % 9 + 1);
        if (small && next_random(state) % 2)
            fr_neg(&coefficient, &coefficient);
        lc_add(l, variable_aux(from + i), &coefficient);
        fr_add(&twice, &coefficient, &coefficient);
        coefficient = twice;
    }
    if (next_random(state) % 3 == 0)
        lc_add_one(l, VARIABLE_ONE);
    for (uint32_t i = 0; i < ROWS_PORTS; i++)
        if (next_random(state) % 8 == 0 && !(small && port_is_field(i)))
            lc_sub_one(l, variable_aux(i));
    for (uint32_t i = 0; i < ROWS_FIELDS && !small; i++) {
        uint64_t kind = next_random(state) % 8;
        coefficient = value_of(next_random(state) % 50);
        if (kind == 0)
            lc_add_one(l, variable_aux(ROWS_PORTS + ROWS_BITS + i));
        else if (kind == 1)
            lc_sub_one(l, variable_aux(ROWS_PORTS + ROWS_BITS + i));
        else if (kind == 2)
            lc_add(l, variable_aux(ROWS_PORTS + ROWS_BITS + i), &coefficient);
    }
}

static struct status record_rows(struct shape_builder *builder, uint32_t ports, uint32_t rows,
                                 uint64_t *state)
{
    struct cs cs;
    struct template t;
    uint32_t number;
    TRY(cs_init(&cs, shape_builder_dictionary(builder), true, false));
    for (uint32_t i = 0; i < ports; i++)
        (void)cs_alloc(&cs, port_is_field(i) ? KIND_FIELD : KIND_BIT, NULL);
    for (uint32_t i = 0; i < ROWS_BITS + ROWS_FIELDS; i++)
        (void)cs_alloc(&cs, i < ROWS_BITS ? KIND_BIT : KIND_FIELD, NULL);
    for (uint32_t i = 0; i < rows; i++) {
        struct lc *sides = cs_row(&cs);
        for (uint32_t k = 0; k < 3; k++)
            random_combination(&sides[k], state, next_random(state) % 2);
        if (next_random(state) % 4 == 0) { /* A may come from C */
            lc_clear(&sides[1]);
            lc_add_one(&sides[1], VARIABLE_ONE);
        }
        cs_enforce_row(&cs);
    }
    struct status s = cs.error;
    if (!status_failed(&s))
        s = template_from_cs(&t, &cs, "rows", ports, NULL, 0, false, NULL, NULL, 0);
    if (!status_failed(&s))
        s = shape_builder_template(builder, &number, &t);
    cs_end(&cs);
    return s;
}

static struct status place_rows(struct shape_builder *builder, uint32_t rows, uint32_t instances)
{
    uint64_t state = 1;
    uint32_t first, field;
    variable input = shape_builder_input(builder);
    TRY(record_rows(builder, 0, 0, &state));
    TRY(record_rows(builder, ROWS_PORTS, rows, &state));
    TRY(shape_builder_place(builder, 0, NULL, 0, &first, &field));
    for (uint32_t i = 0; i < instances; i++) {
        struct port_run runs[4] = {
            {variable_aux(first + 30 + i), 3, 0},
            {i % 2 ? VARIABLE_ONE : input, 1, 0},
            {variable_aux(first + ROWS_BITS + i), 1, 0},
            {variable_aux(first + 7 * i), 4, 0},
        };
        TRY(shape_builder_place(builder, 1, runs, 4, &first, &field));
    }
    return status_ok();
}

static struct status make_rows(struct witness_case *out, uint32_t rows, uint32_t instances)
{
    struct shape_builder *builder;
    uint64_t state = 2;
    TRY(shape_builder_start(&builder));
    struct status s = place_rows(builder, rows, instances);
    if (status_failed(&s)) {
        shape_builder_abandon(builder);
        return s;
    }
    TRY(shape_builder_finish(&out->shape, builder));
    TRY(seeds_start(&out->seeds, out->shape));
    for (uint32_t i = 1; i < out->shape->inputs + out->shape->seed_fields; i++) {
        fr value = value_of(next_random(&state));
        if (i < out->shape->inputs)
            seeds_input(&out->seeds, &value);
        else
            seeds_field(&out->seeds, &value);
    }
    for (uint32_t i = 0; i < out->shape->seed_bits; i++)
        seeds_bits(&out->seeds, next_random(&state), 1);
    return status_ok();
}

/* ---- circuits of proofs ---- */

static struct status from_request(struct witness_case *out, const struct proof_request *wanted,
                                  const struct work *work)
{
    struct request *request;
    TRY(request_open(&request, wanted, work));
    struct status s = request_seeds(&out->seeds, request, out->shape, 0);
    request_end(request);
    return s;
}

static struct status make_porep(struct witness_case *out, const struct sector_size *sector,
                                const struct work *work)
{
    struct c1 c1;
    struct fabricate_porep_request q = {
        .seal = &REGISTERED_SEAL[5], .sector = sector, .miner = 1000, .sector_number = 1};
    TRY(fabricate_porep(&c1, &q, work));
    struct status s = porep_seeds(&out->seeds, out->shape, &c1, 0);
    c1_end(&c1);
    return s;
}

static struct status make_post(struct witness_case *out, enum proof_kind kind,
                               const struct sector_size *sector, const struct work *work)
{
    uint64_t number = 0;
    const struct registered_post *post;
    while ((post = registered_post(number)) != NULL && (post->kind != kind || post->sector != sector))
        number++;
    if (post == NULL)
        return status_error(STATUS_INVALID, "no such PoSt");
    size_t count = kind == PROOF_WINDOW ? sector->window_sectors : 1;
    uint64_t *ids = mem_alloc(count, sizeof *ids);
    struct bytes_view *views = mem_alloc(count, sizeof *views);
    struct fabricated_post made = {.vanilla = NULL};
    struct fabricate_post_request q = {post, 0, ids, count, NULL};
    struct status s = ids && views ? status_ok() : mem_failed("test", count, sizeof *views);
    for (size_t i = 0; i < count && !status_failed(&s); i++)
        ids[i] = i;
    if (!status_failed(&s))
        s = fabricate_post(&made, &q, work);
    if (!status_failed(&s)) {
        for (size_t i = 0; i < count; i++)
            views[i] = (struct bytes_view){made.vanilla + i * made.sector_bytes, made.sector_bytes};
        struct proof_request wanted = {.kind = kind,
                                       .registered_proof = number,
                                       .randomness = {made.randomness, 32},
                                       .vanilla = views,
                                       .vanilla_count = count};
        s = from_request(out, &wanted, work);
        fabricated_post_end(&made);
    }
    mem_free(ids);
    mem_free(views);
    return s;
}

static struct status make_snap(struct witness_case *out, const struct sector_size *sector,
                               const struct work *work)
{
    struct fabricated_snap made;
    struct bytes_view views[SNAP_PARTITIONS_MAX];
    uint64_t number = 0;
    const struct registered_update *update;
    while ((update = registered_update(number)) != NULL && update->size->sector != sector)
        number++;
    if (update == NULL)
        return status_error(STATUS_INVALID, "no such update");
    TRY(fabricate_snap(&made, update->size, NULL, work));
    for (uint32_t k = 0; k < made.partitions; k++)
        views[k] = (struct bytes_view){made.vanilla + k * made.partition_bytes, made.partition_bytes};
    struct proof_request wanted = {.kind = PROOF_SNAP,
                                   .registered_proof = number,
                                   .comm_r_old = {made.comm_r_old, 32},
                                   .comm_r_new = {made.comm_r_new, 32},
                                   .comm_d_new = {made.comm_d_new, 32},
                                   .vanilla = views,
                                   .vanilla_count = made.partitions};
    struct status s = from_request(out, &wanted, work);
    fabricated_snap_end(&made);
    return s;
}

struct status witness_case_make(struct witness_case *out, const char *name, const struct work *work)
{
    enum proof_kind kind;
    const struct sector_size *sector;
    *out = (struct witness_case){.shape = NULL};
    struct status s;
    if (strcmp(name, "steps") == 0) {
        s = make_steps(out);
    } else if (strcmp(name, "rows") == 0) {
        s = make_rows(out, 777, 5);
    } else if (strncmp(name, "rows-", 5) == 0) {
        s = make_rows(out, (uint32_t)strtoul(name + 5, NULL, 10), 1);
    } else if (!circuit_by_name(&kind, &sector, name)) {
        s = status_error(STATUS_INVALID, "no circuit %s", name);
    } else {
        s = circuit_shape(&out->shape, kind, sector);
        if (!status_failed(&s))
            s = kind == PROOF_POREP  ? make_porep(out, sector, work)
                : kind == PROOF_SNAP ? make_snap(out, sector, work)
                                     : make_post(out, kind, sector, work);
    }
    if (status_failed(&s))
        witness_case_end(out);
    return s;
}

void witness_case_end(struct witness_case *c)
{
    if (c->shape)
        shape_release(c->shape);
    seeds_end(&c->seeds);
}
