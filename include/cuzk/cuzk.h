/* libcuzk: Groth16 proofs for Filecoin, as a library.
 *
 * From vanilla proofs to a verified proof, for every kind:
 *
 *     cuzk_open -> cuzk_request_open -> cuzk_circuit_open -> cuzk_params_open -> cuzk_prove
 *
 * or partition by partition with cuzk_synthesise and cuzk_prove_partition. cuzk_verify needs a key and public
 * values only.
 *
 * Conventions. Functions that can fail return an enum cuzk_code, 0 for success, and fill *error if it is not
 * NULL. What a function gives through its first argument belongs to the caller, who ends it with the function
 * named beside it; on failure that argument is set to NULL. Objects may be shared by threads for reading; a
 * struct cuzk may serve several proofs at once. Lengths are bytes. The library prints nothing, changes no
 * signal handler and no environment.
 *
 * Versions: the major number changes when a program must change, the minor one when something is added. */
#ifndef CUZK_CUZK_H
#define CUZK_CUZK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUZK_VERSION_MAJOR 0
#define CUZK_VERSION_MINOR 1
#define CUZK_VERSION_PATCH 0

#define CUZK_API __attribute__((visibility("default")))

/* "0.1.0", of the library that is linked. */
CUZK_API const char *cuzk_version(void);

enum cuzk_code {
    CUZK_OK = 0,
    CUZK_INVALID,     /* input breaks a rule: format, range, encoding, vanilla check */
    CUZK_MISSING,     /* a file or thing that should exist does not */
    CUZK_IO,          /* reading or writing failed */
    CUZK_MEMORY,      /* not enough memory */
    CUZK_CANCELLED,   /* cuzk_cancel was called */
    CUZK_UNTRUSTED,   /* parameters whose digest is not trusted */
    CUZK_REJECTED,    /* a proof that does not verify */
    CUZK_DEVICE,      /* a device failed */
    CUZK_UNSUPPORTED, /* known, but not in this version */
    CUZK_BUSY,        /* not now: a queue or a budget is full */
};

struct cuzk_error {
    enum cuzk_code code;
    char message[240]; /* what failed, with which file or value */
    char detail[240];  /* may be empty */
    char hint[160];    /* what to do; may be empty */
};

/* ---- the prover: worker threads and a backend ---- */

struct cuzk;
struct cuzk_options {
    uint32_t threads; /* 0: as many as this process may use */
    /* "cpu"; "cuda": the first card; "auto" or NULL: the first card if this build knows cards and there is
     * one (one that cannot be used is an error), else the CPU. */
    const char *backend;
};
/* Starts threads, runs the backend's self test (milliseconds). options may be NULL. End with cuzk_close. */
CUZK_API enum cuzk_code cuzk_open(struct cuzk **out, const struct cuzk_options *options,
                                  struct cuzk_error *error);
CUZK_API void cuzk_close(struct cuzk *cuzk);
/* Asks everything that runs on this prover to end with CUZK_CANCELLED, within some tens of milliseconds; safe
 * from any thread and from signal handlers. Stays in force. */
CUZK_API void cuzk_cancel(struct cuzk *cuzk);

/* ---- circuits ---- */

struct cuzk_circuit;
/* "porep-SIZE", "winning-SIZE", "wpost-SIZE", "snap-SIZE" with 2k, 8m, 512m, 32g, 64g. Some tens of MB and up
 * to ten seconds at 32 GiB; half a second or less at 2 KiB. End with cuzk_circuit_close. */
CUZK_API enum cuzk_code cuzk_circuit_open(struct cuzk_circuit **out, struct cuzk *cuzk, const char *name,
                                          struct cuzk_error *error);
CUZK_API void cuzk_circuit_close(struct cuzk_circuit *circuit);
/* Writes the circuit's shape to a file: constraints as templates and instances, for inspection. */
CUZK_API enum cuzk_code cuzk_circuit_save(const struct cuzk_circuit *circuit, const char *path,
                                          struct cuzk_error *error);
struct cuzk_circuit_facts {
    const char *name;
    uint32_t inputs, aux, rows; /* ONE among the inputs; rows without those for inputs */
    uint32_t log2_domain;
    uint64_t shape_bytes; /* memory of the circuit */
    uint64_t image_bytes; /* memory of its parameters */
    uint64_t proof_bytes; /* highest further memory during one partition's proof on this prover */
    uint8_t digest[32];   /* identifies the shape */
};
CUZK_API enum cuzk_code cuzk_circuit_facts(struct cuzk_circuit_facts *out, struct cuzk *cuzk,
                                           const struct cuzk_circuit *circuit, struct cuzk_error *error);

/* ---- parameters ---- */

enum cuzk_params_flags {
    CUZK_ALLOW_TEST_PARAMS = 1, /* also use files whose digest is not in the published manifest */
    CUZK_SAVE_IMAGE = 2,        /* save the decoded image beside the file (FILE.image) for the next start */
    CUZK_CHECK_SUBGROUP = 4,    /* check the order of every point, too: long */
};
/* Called now and then with the work done so far, out of total; may be NULL. */
typedef void cuzk_progress(void *context, const char *what, uint64_t done, uint64_t total);

struct cuzk_params;
/* Opens a .params file for a circuit: lengths, digest, then all points, decoded into memory (or mapped from a
 * saved image). state_dir, if not NULL, remembers the digests of large files that were hashed before. End
 * with cuzk_params_close. The circuit must outlive the parameters. */
CUZK_API enum cuzk_code cuzk_params_open(struct cuzk_params **out, struct cuzk *cuzk,
                                         const struct cuzk_circuit *circuit, const char *path,
                                         const char *state_dir, uint32_t flags, cuzk_progress *progress,
                                         void *context, struct cuzk_error *error);
CUZK_API void cuzk_params_close(struct cuzk_params *params);

/* Makes a parameter set and its key: DIRECTORY/NAME.params and .vk under the names that the network uses.
 * Single-party: for tests, not for a network. test_seed NULL: from secure randomness, else derived from it,
 * the same every time. */
CUZK_API enum cuzk_code cuzk_setup(struct cuzk *cuzk, const struct cuzk_circuit *circuit,
                                   const char *directory, const char *test_seed, cuzk_progress *progress,
                                   void *context, struct cuzk_error *error);
/* DIRECTORY/NAME.params for a circuit, into path[size]. */
CUZK_API enum cuzk_code cuzk_params_path(char *path, size_t size, const char *circuit, const char *directory,
                                         struct cuzk_error *error);

/* ---- what is proved ---- */

enum cuzk_kind { CUZK_POREP, CUZK_WINNING, CUZK_WINDOW, CUZK_SNAP };

struct cuzk_sector {
    uint64_t number;
    uint8_t comm_r[32];
};

/* The public values of a proof: all that a verifier knows, nothing of the vanilla proofs. */
struct cuzk_statement {
    enum cuzk_kind kind;
    uint32_t registered_proof; /* number in the kind's family: seal, PoSt or update proofs */
    /* PoRep */
    uint64_t miner_id, sector_number;
    uint8_t comm_r[32], comm_d[32], seed[32], ticket[32];
    /* WinningPoSt and WindowPoSt */
    uint8_t randomness[32];
    uint32_t partition_index; /* Window */
    const struct cuzk_sector *sectors;
    size_t sectors_count; /* Winning: 1; Window: as proved, in order, at most a partition's */
    /* SnapDeals */
    uint8_t comm_r_old[32], comm_r_new[32], comm_d_new[32];
};

/* ---- C1 outputs ---- */

struct cuzk_c1;
/* Reads the JSON of a C1 output, bare or wrapped as Curio sends it. End with cuzk_c1_end. */
CUZK_API enum cuzk_code cuzk_c1_read(struct cuzk_c1 **out, const uint8_t *data, size_t size,
                                     struct cuzk_error *error);
CUZK_API void cuzk_c1_end(struct cuzk_c1 *c1);
struct cuzk_c1_facts {
    const char *registered_name; /* "StackedDrg2KiBV1_1" */
    uint32_t registered_proof;
    const char *circuit; /* "porep-2k" */
    uint64_t sector_bytes;
    uint32_t partitions, challenges_per_partition;
    bool has_sector_number; /* wrapped outputs have one */
    uint64_t sector_number;
    uint8_t comm_r[32], comm_d[32], replica_id[32], seed[32], ticket[32];
};
CUZK_API void cuzk_c1_facts(struct cuzk_c1_facts *out, const struct cuzk_c1 *c1);

/* ---- requests: vanilla proofs, checked ---- */

struct cuzk_bytes {
    const uint8_t *data;
    size_t size;
};

struct cuzk_request;
/* Decodes vanilla proofs and checks them strictly: structure, challenges, every path, commitments (the paths
 * of Window lists beyond 64 sectors are left to the circuit). What passes satisfies the circuit. The error
 * names sector or partition, challenge and check.
 *
 * asked tells kind and registered_proof, and of the public values those that do not come with the vanilla
 * proofs: PoRep miner_id and sector_number; PoSts randomness, Window also partition_index; SnapDeals the
 * three commitments. The rest is not looked at.
 *
 * vanilla: PoRep the C1 output; PoSts one entry a sector, SnapDeals one a partition, in order. An entry may
 * also be the text of a JSON array of base64 strings, which stands for as many. Nothing is borrowed. End with
 * cuzk_request_end. */
CUZK_API enum cuzk_code cuzk_request_open(struct cuzk_request **out, struct cuzk *cuzk,
                                          const struct cuzk_statement *asked,
                                          const struct cuzk_bytes *vanilla, size_t vanilla_count,
                                          struct cuzk_error *error);
/* The same from a C1 output that was read before, of whatever registered proof it is. The C1 output must
 * outlive the request. */
CUZK_API enum cuzk_code cuzk_request_from_c1(struct cuzk_request **out, struct cuzk *cuzk,
                                             const struct cuzk_c1 *c1, uint64_t miner_id,
                                             uint64_t sector_number, struct cuzk_error *error);
CUZK_API void cuzk_request_end(struct cuzk_request *request);
struct cuzk_request_facts {
    const char *circuit; /* "wpost-32g" */
    uint64_t sector_bytes;
    uint32_t partitions;
    size_t proof_size;                      /* of all partitions together */
    const struct cuzk_statement *statement; /* complete; lives as long as the request */
};
CUZK_API void cuzk_request_facts(struct cuzk_request_facts *out, const struct cuzk_request *request);

/* ---- proofs ---- */

#define CUZK_PROOF_BYTES 192 /* a partition */

/* Proves every partition with fresh blinding, verifies each and all together against the statement. proof
 * holds the request's proof_size; nothing is written unless the whole proof verifies. */
CUZK_API enum cuzk_code cuzk_prove(uint8_t *proof, size_t size, struct cuzk *cuzk,
                                   const struct cuzk_params *params, const struct cuzk_request *request,
                                   struct cuzk_error *error);

struct cuzk_seeds;
/* The witness of one partition, in the compact form that a backend expands. End with cuzk_seeds_end. */
CUZK_API enum cuzk_code cuzk_synthesise(struct cuzk_seeds **out, const struct cuzk_circuit *circuit,
                                        const struct cuzk_request *request, uint32_t partition,
                                        struct cuzk_error *error);
CUZK_API void cuzk_seeds_end(struct cuzk_seeds *seeds);
/* One partition: proved with fresh blinding, verified against the witness' own public inputs. */
CUZK_API enum cuzk_code cuzk_prove_partition(uint8_t proof[CUZK_PROOF_BYTES], struct cuzk *cuzk,
                                             const struct cuzk_params *params, const struct cuzk_seeds *seeds,
                                             struct cuzk_error *error);

/* Verifies the proof of all partitions of a statement. vk: bytes of a .vk file, or of a .params file.
 * CUZK_REJECTED if the proof is not valid. Trust in the key is the caller's matter: see cuzk_key_trusted. */
CUZK_API enum cuzk_code cuzk_verify(struct cuzk *cuzk, const uint8_t *vk, size_t vk_size,
                                    const struct cuzk_statement *statement, const uint8_t *proof,
                                    size_t proof_size, struct cuzk_error *error);
/* CUZK_OK if the bytes of a .vk file are those of a published one, else CUZK_UNTRUSTED. */
CUZK_API enum cuzk_code cuzk_key_trusted(const uint8_t *vk, size_t vk_size, struct cuzk_error *error);

#ifdef __cplusplus
}
#endif

#endif
