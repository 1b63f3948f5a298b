/* Stands for the header of the CUDA toolkit: constants by their CUDA names. */
#ifndef SLUICE_MATH_CONSTANTS_H
#define SLUICE_MATH_CONSTANTS_H

#include "sluice_cuda.h" /* CUDART_INF and CUDART_INF_F */

#define CUDART_NAN_F          __builtin_nanf("")
#define CUDART_NAN            __builtin_nan("")
#define CUDART_MIN_DENORM_F   1.4e-45f
#define CUDART_MAX_NORMAL_F   3.402823466e+38f
#define CUDART_MIN_DENORM     4.94065645841246544e-324
#define CUDART_MAX_NORMAL     1.7976931348623157e308
#define CUDART_NEG_ZERO_F     (-0.0f)
#define CUDART_NEG_ZERO       (-0.0)
#define CUDART_ZERO_F         0.0f
#define CUDART_ZERO           0.0
#define CUDART_ONE_F          1.00000000f
#define CUDART_ONE            1.0
#define CUDART_SQRT_HALF_F    0.707106781f
#define CUDART_SQRT_HALF      0.7071067811865476
#define CUDART_SQRT_TWO_F     1.41421356f
#define CUDART_SQRT_TWO       1.4142135623730951
#define CUDART_THIRD_F        0.333333333f
#define CUDART_THIRD          0.3333333333333333
#define CUDART_PIO4_F         0.785398163f
#define CUDART_PIO4           0.7853981633974483
#define CUDART_PIO2_F         1.57079633f
#define CUDART_PIO2           1.5707963267948966
#define CUDART_PI_F           3.14159265f
#define CUDART_PI             3.141592653589793
#define CUDART_2PI_F          6.28318531f
#define CUDART_2PI            6.283185307179586
#define CUDART_3PIO4_F        2.35619449f
#define CUDART_3PIO4          2.356194490192345
#define CUDART_2_OVER_PI_F    0.636619772f
#define CUDART_2_OVER_PI      0.6366197723675814
#define CUDART_SQRT_2OVERPI_F 0.797884561f
#define CUDART_SQRT_2OVERPI   0.7978845608028654
#define CUDART_E_F            2.71828183f
#define CUDART_E              2.718281828459045
#define CUDART_L2E_F          1.44269504f
#define CUDART_L2E            1.4426950408889634
#define CUDART_L2T_F          3.32192809f
#define CUDART_L2T            3.321928094887362
#define CUDART_LGE_F          0.434294482f
#define CUDART_LGE            0.4342944819032518
#define CUDART_LG2_F          0.301029996f
#define CUDART_LG2            0.3010299956639812
#define CUDART_LN2_F          0.693147181f
#define CUDART_LN2            0.6931471805599453
#define CUDART_LNT_F          2.30258509f
#define CUDART_LNT            2.302585092994046
#define CUDART_LNPI_F         1.14472989f
#define CUDART_LNPI           1.1447298858494002

#endif
