/* Execution of texture and surface instructions: the object of a handle, coordinates, texels, data. Lanes of one texture
 * sample together, surfaces are accessed lane by lane.
 *
 * Faults: a handle that is no object, an object of another geometry or use, data of another kind (a float of an integer
 * texture and vice versa, which PTX leaves undefined), a surface access that is misaligned, or outside with .trap.
 *
 * Queries (txq, suq) return OpenCL's numbers for channels, as the PTX manual does, and for filter and address modes the
 * positions in the manual's lists: nearest, linear; wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border. Dimensions
 * that an image lacks are 1, layers that it lacks 0. */
#include <inttypes.h>
#include <string.h>

#include "emu/cta.h"
#include "emu/real.h"

/* ---- objects ---- */

/* The handle itself, or that in the reference to which it points. */
static uint64_t handle_of(struct warp_state *w, uint64_t value) {
    uint64_t address = value, handle = 0;
    if ((value & WINDOW_MASK) == TEXTURE_HANDLE) return value;
    enum ptx_space space = space_resolve(PTX_SPACE_GENERIC, &address);
    const uint8_t *at = space == PTX_SPACE_GLOBAL || space == PTX_SPACE_PARAM
                            ? space_at(w, space, address, sizeof handle, ACCESS_READ)
                            : NULL;
    if (at) memcpy(&handle, at, sizeof handle);
    return handle;
}

/* NULL with a fault if the handle is no object. */
static const struct texture *object_of(struct warp_state *w, const struct op *op, unsigned lane, uint64_t value) {
    uint64_t handle = handle_of(w, value);
    const struct texture *texture = texture_find(w->run->device, handle);
    if (texture) return texture;
    if (handle == value)
        fault_set(w, op, lane, "there is no texture or surface object 0x%" PRIx64, value);
    else
        fault_set(w, op, lane, "no texture or surface is bound to the reference at 0x%" PRIx64, value);
    return NULL;
}

static bool geometry_fits(const struct image *image, enum texture_geometry geometry) {
    static const struct {
        uint8_t dimensions;
        bool layered;
    } wanted[] = {[GEOMETRY_1D] = {1, false},
                  [GEOMETRY_2D] = {2, false},
                  [GEOMETRY_3D] = {3, false},
                  [GEOMETRY_A1D] = {1, true},
                  [GEOMETRY_A2D] = {2, true}};
    return image->dimensions == wanted[geometry].dimensions && (image->layers != 0) == wanted[geometry].layered;
}

static const struct texture *image_of(struct warp_state *w, const struct op *op, unsigned lane, uint64_t value,
                                      bool surface) {
    const struct texture *texture = object_of(w, op, lane, value);
    if (!texture) return NULL;
    if ((texture->use == TEXTURE_SURFACE) != surface) {
        fault_set(w, op, lane, "the object is a %s, not a %s", surface ? "texture" : "surface",
                  surface ? "surface" : "texture");
        return NULL;
    }
    if (!geometry_fits(&texture->image, op->mode)) {
        fault_set(w, op, lane, "the image has %u dimension%s and %u layers, which the instruction does not match",
                  texture->image.dimensions, texture->image.dimensions == 1 ? "" : "s", texture->image.layers);
        return NULL;
    }
    return texture;
}

/* The object of each lane in turn; most lanes have the same one. */
struct lookup {
    uint64_t value;
    const struct texture *texture;
};

static const struct texture *image_again(struct warp_state *w, const struct op *op, unsigned lane, uint64_t value,
                                         bool surface, struct lookup *last) {
    if (!last->texture || last->value != value) *last = (struct lookup){value, image_of(w, op, lane, value, surface)};
    return last->texture;
}

/* ---- registers ---- */

static uint32_t element_place(const struct warp_state *w, const struct op *op, unsigned i) {
    return w->frame->code->function->element_list[op->elements + i];
}

static void *element_row(const struct warp_state *w, const struct op *op, unsigned i) {
    return warp_place(&w->warp, element_place(w, op, i));
}

/* After the data: layer, coordinates, offsets. */
static struct coordinates coordinates_of(const struct warp_state *w, const struct op *op, unsigned dimensions) {
    static const uint32_t no_layer[WARP_LANES];
    static const int32_t no_offset[WARP_LANES];
    unsigned next = op->vector;
    struct coordinates found = {.layer = no_layer};
    if (op->mode == GEOMETRY_A1D || op->mode == GEOMETRY_A2D) found.layer = element_row(w, op, next++);
    for (unsigned i = 0; i < dimensions; i++) found.integer[i] = element_row(w, op, next++);
    for (unsigned i = 0; i < dimensions; i++)
        found.offset[i] = op->modifiers & MOD_OFFSETS ? element_row(w, op, next++) : no_offset;
    return found;
}

/* ---- textures ---- */

static bool kind_fits(struct warp_state *w, const struct op *op, unsigned lane, const struct texture *texture) {
    bool real = op->element != PTX_u32 && op->element != PTX_s32;
    if (real == texture_is_real(texture)) return true;
    fault_set(w, op, lane, "the texture is read as %s, but the instruction returns %s",
              real ? "integers" : "floating-point numbers", real ? "floating-point numbers" : "integers");
    return false;
}

/* Converts the four channels of each lane to the elements of the destination. */
static void channels_write(struct warp *warp, const struct op *op, uint32_t mask, uint32_t channel[4][WARP_LANES]) {
    struct warp_state *w = warp_state(warp);
    for (unsigned e = 0; e < op->vector; e++) {
        uint32_t place = element_place(w, op, e);
        if (place == PLACE_NONE) continue;
        if (op->element == PTX_f16) {
            u16 half[WARP_LANES];
            EACH_LANE half[i] = (u16)f64_to_f16((f64)f32_of(channel[e][i]), F16_NEAREST);
            LANES_STORE(u16, place, half);
        } else if (op->element == PTX_f16x2) {
            u32 pair[WARP_LANES];
            EACH_LANE pair[i] = (u32)(f64_to_f16((f64)f32_of(channel[2 * e][i]), F16_NEAREST) |
                                      f64_to_f16((f64)f32_of(channel[2 * e + 1][i]), F16_NEAREST) << 16);
            LANES_STORE(u32, place, pair);
        } else {
            LANES_STORE(u32, place, channel[e]);
        }
    }
    if (op->dst2 != PLACE_NONE) warp_set_predicate(warp, op->dst2, UINT32_MAX, mask); /* resident */
}

/* The lanes that access the object of the lowest one. */
static uint32_t same_object(const uint64_t handle[WARP_LANES], uint32_t mask) {
    const uint64_t lowest = handle[lowest_bit(mask)];
    uint32_t same = 0;
    EACH_LANE same |= (uint32_t)(handle[i] == lowest) << i;
    return same & mask;
}

/* Reads the texels of lanes that access one texture: fetched, sampled, or gathered. False with a fault. */
static bool texels_read(struct warp_state *w, const struct op *op, uint32_t lanes, const struct texture *texture,
                        bool gather, struct footprint *footprint, uint32_t channel[4][WARP_LANES]) {
    const struct image *image = &texture->image;
    const struct coordinates coordinates = coordinates_of(w, op, image->dimensions);
    const uint8_t *texels = memory_at(&w->run->device->memory, image->address, image_bytes(image));
    if (!texels) {
        access_fault(w, op, lowest_bit(lanes), PTX_SPACE_GLOBAL, image->address, texel_bytes(image), ACCESS_READ);
        return false;
    }
    if (gather) {
        footprint_gather(texture, &coordinates, footprint);
        footprint_corners(texture, texels, footprint, op->compare, channel);
        return true;
    }
    if (op->source == PTX_s32)
        footprint_fetch(texture, &coordinates, footprint);
    else
        footprint_sample(texture, &coordinates, footprint);
    footprint_read(texture, texels, footprint, channel);
    return true;
}

static void execute_texture(struct warp *warp, const struct op *op, uint32_t mask, bool gather) {
    struct warp_state *w = warp_state(warp);
    const uint64_t *handle = warp_place(warp, op->a);
    uint32_t channel[4][WARP_LANES], some[4][WARP_LANES];
    uint64_t in_stream[WARP_LANES][8];
    unsigned count[WARP_LANES];
    for (uint32_t left = mask, lanes; left; left &= ~lanes) {
        const unsigned lane = lowest_bit(left);
        const struct texture *texture = image_of(w, op, lane, handle[lane], false);
        struct footprint footprint;
        lanes = same_object(handle, left);
        if (!texture || !kind_fits(w, op, lane, texture)) return;
        if (!texels_read(w, op, lanes, texture, gather, &footprint, left == mask ? channel : some)) return;
        for (unsigned c = 0; left != mask && c < 4; c++)
            FOR_LANES (i, lanes) channel[c][i] = some[c][i];
        if (!w->writer) continue;
        FOR_LANES (i, lanes) count[i] = footprint_in_stream(&texture->image, &footprint, i, in_stream[i]);
    }
    touch_begin(w);
    if (w->writer)
        FOR_LANES (i, mask) touch_texels(w, op, mask, i, in_stream[i], count[i]);
    channels_write(warp, op, mask, channel);
}

static void execute_tex(struct warp *warp, const struct op *op, uint32_t mask) {
    execute_texture(warp, op, mask, false);
}

static void execute_tld4(struct warp *warp, const struct op *op, uint32_t mask) {
    execute_texture(warp, op, mask, true);
}

/* ---- surfaces ---- */

/* A coordinate within [0, limit]; false if it is outside and not clamped. */
static bool bounded(int64_t *at, int64_t limit, enum surface_boundary boundary) {
    if (*at >= 0 && *at <= limit) return true;
    if (boundary != BOUNDARY_CLAMP || limit < 0) return false;
    *at = *at < 0 ? 0 : limit;
    return true;
}

/* Where a lane accesses a surface: in memory and in the stream. */
struct surface_place {
    bool inside;
    uint64_t address, in_stream;
};

/* False with a fault. */
static bool surface_find(struct warp_state *w, const struct op *op, unsigned lane, const struct image *image,
                         unsigned bytes, struct surface_place *place) {
    const struct coordinates at = coordinates_of(w, op, image->dimensions);
    int64_t row = (int64_t)image->width * texel_bytes(image), x = at.integer[0][lane], y = 0, z = 0;
    int64_t last = row < bytes ? -1 : (row - bytes) / bytes * bytes,
            slices = image->layers ? image->layers : image->depth;
    if (image->dimensions > 1) y = at.integer[1][lane];
    if (image->dimensions > 2) z = at.integer[2][lane];
    if (image->layers) z = (int64_t)at.layer[lane];
    if (x % bytes) {
        fault_set(w, op, lane, "the byte offset %" PRId64 " in a row is not a multiple of the %u bytes accessed", x,
                  bytes);
        return false;
    }
    place->inside = bounded(&x, last, op->compare) && bounded(&y, (int64_t)image->height - 1, op->compare) &&
                    bounded(&z, slices - 1, op->compare);
    if (!place->inside) {
        if (op->compare == BOUNDARY_ZERO) return true;
        fault_set(w, op, lane,
                  "(%" PRId64 " bytes, %" PRId64 ", %" PRId64 ") is outside the surface of %" PRId64
                  " bytes x %u rows x %" PRId64,
                  x, y, z, row, image->height, slices);
        return false;
    }
    place->address = image_at(image, (uint64_t)x, (uint32_t)y, (uint32_t)z);
    place->in_stream = image_in_stream(image, (uint64_t)x, (uint32_t)y, (uint32_t)z);
    return true;
}

/* Records the lanes inside the surface. */
static void surface_note(struct warp_state *w, const struct surface_place *place, uint32_t lanes, unsigned bytes,
                         enum access_kind kind) {
    uint64_t address[WARP_LANES];
    touch_begin(w);
    if (!w->writer || !lanes) return;
    unsigned lowest = lowest_bit(lanes), highest = log2_floor(lanes);
    for (unsigned i = 0; i < WARP_LANES; i++)
        address[i] = place[lanes >> i & 1 ? i : i > highest ? highest : lowest].in_stream;
    touch_note(w, lanes, PTX_SPACE_GLOBAL, address, bytes, kind);
}

static void surface_run(struct warp *warp, const struct op *op, uint32_t mask, enum access_kind kind) {
    struct warp_state *w = warp_state(warp);
    const uint64_t *handle = warp_place(warp, op->a);
    const unsigned element = ptx_type_bytes(op->element), bytes = element * op->vector;
    const unsigned width = kind == ACCESS_READ ? op->dst_bytes : op->src_bytes;
    uint64_t data[4][WARP_LANES];
    struct surface_place place[WARP_LANES];
    struct lookup lookup = {0};
    uint32_t inside = 0;
    for (unsigned e = 0; kind == ACCESS_WRITE && e < op->vector; e++)
        row_read(w, element_place(w, op, e), width, data[e]);
    FOR_LANES (lane, mask) {
        const struct texture *surface = image_again(w, op, lane, handle[lane], true, &lookup);
        if (!surface || !surface_find(w, op, lane, &surface->image, bytes, &place[lane])) return;
        uint8_t *memory = place[lane].inside ? space_at(w, PTX_SPACE_GLOBAL, place[lane].address, bytes, kind) : NULL;
        if (place[lane].inside && !memory) {
            access_fault(w, op, lane, PTX_SPACE_GLOBAL, place[lane].address, bytes, kind);
            return;
        }
        inside |= (uint32_t)place[lane].inside << lane;
        for (unsigned e = 0; e < op->vector; e++) {
            if (kind == ACCESS_READ) data[e][lane] = 0;
            if (!memory) continue;
            uint8_t *part = memory + e * element;
            kind == ACCESS_READ ? memcpy(&data[e][lane], part, element) : memcpy(part, &data[e][lane], element);
        }
    }
    for (unsigned e = 0; kind == ACCESS_READ && e < op->vector; e++)
        if (element_place(w, op, e) != PLACE_NONE) row_write(w, element_place(w, op, e), width, data[e], mask);
    surface_note(w, place, inside, bytes, kind);
}

static void execute_suld(struct warp *warp, const struct op *op, uint32_t mask) {
    surface_run(warp, op, mask, ACCESS_READ);
}

static void execute_sust(struct warp *warp, const struct op *op, uint32_t mask) {
    warp->cta->run->changed |= UINT32_C(1) << PTX_SPACE_GLOBAL;
    surface_run(warp, op, mask, ACCESS_WRITE);
}

/* ---- queries ---- */

static uint32_t channel_data_type(const struct texture *texture) {
    static const uint16_t names[TEXEL_COUNT][2] = {
#define X(name, bytes, kind, cl, cl_normalised) {cl, cl_normalised},
        TEXEL_LIST(X)
#undef X
    };
    return names[texture->image.type][texture->sampler.normalized_values];
}

static uint32_t attribute(const struct texture *texture, enum texture_query query) {
    enum { CL_R = 0x10B0, CL_RG = 0x10B2, CL_RGBA = 0x10B5 };
    static const uint8_t modes[] = {
        [TEXTURE_WRAP] = 0, [TEXTURE_MIRROR] = 1, [TEXTURE_CLAMP] = 3, [TEXTURE_BORDER] = 4};
    const struct image *image = &texture->image;
    const struct sampler *sampler = &texture->sampler;
    switch (query) {
    case QUERY_WIDTH: return image->width;
    case QUERY_HEIGHT: return image->height;
    case QUERY_DEPTH: return image->depth;
    case QUERY_CHANNEL_DATA_TYPE: return channel_data_type(texture);
    case QUERY_CHANNEL_ORDER: return image->channels == 1 ? CL_R : image->channels == 2 ? CL_RG : CL_RGBA;
    case QUERY_ARRAY_SIZE: return image->layers;
    case QUERY_NORMALIZED_COORDS: return sampler->normalized_coordinates;
    case QUERY_FORCE_UNNORMALIZED_COORDS: return 0;
    case QUERY_FILTER_MODE: return sampler->filter;
    case QUERY_ADDR_MODE_0:
    case QUERY_ADDR_MODE_1:
    case QUERY_ADDR_MODE_2: return modes[sampler->address[query - QUERY_ADDR_MODE_0]];
    case QUERY_NUM_MIPMAP_LEVELS: return 1;
    case QUERY_MEMORY_LAYOUT: return !image->tiled;
    }
    return 0;
}

static void execute_query(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    const uint64_t *handle = warp_place(warp, op->a);
    uint64_t value[WARP_LANES];
    FOR_LANES (lane, mask) {
        const struct texture *texture = object_of(w, op, lane, handle[lane]);
        if (!texture) return;
        if ((texture->use == TEXTURE_SURFACE) != (op->operation == OPERATION_suq)) {
            fault_set(w, op, lane, "the object is a %s", texture->use == TEXTURE_SURFACE ? "surface" : "texture");
            return;
        }
        value[lane] = attribute(texture, op->mode);
    }
    row_write(w, op->dst, 4, value, mask);
}

static void execute_istypep(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    const uint64_t *handle = warp_place(warp, op->a);
    uint32_t yes = 0;
    FOR_LANES (lane, mask) {
        const struct texture *texture = texture_find(w->run->device, handle_of(w, handle[lane]));
        bool is = texture && op->element == (texture->use == TEXTURE_SURFACE ? PTX_surfref : PTX_texref);
        yes |= (uint32_t)is << lane;
    }
    warp_set_predicate(warp, op->dst, yes, mask);
}

op_handler *texture_handler_find(const struct op *op) {
    switch (op->operation) {
    case OPERATION_tex: return execute_tex;
    case OPERATION_tld4: return execute_tld4;
    case OPERATION_suld: return execute_suld;
    case OPERATION_sust: return execute_sust;
    case OPERATION_txq:
    case OPERATION_suq: return execute_query;
    case OPERATION_istypep: return execute_istypep;
    default: return NULL;
    }
}
