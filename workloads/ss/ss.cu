/* Similarity of documents by the cosine of their feature vectors, in the map phase's two passes: count says how much
 * each thread will emit, a scan turns that to positions, map emits. A thread has one pair of documents. */
#include "cuda.h"

/* Thread p of n (n - 1) / 2 has the pair (row, column) below the diagonal. */
static __device__ __forceinline__ void pair_of(int p, int *row, int *column) {
    int r = (int)((sqrtf(8.0f * (float)p + 1.0f) + 1.0f) * 0.5f);
    while (r * (r - 1) / 2 > p) r--;
    while ((r + 1) * r / 2 <= p) r++;
    *row = r;
    *column = p - r * (r - 1) / 2;
}

extern "C" __global__ void ss_count(int *counts, int pairs) {
    int p = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (p < pairs) counts[p] = 1;
}

/* Exclusive prefix sums of 512 elements a CTA, by 256 threads; the sum of each CTA goes to `sums`. */
extern "C" __global__ void ss_scan(int *data, int *sums, int n) {
    __shared__ int part[512];
    int t = (int)threadIdx.x, base = (int)blockIdx.x * 512;
    part[t] = base + t < n ? data[base + t] : 0;
    part[t + 256] = base + t + 256 < n ? data[base + t + 256] : 0;
    int offset = 1;
    for (int d = 256; d > 0; d >>= 1, offset *= 2) {
        __syncthreads();
        if (t < d) part[offset * (2 * t + 2) - 1] += part[offset * (2 * t + 1) - 1];
    }
    if (t == 0) {
        sums[blockIdx.x] = part[511];
        part[511] = 0;
    }
    for (int d = 1; d < 512; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, left = part[a];
            part[a] = part[b];
            part[b] += left;
        }
    }
    __syncthreads();
    if (base + t < n) data[base + t] = part[t];
    if (base + t + 256 < n) data[base + t + 256] = part[t + 256];
}

extern "C" __global__ void ss_offset(int *data, const int *sums, int n) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) data[i] += sums[i / 512];
}

extern "C" __global__ void ss_map(const float4 *features, const int *positions, int2 *keys, float *values, int quads,
                                  int pairs) {
    int p = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (p >= pairs) return;
    int row, column;
    pair_of(p, &row, &column);
    const float4 *a = features + row * quads, *b = features + column * quads;
    float dot = 0, aa = 0, bb = 0;
    for (int i = 0; i < quads; i++) {
        float4 x = a[i], y = b[i];
        dot += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
        aa += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
        bb += y.x * y.x + y.y * y.y + y.z * y.z + y.w * y.w;
    }
    int at = positions[p];
    keys[at] = {row, column};
    values[at] = dot / (sqrtf(aa) * sqrtf(bb));
}
