/* See self_test.h. Small as it is, a proof of it passes expansion, evaluation, all transforms, every query's
 * sum and the assembly; a device that miscomputes fails here before it costs a proof. */
#include "device/self_test.h"

#include "base/mem.h"

#include <string.h>

static const uint64_t BLINDING_R = 27134, BLINDING_S = 17146;

/* (1-a) a = 0; (1-b) b = 0; (2a) b = a + b - out. The result `out` is a port, bound to the input. */
static void record_rows(struct cs *cs)
{
    variable out = cs_alloc(cs, KIND_FIELD, NULL), bit[2];
    for (int i = 0; i < 2; i++)
        bit[i] = cs_alloc(cs, KIND_BIT, NULL);
    struct lc a, b, c;
    lc_init(&a);
    lc_init(&b);
    lc_init(&c);
    for (int i = 0; i < 2; i++) {
        lc_clear(&a);
        lc_clear(&b);
        lc_add_one(&a, VARIABLE_ONE);
        lc_sub_one(&a, bit[i]);
        lc_add_one(&b, bit[i]);
        cs_enforce(cs, &a, &b, &c);
    }
    fr two;
    fr_from_u64(&two, 2);
    lc_clear(&a);
    lc_clear(&b);
    lc_add(&a, bit[0], &two);
    lc_add_one(&b, bit[1]);
    lc_add_one(&c, bit[0]);
    lc_add_one(&c, bit[1]);
    lc_sub_one(&c, out);
    cs_enforce(cs, &a, &b, &c);
    lc_end(&a);
    lc_end(&b);
    lc_end(&c);
}

static struct status build(struct shape_builder *builder)
{
    struct cs cs;
    TRY(cs_init(&cs, shape_builder_dictionary(builder), true, false));
    record_rows(&cs);
    struct template template;
    struct status s = cs.error;
    if (!status_failed(&s))
        s = template_from_cs(&template, &cs, "self test", 1, NULL, 0, false, NULL, NULL, 0);
    cs_end(&cs);
    TRY(s);
    uint32_t number, first_aux, first_field;
    TRY(shape_builder_template(builder, &number, &template));
    struct port_run run = {shape_builder_input(builder), 1, 0};
    return shape_builder_place(builder, number, &run, 1, &first_aux, &first_field);
}

struct status self_test_shape(struct shape **out)
{
    struct shape_builder *builder;
    TRY(shape_builder_start(&builder));
    struct status s = build(builder);
    if (status_failed(&s)) {
        shape_builder_abandon(builder);
        return s;
    }
    return shape_builder_finish(out, builder);
}

struct status self_test_seeds(struct seeds *out, const struct shape *shape)
{
    TRY(seeds_start(out, shape));
    seeds_input(out, &FR_ONE); /* a xor b = 1 */
    seeds_bits(out, 1, 2);     /* a = 1, b = 0 */
    return status_ok();
}

static struct status prove(uint8_t bytes[PROOF_BYTES], struct device *device, const struct image *image,
                           const struct shape *shape, const struct seeds *seeds)
{
    const struct device_operations *op = device->operations;
    struct device_srs *srs = NULL;
    struct device_shape *loaded = NULL;
    struct device_pending *pending;
    struct partial_sums sums;
    struct status s;
    TRY_OUT(op->load_srs(&srs, device, image));
    TRY_OUT(op->load_shape(&loaded, device, shape));
    TRY_OUT(op->prove_start(&pending, device, srs, loaded, seeds, PRIORITY_CRITICAL, NULL));
    TRY_OUT(op->prove_finish(&sums, device, pending));
    struct blinding blinding;
    fr_from_u64(&blinding.r, BLINDING_R);
    fr_from_u64(&blinding.s, BLINDING_S);
    struct proof proof;
    TRY_OUT(proof_assemble(&proof, &sums, &image->key, &blinding));
    proof_encode(bytes, &proof);
out:
    if (loaded != NULL)
        op->drop_shape(device, loaded);
    if (srs != NULL)
        op->drop_srs(device, srs);
    return s;
}

struct status device_self_test(struct device *device)
{
    struct shape *shape = NULL;
    struct seeds seeds = {0};
    struct params_file file = {0};
    struct image image = {0};
    uint8_t bytes[PROOF_BYTES];
    struct work here = {NULL, PRIORITY_CRITICAL, NULL};
    struct status s;
    TRY_OUT(self_test_shape(&shape));
    TRY_OUT(self_test_seeds(&seeds, shape));
    TRY_OUT(params_parse(&file, SELF_TEST_PARAMS, sizeof SELF_TEST_PARAMS, "(self test)"));
    TRY_OUT(image_decode(&image, &file, true, &here, NULL));
    TRY_OUT(prove(bytes, device, &image, shape, &seeds));
    if (memcmp(bytes, SELF_TEST_PROOF, PROOF_BYTES) != 0)
        s = status_hint(
            status_error(STATUS_DEVICE,
                         "device %s failed its self test: it gave another proof than the known one",
                         device->operations->name),
            "the processor, its memory or this build miscomputes; do not use it");
out:
    image_end(&image);
    if (file.map.data != NULL)
        params_close(&file);
    seeds_end(&seeds);
    shape_release(shape);
    return s;
}
