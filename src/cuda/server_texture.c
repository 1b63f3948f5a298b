/* Texture and surface objects of a CUDA program: from the runtime API's description to that of the emulator. */
#include <string.h>

#include "cuda/server_state.h"
#include "emu/emu.h"

/* The type of a channel; TEXEL_COUNT if there is none. */
static enum texel_type type_of(const struct texture_facts *facts) {
    static const struct {
        uint32_t bits, kind;
        enum texel_type type;
    } types[] = {
        {8, 0, TEXEL_s8},   {16, 0, TEXEL_s16}, {32, 0, TEXEL_s32}, {8, 1, TEXEL_u8},
        {16, 1, TEXEL_u16}, {32, 1, TEXEL_u32}, {16, 2, TEXEL_f16}, {32, 2, TEXEL_f32},
    };
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (types[i].bits == facts->bits && types[i].kind == facts->kind) return types[i].type;
    return TEXEL_COUNT;
}

/* The border is given as floats; where the texture is read as integers, they are converted. */
static void border_fill(struct sampler *sampler, const struct texture_facts *facts) {
    bool real = facts->kind == 2 || facts->normalized_values;
    for (unsigned i = 0; i < 4; i++) {
        float value = facts->border[i];
        int64_t whole = value > -2147483648.0f && value < 4294967296.0f ? (int64_t)value : 0;
        uint32_t bits = (uint32_t)whole;
        if (real) memcpy(&bits, &value, sizeof bits);
        sampler->border[i] = bits;
    }
}

static void create(struct cuda_server *server, const struct request *request) {
    static const uint8_t modes[] = {TEXTURE_WRAP, TEXTURE_CLAMP, TEXTURE_MIRROR, TEXTURE_BORDER};
    struct texture_facts facts = {0};
    struct device *device = host_device(server->host);
    struct error err = {0};
    int error = failure_number(server);
    if (request->bytes == sizeof facts)
        wire_get(&server->wire, &facts, sizeof facts);
    else
        wire_skip(&server->wire, request->bytes);
    struct image image = {
        .address = facts.address,
        .width = facts.width,
        .height = facts.height,
        .depth = facts.depth,
        .layers = facts.layers,
        .dimensions = (uint8_t)facts.dimensions,
        .type = (uint8_t)type_of(&facts),
        .channels = (uint8_t)facts.channels,
        .tiled = facts.tiled,
        .pitch_bytes = facts.pitch,
        .slice_bytes = facts.slice,
    };
    struct sampler sampler = {
        .filter = facts.filter ? TEXTURE_LINEAR : TEXTURE_NEAREST,
        .normalized_coordinates = facts.normalized_coordinates,
        .normalized_values = facts.normalized_values,
    };
    for (unsigned i = 0; i < 3; i++) sampler.address[i] = modes[facts.address_mode[i] % COUNT_OF(modes)];
    border_fill(&sampler, &facts);
    uint64_t handle = 0;
    if (!error && image.type < TEXEL_COUNT)
        handle = facts.surface ? surface_create(device, &image, &err) : texture_create(device, &image, &sampler, &err);
    reply_to(server, error ? error : handle ? 0 : CUDA_INVALID_VALUE, handle, 0);
}

bool serve_textures(struct cuda_server *server, const struct request *request) {
    if (request->kind == REQUEST_TEXTURE)
        create(server, request);
    else if (request->kind == REQUEST_UNTEXTURE)
        reply_to(server, texture_destroy(host_device(server->host), request->value[0]) ? 0 : CUDA_INVALID_VALUE, 0, 0);
    else
        return false;
    return true;
}
