/* The C face of simdjson On-Demand: see json_shim.h. Compiled without exceptions in simdjson; every call
 * gives an error code. A stack of open containers stands beside simdjson's own position, because its
 * iterators are values that belong to the caller. */
#define SIMDJSON_EXCEPTIONS 0
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <simdjson.h>
#pragma GCC diagnostic pop

#include "filecoin/json_shim.h"

#include <cstring>
#include <new>

namespace od = simdjson::ondemand;

static_assert(JSON_PADDING >= simdjson::SIMDJSON_PADDING, "the contract promises less than simdjson reads");

namespace
{
struct container {
    bool fresh; /* its first member has not been asked for */
    od::array_iterator elements;
    od::object_iterator fields;
};

enum json_result result_of(simdjson::error_code error)
{
    switch (error) {
    case simdjson::SUCCESS:
        return JSON_OK;
    case simdjson::INCORRECT_TYPE:
        return JSON_TYPE;
    case simdjson::NUMBER_ERROR:
    case simdjson::NUMBER_OUT_OF_RANGE:
        return JSON_RANGE;
    case simdjson::MEMALLOC:
    case simdjson::CAPACITY:
        return JSON_MEMORY;
    default:
        return JSON_SYNTAX;
    }
}
} // namespace

struct json {
    od::parser parser;
    od::document document;
    od::value value; /* the value that the reader stands at, if depth > 0 */
    container open[JSON_DEPTH_MAX];
    unsigned depth = 0;
};

#define RETURN_IF(error)                                                                                     \
    do {                                                                                                     \
        simdjson::error_code error_ = (error);                                                               \
        if (error_)                                                                                          \
            return result_of(error_);                                                                        \
    } while (0)

enum json_result json_open(struct json **out, const uint8_t *text, size_t size)
{
    *out = nullptr;
    struct json *j = new (std::nothrow) struct json;
    if (!j)
        return JSON_MEMORY;
    simdjson::error_code error =
        j->parser.iterate(reinterpret_cast<const char *>(text), size, size + JSON_PADDING).get(j->document);
    if (error) {
        delete j;
        return result_of(error);
    }
    *out = j;
    return JSON_OK;
}

void json_close(struct json *j)
{
    delete j;
}

enum json_result json_finish(struct json *j)
{
    if (j->depth != 0 || !j->document.is_alive())
        return JSON_SYNTAX;
    return j->document.current_location().error() == simdjson::OUT_OF_BOUNDS ? JSON_OK : JSON_SYNTAX;
}

enum json_result json_enter_object(struct json *j)
{
    od::object object;
    if (j->depth == JSON_DEPTH_MAX)
        return JSON_DEPTH;
    RETURN_IF(j->depth ? j->value.get_object().get(object) : j->document.get_object().get(object));
    RETURN_IF(object.begin().get(j->open[j->depth].fields));
    j->open[j->depth++].fresh = true;
    return JSON_OK;
}

enum json_result json_enter_array(struct json *j)
{
    od::array array;
    if (j->depth == JSON_DEPTH_MAX)
        return JSON_DEPTH;
    if (j->depth == 0)
        return JSON_TYPE;
    RETURN_IF(j->value.get_array().get(array));
    RETURN_IF(array.begin().get(j->open[j->depth].elements));
    j->open[j->depth++].fresh = true;
    return JSON_OK;
}

/* Ends the innermost container; an iterator that was abandoned because of an error looks as if at its end. */
static enum json_result leave(struct json *j)
{
    if (!j->document.is_alive())
        return JSON_SYNTAX;
    j->depth--;
    return JSON_END;
}

enum json_result json_next_key(struct json *j, const char **key, size_t *length)
{
    container &c = j->open[j->depth - 1];
    if (!c.fresh)
        ++c.fields;
    c.fresh = false;
    if (c.fields == c.fields)
        return leave(j);
    od::field field;
    RETURN_IF((*c.fields).get(field));
    j->value = field.value();
    const char *raw = field.key().raw();
    size_t n = 0;
    while (raw[n] != '"' && raw[n] != '\\')
        n++;
    if (raw[n] == '\\') {
        std::string_view plain;
        RETURN_IF(field.unescaped_key().get(plain));
        raw = plain.data();
        n = plain.size();
    }
    *key = raw;
    *length = n;
    return JSON_OK;
}

enum json_result json_next_element(struct json *j)
{
    container &c = j->open[j->depth - 1];
    if (!c.fresh)
        ++c.elements;
    c.fresh = false;
    if (c.elements == c.elements)
        return leave(j);
    RETURN_IF((*c.elements).get(j->value));
    return JSON_OK;
}

enum json_result json_what(struct json *j, enum json_type *type)
{
    od::json_type t;
    RETURN_IF(j->value.type().get(t));
    *type = t == od::json_type::object   ? JSON_IS_OBJECT
            : t == od::json_type::array  ? JSON_IS_ARRAY
            : t == od::json_type::string ? JSON_IS_STRING
                                         : JSON_IS_OTHER;
    return JSON_OK;
}

enum json_result json_u64(struct json *j, uint64_t *out)
{
    return result_of(j->value.get_uint64().get(*out));
}

enum json_result json_string(struct json *j, const char **text, size_t *length)
{
    std::string_view plain = j->value.raw_json_token();
    if (plain.empty() || plain[0] != '"')
        return JSON_TYPE;
    if (memchr(plain.data(), '\\', plain.size())) {
        RETURN_IF(j->value.get_string().get(plain));
        *text = plain.data();
        *length = plain.size();
        return JSON_OK;
    }
    od::raw_json_string raw;
    RETURN_IF(j->value.get_raw_json_string().get(raw));
    const void *end = memchr(raw.raw(), '"', plain.size() - 1);
    if (!end)
        return JSON_SYNTAX;
    *text = raw.raw();
    *length = static_cast<size_t>(static_cast<const char *>(end) - raw.raw());
    return JSON_OK;
}

/* The usual form of a byte array, without white space, read straight from the text: three times as fast as
 * number by number. False for anything else. Stays inside the text, because that ends with a brace. */
static bool compact_bytes(uint8_t *out, size_t count, const char *p)
{
    if (*p++ != '[')
        return false;
    for (size_t i = 0; i < count; i++) {
        unsigned v = static_cast<unsigned>(*p++ - '0'), digit;
        if (v > 9)
            return false;
        for (int k = 0; v != 0 && k < 2 && (digit = static_cast<unsigned>(*p - '0')) <= 9; k++, p++)
            v = 10 * v + digit;
        if (v > 255 || *p++ != (i + 1 == count ? ']' : ','))
            return false;
        out[i] = static_cast<uint8_t>(v);
    }
    return true;
}

enum json_result json_bytes(struct json *j, uint8_t *out, size_t count, size_t *at)
{
    size_t n = 0;
    *at = 0;
    if (compact_bytes(out, count, j->value.raw_json_token().data()))
        return JSON_OK; /* simdjson steps over it at the next call */
    od::array array;
    RETURN_IF(j->value.get_array().get(array));
    for (auto element : array) {
        uint64_t v;
        *at = n;
        RETURN_IF(element.get_uint64().get(v));
        if (n == count)
            return JSON_LENGTH;
        if (v > 255)
            return JSON_RANGE;
        out[n++] = static_cast<uint8_t>(v);
    }
    *at = n;
    if (!j->document.is_alive())
        return JSON_SYNTAX;
    return n == count ? JSON_OK : JSON_LENGTH;
}

enum json_result json_scalar(struct json *j)
{
    od::json_type type;
    RETURN_IF(j->value.type().get(type));
    switch (type) {
    case od::json_type::string: {
        std::string_view text;
        return result_of(j->value.get_string().get(text));
    }
    case od::json_type::number: {
        od::number number;
        return result_of(j->value.get_number().get(number));
    }
    case od::json_type::boolean: {
        bool b;
        return result_of(j->value.get_bool().get(b));
    }
    case od::json_type::null: {
        bool null;
        RETURN_IF(j->value.is_null().get(null));
        return null ? JSON_OK : JSON_SYNTAX;
    }
    default:
        return JSON_TYPE;
    }
}
