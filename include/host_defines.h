/* Stands for the header of the CUDA toolkit. */
#include "sluice_cuda.h"
