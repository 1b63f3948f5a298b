/* Flow around a body on an unstructured mesh (Euler's equations, finite volumes): five variables of each element in a
 * structure of arrays, four neighbours, their face normals. Each iteration computes step factors, then three times
 * the fluxes (a gather from the neighbours) and a step of time. The fluxes can read the variables as ordinary data or
 * by the read-only path. */
#include "cuda.h"

enum { DENSITY, MOMENTUM, ENERGY = 4, VARIABLES = 5, NEIGHBOURS = 4 };

#define GAMMA 1.4f

__constant__ float cfd_far_field[VARIABLES];

struct flow {
    float density, energy;
    float3 momentum;
};

template <bool READ_ONLY> static __device__ __forceinline__ float get(const float *p) {
    return READ_ONLY ? __ldg(p) : *p;
}

template <bool READ_ONLY> static __device__ __forceinline__ flow load(const float *variables, int i, int n) {
    return {get<READ_ONLY>(variables + i + DENSITY * n),
            get<READ_ONLY>(variables + i + ENERGY * n),
            {get<READ_ONLY>(variables + i + MOMENTUM * n), get<READ_ONLY>(variables + i + (MOMENTUM + 1) * n),
             get<READ_ONLY>(variables + i + (MOMENTUM + 2) * n)}};
}

static __device__ __forceinline__ float3 velocity(const flow &f) {
    return {f.momentum.x / f.density, f.momentum.y / f.density, f.momentum.z / f.density};
}
static __device__ __forceinline__ float square(float3 v) { return v.x * v.x + v.y * v.y + v.z * v.z; }
static __device__ __forceinline__ float pressure(const flow &f, float speed2) {
    return (GAMMA - 1.0f) * (f.energy - 0.5f * f.density * speed2);
}
static __device__ __forceinline__ float sound(float density, float p) { return sqrtf(GAMMA * p / density); }

template <bool READ_ONLY>
static __device__ __forceinline__ void step_factor(const float *variables, const float *areas, float *factors, int n) {
    int i = (int)(blockDim.x * blockIdx.x + threadIdx.x);
    flow f = load<READ_ONLY>(variables, i, n);
    float speed2 = square(velocity(f));
    factors[i] = 0.5f / (sqrtf(get<READ_ONLY>(areas + i)) * (sqrtf(speed2) + sound(f.density, pressure(f, speed2))));
}

/* What of a face's normal each variable's flux takes from one side. */
struct flux {
    float density, energy;
    float3 momentum;
};

static __device__ __forceinline__ void contribute(flux &sum, float factor, float3 normal, const flow &f, float3 v,
                                                  float p) {
    float through = normal.x * v.x + normal.y * v.y + normal.z * v.z;
    sum.density += factor * (normal.x * f.momentum.x + normal.y * f.momentum.y + normal.z * f.momentum.z);
    sum.energy += factor * through * (f.energy + p);
    sum.momentum.x += factor * (through * f.momentum.x + normal.x * p);
    sum.momentum.y += factor * (through * f.momentum.y + normal.y * p);
    sum.momentum.z += factor * (through * f.momentum.z + normal.z * p);
}

template <bool READ_ONLY>
static __device__ __forceinline__ void fluxes_of(const int *neighbours, const float *normals, const float *variables,
                                                 float *fluxes, int n) {
    const float smoothing = 0.2f;
    int i = (int)(blockDim.x * blockIdx.x + threadIdx.x);
    flow mine = load<READ_ONLY>(variables, i, n);
    float3 v = velocity(mine);
    float speed2 = square(v), speed = sqrtf(speed2), p = pressure(mine, speed2), c = sound(mine.density, p);
    flux sum = {0, 0, {0, 0, 0}};
    for (int k = 0; k < NEIGHBOURS; k++) {
        int to = READ_ONLY ? __ldg(neighbours + i + k * n) : neighbours[i + k * n];
        float3 normal = {get<READ_ONLY>(normals + i + (k + 0 * NEIGHBOURS) * n),
                         get<READ_ONLY>(normals + i + (k + 1 * NEIGHBOURS) * n),
                         get<READ_ONLY>(normals + i + (k + 2 * NEIGHBOURS) * n)};
        float length = sqrtf(square(normal));
        if (to >= 0) {
            flow other = load<READ_ONLY>(variables, to, n);
            float3 w = velocity(other);
            float other2 = square(w), q = pressure(other, other2), d = sound(other.density, q);
            float factor = -length * smoothing * 0.5f * (speed + sqrtf(other2) + c + d);
            sum.density += factor * (mine.density - other.density);
            sum.energy += factor * (mine.energy - other.energy);
            sum.momentum.x += factor * (mine.momentum.x - other.momentum.x);
            sum.momentum.y += factor * (mine.momentum.y - other.momentum.y);
            sum.momentum.z += factor * (mine.momentum.z - other.momentum.z);
            contribute(sum, 0.5f, normal, other, w, q);
            contribute(sum, 0.5f, normal, mine, v, p);
        } else if (to == -1) { /* the body: only pressure acts */
            sum.momentum.x += normal.x * p;
            sum.momentum.y += normal.y * p;
            sum.momentum.z += normal.z * p;
        } else { /* the far field */
            const float *field = cfd_far_field;
            flow far = {field[DENSITY], field[ENERGY], {field[1], field[2], field[3]}};
            float3 w = velocity(far);
            contribute(sum, 0.5f, normal, far, w, pressure(far, square(w)));
            contribute(sum, 0.5f, normal, mine, v, p);
        }
    }
    fluxes[i + DENSITY * n] = sum.density;
    fluxes[i + MOMENTUM * n] = sum.momentum.x;
    fluxes[i + (MOMENTUM + 1) * n] = sum.momentum.y;
    fluxes[i + (MOMENTUM + 2) * n] = sum.momentum.z;
    fluxes[i + ENERGY * n] = sum.energy;
}

extern "C" __global__ void cfd_step_factor(const float *variables, const float *areas, float *factors, int n) {
    step_factor<false>(variables, areas, factors, n);
}
extern "C" __global__ void cfd_step_factor_ro(const float *variables, const float *areas, float *factors, int n) {
    step_factor<true>(variables, areas, factors, n);
}
extern "C" __global__ void cfd_flux(const int *neighbours, const float *normals, const float *variables, float *fluxes,
                                    int n) {
    fluxes_of<false>(neighbours, normals, variables, fluxes, n);
}
extern "C" __global__ void cfd_flux_ro(const int *neighbours, const float *normals, const float *variables,
                                       float *fluxes, int n) {
    fluxes_of<true>(neighbours, normals, variables, fluxes, n);
}

template <bool READ_ONLY>
static __device__ __forceinline__ void time_step(int step, const float *old, float *variables, const float *factors,
                                                 const float *fluxes, int n) {
    int i = (int)(blockDim.x * blockIdx.x + threadIdx.x);
    float factor = get<READ_ONLY>(factors + i) / (float)(4 - step); /* three-step Runge-Kutta: 1/3, 1/2, 1 */
    for (int v = 0; v < VARIABLES; v++)
        variables[i + v * n] = get<READ_ONLY>(old + i + v * n) + factor * get<READ_ONLY>(fluxes + i + v * n);
}
extern "C" __global__ void cfd_time_step(int step, const float *old, float *variables, const float *factors,
                                         const float *fluxes, int n) {
    time_step<false>(step, old, variables, factors, fluxes, n);
}
extern "C" __global__ void cfd_time_step_ro(int step, const float *old, float *variables, const float *factors,
                                            const float *fluxes, int n) {
    time_step<true>(step, old, variables, factors, fluxes, n);
}
