/* Inside launch files (launch_file.h): what their parts have in common. Texts, numbers and the files that a launch file
 * names are in launch_parts.c, buffers and variables in launch_buffer.c, kernels and launches in launch_file.c. */
#ifndef SLUICE_HOST_LAUNCH_PARTS_H
#define SLUICE_HOST_LAUNCH_PARTS_H

#include "base/arena.h"
#include "config/yaml_reader.h"
#include "emu/emu.h"
#include "host/launch_file.h"
#include "host/launch_texture.h"

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

/* --- texts, numbers, files --- */

#define BLAME(file, place_, err, ...) error_at(err, (file)->path, (place_).line, (place_).column, __VA_ARGS__)

#define TEXT(owner, field) \
    { .param = {.name = #field, .offset = offsetof(owner, field)}, .read = launch_read_text }
#define LITERAL(owner, field) \
    { .param = {.name = #field, .offset = offsetof(owner, field)}, .read = launch_read_literal }
#define NESTED(owner, field, read_) \
    { .param = {.name = #field, .offset = offsetof(owner, field)}, .read = read_ }
#define ROW(...) \
    { .param = __VA_ARGS__ }
#define FORM(name_, noun_, keys_) \
    static const struct yaml_form name_ = {.noun = noun_, .keys = keys_, .count = COUNT_OF(keys_)}

enum element_kind { UNSIGNED, SIGNED, REAL };

/* A type of elements and scalars. */
struct element {
    struct policy policy;
    unsigned bytes;
    enum element_kind kind;
};
extern const struct family launch_elements;
extern const struct element launch_element_u32; /* the default */

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

/* Of tables of keys; `user` is the launch file. */
bool launch_read_text(struct yaml_reader *reader, void *user, void *to);
bool launch_read_literal(struct yaml_reader *reader, void *user, void *to);

/* The number of a literal, if it is given: a valid one of the type (a struct element). */
bool launch_check_literal(const struct launch_file *file, const struct literal *literal, const struct policy *type,
                          struct number *number, struct error *err);
/* The number as the bytes of an element. */
void launch_store(const struct element *element, struct number number, uint8_t *to);

/* A path in the file, relative to the file's directory; to be freed. */
char *launch_relative_path(const struct launch_file *file, const char *path);
/* The content of a file, also as one of the inputs. */
char *launch_read_input(struct launch_file *file, const char *path, size_t *bytes, struct error *err);

/* What the elements of a list belong to. */
struct reading {
    struct launch_file *file;
    void *owner;
};

/* --- buffers and variables --- */

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

/* Of the table of a file's keys. */
bool launch_read_buffers(struct yaml_reader *reader, void *user, void *to);
bool launch_read_variables(struct yaml_reader *reader, void *user, void *to);

/* Checks buffers and places them in the memory of a trial device; checks variables, which a program has. */
bool launch_check_buffers(struct launch_file *file, struct memory *memory, struct error *err);
bool launch_check_variables(struct launch_file *file, const struct program *program, struct error *err);
/* A launch_region_find; `user` is the launch file. */
bool launch_find_region(void *user, const char *name, struct launch_region *region);

/* Buffers, then variables; NULL after the last. */
struct buffer *launch_buffer_at(const struct launch_file *file, unsigned i);
/* Initialises a buffer or variable before the first launch. */
void launch_fill_buffer(struct host *host, const struct buffer *buffer);
/* Whether the file has a statement about the final content, and whether that holds. */
bool launch_buffer_verifies(const struct buffer *buffer);
bool launch_verify_buffer(struct host *host, const struct buffer *buffer);

#endif
