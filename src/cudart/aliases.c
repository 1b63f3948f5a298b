/* Functions with nothing to do, and names that compilers generate for the functions of the other files: with
 * --default-stream per-thread (_ptsz, _ptds), and in later releases (_v2). An alias jumps to its function, which leaves
 * all arguments where they are. Declared without parameters, since the real ones do not matter. */
#if defined(__x86_64__)
#define JUMP "jmp "
#elif defined(__aarch64__)
#define JUMP "b "
#endif

#define GROUP(...)
#define API(name, parameters)
#define NOTHING(name, parameters) \
    int name(void); \
    int name(void) { return 0; }
#define ALIAS(name, function) __asm__(".globl " #name "\n.type " #name ", %function\n" #name ": " JUMP #function "\n");
#define INNER(name)
#define MISSING(name)
__asm__(".text\n");
#include "cudart/api.def"
