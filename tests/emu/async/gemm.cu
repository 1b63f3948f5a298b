/* C = A B for square matrices of floats, once with tiles that cp.async copies into one of two buffers while the other one
 * is multiplied, and once with tiles that pass through registers. A block of 16 x 16 threads computes 32 x 32 elements.
 * tests/emu/async_test.c runs the kernels as compiled by `tests/emu/async/compile`. */
enum { TILE = 32, DEPTH = 16, SIDE = 16 };

struct tiles {
    float a[TILE][DEPTH], b[DEPTH][TILE];
};

/* Each thread moves 16 bytes: 128 threads those of A, 128 those of B. */
struct part {
    const float4 *from;
    float4 *to;
};
static __device__ part part_of(const float *a, const float *b, unsigned n, unsigned k, tiles &t) {
    unsigned thread = threadIdx.y * SIDE + threadIdx.x, i = thread % 128;
    if (thread < 128) {
        unsigned row = i / 4, column = i % 4 * 4;
        return {(const float4 *)&a[(blockIdx.y * TILE + row) * n + k + column], (float4 *)&t.a[row][column]};
    }
    unsigned row = i / 8, column = i % 8 * 4;
    return {(const float4 *)&b[(k + row) * n + blockIdx.x * TILE + column], (float4 *)&t.b[row][column]};
}

static __device__ void multiply(const tiles &t, float sum[2][2]) {
    for (unsigned k = 0; k < DEPTH; k++)
        for (unsigned i = 0; i < 2; i++)
            for (unsigned j = 0; j < 2; j++)
                sum[i][j] += t.a[threadIdx.y + i * SIDE][k] * t.b[k][threadIdx.x + j * SIDE];
}

static __device__ void store(float *c, unsigned n, const float sum[2][2]) {
    for (unsigned i = 0; i < 2; i++)
        for (unsigned j = 0; j < 2; j++)
            c[(blockIdx.y * TILE + threadIdx.y + i * SIDE) * n + blockIdx.x * TILE + threadIdx.x + j * SIDE] = sum[i][j];
}

static __device__ void copy(part p) {
    unsigned to = (unsigned)__cvta_generic_to_shared(p.to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(p.from) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
}

extern "C" __global__ void gemm_async(const float *a, const float *b, float *c, unsigned n) {
    __shared__ __align__(16) tiles t[2];
    float sum[2][2] = {{0}};
    copy(part_of(a, b, n, 0, t[0]));
    for (unsigned k = 0, now = 0; k < n; k += DEPTH, now ^= 1) {
        if (k + DEPTH < n) {
            copy(part_of(a, b, n, k + DEPTH, t[now ^ 1]));
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
        multiply(t[now], sum);
        __syncthreads();
    }
    store(c, n, sum);
}

extern "C" __global__ void gemm_plain(const float *a, const float *b, float *c, unsigned n) {
    __shared__ __align__(16) tiles t;
    float sum[2][2] = {{0}};
    for (unsigned k = 0; k < n; k += DEPTH) {
        part p = part_of(a, b, n, k, t);
        *p.to = *p.from;
        __syncthreads();
        multiply(t, sum);
        __syncthreads();
    }
    store(c, n, sum);
}
