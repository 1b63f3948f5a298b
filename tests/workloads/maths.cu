/* A kernel for each real function of cuda.h: out[i] = f(x[i], y[i], z[i]), with the arguments in consecutive arrays. */
#include "cuda.h"

#define EXACT(real, name, arguments) \
    extern "C" __global__ void maths_##name(real *out, const real *in) { \
        uint i = blockIdx.x * blockDim.x + threadIdx.x, count = gridDim.x * blockDim.x; \
        [[maybe_unused]] real x = in[i], y = in[count + i], z = in[2 * count + i]; \
        out[i] = name arguments; \
    }
#define NEAR(real, name, arguments, ...) EXACT(real, name, arguments)
#include "maths.def"
