/* Parameter files, keys and proofs from a hostile hand: nothing but a clean refusal or a clean acceptance. */
#include "groth16/params.h"
#include "groth16/proof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct work here = {NULL, PRIORITY_NORMAL, NULL};
    struct params_file file;
    struct status s = params_parse(&file, data, size, "fuzz");
    if (!status_failed(&s)) {
        struct image image;
        s = image_decode(&image, &file, true, &here, NULL);
        if (!status_failed(&s))
            image_end(&image);
        params_close(&file);
    }
    struct verifying_key key;
    s = vk_read(&key, data, size, NULL);
    if (!status_failed(&s))
        vk_end(&key);
    struct proof proof;
    if (size >= PROOF_BYTES) {
        s = proof_decode(&proof, data);
        (void)s;
    }
    return 0;
}
