/* Opening a circuit's parameter file: trust first, then points. Shared by the public library and the engine.
 * The image that is saved beside a file is used only if it is bound to the file's digest and its own content
 * digest holds (remembered like the file's). */
#ifndef CUZK_API_OPEN_H
#define CUZK_API_OPEN_H

#include "cuzk/cuzk.h"
#include "device/device.h"
#include "filecoin/registry.h"
#include "groth16/params.h"
#include "r1cs/shape.h"

struct open_options {
    const char *circuit; /* its name, for messages */
    enum proof_kind kind;
    const struct sector_size *sector;
    const struct shape *shape;
    const char *path, *state_dir; /* state_dir: of remembered digests, or NULL */
    uint32_t flags;               /* CUZK_ALLOW_TEST_PARAMS, CUZK_SAVE_IMAGE, CUZK_CHECK_SUBGROUP */
    const char *const *trusted;   /* 32 hexadecimal digits each: digests trusted beside the manifest */
    uint32_t trusted_count;
    const char *admit_hint;  /* how test parameters are admitted: an option of the program */
    cuzk_progress *progress; /* or NULL */
    void *context;
    struct work work;
    /* A device that has the circuit's shape loaded, or NULL. If it takes parameters from their file, and they
     * all fit, *loaded is given (drop_srs) and *out is an image without points; else *loaded is left alone.
     * Not where an image is saved, or to be, or the points' order is asked for. */
    struct device *device;
    struct device_srs **loaded;
};
/* Gives *out (image_end). */
MUST_USE struct status api_open_image(struct image *out, const struct open_options *options);

/* DIRECTORY/NAME.EXTENSION of a circuit's file. */
MUST_USE struct status api_parameter_path(char *path, size_t size, enum proof_kind kind,
                                          const struct sector_size *sector, const char *directory,
                                          const char *extension);

#endif
