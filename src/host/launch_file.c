/* A launch file is read by tables of its keys (config/yaml_reader.h) and checked completely before anything runs,
 * including the PTX and the fit of every launch. Running it is then short: buffers, fills, launches.
 *
 * Not supported: expressions, loops over sizes, copies between launches. Use a program for these. */
#include "host/launch_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/random.h"
#include "config/yaml_reader.h"
#include "emu/emu.h"
#include "host/launch_texture.h"

/* --- contents of a file --- */

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

enum element_kind { UNSIGNED, SIGNED, REAL };

struct element {
    struct policy policy;
    unsigned bytes;
    enum element_kind kind;
};
#define X(name_, type, kind_) \
    static const struct element element_##name_ = { \
        .policy = {.name = #name_, .help = ""}, .bytes = sizeof(type), .kind = kind_};
ELEMENT_LIST(X)
#undef X
static const struct policy *const elements[] = {
#define X(name, type, kind) &element_##name.policy,
    ELEMENT_LIST(X)
#undef X
};
static const struct family element_family = {"type", elements, COUNT_OF(elements)};

/* The kinds of buffer initialisation. */
#define FILL_LIST(X) X(zeros) X(const) X(iota) X(lcg) X(random) X(file)
#define X(name_)     static const struct policy fill_##name_ = {.name = #name_, .help = ""};
FILL_LIST(X)
#undef X
static const struct policy *const fills[] = {
#define X(name) &fill_##name,
    FILL_LIST(X)
#undef X
};
static const struct family fill_family = {"fill", fills, COUNT_OF(fills)};

/* A number as written: its meaning depends on a type that may follow. */
struct literal {
    const char *text; /* NULL: not given */
    struct yaml_place place;
};

/* A number of any element type. */
struct number {
    double real;
    uint64_t integer;
};

struct setting {
    int64_t index;
    struct literal value;
    struct number number;
};

struct fill {
    const struct policy *kind, *type;
    struct literal value, start, step, low, high;
    struct number value_number, start_number, step_number, low_number, high_number;
    int64_t seed, shift, mod;
    const char *file;
    uint8_t *content; /* of the file */
    struct setting *settings;
    unsigned setting_count;
};

/* Keys of a form, in the order of its table. */
enum { FILL_KIND, FILL_FILE = 10 };

/* A buffer, or (is_variable) a variable of the module, whose size and address follow from the PTX. */
struct buffer {
    const char *name, *dump, *expected;
    int64_t bytes, address, gpgpusim_addr, final_sum_u32, final_xor_u32;
    int64_t reserved_bytes; /* memory allocated for it: at least `bytes` */
    bool output, is_variable;
    struct fill fill; /* of a variable: without kind its initial contents remain */
    uint8_t *expected_content;
    struct yaml_place places[YAML_FORM_KEYS];
};
enum buffer_key {
    BUFFER_NAME,
    BUFFER_BYTES,
    BUFFER_FILL,
    BUFFER_OUTPUT,
    BUFFER_DUMP,
    BUFFER_SUM,
    BUFFER_XOR,
    BUFFER_EXPECTED,
    BUFFER_ADDRESS, /* from here on not of variables */
    BUFFER_GPGPUSIM_ADDR,
};

struct kernel_row {
    const char *symbol;
    int64_t registers_per_thread, static_shared_bytes;
    struct yaml_place places[YAML_FORM_KEYS];
};
enum kernel_key { KERNEL_SYMBOL, KERNEL_REGISTERS, KERNEL_SHARED };

struct argument {
    const char *buffer, *bytes, *texture, *surface;
    int64_t offset;
    const struct policy *scalar;
    struct literal value;
    unsigned buffer_index;
    uint8_t *content;
    uint32_t size_bytes;
    struct yaml_place places[YAML_FORM_KEYS], place;
};
enum argument_key {
    ARGUMENT_BUFFER,
    ARGUMENT_OFFSET,
    ARGUMENT_SCALAR,
    ARGUMENT_VALUE,
    ARGUMENT_BYTES,
    ARGUMENT_TEXTURE,
    ARGUMENT_SURFACE,
};

struct launch_row {
    const char *kernel;
    struct int_list grid, block, cluster;
    int64_t dynamic_shared_bytes, repeat;
    struct argument *arguments;
    unsigned argument_count;
    uint32_t registers;
    bool cooperative;
    struct yaml_place places[YAML_FORM_KEYS], place;
};
enum launch_key {
    LAUNCH_KERNEL,
    LAUNCH_GRID,
    LAUNCH_BLOCK,
    LAUNCH_CLUSTER,
    LAUNCH_SHARED,
    LAUNCH_REPEAT,
    LAUNCH_COOPERATIVE,
    LAUNCH_ARGS
};

struct launch_file {
    const char *path, *name, *description, *ptx, *warning;
    char *ptx_path, *ptx_text;
    struct launch_input *inputs;
    unsigned input_count;
    size_t ptx_bytes;
    struct kernel_row *kernels;
    struct buffer *buffers, *variables;
    struct launch_row *launches;
    unsigned kernel_count, buffer_count, variable_count, launch_count;
    struct launch_textures textures;
    struct yaml_place places[YAML_FORM_KEYS];
    struct arena *arena;
};
enum file_key {
    FILE_NAME,
    FILE_DESCRIPTION,
    FILE_PTX,
    FILE_KERNELS,
    FILE_BUFFERS,
    FILE_VARIABLES,
    FILE_TEXTURES,
    FILE_LAUNCHES,
};

/* Buffers, then variables; NULL after the last. */
static struct buffer *content_at(const struct launch_file *file, unsigned i) {
    if (i < file->buffer_count) return &file->buffers[i];
    i -= file->buffer_count;
    return i < file->variable_count ? &file->variables[i] : NULL;
}

/* --- reading --- */

static bool read_text(struct yaml_reader *reader, void *user, void *to) {
    return yaml_read_text(reader, ((struct launch_file *)user)->arena, to);
}

static bool read_literal(struct yaml_reader *reader, void *user, void *to) {
    struct literal *literal = to;
    literal->place = yaml_place_of(reader);
    return read_text(reader, user, &literal->text);
}

#define TEXT(owner, field) \
    { .param = {.name = #field, .offset = offsetof(owner, field)}, .read = read_text }
#define LITERAL(owner, field) \
    { .param = {.name = #field, .offset = offsetof(owner, field)}, .read = read_literal }
#define NESTED(owner, field, read_) \
    { .param = {.name = #field, .offset = offsetof(owner, field)}, .read = read_ }
#define ROW(...) \
    { .param = __VA_ARGS__ }
#define FORM(name_, noun_, keys_) \
    static const struct yaml_form name_ = {.noun = noun_, .keys = keys_, .count = COUNT_OF(keys_)}

static const struct yaml_key setting_keys[] = {
    ROW(P_INT(struct setting, index, 0, 0, 1e15, "elements", "")),
    LITERAL(struct setting, value),
};
FORM(setting_form, "a setting", setting_keys);

struct reading {
    struct launch_file *file;
    void *owner;
};

static bool read_setting(struct yaml_reader *reader, void *user) {
    const struct reading *reading = user;
    struct fill *fill = reading->owner;
    struct yaml_place places[YAML_FORM_KEYS] = {0}, start = yaml_place_of(reader);
    struct setting *setting = ARENA_APPEND(reading->file->arena, fill->settings, fill->setting_count);
    if (!yaml_read_form(reader, &setting_form, reading->file, setting, places)) return false;
    if (places[0].line && places[1].line) return true;
    return error_at(reader->err, reader->label, start.line, start.column, "a setting requires index and value");
}

/* One element or a list of them. */
static bool read_settings(struct yaml_reader *reader, void *user, void *to) {
    struct reading reading = {user, (char *)to - offsetof(struct fill, settings)};
    if (reader->event.type == YAML_MAPPING_START_EVENT) return read_setting(reader, &reading);
    return yaml_read_elements(reader, "set", read_setting, &reading);
}

static const struct yaml_key fill_keys[] = {
    ROW(P_CHOICE(struct fill, kind, fill_family, "zeros", "")),
    ROW(P_CHOICE(struct fill, type, element_family, "u32", "")),
    LITERAL(struct fill, value),
    LITERAL(struct fill, start),
    LITERAL(struct fill, step),
    LITERAL(struct fill, low),
    LITERAL(struct fill, high),
    ROW(P_INT(struct fill, seed, 1, 0, 9e18, "", "")),
    ROW(P_INT(struct fill, shift, 0, 0, 31, "bits", "")),
    ROW(P_INT(struct fill, mod, 0, 0, 4294967296.0, "", "")),
    TEXT(struct fill, file),
    {.param = {.name = "set", .offset = offsetof(struct fill, settings)}, .read = read_settings},
};
FORM(fill_form, "a fill", fill_keys);

static bool read_fill(struct yaml_reader *reader, void *user, void *to) {
    struct fill *fill = to;
    if (reader->event.type == YAML_SCALAR_EVENT)
        return yaml_read_value(reader, "fill", &fill_keys[FILL_KIND].param, &fill->kind);
    return yaml_read_form(reader, &fill_form, user, fill, NULL);
}

static const struct yaml_key buffer_keys[] = {
    [BUFFER_NAME] = TEXT(struct buffer, name),
    [BUFFER_BYTES] = ROW(P_INT(struct buffer, bytes, 0, 1, 1099511627776.0, "bytes", "")),
    [BUFFER_FILL] = NESTED(struct buffer, fill, read_fill),
    [BUFFER_ADDRESS] = ROW(P_INT(struct buffer, address, 0, 256, 36028797018963968.0, "", "")),
    [BUFFER_GPGPUSIM_ADDR] = ROW(P_INT(struct buffer, gpgpusim_addr, 0, 256, 36028797018963968.0, "", "")),
    [BUFFER_OUTPUT] = ROW(P_BOOL(struct buffer, output, false, "")),
    [BUFFER_DUMP] = TEXT(struct buffer, dump),
    [BUFFER_SUM] = ROW(P_INT(struct buffer, final_sum_u32, 0, 0, UINT32_MAX, "", "")),
    [BUFFER_XOR] = ROW(P_INT(struct buffer, final_xor_u32, 0, 0, UINT32_MAX, "", "")),
    [BUFFER_EXPECTED] = TEXT(struct buffer, expected),
};
FORM(buffer_form, "a buffer", buffer_keys);
static const struct yaml_form variable_form = {.noun = "a variable", .keys = buffer_keys, .count = BUFFER_ADDRESS};

static bool read_buffer(struct yaml_reader *reader, void *user) {
    struct launch_file *file = user;
    struct buffer *buffer = ARENA_APPEND(file->arena, file->buffers, file->buffer_count);
    struct yaml_place start = yaml_place_of(reader);
    buffer->fill = (struct fill){.kind = &fill_zeros, .type = &element_u32.policy, .seed = 1};
    if (!yaml_read_form(reader, &buffer_form, file, buffer, buffer->places)) return false;
    if (buffer->name && buffer->bytes) return true;
    return error_at(reader->err, reader->label, start.line, start.column, "a buffer requires name and bytes");
}
static bool read_variable(struct yaml_reader *reader, void *user) {
    struct launch_file *file = user;
    struct buffer *variable = ARENA_APPEND(file->arena, file->variables, file->variable_count);
    struct yaml_place start = yaml_place_of(reader);
    variable->is_variable = true;
    variable->fill = (struct fill){.type = &element_u32.policy, .seed = 1};
    if (!yaml_read_form(reader, &variable_form, file, variable, variable->places)) return false;
    if (variable->name) return true;
    return error_at(reader->err, reader->label, start.line, start.column, "a variable requires name");
}
static bool read_variables(struct yaml_reader *reader, void *user, void *to) {
    (void)to;
    return yaml_read_elements(reader, "variables", read_variable, user);
}
static bool read_buffers(struct yaml_reader *reader, void *user, void *to) {
    (void)to;
    return yaml_read_elements(reader, "buffers", read_buffer, user);
}

static const struct yaml_key kernel_keys[] = {
    [KERNEL_SYMBOL] = TEXT(struct kernel_row, symbol),
    [KERNEL_REGISTERS] = ROW(P_INT(struct kernel_row, registers_per_thread, 0, 1, 255, "registers", "")),
    [KERNEL_SHARED] = ROW(P_INT(struct kernel_row, static_shared_bytes, 0, 0, UINT32_MAX, "bytes", "")),
};
FORM(kernel_form, "a kernel", kernel_keys);

static bool read_kernel(struct yaml_reader *reader, void *user) {
    struct launch_file *file = user;
    struct kernel_row *kernel = ARENA_APPEND(file->arena, file->kernels, file->kernel_count);
    struct yaml_place start = yaml_place_of(reader);
    if (!yaml_read_form(reader, &kernel_form, file, kernel, kernel->places)) return false;
    if (kernel->symbol) return true;
    return error_at(reader->err, reader->label, start.line, start.column, "a kernel requires symbol");
}
static bool read_kernels(struct yaml_reader *reader, void *user, void *to) {
    (void)to;
    return yaml_read_elements(reader, "kernels", read_kernel, user);
}

static const struct yaml_key argument_keys[] = {
    [ARGUMENT_BUFFER] = TEXT(struct argument, buffer),
    [ARGUMENT_OFFSET] = ROW(P_INT(struct argument, offset, 0, -1e15, 1e15, "bytes", "")),
    [ARGUMENT_SCALAR] = ROW(P_CHOICE(struct argument, scalar, element_family, "u32", "")),
    [ARGUMENT_VALUE] = LITERAL(struct argument, value),
    [ARGUMENT_BYTES] = TEXT(struct argument, bytes),
    [ARGUMENT_TEXTURE] = TEXT(struct argument, texture),
    [ARGUMENT_SURFACE] = TEXT(struct argument, surface),
};
FORM(argument_form, "an argument", argument_keys);

static bool read_argument(struct yaml_reader *reader, void *user) {
    const struct reading *reading = user;
    struct launch_row *launch = reading->owner;
    struct argument *argument = ARENA_APPEND(reading->file->arena, launch->arguments, launch->argument_count);
    argument->place = yaml_place_of(reader);
    if (!yaml_read_form(reader, &argument_form, reading->file, argument, argument->places)) return false;
    int ways = (argument->buffer != NULL) + (argument->scalar != NULL) + (argument->bytes != NULL) +
               (argument->texture != NULL) + (argument->surface != NULL);
    bool fits = ways == 1 && (argument->scalar != NULL) == (argument->value.text != NULL) &&
                (argument->buffer || !argument->places[ARGUMENT_OFFSET].line);
    return fits ||
           error_at(reader->err, reader->label, argument->place.line, argument->place.column,
                    "an argument must be {buffer: NAME} (optionally with offset), {scalar: TYPE, value: NUMBER},"
                    " {texture: NAME}, {surface: NAME} or {bytes: HEX}");
}
static bool read_arguments(struct yaml_reader *reader, void *user, void *to) {
    struct reading reading = {user, (char *)to - offsetof(struct launch_row, arguments)};
    return yaml_read_elements(reader, "args", read_argument, &reading);
}

static const struct yaml_key launch_keys[] = {
    [LAUNCH_KERNEL] = TEXT(struct launch_row, kernel),
    [LAUNCH_GRID] = ROW(P_LIST(struct launch_row, grid, "[1]", 1, 3, 1, INT32_MAX, "CTAs", "")),
    [LAUNCH_BLOCK] = ROW(P_LIST(struct launch_row, block, "[1]", 1, 3, 1, 1024, "threads", "")),
    [LAUNCH_CLUSTER] = ROW(P_LIST(struct launch_row, cluster, "[1]", 1, 3, 1, 16, "CTAs", "")),
    [LAUNCH_SHARED] = ROW(P_INT(struct launch_row, dynamic_shared_bytes, 0, 0, INT32_MAX, "bytes", "")),
    [LAUNCH_REPEAT] = ROW(P_INT(struct launch_row, repeat, 1, 1, 1e9, "times", "")),
    [LAUNCH_COOPERATIVE] = ROW(P_BOOL(struct launch_row, cooperative, false, "")),
    [LAUNCH_ARGS] = {.param = {.name = "args", .offset = offsetof(struct launch_row, arguments)},
                     .read = read_arguments},
};
FORM(launch_form, "a launch", launch_keys);

static bool read_launch(struct yaml_reader *reader, void *user) {
    struct launch_file *file = user;
    struct launch_row *launch = ARENA_APPEND(file->arena, file->launches, file->launch_count);
    launch->place = yaml_place_of(reader);
    launch->repeat = 1;
    if (!yaml_read_form(reader, &launch_form, file, launch, launch->places)) return false;
    if (launch->kernel && launch->grid.count && launch->block.count) return true;
    return error_at(reader->err, reader->label, launch->place.line, launch->place.column,
                    "a launch requires kernel, grid and block");
}
static bool read_launches(struct yaml_reader *reader, void *user, void *to) {
    (void)to;
    return yaml_read_elements(reader, "launches", read_launch, user);
}

static bool read_textures(struct yaml_reader *reader, void *user, void *to) {
    return launch_textures_read(reader, ((struct launch_file *)user)->arena, to);
}

static const struct yaml_key file_keys[] = {
    [FILE_NAME] = TEXT(struct launch_file, name),
    [FILE_DESCRIPTION] = TEXT(struct launch_file, description),
    [FILE_PTX] = TEXT(struct launch_file, ptx),
    [FILE_KERNELS] = NESTED(struct launch_file, kernels, read_kernels),
    [FILE_BUFFERS] = NESTED(struct launch_file, buffers, read_buffers),
    [FILE_VARIABLES] = NESTED(struct launch_file, variables, read_variables),
    [FILE_TEXTURES] = NESTED(struct launch_file, textures, read_textures),
    [FILE_LAUNCHES] = NESTED(struct launch_file, launches, read_launches),
};
FORM(file_form, "a launch file", file_keys);

static bool read_document(struct launch_file *file, struct yaml_reader *reader) {
    if (!yaml_read_head(reader)) return false;
    if (reader->event.type == YAML_STREAM_END_EVENT || yaml_is_nothing(reader))
        return yaml_blame(reader, reader->at, "the file is empty; a launch file has ptx, buffers and launches");
    return yaml_read_form(reader, &file_form, file, file, file->places) && yaml_read_tail(reader);
}

/* The content of a file, also as one of the inputs. */
static char *read_input(struct launch_file *file, const char *path, size_t *bytes, struct error *err) {
    char *content = arena_file(file->arena, path, bytes, err);
    if (content)
        *(struct launch_input *)ARENA_APPEND(file->arena, file->inputs, file->input_count) =
            (struct launch_input){content, *bytes};
    return content;
}

static bool read_file(struct launch_file *file, struct error *err) {
    size_t bytes;
    char *text = read_input(file, file->path, &bytes, err);
    if (!text) return false;
    struct yaml_reader reader;
    yaml_reader_open(&reader, file->path, text, bytes, err);
    bool read = read_document(file, &reader);
    yaml_reader_close(&reader);
    return read;
}

/* --- checking --- */

#define BLAME(file, place_, err, ...) error_at(err, (file)->path, (place_).line, (place_).column, __VA_ARGS__)

/* A path in the file, relative to the file's directory. */
static char *relative_path(const struct launch_file *file, const char *path) {
    const char *slash = strrchr(file->path, '/');
    return path[0] == '/' || !slash ? mem_text(path)
                                    : text_format("%.*s/%s", (int)(slash - file->path), file->path, path);
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

static bool check_literal(const struct launch_file *file, const struct literal *literal, const struct policy *type,
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

static void element_store(const struct element *element, struct number number, uint8_t *to) {
    float single = (float)number.real;
    if (element->kind != REAL)
        memcpy(to, &number.integer, element->bytes); /* little-endian, as on the device */
    else if (element->bytes == 4)
        memcpy(to, &single, sizeof single);
    else
        memcpy(to, &number.real, sizeof number.real);
}

static const char *noun_of(const struct buffer *buffer) { return buffer->is_variable ? "variable" : "buffer"; }

/* Elements of the fill; the last one may be incomplete. */
static uint64_t element_count(const struct buffer *buffer) {
    return div_up((uint64_t)buffer->bytes, ((const struct element *)buffer->fill.type)->bytes);
}

/* The content of a file that must have exactly the buffer's size. */
static bool check_content(struct launch_file *file, const struct buffer *buffer, const char *name,
                          struct yaml_place place, uint8_t **content, struct error *err) {
    struct error inner = {0};
    size_t bytes;
    char *path = relative_path(file, name);
    *content = (uint8_t *)read_input(file, path, &bytes, &inner);
    free(path);
    if (!*content) return BLAME(file, place, err, "%s", inner.text);
    if (bytes == (uint64_t)buffer->bytes) return true;
    return BLAME(file, place, err, "%s has %zu bytes, but %s %s has %" PRId64, name, bytes, noun_of(buffer),
                 buffer->name, buffer->bytes);
}

static bool check_fill(struct launch_file *file, struct buffer *buffer, struct error *err) {
    struct fill *fill = &buffer->fill;
    struct yaml_place place = buffer->places[BUFFER_FILL];
    fill->step_number = (struct number){1, 1};
    fill->high_number.real = 1;
    struct {
        const struct literal *literal;
        struct number *number;
    } numbers[] = {{&fill->value, &fill->value_number},
                   {&fill->start, &fill->start_number},
                   {&fill->step, &fill->step_number},
                   {&fill->low, &fill->low_number},
                   {&fill->high, &fill->high_number}};
    for (unsigned i = 0; i < COUNT_OF(numbers); i++)
        if (!check_literal(file, numbers[i].literal, fill->type, numbers[i].number, err)) return false;
    if ((fill->kind == &fill_const) != (fill->value.text != NULL))
        return BLAME(file, place, err, "value is required for a fill of kind const, and not allowed otherwise");
    if ((fill->kind == &fill_file) != (fill->file != NULL))
        return BLAME(file, place, err, "file is required for a fill of kind file, and not allowed otherwise");
    if ((fill->low.text != NULL) != (fill->high.text != NULL))
        return BLAME(file, place, err, "a range requires both low and high");
    for (unsigned i = 0; i < fill->setting_count; i++) {
        struct setting *setting = &fill->settings[i];
        if (!check_literal(file, &setting->value, fill->type, &setting->number, err)) return false;
        if ((uint64_t)setting->index >= element_count(buffer))
            return BLAME(file, setting->value.place, err,
                         "index %" PRId64 " is out of range: there are %" PRIu64 " elements in %s", setting->index,
                         element_count(buffer), buffer->name);
    }
    return !fill->file || check_content(file, buffer, fill->file, place, &fill->content, err);
}

static bool find_region(void *user, const char *name, struct launch_region *region) {
    struct launch_file *file = user;
    for (unsigned i = 0; i < file->buffer_count; i++) {
        struct buffer *buffer = &file->buffers[i];
        *region = (struct launch_region){buffer->bytes, buffer->address, &buffer->reserved_bytes};
        if (strcmp(buffer->name, name) == 0) return true;
    }
    return false;
}

static bool check_contents(struct launch_file *file, struct buffer *buffer, struct error *err) {
    return check_fill(file, buffer, err) &&
           (!buffer->expected || check_content(file, buffer, buffer->expected, buffer->places[BUFFER_EXPECTED],
                                               &buffer->expected_content, err));
}

static bool check_variables(struct launch_file *file, const struct program *program, struct error *err) {
    for (unsigned i = 0; i < file->variable_count; i++) {
        struct buffer *variable = &file->variables[i];
        const struct program_variable *found = NULL;
        struct yaml_names names = {.count = 0};
        for (uint32_t k = 0; k < program->variable_count && !found; k++) {
            yaml_names_add(&names, program->variables[k].name);
            if (strcmp(program->variables[k].name, variable->name) == 0) found = &program->variables[k];
        }
        if (!found) {
            char hint[900];
            yaml_names_hint(&names, variable->name, hint, sizeof hint);
            return BLAME(file, variable->places[BUFFER_NAME], err, "%s has no variable '%s' in .global or .const%s",
                         file->ptx_path, yaml_show(variable->name).text, hint);
        }
        for (unsigned j = 0; j < i; j++)
            if (strcmp(variable->name, file->variables[j].name) == 0)
                return BLAME(file, variable->places[BUFFER_NAME], err, "variable '%s' is given twice",
                             yaml_show(variable->name).text);
        if (variable->bytes && (uint64_t)variable->bytes != found->size_bytes)
            return BLAME(file, variable->places[BUFFER_BYTES], err, "variable %s has %" PRIu64 " bytes", found->name,
                         found->size_bytes);
        if (!found->size_bytes)
            return BLAME(file, variable->places[BUFFER_NAME], err, "variable %s has no bytes", found->name);
        variable->bytes = (int64_t)found->size_bytes;
        variable->address = (int64_t)found->address;
        if (!check_contents(file, variable, err)) return false;
    }
    return true;
}

static bool check_buffers(struct launch_file *file, struct memory *memory, struct error *err) {
    for (unsigned i = 0; i < file->buffer_count; i++) {
        struct buffer *buffer = &file->buffers[i];
        for (unsigned j = 0; j < i; j++)
            if (strcmp(buffer->name, file->buffers[j].name) == 0)
                return BLAME(file, buffer->places[BUFFER_NAME], err, "there are two buffers named '%s'",
                             yaml_show(buffer->name).text);
        if (buffer->address && buffer->gpgpusim_addr)
            return BLAME(file, buffer->places[BUFFER_ADDRESS], err,
                         "gpgpusim_addr is also given: give only one of them");
        if (!buffer->address) buffer->address = buffer->gpgpusim_addr;
        buffer->reserved_bytes = buffer->bytes;
        if (!check_contents(file, buffer, err)) return false;
    }
    if (!launch_textures_reserve(&file->textures, file->path, find_region, file, err)) return false;
    /* Buffers with a given address come first, so that the others are placed after them. */
    for (unsigned i = 0; i < file->buffer_count; i++) {
        const struct buffer *buffer = &file->buffers[i];
        if (buffer->address && !memory_place(memory, (uint64_t)buffer->address, (uint64_t)buffer->reserved_bytes))
            return BLAME(file,
                         buffer->places[buffer->places[BUFFER_ADDRESS].line ? BUFFER_ADDRESS : BUFFER_GPGPUSIM_ADDR],
                         err, "buffer %s overlaps another or does not fit in memory", buffer->name);
    }
    for (unsigned i = 0; i < file->buffer_count; i++) {
        struct buffer *buffer = &file->buffers[i];
        if (!buffer->address) buffer->address = (int64_t)memory_allocate(memory, (uint64_t)buffer->reserved_bytes);
        if (!buffer->address)
            return BLAME(file, buffer->places[BUFFER_BYTES], err, "buffer %s does not fit in memory", buffer->name);
    }
    return true;
}

static bool check_hex(struct launch_file *file, struct argument *argument, struct error *err) {
    static const char digits[] = "0123456789abcdef";
    argument->content = arena_alloc(file->arena, strlen(argument->bytes) / 2 + 1, 1);
    unsigned nibbles = 0;
    for (const char *c = argument->bytes; *c; c++) {
        const char *digit = strchr(digits, *c >= 'A' && *c <= 'F' ? *c + 32 : *c);
        if (*c == ' ' || *c == '_') continue;
        if (!digit) nibbles |= 1u << 31;
        if (!digit) break;
        argument->content[nibbles / 2] = (uint8_t)(argument->content[nibbles / 2] << 4 | (digit - digits));
        nibbles++;
    }
    argument->size_bytes = nibbles / 2;
    return nibbles % 2 == 0 && nibbles < 1u << 31
               ? true
               : BLAME(file, argument->places[ARGUMENT_BYTES], err,
                       "bytes must be pairs of hexadecimal digits, lowest address first, as in \"01 00 ff\"");
}

/* An address as a parameter: 8 bytes, or 4 in a module with 32-bit addresses. */
static bool check_address(struct launch_file *file, const struct program *program, uint32_t parameter_bytes,
                          const struct buffer *buffer, struct argument *argument, struct error *err) {
    uint64_t address = (uint64_t)(buffer->address + argument->offset);
    bool narrow = program->module->address_bits == 32 && parameter_bytes == 4;
    argument->size_bytes = narrow ? 4 : sizeof address;
    memcpy(argument->content, &address, argument->size_bytes); /* little-endian */
    if (!narrow || (address <= UINT32_MAX && address >= NARROW_FIRST_ADDRESS)) return true;
    return BLAME(file, argument->place, err,
                 "0x%" PRIx64 " in buffer %s is not an address of a module with 32-bit addresses; expected 0x%" PRIx64
                 " to 0xffffffff",
                 address, buffer->name, NARROW_FIRST_ADDRESS);
}

/* The argument as bytes. */
static bool check_argument(struct launch_file *file, const struct program *program, uint32_t parameter_bytes,
                           struct argument *argument, struct error *err) {
    if (argument->bytes) return check_hex(file, argument, err);
    argument->content = arena_alloc(file->arena, 8, 1);
    if (argument->scalar) {
        struct number number = {0};
        if (!check_literal(file, &argument->value, argument->scalar, &number, err)) return false;
        element_store((const struct element *)argument->scalar, number, argument->content);
        argument->size_bytes = ((const struct element *)argument->scalar)->bytes;
        return true;
    }
    if (argument->texture || argument->surface) {
        const char *name = argument->texture ? argument->texture : argument->surface;
        struct yaml_place place = argument->places[argument->texture ? ARGUMENT_TEXTURE : ARGUMENT_SURFACE];
        uint64_t handle;
        if (!launch_textures_handle(&file->textures, file->path, name, argument->surface, place, &handle, err))
            return false;
        memcpy(argument->content, &handle, sizeof handle);
        argument->size_bytes = sizeof handle;
        return true;
    }
    if (launch_textures_array(&file->textures, argument->buffer))
        return BLAME(file, argument->places[ARGUMENT_BUFFER], err,
                     "buffer %s is an array, which kernels access only as a texture or surface", argument->buffer);
    struct yaml_names names = {.count = 0};
    for (unsigned i = 0; i < file->buffer_count; i++) {
        yaml_names_add(&names, file->buffers[i].name);
        if (strcmp(file->buffers[i].name, argument->buffer) != 0) continue;
        return check_address(file, program, parameter_bytes, &file->buffers[i], argument, err);
    }
    char hint[900];
    yaml_names_hint(&names, argument->buffer, hint, sizeof hint);
    return BLAME(file, argument->places[ARGUMENT_BUFFER], err, "there is no buffer '%s'%s",
                 yaml_show(argument->buffer).text, hint);
}

static const struct program_function *find_kernel(const struct launch_file *file, const struct program *program,
                                                  const char *name, struct yaml_place place, struct error *err) {
    const struct program_function *kernel = program_kernel(program, name);
    if (kernel) return kernel;
    struct yaml_names names = {.count = 0};
    char hint[900];
    for (uint32_t i = 0; i < program->function_count; i++)
        if (program->functions[i].is_kernel) yaml_names_add(&names, program->functions[i].name);
    yaml_names_hint(&names, name, hint, sizeof hint);
    BLAME(file, place, err, "%s has no kernel '%s'%s", file->ptx_path, yaml_show(name).text, hint);
    return NULL;
}

static bool check_arguments(struct launch_file *file, const struct program *program,
                            const struct program_function *kernel, struct launch_row *launch, struct error *err) {
    struct program_parameter parameter;
    unsigned count = 0;
    while (program_parameter(program, kernel, count, &parameter)) count++;
    if (count != launch->argument_count)
        return BLAME(file, launch->argument_count ? launch->places[LAUNCH_ARGS] : launch->place, err,
                     "kernel %s has %u parameters, but args has %u", kernel->name, count, launch->argument_count);
    for (unsigned i = 0; i < count; i++) {
        struct argument *argument = &launch->arguments[i];
        program_parameter(program, kernel, i, &parameter);
        if (!check_argument(file, program, parameter.size_bytes, argument, err)) return false;
        if (argument->size_bytes != parameter.size_bytes)
            return BLAME(file, argument->place, err, "parameter %s of kernel %s has %u bytes, but this argument has %u",
                         parameter.name, kernel->name, parameter.size_bytes, argument->size_bytes);
    }
    return true;
}

static bool check_size(const struct launch_file *file, const struct int_list *list, struct yaml_place place,
                       const char *noun, double most, struct error *err) {
    double all = 1;
    for (unsigned i = 0; i < list->count; i++) all *= (double)list->value[i];
    return all <= most || BLAME(file, place, err, "%.0f %s exceed the limit of %.0f", all, noun, most);
}

static void dims_of(const struct int_list *list, uint32_t dims[3]) {
    for (unsigned i = 0; i < 3; i++) dims[i] = i < list->count ? (uint32_t)list->value[i] : 1;
}

static bool check_cluster(const struct launch_file *file, const struct program_function *kernel,
                          const struct launch_row *row, struct error *err) {
    struct launch launch = {.kernel = kernel};
    struct error why = {0};
    dims_of(&row->grid, launch.grid);
    if (row->cluster.count) dims_of(&row->cluster, launch.cluster);
    if (emu_cluster(&launch, &why)) return true;
    struct yaml_place place = row->cluster.count ? row->places[LAUNCH_CLUSTER] : row->place;
    return BLAME(file, place, err, "%s", why.text);
}

static bool check_launches(struct launch_file *file, const struct program *program, struct error *err) {
    for (unsigned i = 0; i < file->kernel_count; i++) {
        const struct kernel_row *row = &file->kernels[i];
        const struct program_function *kernel =
            find_kernel(file, program, row->symbol, row->places[KERNEL_SYMBOL], err);
        if (!kernel) return false;
        if (row->places[KERNEL_SHARED].line && row->static_shared_bytes != kernel->shared_bytes)
            return BLAME(file, row->places[KERNEL_SHARED], err, "kernel %s has %u bytes of static shared memory",
                         kernel->name, kernel->shared_bytes);
    }
    for (unsigned i = 0; i < file->launch_count; i++) {
        struct launch_row *launch = &file->launches[i];
        const struct program_function *kernel =
            find_kernel(file, program, launch->kernel, launch->places[LAUNCH_KERNEL], err);
        if (!kernel || !program_executable(program, kernel, err) ||
            !check_arguments(file, program, kernel, launch, err) ||
            !check_size(file, &launch->grid, launch->places[LAUNCH_GRID], "CTAs", INT32_MAX, err) ||
            !check_size(file, &launch->block, launch->places[LAUNCH_BLOCK], "threads", 1024, err) ||
            !check_cluster(file, kernel, launch, err))
            return false;
        for (unsigned j = 0; j < file->kernel_count; j++)
            if (strcmp(file->kernels[j].symbol, launch->kernel) == 0)
                launch->registers = (uint32_t)file->kernels[j].registers_per_thread;
    }
    if (file->launch_count > 0) return true;
    return error_at(err, file->path, 1, 1, "the file launches nothing: add launches");
}

/* A trial run of everything before the first launch, on a separate device. */
static bool check_all(struct launch_file *file, struct error *err) {
    struct device device;
    device_init(&device);
    struct ptx_module *module = NULL;
    struct loaded_module *loaded = NULL;
    bool good = check_buffers(file, &device.memory, err);
    if (good) file->ptx_text = read_input(file, file->ptx_path, &file->ptx_bytes, err);
    if (file->ptx_text) module = ptx_parse(file->ptx_path, file->ptx_text, file->ptx_bytes, err);
    if (module && module->warning) file->warning = arena_text(file->arena, module->warning, strlen(module->warning));
    if (module) loaded = device_load(&device, module, err);
    good =
        loaded && check_variables(file, loaded_program(loaded), err) &&
        launch_textures_check(&file->textures, file->path, find_region, file, &device, loaded_program(loaded), err) &&
        check_launches(file, loaded_program(loaded), err);
    if (loaded) device_unload(&device, loaded);
    device_release(&device);
    return good;
}

static bool find_ptx(struct launch_file *file, const char *ptx, struct error *err) {
    if (ptx)
        file->ptx_path = mem_text(ptx);
    else if (file->ptx)
        file->ptx_path = relative_path(file, file->ptx);
    else
        return error_at(err, file->path, 1, 1, "no PTX is given: add `ptx: FILE`, or use --ptx FILE");
    return true;
}

struct launch_file *launch_file_open(const char *path, const char *ptx, struct error *err) {
    struct launch_file *file = mem_alloc(1, sizeof *file);
    file->arena = arena_create();
    file->path = arena_text(file->arena, path, strlen(path));
    if (!read_file(file, err) || !find_ptx(file, ptx, err) || !check_all(file, err)) {
        launch_file_close(file);
        return NULL;
    }
    if (!file->name) {
        const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
        file->name = arena_text(file->arena, base, dot && dot != base ? (size_t)(dot - base) : strlen(base));
    }
    return file;
}

void launch_file_close(struct launch_file *file) {
    free(file->ptx_path);
    arena_destroy(file->arena);
    free(file);
}

const char *launch_file_name(const struct launch_file *file) { return file->name; }

const char *launch_file_warning(const struct launch_file *file) { return file->warning; }

/* --- running --- */

/* Element `i` of a fill that generates elements one by one; `state` is the generator's. */
static struct number fill_element(const struct fill *fill, uint64_t i, uint64_t *state) {
    const struct element *element = (const struct element *)fill->type;
    struct number number = fill->value_number;
    if (fill->kind == &fill_iota) {
        number.integer = fill->start_number.integer + i * fill->step_number.integer;
        number.real = fill->start_number.real + (double)i * fill->step_number.real;
    } else if (fill->kind == &fill_lcg) {
        *state = (uint32_t)(*state * 1664525 + 1013904223);
        number.integer = *state >> fill->shift;
        if (fill->mod) number.integer %= (uint64_t)fill->mod;
        number.real = (double)number.integer;
    } else if (fill->kind == &fill_random && element->kind == REAL) {
        double low = fill->low_number.real, high = fill->high_number.real;
        number.real = low + (high - low) * ((double)(random_next(state) >> 11) * 0x1p-53);
    } else if (fill->kind == &fill_random && fill->low.text) {
        uint64_t span = fill->high_number.integer - fill->low_number.integer + 1;
        number.integer = fill->low_number.integer + (span ? random_below(state, span) : random_next(state));
    } else if (fill->kind == &fill_random) {
        number.integer = random_next(state);
    }
    return number;
}

/* Element `i` of a memory of `bytes`, cut off at its end. */
static void element_put(const struct element *element, struct number number, uint8_t *memory, uint64_t i,
                        uint64_t bytes) {
    uint8_t whole[8];
    uint64_t at = i * element->bytes;
    element_store(element, number, whole);
    memcpy(memory + at, whole, min_u64(element->bytes, bytes - at));
}

static void fill_buffer(struct host *host, const struct buffer *buffer) {
    const struct fill *fill = &buffer->fill;
    const struct element *element = (const struct element *)fill->type;
    uint8_t *memory = host_memory(host, (uint64_t)buffer->address, (uint64_t)buffer->bytes);
    if (!memory) return;
    uint64_t state = (uint64_t)fill->seed, bytes = (uint64_t)buffer->bytes;
    if (fill->content)
        memcpy(memory, fill->content, bytes);
    else if (fill->kind == &fill_zeros && buffer->is_variable) /* a buffer is zero from the start */
        memset(memory, 0, bytes);
    else if (fill->kind && fill->kind != &fill_zeros)
        for (uint64_t i = 0; i < element_count(buffer); i++)
            element_put(element, fill_element(fill, i, &state), memory, i, bytes);
    for (unsigned i = 0; i < fill->setting_count; i++)
        element_put(element, fill->settings[i].number, memory, (uint64_t)fill->settings[i].index, bytes);
}

static struct dim dim_of(const struct int_list *list) {
    uint32_t size[3];
    dims_of(list, size);
    return dim3(size[0], size[1], size[2]);
}

static uint64_t size_of(const struct int_list *list) {
    struct dim dim = dim_of(list);
    return (uint64_t)dim.x * dim.y * dim.z;
}

uint64_t launch_file_threads(const struct launch_file *file) {
    uint64_t threads = 0;
    for (unsigned i = 0; i < file->launch_count; i++) {
        const struct launch_row *row = &file->launches[i];
        threads += (uint64_t)row->repeat * size_of(&row->grid) * size_of(&row->block);
    }
    return threads;
}

static void run(void *user, struct host *host) {
    const struct launch_file *file = user;
    for (unsigned i = 0; i < file->buffer_count; i++)
        host_place(host, (uint64_t)file->buffers[i].address, (uint64_t)file->buffers[i].reserved_bytes);
    host_module(host, file->ptx_path, file->ptx_text, file->ptx_bytes); /* as when the file was checked */
    for (unsigned i = 0; content_at(file, i); i++) fill_buffer(host, content_at(file, i));
    launch_textures_run(&file->textures, host);
    for (unsigned i = 0; i < file->launch_count && !host_failed(host); i++) {
        const struct launch_row *row = &file->launches[i];
        struct host_argument *arguments = mem_alloc(row->argument_count + 1, sizeof *arguments);
        for (unsigned j = 0; j < row->argument_count; j++)
            arguments[j] = HOST_BYTES(row->arguments[j].content, row->arguments[j].size_bytes);
        for (int64_t n = 0; n < row->repeat && !host_failed(host); n++)
            host_launch(host, &(struct host_launch){
                                  .kernel = row->kernel,
                                  .grid = dim_of(&row->grid),
                                  .block = dim_of(&row->block),
                                  .cluster = row->cluster.count ? dim_of(&row->cluster) : (struct dim){0},
                                  .dynamic_shared_bytes = (uint32_t)row->dynamic_shared_bytes,
                                  .registers = row->registers,
                                  .cooperative = row->cooperative,
                                  .arguments = arguments,
                                  .argument_count = row->argument_count,
                              });
        free(arguments);
    }
}

static bool check_sums(struct host *host, const struct buffer *buffer, const uint8_t *memory) {
    uint32_t sum = 0, mix = 0;
    for (uint64_t i = 0; i < (uint64_t)buffer->bytes; i += 4) {
        uint32_t word = 0;
        memcpy(&word, memory + i, min_u64(sizeof word, (uint64_t)buffer->bytes - i));
        sum += word;
        mix ^= word;
    }
    struct {
        enum buffer_key key;
        const char *name;
        uint32_t found;
        int64_t wanted;
    } sums[] = {{BUFFER_SUM, "final_sum_u32", sum, buffer->final_sum_u32},
                {BUFFER_XOR, "final_xor_u32", mix, buffer->final_xor_u32}};
    for (unsigned i = 0; i < COUNT_OF(sums); i++)
        if (buffer->places[sums[i].key].line && sums[i].found != sums[i].wanted)
            return host_fail(host, "%s %s: %s is %u, expected %" PRId64, noun_of(buffer), buffer->name, sums[i].name,
                             sums[i].found, sums[i].wanted);
    return true;
}

static bool check_expected(struct host *host, const struct buffer *buffer, const uint8_t *memory) {
    for (int64_t i = 0; buffer->expected && i < buffer->bytes; i++)
        if (memory[i] != buffer->expected_content[i])
            return host_fail(host, "%s %s differs from %s, first at byte %" PRId64 ": 0x%02x, expected 0x%02x",
                             noun_of(buffer), buffer->name, buffer->expected, i, memory[i],
                             buffer->expected_content[i]);
    return true;
}

static bool verify(void *user, struct host *host) {
    const struct launch_file *file = user;
    const struct buffer *buffer;
    for (unsigned i = 0; (buffer = content_at(file, i)); i++) {
        const uint8_t *memory = host_memory(host, (uint64_t)buffer->address, (uint64_t)buffer->bytes);
        if (!memory || !check_sums(host, buffer, memory) || !check_expected(host, buffer, memory)) return false;
    }
    return true;
}

struct stream_source *launch_file_source(const struct launch_file *file) {
    bool verifies = false;
    for (unsigned i = 0; content_at(file, i); i++) {
        const struct yaml_place *places = content_at(file, i)->places;
        verifies |= places[BUFFER_SUM].line || places[BUFFER_XOR].line || places[BUFFER_EXPECTED].line;
    }
    return program_source_create(&(struct host_program){
        .name = file->name, .run = run, .check = verifies ? verify : NULL, .user = (void *)(uintptr_t)file});
}

bool launch_file_dump(const struct launch_file *file, struct stream_source *source, unsigned index,
                      struct launch_dump *dump) {
    const struct buffer *buffer;
    for (unsigned i = 0; (buffer = content_at(file, i)); i++) {
        if (!buffer->dump || index-- > 0) continue;
        struct host *host = source ? program_source_host(source) : NULL;
        *dump = (struct launch_dump){buffer->dump, (uint64_t)buffer->bytes, NULL};
        if (host) dump->content = host_memory(host, (uint64_t)buffer->address, (uint64_t)buffer->bytes);
        return true;
    }
    return false;
}

bool launch_file_input(const struct launch_file *file, unsigned index, struct launch_input *input) {
    if (index >= file->input_count) return false;
    *input = file->inputs[index];
    return true;
}
