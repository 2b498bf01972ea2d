/* The backend interface: what computes the partial sums of a proof. device/cpu/ and device/cuda/ implement it
 * and give the same sums. A backend knows shapes, images and seeds; nothing of Filecoin, jobs, or blinding.
 *
 * A device holds parameter images and shapes that were loaded into it. prove_start() returns when the device
 * may take the next partition (on the CPU backend: when everything is done); the seeds may be freed then. The
 * pending proof holds a few thousand partial sums; prove_finish() gives the five sums and frees it. */
#ifndef CUZK_DEVICE_DEVICE_H
#define CUZK_DEVICE_DEVICE_H

#include "groth16/params.h"
#include "groth16/proof.h"
#include "r1cs/witness.h"

/* Bytes by class and purpose, computed before anything is allocated. */
enum memory_class { MEMORY_HOST, MEMORY_PINNED, MEMORY_DEVICE, MEMORY_CLASSES };
struct device_plan_item {
    enum memory_class class;
    const char *purpose; /* static text: "parameters", "evaluations", "witness", "buckets", ... */
    uint64_t bytes;
    bool per_proof; /* held during a proof only; else for as long as the thing is loaded */
};
#define DEVICE_PLAN_ITEMS 24
struct device_plan {
    struct device_plan_item items[DEVICE_PLAN_ITEMS];
    size_t count;
    /* Highest simultaneous use during one proof, loaded things apart, by class. */
    uint64_t proof_peak[MEMORY_CLASSES];
};

enum device_state { DEVICE_READY, DEVICE_BUSY, DEVICE_LOST };

struct device; /* opened by device_cpu_open() and its like */
struct device_srs;
struct device_shape;
struct device_pending;
struct toxic;

struct device_operations {
    const char *name;
    struct status (*plan)(struct device_plan *out, struct device *device, const struct shape *shape,
                          const struct params_counts *counts);
    /* The device borrows image and shape until they are dropped. */
    struct status (*load_srs)(struct device_srs **out, struct device *device, const struct image *image);
    /* The same from a file that was opened, if the whole set fits the device (else STATUS_MEMORY): decoded
     * and checked there as image_decode() does without the order. Nothing of the file is needed afterwards.
     * NULL where there is no such way. */
    struct status (*load_params)(struct device_srs **out, struct device *device,
                                 const struct params_file *file, const struct work *work,
                                 atomic_ullong *done);
    void (*drop_srs)(struct device *device, struct device_srs *srs);
    struct status (*load_shape)(struct device_shape **out, struct device *device, const struct shape *shape);
    void (*drop_shape)(struct device *device, struct device_shape *shape);
    struct status (*prove_start)(struct device_pending **out, struct device *device, struct device_srs *srs,
                                 struct device_shape *shape, const struct seeds *seeds,
                                 enum priority priority, const struct cancel *cancel);
    /* Takes pending, also on error. */
    struct status (*prove_finish)(struct partial_sums *out, struct device *device,
                                  struct device_pending *pending);
    void (*discard)(struct device *device, struct device_pending *pending);
    /* Makes the parameter files of setup_run() (groth16/setup.h), the same bytes, with the device's help;
     * NULL where it has none to give. */
    struct status (*setup)(const char *params_path, const char *vk_path, struct device *device,
                           struct device_shape *shape, const struct toxic *toxic, const struct work *work,
                           atomic_ullong *done);
    /* Known answer on the built-in circuit of device/self_test.h. */
    struct status (*self_test)(struct device *device);
    enum device_state (*state)(struct device *device, struct status *reason);
    void (*close)(struct device *device);
};

/* First member of every device. */
struct device {
    const struct device_operations *operations;
};

/* The CPU backend over a pool, which it borrows. */
MUST_USE struct status device_cpu_open(struct device **out, struct pool *pool);

#endif
