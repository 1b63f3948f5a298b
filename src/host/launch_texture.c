#include "host/launch_texture.h"

#include <inttypes.h>
#include <string.h>

#include "emu/emu.h"

/* ---- rows ---- */

#define FAMILY(family_, noun, ...) \
    static const struct policy *const family_##_members[] = {__VA_ARGS__}; \
    static const struct family family_ = {noun, family_##_members, COUNT_OF(family_##_members)};

/* The position of a policy in its family is the value of the enumeration. */
#define X(name_, bytes, kind, cl, cl_normalised) static const struct policy type_##name_ = {.name = #name_, .help = ""};
TEXEL_LIST(X)
#undef X
#define X(name, bytes, kind, cl, cl_normalised) &type_##name,
FAMILY(types, "type of channels", TEXEL_LIST(X))
#undef X
static const struct policy nearest = {.name = "nearest", .help = ""}, linear = {.name = "linear", .help = ""};
FAMILY(filters, "filter", &nearest, &linear)
static const struct policy wrap = {.name = "wrap", .help = ""}, mirror = {.name = "mirror", .help = ""},
                           clamp = {.name = "clamp", .help = ""}, border = {.name = "border", .help = ""};
FAMILY(addresses, "address mode", &wrap, &mirror, &clamp, &border)
static const struct policy pitch = {.name = "pitch", .help = ""}, array = {.name = "array", .help = ""};
FAMILY(layouts, "layout", &pitch, &array)

static uint8_t position_in(const struct family *family, const struct policy *policy) {
    uint8_t i = 0;
    while (family->members[i] != policy) i++;
    return i;
}

struct address_modes {
    const struct policy *mode[3];
    unsigned count;
};

struct texture_row {
    const char *name, *buffer, *reference;
    struct int_list size;
    int64_t offset, layers, channels, pitch;
    const struct policy *type, *filter, *layout;
    struct address_modes address;
    bool normalized_coordinates, normalized_values;
    struct image image;
    struct sampler sampler;
    uint64_t texture, surface; /* handles */
    bool reference_is_surface;
    struct yaml_place place, places[YAML_FORM_KEYS];
};
enum texture_key {
    TEXTURE_NAME,
    TEXTURE_BUFFER,
    TEXTURE_OFFSET,
    TEXTURE_SIZE,
    TEXTURE_LAYERS,
    TEXTURE_TYPE,
    TEXTURE_CHANNELS,
    TEXTURE_PITCH,
    TEXTURE_LAYOUT,
    TEXTURE_FILTER,
    TEXTURE_ADDRESS,
    TEXTURE_COORDINATES,
    TEXTURE_VALUES,
    TEXTURE_REFERENCE,
};

/* ---- reading ---- */

static bool read_text(struct yaml_reader *reader, void *user, void *to) {
    return yaml_read_text(reader, ((struct arena *)user), to);
}

static bool read_mode(struct yaml_reader *reader, void *user) {
    struct address_modes *modes = user;
    static const struct param row = {.name = "address", .type = PARAM_CHOICE, .family = &addresses};
    if (modes->count == 3) return yaml_blame(reader, reader->at, "address has at most three modes, one per dimension");
    return yaml_read_value(reader, "address", &row, &modes->mode[modes->count++]);
}

/* One mode for all dimensions, or a list. */
static bool read_address(struct yaml_reader *reader, void *user, void *to) {
    (void)user;
    struct address_modes *modes = to;
    modes->count = 0;
    if (reader->event.type != YAML_SCALAR_EVENT) return yaml_read_elements(reader, "address", read_mode, modes);
    if (!read_mode(reader, modes)) return false;
    modes->mode[1] = modes->mode[2] = modes->mode[0];
    modes->count = 3;
    return true;
}

#define TEXT(field) \
    { .param = {.name = #field, .offset = offsetof(struct texture_row, field)}, .read = read_text }
#define ROW(...) \
    { .param = __VA_ARGS__ }
static const struct yaml_key keys[] = {
    [TEXTURE_NAME] = TEXT(name),
    [TEXTURE_BUFFER] = TEXT(buffer),
    [TEXTURE_OFFSET] = ROW(P_INT(struct texture_row, offset, 0, 0, 1e15, "bytes", "")),
    [TEXTURE_SIZE] = ROW(P_LIST(struct texture_row, size, "[1]", 1, 3, 1, 1 << 28, "texels", "")),
    [TEXTURE_LAYERS] = ROW(P_INT(struct texture_row, layers, 0, 0, 2048, "", "")),
    [TEXTURE_TYPE] = ROW(P_CHOICE(struct texture_row, type, types, "f32", "")),
    [TEXTURE_CHANNELS] = ROW(P_INT(struct texture_row, channels, 1, 1, 4, "", "")),
    [TEXTURE_PITCH] = ROW(P_INT(struct texture_row, pitch, 0, 1, 1e12, "bytes", "")),
    [TEXTURE_LAYOUT] = ROW(P_CHOICE(struct texture_row, layout, layouts, "pitch", "")),
    [TEXTURE_FILTER] = ROW(P_CHOICE(struct texture_row, filter, filters, "nearest", "")),
    [TEXTURE_ADDRESS] = {.param = {.name = "address", .offset = offsetof(struct texture_row, address)},
                         .read = read_address},
    [TEXTURE_COORDINATES] = ROW(P_BOOL(struct texture_row, normalized_coordinates, false, "")),
    [TEXTURE_VALUES] = ROW(P_BOOL(struct texture_row, normalized_values, false, "")),
    [TEXTURE_REFERENCE] = TEXT(reference),
};
static const struct yaml_form form = {.noun = "a texture", .keys = keys, .count = COUNT_OF(keys)};

struct reading {
    struct arena *arena;
    struct launch_textures *textures;
};

static bool read_row(struct yaml_reader *reader, void *user) {
    const struct reading *reading = user;
    struct texture_row *row = ARENA_APPEND(reading->arena, reading->textures->rows, reading->textures->count);
    row->place = yaml_place_of(reader);
    row->channels = 1;
    row->layout = &pitch;
    row->filter = &nearest;
    row->address = (struct address_modes){{&clamp, &clamp, &clamp}, 3};
    if (!yaml_read_form(reader, &form, reading->arena, row, row->places)) return false;
    if (row->name && row->buffer && row->size.count && row->type) return true;
    return error_at(reader->err, reader->label, row->place.line, row->place.column,
                    "a texture requires name, buffer, size and type");
}

bool launch_textures_read(struct yaml_reader *reader, struct arena *arena, struct launch_textures *textures) {
    struct reading reading = {arena, textures};
    return yaml_read_elements(reader, "textures", read_row, &reading);
}

/* ---- checking ---- */

#define BLAME(path, place_, err, ...) error_at(err, path, (place_).line, (place_).column, __VA_ARGS__)

static void row_describe(struct texture_row *row) {
    row->image = (struct image){
        .width = (uint32_t)row->size.value[0],
        .height = row->size.count > 1 ? (uint32_t)row->size.value[1] : 1,
        .depth = row->size.count > 2 ? (uint32_t)row->size.value[2] : 1,
        .layers = (uint32_t)row->layers,
        .dimensions = (uint8_t)row->size.count,
        .type = position_in(&types, row->type),
        .channels = (uint8_t)row->channels,
        .tiled = row->layout == &array,
        .pitch_bytes = (uint64_t)row->pitch,
    };
    row->sampler = (struct sampler){.filter = position_in(&filters, row->filter),
                                    .normalized_coordinates = row->normalized_coordinates,
                                    .normalized_values = row->normalized_values};
    for (unsigned i = 0; i < 3; i++) {
        unsigned last = i < row->address.count ? i : row->address.count - 1;
        row->sampler.address[i] = position_in(&addresses, row->address.mode[last]);
    }
}

static bool region_of(const struct texture_row *row, const char *path, launch_region_find *find, void *user,
                      struct launch_region *region, struct error *err) {
    return find(user, row->buffer, region) ||
           BLAME(path, row->places[TEXTURE_BUFFER], err, "there is no buffer '%s'", yaml_show(row->buffer).text);
}

static bool row_reserve(struct texture_row *row, const char *path, launch_region_find *find, void *user,
                        struct error *err) {
    struct launch_region region;
    struct error inner = {0};
    row_describe(row);
    struct image unplaced = row->image;
    unplaced.address = (uint64_t)row->offset; /* buffers are aligned as much as images */
    if (!region_of(row, path, find, user, &region, err)) return false;
    if (!image_complete(&unplaced, &inner)) return BLAME(path, row->place, err, "%s", inner.text);
    struct image rows = unplaced;
    rows.tiled = false;
    if ((uint64_t)region.bytes < (uint64_t)row->offset + image_bytes(&rows))
        return BLAME(path, row->place, err, "texture %s needs %" PRIu64 " bytes, but buffer %s has %" PRId64, row->name,
                     (uint64_t)row->offset + image_bytes(&rows), row->buffer, region.bytes);
    int64_t wanted = row->offset + (int64_t)image_bytes(&unplaced); /* with incomplete tiles */
    if (wanted > *region.reserved_bytes) *region.reserved_bytes = wanted;
    return true;
}

bool launch_textures_reserve(struct launch_textures *textures, const char *path, launch_region_find *find, void *user,
                             struct error *err) {
    for (unsigned i = 0; i < textures->count; i++) {
        struct texture_row *row = &textures->rows[i];
        for (unsigned j = 0; j < i; j++) {
            const struct texture_row *other = &textures->rows[j];
            if (strcmp(row->name, other->name) == 0)
                return BLAME(path, row->places[TEXTURE_NAME], err, "there are two textures named '%s'",
                             yaml_show(row->name).text);
            if (strcmp(row->buffer, other->buffer) == 0 && row->layout != other->layout)
                return BLAME(path, row->place, err, "textures %s and %s have different layouts of buffer %s", row->name,
                             other->name, row->buffer);
        }
        if (!row_reserve(row, path, find, user, err)) return false;
    }
    return true;
}

/* The reference of a texture in the module. */
static bool reference_check(struct texture_row *row, const char *path, const struct program *program,
                            struct error *err) {
    const struct ptx_module *module = program->module;
    struct yaml_names names = {.count = 0};
    char hint[900];
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const struct ptx_variable *variable = &module->variables[i];
        bool surface = variable->type == PTX_surfref;
        if ((variable->type != PTX_texref && !surface) || variable->space != PTX_SPACE_GLOBAL) continue;
        yaml_names_add(&names, variable->name);
        row->reference_is_surface = surface;
        if (strcmp(variable->name, row->reference) == 0) return true;
    }
    yaml_names_hint(&names, row->reference, hint, sizeof hint);
    return BLAME(path, row->places[TEXTURE_REFERENCE], err, "the module has no .texref or .surfref '%s'%s",
                 yaml_show(row->reference).text, names.count ? hint : "");
}

bool launch_textures_check(struct launch_textures *textures, const char *path, launch_region_find *find, void *user,
                           struct device *device, const struct program *program, struct error *err) {
    for (unsigned i = 0; i < textures->count; i++) {
        struct texture_row *row = &textures->rows[i];
        struct launch_region region;
        struct error inner = {0};
        if (!region_of(row, path, find, user, &region, err)) return false;
        row->image.address = (uint64_t)(region.address + row->offset);
        row->texture = texture_create(device, &row->image, &row->sampler, &inner);
        row->surface = row->texture ? surface_create(device, &row->image, &inner) : 0;
        if (!row->surface) return BLAME(path, row->place, err, "%s", inner.text);
        if (row->reference && !reference_check(row, path, program, err)) return false;
    }
    return true;
}

bool launch_textures_handle(const struct launch_textures *textures, const char *path, const char *name, bool surface,
                            struct yaml_place place, uint64_t *handle, struct error *err) {
    struct yaml_names names = {.count = 0};
    char hint[900];
    for (unsigned i = 0; i < textures->count; i++) {
        const struct texture_row *row = &textures->rows[i];
        yaml_names_add(&names, row->name);
        *handle = surface ? row->surface : row->texture;
        if (strcmp(row->name, name) == 0) return true;
    }
    yaml_names_hint(&names, name, hint, sizeof hint);
    return BLAME(path, place, err, "there is no texture '%s'%s", yaml_show(name).text, names.count ? hint : "");
}

bool launch_textures_array(const struct launch_textures *textures, const char *buffer) {
    for (unsigned i = 0; i < textures->count; i++)
        if (textures->rows[i].layout == &array && strcmp(textures->rows[i].buffer, buffer) == 0) return true;
    return false;
}

/* ---- running ---- */

void launch_textures_run(const struct launch_textures *textures, struct host *host) {
    for (unsigned i = 0; i < textures->count && !host_failed(host); i++) {
        const struct texture_row *row = &textures->rows[i];
        uint64_t texture = host_texture(host, &row->image, &row->sampler), surface = host_surface(host, &row->image);
        assert(host_failed(host) || (texture == row->texture && surface == row->surface));
        if (row->reference) host_bind(host, row->reference, row->reference_is_surface ? surface : texture);
    }
}
