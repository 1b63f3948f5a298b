/* The textures of a launch file: views of its buffers as images, with a sampler. Each becomes a texture object and a
 * surface object of the device. See docs/launch-files.md. */
#ifndef SLUICE_HOST_LAUNCH_TEXTURE_H
#define SLUICE_HOST_LAUNCH_TEXTURE_H

#include "config/yaml_reader.h"
#include "host/source.h"

struct texture_row;
struct device;
struct program;

struct launch_textures {
    struct texture_row *rows;
    unsigned count;
};

/* A buffer of the file. */
struct launch_region {
    int64_t bytes, address;
    int64_t *reserved_bytes; /* memory to allocate for it, at least `bytes` */
};
typedef bool launch_region_find(void *user, const char *name, struct launch_region *region);

/* Reads the value of the key `textures`. */
bool launch_textures_read(struct yaml_reader *reader, struct arena *arena, struct launch_textures *textures);
/* Checks what does not depend on addresses, and reserves memory for arrays. Before buffers are allocated. */
bool launch_textures_reserve(struct launch_textures *textures, const char *path, launch_region_find *find, void *user,
                             struct error *err);
/* Creates the objects on a trial device, where the buffers are allocated: handles are valid afterwards. */
bool launch_textures_check(struct launch_textures *textures, const char *path, launch_region_find *find, void *user,
                           struct device *device, const struct program *program, struct error *err);
/* The same for a run, which yields the same handles, and the references of the loaded module. */
void launch_textures_run(const struct launch_textures *textures, struct host *host);

/* The handle of a texture or of its surface; false with an error if there is none with the name. */
bool launch_textures_handle(const struct launch_textures *textures, const char *path, const char *name, bool surface,
                            struct yaml_place place, uint64_t *handle, struct error *err);
/* Whether a texture has the buffer as an array, which kernels cannot access by pointers. */
bool launch_textures_array(const struct launch_textures *textures, const char *buffer);

#endif
