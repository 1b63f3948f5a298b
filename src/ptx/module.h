/* PTX module: the parsed form of PTX text, input of lowering and analyses. Names are resolved (registers, variables,
 * labels and functions are indices); instructions are not interpreted: an instruction is its mnemonic, its modifiers in
 * source order and its operands. Every part has a position for error messages.
 *
 * Grammar and semantics: NVIDIA, "Parallel Thread Execution ISA" 9.0. */
#ifndef SLUICE_PTX_MODULE_H
#define SLUICE_PTX_MODULE_H

#include "base/base.h"
#include "base/error.h"

enum ptx_type {
#define X(name, bits, kind) PTX_##name,
#include "ptx/types.def"
#undef X
    PTX_TYPE_COUNT,
};

enum ptx_type_kind { PTX_BITS, PTX_UNSIGNED, PTX_SIGNED, PTX_FLOAT, PTX_PACKED, PTX_PREDICATE, PTX_OPAQUE };

unsigned ptx_type_bits(enum ptx_type type);
static inline unsigned ptx_type_bytes(enum ptx_type type) { return (ptx_type_bits(type) + 7) / 8; }
enum ptx_type_kind ptx_type_kind(enum ptx_type type);
const char *ptx_type_name(enum ptx_type type);

enum ptx_space {
    PTX_SPACE_GENERIC, /* no space given */
    PTX_SPACE_GLOBAL,
    PTX_SPACE_CONST,
    PTX_SPACE_SHARED,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM,
    PTX_SPACE_COUNT,
};

/* Mnemonics and modifiers are tables (mnemonics.def, modifiers.def); an instruction that Sluice knows but does not
 * execute is marked there. PTX_MN_unknown and PTX_MOD_other represent all that are not in the tables. The operands of an
 * instruction that is not executed, or has such a modifier, are skipped as text. */
enum ptx_mnemonic {
#define X(name, support) PTX_MN_##name,
#include "ptx/mnemonics.def"
#undef X
    PTX_MN_COUNT,
};

enum ptx_modifier {
#define X(name, text, class, value) PTX_MOD_##name,
#include "ptx/modifiers.def"
#undef X
    PTX_MOD_COUNT,
};

/* Modifier classes; `value` belongs to the enumeration of the class. */
enum ptx_modifier_class {
    PTX_CLASS_TYPE,      /* enum ptx_type */
    PTX_CLASS_SPACE,     /* enum ptx_space */
    PTX_CLASS_ROUNDING,  /* enum rounding, program.h */
    PTX_CLASS_COMPARE,   /* enum compare */
    PTX_CLASS_BOOLEAN,   /* enum boolean */
    PTX_CLASS_VECTOR,    /* 2, 4, 8 */
    PTX_CLASS_CACHE,     /* .ca .cg .cs .lu .cv .wb .wt .nc .ro */
    PTX_CLASS_SEMANTICS, /* .weak .volatile .relaxed .acquire .release .acq_rel .sc .mmio */
    PTX_CLASS_SCOPE,     /* .cta .cluster .gpu .gl .sys */
    PTX_CLASS_HINT,      /* .L1::evict_first, .L2::128B etc.: accepted, without effect */
    PTX_CLASS_ATOMIC,    /* enum atomic */
    PTX_CLASS_SHAPE,     /* of a matrix product: m << 20 | n << 10 | k */
    PTX_CLASS_MODE,      /* all others: .lo .hi .wide .sat .ftz .approx .full .cc .sync .aligned .uni .up .down ... */
    PTX_CLASS_OTHER,
};

const char *ptx_mnemonic_name(enum ptx_mnemonic mnemonic);
bool ptx_mnemonic_supported(enum ptx_mnemonic mnemonic);
bool ptx_mnemonic_partly(enum ptx_mnemonic mnemonic);      /* some of its forms are */
const char *ptx_modifier_text(enum ptx_modifier modifier); /* without its dot */
enum ptx_modifier_class ptx_modifier_class(enum ptx_modifier modifier);
unsigned ptx_modifier_value(enum ptx_modifier modifier);

/* Line and column count from 1; `offset` is the byte in the text. */
struct ptx_place {
    uint32_t line, column, offset;
};

enum ptx_operand_kind {
    PTX_OPERAND_REGISTER, /* index: of the function's registers; value: added to it */
    PTX_OPERAND_SPECIAL,  /* index: enum special, program.h */
    PTX_OPERAND_INTEGER,  /* value */
    PTX_OPERAND_FLOAT,    /* value: bits of a double; `single`: written as 0f..., bits of a float */
    PTX_OPERAND_VARIABLE, /* index: of the module's variables; value: offset */
    PTX_OPERAND_FUNCTION, /* index: of the module's functions: a call's target, or its address */
    PTX_OPERAND_LABEL,    /* index: of the function's labels */
    PTX_OPERAND_TARGETS,  /* index: of the function's target lists (.branchtargets, .calltargets, .callprototype) */
    PTX_OPERAND_ADDRESS,  /* [x + value]: one element, a register, variable or integer */
    PTX_OPERAND_VECTOR,   /* {a, b, ...}: count elements from `first` in the function's operands */
    PTX_OPERAND_PAIR,     /* p|q: two elements */
    PTX_OPERAND_LIST,     /* (a, b, ...) of a call */
    PTX_OPERAND_SINK,     /* _ */
};

struct ptx_operand {
    uint8_t kind;
    bool negated; /* !p */
    bool single;
    uint8_t component; /* of a vector register or special register: 0 = none, 1..4 = x y z w */
    uint32_t index;
    uint32_t first, count; /* ADDRESS, VECTOR, PAIR, LIST: elements in the function's operand pool */
    int64_t value;
    struct ptx_place place;
};

enum { PTX_MODIFIERS = 14 };

struct ptx_instr {
    struct ptx_place place;  /* of the mnemonic, after the guard */
    uint16_t mnemonic;       /* enum ptx_mnemonic */
    uint16_t modifier_count; /* each modifier is an enum ptx_modifier */
    uint16_t modifier[PTX_MODIFIERS];
    uint16_t modifier_column[PTX_MODIFIERS]; /* of its dot; all on the line of the mnemonic */
    bool guarded, guard_negated;
    uint32_t guard;                    /* register */
    uint32_t first, count;             /* operands, in the function's pool */
    uint32_t source_file, source_line; /* of the preceding .loc; 0 = none */
};

struct ptx_register {
    const char *name;
    uint8_t type;   /* enum ptx_type */
    uint8_t vector; /* 0, 2 or 4: .reg .v4 */
    struct ptx_place place;
};

enum ptx_linkage { PTX_LINKAGE_NONE, PTX_LINKAGE_VISIBLE, PTX_LINKAGE_EXTERN, PTX_LINKAGE_WEAK, PTX_LINKAGE_COMMON };

/* A word of an initialiser that is a symbol's address. */
struct ptx_relocation {
    uint64_t offset; /* in the variable */
    uint32_t index;  /* of a variable or function */
    bool is_function;
    bool generic;  /* generic(symbol) */
    uint8_t bytes; /* 1 to 8, the lowest of the address; 4 or 8 except for masks such as 0xFF(symbol) */
    int64_t addend;
};

/* A variable of any space, at module scope, in a function or a parameter. The module has one table of all variables;
 * `function` is the owner. */
struct ptx_variable {
    const char *name;
    uint8_t space;   /* enum ptx_space */
    uint8_t type;    /* of an element */
    uint8_t linkage; /* enum ptx_linkage */
    bool is_parameter, is_return;
    bool unsized;            /* .extern .shared x[]: sized by the launch */
    uint32_t function;       /* index, or PTX_NONE */
    uint32_t register_index; /* of a .reg parameter (space GENERIC): its function's register; otherwise PTX_NONE */
    uint64_t size_bytes;
    uint32_t align_bytes;
    uint8_t *initial; /* size_bytes bytes, or NULL: zeros */
    struct ptx_relocation *relocations;
    uint32_t relocation_count;
    struct ptx_place place;
};

struct ptx_label {
    const char *name;
    uint32_t instr; /* the following instruction; may be the function's instruction count */
    struct ptx_place place;
};

enum ptx_targets_kind { PTX_BRANCH_TARGETS, PTX_CALL_TARGETS, PTX_CALL_PROTOTYPE };

/* A declared list of labels or functions, or the prototype of an indirect call. */
struct ptx_targets {
    const char *name;
    uint8_t kind;    /* enum ptx_targets_kind */
    uint32_t *index; /* labels or functions */
    uint32_t count;
    uint32_t *return_bytes, *parameter_bytes; /* prototype: pairs of size and alignment */
    uint32_t return_count, parameter_count;
    bool in_registers; /* prototype: has .reg parameters or returns */
    struct ptx_place place;
};

struct ptx_function {
    const char *name;
    uint8_t linkage;
    bool is_kernel, has_body, noreturn;
    const char *unknown; /* the first unknown instruction or modifier: a message without its location; NULL: none */
    uint32_t unknown_instr;
    const char *skipped;            /* why its body is not read: a located message; NULL: it is */
    uint32_t *parameters, *returns; /* variables */
    uint32_t parameter_count, return_count;
    struct ptx_register *registers;
    uint32_t register_count;
    struct ptx_instr *instrs;
    uint32_t instr_count;
    struct ptx_operand *operands;
    uint32_t operand_count;
    struct ptx_label *labels;
    uint32_t label_count;
    struct ptx_targets *targets;
    uint32_t target_count;
    uint32_t max_threads[3], required_threads[3]; /* 0 = not given */
    uint32_t min_ctas, max_registers;
    uint32_t required_cluster[3]; /* .reqnctapercluster, CTAs; 0 = not given */
    uint32_t max_cluster_rank;    /* .maxclusterrank; 0 = not given */
    bool explicit_cluster, blocks_are_clusters;
    struct ptx_place place;
};

enum { PTX_NONE = UINT32_MAX };

struct ptx_module {
    const char *file; /* as given by the user */
    const char *text;
    size_t text_bytes;
    const char *warning; /* located: its version or target is newer than Sluice; NULL: none */
    unsigned version_major, version_minor;
    char target[32];
    unsigned address_bits; /* 32 or 64 */
    struct ptx_variable *variables;
    uint32_t variable_count;
    struct ptx_function *functions;
    uint32_t function_count;
    const char **source_files; /* by .file number; NULL if undefined */
    uint32_t source_file_count;
    struct arena *arena; /* owns everything above */
};

/* Parses `bytes` of text (copied). NULL with a located error: file:line:column, problem, source line and caret. */
struct ptx_module *ptx_parse(const char *file, const char *text, size_t bytes, struct error *err);
struct ptx_module *ptx_parse_file(const char *file, struct error *err);
void ptx_module_destroy(struct ptx_module *module);

/* Sets err to "file:line:column: text", the source line and a caret. Returns false. */
bool ptx_error(const struct ptx_module *module, struct ptx_place place, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
