/* Inside of the public library: what the opaque types of include/cuzk/cuzk.h are. */
#ifndef CUZK_API_INTERNAL_H
#define CUZK_API_INTERNAL_H

#include "cuzk/cuzk.h"
#include "device/device.h"
#include "filecoin/c1.h"
#include "filecoin/registry.h"
#include "filecoin/request.h"

struct cuzk {
    struct pool *pool;
    struct device *device;
    struct cancel cancel;
};

struct cuzk_circuit {
    char name[CIRCUIT_NAME_MAX];
    enum proof_kind kind;
    const struct sector_size *sector;
    struct shape *shape;
    struct device *device;
    struct device_shape *loaded;
};

struct cuzk_params {
    const struct cuzk_circuit *circuit;
    struct image image;
    struct device *device;
    struct device_srs *loaded;
};

struct cuzk_c1 {
    struct c1 c1;
    char circuit[CIRCUIT_NAME_MAX];
};

struct cuzk_request {
    struct request *request;
    struct cuzk_c1 own_c1; /* of a request that was opened from bytes */
    uint8_t *bytes;        /* the vanilla proofs of PoSts and SnapDeals */
    struct cuzk_sector *sectors;
    struct cuzk_statement statement;
};

struct cuzk_seeds {
    struct seeds seeds;
    const struct cuzk_circuit *circuit;
};

/* Copies a status to the caller's error (NULL allowed) and gives its code. */
enum cuzk_code api_result(const struct status *s, struct cuzk_error *error);
struct work api_work(struct cuzk *cuzk, enum priority priority);

/* Kind and sector size of a circuit's name. */
struct status api_circuit(enum proof_kind *kind, const struct sector_size **sector, const char *circuit);
/* Reads a C1 output: bytes are copied behind padding for the parser and freed after. */
struct status api_read_c1(struct cuzk_c1 *out, const uint8_t *data, size_t size);
/* Verifies against public values and a decoded key. */
struct status api_verify(const struct verifying_key *key, const struct cuzk_statement *statement,
                         const uint8_t *proof, size_t proof_size, const struct work *work);

/* Calls a cuzk_progress from a thread-safe counter: between the steps of long work. */
struct api_progress {
    cuzk_progress *call;
    void *context;
    const char *what;
    uint64_t total;
    atomic_ullong done;
    struct api_progress_thread *thread;
};
/* Starts a thread that reports ten times a second until api_progress_end; without a callback, nothing. */
void api_progress_start(struct api_progress *p, cuzk_progress *call, void *context, const char *what,
                        uint64_t total);
void api_progress_end(struct api_progress *p);

/* Trust: the digest of a mapped .params file, from the cache in state_dir (may be NULL) or by hashing. */
struct status api_params_digest(uint8_t digest[PARAMS_DIGEST_BYTES], const struct file_map *map,
                                const char *path, const char *state_dir, const struct work *work,
                                cuzk_progress *progress, void *context);
/* Remembers that the content of `map`'s file has this digest. Failure to remember is no error. */
void api_digest_remember(const struct file_map *map, const char *path, const char *state_dir,
                         const uint8_t digest[PARAMS_DIGEST_BYTES]);
bool api_digest_recall(uint8_t digest[PARAMS_DIGEST_BYTES], const struct file_map *map, const char *path,
                       const char *state_dir);

#endif
