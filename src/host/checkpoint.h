/* Checkpoints: the effects of the first launches of a program on device memory, in a file. A run that restores them
 * executes the host program as always, but applies the recorded effect of each of these launches instead of emulating
 * it. The host program therefore reads what it would read, and decides what it would decide, between launches.
 *
 * An effect is what differs between the state before and after a launch: blocks of memory, allocations by device-side
 * malloc and free, printed text. A launch is identified by its kernel, PTX, dimensions and arguments, and the first one
 * also by the contents of memory before it; a restored launch that differs is an error, since its effect would differ.
 *
 * File: FILE_MAGIC, then for the head and for each launch the size of a zstd frame with a checksum (8 bytes, little
 * endian) and the frame. The file appears under its name when it is complete. */
#ifndef SLUICE_HOST_CHECKPOINT_H
#define SLUICE_HOST_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct checkpoint;
struct device;
struct launch;
struct emu_counts;

/* Records launches 1 to `launches` of a program. */
struct checkpoint *checkpoint_create(const char *path, uint64_t launches, struct error *err);
/* Restores them. An error unless the file is a checkpoint. */
struct checkpoint *checkpoint_open(const char *path, struct error *err);
uint64_t checkpoint_launches(const struct checkpoint *checkpoint);
/* Whether the file has all launches: always when restoring. */
bool checkpoint_complete(const struct checkpoint *checkpoint);

/* The next launch of the program: emulates and records it, or applies its effect. False with an error. */
bool checkpoint_launch(struct checkpoint *checkpoint, struct device *device, const struct launch *launch,
                       struct emu_counts *counts, struct error *err);
/* The program starts again: its launches are restored from here on. */
bool checkpoint_rewind(struct checkpoint *checkpoint, struct error *err);
/* Removes an incomplete file. */
void checkpoint_destroy(struct checkpoint *checkpoint);

#endif
