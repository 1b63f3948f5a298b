/* Embeds a file of the source tree in the program, as symbols NAME and NAME_end; a zero byte follows, so text is a
 * string. The assembler searches the path in its include directories (-Wa,-I). Link-time optimisation does not see
 * these symbols: a source that embeds is compiled without it (CMakeLists.txt). */
#ifndef SLUICE_BASE_EMBED_H
#define SLUICE_BASE_EMBED_H

#define EMBED(symbol, path) \
    __asm__(".section .rodata\n.global " #symbol ", " #symbol "_end\n.hidden " #symbol ", " #symbol "_end\n" #symbol \
            ":\n.incbin \"" path "\"\n" #symbol "_end:\n.byte 0\n.previous\n"); \
    extern const char symbol[], symbol##_end[]

#endif
