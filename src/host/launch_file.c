/* A launch file is read by tables of its keys (config/yaml_reader.h) and checked completely before anything runs,
 * including the PTX and the fit of every launch. Running it is then short: buffers, fills, launches.
 *
 * Not supported: expressions, loops over sizes, copies between launches. Use a program for these. */
#include "host/launch_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/launch_parts.h"

/* --- contents of a file --- */

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

/* --- reading --- */

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
    [ARGUMENT_SCALAR] = ROW(P_CHOICE(struct argument, scalar, launch_elements, "u32", "")),
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
    [FILE_BUFFERS] = NESTED(struct launch_file, buffers, launch_read_buffers),
    [FILE_VARIABLES] = NESTED(struct launch_file, variables, launch_read_variables),
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

static bool read_file(struct launch_file *file, struct error *err) {
    size_t bytes;
    char *text = launch_read_input(file, file->path, &bytes, err);
    if (!text) return false;
    struct yaml_reader reader;
    yaml_reader_open(&reader, file->path, text, bytes, err);
    bool read = read_document(file, &reader);
    yaml_reader_close(&reader);
    return read;
}

/* --- checking --- */

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
        if (!launch_check_literal(file, &argument->value, argument->scalar, &number, err)) return false;
        launch_store((const struct element *)argument->scalar, number, argument->content);
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
    bool good = launch_check_buffers(file, &device.memory, err);
    if (good) file->ptx_text = launch_read_input(file, file->ptx_path, &file->ptx_bytes, err);
    if (file->ptx_text) module = ptx_parse(file->ptx_path, file->ptx_text, file->ptx_bytes, err);
    if (module && module->warning) file->warning = arena_text(file->arena, module->warning, strlen(module->warning));
    if (module) loaded = device_load(&device, module, err);
    good = loaded && launch_check_variables(file, loaded_program(loaded), err) &&
           launch_textures_check(&file->textures, file->path, launch_find_region, file, &device, loaded_program(loaded),
                                 err) &&
           check_launches(file, loaded_program(loaded), err);
    if (loaded) device_unload(&device, loaded);
    device_release(&device);
    return good;
}

static bool find_ptx(struct launch_file *file, const char *ptx, struct error *err) {
    if (ptx)
        file->ptx_path = mem_text(ptx);
    else if (file->ptx)
        file->ptx_path = launch_relative_path(file, file->ptx);
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
    for (unsigned i = 0; launch_buffer_at(file, i); i++) launch_fill_buffer(host, launch_buffer_at(file, i));
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

static bool verify(void *user, struct host *host) {
    const struct launch_file *file = user;
    const struct buffer *buffer;
    for (unsigned i = 0; (buffer = launch_buffer_at(file, i)); i++)
        if (!launch_verify_buffer(host, buffer)) return false;
    return true;
}

struct stream_source *launch_file_source(const struct launch_file *file) {
    bool verifies = false;
    for (unsigned i = 0; launch_buffer_at(file, i); i++) verifies |= launch_buffer_verifies(launch_buffer_at(file, i));
    return program_source_create(&(struct host_program){
        .name = file->name, .run = run, .check = verifies ? verify : NULL, .user = (void *)(uintptr_t)file});
}

bool launch_file_dump(const struct launch_file *file, struct stream_source *source, unsigned index,
                      struct launch_dump *dump) {
    const struct buffer *buffer;
    for (unsigned i = 0; (buffer = launch_buffer_at(file, i)); i++) {
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
