/* Merge sort of key-value pairs. tile: 1,024 pairs sorted in shared memory by 512 threads. Then sorted stretches are
 * merged pairwise: every 128th element is a sample; its rank in the other stretch (ranks) cuts both into intervals of
 * at most 128 (limits), and a CTA merges one pair of intervals (merge). */
#include "cuda.h"

enum { TILE = 1024, SAMPLE = 128 };

/* How many of data[0..n) are below `key`, or with `equal` not above it. */
static __device__ __forceinline__ int rank_of(uint key, const uint *data, int n, bool equal) {
    int low = 0;
    for (int high = n; low < high;) {
        int middle = (low + high) >> 1;
        if (data[middle] < key || (equal && data[middle] == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

extern "C" __global__ void ms_tile(uint *out_key, uint *out_value, const uint *in_key, const uint *in_value) {
    __shared__ uint key[TILE], value[TILE];
    int t = (int)threadIdx.x;
    in_key += blockIdx.x * TILE, in_value += blockIdx.x * TILE, out_key += blockIdx.x * TILE,
        out_value += blockIdx.x * TILE;
    key[t] = in_key[t], value[t] = in_value[t];
    key[t + TILE / 2] = in_key[t + TILE / 2], value[t + TILE / 2] = in_value[t + TILE / 2];
    for (int stride = 1; stride < TILE; stride *= 2) {
        int within = t & (stride - 1), base = 2 * (t - within);
        __syncthreads();
        uint ka = key[base + within], va = value[base + within];
        uint kb = key[base + within + stride], vb = value[base + within + stride];
        int a = base + within + rank_of(ka, key + base + stride, stride, false);
        int b = base + within + rank_of(kb, key + base, stride, true);
        __syncthreads();
        key[a] = ka, value[a] = va;
        key[b] = kb, value[b] = vb;
    }
    __syncthreads();
    out_key[t] = key[t], out_value[t] = value[t];
    out_key[t + TILE / 2] = key[t + TILE / 2], out_value[t + TILE / 2] = value[t + TILE / 2];
}

/* Thread i has a sample of each of the two stretches of its pair. */
extern "C" __global__ void ms_ranks(int *rank_a, int *rank_b, const uint *key, int stride, int samples) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= samples) return;
    int within = i & (stride / SAMPLE - 1), base = (i - within) * 2 * SAMPLE;
    const uint *a = key + base, *b = a + stride;
    rank_b[i] = rank_of(a[within * SAMPLE], b, stride, false); /* of the sample of a, in b */
    rank_a[i] = rank_of(b[within * SAMPLE], a, stride, true);  /* of the sample of b, in a */
}

/* All samples of a pair in order: where each cuts a and b. */
extern "C" __global__ void ms_limits(int *limit_a, int *limit_b, const int *rank_a, const int *rank_b, int stride,
                                     int samples) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= samples) return;
    int within = i & (stride / SAMPLE - 1), first = (i - within) * 2;
    int a = first + within + (rank_b[i] + SAMPLE - 1) / SAMPLE, b = first + within + (rank_a[i] + SAMPLE - 1) / SAMPLE;
    limit_a[a] = within * SAMPLE, limit_b[a] = rank_b[i];
    limit_a[b] = rank_a[i], limit_b[b] = within * SAMPLE;
}

extern "C" __global__ void ms_merge(uint *out_key, uint *out_value, const uint *in_key, const uint *in_value,
                                    const int *limit_a, const int *limit_b, int stride) {
    __shared__ uint key[2 * SAMPLE], value[2 * SAMPLE];
    __shared__ int from_a, from_b, count_a, count_b;
    int t = (int)threadIdx.x, cuts = 2 * stride / SAMPLE, within = (int)blockIdx.x & (cuts - 1);
    int base = ((int)blockIdx.x - within) * SAMPLE;
    if (t == 0) {
        from_a = limit_a[blockIdx.x], from_b = limit_b[blockIdx.x];
        bool last = within == cuts - 1;
        count_a = (last ? stride : limit_a[blockIdx.x + 1]) - from_a;
        count_b = (last ? stride : limit_b[blockIdx.x + 1]) - from_b;
    }
    __syncthreads();
    uint ka = 0, va = 0, kb = 0, vb = 0;
    if (t < count_a) key[t] = ka = in_key[base + from_a + t], va = in_value[base + from_a + t];
    if (t < count_b)
        key[SAMPLE + t] = kb = in_key[base + stride + from_b + t], vb = in_value[base + stride + from_b + t];
    __syncthreads();
    int a = t < count_a ? t + rank_of(ka, key + SAMPLE, count_b, false) : 0;
    int b = t < count_b ? t + rank_of(kb, key, count_a, true) : 0;
    __syncthreads();
    if (t < count_a) key[a] = ka, value[a] = va;
    if (t < count_b) key[b] = kb, value[b] = vb;
    __syncthreads();
    int to = base + from_a + from_b;
    for (int i = t; i < count_a + count_b; i += SAMPLE) out_key[to + i] = key[i], out_value[to + i] = value[i];
}
