/* Page view count over a web log, as map and reduce. A thread hashes one line of text character by character and emits
 * the hash with the line's number; the pairs are sorted (bitonic), and each group of equal hashes is counted by its
 * head. Round one groups whole views (page and visitor), round two the pages of distinct views. */
#include "cuda.h"

/* Hash of line i from its beginning to `stop` (a tab ends the page, a newline the line); the sort's padding comes
 * last. */
extern "C" __global__ void pvc_hash(const uchar *text, const int *start, const int *lines, ulong64 *key, int *value,
                                    int count, int padded, uchar stop) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= padded) return;
    ulong64 hash = ~0ull;
    int line = -1;
    if (i < count) {
        line = lines[i];
        hash = 5381;
        for (int p = start[line]; text[p] != stop; p++) hash = hash * 1099511628211ull + text[p];
        hash &= ~0ull >> 1;
    }
    key[i] = hash;
    value[i] = line;
}

extern "C" __global__ void pvc_sort_step(ulong64 *key, int *value, int j, int k) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), other = i ^ j;
    if (other <= i) return;
    bool up = (i & k) == 0;
    ulong64 a = key[i], b = key[other];
    int va = value[i], vb = value[other];
    bool greater = a > b || (a == b && va > vb); /* lines keep their order */
    if (greater == up) {
        key[i] = b, key[other] = a;
        value[i] = vb, value[other] = va;
    }
}

/* Heads of groups: their size; others get 0. */
extern "C" __global__ void pvc_group(const ulong64 *key, int *size, int count) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    int n = 0;
    if (i == 0 || key[i - 1] != key[i])
        while (i + n < count && key[i + n] == key[i]) n++;
    size[i] = n;
}
