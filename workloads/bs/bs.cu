/* Black-Scholes prices of European options, two options a thread. */
#include "cuda.h"

/* The normal distribution by Abramowitz and Stegun 26.2.17. */
static __device__ float cumulative(float d) {
    float k = __fdividef(1.0f, 1.0f + 0.2316419f * fabsf(d));
    float p = 0.39894228f * __expf(-0.5f * d * d) *
              (k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - p : p;
}

static __device__ void price(float *call, float *put, float s, float x, float t, float rate, float volatility) {
    float root = sqrtf(t);
    float d1 = __fdividef(__logf(s / x) + (rate + 0.5f * volatility * volatility) * t, volatility * root);
    float d2 = d1 - volatility * root, n1 = cumulative(d1), n2 = cumulative(d2), discount = __expf(-rate * t);
    *call = s * n1 - x * discount * n2;
    *put = x * discount * (1.0f - n2) - s * (1.0f - n1);
}

extern "C" __global__ void bs_price(float2 *call, float2 *put, const float2 *stock, const float2 *strike,
                                    const float2 *years, float rate, float volatility, int pairs) {
    int i = (int)(blockDim.x * blockIdx.x + threadIdx.x);
    if (i >= pairs) return;
    float2 c, p, s = stock[i], x = strike[i], t = years[i];
    price(&c.x, &p.x, s.x, x.x, t.x, rate, volatility);
    price(&c.y, &p.y, s.y, x.y, t.y, rate, volatility);
    call[i] = c;
    put[i] = p;
}
