/* Files of vanilla proofs: arrays as the tools of the network write them, single proofs, and everything that
 * is neither. */
#include "support.h"
#include "filecoin/vanilla_file.h"

static uint8_t decoded[4096];

static struct status read_text(struct vanilla_list *list, const char *text, size_t size)
{
    size_t used = 0;
    uint8_t *exact = malloc(size + 1); /* the sanitizer sees reads beyond */
    memcpy(exact, text, size);
    memset(list, 0, sizeof *list);
    struct status s = vanilla_append(list, decoded, &used, exact, size);
    free(exact);
    return s;
}

static void refused(const char *text, const char *part)
{
    struct vanilla_list list;
    fails(read_text(&list, text, strlen(text)), STATUS_INVALID, part);
    vanilla_list_end(&list);
}

static void arrays(void **state)
{
    (void)state;
    struct vanilla_list list;
    static const char text[] = " [\n\"AAEC\" ,\t\"AA==\",\r\n\"\"]\n";
    ok(read_text(&list, text, strlen(text)));
    assert_int_equal(list.count, 3);
    assert_int_equal(list.items[0].size, 3);
    assert_memory_equal(list.items[0].data, "\0\1\2", 3);
    assert_int_equal(list.items[1].size, 1);
    assert_int_equal(list.items[2].size, 0);
    vanilla_list_end(&list);
}

static void refusals(void **state)
{
    (void)state;
    refused("[", "byte 1: a text in quotes");
    refused("[]", "the array is empty");
    refused("[1]", "in quotes");
    refused("[\"AAEC\"", "a comma or the end");
    refused("[\"AAEC\",]", "in quotes");
    refused("[\"AAEC\" \"AAEC\"]", "a comma or the end");
    refused("[\"AAEC]", "does not end");
    refused("[\"AA\\u0041C\"]", "not base64");
    refused("[\"AAE\"]", "not base64");
    refused("[\"AA=C\"]", "not base64");
    refused("[\"AAEC\"]x", "something follows");
    refused("[[\"AAEC\"]]", "in quotes");
}

/* Cut anywhere, a text is refused, or is no text at all. */
static void cuts(void **state)
{
    (void)state;
    struct vanilla_list list;
    static const char text[] = "[\"AAEC\",\"AAEC\"]";
    for (size_t size = 1; size < strlen(text); size++) {
        fails(read_text(&list, text, size), STATUS_INVALID, "array of vanilla proofs");
        vanilla_list_end(&list);
    }
}

/* An encoded proof holds zero bytes: it is taken whole whatever it begins with. */
static void single(void **state)
{
    (void)state;
    struct vanilla_list list;
    ok(read_text(&list, "[\"A\0]", 6));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].size, 6);
    vanilla_list_end(&list);
    assert_false(vanilla_is_text((const uint8_t *)"{}", 2));
    assert_false(vanilla_is_text((const uint8_t *)"", 0));
}

static void round_trip(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    uint8_t bytes[40][80];
    struct bytes_view items[40];
    for (size_t count = 1; count <= 40; count++) {
        uint8_t *text;
        size_t size;
        for (size_t i = 0; i < count; i++) {
            for (size_t k = 0; k < 80; k++)
                bytes[i][k] = (uint8_t)test_next(&seed);
            items[i] = (struct bytes_view){bytes[i], test_next(&seed) % 81};
        }
        ok(vanilla_write(&text, &size, items, count));
        struct vanilla_list list;
        ok(read_text(&list, (const char *)text, size));
        assert_int_equal(list.count, count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(list.items[i].size, items[i].size);
            assert_memory_equal(list.items[i].data, items[i].data, items[i].size);
        }
        vanilla_list_end(&list);
        mem_free(text);
    }
}

static void no_memory(void **state)
{
    (void)state;
    struct vanilla_list list;
    uint8_t *text;
    size_t size, before = mem_used();
    mem_fail_after(1);
    struct status s = read_text(&list, "[\"AAEC\"]", 8);
    assert_int_equal(s.code, STATUS_MEMORY);
    vanilla_list_end(&list);
    s = vanilla_write(&text, &size, &(struct bytes_view){decoded, 3}, 1);
    assert_int_equal(s.code, STATUS_MEMORY);
    mem_fail_after(0);
    assert_int_equal(mem_used(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays),     cmocka_unit_test(refusals),
                                       cmocka_unit_test(cuts),       cmocka_unit_test(single),
                                       cmocka_unit_test(round_trip), cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
