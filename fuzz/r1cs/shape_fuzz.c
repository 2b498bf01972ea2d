/* Shape files as hostile input. The digest at the end is made anew, so that the fuzzer gets past it; what
 * parses must then be usable: its rows can be walked and its witness expanded and evaluated. The one
 * expander writes every derived local, so that a template it should not have been given is noticed. */
#include "base/mem.h"
#include "base/sha256.h"
#include "r1cs/shape.h"
#include "r1cs/witness.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expand(const struct expansion *x)
{
    for (uint32_t i = 0, rank = 0; i < x->template->locals; i++) {
        if (x->template->local_kind[i] == KIND_FIELD) {
            if (!x->template->seed[i])
                x->fields[rank] = FR_ONE;
            rank++;
        } else if (!x->template->seed[i]) {
            expansion_put_bits(x, i, 1, 1);
        }
    }
}
static const struct expander expander = {1, "ones", expand, NULL};
static const struct expander *const expanders[] = {&expander};

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void visit(void *context, const struct row_view *row)
{
    const struct shape *s = context;
    for (int k = 0; k < 3; k++)
        for (uint32_t i = 0; i < row->count[k]; i++) {
            variable v = {row->terms[k][i].column};
            check(i == 0 || row->terms[k][i - 1].column < v.id);
            check(variable_index(v) < (variable_is_aux(v) ? s->aux : s->inputs));
            check(!fr_is_zero(row_coefficient(s, row, row->terms[k][i])));
        }
}

static void use(const struct shape *s)
{
    static const struct work alone = {.priority = PRIORITY_NORMAL};
    struct seeds seeds;
    struct witness w;
    fr one = FR_ONE;
    size_t size = shape_all_rows(s);
    check(shape_visit_rows(s, 0, shape_all_rows(s), visit, (void *)(uintptr_t)s).code == STATUS_OK);
    fr *a = mem_alloc(size, sizeof *a), *b = mem_alloc(size, sizeof *b);
    check(a && b && !seeds_start(&seeds, s).code && !witness_start(&w, s).code);
    while (seeds.inputs_count < seeds.inputs_capacity)
        seeds_input(&seeds, &one);
    while (seeds.fields_count < seeds.fields_capacity)
        seeds_field(&seeds, &one);
    while (seeds.bits_count < seeds.bits_capacity)
        seeds_bits(&seeds, 1, 1);
    while (seeds.hints_count < seeds.hints_capacity)
        seeds_hints(&seeds, &(uint32_t){0}, 1);
    check(!witness_expand(&w, s, &seeds, &alone).code);
    check(!witness_evaluate(a, b, NULL, size, s, &w, &alone).code);
    mem_free(a);
    mem_free(b);
    witness_end(&w);
    seeds_end(&seeds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shape *s;
    if (size < 64 + 32 || size > (size_t)1 << 20)
        return 0;
    uint8_t *copy = malloc(size);
    check(copy != NULL);
    memcpy(copy, data, size);
    sha256(copy + size - 32, copy, size - 32);
    struct status status = shape_parse(&s, copy, size, expanders, 1);
    if (!status_failed(&status)) {
        if (s->aux < 1 << 20 && s->rows < 1 << 20 && s->inputs < 1 << 20 && s->hint_words < 1 << 20)
            use(s);
        shape_release(s);
    }
    free(copy);
    return 0;
}
