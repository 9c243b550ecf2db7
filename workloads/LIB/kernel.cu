// LIBOR market model: value of a portfolio of swaptions along Monte Carlo paths, and its sensitivity.
//
// One thread follows one path. Forward rates, random numbers and, for the sensitivities, the rates of every
// time step live in arrays of the thread's own (local memory, indexed by loops over sizes from constant
// memory). `lib_greeks` runs the path forward and then backward (adjoint); `lib_value` only forward. Of the
// derivatives it stores one, by the first rate after the option date, which moves all the later ones.
#include "device.h"

#define MAX_RATES   80
#define MAX_STEPS   40
#define MAX_OPTIONS 15
// Steps times rates, and the rates at the end.
#define MAX_HISTORY (MAX_RATES * (MAX_STEPS + 1))

__constant__ int lib_rates, lib_steps, lib_options;
__constant__ int lib_maturities[MAX_OPTIONS];
__constant__ float lib_delta, lib_normal, lib_initial;
__constant__ float lib_swaprates[MAX_OPTIONS];
__constant__ float lib_volatility[MAX_RATES];

// Advances the rates to the last time step; keeps those of every step where history is wanted.
template <bool keep> DEVICE_FN void lib_path(float *rate, const float *normal, float *history) {
    for (int n = 0; n < lib_steps; n++) {
        float shock = sqrtf(lib_delta) * normal[n], drift = 0.0f;
        for (int i = n + 1; i < lib_rates; i++) {
            float volatility = lib_volatility[i - n - 1];
            float scaled = lib_delta * volatility;
            drift += __fdividef(scaled * rate[i], 1.0f + lib_delta * rate[i]);
            float growth = __expf(scaled * drift + volatility * (shock - 0.5f * scaled));
            rate[i] = rate[i] * growth;
            if (keep)
                history[i + (n + 1) * lib_rates] = rate[i];
        }
    }
}

// Bond prices and swap sums at the option date.
DEVICE_FN void lib_bonds(const float *rate, float *bond, float *swap) {
    float b = 1.0f, s = 0.0f;
    for (int n = lib_steps; n < lib_rates; n++) {
        b = __fdividef(b, 1.0f + lib_delta * rate[n]);
        s = s + lib_delta * b;
        bond[n - lib_steps] = b;
        swap[n - lib_steps] = s;
    }
}

DEVICE_FN float lib_portfolio(const float *rate) {
    float bond[MAX_RATES], swap[MAX_RATES], v = 0.0f;
    lib_bonds(rate, bond, swap);
    for (int i = 0; i < lib_options; i++) {
        int m = lib_maturities[i] - 1;
        float value = bond[m] + lib_swaprates[i] * swap[m] - 1.0f;
        if (value < 0.0f)
            v -= 100.0f * value;
    }
    for (int n = 0; n < lib_steps; n++)
        v = __fdividef(v, 1.0f + lib_delta * rate[n]);
    return v;
}

// The portfolio's value, and in `sensitivity` its derivative by each rate.
DEVICE_FN float lib_portfolio_adjoint(const float *rate, float *sensitivity) {
    float bond[MAX_RATES], swap[MAX_RATES], bond_bar[MAX_RATES], swap_bar[MAX_RATES], v = 0.0f;
    lib_bonds(rate, bond, swap);
    for (int n = 0; n < lib_rates - lib_steps; n++)
        bond_bar[n] = swap_bar[n] = 0.0f;
    for (int i = 0; i < lib_options; i++) {
        int m = lib_maturities[i] - 1;
        float value = bond[m] + lib_swaprates[i] * swap[m] - 1.0f;
        if (value < 0.0f) {
            v -= 100.0f * value;
            swap_bar[m] -= 100.0f * lib_swaprates[i];
            bond_bar[m] -= 100.0f;
        }
    }
    for (int n = lib_rates - 1; n >= lib_steps; n--) {
        int m = n - lib_steps;
        bond_bar[m] += lib_delta * swap_bar[m];
        if (m > 0) {
            swap_bar[m - 1] += swap_bar[m];
            bond_bar[m - 1] += __fdividef(bond_bar[m], 1.0f + lib_delta * rate[n]);
        }
        sensitivity[n] = -lib_delta * bond_bar[m] * __fdividef(bond[m], 1.0f + lib_delta * rate[n]);
    }
    float discount = 1.0f;
    for (int n = 0; n < lib_steps; n++)
        discount = __fdividef(discount, 1.0f + lib_delta * rate[n]);
    v = discount * v;
    for (int n = 0; n < lib_steps; n++)
        sensitivity[n] = __fdividef(-lib_delta * v, 1.0f + lib_delta * rate[n]);
    for (int n = lib_steps; n < lib_rates; n++)
        sensitivity[n] *= discount;
    return v;
}

// Carries the derivatives back from the last step's rates to the initial ones.
DEVICE_FN void lib_path_adjoint(float *sensitivity, const float *normal, const float *history) {
    for (int n = lib_steps - 1; n >= 0; n--) {
        float shock = sqrtf(lib_delta) * normal[n], later = 0.0f;
        // the drift of rate i holds the terms of all rates up to i: walk down from the last
        float drift = 0.0f;
        for (int i = n + 1; i < lib_rates; i++)
            drift += __fdividef(lib_delta * lib_volatility[i - n - 1] * history[i + n * lib_rates],
                                1.0f + lib_delta * history[i + n * lib_rates]);
        for (int i = lib_rates - 1; i > n; i--) {
            float volatility = lib_volatility[i - n - 1], before = history[i + n * lib_rates];
            float scaled = lib_delta * volatility;
            float growth = __expf(scaled * drift + volatility * (shock - 0.5f * scaled));
            later += scaled * before * growth * sensitivity[i];
            float per_rate = __fdividef(1.0f, 1.0f + lib_delta * before);
            drift -= scaled * before * per_rate;
            sensitivity[i] = growth * sensitivity[i] + scaled * later * per_rate * per_rate;
        }
    }
}

KERNEL lib_greeks(int paths, float *value, float *sensitivity_out) {
    float rate[MAX_RATES], normal[MAX_STEPS], history[MAX_HISTORY];
    int threads = blockDim.x * gridDim.x;
    for (int path = blockIdx.x * blockDim.x + threadIdx.x; path < paths; path += threads) {
        for (int i = 0; i < lib_steps; i++)
            normal[i] = lib_normal;
        for (int i = 0; i < lib_rates; i++)
            history[i] = rate[i] = lib_initial;
        lib_path<true>(rate, normal, history);
        float sensitivity[MAX_RATES];
        value[path] = lib_portfolio_adjoint(rate, sensitivity);
        lib_path_adjoint(sensitivity, normal, history);
        sensitivity_out[path] = sensitivity[lib_steps];
    }
}

KERNEL lib_value(int paths, float *value) {
    float rate[MAX_RATES], normal[MAX_STEPS];
    int threads = blockDim.x * gridDim.x;
    for (int path = blockIdx.x * blockDim.x + threadIdx.x; path < paths; path += threads) {
        for (int i = 0; i < lib_steps; i++)
            normal[i] = lib_normal;
        for (int i = 0; i < lib_rates; i++)
            rate[i] = lib_initial;
        lib_path<false>(rate, normal, rate);
        value[path] = lib_portfolio(rate);
    }
}
