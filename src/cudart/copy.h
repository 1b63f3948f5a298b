/* Arrays as sides of three-dimensional copies (textures.c, memory.c). */
#ifndef SLUICE_CUDART_COPY_H
#define SLUICE_CUDART_COPY_H

#include <stdbool.h>

#include "cudart/types.h"

/* Where a copy begins, and the distance of its rows and slices, in bytes. */
struct copy_side {
    char *start;
    size_t pitch, slice;
    size_t texel; /* bytes of an element: positions and extents of arrays are in elements */
};

/* False if the texels are not within the array. */
bool array_side(cudaArray_t array, struct cudaPos position, const struct cudaExtent *texels, struct copy_side *side);

#endif
