/* Functions of the device library: printf and malloc. */
#include "compilers.h"

#ifdef REFERENCE
REFERENCE_OF {
    for (unsigned i = 0; i < ALL; i++)
        for (unsigned k = 0; k <= i % 9; k++) out[i * PER_THREAD] += in[i + k] >> k;
}
#else
KERNEL {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x, n = i % 9 + 1;
    unsigned *mine = (unsigned *)malloc(n * sizeof(unsigned)), sum = 0;
    for (unsigned k = 0; k < n; k++) mine[k] = in[i + k] >> k;
    for (unsigned k = 0; k < n; k++) sum += mine[k];
    free(mine);
    out[i * PER_THREAD] = sum;
    if (i == 300)
        printf("thread %u of block %d: %5.2f %s %c %lld\n", threadIdx.x, (int)blockIdx.x, 2.5, "words", 'x',
               -5000000000ll);
}
#endif
