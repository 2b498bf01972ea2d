/* cuzk prove: from a C1 output to a verified proof. */
#include "cmd/cuzk/commands.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

struct prove {
    const char *c1_path, *params_path, *output;
    uint64_t miner, sector, threads;
    bool sector_given, allow_test, save_image, json;
    /* results */
    uint8_t proof[16 * CUZK_PROOF_BYTES];
    size_t proof_size;
    struct cuzk_c1_facts facts;
    struct cuzk_circuit_facts circuit;
    double read_seconds, shape_seconds, params_seconds, prove_seconds;
    uint64_t peak_bytes; /* allocated while proving, parameters and circuit apart */
};

static enum cuzk_code fail(struct cuzk_error *error, enum cuzk_code code, const char *message)
{
    memset(error, 0, sizeof *error);
    error->code = code;
    snprintf(error->message, sizeof error->message, "%s", message);
    return code;
}

static enum cuzk_code prove_with(struct prove *p, struct cuzk *cuzk, const struct cuzk_circuit *circuit,
                                 const struct cuzk_c1 *c1, struct cuzk_error *error)
{
    char buffer[4096];
    struct cuzk_params *params;
    uint32_t flags = (p->allow_test ? CUZK_ALLOW_TEST_PARAMS : 0u) | (p->save_image ? CUZK_SAVE_IMAGE : 0u);
    double started = seconds_now();
    enum cuzk_code code =
        cuzk_params_open(&params, cuzk, circuit, p->params_path, state_dir(buffer, sizeof buffer), flags,
                         progress_bar, NULL, error);
    progress_clear();
    p->params_seconds = seconds_now() - started;
    if (code != CUZK_OK)
        return code;
    started = seconds_now();
    size_t held = mem_used();
    mem_peak_reset();
    code = cuzk_prove(p->proof, p->proof_size, cuzk, params, c1, p->miner, p->sector, error);
    p->peak_bytes = mem_peak() - held;
    p->prove_seconds = seconds_now() - started;
    cuzk_params_close(params);
    return code;
}

static enum cuzk_code prove_c1(struct prove *p, struct cuzk *cuzk, const struct cuzk_c1 *c1,
                               struct cuzk_error *error)
{
    cuzk_c1_facts(&p->facts, c1);
    if (!p->sector_given && !p->facts.has_sector_number)
        return fail(error, CUZK_INVALID, "the C1 output has no sector number: give --sector-num");
    if (!p->sector_given)
        p->sector = p->facts.sector_number;
    p->proof_size = (size_t)p->facts.partitions * CUZK_PROOF_BYTES;
    if (p->proof_size > sizeof p->proof)
        return fail(error, CUZK_UNSUPPORTED, "proofs of so many partitions are not in this version");
    /* The cheap checks first: a wrong miner or a damaged C1 output is said before parameters are loaded. */
    enum cuzk_code code = cuzk_c1_check(cuzk, c1, p->miner, p->sector, error);
    if (code != CUZK_OK)
        return code;
    struct cuzk_circuit *circuit;
    double started = seconds_now();
    code = cuzk_circuit_open(&circuit, cuzk, p->facts.circuit, error);
    p->shape_seconds = seconds_now() - started;
    if (code != CUZK_OK)
        return code;
    code = cuzk_circuit_facts(&p->circuit, cuzk, circuit, error);
    if (code == CUZK_OK)
        code = prove_with(p, cuzk, circuit, c1, error);
    cuzk_circuit_close(circuit);
    return code;
}

static enum cuzk_code prove_file(struct prove *p, struct cuzk_error *error)
{
    struct cuzk *cuzk;
    struct cuzk_c1 *c1;
    enum cuzk_code code = open_prover(&cuzk, p->threads, error);
    if (code != CUZK_OK)
        return code;
    double started = seconds_now();
    code = read_c1(&c1, p->c1_path, error);
    p->read_seconds = seconds_now() - started;
    if (code == CUZK_OK)
        code = prove_c1(p, cuzk, c1, error);
    if (code == CUZK_OK && p->output != NULL)
        code = write_file(p->output, p->proof, p->proof_size, error);
    cuzk_c1_end(c1);
    cuzk_close(cuzk);
    return code;
}

static int show(struct prove *p)
{
    struct result r = {.json = p->json};
    result_text(&r, "registered_proof", p->facts.registered_proof);
    result_number(&r, "miner_id", p->miner);
    result_number(&r, "sector_number", p->sector);
    result_number(&r, "partitions", p->facts.partitions);
    if (p->output != NULL)
        result_text(&r, "output", p->output);
    result_hex(&r, "proof", p->proof, p->proof_size);
    result_bool(&r, "verified", true);
    result_seconds(&r, "read_seconds", p->read_seconds);
    result_seconds(&r, "circuit_seconds", p->shape_seconds);
    result_seconds(&r, "parameters_seconds", p->params_seconds);
    result_seconds(&r, "prove_seconds", p->prove_seconds);
    result_bytes(&r, "planned_bytes", p->circuit.proof_bytes);
    result_bytes(&r, "proving_peak_bytes", p->peak_bytes);
    result_bytes(&r, "parameters_bytes", p->circuit.image_bytes);
    result_bytes(&r, "peak_rss_bytes", peak_rss_bytes());
    return result_end(&r);
}

static int run(int argc, char **argv)
{
    static struct prove p;
    const struct arg args[] = {
        {"--c1", ARG_TEXT, &p.c1_path, NULL, "FILE", "C1 output, bare or wrapped; - for standard input",
         true},
        {"--miner-id", ARG_NUMBER, &p.miner, NULL, "N", "the miner's actor id", true},
        {"--sector-num", ARG_NUMBER, &p.sector, &p.sector_given, "N",
         "sector number; by default that of the wrapper", false},
        {"--params", ARG_TEXT, &p.params_path, NULL, "FILE", "parameter file of the circuit", true},
        {"--output", ARG_TEXT, &p.output, NULL, "FILE", "where the proof goes", false},
        {"--allow-test-params", ARG_FLAG, &p.allow_test, NULL, NULL,
         "use parameters that are not published ones", false},
        {"--save-image", ARG_FLAG, &p.save_image, NULL, NULL, "save the decoded parameters as FILE.image",
         false},
        {"--threads", ARG_NUMBER, &p.threads, NULL, "N", "threads to use; 0, the default: all", false},
        {"--json", ARG_FLAG, &p.json, NULL, NULL, "result as JSON", false},
    };
    int exit_code;
    if (!args_parse(&COMMAND_PROVE, args, sizeof args / sizeof args[0], argc, argv, NULL, 0, &exit_code))
        return exit_code;
    struct cuzk_error error;
    if (prove_file(&p, &error) != CUZK_OK)
        return report_error(&error, p.json);
    progress_clear();
    return show(&p);
}

const struct command COMMAND_PROVE = {
    "prove", "prove a C1 output; the proof is verified before it is written",
    "--c1 FILE --miner-id N [--sector-num N] --params FILE [--output FILE]", run};
