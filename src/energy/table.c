#include "energy/table.h"

#include <stdlib.h>

#include "base/arena.h"
#include "config/catalogue.h"

bool table_read_whole(struct yaml_reader *reader, const struct yaml_form *form, void *to) {
    struct yaml_place places[YAML_FORM_KEYS] = {0}, start = yaml_place_of(reader);
    if (!yaml_read_form(reader, form, NULL, to, places)) return false;
    for (unsigned i = 0; i < form->count; i++)
        if (!places[i].line)
            return error_at(reader->err, reader->label, start.line, start.column, "%s needs %s", form->noun,
                            form->keys[i].param.name);
    return true;
}

static bool read_content(struct yaml_reader *reader, const struct yaml_form *form, void *table) {
    return yaml_read_head(reader) && table_read_whole(reader, form, table) && yaml_read_tail(reader);
}

bool table_read(const char *word, const struct yaml_form *form, void *table, struct error *err) {
    char *path = catalogue_find("energy", "energy table", word, err);
    if (!path) return false;
    struct arena *arena = arena_create();
    size_t length;
    char *text = arena_file(arena, path, &length, err);
    bool good = text != NULL;
    if (good) {
        struct yaml_reader reader;
        yaml_reader_open(&reader, path, text, length, err);
        good = read_content(&reader, form, table);
        yaml_reader_close(&reader);
    }
    arena_destroy(arena);
    free(path);
    return good;
}
