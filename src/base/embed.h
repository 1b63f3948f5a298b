/* A file of the tree carried by the program, as symbols NAME and NAME_end; a zero byte follows, so that text is a string.
 * The path is looked for in the folders that the assembler is given (-Wa,-I). Link-time optimisation does not see such symbols:
 * a source that embeds is compiled without it (CMakeLists.txt). */
#ifndef SLUICE_BASE_EMBED_H
#define SLUICE_BASE_EMBED_H

#define EMBED(symbol, path) \
    __asm__(".section .rodata\n.global " #symbol ", " #symbol "_end\n.hidden " #symbol ", " #symbol "_end\n" #symbol \
            ":\n.incbin \"" path "\"\n" #symbol "_end:\n.byte 0\n.previous\n"); \
    extern const char symbol[], symbol##_end[]

#endif
