/* Shapes against the generic system: digests, densities, counts, walks in pieces; what the builder refuses;
 * waves; the file form, whole and damaged; every allocation failing once. */
#include "random_circuit.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/sha256.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define assert_ok(expression)                                                                                \
    do {                                                                                                     \
        struct status assert_status_ = (expression);                                                         \
        if (status_failed(&assert_status_))                                                                  \
            fail_msg("%s", assert_status_.message);                                                          \
    } while (0)

static bool bit(const uint64_t *words, uint32_t at)
{
    return words[at / 64] >> (at % 64) & 1;
}

static void check_density(const struct random_circuit *c)
{
    const struct cs *cs = &c->oracle;
    const struct row_store *r = &cs->rows;
    uint8_t *seen = calloc((size_t)cs->aux + cs->inputs, 1);
    uint64_t terms[3] = {cs->inputs, 0, 0};
    for (uint64_t side = 0; side < 3 * (uint64_t)r->rows; side++) {
        terms[side % 3] += r->first[side + 1] - r->first[side];
        for (uint64_t i = r->first[side]; i < r->first[side + 1] && side % 3 < 2; i++) {
            variable v = {r->columns[i]};
            seen[variable_index(v) + (variable_is_aux(v) ? cs->inputs : 0)] |= (uint8_t)(1 << side % 3);
        }
    }
    const struct density *d = &c->shape->density;
    uint32_t counts[3] = {0};
    for (uint32_t i = 0; i < cs->inputs; i++) {
        assert_int_equal(bit(d->b_input, i), seen[i] >> 1 & 1);
        counts[0] += seen[i] >> 1 & 1;
    }
    for (uint32_t i = 0; i < cs->aux; i++) {
        assert_int_equal(bit(d->a_aux, i), seen[cs->inputs + i] & 1);
        assert_int_equal(bit(d->b_aux, i), seen[cs->inputs + i] >> 1 & 1);
        counts[1] += seen[cs->inputs + i] & 1;
        counts[2] += seen[cs->inputs + i] >> 1 & 1;
    }
    assert_int_equal(d->b_input_count, counts[0]);
    assert_int_equal(d->a_aux_count, counts[1]);
    assert_int_equal(d->b_aux_count, counts[2]);
    for (int k = 0; k < 3; k++)
        assert_int_equal(c->shape->terms[k], terms[k]);
    free(seen);
}

static void check_against_oracle(const struct random_circuit *c)
{
    uint8_t ours[32], oracle[32];
    const struct cs *cs = &c->oracle;
    assert_int_equal(c->shape->rows, cs->rows.rows);
    assert_int_equal(c->shape->aux, cs->aux);
    assert_int_equal(c->shape->inputs, cs->inputs);
    for (int round = 0; round < 6; round++) {
        uint32_t end = round < 2 ? UINT32_MAX : random_below(cs->rows.rows + 1);
        assert_ok(shape_rows_digest(ours, c->shape, round % 2, end));
        cs_rows_digest(oracle, cs, round % 2, end);
        assert_memory_equal(ours, oracle, 32);
    }
    unsigned k = shape_log2_domain(c->shape);
    assert_true(UINT64_C(1) << k >= shape_all_rows(c->shape));
    assert_true(k == 0 || UINT64_C(1) << (k - 1) < shape_all_rows(c->shape));
    check_density(c);
}

static void random_shapes_equal_the_generic_system(void **state)
{
    (void)state;
    uint32_t aliased = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct random_circuit c;
        print_message("seed %llu\n", (unsigned long long)seed);
        random_seed(seed);
        random_circuit_make(&c, (uint32_t)seed % 40, 2 + (uint32_t)(seed * 7) % 90);
        check_against_oracle(&c);
        assert_int_equal(cs_first_unsatisfied(&c.oracle), UINT32_MAX);
        aliased += c.aliased;
        random_circuit_end(&c);
    }
    assert_true(aliased > 100);
}

/* ---- walks in pieces ---- */

struct walk_log {
    const struct shape *shape;
    struct sha256 hash;
    uint32_t next;
    uint64_t terms[3];
};

static void log_row(void *context, const struct row_view *row)
{
    struct walk_log *log = context;
    assert_int_equal(row->row, log->next++);
    for (int k = 0; k < 3; k++) {
        log->terms[k] += row->count[k];
        sha256_add(&log->hash, &row->count[k], sizeof row->count[k]);
        for (uint32_t i = 0; i < row->count[k]; i++) {
            struct row_term t = row->terms[k][i];
            assert_true(i == 0 || row->terms[k][i - 1].column < t.column);
            sha256_add(&log->hash, &t.column, sizeof t.column);
            sha256_add(&log->hash, row_coefficient(log->shape, row, t), sizeof(fr));
        }
    }
}

static void walks_in_pieces_see_the_same_rows(void **state)
{
    (void)state;
    random_seed(7);
    struct random_circuit c;
    random_circuit_make(&c, 30, 60);
    uint8_t whole[32], pieces[32];
    for (int round = 0; round < 20; round++) {
        struct walk_log log = {.shape = c.shape};
        sha256_begin(&log.hash);
        uint32_t end = shape_all_rows(c.shape);
        for (uint32_t begin = 0; begin < end;) {
            uint32_t stop = round == 0 ? end : begin + random_below(round == 1 ? 3 : 200);
            stop = stop < end ? stop : end;
            assert_ok(shape_visit_rows(c.shape, begin, stop, log_row, &log));
            assert_int_equal(log.next, stop);
            begin = stop;
        }
        sha256_end(&log.hash, round ? pieces : whole);
        for (int k = 0; k < 3; k++)
            assert_int_equal(log.terms[k], c.shape->terms[k]);
        if (round)
            assert_memory_equal(whole, pieces, 32);
    }
    random_circuit_end(&c);
}

/* ---- small circuits by hand ---- */

static void nothing(const struct expansion *x)
{
    (void)x;
}
static const struct expander empty_expander = {7, "empty", nothing, NULL};

/* A template with bit_ports bit ports, then field_ports field ports; locals: a seed bit, a seed number, a
 * derived bit, a derived number (seeds all if there is no expander). One row names all of them. */
enum how { SEEDS_ONLY, EXPANDS, EXPANDS_BLIND };
static uint32_t add_template(struct shape_builder *b, uint32_t bit_ports, uint32_t field_ports, enum how how)
{
    static const uint8_t seed[4] = {1, 1, 0, 0};
    struct cs cs;
    struct lc l;
    struct template t;
    uint32_t number;
    assert_ok(cs_init(&cs, shape_builder_dictionary(b), true, false));
    lc_init(&l);
    for (uint32_t i = 0; i < bit_ports + field_ports; i++)
        lc_add_one(&l, cs_alloc(&cs, i < bit_ports ? KIND_BIT : KIND_FIELD, NULL));
    for (uint32_t i = 0; i < 4; i++)
        lc_add_one(&l, cs_alloc(&cs, i % 2 ? KIND_FIELD : KIND_BIT, NULL));
    cs_enforce(&cs, &l, &l, &l);
    assert_ok(template_from_cs(&t, &cs, "four", bit_ports + field_ports, how ? seed : NULL, 0,
                               how == EXPANDS && bit_ports + field_ports > 0, how ? &empty_expander : NULL,
                               NULL, 0));
    assert_ok(shape_builder_template(b, &number, &t));
    lc_end(&l);
    cs_end(&cs);
    return number;
}

static void place(struct shape_builder *b, uint32_t number, variable bit_port, variable field_port)
{
    struct port_run runs[2] = {{bit_port, 1, 0}, {field_port, 1, 0}};
    assert_ok(shape_builder_place(b, number, runs, 2, NULL, NULL));
}

static void waves_follow_derived_ports(void **state)
{
    (void)state;
    struct shape_builder *b;
    struct shape *s;
    assert_ok(shape_builder_start(&b));
    uint32_t open = add_template(b, 0, 0, EXPANDS), closed = add_template(b, 1, 1, EXPANDS);
    uint32_t seeds = add_template(b, 0, 0, SEEDS_ONLY), blind = add_template(b, 1, 1, EXPANDS_BLIND);
    variable input = shape_builder_input(b);
    assert_ok(shape_builder_place(b, seeds, NULL, 0, NULL, NULL)); /* aux 0: all seeds */
    assert_ok(shape_builder_place(b, open, NULL, 0, NULL, NULL));  /* aux 4: wave 0 */
    place(b, closed, variable_aux(0), variable_aux(5));            /* aux 8: seeds only, wave 0 */
    place(b, closed, variable_aux(6), variable_aux(1));            /* aux 12: derived of wave 0, wave 1 */
    place(b, closed, variable_aux(4), variable_aux(15));           /* aux 16: derived of wave 1, wave 2 */
    place(b, closed, variable_aux(8), input);                      /* aux 20: wave 0 */
    place(b, closed, variable_aux(14), variable_aux(19));          /* aux 24: derived of 1 and 2, wave 3 */
    place(b, blind, variable_aux(26), variable_aux(27));           /* aux 28: reads no port, wave 0 */
    place(b, closed, variable_aux(30), variable_aux(29));          /* aux 32: derived of wave 0, wave 1 */
    assert_int_equal(shape_builder_slot(b, variable_aux(15)), 7);
    assert_int_equal(shape_builder_slot(b, variable_aux(1)), 0);
    assert_ok(shape_builder_finish(&s, b));
    static const uint32_t wave[9] = {0, 0, 0, 1, 2, 0, 3, 0, 1}, first[5] = {0, 4, 6, 7, 8},
                          order[8] = {1, 2, 5, 7, 3, 8, 4, 6};
    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(s->instances[i].wave, wave[i]);
    assert_int_equal(s->waves, 4);
    assert_memory_equal(s->wave_first, first, sizeof first);
    assert_memory_equal(s->wave_instances, order, sizeof order);
    assert_int_equal(s->runs[s->instances[4].first_run + 1].slot, 7);
    uint32_t fields[18];
    shape_field_variables(fields, s);
    for (uint32_t i = 0; i < 18; i++)
        assert_int_equal(fields[i], 2 * i + 1);
    struct shape *again = shape_share(s);
    shape_release(s);
    assert_int_equal(again->rows, 9);
    shape_release(again);
}

static void refuses(struct shape_builder *b, uint32_t number, const struct port_run *runs, size_t count,
                    const char *because)
{
    uint32_t before[3], after[3];
    shape_builder_counts(b, &before[0], &before[1], &before[2]);
    struct status s = shape_builder_place(b, number, runs, count, NULL, NULL);
    assert_int_equal(s.code, STATUS_INVALID);
    if (!strstr(s.message, because))
        fail_msg("\"%s\" does not say \"%s\"", s.message, because);
    shape_builder_counts(b, &after[0], &after[1], &after[2]);
    assert_memory_equal(before, after, sizeof before);
}

static void builder_refuses_wrong_ports(void **state)
{
    (void)state;
    struct shape_builder *b;
    assert_ok(shape_builder_start(&b));
    uint32_t open = add_template(b, 0, 0, EXPANDS), wide = add_template(b, 2, 2, EXPANDS);
    variable input = shape_builder_input(b);
    assert_ok(shape_builder_place(b, open, NULL, 0, NULL, NULL));
    assert_ok(shape_builder_place(b, open, NULL, 0, NULL, NULL)); /* bits 0 2 4 6, numbers 1 3 5 7 */
    struct port_run good[4] = {
        {variable_aux(0), 1, 9}, {variable_aux(0), 1, 9}, {variable_aux(1), 1, 9}, {input, 1, 9}};
    struct port_run r[5];
    memcpy(r, good, sizeof good);
    refuses(b, wide, r, 3, "port 3 is not bound");
    refuses(b, wide, r, 0, "port 0 is not bound");
    r[4] = good[3];
    refuses(b, wide, r, 5, "more variables than ports");
    r[0].count = 2;
    refuses(b, wide, r, 4, "port 0 or one after it in its run is bound to a variable of another kind");
    r[0].count = 0;
    refuses(b, wide, r, 4, "port 0 begins a run that is empty");
    r[0].count = UINT32_MAX;
    refuses(b, wide, r, 4, "port 0 begins a run that is empty or longer");
    r[0].count = 3;
    refuses(b, wide, r, 4, "port 2 is of another kind");
    r[0] = (struct port_run){variable_aux(8), 1, 0};
    refuses(b, wide, r, 4, "port 0 is bound to a variable that does not exist yet");
    r[0] = (struct port_run){input, 1, 0};
    refuses(b, wide, r, 4, "port 0 is a bit and bound to a public input");
    r[0] = good[0];
    r[2] = (struct port_run){variable_aux(0), 1, 0};
    refuses(b, wide, r, 4, "port 2 or one");
    r[2] = (struct port_run){input, 2, 0};
    refuses(b, wide, r, 3, "port 2 is bound to a variable that does not exist yet");
    r[2] = (struct port_run){VARIABLE_ONE, 2, 0};
    assert_ok(shape_builder_place(b, wide, r, 3, NULL, NULL));
    assert_ok(shape_builder_place(b, wide, good, 4, NULL, NULL));
    shape_builder_abandon(b);
    shape_builder_abandon(NULL);
}

static void builder_refuses_wrong_templates(void **state)
{
    (void)state;
    struct shape_builder *b;
    uint32_t number;
    for (int fault = 0; fault < 9; fault++) {
        struct cs cs;
        struct lc l;
        struct template t;
        assert_ok(shape_builder_start(&b));
        assert_ok(cs_init(&cs, shape_builder_dictionary(b), true, false));
        lc_init(&l);
        for (int i = 0; i < 4; i++)
            lc_add_one(&l, cs_alloc(&cs, i % 2 ? KIND_FIELD : KIND_BIT, NULL));
        cs_enforce(&cs, &l, &l, &l);
        assert_ok(template_from_cs(&t, &cs, "wrong", 2, NULL, 0, false, NULL, NULL, 0));
        if (fault == 0)
            t.coefficients[3] = 2; /* not in the dictionary */
        if (fault == 1)
            t.columns[0] = (uint32_t)COLUMN_PORT_FIELD << COLUMN_SHIFT; /* a bit */
        if (fault == 2)
            t.columns[2] = (uint32_t)COLUMN_LOCAL_BIT << COLUMN_SHIFT | 2; /* beyond the locals */
        if (fault == 3)
            t.columns[1] = t.columns[2]; /* twice */
        if (fault == 4)
            t.columns[3] = UINT32_MAX;
        if (fault == 5)
            t.first[2] = t.first[1] - 1;
        if (fault == 6)
            t.first[0] = 1;
        if (fault == 7)
            t.first[1] = 1000000; /* beyond the terms, and back */
        struct status s = shape_builder_template(b, &number, &t);
        assert_int_equal(s.code, fault == 8 ? STATUS_OK : STATUS_INVALID);
        template_end(&t);
        lc_end(&l);
        cs_end(&cs);
        shape_builder_abandon(b);
    }
}

static void a_failed_system_gives_no_template(void **state)
{
    (void)state;
    struct dictionary d;
    struct cs cs;
    struct template t;
    assert_ok(dictionary_init(&d));
    assert_ok(cs_init(&cs, &d, true, false));
    cs.error = status_error(STATUS_UNSUPPORTED, "as if");
    assert_int_equal(template_from_cs(&t, &cs, "x", 0, NULL, 0, false, NULL, NULL, 0).code,
                     STATUS_UNSUPPORTED);
    cs_end(&cs);
    dictionary_end(&d);
}

static void an_empty_shape_has_only_input_rows(void **state)
{
    (void)state;
    struct shape_builder *b;
    struct shape *s;
    assert_ok(shape_builder_start(&b));
    assert_ok(shape_builder_finish(&s, b));
    assert_int_equal(shape_all_rows(s), 1);
    assert_int_equal(shape_log2_domain(s), 0);
    struct walk_log log = {.shape = s};
    sha256_begin(&log.hash);
    assert_ok(shape_visit_rows(s, 0, 1, log_row, &log));
    assert_int_equal(log.terms[0], 1);
    assert_int_equal(log.terms[1] + log.terms[2], 0);
    shape_release(s);
    shape_release(NULL);
}

/* ---- files ---- */

static void read_all(uint8_t **data, size_t *size, const char *path)
{
    assert_ok(file_read(data, size, path, (size_t)1 << 26, 0));
}

static void redo_digest(uint8_t *data, size_t size)
{
    sha256(data + size - 32, data, size - 32);
}

/* Whether the shape is what the bytes say, the digest at their end apart. */
static void assert_written_as(const struct shape *s, const char *path, const uint8_t *data, size_t size)
{
    uint8_t *again;
    size_t again_size;
    assert_ok(shape_save(s, path));
    read_all(&again, &again_size, path);
    assert_int_equal(again_size, size);
    assert_memory_equal(again, data, size - 32);
    mem_free(again);
}

static void assert_same_shape(const struct shape *x, const struct shape *y)
{
    assert_memory_equal(x->digest, y->digest, 32);
    assert_int_equal(x->aux, y->aux);
    assert_int_equal(x->rows, y->rows);
    assert_int_equal(x->fields, y->fields);
    assert_int_equal(x->seed_fields, y->seed_fields);
    assert_int_equal(x->seed_bits, y->seed_bits);
    assert_int_equal(x->hint_words, y->hint_words);
    assert_int_equal(x->waves, y->waves);
    assert_memory_equal(x->instances, y->instances, x->instances_count * sizeof *x->instances);
    assert_memory_equal(x->runs, y->runs, x->runs_count * sizeof *x->runs);
    assert_memory_equal(x->wave_instances, y->wave_instances, x->wave_first[x->waves] * sizeof(uint32_t));
    assert_memory_equal(x->density.a_aux, y->density.a_aux, (x->aux + 63) / 64 * 8);
    assert_memory_equal(x->terms, y->terms, sizeof x->terms);
}

static void files_give_the_shape_back(void **state)
{
    (void)state;
    char path[] = "/tmp/cuzk-shape-test-XXXXXX";
    close(mkstemp(path));
    for (uint64_t seed = 100; seed < 110; seed++) {
        struct random_circuit c;
        struct shape *s;
        random_seed(seed);
        random_circuit_make(&c, 20, 40);
        assert_ok(shape_save(c.shape, path));
        assert_ok(shape_load(&s, path, random_expanders, random_expanders_count));
        assert_same_shape(s, c.shape);
        shape_release(s);
        assert_int_equal(shape_load(&s, path, NULL, 0).code, STATUS_UNSUPPORTED);
        struct shape *kept = c.shape;
        shape_share(kept);
        random_circuit_end(&c);
        random_seed(seed + 1000);
        random_circuit_make(&c, 20, 40); /* other programs: the expander refuses the templates */
        assert_int_equal(shape_load(&s, path, random_expanders, random_expanders_count).code, STATUS_INVALID);
        random_circuit_end(&c);
        shape_release(kept);
    }
    unlink(path);
    struct shape *s;
    assert_int_equal(shape_load(&s, path, NULL, 0).code, STATUS_MISSING);
    assert_int_equal(shape_load(&s, "/tmp", NULL, 0).code, STATUS_INVALID);
}

/* Every byte that carries something, every length; with the digest made anew only a shape that says what the
 * file says may come out. */
static void damaged_files_are_refused(void **state)
{
    (void)state;
    char path[] = "/tmp/cuzk-shape-test-XXXXXX";
    close(mkstemp(path));
    struct random_circuit c;
    uint8_t *data;
    size_t size, accepted = 0, rejected = 0;
    struct shape *s;
    random_seed(5);
    random_circuit_make(&c, 6, 8);
    assert_ok(shape_save(c.shape, path));
    read_all(&data, &size, path);
    for (size_t cut = 0; cut < size; cut += cut < 200 || size - cut < 200 ? 1 : 97) {
        uint8_t *exact = malloc(cut + 1);
        memcpy(exact, data, cut);
        assert_int_equal(shape_parse(&s, exact, cut, random_expanders, 1).code, STATUS_INVALID);
        if (cut > 64) {
            redo_digest(exact, cut);
            assert_int_equal(shape_parse(&s, exact, cut, random_expanders, 1).code, STATUS_INVALID);
        }
        free(exact);
    }
    for (int round = 0; round < 6000; round++) {
        size_t at = random_below((uint32_t)size - 32);
        uint8_t old = data[at], change = (uint8_t)(1 << random_below(8));
        if (!old && random_below(8))
            continue; /* mostly padding */
        data[at] = (uint8_t)(old ^ change);
        struct status status = shape_parse(&s, data, size, random_expanders, 1);
        assert_true(status.code == STATUS_INVALID || status.code == STATUS_UNSUPPORTED);
        redo_digest(data, size);
        status = shape_parse(&s, data, size, random_expanders, 1);
        accepted += status.code == STATUS_OK;
        rejected += status.code != STATUS_OK;
        if (status.code == STATUS_OK) {
            assert_memory_equal(s->digest, data + size - 32, 32);
            if (accepted <= 20) /* writing waits for the disk */
                assert_written_as(s, path, data, size);
            shape_release(s);
        }
        data[at] = old;
        redo_digest(data, size);
    }
    assert_true(accepted > 20 && rejected > 500);
    assert_ok(shape_parse(&s, data, size, random_expanders, 1));
    shape_release(s);
    mem_free(data);
    unlink(path);
    random_circuit_end(&c);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct random_circuit c;
    char path[] = "/tmp/cuzk-shape-test-XXXXXX";
    close(mkstemp(path));
    size_t before = mem_used();
    random_seed(11);
    random_circuit_make(&c, 6, 8);
    assert_true(c.aliased > 0);
    assert_ok(shape_save(c.shape, path));
    random_circuit_end(&c);
    for (uint64_t n = 1;; n++) {
        random_seed(11);
        mem_fail_after(n);
        struct status s = random_circuit_try(&c, 6, 8);
        mem_fail_after(0);
        if (!status_failed(&s))
            break;
        assert_int_equal(s.code, STATUS_MEMORY);
        assert_int_equal(mem_used(), before);
    }
    size_t with = mem_used();
    for (uint64_t n = 1;; n++) {
        struct shape *shape;
        mem_fail_after(n);
        struct status s = shape_load(&shape, path, random_expanders, random_expanders_count);
        mem_fail_after(0);
        if (!status_failed(&s)) {
            assert_same_shape(shape, c.shape);
            shape_release(shape);
            break;
        }
        assert_int_equal(s.code, STATUS_MEMORY);
        assert_int_equal(mem_used(), with);
    }
    for (uint64_t n = 1;; n++) {
        uint8_t digest[32];
        mem_fail_after(n);
        struct status s = shape_rows_digest(digest, c.shape, true, UINT32_MAX);
        mem_fail_after(0);
        if (!status_failed(&s))
            break;
        assert_int_equal(s.code, STATUS_MEMORY);
    }
    random_circuit_end(&c);
    assert_int_equal(mem_used(), before);
    unlink(path);
}

static void bytes_are_what_is_held(void **state)
{
    (void)state;
    struct random_circuit c;
    random_seed(3);
    random_circuit_make(&c, 30, 40);
    size_t before = mem_used(), said = shape_bytes(c.shape);
    struct shape *s = c.shape;
    c.shape = NULL;
    shape_release(s);
    size_t held = before - mem_used();
    assert_true(said >= held * 95 / 100 && said <= held * 105 / 100);
    random_circuit_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_shapes_equal_the_generic_system),
        cmocka_unit_test(walks_in_pieces_see_the_same_rows),
        cmocka_unit_test(waves_follow_derived_ports),
        cmocka_unit_test(builder_refuses_wrong_ports),
        cmocka_unit_test(builder_refuses_wrong_templates),
        cmocka_unit_test(a_failed_system_gives_no_template),
        cmocka_unit_test(an_empty_shape_has_only_input_rows),
        cmocka_unit_test(files_give_the_shape_back),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(bytes_are_what_is_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
