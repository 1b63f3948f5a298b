#include "cuda/executable.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda/fatbin.h"

static const char *const runtimes[] = {"libcudart.so.10.2", "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"};

struct image {
    const uint8_t *bytes;
    size_t size;
    Elf64_Ehdr head;
};

struct part {
    const uint8_t *bytes; /* NULL: absent, or not within the file */
    size_t size;
};

static struct part part_at(const struct image *image, uint64_t offset, uint64_t size) {
    if (offset > image->size || size > image->size - offset) return (struct part){0};
    return (struct part){image->bytes + offset, (size_t)size};
}

static bool section_read(const struct image *image, unsigned index, Elf64_Shdr *section) {
    struct part part = part_at(image, image->head.e_shoff + (uint64_t)index * sizeof *section, sizeof *section);
    if (index >= image->head.e_shnum || !part.bytes) return false;
    memcpy(section, part.bytes, sizeof *section);
    return true;
}

static struct part section_content(const struct image *image, unsigned index) {
    Elf64_Shdr section;
    if (!section_read(image, index, &section) || section.sh_type == SHT_NOBITS) return (struct part){0};
    return part_at(image, section.sh_offset, section.sh_size);
}

/* The string at an offset of a string table; "" if it does not end there. */
static const char *text_at(struct part table, uint64_t offset) {
    if (!table.bytes || offset >= table.size || !memchr(table.bytes + offset, 0, table.size - offset)) return "";
    return (const char *)table.bytes + offset;
}

static struct part section_named(const struct image *image, const char *name) {
    struct part names = section_content(image, image->head.e_shstrndx);
    Elf64_Shdr section;
    for (unsigned i = 0; section_read(image, i, &section); i++)
        if (strcmp(text_at(names, section.sh_name), name) == 0) return section_content(image, i);
    return (struct part){0};
}

/* Libraries and paths of the dynamic section. */
static void read_dynamic(const struct image *image, struct cuda_executable *found) {
    Elf64_Shdr section;
    for (unsigned i = 0; section_read(image, i, &section); i++) {
        if (section.sh_type != SHT_DYNAMIC) continue;
        struct part content = section_content(image, i), names = section_content(image, section.sh_link);
        for (size_t at = 0; content.bytes && at + sizeof(Elf64_Dyn) <= content.size; at += sizeof(Elf64_Dyn)) {
            Elf64_Dyn entry;
            memcpy(&entry, content.bytes + at, sizeof entry);
            const char *text = text_at(names, entry.d_un.d_val);
            if (entry.d_tag == DT_RPATH) found->rpath = true;
            if (entry.d_tag != DT_NEEDED || strncmp(text, "libcudart.so", 12) != 0) continue;
            size_t length = strnlen(text, sizeof found->runtime - 1);
            memcpy(found->runtime, text, length);
            found->runtime[length] = '\0';
        }
    }
}

static bool has_ptx(struct part section, struct error *err) {
    struct fatbin fatbin = fatbin_open(section.bytes, section.size);
    struct fatbin_entry entry;
    bool found = false;
    while (fatbin_next(&fatbin, &entry, err)) found |= entry.kind == FATBIN_PTX;
    return found;
}

static bool is_supported(const char *runtime) {
    for (size_t i = 0; i < COUNT_OF(runtimes); i++)
        if (strcmp(runtime, runtimes[i]) == 0) return true;
    return false;
}

bool cuda_executable_check(const char *path, const void *bytes, size_t size, struct cuda_executable *found,
                           struct error *err) {
    struct image image = {.bytes = bytes, .size = size};
    *found = (struct cuda_executable){0};
    if (size >= sizeof image.head) memcpy(&image.head, bytes, sizeof image.head);
    const unsigned char *ident = image.head.e_ident;
    if (memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB ||
        (image.head.e_type != ET_EXEC && image.head.e_type != ET_DYN))
        return error_set(err, "%s: not a 64-bit ELF executable; `sluice exec` runs programs that nvcc has built", path);
    struct part code = section_named(&image, ".nv_fatbin");
    if (section_named(&image, "__nv_relfatbin").bytes)
        return error_set(err, "%s: relocatable device code is not supported; rebuild the program without -rdc=true",
                         path);
    if (!code.bytes || code.size == 0)
        return error_set(err, "%s: the program has no device code (section .nv_fatbin)", path);
    read_dynamic(&image, found);
    if (!found->runtime[0])
        return error_set(err,
                         "%s: the program is linked with the static CUDA runtime; rebuild it with"
                         " nvcc -cudart shared -gencode arch=compute_75,code=compute_75",
                         path);
    if (!is_supported(found->runtime))
        return error_set(err, "%s: the program needs %s; rebuild it with CUDA 10.2, 11, 12 or 13", path,
                         found->runtime);
    struct error damage = {0};
    if (has_ptx(code, &damage)) return true;
    if (damage.set) return error_set(err, "%s: %s", path, damage.text);
    return error_set(err,
                     "%s: the program has machine code but no PTX; rebuild it with"
                     " nvcc -cudart shared -gencode arch=compute_75,code=compute_75",
                     path);
}

bool cuda_executable_read(const char *path, struct cuda_executable *found, struct error *err) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) {
        if (file >= 0) close(file);
        return error_set(err, "cannot read %s: %s", path, strerror(errno));
    }
    size_t size = S_ISREG(status.st_mode) ? (size_t)status.st_size : 0;
    void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    close(file);
    if (bytes == MAP_FAILED) return error_set(err, "%s: not a 64-bit ELF executable", path);
    bool good = cuda_executable_check(path, bytes, size, found, err);
    munmap(bytes, size);
    return good;
}
