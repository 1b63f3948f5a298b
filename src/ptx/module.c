#include "ptx/module.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "ptx/program.h"

static const struct {
    const char *name;
    uint8_t bits, kind;
} types[] = {
#define X(name, bits, kind) {#name, bits, PTX_##kind},
#include "ptx/types.def"
#undef X
};

enum { UNSUPPORTED, PARTLY, EXECUTED };

static const struct {
    const char *name;
    uint8_t support;
} mnemonics[] = {
#define X(name, support) {#name, support},
#include "ptx/mnemonics.def"
#undef X
};

static const struct {
    const char *text;
    uint8_t class;
    uint32_t value;
} modifiers[] = {
#define X(name, text, class, value) {text, PTX_CLASS_##class, value},
#include "ptx/modifiers.def"
#undef X
};

unsigned ptx_type_bits(enum ptx_type type) { return types[type].bits; }
enum ptx_type_kind ptx_type_kind(enum ptx_type type) { return types[type].kind; }
const char *ptx_type_name(enum ptx_type type) { return types[type].name; }

const char *ptx_mnemonic_name(enum ptx_mnemonic mnemonic) { return mnemonics[mnemonic].name; }
bool ptx_mnemonic_supported(enum ptx_mnemonic mnemonic) { return mnemonics[mnemonic].support == EXECUTED; }
bool ptx_mnemonic_partly(enum ptx_mnemonic mnemonic) { return mnemonics[mnemonic].support == PARTLY; }

const char *ptx_modifier_text(enum ptx_modifier modifier) { return modifiers[modifier].text; }
enum ptx_modifier_class ptx_modifier_class(enum ptx_modifier modifier) { return modifiers[modifier].class; }
unsigned ptx_modifier_value(enum ptx_modifier modifier) { return modifiers[modifier].value; }

void ptx_module_destroy(struct ptx_module *module) {
    if (module) arena_destroy(module->arena);
}

/* The source line with a caret below it, shortened if long. Both keep tabs, so the caret is in place for any tab width;
 * continuation bytes of UTF-8 take no column. */
static void point_at(const struct ptx_module *module, struct ptx_place place, char *out, size_t size) {
    enum { BEFORE = 100, SHOWN = 160 };
    const char *end = module->text + module->text_bytes, *at = module->text + place.offset;
    const char *line = at - (place.column - 1), *from = at - line > BEFORE ? at - BEFORE : line;
    char shown[SHOWN + 1], blank[BEFORE + 1];
    size_t n = 0, blanks = 0;
    for (; from + n < end && from[n] != '\n' && from[n] != '\r' && n < SHOWN; n++) {
        char c = from[n];
        bool continues = ((unsigned char)c & 0xC0) == 0x80;
        shown[n] = (unsigned char)c < ' ' && c != '\t' ? '?' : c;
        if (from + n < at && !continues) blank[blanks++] = c == '\t' ? '\t' : ' ';
    }
    snprintf(out, size, "\n%.*s\n%.*s^", (int)n, shown, (int)blanks, blank);
}

bool ptx_error(const struct ptx_module *module, struct ptx_place place, struct error *err, const char *format, ...) {
    char what[1024], source[300];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    point_at(module, place, source, sizeof source);
    return error_at(err, module->file, place.line, place.column, "%.*s%s", 600, what, source);
}

struct ptx_module *ptx_parse_file(const char *name, struct error *err) {
    FILE *file = fopen(name, "rb");
    char *text = NULL;
    size_t bytes = 0, capacity = 0, got = 0;
    if (file) {
        do {
            bytes += got;
            if (capacity - bytes < 1 << 16) text = mem_grow(text, capacity = 2 * capacity + (1 << 17), 1);
        } while ((got = fread(text + bytes, 1, capacity - bytes, file)) > 0);
    }
    struct ptx_module *module = NULL;
    if (!file || ferror(file))
        error_set(err, "%.512s: %s", name, strerror(errno));
    else
        module = ptx_parse(name, text, bytes, err);
    if (file) fclose(file);
    free(text);
    return module;
}
