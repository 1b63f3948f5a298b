/* Texts, numbers of all element types, and the files that a launch file names. */
#include "host/launch_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Types of elements and scalars: name, C type, kind. */
#define ELEMENT_LIST(X) \
    X(u8, uint8_t, UNSIGNED) \
    X(u16, uint16_t, UNSIGNED) \
    X(u32, uint32_t, UNSIGNED) \
    X(u64, uint64_t, UNSIGNED) \
    X(s8, int8_t, SIGNED) \
    X(s16, int16_t, SIGNED) \
    X(s32, int32_t, SIGNED) \
    X(s64, int64_t, SIGNED) \
    X(f32, float, REAL) \
    X(f64, double, REAL)

#define X(name_, type, kind_) \
    const struct element launch_element_##name_ = { \
        .policy = {.name = #name_, .help = ""}, .bytes = sizeof(type), .kind = kind_};
ELEMENT_LIST(X)
#undef X
static const struct policy *const elements[] = {
#define X(name, type, kind) &launch_element_##name.policy,
    ELEMENT_LIST(X)
#undef X
};
const struct family launch_elements = {"type", elements, COUNT_OF(elements)};

bool launch_read_text(struct yaml_reader *reader, void *user, void *to) {
    return yaml_read_text(reader, ((struct launch_file *)user)->arena, to);
}

bool launch_read_literal(struct yaml_reader *reader, void *user, void *to) {
    struct literal *literal = to;
    literal->place = yaml_place_of(reader);
    return launch_read_text(reader, user, &literal->text);
}

static bool integer_parse(const char *text, const struct element *element, uint64_t *value) {
    const char *digits = text + (*text == '-' || *text == '+');
    bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    const char *allowed = hex ? "0123456789abcdefABCDEF" : "0123456789", *start = digits + (hex ? 2 : 0);
    if (*start == '\0' || start[strspn(start, allowed)] != '\0') return false;
    errno = 0;
    uint64_t size = strtoull(start, NULL, hex ? 16 : 10);
    bool negative = *text == '-';
    unsigned bits = 8 * element->bytes;
    uint64_t most = element->kind == SIGNED && !hex ? low_mask(bits - 1) + negative : low_mask(bits);
    if (errno == ERANGE || size > most || (negative && element->kind == UNSIGNED && size > 0)) return false;
    *value = negative ? -size : size;
    return true;
}

/* Floats: decimal, C's hexadecimal, inf and nan, or PTX's 0f and 0d with the bits. */
static bool real_parse(const char *text, const struct element *element, double *value) {
    char *end;
    size_t length = strlen(text);
    if (text[0] == '0' && text[1] == (element->bytes == 4 ? 'f' : 'd') && length == 2 + 2 * (size_t)element->bytes) {
        uint64_t bits = strtoull(text + 2, &end, 16);
        uint32_t single_bits = (uint32_t)bits;
        float single;
        memcpy(&single, &single_bits, sizeof single);
        if (element->bytes == 4)
            *value = (double)single;
        else
            memcpy(value, &bits, sizeof *value);
        return *end == '\0';
    }
    *value = strtod(text, &end);
    return end != text && *end == '\0';
}

bool launch_check_literal(const struct launch_file *file, const struct literal *literal, const struct policy *type,
                          struct number *number, struct error *err) {
    const struct element *element = (const struct element *)type;
    if (!literal->text) return true;
    if (element->kind == REAL) {
        number->integer = 0;
        if (real_parse(literal->text, element, &number->real)) return true;
    } else if (integer_parse(literal->text, element, &number->integer)) {
        return true;
    }
    return BLAME(file, literal->place, err, "'%s' is not a valid %s", yaml_show(literal->text).text, type->name);
}

void launch_store(const struct element *element, struct number number, uint8_t *to) {
    float single = (float)number.real;
    if (element->kind != REAL)
        memcpy(to, &number.integer, element->bytes); /* little-endian, as on the device */
    else if (element->bytes == 4)
        memcpy(to, &single, sizeof single);
    else
        memcpy(to, &number.real, sizeof number.real);
}

/* A path in the file, relative to the file's directory. */
char *launch_relative_path(const struct launch_file *file, const char *path) {
    const char *slash = strrchr(file->path, '/');
    return path[0] == '/' || !slash ? mem_text(path)
                                    : text_format("%.*s/%s", (int)(slash - file->path), file->path, path);
}

/* The content of a file, also as one of the inputs. */
char *launch_read_input(struct launch_file *file, const char *path, size_t *bytes, struct error *err) {
    char *content = arena_file(file->arena, path, bytes, err);
    if (content)
        *(struct launch_input *)ARENA_APPEND(file->arena, file->inputs, file->input_count) =
            (struct launch_input){content, *bytes};
    return content;
}
