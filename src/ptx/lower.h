/* Shared by the files of lowering. program.c drives them: layout places the variables, forms matches an instruction,
 * lower.c turns its operands into places, families handles irregular instructions, records builds the static stream
 * records, cfg and liveness analyse the result, support decides what can be executed. */
#ifndef SLUICE_PTX_LOWER_H
#define SLUICE_PTX_LOWER_H

#include "base/arena.h"
#include "ptx/program.h"

/* A growing array in an arena. */
struct list {
    void *items;
    uint32_t count, room;
};
void *list_add(struct arena *arena, struct list *list, size_t size); /* appends a zeroed item */

/* ---- forms: the parsed rows of lower_forms.def ---- */

enum { FORM_REFUSED = 1 << 30, FORM_SLOTS = 14, FORM_WORDS = 28, FORM_SHAPES = 7, FORM_TYPES = 4 };

/* Alternative modifiers of which an instruction has exactly one, or at most one. */
struct form_slot {
    bool optional, is_type, is_mode;
    uint8_t count;
    uint16_t word[FORM_WORDS]; /* enum ptx_modifier; PTX_MOD_other is a placeholder */
};

enum shape_rule { SHAPE_FIRST_TYPE, SHAPE_SECOND_TYPE, SHAPE_WIDE, SHAPE_ADDRESS, SHAPE_FIXED };

struct form_shape {
    char role; /* d a b c e m n i h l t */
    uint8_t rule, fixed;
    bool relaxed, vector, pair, optional;
};

struct lowering;
struct form;
typedef bool form_family(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types);

struct form {
    const char *syntax;
    form_family *family;
    uint32_t flags;
    uint8_t operation;
    uint8_t slot_count, shape_count, required; /* number of mandatory shapes */
    bool any_operands;                         /* checked by the family */
    struct form_slot slot[FORM_SLOTS];
    struct form_shape shape[FORM_SHAPES];
};

struct forms {
    struct form *form;
    uint32_t first[PTX_MN_COUNT + 1]; /* the forms of a mnemonic are consecutive */
};

/* An operation whose operands are still to be set. */
struct op op_without_operands(uint8_t operation);

const struct forms *forms_create(struct arena *arena);

/* Matches an instruction to its form and sets the fields of `op` and `types`. NULL if there is none, with the reason in
 * `err` if given. */
const struct form *forms_match(const struct forms *forms, const struct ptx_module *module,
                               const struct ptx_instr *instr, struct op *op, uint8_t types[FORM_TYPES],
                               struct error *err);
bool forms_refused(const struct forms *forms, const struct ptx_module *module, const struct ptx_instr *instr);
/* "atom.add.u32", truncated to fit. */
const char *instr_text(const struct ptx_instr *instr, char *text, size_t size);

/* clang-format off */
#define FAMILIES(X) \
    X(testp) X(video) X(setp) X(set) X(mov) X(cvt) X(memory) X(address) X(texture) X(query) X(barrier) \
    X(cluster) X(branch) X(call) X(leave) X(policy) X(mma) X(ldmatrix) X(wmma_access) X(copy)
/* clang-format on */
#define X(name) form_family lower_##name;
FAMILIES(X)
#undef X

/* ---- layout: addresses of variables ---- */

struct layout {
    uint64_t *address; /* of each variable: in its space, its kernel's parameter block, its function's frame, or for a
                        * .reg formal in its function's window, or the number of the predicate */
    bool *in_frame;    /* `address` is relative to the frame */
    struct list *callees; /* of each function: the functions it names, uint32_t */
    bool *address_taken;  /* functions that an indirect call may reach */
    bool *calls_indirectly;
    bool *is_common; /* shared variables that device functions use */
    uint64_t common_bytes;
    uint64_t dynamic_from; /* start of unsized shared memory, for device functions */
};

/* False if the module's variables cannot be placed. What cannot be placed for one function is a problem of the function. */
bool layout_create(struct program *program, struct arena *scratch, struct layout *layout, struct error *err);
/* Places the shared variables that a function sees; call it before lowering the function's instructions. */
void layout_enter(struct program *program, struct layout *layout, uint32_t function);
static inline uint64_t layout_next(uint64_t offset, uint64_t align_bytes) {
    return align_bytes > 1 ? (offset + align_bytes - 1) / align_bytes * align_bytes : offset;
}

/* ---- lowering of one function ---- */

/* Registers that an operation reads and writes, as spans of one pool: reads first, then writes. */
struct op_registers {
    uint32_t first, read_count, write_count;
};

struct lowering {
    const struct ptx_module *module;
    struct program *program;
    const struct forms *forms;
    struct layout *layout;
    struct arena *arena, *scratch; /* lifetime of the program; of lowering this function */
    struct error *err;

    uint32_t index;
    const struct ptx_function *source;
    struct program_function *function;
    uint32_t *place;   /* of each register, plus 1; 0 = not assigned */
    uint32_t spare[5]; /* scratch places of 1 << i bytes per lane for unused results, plus 1 */
    uint32_t spare_predicate;
    uint32_t *op_of; /* operation of each instruction, and of the end */
    struct list ops, elements, target_list, targets, arguments, calls;
    struct list constants, constant_table; /* bytes; a hash table over them */
    uint32_t constant_count;
    struct list registers;     /* struct op_registers of each operation */
    struct list pool;          /* uint32_t */
    struct list reads, writes; /* of the current operation */
};

bool lower_function(struct lowering *l);
bool lower_fail(struct lowering *l, struct ptx_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For the families: the place of a source. `bytes`, if not NULL, receives the width of its register; if it is not 0 on
 * entry, it gives the width of a constant. */
bool lower_source(struct lowering *l, const struct ptx_operand *operand, enum ptx_type type, bool relaxed,
                  uint32_t *place, uint8_t *bytes);
bool lower_target(struct lowering *l, const struct ptx_operand *operand, enum ptx_type type, bool relaxed,
                  uint32_t *place, uint8_t *bytes);
/* The elements of a vector operand: {a, b, ...}, or a vector register without component; 0 for others. */
unsigned lower_vector_count(const struct lowering *l, const struct ptx_operand *operand);
struct ptx_operand lower_element(const struct lowering *l, const struct ptx_operand *operand, unsigned i);
uint32_t lower_constant(struct lowering *l, uint64_t bits, unsigned bytes);
/* An address of an asynchronous copy, appended to those of the operation. */
bool lower_copy_address(struct lowering *l, const struct ptx_operand *operand, struct op *op);
struct op *lower_emit(struct lowering *l, const struct op *op, const struct ptx_instr *instr);
/* Plain lowering: each operand by its shape. */
bool lower_operands(struct lowering *l, const struct form *form, const struct ptx_instr *instr, struct op *op,
                    const uint8_t *types);
enum ptx_type type_plain(enum ptx_type type); /* bit types become unsigned types */
unsigned register_bytes(enum ptx_type type);  /* per lane */

/* ---- support ---- */

/* Whether all instructions of a function are supported; otherwise the error is located at the first one that is not. */
bool support_check(const struct forms *forms, const struct ptx_module *module, uint32_t f, struct error *err);

/* ---- records ---- */
void record_make(const struct lowering *l, const struct op *op, struct instr *record);
/* Chooses the source registers of an operation that reads more than a record names. `written` is, for each register, the
 * operation that wrote it last, plus 1; operations before `block` are in another block. */
unsigned record_sources(const uint32_t *read, uint32_t count, const uint32_t *written, uint32_t block,
                        uint32_t chosen[INSTR_SRCS]);

#endif
