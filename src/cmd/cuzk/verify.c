/* cuzk verify: a proof against a key and the public values of its sector, given singly or taken from a C1
 * output. */
#include "cmd/cuzk/commands.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

#define KEY_MAX   ((size_t)64 << 20)
#define PROOF_MAX ((size_t)1 << 20)

struct verify {
    const char *c1_path, *vk_path, *proof_path;
    uint64_t registered, miner, sector;
    bool registered_given, sector_given, comm_r_given, comm_d_given, seed_given, ticket_given, allow_test,
        json;
    struct cuzk_seal seal;
};

static int fill_from_c1(struct verify *v, struct cuzk_error *error, enum cuzk_code *code)
{
    struct cuzk_c1 *c1;
    struct cuzk_c1_facts facts;
    *code = read_c1(&c1, v->c1_path, error);
    if (*code != CUZK_OK)
        return EXIT_FAILED;
    cuzk_c1_facts(&facts, c1);
    bool has_number = facts.has_sector_number;
    v->seal.registered_number = facts.registered_number;
    if (!v->sector_given)
        v->sector = facts.sector_number;
    memcpy(v->seal.comm_r, facts.comm_r, 32);
    memcpy(v->seal.comm_d, facts.comm_d, 32);
    memcpy(v->seal.seed, facts.seed, 32);
    memcpy(v->seal.ticket, facts.ticket, 32);
    cuzk_c1_end(c1);
    if (!v->sector_given && !has_number)
        return usage_error("give --sector-num", "the C1 output has no sector number");
    return EXIT_DONE;
}

/* EXIT_USAGE with a message unless all public values are there. */
static int complete(const struct verify *v)
{
    bool any = v->registered_given || v->comm_r_given || v->comm_d_given || v->seed_given || v->ticket_given;
    if (v->c1_path != NULL && any)
        return usage_error(NULL, "--c1 gives the public values: leave the others out");
    if (v->c1_path == NULL && !(v->registered_given && v->comm_r_given && v->comm_d_given && v->seed_given &&
                                v->ticket_given && v->sector_given))
        return usage_error("or --c1 FILE, which has them",
                           "needed: --registered-proof, --sector-num, --comm-r, --comm-d, --seed, --ticket");
    if (v->registered_given && v->registered > 1000)
        return usage_error(NULL, "--registered-proof %llu does not exist", (unsigned long long)v->registered);
    return EXIT_DONE;
}

static enum cuzk_code verify_files(const struct verify *v, struct cuzk_error *error)
{
    uint8_t *vk = NULL, *proof = NULL;
    size_t vk_size, proof_size;
    struct cuzk *cuzk = NULL;
    enum cuzk_code code = read_file(&vk, &vk_size, v->vk_path, KEY_MAX, error);
    if (code == CUZK_OK)
        code = read_file(&proof, &proof_size, v->proof_path, PROOF_MAX, error);
    if (code == CUZK_OK && !v->allow_test)
        code = cuzk_key_trusted(vk, vk_size, error);
    if (code == CUZK_OK)
        code = open_prover(&cuzk, 1, error);
    if (code == CUZK_OK)
        code = cuzk_verify(cuzk, vk, vk_size, &v->seal, proof, proof_size, error);
    cuzk_close(cuzk);
    mem_free(vk);
    mem_free(proof);
    return code;
}

static int verify(struct verify *v)
{
    struct cuzk_error error;
    enum cuzk_code code = CUZK_OK;
    int exit_code = complete(v);
    if (exit_code != EXIT_DONE)
        return exit_code;
    v->seal.registered_number = (uint32_t)v->registered;
    if (v->c1_path != NULL) {
        exit_code = fill_from_c1(v, &error, &code);
        if (code != CUZK_OK)
            return report_error(&error, v->json);
        if (exit_code != EXIT_DONE)
            return exit_code;
    }
    v->seal.miner_id = v->miner;
    v->seal.sector_number = v->sector;
    double started = seconds_now();
    if (verify_files(v, &error) != CUZK_OK)
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
        {"--miner-id", ARG_NUMBER, &v.miner, NULL, "N", "the miner's actor id", true},
        {"--sector-num", ARG_NUMBER, &v.sector, &v.sector_given, "N", "sector number", false},
        {"--c1", ARG_TEXT, &v.c1_path, NULL, "FILE", "C1 output to take the public values from, or:", false},
        {"--registered-proof", ARG_NUMBER, &v.registered, &v.registered_given, "N",
         "registered seal proof number", false},
        {"--comm-r", ARG_HEX32, v.seal.comm_r, &v.comm_r_given, "HEX", "replica commitment", false},
        {"--comm-d", ARG_HEX32, v.seal.comm_d, &v.comm_d_given, "HEX", "data commitment", false},
        {"--seed", ARG_HEX32, v.seal.seed, &v.seed_given, "HEX", "interactive randomness", false},
        {"--ticket", ARG_HEX32, v.seal.ticket, &v.ticket_given, "HEX", "seal randomness", false},
        {"--allow-test-params", ARG_FLAG, &v.allow_test, NULL, NULL,
         "accept a key that is not a published one", false},
        {"--json", ARG_FLAG, &v.json, NULL, NULL, "result as JSON", false},
    };
    int exit_code;
    if (!args_parse(&COMMAND_VERIFY, args, sizeof args / sizeof args[0], argc, argv, NULL, 0, &exit_code))
        return exit_code;
    return verify(&v);
}

const struct command COMMAND_VERIFY = {
    "verify", "verify a proof; exit code 7 if it is invalid",
    "--proof FILE --vk FILE --miner-id N --c1 FILE | --registered-proof N ...", run};
