/* Execution of texture and surface instructions, lane by lane: the object of a handle, coordinates, texels, data.
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

/* Coordinates, layer and offsets of a lane. */
struct position {
    union {
        float real[3];
        int32_t integer[3];
    };
    uint32_t layer;
    int32_t offset[3];
};

static struct position position_of(const struct warp_state *w, const struct op *op, unsigned dimensions,
                                   unsigned lane) {
    bool layered = op->mode == GEOMETRY_A1D || op->mode == GEOMETRY_A2D;
    unsigned next = op->vector;
    struct position position = {.layer = 0};
    if (layered) position.layer = ((const uint32_t *)warp_place(&w->warp, element_place(w, op, next++)))[lane];
    for (unsigned i = 0; i < dimensions; i++)
        memcpy(&position.integer[i], (const uint32_t *)warp_place(&w->warp, element_place(w, op, next++)) + lane, 4);
    for (unsigned i = 0; (op->modifiers & MOD_OFFSETS) && i < dimensions; i++)
        position.offset[i] = ((const int32_t *)warp_place(&w->warp, element_place(w, op, next++)))[lane];
    return position;
}

/* ---- textures ---- */

/* The channels of all texels of a footprint; false with a fault. Also records them. */
static bool texels_read(struct warp_state *w, const struct op *op, uint32_t mask, unsigned lane,
                        const struct texture *texture, const struct footprint *footprint, uint32_t texel[8][4]) {
    const struct image *image = &texture->image;
    const unsigned bytes = texel_bytes(image);
    uint64_t in_stream[8];
    unsigned count = 0;
    for (unsigned k = 0; k < footprint->count; k++) {
        if (footprint->texel[k].outside) {
            memcpy(texel[k], texture->sampler.border, sizeof texture->sampler.border);
            continue;
        }
        const uint32_t *at = footprint->texel[k].at;
        uint64_t x = (uint64_t)at[0] * bytes, address = image_at(image, x, at[1], at[2]);
        const uint8_t *memory = space_at(w, PTX_SPACE_GLOBAL, address, bytes, ACCESS_READ);
        if (!memory) {
            access_fault(w, op, lane, PTX_SPACE_GLOBAL, address, bytes, ACCESS_READ);
            return false;
        }
        texel_decode(texture, memory, texel[k]);
        in_stream[count++] = image_in_stream(image, x, at[1], at[2]);
    }
    if (w->writer) touch_texels(w, op, mask, lane, in_stream, count);
    return true;
}

static bool kind_fits(struct warp_state *w, const struct op *op, unsigned lane, const struct texture *texture) {
    bool real = op->element != PTX_u32 && op->element != PTX_s32;
    if (real == texture_is_real(texture)) return true;
    fault_set(w, op, lane, "the texture is read as %s, but the instruction returns %s",
              real ? "integers" : "floating-point numbers", real ? "floating-point numbers" : "integers");
    return false;
}

/* Converts the four channels of each lane to the elements of the destination. */
static void channels_write(struct warp_state *w, const struct op *op, uint32_t mask, uint32_t channel[4][WARP_LANES]) {
    bool half = op->element == PTX_f16 || op->element == PTX_f16x2;
    unsigned bytes = op->element == PTX_f16 ? 2 : 4;
    for (unsigned e = 0; e < op->vector; e++) {
        uint64_t value[WARP_LANES];
        uint32_t place = element_place(w, op, e);
        if (place == PLACE_NONE) continue;
        FOR_LANES (lane, mask) {
            if (!half)
                value[lane] = channel[e][lane];
            else if (op->element == PTX_f16)
                value[lane] = f64_to_f16((f64)f32_of(channel[e][lane]), F16_NEAREST);
            else
                value[lane] = f64_to_f16((f64)f32_of(channel[2 * e][lane]), F16_NEAREST) |
                              f64_to_f16((f64)f32_of(channel[2 * e + 1][lane]), F16_NEAREST) << 16;
        }
        row_write(w, place, bytes, value, mask);
    }
    if (op->dst2 != PLACE_NONE) warp_set_predicate(&w->warp, op->dst2, UINT32_MAX, mask); /* resident */
}

/* The texels around a position: fetched, sampled, or gathered. False with a fault. */
static bool texels_at(struct warp_state *w, const struct op *op, uint32_t mask, unsigned lane, struct lookup *lookup,
                      bool gather, struct footprint *footprint, uint32_t texel[8][4]) {
    const uint64_t *handle = warp_place(&w->warp, op->a);
    const struct texture *texture = image_again(w, op, lane, handle[lane], false, lookup);
    if (!texture || !kind_fits(w, op, lane, texture)) return false;
    struct position position = position_of(w, op, texture->image.dimensions, lane);
    if (gather)
        footprint_gather(texture, position.real, position.layer, position.offset, footprint);
    else if (op->source == PTX_s32)
        footprint_fetch(texture, position.integer, position.layer, position.offset, footprint);
    else
        footprint_sample(texture, position.real, position.layer, position.offset, footprint);
    return texels_read(w, op, mask, lane, texture, footprint, texel);
}

static void execute_texture(struct warp *warp, const struct op *op, uint32_t mask, bool gather) {
    struct warp_state *w = warp_state(warp);
    uint32_t channel[4][WARP_LANES], texel[8][4], mean[4];
    struct lookup lookup = {0};
    struct footprint footprint;
    touch_begin(w);
    FOR_LANES (lane, mask) {
        if (!texels_at(w, op, mask, lane, &lookup, gather, &footprint, texel)) return;
        if (!gather) footprint_filter(&footprint, (const uint32_t(*)[4])texel, mean);
        for (unsigned c = 0; c < 4; c++) channel[c][lane] = gather ? texel[c][op->compare] : mean[c];
    }
    channels_write(w, op, mask, channel);
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
    struct position position = position_of(w, op, image->dimensions, lane);
    int64_t row = (int64_t)image->width * texel_bytes(image), x = position.integer[0], y = 0, z = 0;
    int64_t last = row < bytes ? -1 : (row - bytes) / bytes * bytes,
            slices = image->layers ? image->layers : image->depth;
    if (image->dimensions > 1) y = position.integer[1];
    if (image->dimensions > 2) z = position.integer[2];
    if (image->layers) z = (int64_t)position.layer;
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
