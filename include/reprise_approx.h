/* Annotations for approximation: which loads to look at, and what may be computed for fewer threads.
 *
 * A CUDA source that includes this stays what it is: each annotation becomes a .pragma line of the PTX, over
 * which the vendor's assembler passes (it mentions that it does), and the program runs unchanged. Under
 * Reprise, a machine with Lock and Load (--mech lnl) acts on them, and any other passes over them as well.
 *
 *     approx_threshold(0.1);
 *     float v = in[i];
 *     approx_load(v);
 *     start_approx();
 *     out[i] = f(v);
 *     end_approx();
 *
 * With REPRISE_APPROX_OFF defined they are nothing at all: the compiler's work, too, is that of the plain
 * source.
 *
 * A region is entered at its start and left at its end only, and has no atomics, shuffles, votes or calls.
 * What it stores is floating point, or marked with approx_pixels; what decides where it stores, and which way
 * it goes, is computed for every thread. */
#ifndef REPRISE_APPROX_H
#define REPRISE_APPROX_H

#if defined __CUDACC__ || defined __CUDA__

#ifdef __clang__
#define REPRISE_APPROX static inline __attribute__((always_inline, device))
#else
#define REPRISE_APPROX static __device__ __forceinline__
#endif

#ifdef REPRISE_APPROX_OFF
#define REPRISE_APPROX_SAY(...)
#else
#define REPRISE_APPROX_SAY(...) asm volatile(__VA_ARGS__)
#endif

/* v was loaded, and regions (bit n: that of number n) may be approximated where it is alike in neighbouring
 * threads: relative to its size if it is a float, in its difference if it is an integer. Of a vector, one
 * component stands for all. */
template <unsigned regions = 1> REPRISE_APPROX void approx_load(float v) {
    (void)v;
    REPRISE_APPROX_SAY(".pragma \"reprise check f32 %1 %0\";" ::"f"(v), "n"(regions));
}
template <unsigned regions = 1> REPRISE_APPROX void approx_load(int v) {
    (void)v;
    REPRISE_APPROX_SAY(".pragma \"reprise check s32 %1 %0\";" ::"r"(v), "n"(regions));
}
template <unsigned regions = 1> REPRISE_APPROX void approx_load(unsigned v) {
    (void)v;
    REPRISE_APPROX_SAY(".pragma \"reprise check u32 %1 %0\";" ::"r"(v), "n"(regions));
}

/* The bytes of v, which the region stores, are components of a pixel and may be interpolated one by one. */
REPRISE_APPROX void approx_pixels(unsigned v) {
    (void)v;
    REPRISE_APPROX_SAY(".pragma \"reprise pixels %0\";" ::"r"(v));
}
REPRISE_APPROX void approx_pixels(unsigned short v) {
    (void)v;
    REPRISE_APPROX_SAY(".pragma \"reprise pixels %0\";" ::"h"(v));
}

/* The region begins; it ends. */
template <unsigned region = 0> REPRISE_APPROX void start_approx() {
    REPRISE_APPROX_SAY(".pragma \"reprise start %0\";" ::"n"(region));
}
REPRISE_APPROX void end_approx() {
    REPRISE_APPROX_SAY(".pragma \"reprise end\";");
}

/* Values that differ by less are alike; one for a kernel, a number in the source. */
#define approx_threshold(number) REPRISE_APPROX_SAY(".pragma \"reprise threshold " #number "\";")

#endif
#endif
