/* Barnes-Hut: the gravity of n bodies through an octree that is built, summarised, traversed and thrown away in every
 * step. Bodies are nodes 0..bodies-1, cells are handed out from the last node (the root) downwards, so that a child
 * cell has a lower number than its parent. An entry of `child` is a node, EMPTY, or LOCKED while someone changes it.
 *
 * Nobody waits inside a critical section: who fails to lock, or finds something not ready, comes round again with his
 * next turn, so that the lanes of a warp never wait for each other. */
#include "cuda.h"

enum { EMPTY = -1, LOCKED = -2, OCTANTS = 8, MAX_DEPTH = 32, WARPS_FORCE = 8 };

/* Everything that the kernels share. */
struct space {
    volatile float *x, *y, *z;
    volatile float *mass; /* of a cell: negative until it is summarised */
    float *vx, *vy, *vz, *ax, *ay, *az;
    volatile int *child, *count, *start, *sorted;
    float *box; /* six for each CTA of the first kernel */
    int *state; /* CTAs that are done; the lowest cell so far */
    float *radius;
    int bodies, nodes;
};

enum { DONE, BOTTOM };

/* Kernel 1: the box around all bodies; the CTA that is done last makes the root. */
extern "C" __global__ void bh_box(space s) {
    __shared__ float least[3][512], most[3][512];
    int t = (int)threadIdx.x, stride = (int)(gridDim.x * blockDim.x);
    float low[3] = {3e38f, 3e38f, 3e38f}, high[3] = {-3e38f, -3e38f, -3e38f};
    for (int i = t + (int)(blockIdx.x * blockDim.x); i < s.bodies; i += stride) {
        float p[3] = {s.x[i], s.y[i], s.z[i]};
        for (int d = 0; d < 3; d++) low[d] = fminf(low[d], p[d]), high[d] = fmaxf(high[d], p[d]);
    }
    for (int d = 0; d < 3; d++) least[d][t] = low[d], most[d][t] = high[d];
    for (int fold = 256; fold > 0; fold >>= 1) {
        __syncthreads();
        if (t < fold)
            for (int d = 0; d < 3; d++) {
                least[d][t] = fminf(least[d][t], least[d][t + fold]);
                most[d][t] = fmaxf(most[d][t], most[d][t + fold]);
            }
    }
    if (t > 0) return;
    for (int d = 0; d < 3; d++) {
        s.box[blockIdx.x * 6 + d] = least[d][0];
        s.box[blockIdx.x * 6 + 3 + d] = most[d][0];
    }
    __threadfence();
    if (atomicAdd(&s.state[DONE], 1) < (int)gridDim.x - 1) return;
    for (uint b = 0; b < gridDim.x; b++)
        for (int d = 0; d < 3; d++) {
            low[d] = fminf(low[d], ((volatile float *)s.box)[b * 6 + d]);
            high[d] = fmaxf(high[d], ((volatile float *)s.box)[b * 6 + 3 + d]);
        }
    int root = s.nodes - 1;
    *s.radius = 0.5f * fmaxf(fmaxf(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
    s.x[root] = 0.5f * (low[0] + high[0]);
    s.y[root] = 0.5f * (low[1] + high[1]);
    s.z[root] = 0.5f * (low[2] + high[2]);
    s.mass[root] = -1.0f;
    s.start[root] = 0;
    for (int c = 0; c < OCTANTS; c++) s.child[root * OCTANTS + c] = EMPTY;
    s.state[DONE] = 0;
    s.state[BOTTOM] = root;
}

static __device__ __forceinline__ int octant(const space &s, int cell, float x, float y, float z) {
    return (s.x[cell] < x ? 1 : 0) | (s.y[cell] < y ? 2 : 0) | (s.z[cell] < z ? 4 : 0);
}

/* Kernel 2: no cell but the root has children. */
extern "C" __global__ void bh_clear(space s) {
    int last = (s.nodes - 1) * OCTANTS;
    for (int i = s.bodies * OCTANTS + (int)(threadIdx.x + blockIdx.x * blockDim.x); i < last;
         i += (int)(gridDim.x * blockDim.x))
        s.child[i] = EMPTY;
}

/* Kernel 3: every body looks for its leaf and hangs itself there; a leaf that is taken is split until both are
 * apart. */
extern "C" __global__ void bh_build(space s) {
    int stride = (int)(gridDim.x * blockDim.x);
    bool fresh = true;
    float x = 0, y = 0, z = 0, r = 0;
    int n = 0, j = 0;
    for (int i = (int)(threadIdx.x + blockIdx.x * blockDim.x); i < s.bodies;) {
        if (fresh) {
            fresh = false;
            x = s.x[i], y = s.y[i], z = s.z[i];
            n = s.nodes - 1;
            r = *s.radius;
            j = octant(s, n, x, y, z);
        }
        int c = s.child[n * OCTANTS + j];
        while (c >= s.bodies) {
            n = c;
            r *= 0.5f;
            j = octant(s, n, x, y, z);
            c = s.child[n * OCTANTS + j];
        }
        int place = n * OCTANTS + j;
        if (c != LOCKED && atomicCAS((int *)&s.child[place], c, LOCKED) == c) {
            int top = i; /* what the place will hold */
            if (c != EMPTY) {
                top = -1;
                do {
                    int cell = atomicAdd(&s.state[BOTTOM], -1) - 1;
                    r *= 0.5f;
                    s.mass[cell] = -1.0f;
                    s.start[cell] = -1;
                    s.x[cell] = s.x[n] + (j & 1 ? r : -r);
                    s.y[cell] = s.y[n] + (j & 2 ? r : -r);
                    s.z[cell] = s.z[n] + (j & 4 ? r : -r);
                    if (top < 0)
                        top = cell;
                    else
                        s.child[n * OCTANTS + j] = cell;
                    s.child[cell * OCTANTS + octant(s, cell, s.x[c], s.y[c], s.z[c])] = c;
                    n = cell;
                    j = octant(s, n, x, y, z);
                } while (s.child[n * OCTANTS + j] == c);
                s.child[n * OCTANTS + j] = i;
                __threadfence();
            }
            s.child[place] = top;
            i += stride;
            fresh = true;
        }
    }
}

/* Kernel 4: masses and centres, from the lowest cell upwards; a cell whose children are not ready is tried again.
 * Children move to the front of their cell, so that the first empty one ends it. */
extern "C" __global__ void bh_summarise(space s) {
    int stride = (int)(gridDim.x * blockDim.x);
    for (int k = s.state[BOTTOM] + (int)(threadIdx.x + blockIdx.x * blockDim.x); k < s.nodes;) {
        bool ready = true;
        for (int c = 0; c < OCTANTS; c++) {
            int n = s.child[k * OCTANTS + c];
            if (n >= s.bodies && s.mass[n] < 0) ready = false;
        }
        if (!ready) continue;
        float mass = 0, x = 0, y = 0, z = 0;
        int used = 0, bodies = 0;
        for (int c = 0; c < OCTANTS; c++) {
            int n = s.child[k * OCTANTS + c];
            if (n < 0) continue;
            if (c != used) {
                s.child[k * OCTANTS + c] = EMPTY;
                s.child[k * OCTANTS + used] = n;
            }
            used++;
            bodies += n < s.bodies ? 1 : s.count[n];
            float m = s.mass[n];
            mass += m, x += s.x[n] * m, y += s.y[n] * m, z += s.z[n] * m;
        }
        s.count[k] = bodies;
        s.x[k] = x / mass, s.y[k] = y / mass, s.z[k] = z / mass;
        __threadfence();
        s.mass[k] = mass;
        k += stride;
    }
}

/* Kernel 5: bodies in the order of the tree, from the root downwards; a cell waits until its parent has said where it
 * begins. */
extern "C" __global__ void bh_sort(space s) {
    int stride = (int)(gridDim.x * blockDim.x), bottom = s.state[BOTTOM];
    for (int k = s.nodes - 1 - (int)(threadIdx.x + blockIdx.x * blockDim.x); k >= bottom;) {
        int at = s.start[k];
        if (at < 0) continue;
        for (int c = 0; c < OCTANTS; c++) {
            int n = s.child[k * OCTANTS + c];
            if (n >= s.bodies) {
                s.start[n] = at;
                at += s.count[n];
            } else if (n >= 0) {
                s.sorted[at++] = n;
            }
        }
        k -= stride;
    }
}

/* Kernel 6: the force on each body. A warp walks the tree for 32 bodies that lie together, with one stack; a cell is
 * opened unless it is far enough from all of them. */
extern "C" __global__ void bh_force(space s, float open2, float softening2) {
    __shared__ volatile int node[WARPS_FORCE][MAX_DEPTH], next[WARPS_FORCE][MAX_DEPTH];
    __shared__ float far2[MAX_DEPTH];
    if (threadIdx.x == 0) {
        far2[0] = 4.0f * *s.radius * *s.radius * open2;
        for (int d = 1; d < MAX_DEPTH; d++) far2[d] = far2[d - 1] * 0.25f;
    }
    __syncthreads();
    int w = (int)(threadIdx.x / 32), stride = (int)(gridDim.x * blockDim.x);
    for (int k = (int)(threadIdx.x + blockIdx.x * blockDim.x); k < s.bodies; k += stride) {
        int i = s.sorted[k];
        float x = s.x[i], y = s.y[i], z = s.z[i], ax = 0, ay = 0, az = 0;
        int depth = 0;
        node[w][0] = s.nodes - 1;
        next[w][0] = 0;
        while (depth >= 0) {
            int c = next[w][depth];
            int n = c < OCTANTS ? s.child[node[w][depth] * OCTANTS + c] : EMPTY;
            if (n < 0) {
                depth--;
                continue;
            }
            next[w][depth] = c + 1;
            float dx = s.x[n] - x, dy = s.y[n] - y, dz = s.z[n] - z, d2 = dx * dx + dy * dy + dz * dz + softening2;
            if (n < s.bodies || depth == MAX_DEPTH - 1 || __all(d2 >= far2[depth + 1])) {
                float inverse = rsqrtf(d2), f = s.mass[n] * inverse * inverse * inverse;
                ax += dx * f, ay += dy * f, az += dz * f;
            } else {
                depth++;
                node[w][depth] = n;
                next[w][depth] = 0;
            }
        }
        s.ax[i] = ax, s.ay[i] = ay, s.az[i] = az;
    }
}

/* Kernel 7: half a step of velocity, one of position, half of velocity; along one axis after the other. */
static __device__ __forceinline__ void move(volatile float *x, float *v, const float *a, int bodies, float step) {
    for (int i = (int)(threadIdx.x + blockIdx.x * blockDim.x); i < bodies; i += (int)(gridDim.x * blockDim.x)) {
        float half = a[i] * 0.5f * step, middle = v[i] + half;
        x[i] += middle * step;
        v[i] = middle + half;
    }
}

extern "C" __global__ void bh_move(space s, float step) {
    move(s.x, s.vx, s.ax, s.bodies, step);
    move(s.y, s.vy, s.ay, s.bodies, step);
    move(s.z, s.vz, s.az, s.bodies, step);
}
