/* The resolved configuration as YAML that reads back identically: nested sections, each value optionally followed by a
 * comment with unit and origin. Sections of policies that are not chosen are omitted.
 */
#include <stdlib.h>

#include "base/base.h"
#include "config/store.h"

/* A path may contain any byte, a comment may not: a line break would end it, invalid UTF-8 would spoil the file. */
static void write_comment_text(const char *text, FILE *out) {
    for (; *text; text++) fputc(*text >= ' ' && *text <= '~' ? *text : '?', out);
}

static void write_param(const struct config *config, unsigned index, int indent, bool origins, FILE *out) {
    struct config_entry entry;
    config_entry_at(config, index, &entry);
    int width = fprintf(out, "%*s%s: %s", indent, "", entry.param->name, entry.value);
    if (origins) {
        int gap = width < 40 ? 40 - width : 1;
        fprintf(out, "%*s# ", gap, "");
        if (entry.param->unit && *entry.param->unit) fprintf(out, "%s; ", entry.param->unit);
        write_comment_text(entry.origin, out);
    }
    fputc('\n', out);
}

static void write_section(const struct config *config, unsigned index, int indent, bool origins, FILE *out) {
    const struct placed *placed = &config->placed[index];
    fprintf(out, "%*s%s:\n", indent, "", placed->name);
    for (unsigned p = 0; p < section_rows(placed->section); p++)
        write_param(config, placed->first + p, indent + 2, origins, out);
    for (unsigned i = index + 1; i < config->placed_count; i++)
        if (config->placed[i].parent == (int)index && store_in_use(config, i))
            write_section(config, i, indent + 2, origins, out);
}

static void write_meta(const char *key, const char *value, FILE *out) {
    if (!*value) return;
    size_t size = (size_t)value_format_text(value, NULL, 0) + 1;
    char *text = mem_alloc(size, 1);
    value_format_text(value, text, size);
    fprintf(out, "%s: %s\n", key, text);
    free(text);
}

void config_write_yaml(const struct config *config, bool origins, FILE *out) {
    for (unsigned i = 0; i < META_COUNT; i++) write_meta(meta_keys[i], config->meta[i], out);
    for (unsigned i = 0; i < config->placed_count; i++)
        if (config->placed[i].parent == NOWHERE) write_section(config, i, 0, origins, out);
}
