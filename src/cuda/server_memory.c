#include "cuda/server_state.h"

#include <string.h>

#include "emu/emu.h"

static struct memory *memory_of(struct cuda_server *server) { return &host_device(server->host)->memory; }

static void allocate(struct cuda_server *server, uint64_t bytes) {
    uint64_t address = 0;
    int error = failure_number(server);
    if (!error && bytes <= MEMORY_BYTES - server->memory_used) address = memory_allocate(memory_of(server), bytes);
    if (address) server->memory_used += bytes;
    reply_to(server, error ? error : address ? 0 : CUDA_OUT_OF_MEMORY, address, 0);
}

static void share(struct cuda_server *server, uint64_t offset, uint64_t bytes) {
    int error = failure_number(server);
    bool within = offset <= SHARED_BYTES && bytes <= SHARED_BYTES - offset;
    if (!error &&
        (!within || !memory_share(memory_of(server), SHARED_ADDRESS + offset, bytes, server->options.shared, offset)))
        error = CUDA_OUT_OF_MEMORY;
    reply_to(server, error, 0, 0);
}

/* Whether the address is that of a module's variables, which a program cannot free. */
static bool is_image(const struct cuda_server *server, uint64_t address) {
    for (unsigned i = 0; i < server->image_count; i++) {
        if (!server->images[i].module) continue;
        const struct program *program = host_program_of(server->host, server->images[i].module);
        if (program->image_bytes && program->image_address == address) return true;
    }
    return false;
}

static void release(struct cuda_server *server, uint64_t address) {
    const struct allocation *found = memory_find(memory_of(server), address, memory_user(address));
    int error = failure_number(server);
    uint64_t bytes = found ? found->size_bytes : 0;
    bool shared = address >= SHARED_ADDRESS;
    if (!error && (is_image(server, address) || !memory_free(memory_of(server), address))) error = CUDA_INVALID_VALUE;
    if (!error && !shared) server->memory_used -= bytes;
    reply_to(server, error, bytes, 0);
}

static void find(struct cuda_server *server, uint64_t address) {
    const struct allocation *found = memory_find(memory_of(server), address, memory_user(address));
    reply_to(server, found ? 0 : CUDA_INVALID_VALUE, found ? found->address : 0, found ? found->size_bytes : 0);
}

/* A box in device memory; `at` is BOX_ADDRESS or BOX_FROM. */
struct box {
    uint64_t width, height, depth, address, pitch, slice;
};

static struct box box_of(const struct request *request, unsigned at) {
    const uint64_t *value = request->value;
    return (struct box){value[BOX_WIDTH], value[BOX_HEIGHT], value[BOX_DEPTH], value[at], value[at + 1], value[at + 2]};
}

static uint8_t *row_at(struct cuda_server *server, const struct box *box, uint64_t y, uint64_t z) {
    return memory_at(memory_of(server), box->address + z * box->slice + y * box->pitch, box->width);
}

/* Whether every row is within an allocation. */
static bool box_fits(struct cuda_server *server, const struct box *box) {
    if (box->width > MEMORY_BYTES || box->height > MEMORY_BYTES || box->depth > MEMORY_BYTES) return false;
    if ((double)box->width * (double)box->height * (double)box->depth > (double)SHARED_BYTES) return false;
    for (uint64_t z = 0; z < box->depth; z++)
        for (uint64_t y = 0; y < box->height; y++)
            if (!row_at(server, box, y, z)) return false;
    return true;
}

static bool box_is_empty(const struct box *box) { return !box->width || !box->height || !box->depth; }

/* The error of an operation on a box; 0 if it can be done. */
static int box_error(struct cuda_server *server, const struct box *box) {
    int error = failure_number(server);
    if (error || box_is_empty(box)) return error;
    return box_fits(server, box) ? 0 : CUDA_INVALID_VALUE;
}

#define FOR_ROWS(box, y, z) \
    for (uint64_t z = 0; z < (box).depth; z++) \
        for (uint64_t y = 0; y < (box).height; y++)

static void do_write(struct cuda_server *server, const struct request *request) {
    struct box box = box_of(request, BOX_ADDRESS);
    int error = box_error(server, &box);
    if (!error && request->bytes != box.width * box.height * box.depth) error = CUDA_INVALID_VALUE;
    if (error)
        wire_skip(&server->wire, request->bytes);
    else if (!box_is_empty(&box))
        FOR_ROWS(box, y, z) wire_get(&server->wire, row_at(server, &box, y, z), box.width);
    reply_to(server, error, 0, 0);
}

static void do_read(struct cuda_server *server, const struct request *request) {
    struct box box = box_of(request, BOX_ADDRESS);
    int error = box_error(server, &box);
    if (error || box_is_empty(&box)) {
        reply_to(server, error, 0, 0);
        return;
    }
    struct reply reply = {.bytes = box.width * box.height * box.depth};
    reply_head(server, &reply);
    FOR_ROWS(box, y, z) wire_put(&server->wire, row_at(server, &box, y, z), box.width);
    wire_flush(&server->wire);
}

static void do_copy(struct cuda_server *server, const struct request *request) {
    struct box to = box_of(request, BOX_ADDRESS), from = box_of(request, BOX_FROM);
    int error = box_error(server, &to);
    if (!error) error = box_error(server, &from);
    if (!error && !box_is_empty(&to))
        FOR_ROWS(to, y, z) memmove(row_at(server, &to, y, z), row_at(server, &from, y, z), to.width);
    reply_to(server, error, 0, 0);
}

static void do_fill(struct cuda_server *server, const struct request *request) {
    struct box box = box_of(request, BOX_ADDRESS);
    int error = box_error(server, &box);
    if (!error && !box_is_empty(&box))
        FOR_ROWS(box, y, z) memset(row_at(server, &box, y, z), (int)(request->value[BOX_FILL] & 0xFF), box.width);
    reply_to(server, error, 0, 0);
}

static void set_limit(struct cuda_server *server, uint64_t bytes) {
    struct device *device = host_device(server->host);
    bool good = bytes >= device->heap_used || bytes == 0;
    if (good && bytes) device->heap_bytes = bytes;
    reply_to(server, good ? 0 : CUDA_INVALID_VALUE, device->heap_bytes, 0);
}

bool serve_memory(struct cuda_server *server, const struct request *request) {
    switch ((enum request_kind)request->kind) {
    case REQUEST_ALLOCATE: allocate(server, request->value[0]); break;
    case REQUEST_SHARE: share(server, request->value[0], request->value[1]); break;
    case REQUEST_FREE: release(server, request->value[0]); break;
    case REQUEST_FIND: find(server, request->value[0]); break;
    case REQUEST_WRITE: do_write(server, request); break;
    case REQUEST_READ: do_read(server, request); break;
    case REQUEST_COPY: do_copy(server, request); break;
    case REQUEST_FILL: do_fill(server, request); break;
    case REQUEST_LIMIT: set_limit(server, request->value[0]); break;
    case REQUEST_MEMORY: reply_to(server, 0, server->memory_used, 0); break;
    default: return false;
    }
    return true;
}
