/* Forward 5/3 wavelet transform of a colour image. split: pixels to three planes of centred integers. forward: a CTA
 * has a strip of columns and slides down it, eight rows at a time through shared memory: rows are lifted as they come
 * in, columns as soon as their neighbours are there. The four bands go to the quarters of the output. */
#include "cuda.h"

enum { STEP = 8, MOST = 192, LEFT = 2, RIGHT = 1 };

extern "C" __global__ void dwt_split(const uchar *pixels, int *red, int *green, int *blue, int count) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    red[i] = (int)pixels[3 * i] - 128;
    green[i] = (int)pixels[3 * i + 1] - 128;
    blue[i] = (int)pixels[3 * i + 2] - 128;
}

static __device__ __forceinline__ int mirror(int i, int n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; }

/* One row: loaded with its halo and lifted along x; thread t ends up with the coefficient of its column. */
static __device__ __forceinline__ int row_lifted(int *line, const int *row, int x0, int width) {
    int t = (int)threadIdx.x, columns = (int)blockDim.x;
    for (int i = t; i < columns + LEFT + RIGHT; i += columns) line[i] = row[mirror(x0 + i - LEFT, width)];
    __syncthreads();
    int odd = 2 * t + 1; /* odd places, one left of the strip included: predicted from both neighbours */
    if (odd < columns + LEFT) line[odd] -= (line[odd - 1] + line[odd + 1]) >> 1;
    __syncthreads();
    int here = t + LEFT, value = line[here];
    if (t % 2 == 0) value += (line[here - 1] + line[here + 1] + 2) >> 2;
    __syncthreads();
    return value;
}

extern "C" __global__ void dwt_forward(const int *in, int *out, int width, int height, int pitch, int steps) {
    __shared__ int line[MOST + LEFT + RIGHT];
    int t = (int)threadIdx.x, x0 = (int)(blockIdx.x * blockDim.x), x = x0 + t;
    int y0 = (int)blockIdx.y * STEP * steps, end = min(y0 + STEP * steps, height);
    int to = (t & 1) * ((width + 1) / 2) + x / 2; /* low frequencies left, high ones right */
    /* the row above the strip's first, as the odd coefficient that its update needs */
    int even = row_lifted(line, in + y0 * pitch, x0, width), above;
    {
        int e = row_lifted(line, in + mirror(y0 - 2, height) * pitch, x0, width);
        int o = row_lifted(line, in + mirror(y0 - 1, height) * pitch, x0, width);
        above = o - ((e + even) >> 1);
    }
    for (int y = y0; y < end; y += STEP) {
#pragma unroll
        for (int r = 0; r < STEP; r += 2) {
            if (y + r >= end) break;
            int odd = row_lifted(line, in + mirror(y + r + 1, height) * pitch, x0, width);
            int next = row_lifted(line, in + mirror(y + r + 2, height) * pitch, x0, width);
            int high = odd - ((even + next) >> 1), low = even + ((above + high + 2) >> 2);
            if (x < width) {
                out[(y + r) / 2 * pitch + to] = low;
                if (y + r + 1 < height) out[((height + 1) / 2 + (y + r) / 2) * pitch + to] = high;
            }
            above = high;
            even = next;
        }
    }
}
