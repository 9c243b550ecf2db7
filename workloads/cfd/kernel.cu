// Compressible flow (Euler equations) on an unstructured mesh of tetrahedra: one thread for each element, 192
// in a block.
//
// An element holds density, momentum and energy; each variable is an array of its own. A time step is three
// Runge-Kutta stages; in each, compute_flux sums up the flow through the four faces, for which it reads the
// neighbours' variables through an index. Faces on the body and on the far boundary are special.
#include "device.h"

#define GAMMA     1.4f
#define SMOOTHING 0.2f
#define FACES     4
#define BODY      -1
#define FAR       -2

struct cfd_state {
    float density;
    float3 momentum;
    float energy;
};

// What a state carries through a unit area in each direction, for momentum and energy.
struct cfd_flow {
    float3 mx, my, mz, energy;
};

__constant__ cfd_state cfd_far;     // the undisturbed flow
__constant__ cfd_flow cfd_far_flow; // and its fluxes

DEVICE_FN int cfd_element() {
    return (int)(blockDim.x * blockIdx.x + threadIdx.x);
}

DEVICE_FN cfd_state cfd_load(const float *variables, int i, int n) {
    return {
        variables[i], {variables[i + n], variables[i + 2 * n], variables[i + 3 * n]}, variables[i + 4 * n]};
}

DEVICE_FN float3 cfd_velocity(const cfd_state &s) {
    return make_float3(s.momentum.x / s.density, s.momentum.y / s.density, s.momentum.z / s.density);
}

DEVICE_FN float cfd_speed2(float3 v) {
    return v.x * v.x + v.y * v.y + v.z * v.z;
}

DEVICE_FN float cfd_pressure(const cfd_state &s, float speed2) {
    return (GAMMA - 1.0f) * (s.energy - 0.5f * s.density * speed2);
}

DEVICE_FN float cfd_sound(const cfd_state &s, float pressure) {
    return sqrtf(GAMMA * pressure / s.density);
}

DEVICE_FN cfd_flow cfd_flow_of(const cfd_state &s, float pressure, float3 v) {
    cfd_flow f;
    f.mx = make_float3(v.x * s.momentum.x + pressure, v.x * s.momentum.y, v.x * s.momentum.z);
    f.my = make_float3(f.mx.y, v.y * s.momentum.y + pressure, v.y * s.momentum.z);
    f.mz = make_float3(f.mx.z, f.my.z, v.z * s.momentum.z + pressure);
    float carried = s.energy + pressure;
    f.energy = make_float3(v.x * carried, v.y * carried, v.z * carried);
    return f;
}

DEVICE_FN float dot(float3 a, float3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

DEVICE_FN float3 plus(float3 a, float3 b) {
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}

// Adds the mean of two flows through a face.
DEVICE_FN void cfd_through(cfd_state &flux, float3 half, const cfd_state &a, const cfd_flow &fa,
                           const cfd_state &b, const cfd_flow &fb) {
    flux.density += dot(half, plus(a.momentum, b.momentum));
    flux.energy += dot(half, plus(fa.energy, fb.energy));
    flux.momentum.x += dot(half, plus(fa.mx, fb.mx));
    flux.momentum.y += dot(half, plus(fa.my, fb.my));
    flux.momentum.z += dot(half, plus(fa.mz, fb.mz));
}

KERNEL cfd_initialize(int n, float *variables) {
    int i = cfd_element();
    variables[i] = cfd_far.density;
    variables[i + n] = cfd_far.momentum.x;
    variables[i + 2 * n] = cfd_far.momentum.y;
    variables[i + 3 * n] = cfd_far.momentum.z;
    variables[i + 4 * n] = cfd_far.energy;
}

// The time step over the volume that each element can bear.
KERNEL cfd_step_factor(int n, const float *variables, const float *areas, float *factors) {
    int i = cfd_element();
    cfd_state s = cfd_load(variables, i, n);
    float speed2 = cfd_speed2(cfd_velocity(s));
    float sound = cfd_sound(s, cfd_pressure(s, speed2));
    factors[i] = 0.5f / (sqrtf(areas[i]) * (sqrtf(speed2) + sound));
}

// The flow into each element; normals point inwards and are as long as their faces are large.
KERNEL cfd_flux(int n, const int *neighbours, const float *normals, const float *variables, float *fluxes) {
    int i = cfd_element();
    cfd_state me = cfd_load(variables, i, n), flux = {0.0f, {0.0f, 0.0f, 0.0f}, 0.0f};
    float3 velocity = cfd_velocity(me);
    float speed2 = cfd_speed2(velocity), speed = sqrtf(speed2), pressure = cfd_pressure(me, speed2);
    float sound = cfd_sound(me, pressure);
    cfd_flow flow = cfd_flow_of(me, pressure, velocity);
#pragma unroll
    for (int face = 0; face < FACES; face++) {
        int other = neighbours[i + face * n];
        float3 normal = make_float3(normals[i + face * n], normals[i + (face + FACES) * n],
                                    normals[i + (face + 2 * FACES) * n]);
        float3 half = make_float3(0.5f * normal.x, 0.5f * normal.y, 0.5f * normal.z);
        if (other >= 0) {
            cfd_state it = cfd_load(variables, other, n);
            float3 its_velocity = cfd_velocity(it);
            float its_speed2 = cfd_speed2(its_velocity), its_pressure = cfd_pressure(it, its_speed2);
            float its_sound = cfd_sound(it, its_pressure);
            float factor = -sqrtf(dot(normal, normal)) * SMOOTHING * 0.5f *
                           (speed + sqrtf(its_speed2) + sound + its_sound);
            flux.density += factor * (me.density - it.density);
            flux.energy += factor * (me.energy - it.energy);
            flux.momentum.x += factor * (me.momentum.x - it.momentum.x);
            flux.momentum.y += factor * (me.momentum.y - it.momentum.y);
            flux.momentum.z += factor * (me.momentum.z - it.momentum.z);
            cfd_through(flux, half, me, flow, it, cfd_flow_of(it, its_pressure, its_velocity));
        } else if (other == BODY) {
            flux.momentum.x += normal.x * pressure;
            flux.momentum.y += normal.y * pressure;
            flux.momentum.z += normal.z * pressure;
        } else if (other == FAR) {
            cfd_through(flux, half, me, flow, cfd_far, cfd_far_flow);
        }
    }
    fluxes[i] = flux.density;
    fluxes[i + n] = flux.momentum.x;
    fluxes[i + 2 * n] = flux.momentum.y;
    fluxes[i + 3 * n] = flux.momentum.z;
    fluxes[i + 4 * n] = flux.energy;
}

KERNEL cfd_time_step(int stages_left, int n, const float *old, float *variables, const float *factors,
                     const float *fluxes) {
    int i = cfd_element();
    float factor = factors[i] / (float)stages_left;
#pragma unroll
    for (int v = 0; v < 5; v++)
        variables[i + v * n] = old[i + v * n] + factor * fluxes[i + v * n];
}
