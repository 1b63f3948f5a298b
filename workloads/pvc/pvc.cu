/* Page view count over a web log, as map and reduce. A thread hashes one line of text character by character and emits a
 * key and a record that refers to it. The records are sorted (bitonic) by their keys, which stay where they are: a
 * comparison follows both references to the hashes, and to the text where the hashes are equal. Heads of groups are
 * records that differ from the one before. Round one groups whole views, round two the pages of distinct views. */
#include "cuda.h"

struct key {
    const uchar *text;
    uint hash;
    int start;
};

/* Reference and bytes of a key, reference and bytes of its value; loaded and stored as a whole. Padding has no key. */
typedef int record __attribute__((ext_vector_type(4)));
enum { NONE = -1 };

/* Hashes line lines[i] up to `stop`: a newline ends a view, a tab the page. */
extern "C" __global__ void pvc_map(const uchar *text, const int *start, const int *lines, key *keys, record *records,
                                   int count, int padded, uchar stop) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= padded) return;
    if (i >= count) {
        records[i] = (record){NONE, 0, NONE, 0};
        return;
    }
    int line = lines[i];
    uint hash = 0;
    for (int p = start[line]; text[p] != stop; p++) hash = (hash << 4 | hash >> 28) ^ text[p];
    keys[i] = {text, hash, start[line]};
    records[i] = (record){i * (int)sizeof(key), sizeof(key), line, sizeof(int)};
}

/* Order of two keys: by hash, then by text. Padding comes first. */
static __device__ __forceinline__ int compare(const uchar *keys, record a, record b, uchar stop) {
    if (a.x == NONE || b.x == NONE) return (a.x != NONE) - (b.x != NONE);
    const key *left = (const key *)(keys + a.x), *right = (const key *)(keys + b.x);
    if (left->hash != right->hash) return left->hash > right->hash ? 1 : -1;
    const uchar *l = left->text + left->start, *r = right->text + right->start;
    while (*l == *r && *l != stop) l++, r++;
    return (*l > *r) - (*l < *r);
}

extern "C" __global__ void pvc_sort_step(const uchar *keys, record *records, int j, int k, uchar stop) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), other = i ^ j;
    if (other <= i) return;
    record a = records[i], b = records[other];
    int order = compare(keys, a, b, stop);
    if ((i & k) == 0 ? order > 0 : order < 0) {
        records[i] = b;
        records[other] = a;
    }
}

/* Whether a record is the head of its group. */
extern "C" __global__ void pvc_group(const uchar *keys, const record *records, int *heads, int padded, uchar stop) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= padded) return;
    heads[i] = records[i].x != NONE && (i == 0 || compare(keys, records[i - 1], records[i], stop) != 0);
}
