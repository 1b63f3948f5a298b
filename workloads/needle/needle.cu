/* Needleman-Wunsch alignment: the matrix of scores in tiles of 16 x 16, a launch for each anti-diagonal of tiles and a
 * CTA of 16 threads for each tile, which sweeps the tile's own anti-diagonals. Two kernels, for the growing and the
 * shrinking half. */
#include "cuda.h"

enum { TILE = 16 };

static __device__ __forceinline__ int best(int a, int b, int c) { return max(max(a, b), c); }

static __device__ __forceinline__ void tile(const int *reference, int *score, int columns, int penalty, int bx,
                                            int by) {
    __shared__ int cell[TILE + 1][TILE + 1], ref[TILE][TILE];
    int t = (int)threadIdx.x;
    int corner = columns * TILE * by + TILE * bx; /* above and left of the tile */
    if (t == 0) cell[0][0] = score[corner];
    for (int i = 0; i < TILE; i++) ref[i][t] = reference[corner + columns * (i + 1) + t + 1];
    __syncthreads();
    cell[t + 1][0] = score[corner + columns * (t + 1)];
    __syncthreads();
    cell[0][t + 1] = score[corner + t + 1];
    __syncthreads();
    for (int d = 0; d < 2 * TILE - 1; d++) {
        int x = d < TILE ? t + 1 : t + d - TILE + 2, y = d < TILE ? d - t + 1 : TILE - t;
        if (d < TILE ? t <= d : t <= 2 * TILE - 2 - d)
            cell[y][x] =
                best(cell[y - 1][x - 1] + ref[y - 1][x - 1], cell[y][x - 1] - penalty, cell[y - 1][x] - penalty);
        __syncthreads();
    }
    for (int i = 0; i < TILE; i++) score[corner + columns * (i + 1) + t + 1] = cell[i + 1][t + 1];
}

extern "C" __global__ void needle_grow(const int *reference, int *score, int columns, int penalty, int i) {
    int bx = (int)blockIdx.x;
    tile(reference, score, columns, penalty, bx, i - 1 - bx);
}

extern "C" __global__ void needle_shrink(const int *reference, int *score, int columns, int penalty, int i, int width) {
    int bx = (int)blockIdx.x + width - i, by = width - 1 - (int)blockIdx.x;
    tile(reference, score, columns, penalty, bx, by);
}
