/* Server reflection: the files of proto/, embedded at build time as one FileDescriptorSet, cut into its files
 * once per question (they are few and small) and searched for symbols. Only names and nesting are read:
 *
 *     FileDescriptorSet: file 1
 *     FileDescriptorProto: name 1, package 2, message_type 4, enum_type 5, service 6
 *     DescriptorProto: name 1, field 2, nested_type 3, enum_type 4
 *     EnumDescriptorProto: name 1, value 2;  ServiceDescriptorProto: name 1, method 2 */
#include "serve/internal.h"

#include "filecoin/request.h"
#include <grpc/reflection/v1/reflection.pb-c.h>
#include <stdio.h>
#include <string.h>

extern const unsigned char proto_descriptors[];
extern const size_t proto_descriptors_size;

#define FILES_MAX    8
#define SERVICES_MAX 8

/* The next length-delimited field of trusted bytes; others are skipped. */
static bool next(uint32_t *number, struct bytes_view *value, struct bytes_view *rest)
{
    const uint8_t *at = rest->data, *end = at + rest->size;
    while (at < end) {
        uint64_t word[2] = {0, 0};
        bool bytes = false;
        for (int i = 0; i < 2; i++) {
            for (unsigned shift = 0; at < end; shift += 7) {
                word[i] |= (uint64_t)(*at & 0x7f) << shift;
                if (*at++ < 0x80)
                    break;
            }
            bytes = (word[0] & 7) == 2;
        }
        if (!bytes)
            continue; /* a varint: both its words are read. Descriptors hold no others. */
        CHECK(word[1] <= (uint64_t)(end - at));
        *number = (uint32_t)(word[0] >> 3);
        *value = (struct bytes_view){at, (size_t)word[1]};
        *rest = (struct bytes_view){at + word[1], (size_t)(end - at) - (size_t)word[1]};
        return true;
    }
    return false;
}

/* The first field of that number; empty if there is none. */
static struct bytes_view find(struct bytes_view message, uint32_t number)
{
    uint32_t n;
    struct bytes_view value;
    while (next(&n, &value, &message))
        if (n == number)
            return value;
    return (struct bytes_view){NULL, 0};
}

static bool equals(struct bytes_view name, const char *text)
{
    return name.size == strlen(text) && memcmp(name.data, text, name.size) == 0;
}

/* Takes "name" or "name." off the front of *symbol. */
static bool take_name(const char **symbol, struct bytes_view name)
{
    if (strncmp(*symbol, (const char *)name.data, name.size) != 0)
        return false;
    const char *rest = *symbol + name.size;
    if (*rest != 0 && *rest != '.')
        return false;
    *symbol = *rest == '.' ? rest + 1 : rest;
    return true;
}

/* Which fields of a file or of a message hold things with names, and what kind of thing. */
enum thing { THING_MESSAGE, THING_ENUM, THING_SERVICE, THING_LEAF };

static bool thing_of(enum thing *out, enum thing outer, bool file, uint32_t number)
{
    if (file)
        *out = number == 4 ? THING_MESSAGE : number == 5 ? THING_ENUM : THING_SERVICE;
    else if (outer == THING_MESSAGE)
        *out = number == 3 ? THING_MESSAGE : number == 4 ? THING_ENUM : THING_LEAF;
    else
        *out = THING_LEAF;
    return file                     ? number >= 4 && number <= 6
           : outer == THING_MESSAGE ? number >= 2 && number <= 4
                                    : number == 2;
}

/* Whether the symbol (without what is outside) names something within. */
static bool within(struct bytes_view message, enum thing outer, bool file, const char *symbol)
{
    uint32_t number;
    struct bytes_view value;
    while (next(&number, &value, &message)) {
        enum thing thing;
        const char *rest = symbol;
        if (!thing_of(&thing, outer, file, number) || !take_name(&rest, find(value, 1)))
            continue;
        if (*rest == 0 || (thing != THING_LEAF && within(value, thing, false, rest)))
            return true;
    }
    return false;
}

static size_t list_files(struct bytes_view files[FILES_MAX])
{
    struct bytes_view set = {proto_descriptors, proto_descriptors_size};
    uint32_t number;
    size_t count = 0;
    while (count < FILES_MAX && next(&number, &files[count], &set))
        count++;
    return count;
}

/* A file by its name, or by a symbol in it; empty if there is none. */
static struct bytes_view find_file(const char *name, const char *symbol)
{
    struct bytes_view files[FILES_MAX];
    size_t count = list_files(files);
    for (size_t i = 0; i < count; i++) {
        const char *rest = symbol;
        if (name != NULL && equals(find(files[i], 1), name))
            return files[i];
        if (symbol != NULL && take_name(&rest, find(files[i], 2)) && *rest != 0 &&
            within(files[i], 0, true, rest))
            return files[i];
    }
    return (struct bytes_view){NULL, 0};
}

/* ---- answers ---- */

typedef Grpc__Reflection__V1__ServerReflectionRequest question;
typedef Grpc__Reflection__V1__ServerReflectionResponse reply;

static void answer_error(struct grpc_call *call, reply *r, enum grpc_code code, const char *what,
                         const char *name)
{
    Grpc__Reflection__V1__ErrorResponse error = GRPC__REFLECTION__V1__ERROR_RESPONSE__INIT;
    char text[200];
    snprintf(text, sizeof text, "%s: %.150s", what, name);
    utf8_repair(text);
    error.error_code = (int32_t)code;
    error.error_message = text;
    r->message_response_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_ERROR_RESPONSE;
    r->error_response = &error;
    send_message(call, &r->base);
}

static void answer_file(struct grpc_call *call, reply *r, struct bytes_view file, const char *asked)
{
    if (file.data == NULL) {
        answer_error(call, r, GRPC_NOT_FOUND, "not known here", asked);
        return;
    }
    Grpc__Reflection__V1__FileDescriptorResponse response =
        GRPC__REFLECTION__V1__FILE_DESCRIPTOR_RESPONSE__INIT;
    ProtobufCBinaryData bytes = {file.size, (uint8_t *)(uintptr_t)file.data};
    response.n_file_descriptor_proto = 1;
    response.file_descriptor_proto = &bytes;
    r->message_response_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_FILE_DESCRIPTOR_RESPONSE;
    r->file_descriptor_response = &response;
    send_message(call, &r->base);
}

static size_t list_services(char names[SERVICES_MAX][128])
{
    struct bytes_view files[FILES_MAX], value;
    size_t count = 0, files_count = list_files(files);
    for (size_t i = 0; i < files_count; i++) {
        struct bytes_view package = find(files[i], 2), rest = files[i];
        uint32_t number;
        while (count < SERVICES_MAX && next(&number, &value, &rest)) {
            struct bytes_view name = number == 6 ? find(value, 1) : (struct bytes_view){NULL, 0};
            if (name.data != NULL)
                snprintf(names[count++], sizeof names[0], "%.*s.%.*s", (int)package.size,
                         (const char *)package.data, (int)name.size, (const char *)name.data);
        }
    }
    return count;
}

static void answer_services(struct grpc_call *call, reply *r)
{
    char names[SERVICES_MAX][128];
    Grpc__Reflection__V1__ServiceResponse service[SERVICES_MAX], *services[SERVICES_MAX];
    Grpc__Reflection__V1__ListServiceResponse list = GRPC__REFLECTION__V1__LIST_SERVICE_RESPONSE__INIT;
    list.n_service = list_services(names);
    list.service = services;
    for (size_t i = 0; i < list.n_service; i++) {
        grpc__reflection__v1__service_response__init(&service[i]);
        service[i].name = names[i];
        services[i] = &service[i];
    }
    r->message_response_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_LIST_SERVICES_RESPONSE;
    r->list_services_response = &list;
    send_message(call, &r->base);
}

static void gone(void *context)
{
    grpc_end(context, GRPC_CANCELLED, NULL, 0);
}

void handle_reflection(void *context, struct grpc_call *call, struct grpc_message *message)
{
    (void)context;
    grpc_call_watch(call, gone, NULL, call);
    if (message == NULL) {
        grpc_end(call, GRPC_OK, NULL, 0);
        return;
    }
    question *q = unpack(call, message, &grpc__reflection__v1__server_reflection_request__descriptor);
    if (q == NULL)
        return;
    reply r = GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__INIT;
    r.valid_host = q->host;
    r.original_request = q;
    switch (q->message_request_case) {
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_BY_FILENAME:
        answer_file(call, &r, find_file(q->file_by_filename, NULL), q->file_by_filename);
        break;
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_SYMBOL:
        answer_file(call, &r, find_file(NULL, q->file_containing_symbol), q->file_containing_symbol);
        break;
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_LIST_SERVICES:
        answer_services(call, &r);
        break;
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_EXTENSION:
        answer_error(call, &r, GRPC_NOT_FOUND, "no message here has extensions",
                     q->file_containing_extension->containing_type);
        break;
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_ALL_EXTENSION_NUMBERS_OF_TYPE:
        answer_error(call, &r, GRPC_NOT_FOUND, "no message here has extensions",
                     q->all_extension_numbers_of_type);
        break;
    default:
        answer_error(call, &r, GRPC_INVALID_ARGUMENT, "the question is empty", "");
        break;
    }
    protobuf_c_message_free_unpacked(&q->base, NULL);
}
