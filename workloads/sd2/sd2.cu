/* Speckle-reducing anisotropic diffusion in tiles of 16 x 16. coefficient: derivatives to the four neighbours and the
 * diffusion coefficient of each pixel, through shared memory; update: divergence, and one step of the image. */
#include "cuda.h"

enum { SIDE = 16 };

extern "C" __global__ void sd2_coefficient(float *east, float *west, float *north, float *south, const float *image,
                                           float *c, int columns, int rows, float q0) {
    __shared__ float now[SIDE][SIDE], up[SIDE][SIDE], down[SIDE][SIDE], right[SIDE][SIDE], left[SIDE][SIDE];
    int bx = (int)blockIdx.x, by = (int)blockIdx.y, tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    int index = columns * SIDE * by + SIDE * bx + columns * ty + tx;
    int n = by == 0 ? SIDE * bx + tx : columns * SIDE * by + SIDE * bx + tx - columns;
    int s =
        by == (int)gridDim.y - 1 ? columns * (rows - 1) + SIDE * bx + tx : columns * SIDE * (by + 1) + SIDE * bx + tx;
    int w = bx == 0 ? columns * SIDE * by + columns * ty : index - tx - 1;
    int e = bx == (int)gridDim.x - 1 ? columns * SIDE * by + SIDE * bx + columns * ty + SIDE - 1 : index - tx + SIDE;
    up[ty][tx] = image[n];
    down[ty][tx] = image[s];
    __syncthreads();
    left[ty][tx] = image[w];
    right[ty][tx] = image[e];
    __syncthreads();
    now[ty][tx] = image[index];
    __syncthreads();
    float j = now[ty][tx];
    float dn = (ty == 0 ? up[ty][tx] : now[ty - 1][tx]) - j, ds = (ty == SIDE - 1 ? down[ty][tx] : now[ty + 1][tx]) - j;
    float dw = (tx == 0 ? left[ty][tx] : now[ty][tx - 1]) - j,
          de = (tx == SIDE - 1 ? right[ty][tx] : now[ty][tx + 1]) - j;
    float g2 = (dn * dn + ds * ds + dw * dw + de * de) / (j * j), l = (dn + ds + dw + de) / j;
    float numerator = 0.5f * g2 - (1.0f / 16.0f) * (l * l), denominator = 1.0f + 0.25f * l;
    float q = numerator / (denominator * denominator);
    float diffusion = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
    c[index] = diffusion < 0 ? 0 : diffusion > 1 ? 1 : diffusion;
    east[index] = de;
    west[index] = dw;
    south[index] = ds;
    north[index] = dn;
}

extern "C" __global__ void sd2_update(const float *east, const float *west, const float *north, const float *south,
                                      float *image, const float *c, int columns, int rows, float lambda) {
    __shared__ float here[SIDE][SIDE], below[SIDE][SIDE], beside[SIDE][SIDE];
    int bx = (int)blockIdx.x, by = (int)blockIdx.y, tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    int index = columns * SIDE * by + SIDE * bx + columns * ty + tx;
    int s =
        by == (int)gridDim.y - 1 ? columns * (rows - 1) + SIDE * bx + tx : columns * SIDE * (by + 1) + SIDE * bx + tx;
    int e = bx == (int)gridDim.x - 1 ? columns * SIDE * by + SIDE * bx + columns * ty + SIDE - 1 : index - tx + SIDE;
    float j = image[index];
    below[ty][tx] = c[s];
    __syncthreads();
    beside[ty][tx] = c[e];
    __syncthreads();
    here[ty][tx] = c[index];
    __syncthreads();
    float cc = here[ty][tx], cs = ty == SIDE - 1 ? below[ty][tx] : here[ty + 1][tx],
          ce = tx == SIDE - 1 ? beside[ty][tx] : here[ty][tx + 1];
    float divergence = cc * north[index] + cs * south[index] + cc * west[index] + ce * east[index];
    image[index] = j + 0.25f * lambda * divergence;
}
