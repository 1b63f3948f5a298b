/* A heart muscle cell as 91 ordinary differential equations: 46 of the membrane (gates that open and close with the
 * voltage and the concentrations that they change) and three compartments of calmodulin with 15 each. One launch
 * evaluates all derivatives for one stage of the solver: CTA 0 has the membrane in one thread, CTA 1 a compartment in
 * each of three. */
#include "cuda.h"

enum { MEMBRANE = 46, GATES = 40, COMPARTMENT = 15, COMPARTMENTS = 3, PARAMETERS = 9 };

/* A thread reads all that it needs before it computes anything: its loads overlap. */
template <int COUNT> struct values {
    float at[COUNT];
    __device__ __forceinline__ explicit values(const float *from) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) at[i] = from[i];
        asm volatile("" ::: "memory"); /* and the compiler leaves them where they are */
    }
    __device__ __forceinline__ float operator[](int i) const { return at[i]; }
};

/* The voltage is y[0], concentrations y[1..5], gates y[6..45]. A gate relaxes to a sigmoid of the voltage at a rate
 * that is a bell around it; the current of four gates flows with the product of their states. */
static __device__ void membrane(float time, const float *states, const float *parameters, float *f) {
    values<MEMBRANE> y(states);
    values<PARAMETERS> p(parameters);
    float v = y[0], sodium = y[1], potassium = y[2], calcium = y[3];
    float stimulus = time - floorf(time / p[0]) * p[0] < 5.0f ? p[1] : 0.0f;
    float nernst_na = 26.7f * logf(140.0f / sodium), nernst_k = 26.7f * logf(5.4f / potassium),
          nernst_ca = 13.35f * logf(1.8f / calcium);
    float current[3] = {0, 0, 0};
#pragma unroll
    for (int g = 0; g < GATES; g++) {
        float middle = p[2] + 2.0f * (float)(g - GATES / 2), slope = 4.0f + 0.2f * (float)(g % 7);
        float open = 1.0f / (1.0f + expf(-(v - middle) / slope));
        float rate = 0.02f + 0.5f * expf(-(v - middle) * (v - middle) / (50.0f + slope * slope));
        if (g % 3 == 2) open = 1.0f - open; /* a gate that closes */
        f[6 + g] = (open - y[6 + g]) * rate;
    }
#pragma unroll
    for (int g = 0; g < GATES; g += 4) {
        float product = y[6 + g] * y[7 + g] * y[8 + g] * y[9 + g];
        int ion = g / 4 % 3;
        float driving = v - (ion == 0 ? nernst_na : ion == 1 ? nernst_k : nernst_ca);
        current[ion] += p[3 + ion] * product * driving;
    }
    float pump = p[6] * sodium / (sodium + 10.0f), leak = p[7] * (v + 80.0f);
    float uptake = p[8] * powf(calcium / 0.0003f, 2.0f) / (1.0f + powf(calcium / 0.0003f, 2.0f));
    f[0] = -(current[0] + current[1] + current[2] + pump + leak) + stimulus;
    f[1] = -1e-4f * (current[0] + 3.0f * pump);
    f[2] = -1e-4f * (current[1] - 2.0f * pump);
    f[3] = -1e-6f * current[2] - 1e-3f * uptake + 1e-4f * y[5];
    f[4] = 1e-3f * uptake - 1e-3f * y[4] * y[6];
    f[5] = 1e-3f * y[4] * y[6] - 1e-3f * y[5];
}

/* Calmodulin binds calcium in steps and then what it activates: a chain of 15 reactions, each with its own balance. */
static __device__ void calmodulin(const float *states, float calcium, float *f) {
    values<COMPARTMENT> y(states);
    float flux[COMPARTMENT + 1];
    flux[0] = flux[COMPARTMENT] = 0;
#pragma unroll
    for (int i = 1; i < COMPARTMENT; i++) {
        float forward = (0.1f + 0.02f * (float)i) * powf(calcium * 1000.0f, i % 2 ? 1.0f : 0.5f),
              back = 0.05f + 0.01f * (float)i;
        flux[i] = forward * y[i - 1] - back * y[i];
    }
    for (int i = 0; i < COMPARTMENT; i++) f[i] = flux[i] - flux[i + 1];
}

extern "C" __global__ void myc_derivatives(float time, const float *y, const float *p, float *f) {
    int t = (int)threadIdx.x;
    if (blockIdx.x == 0) {
        if (t == 0) membrane(time, y, p, f);
    } else if (t < COMPARTMENTS) {
        float calcium = y[3] * (1.0f + 0.5f * (float)t);
        calmodulin(y + MEMBRANE + t * COMPARTMENT, calcium, f + MEMBRANE + t * COMPARTMENT);
    }
}
