/* See info.h. */
#include "cmd/cuzk/info.h"

#include "cmd/cuzk/commands.h"

#include <inttypes.h>
#include <stdlib.h>

bool info_start(struct info *info)
{
    *info = (struct info){.first = true, .depth = 1};
    info->stream = open_memstream(&info->text, &info->size);
    if (info->stream == NULL)
        return false;
    fputc('{', info->stream);
    return true;
}

static void begin(struct info *info, const char *name)
{
    fprintf(info->stream, "%s\n%*s", info->first ? "" : ",", 2 * info->depth, "");
    info->first = false;
    if (name == NULL)
        return;
    write_json_string(info->stream, name);
    fputs(": ", info->stream);
}

void info_text(struct info *info, const char *name, const char *value)
{
    begin(info, name);
    write_json_string(info->stream, value);
}

void info_number(struct info *info, const char *name, uint64_t value)
{
    begin(info, name);
    fprintf(info->stream, "%" PRIu64, value);
}

void info_bool(struct info *info, const char *name, bool value)
{
    begin(info, name);
    fputs(value ? "true" : "false", info->stream);
}

void info_hex(struct info *info, const char *name, const uint8_t *bytes, size_t size)
{
    begin(info, name);
    fputc('"', info->stream);
    for (size_t i = 0; i < size; i++)
        fprintf(info->stream, "%02x", bytes[i]);
    fputc('"', info->stream);
}

void info_open(struct info *info, const char *name, char bracket)
{
    begin(info, name);
    fputc(bracket, info->stream);
    info->depth++;
    info->first = true;
}

void info_close(struct info *info, char bracket)
{
    info->depth--;
    fprintf(info->stream, "\n%*s%c", 2 * info->depth, "", bracket);
    info->first = false;
}

enum cuzk_code info_write(struct info *info, const char *path, struct cuzk_error *error)
{
    fputs("\n}\n", info->stream);
    bool failed = ferror(info->stream) != 0;
    failed = fclose(info->stream) != 0 || failed;
    info->stream = NULL;
    enum cuzk_code code = CUZK_MEMORY;
    *error = (struct cuzk_error){.code = CUZK_MEMORY, .message = "out of memory"};
    if (!failed)
        code = write_file(path, info->text, info->size, error);
    info_abandon(info);
    return code;
}

void info_abandon(struct info *info)
{
    if (info->stream != NULL)
        fclose(info->stream);
    free(info->text);
    *info = (struct info){0};
}
