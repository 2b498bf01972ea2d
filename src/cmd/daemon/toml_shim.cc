/* See toml_shim.h. No exception crosses into C. */
#include "cmd/daemon/toml_shim.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include <toml++/toml.h>

namespace
{

char *copy_of(const std::string &text)
{
    char *out = static_cast<char *>(std::malloc(text.size() + 1));
    if (out == nullptr)
        throw std::bad_alloc();
    std::memcpy(out, text.data(), text.size());
    out[text.size()] = 0;
    return out;
}

std::string kind_name(const toml::node &node)
{
    std::ostringstream out;
    out << node.type();
    return out.str();
}

/* Strings, or integers as text; false for any other element. */
bool fill_strings(toml_value &value, const toml::array &array)
{
    std::string all;
    for (const auto &element : array) {
        if (const auto *text = element.as_string())
            all += text->get();
        else if (const auto *number = element.as_integer())
            all += std::to_string(number->get());
        else
            return false;
        all += '\0';
    }
    value.elements = array.size();
    value.text = copy_of(all);
    return true;
}

void fill(toml_value &value, const toml::node &node)
{
    value.line = static_cast<uint32_t>(node.source().begin.line);
    value.type = TOML_OTHER;
    if (const auto *text = node.as_string()) {
        value.type = TOML_STRING;
        value.text = copy_of(text->get());
    } else if (const auto *integer = node.as_integer()) {
        value.type = TOML_INTEGER;
        value.integer = integer->get();
    } else if (const auto *number = node.as_floating_point()) {
        value.type = TOML_FLOAT;
        value.number = number->get();
    } else if (const auto *boolean = node.as_boolean()) {
        value.type = TOML_BOOLEAN;
        value.boolean = boolean->get();
    } else if (const auto *array = node.as_array(); array != nullptr && fill_strings(value, *array)) {
        value.type = TOML_STRINGS;
    }
    if (value.type == TOML_OTHER)
        value.text = copy_of(kind_name(node));
}

void flatten(std::vector<toml_value> &out, const toml::table &table, const std::string &prefix)
{
    for (const auto &[key, node] : table) {
        std::string name = prefix.empty() ? std::string(key) : prefix + "." + std::string(key);
        if (const auto *inner = node.as_table()) {
            flatten(out, *inner, name);
            continue;
        }
        toml_value value = {};
        out.push_back(value);
        out.back().key = copy_of(name);
        fill(out.back(), node);
    }
}

void free_values(toml_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        std::free(values[i].key);
        std::free(values[i].text);
    }
}

} // namespace

bool toml_file_parse(struct toml_file *out, const char *text, size_t size)
{
    std::memset(out, 0, sizeof *out);
    std::vector<toml_value> values;
    try {
        toml::table table = toml::parse(std::string_view(text, size));
        flatten(values, table, "");
        std::stable_sort(values.begin(), values.end(),
                         [](const toml_value &a, const toml_value &b) { return a.line < b.line; });
        out->values = static_cast<toml_value *>(std::calloc(values.size() + 1, sizeof(toml_value)));
        if (out->values == nullptr)
            throw std::bad_alloc();
        std::copy(values.begin(), values.end(), out->values);
        out->count = values.size();
        return true;
    } catch (const toml::parse_error &error) {
        std::snprintf(out->error, sizeof out->error, "%s", std::string(error.description()).c_str());
        out->error_line = static_cast<uint32_t>(error.source().begin.line);
    } catch (const std::exception &error) {
        std::snprintf(out->error, sizeof out->error, "%s", error.what());
    }
    free_values(values.data(), values.size());
    return false;
}

void toml_file_end(struct toml_file *file)
{
    free_values(file->values, file->count);
    std::free(file->values);
    file->values = nullptr;
    file->count = 0;
}
