/* Stands for the header of the CUDA toolkit; the driver API is not declared. */
#include "sluice_cuda.h"
