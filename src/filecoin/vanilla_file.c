/* See vanilla_file.h. */
#include "filecoin/vanilla_file.h"

#include "base/mem.h"
#include "filecoin/base64.h"

#include <string.h>

struct text {
    const uint8_t *data;
    size_t size, at;
};

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_space(struct text *t)
{
    while (t->at < t->size && is_space(t->data[t->at]))
        t->at++;
}

static bool next_is(struct text *t, char want)
{
    skip_space(t);
    if (t->at >= t->size || t->data[t->at] != (uint8_t)want)
        return false;
    t->at++;
    return true;
}

static struct status bad(const struct text *t, const char *what)
{
    return status_error(STATUS_INVALID, "array of vanilla proofs, byte %zu: %s", t->at, what);
}

bool vanilla_is_text(const uint8_t *data, size_t size)
{
    struct text t = {data, size, 0};
    return next_is(&t, '[') && memchr(data, 0, size) == NULL;
}

static struct status add(struct vanilla_list *list, const uint8_t *data, size_t size)
{
    if (list->count == list->room) {
        size_t room = list->room == 0 ? 16 : 2 * list->room;
        struct bytes_view *grown = mem_grow(list->items, list->room, room, sizeof *grown);
        if (grown == NULL)
            return mem_failed("vanilla proofs", room, sizeof *grown);
        list->items = grown;
        list->room = room;
    }
    list->items[list->count++] = (struct bytes_view){data, size};
    return status_ok();
}

/* At the character after an opening quote. Base64 has no escapes. */
static struct status add_text(struct vanilla_list *list, uint8_t *out, size_t *used, struct text *t)
{
    const uint8_t *start = t->data + t->at, *end = memchr(start, '"', t->size - t->at);
    size_t size, offence = 0;
    if (end == NULL)
        return bad(t, "the text does not end");
    if (!base64_decode(out + *used, &size, (const char *)start, (size_t)(end - start), &offence)) {
        t->at += offence;
        return bad(t, "this is not base64");
    }
    TRY(add(list, out + *used, size));
    *used += size;
    t->at += (size_t)(end - start) + 1;
    return status_ok();
}

struct status vanilla_append(struct vanilla_list *list, uint8_t *out, size_t *used, const uint8_t *data,
                             size_t size)
{
    struct text t = {data, size, 0};
    if (!vanilla_is_text(data, size)) {
        memcpy(out + *used, data, size);
        TRY(add(list, out + *used, size));
        *used += size;
        return status_ok();
    }
    (void)next_is(&t, '[');
    if (next_is(&t, ']'))
        return bad(&t, "the array is empty");
    do {
        if (!next_is(&t, '"'))
            return bad(&t, "a text in quotes should stand here");
        TRY(add_text(list, out, used, &t));
    } while (next_is(&t, ','));
    if (!next_is(&t, ']'))
        return bad(&t, "a comma or the end of the array should stand here");
    skip_space(&t);
    return t.at == size ? status_ok() : bad(&t, "something follows the array");
}

void vanilla_list_end(struct vanilla_list *list)
{
    mem_free(list->items);
    *list = (struct vanilla_list){0};
}

struct status vanilla_write(uint8_t **out, size_t *size, const struct bytes_view *items, size_t count)
{
    size_t total = 2;
    for (size_t i = 0; i < count; i++)
        total += base64_encoded_size(items[i].size) + 3;
    char *text = mem_alloc(total, 1);
    *out = (uint8_t *)text;
    if (text == NULL)
        return mem_failed("array of vanilla proofs", total, 1);
    size_t used = 0;
    text[used++] = '[';
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text[used++] = ',';
        text[used++] = '"';
        base64_encode(text + used, items[i].data, items[i].size);
        used += base64_encoded_size(items[i].size);
        text[used++] = '"';
    }
    text[used++] = ']';
    *size = used;
    return status_ok();
}
