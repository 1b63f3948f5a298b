/* A 3-D convolution, one launch for each plane i: a thread takes fifteen taps from three planes. */
#include "cuda.h"

extern "C" __global__ void conv3d(const float *a, float *b, int nj, int nk, int i) {
    int k = (int)(blockIdx.x * blockDim.x + threadIdx.x), j = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (j < 1 || j >= nj - 1 || k < 1 || k >= nk - 1) return;
    long row = nk, plane = nj * nk, at = (i * nj + j) * nk + k;
    const float *now = a + at, *before = now - plane, *after = now + plane;
    const float *now_up = now - row, *before_up = before - row, *after_up = after - row;
    const float *now_down = now + row, *before_down = before + row, *after_down = after + row;
    b[at] = 2.0f * before_up[-1] - 3.0f * now_up[-1] + 4.0f * after_up[-1] +      /* j - 1, k - 1 */
            5.0f * before[-1] + 6.0f * now[-1] + 7.0f * after[-1] +               /* j,     k - 1 */
            -8.0f * before_down[-1] - 9.0f * now_down[-1] + 10 * after_down[-1] + /* j + 1, k - 1 */
            4.0f * now_up[0] + 6.0f * now[0] + 9.0f * now_down[0] +               /* k            */
            -8.0f * before_up[1] + 7.0f * now[1] + 10.0f * after_down[1];         /* k + 1        */
}
