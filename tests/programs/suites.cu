// Kernels in the manner of the public benchmark suites: diffusion (SRAD), a neural layer (backprop),
// particles in boxes with cut-off (lavaMD), separable convolution, an MRI transform and a wavelet step.
#include "test.h"

// ---- SRAD: speckle-reducing diffusion, two kernels with clamped neighbours
__global__ void srad_coefficient(const float *image, float *coefficient, int n, float q0) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float here = image[y * n + x];
    float dn = image[max(y - 1, 0) * n + x] - here, ds = image[min(y + 1, n - 1) * n + x] - here;
    float dw = image[y * n + max(x - 1, 0)] - here, de = image[y * n + min(x + 1, n - 1)] - here;
    float g2 = (dn * dn + ds * ds + dw * dw + de * de) / (here * here), l = (dn + ds + dw + de) / here;
    float num = 0.5f * g2 - 0.0625f * l * l, den = 1 + 0.25f * l, q = num / (den * den);
    float c = 1.0f / (1.0f + (q - q0) / (q0 * (1 + q0)));
    coefficient[y * n + x] = c < 0 ? 0 : c > 1 ? 1 : c;
}

__global__ void srad_update(float *image, const float *old, const float *c, int n, float lambda) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, i = y * n + x;
    float here = old[i], cn = c[i], cs = c[min(y + 1, n - 1) * n + x], ce = c[y * n + min(x + 1, n - 1)];
    float d = cn * (old[max(y - 1, 0) * n + x] - here) + cs * (old[min(y + 1, n - 1) * n + x] - here) +
              cn * (old[y * n + max(x - 1, 0)] - here) + ce * (old[y * n + min(x + 1, n - 1)] - here);
    image[i] = here + 0.25f * lambda * d;
}

// ---- backprop: one layer forward with a product tree in shared memory
__global__ void layer(const float *in, const float *w, float *partial, int hidden) {
    __shared__ float node[16], product[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.x * 16 + ty;
    if (tx == 0)
        node[ty] = in[row];
    __syncthreads();
    product[ty][tx] = w[row * hidden + tx] * node[ty];
    __syncthreads();
    for (int i = 1; i <= 4; i++) {
        int p = 1 << i;
        if (ty % p == 0)
            product[ty][tx] = product[ty][tx] + product[ty + p / 2][tx];
        __syncthreads();
    }
    if (ty == 0)
        partial[blockIdx.x * hidden + tx] = product[0][tx];
}

__global__ void squash(const float *partial, float *out, int blocks, int hidden) {
    float sum = 0;
    for (int b = 0; b < blocks; b++)
        sum += partial[b * hidden + threadIdx.x];
    out[threadIdx.x] = 1.0f / (1.0f + expf(-sum));
}

// ---- lavaMD: a block per box, neighbours in shared memory, double exponentials
struct particle {
    double x, y, z, q;
};

__global__ void boxes(const particle *p, particle *force, int per_side) {
    __shared__ particle other[32];
    int box = blockIdx.x, t = threadIdx.x, bx = box % per_side, by = box / per_side;
    particle me = p[box * 32 + t], f = {0, 0, 0, 0};
    for (int ny = max(by - 1, 0); ny <= min(by + 1, per_side - 1); ny++)
        for (int nx = max(bx - 1, 0); nx <= min(bx + 1, per_side - 1); nx++) {
            __syncthreads();
            other[t] = p[(ny * per_side + nx) * 32 + t];
            __syncthreads();
            for (int k = 0; k < 32; k++) {
                double dx = me.x - other[k].x, dy = me.y - other[k].y, dz = me.z - other[k].z;
                double u2 = 0.5 * (dx * dx + dy * dy + dz * dz), vij = exp(-u2), fs = 2 * vij;
                f.q += other[k].q * vij;
                f.x += other[k].q * fs * dx;
                f.y += other[k].q * fs * dy;
                f.z += other[k].q * fs * dz;
            }
        }
    force[box * 32 + t] = f;
}

// ---- separable convolution with a constant kernel and a shared row
const int radius = 4;
__constant__ float taps[2 * radius + 1];

__global__ void rows(const float *in, float *out, int w) {
    __shared__ float s[128 + 2 * radius];
    int x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y;
    for (int k = threadIdx.x; k < 128 + 2 * radius; k += 128) {
        int at = blockIdx.x * 128 + k - radius;
        s[k] = at >= 0 && at < w ? in[y * w + at] : 0;
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = -radius; k <= radius; k++)
        sum = fmaf(taps[radius + k], s[threadIdx.x + radius + k], sum);
    out[y * w + x] = sum;
}

// ---- MRI-Q: sums of sines and cosines
__global__ void mri(const float4 *k, int samples, const float3 *at, float2 *q, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float2 sum = {0, 0};
    for (int s = 0; s < samples; s++) {
        float angle = 6.2831853f * (k[s].x * at[i].x + k[s].y * at[i].y + k[s].z * at[i].z);
        sum.x += k[s].w * cosf(angle);
        sum.y += k[s].w * sinf(angle);
    }
    q[i] = sum;
}

// ---- Haar wavelet, several levels in shared memory
__global__ void haar(float *data) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * 256 + t];
    for (int n = 128; n > 0; n >>= 1) {
        __syncthreads();
        float a = 0, b = 0;
        if (t < n)
            a = s[2 * t], b = s[2 * t + 1];
        __syncthreads();
        if (t < n) {
            s[t] = (a + b) * 0.5f;
            s[n + t] = (a - b) * 0.5f;
        }
    }
    __syncthreads();
    data[blockIdx.x * 256 + t] = s[t];
}

static double mean(const std::vector<float> &v) {
    double sum = 0;
    for (float x : v)
        sum += x;
    return sum / v.size();
}

static void srad(int n, random_source &rng) {
    std::vector<float> image(n * n);
    for (float &v : image)
        v = expf(rng.unit());
    dev_array<float> a(image), b(n * n), c(n * n);
    dim3 grid(n / 16, n / 16), block(16, 16);
    float *src = a, *dst = b;
    for (int s = 0; s < 4; s++) {
        srad_coefficient<<<grid, block>>>(src, c, n, 0.05f);
        srad_update<<<grid, block>>>(dst, src, c, n, 0.5f);
        float *t = src;
        src = dst;
        dst = t;
    }
    SYNC();
    printf("srad mean %.4f\n", mean(a.get()));
}

static void backprop(int n, random_source &rng) {
    std::vector<float> in(n), w(n * 16);
    for (float &v : in)
        v = rng.unit();
    for (float &v : w)
        v = (rng.unit() - 0.5f) * 0.1f;
    dev_array<float> din(in), dw(w), partial(n / 16 * 16), out(16);
    layer<<<n / 16, dim3(16, 16)>>>(din, dw, partial, 16);
    squash<<<1, 16>>>(partial, out, n / 16, 16);
    SYNC();
    std::vector<float> want(16);
    for (int h = 0; h < 16; h++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += double(in[i]) * w[i * 16 + h];
        want[h] = float(1 / (1 + std::exp(-sum)));
    }
    verdict("backprop", max_error(out.get(), want) < 1e-5);
    print_sum("backprop products", partial.get());
}

static void lavamd(int side, random_source &rng) {
    int n = side * side * 32;
    std::vector<particle> p(n);
    for (particle &v : p)
        v = {rng.unit(), rng.unit(), rng.unit(), rng.unit()};
    dev_array<particle> dp(p), df(n);
    boxes<<<side * side, 32>>>(dp, df, side);
    SYNC();
    double q = 0, x = 0;
    for (const particle &f : df.get()) {
        q += f.q;
        x += f.x;
    }
    printf("lavamd %.8g %.6f\n", q, x);
}

static void convolution(int h, random_source &rng) {
    int w = 256;
    std::vector<float> in(w * h), t(2 * radius + 1), want(w * h);
    for (float &v : in)
        v = rng.unit();
    for (float &v : t)
        v = rng.unit() - 0.3f;
    CHECK(cudaMemcpyToSymbol(taps, t.data(), t.size() * sizeof(float)));
    dev_array<float> din(in), out(w * h);
    rows<<<dim3(2, h), 128>>>(din, out, w);
    SYNC();
    for (int i = 0; i < w * h; i++)
        for (int k = -radius; k <= radius; k++) {
            int x = i % w + k;
            want[i] = fmaf(t[radius + k], x >= 0 && x < w ? in[i + k] : 0, want[i]);
        }
    verdict("convolution", out.get() == want);
}

static void mri_q(int n, random_source &rng) {
    int samples = 64;
    std::vector<float4> k(samples);
    std::vector<float3> at(n);
    for (float4 &v : k)
        v = {rng.unit(), rng.unit(), rng.unit(), rng.unit()};
    for (float3 &v : at)
        v = {rng.unit() * 4, rng.unit() * 4, rng.unit() * 4};
    dev_array<float4> dk(k);
    dev_array<float3> dat(at);
    dev_array<float2> dq(n);
    mri<<<div_up(n, 128), 128>>>(dk, samples, dat, dq, n);
    SYNC();
    double worst = 0;
    std::vector<float2> got = dq.get();
    for (int i = 0; i < n; i++) {
        double c = 0, s = 0;
        for (const float4 &v : k) {
            double angle =
                6.2831853f * (double(v.x) * at[i].x + double(v.y) * at[i].y + double(v.z) * at[i].z);
            c += v.w * std::cos(angle);
            s += v.w * std::sin(angle);
        }
        worst = std::fmax(worst, std::hypot(got[i].x - c, got[i].y - s));
    }
    verdict("mri", worst < 1e-3);
}

static void wavelet(int blocks, random_source &rng) {
    std::vector<float> data(blocks * 256);
    for (float &v : data)
        v = float(rng.below(1024));
    dev_array<float> d(data);
    haar<<<blocks, 256>>>(d);
    SYNC();
    print_sum("haar", d.get());
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 64) / 16 * 16;
    random_source rng(53);
    srad(n, rng);
    backprop(n * 16, rng);
    lavamd(n / 16, rng);
    convolution(n / 2, rng);
    mri_q(n * 16, rng);
    wavelet(n / 4, rng);
    return finish();
}
