/* The file form of a shape. The layout is a function of the counts, so that no offset has to be trusted:
 *
 *   64 bytes     header: magic, version, file size, counts
 *   then, each padded to a multiple of 64 bytes: the dictionary (32 canonical bytes each); the template
 * records; for each template its first, columns, coefficients, kinds and seeds; instances (template number,
 * runs); runs last         SHA-256 of everything before, 32 bytes
 *
 * All numbers are little-endian. Reading checks the size and the digest, hands dictionary, templates and
 * instances to the builder as a circuit would, and accepts the file only if the shape that comes out is
 * written as the same bytes: then the file is what shape_save() writes for it. */
#include "r1cs/shape.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "r1cs/internal.h"

#define ALIGNMENT      UINT64_C(64)
#define VERSION        1
#define HEADER_BYTES   52
#define TEMPLATE_BYTES (40 + 4 * (7 + TEMPLATE_PARAMETERS))
#define INSTANCE_BYTES 8
#define RUN_BYTES      8
#define DIGEST_BYTES   32
#define INPUTS_MAX     (UINT32_C(1) << 26) /* in files: the one count that costs memory without bytes */
static const uint8_t MAGIC[8] = {'c', 'u', 'z', 'k', 's', 'h', 'p', '1'};

/* ---- writing ---- */

/* Where the bytes go: into the hash, and into a file if there is one; or they are compared. */
struct sink {
    struct sha256 hash;
    struct file_writer *file;
    const uint8_t *expected; /* not NULL: compared with what is left of this, nothing else */
    bool differs;
    struct status status;
    uint64_t at;
    size_t used;
    uint8_t buffer[8192];
};

static void sink_flush(struct sink *k)
{
    if (k->expected) {
        k->differs = k->differs || memcmp(k->expected, k->buffer, k->used) != 0;
        k->expected += k->used;
    } else {
        sha256_add(&k->hash, k->buffer, k->used);
        if (k->file && !status_failed(&k->status))
            k->status = file_writer_add(k->file, k->buffer, k->used);
    }
    k->used = 0;
}

static uint8_t *sink_room(struct sink *k, size_t bytes)
{
    if (k->used + bytes > sizeof k->buffer)
        sink_flush(k);
    k->used += bytes;
    k->at += bytes;
    return k->buffer + k->used - bytes;
}

static void put8(struct sink *k, uint8_t value)
{
    *sink_room(k, 1) = value;
}

static void put16(struct sink *k, uint16_t value)
{
    store_le16(sink_room(k, 2), value);
}

static void put32(struct sink *k, uint32_t value)
{
    store_le32(sink_room(k, 4), value);
}

static void put64(struct sink *k, uint64_t value)
{
    store_le64(sink_room(k, 8), value);
}

static void put_padding(struct sink *k)
{
    while (k->at % ALIGNMENT)
        put8(k, 0);
}

static void put_template_record(struct sink *k, const struct template *t)
{
    memcpy(sink_room(k, sizeof t->name), t->name, sizeof t->name);
    put32(k, t->rows);
    put32(k, t->locals);
    put32(k, t->ports);
    put32(k, t->first[3 * t->rows]);
    put32(k, t->hint_words);
    put32(k, t->reads_ports);
    put32(k, t->expander ? t->expander->number : 0);
    for (int i = 0; i < TEMPLATE_PARAMETERS; i++)
        put32(k, t->parameters[i]);
}

static void put_template_arrays(struct sink *k, const struct template *t)
{
    uint32_t terms = t->first[3 * t->rows];
    for (uint32_t i = 0; i <= 3 * t->rows; i++)
        put32(k, t->first[i]);
    for (uint32_t i = 0; i < terms; i++)
        put32(k, t->columns[i]);
    for (uint32_t i = 0; i < terms; i++)
        put16(k, t->coefficients[i]);
    for (uint32_t i = 0; i < t->locals; i++)
        put8(k, t->local_kind[i]);
    for (uint32_t i = 0; i < t->locals; i++)
        put8(k, t->seed[i]);
    for (uint32_t i = 0; i < t->ports; i++)
        put8(k, t->port_kind[i]);
}

static uint64_t aligned(uint64_t at)
{
    return (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint64_t template_array_bytes(uint64_t rows, uint64_t locals, uint64_t ports, uint64_t terms)
{
    return 4 * (3 * rows + 1) + 6 * terms + 2 * locals + ports;
}

static uint64_t file_bytes(const struct shape *s)
{
    uint64_t at = aligned(aligned(HEADER_BYTES) + s->dictionary.count * UINT64_C(32));
    at = aligned(at + s->templates_count * (uint64_t)TEMPLATE_BYTES);
    for (uint32_t i = 0; i < s->templates_count; i++) {
        const struct template *t = &s->templates[i];
        at = aligned(at + template_array_bytes(t->rows, t->locals, t->ports, t->first[3 * t->rows]));
    }
    at = aligned(at + s->instances_count * (uint64_t)INSTANCE_BYTES);
    return aligned(at + s->runs_count * (uint64_t)RUN_BYTES) + DIGEST_BYTES;
}

static void put_shape(struct sink *k, const struct shape *s)
{
    memcpy(sink_room(k, sizeof MAGIC), MAGIC, sizeof MAGIC);
    put32(k, VERSION);
    put64(k, file_bytes(s));
    put32(k, s->inputs);
    put32(k, s->aux);
    put32(k, s->rows);
    put32(k, s->dictionary.count);
    put32(k, s->templates_count);
    put32(k, s->instances_count);
    put32(k, s->runs_count);
    put32(k, 0);
    put_padding(k);
    for (uint32_t i = 0; i < s->dictionary.count; i++)
        fr_to_bytes(sink_room(k, 32), &s->dictionary.values[i]);
    put_padding(k);
    for (uint32_t i = 0; i < s->templates_count; i++)
        put_template_record(k, &s->templates[i]);
    put_padding(k);
    for (uint32_t i = 0; i < s->templates_count; i++) {
        put_template_arrays(k, &s->templates[i]);
        put_padding(k);
    }
    for (uint32_t i = 0; i < s->instances_count; i++) {
        put32(k, s->instances[i].template_number);
        put32(k, instance_runs(s, i));
    }
    put_padding(k);
    for (uint32_t i = 0; i < s->runs_count; i++) {
        put32(k, s->runs[i].first.id);
        put32(k, s->runs[i].count);
    }
    put_padding(k);
    sink_flush(k);
}

/* Leaves the buffer as it is. */
static void sink_start(struct sink *k, struct file_writer *file, const uint8_t *expected)
{
    k->file = file;
    k->expected = expected;
    k->differs = false;
    k->status = status_ok();
    k->at = k->used = 0;
    sha256_begin(&k->hash);
}

/* Whether shape_save() would write these bytes, the digest apart. */
static bool is_written_as(const struct shape *s, const uint8_t *bytes, size_t size)
{
    struct sink k;
    if (file_bytes(s) != size + DIGEST_BYTES)
        return false;
    sink_start(&k, NULL, bytes);
    put_shape(&k, s);
    return !k.differs;
}

void shape_file_digest(uint8_t out[32], const struct shape *s)
{
    struct sink k;
    sink_start(&k, NULL, NULL);
    put_shape(&k, s);
    CHECK(k.at + DIGEST_BYTES == file_bytes(s));
    sha256_end(&k.hash, out);
}

struct status shape_save(const struct shape *shape, const char *path)
{
    struct file_writer writer;
    struct sink k;
    TRY(file_writer_open(&writer, path));
    sink_start(&k, &writer, NULL);
    put_shape(&k, shape);
    if (!status_failed(&k.status))
        k.status = file_writer_add(&writer, shape->digest, DIGEST_BYTES);
    if (status_failed(&k.status)) {
        file_writer_abandon(&writer);
        return k.status;
    }
    return file_writer_finish(&writer);
}

/* ---- reading ---- */

struct reader {
    struct cursor in;
    struct shape_builder *builder;
    const struct expander *const *expanders;
    size_t expanders_count;
    uint32_t inputs, aux, rows, dictionary, templates, instances, runs;
};

static struct status not_a_shape(const char *why)
{
    return status_hint(status_error(STATUS_INVALID, "not a valid shape file: %s", why),
                       "remove it; it is made again from the circuit");
}

static void skip_padding(struct cursor *c)
{
    (void)cursor_take(c, (size_t)(aligned(c->position) - c->position));
}

static struct status read_header(struct reader *r, size_t size)
{
    struct cursor *c = &r->in;
    uint8_t magic[8];
    cursor_copy(c, magic, sizeof magic);
    if (c->failed || memcmp(magic, MAGIC, sizeof MAGIC) != 0)
        return not_a_shape("it does not begin as one");
    uint32_t version = cursor_le32(c);
    if (!c->failed && version != VERSION)
        return status_error(STATUS_UNSUPPORTED, "shape file has version %u, this program reads %u", version,
                            VERSION);
    uint64_t bytes = cursor_le64(c);
    r->inputs = cursor_le32(c);
    r->aux = cursor_le32(c);
    r->rows = cursor_le32(c);
    r->dictionary = cursor_le32(c);
    r->templates = cursor_le32(c);
    r->instances = cursor_le32(c);
    r->runs = cursor_le32(c);
    (void)cursor_le32(c);
    skip_padding(c);
    if (c->failed || bytes != size)
        return status_error(STATUS_INVALID, "shape file is damaged: it has %zu bytes instead of %llu", size,
                            (unsigned long long)bytes);
    return status_ok();
}

static struct status read_dictionary(struct reader *r)
{
    struct dictionary *d = shape_builder_dictionary(r->builder);
    const uint8_t *bytes = cursor_take_array(&r->in, r->dictionary, 32);
    if (!bytes || r->dictionary < d->count)
        return not_a_shape("its dictionary is cut");
    for (uint32_t i = 0; i < r->dictionary; i++) {
        fr value;
        uint16_t number;
        if (!fr_from_bytes(&value, bytes + 32 * (size_t)i))
            return not_a_shape("a coefficient is not reduced");
        TRY(dictionary_number(d, &number, &value));
        if (number != i)
            return not_a_shape("its dictionary is not in order");
    }
    skip_padding(&r->in);
    return status_ok();
}

static const uint8_t *read_flags(uint8_t **out, struct cursor *c, uint32_t count)
{
    const uint8_t *bytes = cursor_take(c, count);
    *out = mem_alloc(count, 1);
    if (bytes && *out)
        memcpy(*out, bytes, count);
    return bytes;
}

static bool all_flags(const uint8_t *flags, uint32_t count)
{
    uint8_t seen = 0;
    for (uint32_t i = 0; i < count; i++)
        seen |= flags[i];
    return seen <= 1;
}

/* The arrays of a template whose record has been read. */
static struct status read_template_arrays(struct reader *r, struct template *t, uint32_t terms)
{
    struct cursor *c = &r->in;
    size_t sides = 3 * (size_t)t->rows + 1;
    if (template_array_bytes(t->rows, t->locals, t->ports, terms) > cursor_left(c))
        return not_a_shape("a template is cut");
    const uint8_t *first = cursor_take_array(c, sides, 4), *columns = cursor_take_array(c, terms, 4);
    const uint8_t *coefficients = cursor_take_array(c, terms, 2);
    t->first = mem_alloc(sides, sizeof *t->first);
    t->columns = mem_alloc(terms, sizeof *t->columns);
    t->coefficients = mem_alloc(terms, sizeof *t->coefficients);
    read_flags(&t->local_kind, c, t->locals);
    read_flags(&t->seed, c, t->locals);
    read_flags(&t->port_kind, c, t->ports);
    if (!t->first || !t->columns || !t->coefficients || !t->local_kind || !t->seed || !t->port_kind)
        return mem_failed("template", sides + 2 * (size_t)terms, sizeof(uint32_t));
    if (c->failed || !all_flags(t->local_kind, t->locals) || !all_flags(t->seed, t->locals) ||
        !all_flags(t->port_kind, t->ports))
        return not_a_shape("a template has unknown kinds");
    for (size_t i = 0; i < sides; i++)
        t->first[i] = load_le32(first + 4 * i);
    for (size_t i = 0; i < terms; i++) {
        t->columns[i] = load_le32(columns + 4 * i);
        t->coefficients[i] = load_le16(coefficients + 2 * i);
    }
    if (t->first[sides - 1] != terms)
        return not_a_shape("the terms of a template do not fit its rows");
    skip_padding(c);
    return template_index(t);
}

static struct status find_expander(const struct expander **out, const struct reader *r, uint32_t number)
{
    *out = NULL;
    if (number == 0)
        return status_ok();
    for (size_t i = 0; i < r->expanders_count; i++)
        if (r->expanders[i]->number == number)
            *out = r->expanders[i];
    if (!*out)
        return status_error(STATUS_UNSUPPORTED, "shape file needs expander %u, which this program lacks",
                            number);
    return status_ok();
}

/* Reads one record, and the arrays that belong to it. */
static struct status read_template(struct reader *r, struct template *t, struct cursor *records)
{
    cursor_copy(records, t->name, sizeof t->name);
    t->rows = cursor_le32(records);
    t->locals = cursor_le32(records);
    t->ports = cursor_le32(records);
    uint32_t terms = cursor_le32(records);
    t->hint_words = cursor_le32(records);
    uint32_t reads_ports = cursor_le32(records), expander = cursor_le32(records);
    for (int i = 0; i < TEMPLATE_PARAMETERS; i++)
        t->parameters[i] = cursor_le32(records);
    t->reads_ports = reads_ports != 0;
    TRY(find_expander(&t->expander, r, expander));
    if (memchr(t->name, 0, sizeof t->name) == NULL || reads_ports > 1)
        return not_a_shape("a template's record is damaged");
    TRY(read_template_arrays(r, t, terms));
    if (!t->expander && (t->hint_words || t->reads_ports || t->seed_fields + t->seed_bits != t->locals))
        return not_a_shape("a template without expander has derived variables");
    if (t->expander && t->expander->fits && !t->expander->fits(t))
        return not_a_shape("a template is not one that its expander can fill");
    uint32_t number;
    return shape_builder_template(r->builder, &number, t);
}

static struct status read_templates(struct reader *r)
{
    const uint8_t *bytes = cursor_take_array(&r->in, r->templates, TEMPLATE_BYTES);
    if (!bytes)
        return not_a_shape("its list of templates is cut");
    struct cursor records = cursor_over(bytes, (size_t)r->templates * TEMPLATE_BYTES);
    skip_padding(&r->in);
    for (uint32_t i = 0; i < r->templates; i++) {
        struct template t = {0};
        struct status s = read_template(r, &t, &records);
        template_end(&t); /* empty if the builder took it */
        TRY(s);
    }
    return status_ok();
}

static struct status read_instances(struct reader *r)
{
    const uint8_t *places = cursor_take_array(&r->in, r->instances, INSTANCE_BYTES);
    skip_padding(&r->in);
    const uint8_t *bytes = cursor_take_array(&r->in, r->runs, RUN_BYTES);
    skip_padding(&r->in);
    if (!places || !bytes || r->in.failed || cursor_left(&r->in) != 0)
        return not_a_shape("its list of instances is cut or followed by something else");
    uint32_t at = 0, rows = 0, aux = 0, inputs = 0;
    struct port_run *runs = mem_alloc(r->runs, sizeof *runs);
    if (!runs)
        return mem_failed("runs of ports", r->runs, sizeof *runs);
    for (uint32_t i = 0; i < r->runs; i++)
        runs[i] = (struct port_run){
            {load_le32(bytes + RUN_BYTES * (size_t)i)}, load_le32(bytes + RUN_BYTES * (size_t)i + 4), 0};
    struct status s = status_ok();
    for (uint32_t i = 0; i < r->instances && !status_failed(&s); i++) {
        uint32_t number = load_le32(places + INSTANCE_BYTES * (size_t)i);
        uint32_t count = load_le32(places + INSTANCE_BYTES * (size_t)i + 4);
        if (number >= r->templates || count > r->runs - at)
            s = not_a_shape("an instance names a template or runs that do not exist");
        else
            s = shape_builder_place(r->builder, number, runs + at, count, NULL, NULL);
        at += count;
        shape_builder_counts(r->builder, &rows, &aux, &inputs);
        if (!status_failed(&s) && (rows > r->rows || aux > r->aux))
            s = not_a_shape("it has more rows or variables than it says");
    }
    mem_free(runs);
    TRY(s);
    if (at != r->runs || rows != r->rows || aux != r->aux)
        return not_a_shape("its counts do not agree with its instances");
    return status_ok();
}

static struct status read_parts(struct reader *r)
{
    TRY(read_dictionary(r));
    if (r->inputs == 0 || r->inputs > INPUTS_MAX)
        return not_a_shape("it has no or too many public inputs");
    for (uint32_t i = 1; i < r->inputs; i++)
        (void)shape_builder_input(r->builder);
    TRY(read_templates(r));
    return read_instances(r);
}

struct status shape_parse(struct shape **out, const uint8_t *data, size_t size,
                          const struct expander *const *expanders, size_t expanders_count)
{
    uint8_t digest[DIGEST_BYTES];
    *out = NULL;
    if (size < DIGEST_BYTES)
        return not_a_shape("it is too short");
    struct reader r = {.in = cursor_over(data, size - DIGEST_BYTES),
                       .expanders = expanders,
                       .expanders_count = expanders_count};
    TRY(read_header(&r, size));
    sha256(digest, data, size - DIGEST_BYTES);
    if (memcmp(digest, data + size - DIGEST_BYTES, DIGEST_BYTES) != 0)
        return not_a_shape("it is damaged (its digest differs)");
    TRY(shape_builder_start(&r.builder));
    struct status s = read_parts(&r);
    if (status_failed(&s)) {
        shape_builder_abandon(r.builder);
        return s;
    }
    TRY(shape_builder_finish_as(out, r.builder, digest));
    if (is_written_as(*out, data, size - DIGEST_BYTES))
        return status_ok();
    shape_release(*out);
    *out = NULL;
    return not_a_shape("it is not in the form in which shapes are written");
}

struct status shape_load(struct shape **out, const char *path, const struct expander *const *expanders,
                         size_t expanders_count)
{
    struct file_map map;
    *out = NULL;
    TRY(file_map_open(&map, path));
    struct status s = shape_parse(out, map.data, map.size, expanders, expanders_count);
    file_map_close(&map);
    return status_failed(&s) ? status_within(s, "\"%s\"", path) : s;
}
