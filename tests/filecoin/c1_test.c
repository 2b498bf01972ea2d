/* The C1 output: both written forms to the byte, every rule of the format with the error's place, cuts at
 * every byte, failing allocations, and large made-up outputs of every tree shape. */
#include "support.h"
#include "base/bytes.h"
#include "filecoin/base64.h"
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void check_public_values(const struct c1 *c1, bool wrapped)
{
    assert_string_equal(c1->seal->name, "StackedDrg2KiBV1_1");
    assert_string_equal(c1->sector->name, "2KiB");
    assert_int_equal(c1->partitions, 1);
    assert_int_equal(c1->challenges, 2);
    assert_int_equal(c1->wrapped, wrapped);
    assert_true(c1->sector_number == (wrapped ? 1 : 0));
    same_hex(c1->comm_d, 32, "a93b943af3658299a363ece64e2a1229a9701cc1d722f386f10816e398bbb212");
    same_hex(c1->comm_r, 32, "a756d696775e623f97fb562fe1bbb3a073c2ebdc42dd899f4b9cc2d190b9e119");
    same_hex(c1->replica_id, 32, "81e135c6566e304ce8944de204a0ce9a92d24d3f7de8b4bac913eb1e3c479c15");
    for (int i = 0; i < 32; i++)
        assert_true(c1->seed[i] == 2 && c1->ticket[i] == 1);
}

static void both_forms(void **state)
{
    (void)state;
    for (int wrapped = 0; wrapped < 2; wrapped++) {
        struct c1 c1;
        size_t size, written_size;
        uint8_t *data = test_file(wrapped ? "porep-2k/c1-wrapped.json" : "porep-2k/c1.json", &size), *written;
        ok(c1_parse(&c1, data, size));
        check_public_values(&c1, wrapped);
        const struct vanilla_proof *p = c1_proof(&c1, 0, 0);
        assert_int_equal(p->c_x.index, 55);
        assert_int_equal(p->parents[0].index, 54);
        assert_int_equal(p->parents[13].index, 20);
        assert_int_equal(p->labels[1].layer, 2);
        assert_int_equal(p->labels[1].node, 55);
        assert_int_equal(c1_proof(&c1, 0, 1)->encoding.node, 54);
        same_hex(p->c_x.rows[0], 32, "850fc98ea3c38f2e841ff5e59f53daf645d8dd8cd63edc766ae527c80f83d02d");
        same_hex(p->comm_d.leaf, 32, "f62d10d8a61decc9e79c9600a624deb2d2302e35014f64790bd3983abcdb442e");
        ok(c1_write(&written, &written_size, &c1, wrapped));
        assert_int_equal(written_size, size);
        assert_memory_equal(written, data, size);
        mem_free(written);
        mem_free(data);
        c1_end(&c1);
    }
}

static void larger_sector(void **state)
{
    (void)state;
    struct c1 c1;
    size_t size, written_size;
    uint8_t *data = test_file("porep-8m/c1.json", &size), *written;
    ok(c1_parse(&c1, data, size));
    assert_string_equal(c1.seal->name, "StackedDrg8MiBV1_1");
    assert_int_equal(c1_proof(&c1, 0, 0)->comm_d.length, 18);
    assert_int_equal(c1_proof(&c1, 0, 0)->comm_r_last.length, 6);
    ok(c1_write(&written, &written_size, &c1, false));
    assert_int_equal(written_size, size);
    assert_memory_equal(written, data, size);
    mem_free(written);
    mem_free(data);
    c1_end(&c1);
}

/* Text with room to change it. */
struct text {
    char *bytes;
    size_t size;
};

static struct text load(const char *name)
{
    struct text t;
    t.bytes = (char *)test_file(name, &t.size);
    return t;
}

/* The text with the n-th occurrence (from 0) of `from` replaced by `to`. */
static struct text replace(const struct text *in, const char *from, unsigned n, const char *to)
{
    char *at = strstr(in->bytes, from);
    while (at && n--)
        at = strstr(at + 1, from);
    if (!at)
        fail_msg("\"%s\" is not in the text", from);
    size_t before = (size_t)(at - in->bytes), cut = strlen(from), add = strlen(to);
    struct text out = {mem_alloc_zero(1, in->size + add + C1_PADDING), in->size - cut + add};
    memcpy(out.bytes, in->bytes, before);
    memcpy(out.bytes + before, to, add);
    memcpy(out.bytes + before + add, at + cut, in->size - before - cut);
    return out;
}

static struct status parse_text(struct c1 *c1, const struct text *t)
{
    return c1_parse(c1, (const uint8_t *)t->bytes, t->size);
}

static void drop(struct text *t)
{
    mem_free(t->bytes);
}

/* The other writer's order of keys, white space, unknown keys, escaped keys. */
static void other_writers(void **state)
{
    (void)state;
    struct text t = load("porep-2k/c1.json");
    char *proofs = strstr(t.bytes, "\"vanilla_proofs\""), *comm_r = strstr(t.bytes, "\"comm_r\":"),
         *comm_d = strstr(t.bytes, "\"comm_d\":"), *replica = strstr(t.bytes, "\"replica_id\":"),
         *seed = strstr(t.bytes, "\"seed\":"), *ticket = strstr(t.bytes, "\"ticket\":");
    struct text go = {mem_alloc_zero(2, t.size), 0};
#define PART(from, to) (int)((to) - (from)), from
    go.size =
        (size_t)snprintf(go.bytes, 2 * t.size,
                         "\r\n {%.*s%.*s\"registered_proof\" : "
                         "\"StackedDrg2KiBV1_1\",\n%.*s%.*s\"other\":{\"a\":[1,-2.5e3,{\"b\":"
                         "[]},[[]],{}],\"c\":null,\"d\":true,\"registered_proof\":7},%.*s ,%.*s} \n",
                         PART(comm_d, replica), PART(comm_r, comm_d), PART(replica, seed), PART(seed, ticket),
                         PART(ticket, t.bytes + t.size - 1), PART(proofs, comm_r - 1));
    struct c1 c1;
    ok(parse_text(&c1, &go));
    check_public_values(&c1, false);
    size_t size;
    uint8_t *written;
    ok(c1_write(&written, &size, &c1, false));
    assert_int_equal(size, t.size);
    assert_memory_equal(written, t.bytes, size);
    mem_free(written);
    c1_end(&c1);
    drop(&go);
    struct text escaped = replace(&t, "\"ticket\"", 0, "\"\\u0074icket\"");
    ok(parse_text(&c1, &escaped));
    c1_end(&c1);
    drop(&escaped);
    drop(&t);
    t = load("porep-2k/c1-wrapped.json");
    struct text more = replace(&t, "{", 0, "{\"Unknown\":[{}],");
    ok(parse_text(&c1, &more));
    check_public_values(&c1, true);
    c1_end(&c1);
    drop(&more);
    drop(&t);
}

struct change {
    const char *from;
    unsigned n;
    const char *to, *message;
    enum status_code code;
};

static void refuses_all(const char *file, const struct change *changes, size_t count)
{
    struct text t = load(file);
    for (size_t i = 0; i < count; i++) {
        const struct change *c = &changes[i];
        struct text bad = replace(&t, c->from, c->n, c->to);
        struct c1 c1;
        struct status s = parse_text(&c1, &bad);
        if (!status_failed(&s))
            fail_msg("change %zu (%s) was accepted", i, c->message);
        fails(s, c->code ? c->code : STATUS_INVALID, c->message);
        assert_null(c1.arena);
        drop(&bad);
    }
    drop(&t);
}

#define PROOF0 "C1 output: vanilla_proofs.StackedDrg2KiBV1[0][0]."
#define PROOF1 "C1 output: vanilla_proofs.StackedDrg2KiBV1[0][1]."

static void rules_of_the_format(void **state)
{
    (void)state;
    static const struct change changes[] = {
        {"StackedDrg2KiBV1_1", 0, "StackedDrg2KiBV1_9", "registered_proof: \"StackedDrg2KiBV1_9\" is no", 0},
        {"\"StackedDrg2KiBV1_1\"", 0, "5", "registered_proof: is not a string", 0},
        {"StackedDrg2KiBV1_1", 0, "StackedDrg8MiBV1_1",
         "StackedDrg8MiBV1_1, but the vanilla proofs are of a 2KiB", 0},
        {"StackedDrg2KiBV1_1", 0, "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep",
         "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep: non-interactive PoRep is not in this version",
         STATUS_UNSUPPORTED},
        {"\"StackedDrg2KiBV1\"", 0, "\"StackedDrg4KiBV1\"",
         "vanilla_proofs: \"StackedDrg4KiBV1\" is no sector", 0},
        {"\"StackedDrg2KiBV1\"", 0, "\"StackedDrg2KiBV1_1\"", "vanilla_proofs: \"StackedDrg2KiBV1_1\" is no",
         0},
        {"\"StackedDrg2KiBV1\"", 0, "\"StackedDrg8MiBV1\"",
         "StackedDrg8MiBV1[0][0].comm_d_proofs.data.Single.path.path: has 6 elements where 18", 0},
        {"\"StackedDrg2KiBV1\"", 0, "\"StackedDrg32GiBV1\"",
         "C1 output: vanilla_proofs.StackedDrg32GiBV1[0][0].comm_d_proofs", 0},
        {"{\"StackedDrg2KiBV1\"", 0, "[\"StackedDrg2KiBV1\"", "vanilla_proofs: is not an object", 0},
        {"\"StackedDrg2KiBV1\":", 0,
         "\"StackedDrg2KiBV1\":[],\"StackedDrg2KiBV1\":", "has 0 elements where 1 belong", 0},
        {"]]},\"comm_r\"", 0, "]],\"x\":1},\"comm_r\"", "vanilla_proofs: has more than one variant", 0},
        {"\"vanilla_proofs\":{", 0, "\"vanilla_proofs\":{},\"x\":{", "vanilla_proofs: names no variant", 0},
        {"]]},\"comm_r\"", 0, "],[]]},\"comm_r\"", "StackedDrg2KiBV1: has more than the 1 elements", 0},
        {"\"comm_r\":", 0, "\"comm_x\":", "C1 output: comm_r: is missing", 0},
        {"\"seed\":", 0, "\"ticket\":", "C1 output: ticket: appears twice", 0},
        {"\"seed\":", 0, "\"seed\":1,\"x\":", "C1 output: seed: is not an array of 32 bytes", 0},
        {"\"seed\":[2,2", 0, "\"seed\":[2,256", "C1 output: seed[1]: is out of range for a byte", 0},
        {"\"seed\":[2,2", 0, "\"seed\":[2,-2", "C1 output: seed[1]: ", 0},
        {"\"seed\":[2,2", 0, "\"seed\":[2,2.0", "C1 output: seed[1]: ", 0},
        {"\"seed\":[2,2", 0, "\"seed\":[2,02", "C1 output: seed", 0},
        {"\"seed\":[2,2", 0, "\"seed\":[2,\"2\"", "C1 output: seed[1]: is not an array of 32 bytes", 0},
        {"\"seed\":[2,2", 0, "\"seed\":[2,2,2", "C1 output: seed: has more than 32 bytes", 0},
        {"\"seed\":[2,2", 0, "\"seed\":[2", "C1 output: seed: has 31 bytes where 32 belong", 0},
        {"\"seed\":[2,2", 0, "\"seed\":[2 2", "C1 output: seed", 0},
        {"\"comm_d_proofs\":", 1, "\"comm_d_prooof\":", PROOF1 "comm_d_proofs: is missing", 0},
        {"\"Single\"", 0, "\"Sub\"", PROOF0 "comm_d_proofs.data: is \"Sub\" where \"Single\" belongs", 0},
        {"\"root\":", 1, "\"Root\":", PROOF0 "comm_r_last_proof.data.Single.root: is missing", 0},
        {"\"hashes\":[[", 1, "\"hashes\":[[0],[",
         PROOF0 "comm_d_proofs.data.Single.path.path[1].hashes[0]: has 1 bytes", 0},
        {"\"hashes\":", 7, "\"hashes\":{},\"x\":",
         PROOF0 "comm_r_last_proof.data.Single.path.path[1].hashes: is not an array", 0},
        {"\"index\":1", 0, "\"index\":2",
         PROOF0 "comm_d_proofs.data.Single.path.path[0].index: is 2 where less than 2", 0},
        {"\"index\":1", 0, "\"index\":18446744073709551616",
         PROOF0 "comm_d_proofs.data.Single.path.path[0].index: ", 0},
        {"\"index\":55,", 0, "\"index\":4294967296,",
         PROOF0 "replica_column_proofs.c_x.column.index: is 4294967296", 0},
        {"\"index\":55,", 0, "", PROOF0 "replica_column_proofs.c_x.column.index: is missing", 0},
        {"\"layer_index\":1,", 0, "", PROOF0 "labeling_proofs[0].layer_index: is missing", 0},
        {"\"node\":55", 1, "\"node\":[]", PROOF0 "labeling_proofs[1].node: is not a whole number", 0},
        {"\"drg_parents\":[", 1, "\"drg_parents\":[[],",
         PROOF1 "replica_column_proofs.drg_parents[0]: is not an object", 0},
    };
    refuses_all("porep-2k/c1.json", changes, sizeof changes / sizeof *changes);
}

/* r itself, r with a higher top byte, and all ones, in places of every kind; r - 1 is good. */
static void canonical_elements(void **state)
{
    (void)state;
    static const char *const values[] = {"1,0,0,0,255,255,255,255,254,91,254,255,2,164,189,83,5,216,161,9,8,"
                                         "216,57,51,72,125,157,41,83,167,237,115",
                                         "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,116",
                                         "255,255,255,255,255,255,255,255,255,255,255,255,255,255,255,255,"
                                         "255,255,255,255,255,255,255,255,255,255,255,"
                                         "255,255,255,255,255"};
    static const char *const places[][2] = {
        {"\"comm_d\":[", "C1 output: comm_d: is not a canonical"},
        {"\"replica_id\":[", "C1 output: replica_id: is not a canonical"},
        {"\"leaf\":[", PROOF0 "comm_d_proofs.data.Single.leaf: is not a canonical"},
        {"\"hashes\":[[", PROOF0 "comm_d_proofs.data.Single.path.path[0].hashes[0]: is not a canonical"},
        {"\"rows\":[[", PROOF0 "replica_column_proofs.c_x.column.rows[0]: is not a canonical"},
        {"\"parents\":[[", PROOF0 "labeling_proofs[0].parents[0]: is not a canonical"}};
    struct text t = load("porep-2k/c1.json");
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        for (size_t v = 0; v < 4; v++) {
            char to[256], cut[256] = "";
            const char *at = strstr(t.bytes, places[p][0]), *end = strchr(at, ']');
            memcpy(cut, at, (size_t)(end - at));
            snprintf(to, sizeof to, "%s%s%s", places[p][0], v < 3 ? values[v] : "0",
                     v < 3 ? "" : values[0] + 1);
            struct text bad = replace(&t, cut, 0, to);
            struct c1 c1;
            struct status s = parse_text(&c1, &bad);
            if (v == 3)
                ok(s);
            else
                fails(s, STATUS_INVALID, places[p][1]);
            c1_end(&c1);
            drop(&bad);
        }
    }
    drop(&t);
}

static void wrapper_rules(void **state)
{
    (void)state;
    static const struct change changes[] = {
        {"\"SectorSize\":2048", 0, "\"SectorSize\":8388608",
         "SectorSize is 8388608, but the vanilla proofs are of a 2KiB", 0},
        {"\"SectorNum\":1,", 0, "", "C1 output: SectorNum: is missing", 0},
        {",\"SectorSize\":2048", 0, "", "C1 output: SectorSize: is missing", 0},
        {"\"Phase1Out\"", 0, "\"phase1out\"", "C1 output: Phase1Out: is missing", 0},
        {"\"Phase1Out\":\"eyJ", 0, "\"Phase1Out\":\"ey!",
         "C1 output: Phase1Out: is not base64 at character 0 of", 0},
        {"\"Phase1Out\":\"eyJ", 0, "\"Phase1Out\":\"eyJyeyJ", "C1 output: Phase1Out: ", 0},
        {"\"Phase1Out\":\"eyJ", 0, "\"Phase1Out\":\"\",\"x\":\"", "C1 output: Phase1Out: ", 0},
        {"\"Phase1Out\":\"", 0, "\"Phase1Out\":null,\"x\":\"", "C1 output: Phase1Out: is not a string", 0},
        {"\"SectorNum\":1", 0,
         "\"SectorNum\":1,\"comm_d\":[1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]",
         "has the keys of a wrapper and of a bare C1 output", 0},
        {"\"SectorNum\":1", 0, "\"SectorNum\":-1", "C1 output: SectorNum: ", 0},
    };
    refuses_all("porep-2k/c1-wrapped.json", changes, sizeof changes / sizeof *changes);
    /* A wrapper inside a wrapper. */
    struct text t = load("porep-2k/c1-wrapped.json");
    size_t body = base64_encoded_size(t.size);
    struct text twice = {mem_alloc_zero(1, body + 200), 0};
    int head = sprintf(twice.bytes, "{\"SectorNum\":1,\"SectorSize\":2048,\"Phase1Out\":\"");
    base64_encode(twice.bytes + head, (uint8_t *)t.bytes, t.size);
    strcpy(twice.bytes + (size_t)head + body, "\"}");
    twice.size = strlen(twice.bytes);
    struct c1 c1;
    fails(parse_text(&c1, &twice), STATUS_INVALID, "C1 output: Phase1Out.registered_proof: is missing");
    drop(&twice);
    drop(&t);
}

static void other_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
        enum status_code code;
    } cases[] = {
        {"", "C1 output: is empty", STATUS_INVALID},
        {" \n\t", "C1 output: is empty", STATUS_INVALID},
        {"{}", "C1 output: registered_proof: is missing", STATUS_INVALID},
        {"[]", "does not begin with '{'", STATUS_UNSUPPORTED},
        {"\1", "the binary form is not read in this version", STATUS_UNSUPPORTED},
        {"null", "does not begin with '{'", STATUS_UNSUPPORTED},
        {"{", "not well-formed", STATUS_INVALID},
        {"{\"a\"}", "not well-formed", STATUS_INVALID},
        {"{\"a\":}", "not well-formed", STATUS_INVALID},
        {"{\"a\":1,}", "not well-formed", STATUS_INVALID},
        {"{\"a\":nul}", "C1 output", STATUS_INVALID},
        {"{\"a\":[1,2}", "not well-formed", STATUS_INVALID},
        {"{\"a\":\"\xff\"}", "not well-formed", STATUS_INVALID},
        {"{\"a\":\"\\x\"}", "not well-formed", STATUS_INVALID},
        {"{}}", "C1 output", STATUS_INVALID},
        {"{} {}", "something follows the end", STATUS_INVALID},
        {"{}]}", "something follows the end", STATUS_INVALID},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256] = "";
        struct c1 c1;
        strcpy(text, cases[i].text);
        fails(c1_parse(&c1, (uint8_t *)text, strlen(cases[i].text)), cases[i].code, cases[i].message);
    }
}

static void depth(void **state)
{
    (void)state;
    enum { DEEP = 100000 };
    char *text = mem_alloc_zero(1, 3 * DEEP + C1_PADDING);
    struct c1 c1;
    strcpy(text, "{\"a\":");
    memset(text + 5, '[', DEEP);
    memset(text + 5 + DEEP, ']', DEEP);
    text[5 + 2 * DEEP] = '}';
    fails(c1_parse(&c1, (uint8_t *)text, 2 * DEEP + 6), STATUS_INVALID, "nested too deeply");
    memset(text + 5, '[', 30);
    memset(text + 35, ']', 30);
    text[65] = '}';
    fails(c1_parse(&c1, (uint8_t *)text, 66), STATUS_INVALID, "registered_proof: is missing");
    mem_free(text);
}

/* Every cut of both forms is refused; what follows the cut in memory must not matter. The stride keeps the
 * test quick, --full takes every byte. */
static size_t cut_stride = 37;

static void cuts(void **state)
{
    (void)state;
    static const char *const files[] = {"porep-2k/c1.json", "porep-2k/c1-wrapped.json"};
    for (int f = 0; f < 2; f++) {
        struct text t = load(files[f]);
        uint8_t *copy = mem_alloc(1, t.size + C1_PADDING);
        for (size_t size = 0; size < t.size;) {
            struct c1 c1;
            memcpy(copy, t.bytes, size);
            memset(copy + size, size % 3 == 0 ? 0 : size % 3 == 1 ? '}' : ',', C1_PADDING);
            struct status s = c1_parse(&c1, copy, size);
            if (!status_failed(&s) || s.code != STATUS_INVALID)
                fail_msg("cut of %s after %zu bytes: %s", files[f], size, s.message);
            size += size < 1000 || size > t.size - 1000 ? 1 : cut_stride;
        }
        mem_free(copy);
        drop(&t);
    }
}

/* A cut that keeps the outer braces: each prefix that ends in '}' or with one put there. */
static void cuts_closed(void **state)
{
    (void)state;
    struct text t = load("porep-2k/c1.json");
    uint8_t *copy = mem_alloc(1, t.size + C1_PADDING);
    for (size_t size = 1; size + 1 < t.size; size += cut_stride) {
        struct c1 c1;
        memcpy(copy, t.bytes, size);
        copy[size] = '}';
        memset(copy + size + 1, size % 2 ? '}' : ']', C1_PADDING - 1);
        struct status s = c1_parse(&c1, copy, size + 1);
        if (!status_failed(&s))
            fail_msg("cut after %zu bytes, then closed, was accepted", size);
    }
    mem_free(copy);
    drop(&t);
}

static void failing_allocations(void **state)
{
    (void)state;
    static const char *const files[] = {"porep-2k/c1.json", "porep-2k/c1-wrapped.json"};
    for (int f = 0; f < 2; f++) {
        size_t size;
        uint8_t *data = test_file(files[f], &size);
        bool done = false;
        for (uint64_t n = 1; !done; n++) {
            struct c1 c1;
            size_t before = mem_used();
            mem_fail_after(n);
            struct status s = c1_parse(&c1, data, size);
            mem_fail_after(0);
            done = !status_failed(&s);
            if (!done)
                assert_int_equal(s.code, STATUS_MEMORY);
            c1_end(&c1);
            assert_int_equal(mem_used(), before);
            assert_true(n < 10);
        }
        mem_free(data);
    }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITED_MEMORY 0 /* sanitizers map terabytes */
#else
#define LIMITED_MEMORY 1
#endif

/* simdjson's own allocations fail: in a child whose address space may hardly grow. */
static void failing_allocations_of_simdjson(void **state)
{
    (void)state;
    const size_t size = 64 << 20;
    uint8_t *text = mem_alloc_zero(1, size + C1_PADDING);
    memset(text, ' ', size);
    memcpy(text, "{}", 2);
    struct c1 c1;
    fails(c1_parse(&c1, text, size), STATUS_INVALID, "registered_proof: is missing");
    pid_t child = LIMITED_MEMORY ? fork() : 0;
    if (child == 0 && LIMITED_MEMORY) {
        unsigned long pages = 0;
        FILE *f = fopen("/proc/self/statm", "r");
        if (!f || fscanf(f, "%lu", &pages) != 1)
            _exit(2);
        struct rlimit limit = {pages * 4096 + (32 << 20), RLIM_INFINITY};
        if (setrlimit(RLIMIT_AS, &limit) != 0)
            _exit(3);
        struct status s = c1_parse(&c1, text, size);
        _exit(s.code == STATUS_MEMORY ? 0 : 4);
    }
    if (LIMITED_MEMORY) {
        int result;
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_int_equal(result, 0);
    }
    mem_free(text);
}

static void fill(uint8_t *bytes, uint64_t *random)
{
    for (int i = 0; i < 4; i++)
        store_le64(bytes + 8 * i, test_next(random));
    bytes[31] &= 0x3f;
}

static void fill_merkle(struct merkle_proof *m, uint64_t *random)
{
    fill(m->root, random);
    fill(m->leaf, random);
    for (uint32_t i = 0; i < m->length; i++) {
        m->path[i].index = (uint32_t)(test_next(random) % m->path[i].arity);
        for (uint32_t k = 0; k + 1 < m->path[i].arity; k++)
            fill(m->path[i].siblings[k], random);
    }
}

static void fill_column(const struct c1 *c1, struct column_proof *c, uint64_t *random)
{
    c->index = (uint32_t)test_next(random);
    for (uint32_t l = 0; l < c1->sector->layers; l++)
        fill(c->rows[l], random);
    fill_merkle(&c->inclusion, random);
}

static void fill_label(struct labeling_proof *l, uint64_t *random)
{
    l->layer = (uint32_t)test_next(random);
    l->node = test_next(random) >> 1;
    for (int i = 0; i < LABEL_INPUTS; i++)
        fill(l->parents[i], random);
}

/* An output of the right form with random content. */
static void fill_c1(struct c1 *c1, uint64_t *random)
{
    uint8_t *top[] = {c1->comm_r, c1->comm_d, c1->replica_id, c1->seed, c1->ticket};
    for (int i = 0; i < 5; i++)
        fill(top[i], random);
    for (uint32_t p = 0; p < c1->partitions * c1->challenges; p++) {
        struct vanilla_proof *v = &c1->proofs[p];
        fill_merkle(&v->comm_d, random);
        fill_merkle(&v->comm_r_last, random);
        fill_column(c1, &v->c_x, random);
        for (int i = 0; i < PARENTS; i++)
            fill_column(c1, &v->parents[i], random);
        for (uint32_t l = 0; l < c1->sector->layers; l++)
            fill_label(&v->labels[l], random);
        fill_label(&v->encoding, random);
    }
}

/* Written, read and written again, for all tree shapes that have a written form. */
static void round_trips(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    static const uint32_t numbers[] = {0, 7, 13, 9};
    for (size_t i = 0; i < 4; i++) {
        const struct registered_seal *seal = &REGISTERED_SEAL[numbers[i]];
        for (int wrapped = 0; wrapped < 2; wrapped++) {
            struct c1 c1, again;
            uint8_t *text, *padded, *second;
            size_t size, second_size;
            ok(c1_start(&c1, seal->sector));
            c1.seal = seal;
            c1.sector_number = test_next(&random) >> 1;
            fill_c1(&c1, &random);
            ok(c1_write(&text, &size, &c1, wrapped));
            padded = mem_alloc_zero(1, size + C1_PADDING);
            memcpy(padded, text, size);
            struct timespec a, b;
            clock_gettime(CLOCK_MONOTONIC, &a);
            ok(c1_parse(&again, padded, size));
            clock_gettime(CLOCK_MONOTONIC, &b);
            print_message("%s%s: %zu bytes in %.0f ms\n", seal->name, wrapped ? ", wrapped" : "", size,
                          (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6);
            ok(c1_write(&second, &second_size, &again, wrapped));
            assert_int_equal(second_size, size);
            assert_memory_equal(second, text, size);
            c1_end(&c1);
            c1_end(&again);
            mem_free(text);
            mem_free(padded);
            mem_free(second);
        }
    }
    struct c1 c1;
    uint8_t *text;
    size_t size;
    ok(c1_start(&c1, sector_by_circuit("4k")));
    c1.seal = &REGISTERED_SEAL[5];
    fails(c1_write(&text, &size, &c1, false), STATUS_UNSUPPORTED, "a C1 output of a 4KiB sector");
    c1_end(&c1);
}

static void base64_texts(void **state)
{
    (void)state;
    static const char *const good[][2] = {{"", ""},
                                          {"f", "Zg=="},
                                          {"fo", "Zm8="},
                                          {"foo", "Zm9v"},
                                          {"foob", "Zm9vYg=="},
                                          {"fooba", "Zm9vYmE="},
                                          {"foobar", "Zm9vYmFy"},
                                          {"\xff\xfe\xfb", "//77"}};
    static const char *const bad[] = {"Z",        "Zg",   "Zg=",    "Z===", "====", "Zh==", "Zm9=",
                                      "Zg==Zg==", "Zm 9", "Zm9v\n", "Z-8=", "=m9v", "Z=9v"};
    uint8_t out[32];
    char text[32];
    size_t size, at;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        size_t n = strlen(good[i][0]);
        memset(text, 0, sizeof text);
        base64_encode(text, (const uint8_t *)good[i][0], n);
        assert_string_equal(text, good[i][1]);
        assert_true(base64_decode(out, &size, text, strlen(text), &at));
        assert_int_equal(size, n);
        assert_memory_equal(out, good[i][0], n);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(base64_decode(out, &size, bad[i], strlen(bad[i]), &at));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_forms),
                                       cmocka_unit_test(larger_sector),
                                       cmocka_unit_test(other_writers),
                                       cmocka_unit_test(rules_of_the_format),
                                       cmocka_unit_test(canonical_elements),
                                       cmocka_unit_test(wrapper_rules),
                                       cmocka_unit_test(other_texts),
                                       cmocka_unit_test(depth),
                                       cmocka_unit_test(cuts),
                                       cmocka_unit_test(cuts_closed),
                                       cmocka_unit_test(failing_allocations),
                                       cmocka_unit_test(failing_allocations_of_simdjson),
                                       cmocka_unit_test(round_trips),
                                       cmocka_unit_test(base64_texts)};
    const struct CMUnitTest full[] = {cmocka_unit_test(cuts), cmocka_unit_test(cuts_closed)};
    if (argc > 1 && strcmp(argv[1], "--full") == 0) {
        cut_stride = 1;
        return cmocka_run_group_tests(full, NULL, NULL);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
