/* The built-in circuit on which a device proves itself before it is called ready: the exclusive or of two
 * bits (inputs ONE and the result; aux a, b; three rows), its parameter file, and the bytes of its proof for
 * fixed blinding values. The values are test vector T2 of the Groth16 specification, confirmed by the
 * reference. */
#ifndef CUZK_DEVICE_SELF_TEST_H
#define CUZK_DEVICE_SELF_TEST_H

#include "device/device.h"

/* Proves through the device's operations and compares with the known bytes; STATUS_DEVICE on any difference.
 */
MUST_USE struct status device_self_test(struct device *device);

/* The circuit itself, for tests. */
MUST_USE struct status self_test_shape(struct shape **out);
MUST_USE struct status self_test_seeds(struct seeds *out, const struct shape *shape);
/* 2,904 bytes, and the 192 of the proof. */
extern const uint8_t SELF_TEST_PARAMS[2904];
extern const uint8_t SELF_TEST_PROOF[PROOF_BYTES];

#endif
