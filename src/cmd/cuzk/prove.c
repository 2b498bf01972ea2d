/* cuzk prove: from vanilla proofs to a verified proof. */
#include "cmd/cuzk/claim.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct prove {
    struct claim claim;
    const char *params, *output;
    uint64_t threads;
    const char *backend;
    bool allow_test, save_image, json;
    /* results */
    char params_path[4096];
    uint8_t *proof;
    struct cuzk_request_facts facts;
    struct cuzk_circuit_facts circuit;
    double read_seconds, shape_seconds, params_seconds, prove_seconds;
    uint64_t peak_bytes; /* allocated while proving, parameters and circuit apart */
};

/* A directory stands for the circuit's file in it. */
static enum cuzk_code find_params(struct prove *p, struct cuzk_error *error)
{
    struct stat st;
    if (stat(p->params, &st) == 0 && S_ISDIR(st.st_mode))
        return cuzk_params_path(p->params_path, sizeof p->params_path, p->facts.circuit, p->params, error);
    snprintf(p->params_path, sizeof p->params_path, "%s", p->params);
    return CUZK_OK;
}

static enum cuzk_code prove_with(struct prove *p, struct cuzk *cuzk, const struct cuzk_circuit *circuit,
                                 const struct cuzk_request *request, struct cuzk_error *error)
{
    char buffer[4096];
    struct cuzk_params *params;
    uint32_t flags = (p->allow_test ? CUZK_ALLOW_TEST_PARAMS : 0u) | (p->save_image ? CUZK_SAVE_IMAGE : 0u);
    double started = seconds_now();
    enum cuzk_code code = find_params(p, error);
    if (code == CUZK_OK)
        code = cuzk_params_open(&params, cuzk, circuit, p->params_path, state_dir(buffer, sizeof buffer),
                                flags, progress_bar, NULL, error);
    progress_clear();
    p->params_seconds = seconds_now() - started;
    if (code != CUZK_OK)
        return code;
    started = seconds_now();
    size_t held = mem_used();
    mem_peak_reset();
    code = cuzk_prove(p->proof, p->facts.proof_size, cuzk, params, request, error);
    p->peak_bytes = mem_peak() - held;
    p->prove_seconds = seconds_now() - started;
    cuzk_params_close(params);
    return code;
}

static enum cuzk_code prove_request(struct prove *p, struct cuzk *cuzk, const struct cuzk_request *request,
                                    struct cuzk_error *error)
{
    cuzk_request_facts(&p->facts, request);
    p->claim.statement = *p->facts.statement;
    p->proof = mem_alloc(p->facts.proof_size, 1);
    if (p->proof == NULL) {
        *error = (struct cuzk_error){.code = CUZK_MEMORY, .message = "out of memory"};
        return CUZK_MEMORY;
    }
    struct cuzk_circuit *circuit;
    double started = seconds_now();
    enum cuzk_code code = cuzk_circuit_open(&circuit, cuzk, p->facts.circuit, error);
    p->shape_seconds = seconds_now() - started;
    if (code != CUZK_OK)
        return code;
    code = cuzk_circuit_facts(&p->circuit, cuzk, circuit, error);
    if (code == CUZK_OK)
        code = prove_with(p, cuzk, circuit, request, error);
    cuzk_circuit_close(circuit);
    return code;
}

static int show(const struct prove *p)
{
    const struct cuzk_statement *s = &p->claim.statement;
    struct result r = {.json = p->json};
    result_text(&r, "circuit", p->facts.circuit);
    result_number(&r, "registered_proof", s->registered_proof);
    if (s->kind == CUZK_POREP) {
        result_number(&r, "miner_id", s->miner_id);
        result_number(&r, "sector_number", s->sector_number);
    } else if (s->kind != CUZK_SNAP) {
        result_number(&r, "sectors", s->sectors_count);
    }
    result_number(&r, "partitions", p->facts.partitions);
    if (p->output != NULL)
        result_text(&r, "output", p->output);
    result_hex(&r, "proof", p->proof, p->facts.proof_size);
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

/* The cheap checks come first: a wrong miner or damaged vanilla proofs are said before parameters are loaded.
 */
static int prove(struct prove *p)
{
    struct cuzk *cuzk;
    struct cuzk_request *request;
    struct cuzk_error error;
    if (open_prover(&cuzk, p->threads, p->backend, &error) != CUZK_OK)
        return report_error(&error, p->json);
    double started = seconds_now();
    enum cuzk_code code = claim_open(&request, &p->claim, cuzk, &error);
    p->read_seconds = seconds_now() - started;
    if (code == CUZK_OK)
        code = prove_request(p, cuzk, request, &error);
    if (code == CUZK_OK && p->output != NULL)
        code = write_file(p->output, p->proof, p->facts.proof_size, &error);
    progress_clear();
    int exit_code = code == CUZK_OK ? show(p) : report_error(&error, p->json);
    mem_free(p->proof);
    cuzk_request_end(request);
    claim_end(&p->claim);
    cuzk_close(cuzk);
    return exit_code;
}

static int run(int argc, char **argv)
{
    static struct prove p;
    const struct arg args[] = {
        CLAIM_ARGS(p.claim),
        {"--params", ARG_TEXT, &p.params, NULL, "FILE", "parameter file of the circuit, or its directory",
         true},
        {"--output", ARG_TEXT, &p.output, NULL, "FILE", "where the proof goes", false},
        {"--allow-test-params", ARG_FLAG, &p.allow_test, NULL, NULL,
         "use parameters that are not published ones", false},
        {"--save-image", ARG_FLAG, &p.save_image, NULL, NULL, "save the decoded parameters as FILE.image",
         false},
        {"--threads", ARG_NUMBER, &p.threads, NULL, "N", "threads to use; 0, the default: all", false},
        {"--backend", ARG_TEXT, &p.backend, NULL, "NAME", "cpu, cuda or auto, the default", false},
        {"--json", ARG_FLAG, &p.json, NULL, NULL, "result as JSON", false},
    };
    int exit_code;
    if (!args_parse(&COMMAND_PROVE, args, sizeof args / sizeof args[0], argc, argv, NULL, 0, &exit_code))
        return exit_code;
    exit_code = claim_for_prove(&p.claim);
    return exit_code != EXIT_DONE ? exit_code : prove(&p);
}

const struct command COMMAND_PROVE = {
    "prove", "prove a C1 output or vanilla proofs; the proof is verified before it is written",
    "[--kind KIND] --c1 FILE | --vanilla FILE... --params FILE [--output FILE] ...", run};
