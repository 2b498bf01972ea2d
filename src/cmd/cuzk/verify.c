/* cuzk verify: a proof against a key and public values, given singly or taken from a C1 output or vanilla
 * proofs. */
#include "cmd/cuzk/claim.h"

#include "base/mem.h"

#include <stdio.h>

#define KEY_MAX   ((size_t)64 << 20)
#define PROOF_MAX ((size_t)1 << 20)

struct verify {
    struct claim claim;
    const char *vk_path, *proof_path;
    bool allow_test, json;
};

static enum cuzk_code verify_files(struct verify *v, struct cuzk *cuzk, struct cuzk_error *error)
{
    uint8_t *vk = NULL, *proof = NULL;
    size_t vk_size, proof_size;
    enum cuzk_code code = claim_complete(&v->claim, cuzk, error);
    if (code == CUZK_OK)
        code = read_file(&vk, &vk_size, v->vk_path, KEY_MAX, error);
    if (code == CUZK_OK)
        code = read_file(&proof, &proof_size, v->proof_path, PROOF_MAX, error);
    if (code == CUZK_OK && !v->allow_test)
        code = cuzk_key_trusted(vk, vk_size, error);
    if (code == CUZK_OK)
        code = cuzk_verify(cuzk, vk, vk_size, &v->claim.statement, proof, proof_size, error);
    mem_free(vk);
    mem_free(proof);
    return code;
}

static int verify(struct verify *v)
{
    struct cuzk *cuzk;
    struct cuzk_error error;
    double started = seconds_now();
    if (open_prover(&cuzk, 1, "cpu", &error) != CUZK_OK)
        return report_error(&error, v->json);
    enum cuzk_code code = verify_files(v, cuzk, &error);
    claim_end(&v->claim);
    cuzk_close(cuzk);
    if (code != CUZK_OK)
        return report_error(&error, v->json);
    struct result r = {.json = v->json};
    result_bool(&r, "valid", true);
    result_seconds(&r, "seconds", seconds_now() - started);
    return result_end(&r);
}

static int run(int argc, char **argv)
{
    static struct verify v;
    const struct arg args[] = {
        {"--proof", ARG_TEXT, &v.proof_path, NULL, "FILE", "192 bytes a partition", true},
        {"--vk", ARG_TEXT, &v.vk_path, NULL, "FILE", "verifying key", true},
        CLAIM_ARGS(v.claim),
        CLAIM_VERIFY_ARGS(v.claim),
        {"--allow-test-params", ARG_FLAG, &v.allow_test, NULL, NULL,
         "accept a key that is not a published one", false},
        {"--json", ARG_FLAG, &v.json, NULL, NULL, "result as JSON", false},
    };
    int exit_code;
    if (!args_parse(&COMMAND_VERIFY, args, sizeof args / sizeof args[0], argc, argv, NULL, 0, &exit_code))
        return exit_code;
    exit_code = claim_for_verify(&v.claim);
    return exit_code != EXIT_DONE ? exit_code : verify(&v);
}

const struct command COMMAND_VERIFY = {
    "verify", "verify a proof; exit code 7 if it is invalid",
    "--proof FILE --vk FILE [--kind KIND] --c1 FILE | --vanilla FILE... | --registered-proof N ...", run};
