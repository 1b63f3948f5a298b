/* LU decomposition in place, in blocks of 16 x 16. For each block of the diagonal: decompose it (diagonal), solve
 * for the row and the column of blocks next to it (perimeter), and subtract their products from all that remains
 * (internal). */
#include "cuda.h"

enum { BLOCK = 16 };

extern "C" __global__ void lud_diagonal(float *m, int n, int offset) {
    __shared__ float tile[BLOCK][BLOCK];
    int t = (int)threadIdx.x;
    for (int i = 0; i < BLOCK; i++) tile[i][t] = m[(offset + i) * n + offset + t];
    __syncthreads();
    for (int i = 0; i < BLOCK - 1; i++) {
        if (t > i) {
            for (int j = 0; j < i; j++) tile[t][i] -= tile[t][j] * tile[j][i];
            tile[t][i] /= tile[i][i];
        }
        __syncthreads();
        if (t > i)
            for (int j = 0; j < i + 1; j++) tile[i + 1][t] -= tile[i + 1][j] * tile[j][t];
        __syncthreads();
    }
    for (int i = 1; i < BLOCK; i++) m[(offset + i) * n + offset + t] = tile[i][t];
}

/* Half of the threads has the row of blocks, half the column. */
extern "C" __global__ void lud_perimeter(float *m, int n, int offset) {
    __shared__ float diagonal[BLOCK][BLOCK], row[BLOCK][BLOCK], column[BLOCK][BLOCK];
    int half = (int)threadIdx.x / BLOCK, t = (int)threadIdx.x % BLOCK;
    int beyond = offset + ((int)blockIdx.x + 1) * BLOCK;
    for (int i = half * BLOCK / 2; i < (half + 1) * BLOCK / 2; i++) diagonal[i][t] = m[(offset + i) * n + offset + t];
    if (half == 0)
        for (int i = 0; i < BLOCK; i++) row[i][t] = m[(offset + i) * n + beyond + t];
    else
        for (int i = 0; i < BLOCK; i++) column[i][t] = m[(beyond + i) * n + offset + t];
    __syncthreads();
    if (half == 0) {
        for (int i = 1; i < BLOCK; i++)
            for (int j = 0; j < i; j++) row[i][t] -= diagonal[i][j] * row[j][t];
    } else {
        for (int i = 0; i < BLOCK; i++) {
            for (int j = 0; j < i; j++) column[t][i] -= column[t][j] * diagonal[j][i];
            column[t][i] /= diagonal[i][i];
        }
    }
    __syncthreads();
    if (half == 0)
        for (int i = 1; i < BLOCK; i++) m[(offset + i) * n + beyond + t] = row[i][t];
    else
        for (int i = 0; i < BLOCK; i++) m[(beyond + i) * n + offset + t] = column[i][t];
}

extern "C" __global__ void lud_internal(float *m, int n, int offset) {
    __shared__ float row[BLOCK][BLOCK], column[BLOCK][BLOCK];
    int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    int down = offset + ((int)blockIdx.y + 1) * BLOCK, right = offset + ((int)blockIdx.x + 1) * BLOCK;
    row[ty][tx] = m[(offset + ty) * n + right + tx];
    column[ty][tx] = m[(down + ty) * n + offset + tx];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < BLOCK; i++) sum += column[ty][i] * row[i][tx];
    m[(down + ty) * n + right + tx] -= sum;
}
