/* From a C1 output to a verified proof with libcuzk.
 *
 *     cc prove.c $(pkg-config --cflags --libs cuzk) -o prove
 *     ./prove c1.json porep-2k.params 1000 1 > proof
 *
 * Parameters made by `cuzk setup` are admitted here, as an example for tests; a program that proves for a
 * network leaves CUZK_ALLOW_TEST_PARAMS out. */
#include <cuzk/cuzk.h>

#include <stdio.h>
#include <stdlib.h>

static void fail(const struct cuzk_error *error)
{
    fprintf(stderr, "error: %s\n", error->message);
    if (error->hint[0] != 0)
        fprintf(stderr, "hint: %s\n", error->hint);
    exit(1);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = NULL;
    if (f == NULL || fseek(f, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    *size = (size_t)ftell(f);
    rewind(f);
    data = malloc(*size + 1);
    if (data == NULL || fread(data, 1, *size, f) != *size) {
        perror(path);
        exit(1);
    }
    fclose(f);
    return data;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: %s C1.json FILE.params MINER_ID SECTOR_NUMBER > PROOF\n", argv[0]);
        return 2;
    }
    uint64_t miner = strtoull(argv[3], NULL, 10), sector = strtoull(argv[4], NULL, 10);
    struct cuzk_error error;

    struct cuzk *cuzk;
    if (cuzk_open(&cuzk, NULL, &error) != CUZK_OK)
        fail(&error);

    size_t size;
    uint8_t *json = read_file(argv[1], &size);
    struct cuzk_c1 *c1;
    struct cuzk_request *request;
    if (cuzk_c1_read(&c1, json, size, &error) != CUZK_OK ||
        cuzk_request_from_c1(&request, cuzk, c1, miner, sector, &error) != CUZK_OK)
        fail(&error);
    free(json);
    struct cuzk_request_facts facts;
    cuzk_request_facts(&facts, request);
    fprintf(stderr, "circuit %s, %u partition(s)\n", facts.circuit, facts.partitions);

    struct cuzk_circuit *circuit;
    struct cuzk_params *params;
    if (cuzk_circuit_open(&circuit, cuzk, facts.circuit, &error) != CUZK_OK ||
        cuzk_params_open(&params, cuzk, circuit, argv[2], NULL, CUZK_ALLOW_TEST_PARAMS, NULL, NULL, &error) !=
            CUZK_OK)
        fail(&error);

    uint8_t *proof = malloc(facts.proof_size);
    if (proof == NULL)
        return 1;
    if (cuzk_prove(proof, facts.proof_size, cuzk, params, request, &error) != CUZK_OK)
        fail(&error);
    fwrite(proof, 1, facts.proof_size, stdout);
    fprintf(stderr, "%zu bytes, verified\n", facts.proof_size);

    free(proof);
    cuzk_params_close(params);
    cuzk_circuit_close(circuit);
    cuzk_request_end(request);
    cuzk_c1_end(c1);
    cuzk_close(cuzk);
    return 0;
}
