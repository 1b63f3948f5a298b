#include "cuda/server_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "cuda/fatbin.h"
#include "dram/dram_config.h"
#include "emu/emu.h"
#include "llc/llc.h"
#include "sim/gpu_config.h"
#include "sm/sm_config.h"

static void print(void *user, const char *text, size_t bytes) {
    struct cuda_server *server = user;
    server->text = mem_grow(server->text, server->text_bytes + bytes + 1, 1);
    memcpy(server->text + server->text_bytes, text, bytes);
    server->text_bytes += bytes;
}

static bool patience(void *user) {
    const struct cuda_server *server = user;
    return host_failure(server->host) || !host_failed(server->host); /* until the run is stopped from outside */
}

/* --- replies --- */

void reply_head(struct cuda_server *server, struct reply *reply) {
    reply->text_bytes = server->text_bytes;
    wire_put(&server->wire, reply, sizeof *reply);
    wire_put(&server->wire, server->text, server->text_bytes);
    server->text_bytes = 0;
}

void reply_to(struct cuda_server *server, int error, uint64_t first, uint64_t second) {
    struct reply reply = {.error = error, .value = {first, second}};
    reply_head(server, &reply);
    wire_flush(&server->wire);
}

static void reply_bytes(struct cuda_server *server, const void *bytes, size_t count) {
    struct reply reply = {.bytes = count};
    reply_head(server, &reply);
    wire_put(&server->wire, bytes, count);
    wire_flush(&server->wire);
}

int failure_number(const struct cuda_server *server) {
    static const struct {
        const char *part;
        int number;
    } kinds[] = {
        {"assertion `", CUDA_ASSERT},
        {"livelock: ", CUDA_TIMEOUT}, /* as of a watchdog; the message has an address, too */
        {"executed trap", CUDA_LAUNCH_FAILURE},
        {"misaligned", CUDA_MISALIGNED},
        {" memory at 0x", CUDA_ILLEGAL_ADDRESS},
    };
    const char *text = host_failure(server->host);
    if (!text) return host_failed(server->host) ? CUDA_UNKNOWN : 0;
    const char *place = strstr(text, "), thread ("); /* names of files and kernels before it may be anything */
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (strstr(place ? place : text, kinds[i].part)) return kinds[i].number;
    return CUDA_LAUNCH_FAILURE;
}

/* --- device and modules --- */

static struct device_facts facts_of(const struct cuda_options *options) {
    const struct config *config = options->config;
    const struct sm_config *sm = config_get(config, &sm_section);
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct dram_config *dram = config_get(config, &dram_section);
    uint64_t core_khz = gpu_core_khz(config),
             memory_khz = dram->clock_mhz ? (uint64_t)dram->clock_mhz * 1000 : core_khz;
    uint64_t slices = (uint64_t)(llc->slices_per_mc * dram->mcs);
    /* A bus that transfers the peak bandwidth at two words per cycle, as programs compute it. */
    double bus_bits = dram_peak_bytes_per_us(config) * 8000 / (2 * (double)memory_khz);
    struct device_facts facts = {
        .memory_bytes = MEMORY_BYTES,
        .shared_bytes_per_sm = (uint64_t)sm_shared_kb(sm) << 10,
        .l2_bytes = slices * (uint64_t)llc->slice_kb << 10,
        .constant_bytes = CONSTANT_BYTES,
        .sms = gpu_sms(config),
        .threads_per_sm = (uint32_t)sm->threads,
        .ctas_per_sm = (uint32_t)sm->ctas,
        .registers_per_sm = (uint32_t)sm->registers,
        .warp_threads = (uint32_t)sm->warp_size,
        .core_khz = (uint32_t)core_khz,
        .memory_khz = (uint32_t)memory_khz,
        .memory_bus_bits = (uint32_t)(bus_bits + 0.5),
        .capability = CAPABILITY,
    };
    snprintf(facts.name, sizeof facts.name, "Sluice %s", options->gpu);
    return facts;
}

static void get_device(struct cuda_server *server) {
    struct device_facts facts = facts_of(&server->options);
    reply_bytes(server, &facts, sizeof facts);
}

static void add_module(struct cuda_server *server, const struct request *request) {
    struct fat_image image = {.bytes = malloc(request->bytes + 1), .size = request->bytes};
    if (!image.bytes) {
        wire_skip(&server->wire, request->bytes);
        reply_to(server, CUDA_OUT_OF_MEMORY, 0, 0);
        return;
    }
    wire_get(&server->wire, image.bytes, image.size);
    server->images = mem_grow(server->images, server->image_count + 1, sizeof image);
    server->images[server->image_count++] = image;
    reply_to(server, 0, server->image_count, 0);
}

static int load(struct cuda_server *server, struct fat_image *image, const struct image_place *place) {
    struct error err = {0};
    size_t length = 0;
    char *text = fatbin_ptx(image->bytes, image->size, CAPABILITY, &length, &err);
    if (!text) {
        host_fail(server->host, "%s: %s", server->options.name, err.text);
        return CUDA_NO_IMAGE;
    }
    char *name = server->image_count == 1
                     ? text_format("%s (PTX)", server->options.name)
                     : text_format("%s (PTX %u)", server->options.name, (unsigned)(image - server->images) + 1);
    image->module = host_module_at(server->host, name, text, length, place);
    free(name);
    free(text);
    return image->module ? 0 : CUDA_INVALID_PTX;
}

/* The program of a module; NULL with the error number. */
static const struct program *program_of(struct cuda_server *server, uint64_t number, unsigned *module, int *error) {
    struct fat_image *image = number >= 1 && number <= server->image_count ? &server->images[number - 1] : NULL;
    *error = failure_number(server);
    if (!image) *error = CUDA_INVALID_IMAGE;
    if (!*error && !image->module) *error = load(server, image, NULL);
    if (*error) return NULL;
    *module = image->module;
    return host_program_of(server->host, image->module);
}

/* The payload as text; too long names are cut, and then name nothing. */
static void get_name(struct cuda_server *server, uint64_t bytes, char name[NAME_BYTES]) {
    size_t kept = (size_t)min_u64(bytes, NAME_BYTES - 1);
    wire_get(&server->wire, name, kept);
    name[kept] = '\0';
    wire_skip(&server->wire, bytes - kept);
}

static const struct program_function *function_of(struct cuda_server *server, const struct request *request,
                                                  const char *name, const struct program **program, unsigned *module,
                                                  int *error) {
    *program = program_of(server, request->value[LAUNCH_MODULE], module, error);
    const struct program_function *kernel = *program ? program_kernel(*program, name) : NULL;
    if (*program && !kernel) *error = CUDA_INVALID_FUNCTION;
    return kernel;
}

static uint32_t most_threads(const struct program_function *kernel) {
    uint64_t given = (uint64_t)kernel->max_threads[0] * (kernel->max_threads[1] ? kernel->max_threads[1] : 1) *
                     (kernel->max_threads[2] ? kernel->max_threads[2] : 1);
    return given ? (uint32_t)min_u64(given, 1024) : 1024;
}

/* The virtual architecture that the code was compiled for: 75 of sm_75. Libraries choose their kernels by it. */
static uint32_t architecture(const struct program *program) {
    return (uint32_t)strtoul(program->module->target + strlen("sm_"), NULL, 10);
}

static void get_function(struct cuda_server *server, const struct request *request) {
    char name[NAME_BYTES];
    const struct program *program;
    unsigned module;
    int error;
    get_name(server, request->bytes, name);
    const struct program_function *kernel = function_of(server, request, name, &program, &module, &error);
    if (!kernel) {
        reply_to(server, error, 0, 0);
        return;
    }
    struct program_parameter parameter;
    struct function_facts facts = {
        .shared_bytes = kernel->shared_bytes,
        .local_bytes = kernel->frame_bytes,
        .registers = kernel->registers,
        .max_threads = most_threads(kernel),
        .ptx_architecture = architecture(program),
    };
    for (uint32_t i = 0; i < program->variable_count; i++)
        if (program->variables[i].space == PTX_SPACE_CONST) facts.constant_bytes += program->variables[i].size_bytes;
    while (program_parameter(program, kernel, facts.parameters, &parameter)) facts.parameters++;
    struct reply reply = {.bytes = sizeof facts + facts.parameters * sizeof(struct parameter_facts)};
    reply_head(server, &reply);
    wire_put(&server->wire, &facts, sizeof facts);
    for (uint32_t i = 0; i < facts.parameters; i++) {
        program_parameter(program, kernel, i, &parameter);
        struct parameter_facts of = {parameter.offset, parameter.size_bytes};
        wire_put(&server->wire, &of, sizeof of);
    }
    wire_flush(&server->wire);
}

/* The host program accesses variables of this module: they are in shared memory. */
static void add_managed(struct cuda_server *server, const struct request *request) {
    uint64_t number = request->value[0], offset = request->value[1], bytes = 0;
    struct fat_image *image = number >= 1 && number <= server->image_count ? &server->images[number - 1] : NULL;
    int error = failure_number(server);
    if (!image || image->module) error = CUDA_INVALID_IMAGE;
    if (offset > SHARED_BYTES) error = CUDA_INVALID_VALUE;
    struct image_place place = {SHARED_ADDRESS + offset, server->options.shared, offset};
    if (!error) error = load(server, image, &place);
    if (!error) bytes = host_program_of(server->host, image->module)->image_bytes;
    reply_to(server, error, bytes, 0);
}

static void get_variable(struct cuda_server *server, const struct request *request) {
    char name[NAME_BYTES];
    unsigned module;
    int error;
    get_name(server, request->bytes, name);
    const struct program *program = program_of(server, request->value[0], &module, &error);
    for (uint32_t i = 0; program && i < program->variable_count; i++)
        if (strcmp(program->variables[i].name, name) == 0) {
            reply_to(server, 0, program->variables[i].address, program->variables[i].size_bytes);
            return;
        }
    reply_to(server, error ? error : CUDA_INVALID_SYMBOL, 0, 0);
}

/* --- launches --- */

static struct kernel kernel_of(const struct program_function *function, const struct request *request) {
    struct kernel kernel = {
        .registers = function->registers,
        .shared_bytes = function->shared_bytes + (uint32_t)request->value[LAUNCH_SHARED],
    };
    snprintf(kernel.name, sizeof kernel.name, "%s", function->name);
    for (unsigned i = 0; i < 3; i++) {
        kernel.grid[i] = (uint32_t)request->value[LAUNCH_GRID + i];
        kernel.block[i] = (uint32_t)request->value[LAUNCH_BLOCK + i];
    }
    return kernel;
}

/* The error of a launch that does not fit the kernel or the GPU; 0 if it does. */
static int launch_error(const struct cuda_server *server, const struct program_function *function,
                        const struct request *request) {
    static const uint64_t most[6] = {INT32_MAX, 65535, 65535, 1024, 1024, 64};
    for (unsigned i = 0; i < 6; i++)
        if (request->value[LAUNCH_GRID + i] < 1 || request->value[LAUNCH_GRID + i] > most[i])
            return CUDA_INVALID_CONFIGURATION;
    if (request->value[LAUNCH_SHARED] > UINT32_MAX / 2) return CUDA_INVALID_VALUE;
    struct kernel kernel = kernel_of(function, request);
    if (kernel_threads(&kernel) > 1024) return CUDA_INVALID_CONFIGURATION;
    if (kernel_ctas(&kernel) > INT32_MAX) return CUDA_NOT_SUPPORTED;
    if (kernel_threads(&kernel) > most_threads(function)) return CUDA_TOO_MANY_RESOURCES;
    for (unsigned i = 0; function->required_threads[0] && i < 3; i++) {
        uint32_t required = function->required_threads[i] ? function->required_threads[i] : 1;
        if (kernel.block[i] != required) return CUDA_INVALID_CONFIGURATION;
    }
    struct error err = {0};
    struct launch launch = {.kernel = function};
    memcpy(launch.grid, kernel.grid, sizeof launch.grid);
    for (unsigned i = 0; i < 3; i++) launch.cluster[i] = (uint32_t)min_u64(request->value[LAUNCH_CLUSTER + i], 1024);
    if (!emu_cluster(&launch, &err)) return CUDA_INVALID_CLUSTER;
    return sm_occupancy(server->options.config, gpu_sms(server->options.config), &kernel, &err)
               ? 0
               : CUDA_TOO_MANY_RESOURCES;
}

static bool is_timed(const struct cuda_server *server, uint64_t number) {
    const struct cuda_options *options = &server->options;
    if (options->functional) return false;
    return !options->first || (number >= options->first && number <= options->last);
}

static void add_launch(struct cuda_server *server, const struct host_launch *launch, const struct emu_counts *counts) {
    if (server->launch_count == server->launch_room) {
        server->launch_room = server->launch_room ? 2 * server->launch_room : 64;
        server->launches = mem_grow(server->launches, server->launch_room, sizeof *server->launches);
    }
    struct cuda_launch *row = &server->launches[server->launch_count++];
    *row = (struct cuda_launch){
        .grid = launch->grid,
        .block = launch->block,
        .timed = !launch->untimed,
        .warp_instructions = counts->warp_instructions,
        .thread_instructions = counts->thread_instructions,
    };
    snprintf(row->name, sizeof row->name, "%s", launch->kernel);
}

/* The reply precedes the execution, which the program does not wait for. */
static void execute(struct cuda_server *server, const struct request *request, const struct program *program,
                    const struct program_function *kernel, unsigned module, const uint8_t *values) {
    struct host_argument *arguments = NULL;
    struct program_parameter parameter;
    unsigned count = 0;
    for (; program_parameter(program, kernel, count, &parameter); count++) {
        arguments = mem_grow(arguments, count + 1, sizeof *arguments);
        arguments[count] = HOST_BYTES(values, parameter.size_bytes);
        values += parameter.size_bytes;
    }
    const uint64_t *value = request->value;
    struct emu_counts counts = {0};
    struct host_launch launch = {
        .kernel = kernel->name,
        .grid = {(uint32_t)value[LAUNCH_GRID], (uint32_t)value[LAUNCH_GRID + 1], (uint32_t)value[LAUNCH_GRID + 2]},
        .block = {(uint32_t)value[LAUNCH_BLOCK], (uint32_t)value[LAUNCH_BLOCK + 1], (uint32_t)value[LAUNCH_BLOCK + 2]},
        .cluster = {(uint32_t)value[LAUNCH_CLUSTER], (uint32_t)value[LAUNCH_CLUSTER + 1],
                    (uint32_t)value[LAUNCH_CLUSTER + 2]},
        .dynamic_shared_bytes = (uint32_t)value[LAUNCH_SHARED],
        .arguments = arguments,
        .argument_count = count,
        .module = module,
        .cooperative = value[LAUNCH_COOPERATIVE] != 0,
        .untimed = !is_timed(server, server->launch_count + 1),
        .counts = &counts,
    };
    pthread_mutex_lock(&server->lock);
    server->launched = true;
    pthread_mutex_unlock(&server->lock);
    host_launch(server->host, &launch);
    if (!host_failed(server->host)) add_launch(server, &launch, &counts);
    free(arguments);
}

static void do_launch(struct cuda_server *server, const struct request *request) {
    char *payload = malloc(request->bytes + 1);
    if (!payload) {
        wire_skip(&server->wire, request->bytes);
        reply_to(server, CUDA_OUT_OF_MEMORY, 0, 0);
        return;
    }
    wire_get(&server->wire, payload, request->bytes);
    payload[request->bytes] = '\0';
    const struct program *program;
    unsigned module;
    int error;
    const struct program_function *kernel = function_of(server, request, payload, &program, &module, &error);
    if (kernel) error = launch_error(server, kernel, request);
    size_t name_bytes = strlen(payload) + 1;
    struct program_parameter parameter;
    uint64_t needed = name_bytes;
    for (unsigned i = 0; kernel && program_parameter(program, kernel, i, &parameter); i++)
        needed += parameter.size_bytes;
    if (!error && needed != request->bytes) error = CUDA_INVALID_VALUE;
    reply_to(server, error, 0, 0);
    if (!error) execute(server, request, program, kernel, module, (const uint8_t *)payload + name_bytes);
    free(payload);
}

static void get_occupancy(struct cuda_server *server, const struct request *request) {
    char name[NAME_BYTES];
    const struct program *program;
    unsigned module, ctas = 0;
    int error;
    get_name(server, request->bytes, name);
    const struct program_function *function = function_of(server, request, name, &program, &module, &error);
    if (function) {
        struct kernel kernel = kernel_of(function, request);
        struct error err = {0};
        kernel.grid[0] = kernel.grid[1] = 32768; /* fills every SM */
        kernel.grid[2] = 1;
        bool fits = kernel_threads(&kernel) <= most_threads(function);
        ctas = fits ? sm_occupancy(server->options.config, 1, &kernel, &err) : 0;
    }
    reply_to(server, error, ctas, 0);
}

/* --- time --- */

/* Waits until `count` timed launches have ended; false if they never will. */
static bool await_end(struct cuda_server *server, uint64_t count) {
    pthread_mutex_lock(&server->lock);
    while (server->ended_count < count && !server->over) {
        struct timespec until = deadline_in(DEADLINE_PATIENCE_MS);
        pthread_cond_timedwait(&server->changed, &server->lock, &until);
        if (!patience(server)) break;
    }
    bool ended = server->ended_count >= count;
    pthread_mutex_unlock(&server->lock);
    return ended;
}

static void get_time(struct cuda_server *server, uint64_t launches) {
    const struct config *config = server->options.config;
    uint64_t timed = 0, instructions = 0;
    int error = failure_number(server);
    double cycles = 0;
    for (uint64_t i = 0; i < min_u64(launches, server->launch_count); i++) {
        timed += server->launches[i].timed;
        instructions += server->launches[i].warp_instructions;
    }
    if (!server->options.simulated) {
        cycles = (double)instructions / gpu_sms(config);
    } else if (!error && timed) {
        if (await_end(server, timed)) {
            pthread_mutex_lock(&server->lock);
            cycles = (double)server->ended[timed - 1];
            pthread_mutex_unlock(&server->lock);
        } else {
            error = CUDA_LAUNCH_FAILURE;
        }
    }
    reply_to(server, error, (uint64_t)(cycles * 1e6 / (double)gpu_core_khz(config) + 0.5), 0);
}

void cuda_server_kernel_ended(struct cuda_server *server, uint64_t cycle) {
    pthread_mutex_lock(&server->lock);
    server->ended = mem_grow(server->ended, server->ended_count + 1, sizeof *server->ended);
    server->ended[server->ended_count++] = cycle;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

void cuda_server_stop_timing(struct cuda_server *server) {
    pthread_mutex_lock(&server->lock);
    server->over = true;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

/* --- the program --- */

static void serve_one(struct cuda_server *server, const struct request *request) {
    switch ((enum request_kind)request->kind) {
    case REQUEST_DEVICE: get_device(server); break;
    case REQUEST_MODULE: add_module(server, request); break;
    case REQUEST_MANAGED: add_managed(server, request); break;
    case REQUEST_FUNCTION: get_function(server, request); break;
    case REQUEST_VARIABLE: get_variable(server, request); break;
    case REQUEST_LAUNCH: do_launch(server, request); break;
    case REQUEST_OCCUPANCY: get_occupancy(server, request); break;
    case REQUEST_WAIT: reply_to(server, failure_number(server), server->launch_count, 0); break;
    case REQUEST_TIME: get_time(server, request->value[0]); break;
    default:
        server->wire.broken |=
            !serve_memory(server, request) && !serve_textures(server, request); /* otherwise not one of ours */
    }
}

/* Also after a failure: the program then receives an error from every call, as on a device whose context is lost. */
static void serve(void *user, struct host *host) {
    struct cuda_server *server = user;
    struct request request;
    server->host = host;
    while (patience(server) && wire_get(&server->wire, &request, sizeof request)) serve_one(server, &request);
}

struct cuda_server *cuda_server_create(const struct cuda_options *options) {
    struct cuda_server *server = mem_alloc(1, sizeof *server);
    server->options = *options;
    wire_open(&server->wire, options->socket);
    server->wire.patience = patience;
    server->wire.user = server;
    pthread_mutex_init(&server->lock, NULL);
    deadline_condition(&server->changed);
    server->source = program_source_create(&(struct host_program){.name = options->name, .run = serve, .user = server});
    program_source_print(server->source, print, server);
    return server;
}

struct stream_source *cuda_server_source(struct cuda_server *server) {
    return server->source;
}

void cuda_server_destroy(struct cuda_server *server) {
    server->source->ops->destroy(server->source);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
    for (unsigned i = 0; i < server->image_count; i++) free(server->images[i].bytes);
    free(server->images);
    free(server->launches);
    free(server->ended);
    free(server->text);
    free(server);
}

uint64_t cuda_server_launches(const struct cuda_server *server, const struct cuda_launch **launches) {
    *launches = server->launches;
    return server->launch_count;
}

bool cuda_server_launched(struct cuda_server *server) {
    pthread_mutex_lock(&server->lock);
    bool launched = server->launched;
    pthread_mutex_unlock(&server->lock);
    return launched;
}

const char *cuda_server_unprinted(const struct cuda_server *server, size_t *bytes) {
    *bytes = server->text_bytes;
    return server->text_bytes ? server->text : NULL;
}
