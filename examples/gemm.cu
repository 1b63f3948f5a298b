/* C = A B^T with tensor cores: A is m x k, B is n x k, both halves and by rows; C is m x n floats. m and n are multiples
 * of 64, k of 32. Twice: with ldmatrix and mma.sync, and with wmma. Compiled by
 *
 *     nvcc -arch=sm_80 -ptx gemm.cu -o - | sed '/^\/\//d' >gemm.ptx
 *
 * A block of four warps computes a tile of 64 x 64, each warp 32 x 32 of it, in steps of 32 along k. Rows of a tile in
 * shared memory have eight halves more, so that the rows that ldmatrix reads are in different banks. */
#include <cuda_fp16.h>
#include <mma.h>

enum { TILE = 64, STEP = 32, PITCH = STEP + 8, THREADS = 128 };

/* 64 rows of 32 halves to shared memory: 16 bytes per thread and turn. */
__device__ static void tile_load(half *tile, const half *from, int pitch) {
    for (int at = threadIdx.x; at < TILE * STEP / 8; at += THREADS) {
        int row = at / (STEP / 8), column = at % (STEP / 8) * 8;
        *(uint4 *)&tile[row * PITCH + column] = *(const uint4 *)&from[row * pitch + column];
    }
}

__device__ static unsigned shared_address(const half *at) { return (unsigned)__cvta_generic_to_shared(at); }

__device__ static void load_4(unsigned (&r)[4], const half *at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(at)));
}

__device__ static void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void gemm_mma(const half *a, const half *b, float *c, int n, int k) {
    __shared__ alignas(16) half tile_a[TILE * PITCH], tile_b[TILE * PITCH];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = warp / 2 * 32, column = warp % 2 * 32;
    float sum[2][4][4] = {};
    a += blockIdx.y * TILE * k;
    b += blockIdx.x * TILE * k;
    for (int step = 0; step < k; step += STEP) {
        __syncthreads();
        tile_load(tile_a, a + step, k);
        tile_load(tile_b, b + step, k);
        __syncthreads();
        for (int inner = 0; inner < STEP; inner += 16) {
            unsigned fragment_a[2][4], fragment_b[2][4]; /* b: two pairs of 8 columns */
            for (int i = 0; i < 2; i++)
                load_4(fragment_a[i], &tile_a[(row + i * 16 + lane % 16) * PITCH + inner + lane / 16 * 8]);
            for (int j = 0; j < 2; j++)
                load_4(fragment_b[j], &tile_b[(column + j * 16 + lane % 8 + lane / 16 * 8) * PITCH + inner + lane / 8 % 2 * 8]);
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++)
                    multiply(sum[i][j], fragment_a[i], fragment_b[j / 2][j % 2 * 2], fragment_b[j / 2][j % 2 * 2 + 1]);
        }
    }
    c += (blockIdx.y * TILE + row) * n + blockIdx.x * TILE + column;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int half_row = 0; half_row < 2; half_row++)
                *(float2 *)&c[(i * 16 + half_row * 8 + lane / 4) * n + j * 8 + lane % 4 * 2] =
                    make_float2(sum[i][j][half_row * 2], sum[i][j][half_row * 2 + 1]);
}

extern "C" __global__ void gemm_wmma(const half *a, const half *b, float *c, int n, int k) {
    using namespace nvcuda;
    __shared__ alignas(32) half tile_a[TILE * PITCH], tile_b[TILE * PITCH];
    int warp = threadIdx.x / 32, row = warp / 2 * 32, column = warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 4; i++) wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
    a += blockIdx.y * TILE * k;
    b += blockIdx.x * TILE * k;
    for (int step = 0; step < k; step += STEP) {
        __syncthreads();
        tile_load(tile_a, a + step, k);
        tile_load(tile_b, b + step, k);
        __syncthreads();
        for (int inner = 0; inner < STEP; inner += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fragment_a[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fragment_b[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(fragment_a[i], &tile_a[(row + i * 16) * PITCH + inner], PITCH);
                wmma::load_matrix_sync(fragment_b[i], &tile_b[(column + i * 16) * PITCH + inner], PITCH);
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) wmma::mma_sync(sum[i][j], fragment_a[i], fragment_b[j], sum[i][j]);
        }
    }
    c += (blockIdx.y * TILE + row) * n + blockIdx.x * TILE + column;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::store_matrix_sync(&c[i * 16 * n + j * 16], sum[i][j], n, wmma::mem_row_major);
}
