/* Buffers and variables of a launch file: their keys, checks before anything runs, initial contents and expected
 * results. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "host/launch_parts.h"

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

/* --- reading --- */

/* Keys of a form, in the order of its table. */
enum { FILL_KIND, FILL_FILE = 10 };

static const struct yaml_key setting_keys[] = {
    ROW(P_INT(struct setting, index, 0, 0, 1e15, "elements", "")),
    LITERAL(struct setting, value),
};
FORM(setting_form, "a setting", setting_keys);

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
    ROW(P_CHOICE(struct fill, type, launch_elements, "u32", "")),
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
    buffer->fill = (struct fill){.kind = &fill_zeros, .type = &launch_element_u32.policy, .seed = 1};
    if (!yaml_read_form(reader, &buffer_form, file, buffer, buffer->places)) return false;
    if (buffer->name && buffer->bytes) return true;
    return error_at(reader->err, reader->label, start.line, start.column, "a buffer requires name and bytes");
}
static bool read_variable(struct yaml_reader *reader, void *user) {
    struct launch_file *file = user;
    struct buffer *variable = ARENA_APPEND(file->arena, file->variables, file->variable_count);
    struct yaml_place start = yaml_place_of(reader);
    variable->is_variable = true;
    variable->fill = (struct fill){.type = &launch_element_u32.policy, .seed = 1};
    if (!yaml_read_form(reader, &variable_form, file, variable, variable->places)) return false;
    if (variable->name) return true;
    return error_at(reader->err, reader->label, start.line, start.column, "a variable requires name");
}
bool launch_read_variables(struct yaml_reader *reader, void *user, void *to) {
    (void)to;
    return yaml_read_elements(reader, "variables", read_variable, user);
}
bool launch_read_buffers(struct yaml_reader *reader, void *user, void *to) {
    (void)to;
    return yaml_read_elements(reader, "buffers", read_buffer, user);
}

/* Buffers, then variables; NULL after the last. */
struct buffer *launch_buffer_at(const struct launch_file *file, unsigned i) {
    if (i < file->buffer_count) return &file->buffers[i];
    i -= file->buffer_count;
    return i < file->variable_count ? &file->variables[i] : NULL;
}

/* --- checking --- */

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
    char *path = launch_relative_path(file, name);
    *content = (uint8_t *)launch_read_input(file, path, &bytes, &inner);
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
        if (!launch_check_literal(file, numbers[i].literal, fill->type, numbers[i].number, err)) return false;
    if ((fill->kind == &fill_const) != (fill->value.text != NULL))
        return BLAME(file, place, err, "value is required for a fill of kind const, and not allowed otherwise");
    if ((fill->kind == &fill_file) != (fill->file != NULL))
        return BLAME(file, place, err, "file is required for a fill of kind file, and not allowed otherwise");
    if ((fill->low.text != NULL) != (fill->high.text != NULL))
        return BLAME(file, place, err, "a range requires both low and high");
    for (unsigned i = 0; i < fill->setting_count; i++) {
        struct setting *setting = &fill->settings[i];
        if (!launch_check_literal(file, &setting->value, fill->type, &setting->number, err)) return false;
        if ((uint64_t)setting->index >= element_count(buffer))
            return BLAME(file, setting->value.place, err,
                         "index %" PRId64 " is out of range: there are %" PRIu64 " elements in %s", setting->index,
                         element_count(buffer), buffer->name);
    }
    return !fill->file || check_content(file, buffer, fill->file, place, &fill->content, err);
}

bool launch_find_region(void *user, const char *name, struct launch_region *region) {
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

bool launch_check_variables(struct launch_file *file, const struct program *program, struct error *err) {
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

bool launch_check_buffers(struct launch_file *file, struct memory *memory, struct error *err) {
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
    if (!launch_textures_reserve(&file->textures, file->path, launch_find_region, file, err)) return false;
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
    launch_store(element, number, whole);
    memcpy(memory + at, whole, min_u64(element->bytes, bytes - at));
}

void launch_fill_buffer(struct host *host, const struct buffer *buffer) {
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

bool launch_buffer_verifies(const struct buffer *buffer) {
    const struct yaml_place *places = buffer->places;
    return places[BUFFER_SUM].line || places[BUFFER_XOR].line || places[BUFFER_EXPECTED].line;
}

bool launch_verify_buffer(struct host *host, const struct buffer *buffer) {
    const uint8_t *memory = host_memory(host, (uint64_t)buffer->address, (uint64_t)buffer->bytes);
    return memory && check_sums(host, buffer, memory) && check_expected(host, buffer, memory);
}
