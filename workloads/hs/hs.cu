/* Hot spots: temperature on a chip's grid over time, a five-point stencil. A CTA of 16 x 16 threads computes several
 * steps at once on a tile whose valid part shrinks by one on each side with every step (a pyramid). */
#include "cuda.h"

enum { SIDE = 16 };

extern "C" __global__ void hs_steps(int steps, const float *power, const float *source, float *target, int columns,
                                    int rows, int border, float step_over_cap, float rx1, float ry1, float rz1) {
    __shared__ float now[SIDE][SIDE], heat[SIDE][SIDE], next[SIDE][SIDE];
    const float ambient = 80.0f;
    int tx = (int)threadIdx.x, ty = (int)threadIdx.y, useful = SIDE - border * 2;
    int y0 = useful * (int)blockIdx.y - border, x0 = useful * (int)blockIdx.x - border;
    int y = y0 + ty, x = x0 + tx, index = columns * y + x;
    bool inside = y >= 0 && y < rows && x >= 0 && x < columns;
    if (inside) {
        now[ty][tx] = source[index];
        heat[ty][tx] = power[index];
    }
    __syncthreads();
    /* the part of the tile that lies in the grid */
    int top = y0 < 0 ? -y0 : 0, bottom = y0 + SIDE > rows ? rows - 1 - y0 : SIDE - 1;
    int left = x0 < 0 ? -x0 : 0, right = x0 + SIDE > columns ? columns - 1 - x0 : SIDE - 1;
    int n = max(ty - 1, top), s = min(ty + 1, bottom), w = max(tx - 1, left), e = min(tx + 1, right);
    bool computed = false;
    for (int i = 0; i < steps; i++) {
        computed = tx >= i + 1 && tx <= SIDE - 2 - i && ty >= i + 1 && ty <= SIDE - 2 - i && tx >= left &&
                   tx <= right && ty >= top && ty <= bottom;
        if (computed)
            next[ty][tx] =
                now[ty][tx] +
                step_over_cap * (heat[ty][tx] + (now[s][tx] + now[n][tx] - 2.0f * now[ty][tx]) * ry1 +
                                 (now[ty][e] + now[ty][w] - 2.0f * now[ty][tx]) * rx1 + (ambient - now[ty][tx]) * rz1);
        __syncthreads();
        if (i == steps - 1) break;
        if (computed) now[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (computed) target[index] = next[ty][tx];
}
