/* Executable PTX: each function is an array of fixed-size operations with resolved registers, immediates and targets,
 * so the emulator never handles names. Lowering (lower.c) builds it from a module. A function with unsupported instructions
 * has none, but a problem, and only launches of kernels that may call it fail.
 *
 * An operand's location is a `place`: 32 bits, two of them selecting one of the warp's blocks, the rest a byte offset:
 *   PLACE_REGISTER  the register window of the running function: a register is 32 consecutive lanes, each as wide as
 *                   the register (2, 4, 8 or 16 bytes; .b8 registers take 2)
 *   PLACE_CONSTANT  the function's constants, replicated over 32 lanes of the operand's width
 *   PLACE_SPECIAL   the warp's fixed special registers (specials.def)
 * Predicates are bits: predicate k of a window is one 32-bit mask; a predicate operand is k << 1 | negated.
 * Predicate 0 is always true. */
#ifndef SLUICE_PTX_PROGRAM_H
#define SLUICE_PTX_PROGRAM_H

#include <stdio.h>

#include "ptx/module.h"
#include "stream/stream.h"

enum operation {
#define X(name, class) OPERATION_##name,
#include "ptx/operations.def"
#undef X
    OPERATION_COUNT,
};

enum special {
#define X(name, text, vector, kind) SPECIAL_##name,
#include "ptx/specials.def"
#undef X
    SPECIAL_COUNT,
};

enum rounding {
    ROUND_DEFAULT, /* not given: to nearest even if the operation rounds, exact conversion otherwise */
    ROUND_RN,
    ROUND_RZ,
    ROUND_RM,
    ROUND_RP,
    ROUND_RNA,
    ROUND_RNI, /* to an integer */
    ROUND_RZI,
    ROUND_RMI,
    ROUND_RPI,
};

enum compare {
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LT,
    COMPARE_LE,
    COMPARE_GT,
    COMPARE_GE, /* ordered for floats */
    COMPARE_LO,
    COMPARE_LS,
    COMPARE_HI,
    COMPARE_HS, /* unsigned */
    COMPARE_EQU,
    COMPARE_NEU,
    COMPARE_LTU,
    COMPARE_LEU,
    COMPARE_GTU,
    COMPARE_GEU,
    COMPARE_NUM,
    COMPARE_NAN,
};
enum boolean { BOOLEAN_NONE, BOOLEAN_AND, BOOLEAN_OR, BOOLEAN_XOR };
enum testp { TESTP_FINITE, TESTP_INFINITE, TESTP_NUMBER, TESTP_NOTANUMBER, TESTP_NORMAL, TESTP_SUBNORMAL };
enum prmt_mode { PRMT_INDEX, PRMT_F4E, PRMT_B4E, PRMT_RC8, PRMT_ECL, PRMT_ECR, PRMT_RC16 };
enum atomic {
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_EXCH,
    ATOMIC_CAS,
    ATOMIC_ADD,
    ATOMIC_INC,
    ATOMIC_DEC,
    ATOMIC_MIN,
    ATOMIC_MAX,
};
enum bar_red { BAR_RED_POPC, BAR_RED_AND, BAR_RED_OR };
enum shfl { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };
enum vote { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };
enum mbarrier_tx { MBARRIER_EXPECT_TX, MBARRIER_COMPLETE_TX };
enum mbarrier_wait { MBARRIER_TEST_WAIT, MBARRIER_TRY_WAIT };
enum video { VIDEO_ABSDIFF, VIDEO_ADD, VIDEO_SUB, VIDEO_AVRG, VIDEO_MIN, VIDEO_MAX, VIDEO_SET };

enum texture_geometry { GEOMETRY_1D, GEOMETRY_2D, GEOMETRY_3D, GEOMETRY_A1D, GEOMETRY_A2D };
enum surface_boundary { BOUNDARY_TRAP, BOUNDARY_CLAMP, BOUNDARY_ZERO };
/* In the order of the forms of txq and suq. */
enum texture_query {
    QUERY_WIDTH,
    QUERY_HEIGHT,
    QUERY_DEPTH,
    QUERY_CHANNEL_DATA_TYPE,
    QUERY_CHANNEL_ORDER,
    QUERY_ARRAY_SIZE,
    QUERY_NORMALIZED_COORDS,
    QUERY_FORCE_UNNORMALIZED_COORDS,
    QUERY_FILTER_MODE,
    QUERY_ADDR_MODE_0,
    QUERY_ADDR_MODE_1,
    QUERY_ADDR_MODE_2,
    QUERY_NUM_MIPMAP_LEVELS,
    QUERY_MEMORY_LAYOUT,
};

enum op_modifier {
    MOD_FTZ = 1 << 0,
    MOD_SAT = 1 << 1,
    MOD_CC_OUT = 1 << 2,
    MOD_CC_IN = 1 << 3,
    MOD_APPROX = 1 << 4,
    MOD_FULL = 1 << 5,
    MOD_WRAP = 1 << 6,
    MOD_NAN_WINS = 1 << 7,
    MOD_XORSIGN_ABS = 1 << 8,
    MOD_RELU = 1 << 9,
    MOD_THREE = 1 << 10,
    MOD_SHIFTAMT = 1 << 11,
    MOD_HIGH = 1 << 12,
    MOD_ACCUMULATE = 1 << 13,
    MOD_TO = 1 << 14,
    MOD_SYNC = 1 << 15,
    MOD_ALL = 1 << 16,
    MOD_FRAME = 1 << 17,  /* the address is relative to the frame's local base */
    MOD_STATIC = 1 << 18, /* the address is the same for all lanes (no register) */
    MOD_OOB = 1 << 19,
    MOD_UNIFORM = 1 << 20, /* .uni: all active lanes take the same direction */
    MOD_OFFSETS = 1 << 21, /* tex, tld4: offsets follow the coordinates */
    MOD_TRANS = 1 << 22,   /* matrices: .trans; of mma, wmma: .col of A or of the accessed matrix */
    MOD_TRANS_B = 1 << 23, /* mma: .row of B */
    MOD_SATFINITE = 1 << 24,
    MOD_ABS = 1 << 25,
    MOD_WMMA = 1 << 26,    /* matrices: fragments of wmma */
    MOD_CLUSTER = 1 << 27, /* isspacep: also the shared memory of other CTAs of the cluster */
    /* of asynchronous copies and mbarriers, with bits of operations that have none of these */
    MOD_BULK = 1 << 21,
    MOD_SOURCE = 1 << 22, /* .read of a wait for bulk copies */
    MOD_NOINC = 1 << 23,
    MOD_NO_COMPLETE = 1 << 24,
    MOD_EXPECT_TX = 1 << 25,
    MOD_DROP = 1 << 26,
    MOD_PARITY = 1 << 27,
};

enum { PLACE_REGISTER, PLACE_CONSTANT, PLACE_SPECIAL, PLACE_BLOCKS };
enum { PLACE_SHIFT = 30, PLACE_NONE = UINT32_MAX };
static inline uint32_t place_make(unsigned block, uint32_t offset) { return (uint32_t)block << PLACE_SHIFT | offset; }

/* The place of a FIXED special register, `component` 0 to 2 of a vector; PLACE_NONE for a CHANGING one. */
uint32_t special_place(enum special special, unsigned component);
enum { SPECIAL_ROWS = 64 }; /* rows of 32 lanes in a special block */

struct op {
    uint8_t operation;            /* enum operation */
    uint8_t element;              /* enum ptx_type */
    uint8_t source;               /* enum ptx_type: the second type, if any */
    uint8_t rounding;             /* enum rounding */
    uint8_t compare;              /* enum compare, testp */
    uint8_t boolean;              /* enum boolean */
    uint8_t mode;                 /* enumeration of the operation */
    uint8_t space;                /* enum ptx_space */
    uint8_t vector;               /* memory, pack, unpack: elements; 1 = scalar, operands in place */
    uint8_t dst_bytes, src_bytes; /* register width, where it may differ from the type's */
    uint8_t cache;                /* enum cache_operator */
    uint32_t modifiers;           /* enum op_modifier */
    uint32_t guard;               /* predicate operand; 0 = always */
    uint32_t dst, dst2;           /* places or predicates; PLACE_NONE where unused */
    uint32_t a, b, c;
    union {
        uint32_t d;
        uint32_t shape; /* matrices: ptx/matrix.h */
    };
    union {
        uint32_t elements; /* memory, pack, unpack: first of `vector` places in the function's element list;
                            * asynchronous copies: where its addresses begin there */
        uint32_t target;   /* branch: operation; call: function; brx, calls through a list: target list */
    };
    union {
        int64_t immediate;
        struct {
            uint32_t reconverge; /* branches: reconvergence point, an operation or the function's operation count */
            uint32_t arguments;  /* calls: index in the function's argument lists */
        };
    };
    uint32_t line;  /* of the PTX text */
    uint32_t instr; /* of the module's function */
};

/* An address of an asynchronous copy: three words of the function's element list. */
struct op_address {
    uint32_t place, bytes; /* of the base, in each lane */
    int32_t offset;
};
enum { ADDRESS_WORDS = sizeof(struct op_address) / sizeof(uint32_t) };

/* One value passed at a call, or one element of a vector. Each side is an offset in the frame (.param space) or the place
 * of a register (or constant) in the caller's or callee's window; of a predicate, both are predicate operands. */
struct op_argument {
    uint32_t caller, callee, bytes;
    bool caller_is_place, callee_is_place, is_predicate;
};

struct op_call {
    uint32_t first, argument_count; /* copied before the call ... */
    uint32_t return_count;          /* ... and after it; the returns follow the arguments in the list */
};

struct op_targets {
    uint32_t first, count; /* in `target_list` */
};

/* Functions of the device library, available if a module declares them without defining them. */
enum builtin { BUILTIN_NONE, BUILTIN_VPRINTF, BUILTIN_MALLOC, BUILTIN_FREE, BUILTIN_ASSERTFAIL };

struct program_function {
    const char *name;
    bool is_kernel, defined;
    const char *problem; /* why it cannot be executed, a located message; NULL: it can */
    uint32_t *callees;   /* the functions it may call */
    uint32_t callee_count;
    uint8_t builtin; /* enum builtin */
    struct op *ops;
    const struct instr *records; /* the static stream record of each operation */
    uint32_t op_count, first_id; /* records[i].id == first_id + i */
    uint32_t *element_list, *target_list;
    struct op_argument *arguments;
    struct op_call *calls;
    struct op_targets *targets;
    uint32_t element_count, target_list_count, argument_count, call_count, targets_count;
    uint8_t *constants; /* 64-byte aligned */
    uint32_t constant_bytes;
    uint32_t window_bytes; /* registers */
    uint32_t predicates;   /* at least 1: predicate 0 */
    uint32_t frame_bytes;  /* local memory per thread: local variables and .param space of a device function */
    uint32_t shared_bytes; /* kernels: static shared memory, including that of callees */
    uint32_t
        parameter_bytes; /* kernels: the parameter block; device functions: their formals, at the start of the frame */
    uint32_t registers;  /* 32-bit registers per thread, for occupancy: largest number live at once, including calls */
    uint32_t max_threads[3], required_threads[3];
    uint32_t required_cluster[3], max_cluster_rank; /* 0 = not given */
    bool explicit_cluster;
};

/* A module-scope variable of global or constant space, placed in the image. */
struct program_variable {
    const char *name;
    uint8_t space;
    bool visible;
    uint64_t address, size_bytes;
};

struct readonly;

struct program {
    const struct ptx_module *module;
    struct program_function *functions; /* indexed as in the module */
    uint32_t function_count;
    struct instr *records; /* of all functions, by id */
    uint32_t record_count;
    uint64_t image_address; /* module variables: image_bytes from here, to be copied to device memory */
    uint64_t image_bytes;
    uint64_t initial_bytes; /* size of `image`; the remaining variables are zero */
    uint8_t *image;
    struct program_variable *variables;
    uint32_t variable_count;
    struct readonly *readonly; /* read-only data of each kernel (ptx/readonly.h) */
    struct arena *arena;
};

/* Layout of a kernel parameter: offset, size and alignment in the parameter block. */
struct program_parameter {
    const char *name;
    uint8_t type;
    uint32_t offset, size_bytes, align_bytes;
};

/* Generic addresses: windows of shared, local and parameter space; all others are global (and constant) memory. */
#define WINDOW_SHARED UINT64_C(0x0100000000000000)
#define WINDOW_LOCAL  UINT64_C(0x0200000000000000)
#define WINDOW_PARAM  UINT64_C(0x0300000000000000)
#define WINDOW_MASK   UINT64_C(0xFF00000000000000)
/* Base of function "addresses" for indirect calls: this plus 16 times the function's index. */
#define FUNCTION_ADDRESS UINT64_C(0x0400000000000000)
/* Base of the handles of texture and surface objects (emu/texture.h). Other handles are addresses of references. */
#define TEXTURE_HANDLE UINT64_C(0x0500000000000000)

/* Shared memory of the CTA of rank r of a cluster: offsets from (r + 1) << CLUSTER_RANK_SHIFT. */
enum { CLUSTER_RANK_SHIFT = 24 };
/* In 32 bits, the top byte of an address is that of the window, which has 16 MiB; a 32-bit module's own memory is above
 * them. */
#define NARROW_FIRST_ADDRESS UINT64_C(0x05000000)
static inline uint64_t address_narrow(uint64_t address) {
    return address & WINDOW_MASK ? address >> 56 << 24 | (address & 0xFFFFFF) : address;
}
static inline uint64_t address_widen(uint64_t address) {
    uint64_t window = address >> 24;
    return window && address < NARROW_FIRST_ADDRESS ? window << 56 | (address & 0xFFFFFF) : address;
}

/* The module must outlive the program. */
struct program *program_create(const struct ptx_module *module, uint64_t image_address, struct error *err);
void program_destroy(struct program *program);

/* Whether neither the function (a kernel, usually) nor any that it may call has a problem; otherwise `err`, if not NULL,
 * gets the problem. */
bool program_executable(const struct program *program, const struct program_function *function, struct error *err);
/* Sets the problem of a function, unless it has one. */
void program_refuse(struct program *program, uint32_t function, const struct error *why);

const struct program_function *program_kernel(const struct program *program, const char *name);
/* Parameter i of a kernel; false if there is none. */
bool program_parameter(const struct program *program, const struct program_function *kernel, unsigned i,
                       struct program_parameter *parameter);

/* Reports every unsupported instruction of the module; returns their number. `found` may be NULL. */
typedef void program_found(void *user, const struct ptx_function *function, const struct ptx_instr *instr,
                           const char *text);
unsigned program_unsupported(const struct ptx_module *module, program_found *found, void *user);

#endif
