#include "host/source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "emu/emu.h"
#include "host/checkpoint.h"
#include "stream/trace.h"

struct host {
    struct device device;
    struct loaded_module **modules;
    unsigned module_count;
    struct error err;
    atomic_bool stop;   /* the rest is not needed */
    uint64_t workspace; /* of cooperative launches; 0: none so far */
    uint32_t launches;  /* so far */
    uint64_t executed;  /* thread instructions of previous launches, and */
    uint64_t budget;    /* the number after which the program ends; 0: none */
    uint64_t limit;     /* stream_source.max_instructions, when the program began */
};

/* With stream_source.max_instructions, a launch that is not timed fails if no CTA ends for at least this many warp
 * instructions, about a second. */
#define UNTIMED_INSTRUCTIONS (UINT64_C(1) << 24)

/* A launch passed from the program to the machine. */
struct launched {
    struct kernel kernel;
    struct trace *trace;
    struct emu_counts *counts; /* valid once the launch has returned to the program */
};

struct program_source {
    struct stream_source source;
    struct host_program program;
    struct host host;              /* owned by the thread while it runs */
    struct checkpoint *checkpoint; /* of the first launches, which the machine does not see; NULL: none */
    pthread_t thread;
    bool started;
    struct launched reading; /* the kernel that the machine reads */
    uint64_t taken;          /* launches so far */
    bool told;               /* next_kernel has returned false */
    uint64_t violations;     /* of the previous kernels */
    struct error violation;  /* the first */

    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t changed;
    struct launched next; /* its trace is NULL until the program launches, and again after the machine has taken it */
    bool resting;         /* in step: the last launch is emulated, and the program waits for the next request */
    bool over;            /* the program has ended */
    uint64_t handed_over; /* launches so far */
    bool unread[2]; /* whether the machine does not read launch n, at n modulo 2, for the last one taken and the next */
};

/* --- the program's thread --- */

static struct program_source *source_of(struct host *host) {
    return (struct program_source *)((char *)host - offsetof(struct program_source, host));
}

static void *run_program(void *user) {
    struct program_source *source = user;
    source->program.run(source->program.user, &source->host);
    pthread_mutex_lock(&source->lock);
    source->over = true;
    pthread_cond_broadcast(&source->changed);
    pthread_mutex_unlock(&source->lock);
    return NULL;
}

static void host_open(struct host *host, const struct device *print_to) {
    *host = (struct host){0};
    device_init(&host->device);
    host->device.print = print_to->print;
    host->device.print_user = print_to->print_user;
    host->device.stop = &host->stop;
}

static void host_close(struct host *host) {
    for (unsigned i = host->module_count; i-- > 0;) device_unload(&host->device, host->modules[i]);
    free(host->modules);
    device_release(&host->device);
}

/* If the thread cannot be started, the program fails before its first launch. */
static void start(struct program_source *source) {
    source->host.limit = source->source.max_instructions;
    int number = pthread_create(&source->thread, NULL, run_program, source);
    source->started = number == 0;
    if (source->started) return;
    host_fail(&source->host, "cannot start the thread that executes the program: %s", strerror(number));
    source->over = true;
}

static void launched_drop(struct launched *launched) {
    trace_destroy(launched->trace);
    free(launched->counts);
    launched->trace = NULL;
    launched->counts = NULL;
}

/* Stops the program wherever it is and discards its launches. */
static void stop(struct program_source *source) {
    if (source->started) {
        pthread_mutex_lock(&source->lock);
        atomic_store(&source->host.stop, true);
        if (source->next.trace) trace_abandon(source->next.trace);
        if (source->reading.trace) trace_abandon(source->reading.trace);
        pthread_cond_broadcast(&source->changed);
        pthread_mutex_unlock(&source->lock);
        pthread_join(source->thread, NULL);
    }
    launched_drop(&source->next);
    launched_drop(&source->reading);
    source->started = source->over = source->told = source->resting = false;
    source->taken = source->handed_over = 0;
    source->violations = 0;
    source->violation.set = false;
}

/* --- the machine's side --- */

static bool has_launched(const struct program_source *source) { return source->next.trace || source->over; }
static bool is_resting(const struct program_source *source) { return source->resting || source->over; }

/* Waits for the program's thread; false if the reader gives up. */
static bool await(struct program_source *source, bool (*ready)(const struct program_source *source)) {
    bool patient = true;
    pthread_mutex_lock(&source->lock);
    while (!ready(source) && patient) {
        struct timespec until = deadline_in(DEADLINE_PATIENCE_MS);
        int woken = pthread_cond_timedwait(&source->changed, &source->lock, &until);
        if (woken != ETIMEDOUT || !source->source.patience) continue;
        pthread_mutex_unlock(&source->lock);
        patient = source->source.patience(source->source.patience_user);
        pthread_mutex_lock(&source->lock);
    }
    pthread_mutex_unlock(&source->lock);
    return patient;
}

/* Resumes the program, in step. */
static void wake(struct program_source *source) {
    pthread_mutex_lock(&source->lock);
    source->resting = false;
    pthread_cond_broadcast(&source->changed);
    pthread_mutex_unlock(&source->lock);
}

static bool was_cut(const struct program_source *source) {
    return source->reading.trace && trace_was_cut(source->reading.trace);
}

static void violations_add(struct program_source *source, const struct emu_counts *counts) {
    if (!counts || !counts->read_only_violations) return;
    if (!source->violations) source->violation = counts->violation;
    source->violations += counts->read_only_violations;
}

/* Before launch `taken + 1` is taken: the program may begin with the one after it. */
static void note_unread(struct program_source *source) {
    const struct stream_source *base = &source->source;
    pthread_mutex_lock(&source->lock);
    for (uint64_t n = source->taken + 1; n <= source->taken + 2; n++)
        source->unread[n % 2] = base->reads && !base->reads(base->reads_user, n);
    pthread_mutex_unlock(&source->lock);
}

static bool next_kernel(struct stream_source *base, struct kernel *kernel) {
    struct program_source *source = (struct program_source *)base;
    if (source->told || was_cut(source)) return false;
    note_unread(source);
    if (source->reading.trace) trace_abandon(source->reading.trace);
    source->started ? wake(source) : start(source);
    if (!await(source, has_launched)) return false; /* emulation of the kernel read is complete */
    violations_add(source, source->reading.counts); /* its launch has returned to the program */
    launched_drop(&source->reading);
    source->reading = source->next;
    source->told = !source->reading.trace;
    if (source->told) return false;
    source->taken++;
    trace_set_patience(source->reading.trace, base->patience, base->patience_user);
    *kernel = source->reading.kernel;
    pthread_mutex_lock(&source->lock);
    source->next.trace = NULL;
    source->next.counts = NULL;
    pthread_cond_broadcast(&source->changed);
    pthread_mutex_unlock(&source->lock);
    return !base->in_step || await(source, is_resting);
}

static void open_warp(struct stream_source *base, struct warp_stream *warp) {
    trace_open(((struct program_source *)base)->reading.trace, warp);
}

static void refill(struct stream_source *base, struct warp_stream *warp) {
    trace_refill(((struct program_source *)base)->reading.trace, warp);
}

static void restart(struct stream_source *base) {
    struct program_source *source = (struct program_source *)base;
    if (!source->started && !source->told) return;
    stop(source);
    struct device print_to = source->host.device;
    uint64_t budget = source->host.budget;
    host_close(&source->host);
    host_open(&source->host, &print_to);
    source->host.budget = budget;
    if (source->checkpoint) checkpoint_rewind(source->checkpoint, &source->host.err);
}

/* A trace is cut either by its reader, which then has the error, or after its failed writer has finished it; in both
 * cases the error is set and does not change. */
static const char *failure(const struct stream_source *base) {
    const struct program_source *source = (const struct program_source *)base;
    const char *unread = source->reading.trace ? trace_failure(source->reading.trace) : NULL;
    if (unread) return unread;
    bool seen = source->told || was_cut(source);
    return seen && source->host.err.set ? source->host.err.text : NULL;
}

static uint64_t violations(const struct stream_source *base, struct error *first) {
    const struct program_source *source = (const struct program_source *)base;
    if (source->violations) error_set(first, "%s", source->violation.text);
    return source->violations;
}

static const char *check(struct stream_source *base, struct error *found) {
    struct program_source *source = (struct program_source *)base;
    struct host *host = program_source_host(base);
    if (!source->program.check || !host || host_failed(host)) return "none";
    bool passed = source->program.check(source->program.user, host) && !host->err.set;
    if (host->err.set) error_set(found, "%s", host->err.text);
    host->err.set = false;
    return passed ? "passed" : "failed";
}

static void destroy(struct stream_source *base) {
    struct program_source *source = (struct program_source *)base;
    stop(source);
    host_close(&source->host);
    if (source->checkpoint) checkpoint_destroy(source->checkpoint);
    if (source->program.release) source->program.release(source->program.user);
    pthread_cond_destroy(&source->changed);
    pthread_mutex_destroy(&source->lock);
    free(source);
}

static const struct stream_ops stream_ops = {
    .name = "program",
    .next_kernel = next_kernel,
    .open = open_warp,
    .refill = refill,
    .restart = restart,
    .failure = failure,
    .violations = violations,
    .check = check,
    .destroy = destroy,
};

struct stream_source *program_source_create(const struct host_program *program) {
    struct program_source *source = mem_alloc(1, sizeof *source);
    source->source.ops = &stream_ops;
    source->program = *program;
    pthread_mutex_init(&source->lock, NULL);
    deadline_condition(&source->changed);
    host_open(&source->host, &(struct device){0});
    return &source->source;
}

void program_source_print(struct stream_source *base, void (*print)(void *user, const char *text, size_t bytes),
                          void *user) {
    struct program_source *source = (struct program_source *)base;
    source->host.device.print = print;
    source->host.device.print_user = user;
}

bool program_source_checkpoint(struct stream_source *base, struct checkpoint *checkpoint) {
    if (base->ops != &stream_ops) return false;
    ((struct program_source *)base)->checkpoint = checkpoint;
    return true;
}

bool program_source_budget(struct stream_source *base, uint64_t thread_instructions) {
    if (base->ops != &stream_ops) return false;
    ((struct program_source *)base)->host.budget = thread_instructions;
    return true;
}

struct host *program_source_host(struct stream_source *base) {
    struct program_source *source = (struct program_source *)base;
    return source->told ? &source->host : NULL;
}

/* --- host operations --- */

bool host_fail(struct host *host, const char *format, ...) {
    char text[sizeof host->err.text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set(&host->err, "%s", text);
}

bool host_failed(const struct host *host) { return host->err.set || atomic_load(&host->stop); }
const char *host_failure(const struct host *host) { return host->err.set ? host->err.text : NULL; }

unsigned host_module(struct host *host, const char *name, const char *text, size_t bytes) {
    return host_module_at(host, name, text, bytes, NULL);
}

unsigned host_module_at(struct host *host, const char *name, const char *text, size_t bytes,
                        const struct image_place *place) {
    if (host_failed(host)) return 0;
    struct ptx_module *module = ptx_parse(name, text, bytes, &host->err);
    struct loaded_module *loaded = module ? device_load_at(&host->device, module, place, &host->err) : NULL;
    if (!loaded) return 0;
    host->modules = mem_grow(host->modules, host->module_count + 1, sizeof *host->modules);
    host->modules[host->module_count++] = loaded;
    return host->module_count;
}

struct device *host_device(struct host *host) {
    return &host->device;
}

const struct program *host_program_of(const struct host *host, unsigned module) {
    assert(module >= 1 && module <= host->module_count);
    return loaded_program(host->modules[module - 1]);
}

uint64_t host_alloc(struct host *host, uint64_t bytes) {
    if (host_failed(host)) return 0;
    uint64_t address = memory_allocate(&host->device.memory, bytes);
    if (!address) host_fail(host, "cannot allocate %llu bytes of device memory", (unsigned long long)bytes);
    return address;
}

void host_place(struct host *host, uint64_t address, uint64_t bytes) {
    if (!host_failed(host) && !memory_place(&host->device.memory, address, bytes))
        host_fail(host, "cannot allocate %llu bytes of device memory at 0x%llx", (unsigned long long)bytes,
                  (unsigned long long)address);
}

void *host_memory(struct host *host, uint64_t address, uint64_t bytes) {
    if (host_failed(host)) return NULL;
    void *at = memory_at(&host->device.memory, address, bytes);
    if (!at)
        host_fail(host, "%llu bytes at 0x%llx are not within one allocation of device memory",
                  (unsigned long long)bytes, (unsigned long long)address);
    return at;
}

void host_write(struct host *host, uint64_t to, const void *from, uint64_t bytes) {
    void *at = bytes ? host_memory(host, to, bytes) : NULL;
    if (at) memcpy(at, from, bytes);
}

uint64_t host_symbol(struct host *host, const char *name, uint64_t *bytes) {
    for (unsigned m = host->module_count; m-- > 0 && !host_failed(host);) {
        const struct program *program = loaded_program(host->modules[m]);
        for (uint32_t i = 0; i < program->variable_count; i++) {
            if (strcmp(program->variables[i].name, name) != 0) continue;
            if (bytes) *bytes = program->variables[i].size_bytes;
            return program->variables[i].address;
        }
    }
    if (!host_failed(host)) host_fail(host, "no loaded module has a variable %s", name);
    return 0;
}

uint64_t host_texture(struct host *host, const struct image *image, const struct sampler *sampler) {
    return host_failed(host) ? 0 : texture_create(&host->device, image, sampler, &host->err);
}

uint64_t host_surface(struct host *host, const struct image *image) {
    return host_failed(host) ? 0 : surface_create(&host->device, image, &host->err);
}

void host_bind(struct host *host, const char *name, uint64_t handle) {
    uint64_t bytes = 0, address = host_symbol(host, name, &bytes);
    if (address && bytes != sizeof handle)
        host_fail(host, "%s has %llu bytes; a reference has %zu", name, (unsigned long long)bytes, sizeof handle);
    else if (address)
        host_write(host, address, &handle, sizeof handle);
}

/* The parameter block, or NULL with a failure if the arguments do not match the kernel's parameters. */
static uint8_t *make_parameters(struct host *host, const struct program *program, const struct program_function *kernel,
                                const struct host_launch *launch) {
    uint8_t *block = mem_alloc(kernel->parameter_bytes + 1, 1);
    struct program_parameter parameter;
    unsigned count = 0;
    for (; program_parameter(program, kernel, count, &parameter); count++) {
        if (count >= launch->argument_count) continue;
        const struct host_argument *argument = &launch->arguments[count];
        if (argument->size_bytes != parameter.size_bytes)
            host_fail(host, "kernel %s: argument %u has %u bytes, but parameter %s has %u", kernel->name, count,
                      argument->size_bytes, parameter.name, parameter.size_bytes);
        else
            memcpy(block + parameter.offset, argument->bytes ? argument->bytes : &argument->u8, argument->size_bytes);
    }
    if (count != launch->argument_count)
        host_fail(host, "kernel %s has %u parameters, but %u arguments are given", kernel->name, count,
                  launch->argument_count);
    if (!host->err.set) return block;
    free(block);
    return NULL;
}

/* Whether the launch can be traced; emu_run checks whether it fits the kernel. */
static bool launch_is_sane(struct host *host, const struct launch *launch) {
    const uint32_t *grid = launch->grid, *block = launch->block;
    double ctas = (double)grid[0] * grid[1] * grid[2], threads = (double)block[0] * block[1] * block[2];
    if (ctas >= 1 && ctas <= INT32_MAX && threads >= 1 && threads <= 1024) return true;
    return host_fail(host, "kernel %s: %ux%ux%u CTAs of %ux%ux%u threads; expected 1 to %d CTAs of 1 to 1024",
                     launch->kernel->name, grid[0], grid[1], grid[2], block[0], block[1], block[2], INT32_MAX);
}

/* Offers the launch to the machine once it has started the previous one; false if it is not needed. `unread`: the machine
 * will not read it. */
static bool hand_over(struct program_source *source, const struct launched *launched, bool *unread) {
    pthread_mutex_lock(&source->lock);
    while (source->next.trace && !atomic_load(&source->host.stop)) pthread_cond_wait(&source->changed, &source->lock);
    bool wanted = !atomic_load(&source->host.stop);
    if (wanted) source->next = *launched;
    *unread = source->unread[++source->handed_over % 2];
    pthread_cond_broadcast(&source->changed);
    pthread_mutex_unlock(&source->lock);
    return wanted;
}

/* Waits until the machine requests the next launch. */
static void rest(struct program_source *source) {
    pthread_mutex_lock(&source->lock);
    source->resting = true;
    pthread_cond_broadcast(&source->changed);
    while (source->resting && !atomic_load(&source->host.stop)) pthread_cond_wait(&source->changed, &source->lock);
    pthread_mutex_unlock(&source->lock);
}

/* A broken promise ends the program after its kernel. */
static void promise_check(struct host *host, const struct emu_counts *counts) {
    uint64_t lines = counts->read_only_violations;
    if (lines)
        host_fail(host, "%s (%llu line%s of 128 bytes in this kernel; with --on-violation warn, the run continues)",
                  counts->violation.text, (unsigned long long)lines, lines == 1 ? "" : "s");
}

/* Memory for barriers of the grid, as CUDA's cooperative groups expect it: the size, then the barrier, at first zero. A
 * barrier leaves it ready for the next one. */
static uint64_t workspace_of(struct host *host) {
    enum { WORKSPACE_BYTES = 256 };
    const uint32_t size = WORKSPACE_BYTES;
    if (!host->workspace) {
        host->workspace = host_alloc(host, size);
        host_write(host, host->workspace, &size, sizeof size);
    }
    return host->workspace;
}

/* The limits of emulation for the next launch. */
static void set_limits(struct host *host, bool unread) {
    const uint64_t limit = host->limit;
    host->device.limit = source_of(host)->source.in_step && !unread ? limit : 0;
    host->device.patience = limit && unread ? max_u64(limit, UNTIMED_INSTRUCTIONS) : 0;
    host->device.budget = host->budget ? host->budget - host->executed : 0;
}

/* Accounts for a launch; after one that was cut the program ends. */
static void launch_ended(struct host *host, const struct emu_counts *counts) {
    host->executed += counts->thread_instructions;
    if (counts->cut || (host->budget && host->executed >= host->budget)) atomic_store(&host->stop, true);
}

static uint32_t at_least_one(uint32_t n) { return n ? n : 1; }

static void run_kernel(struct host *host, const struct loaded_module *module, const struct program_function *kernel,
                       const struct host_launch *asked, const uint8_t *parameters) {
    const struct program *program = loaded_program(module);
    struct launch launch = {
        .module = module,
        .kernel = kernel,
        .grid = {asked->grid.x, at_least_one(asked->grid.y), at_least_one(asked->grid.z)},
        .block = {asked->block.x, at_least_one(asked->block.y), at_least_one(asked->block.z)},
        .cluster = {asked->cluster.x, asked->cluster.y, asked->cluster.z},
        .dynamic_shared_bytes = asked->dynamic_shared_bytes,
        .parameters = parameters,
    };
    if (!launch_is_sane(host, &launch)) return;
    if (asked->cooperative) launch.workspace = workspace_of(host);
    if (host_failed(host)) return;
    uint32_t cluster_ctas = emu_cluster(&launch, &host->err);
    if (!cluster_ctas) return;
    struct emu_counts unwanted, *counts = asked->counts ? asked->counts : &unwanted;
    *counts = (struct emu_counts){0};
    set_limits(host, true);
    host->launches++;
    struct checkpoint *checkpoint = source_of(host)->checkpoint;
    if (checkpoint && host->launches <= checkpoint_launches(checkpoint)) {
        checkpoint_launch(checkpoint, &host->device, &launch, counts, &host->err);
        launch_ended(host, counts);
        return;
    }
    if (asked->untimed) {
        emu_run(&host->device, &launch, NULL, counts, &host->err);
        launch_ended(host, counts);
        return;
    }
    struct launched launched = {.kernel = {.number = host->launches,
                                           .registers = asked->registers ? asked->registers : kernel->registers,
                                           .shared_bytes = kernel->shared_bytes + asked->dynamic_shared_bytes,
                                           .cooperative = asked->cooperative,
                                           .cluster_ctas = cluster_ctas,
                                           .atomics = instr_any_atomic(program->records, program->record_count),
                                           .tensor = instr_any_tensor(program->records, program->record_count)}};
    snprintf(launched.kernel.name, sizeof launched.kernel.name, "%s", kernel->name);
    memcpy(launched.kernel.grid, launch.grid, sizeof launch.grid);
    memcpy(launched.kernel.block, launch.block, sizeof launch.block);
    launched.trace = trace_create(&launched.kernel, program->records, program->record_count, TRACE_MEMORY_BYTES);
    launched.counts = mem_alloc(1, sizeof *launched.counts);
    struct program_source *source = source_of(host);
    if (!source->source.in_step) trace_limit(launched.trace, TRACE_UNREAD_BYTES);
    bool unread;
    if (!hand_over(source, &launched, &unread)) {
        launched_drop(&launched);
        return;
    }
    set_limits(host, unread);
    bool good = emu_run(&host->device, &launch, launched.trace, launched.counts, &host->err);
    if (good && source->source.violations_fail) promise_check(host, launched.counts);
    if (asked->counts) *asked->counts = *launched.counts;
    launch_ended(host, launched.counts);
    trace_finish(launched.trace, good && !launched.counts->cut);
    if (source->source.in_step) rest(source);
}

void host_launch(struct host *host, const struct host_launch *launch) {
    for (unsigned m = host->module_count; m-- > 0 && !host_failed(host);) {
        const struct program *program = loaded_program(host->modules[m]);
        const struct program_function *kernel = program_kernel(program, launch->kernel);
        if (!kernel || (launch->module && launch->module != m + 1)) continue;
        uint8_t *parameters = make_parameters(host, program, kernel, launch);
        if (parameters) run_kernel(host, host->modules[m], kernel, launch, parameters);
        free(parameters);
        return;
    }
    if (!host_failed(host)) host_fail(host, "no loaded module has a kernel %s", launch->kernel);
}
