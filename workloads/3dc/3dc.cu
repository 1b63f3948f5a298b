/* A 3-D convolution, one launch for each plane i: a thread has fifteen terms over eleven points of three planes. */
#include "cuda.h"

extern "C" __global__ void conv3d(const float *a, float *b, int nj, int nk, int i) {
    int k = (int)(blockIdx.x * blockDim.x + threadIdx.x), j = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (j < 1 || j >= nj - 1 || k < 1 || k >= nk - 1) return;
    long row = nk, plane = nj * nk, at = (i * nj + j) * nk + k;
    const float *now = a + at, *before = now - plane, *after = now + plane;
    /* Two corners have three weights each, added in this order. */
    float corners = 2.0f * before[-row - 1] + 4.0f * after[-row - 1] + 5.0f * before[-row - 1] +
                    7.0f * after[-row - 1] - 8.0f * before[-row - 1] + 10.0f * after[-row - 1];
    b[at] = corners - 3.0f * now[-row] + 6.0f * now[0] - 9.0f * now[row] + /* k */
            2.0f * before[-row + 1] + 4.0f * after[-row + 1] +             /* j - 1, k + 1 */
            5.0f * before[1] + 7.0f * after[1] +                           /* j,     k + 1 */
            -8.0f * before[row + 1] + 10.0f * after[row + 1];              /* j + 1, k + 1 */
}
