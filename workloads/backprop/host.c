/* backprop: one training pass of a perceptron with a hidden layer of 16 units. See README.md. */
#include "host.h"
#include <string.h>

enum { TILE = 16, HIDDEN = 16 };

static const int inputs_of[WL_SIZES] = {1024, 16384, 65536, 65536};
static const float rate = 0.3f, momentum = 0.3f;

struct net {
    int inputs;
    float *input;          /* inputs + 1; input[0] is the bias, 1 */
    float *weights, *last; /* (inputs + 1) x (HIDDEN + 1) */
    float hidden_out[HIDDEN + 1], out_weights[HIDDEN + 1];
    float delta[HIDDEN + 1];
};

static size_t weight_count(const struct net *n) {
    return (size_t)(n->inputs + 1) * (HIDDEN + 1);
}

static struct net make_net(struct wl *w, int inputs) {
    struct net n = {.inputs = inputs, .input = WL_ARRAY(w, float, inputs + 1)};
    n.weights = WL_ARRAY(w, float, weight_count(&n));
    n.last = WL_ARRAY(w, float, weight_count(&n));
    wl_random_floats(w, n.input, (size_t)inputs + 1, 0, 1);
    n.input[0] = 1;
    wl_random_floats(w, n.weights, weight_count(&n), 0, 1);
    wl_random_floats(w, n.out_weights, HIDDEN + 1, 0, 1);
    for (size_t i = 0; i < weight_count(&n); i++)
        if (i <= HIDDEN || !wl_random_below(w, 8))
            n.last[i] = wl_random_below(w, 2) ? 0x1p-8f : -0x1p-8f;
    return n;
}

static float squash(float v) {
    return 1 / (1 + wl_exp(-v));
}

/* Hidden units from the partial sums, the one output unit, and the error sent back to the hidden layer. */
static void middle_of_pass(struct net *n, const float *partial) {
    float sum_out = n->out_weights[0];
    for (int j = 1; j <= HIDDEN; j++) {
        float sum = n->weights[j];
        for (int b = 0; b < n->inputs / TILE; b++)
            sum += partial[b * HIDDEN + j - 1];
        n->hidden_out[j] = squash(sum);
        sum_out += n->out_weights[j] * n->hidden_out[j];
    }
    float out = squash(sum_out), target = 0.1f, delta_out = out * (1 - out) * (target - out);
    for (int j = 1; j <= HIDDEN; j++)
        n->delta[j] = n->hidden_out[j] * (1 - n->hidden_out[j]) * delta_out * n->out_weights[j];
}

static void reference_forward(const struct net *n, float *partial) {
    for (int b = 0; b < n->inputs / TILE; b++)
        for (int j = 0; j < HIDDEN; j++) {
            float sum[TILE];
            for (int i = 0; i < TILE; i++) {
                int row = b * TILE + i + 1;
                sum[i] = n->weights[row * (HIDDEN + 1) + j + 1] * n->input[row];
            }
            for (int half = 1; half < TILE; half *= 2)
                for (int i = 0; i < TILE; i += 2 * half)
                    sum[i] += sum[i + half];
            partial[b * HIDDEN + j] = sum[0];
        }
}

static void reference_adjust(struct net *n) {
    for (int i = 0; i <= n->inputs; i++)
        for (int j = 1; j <= HIDDEN; j++) {
            int at = i * (HIDDEN + 1) + j;
            float move = rate * n->delta[j] * n->input[i] + momentum * n->last[at];
            n->weights[at] += move;
            n->last[at] = move;
        }
}

static void run(struct wl *w) {
    int inputs = wl_option(w, "inputs", inputs_of[w->size]), hidden = HIDDEN;
    if (inputs < TILE || inputs % TILE)
        wl_fail(w, "inputs must be a multiple of %d", TILE);
    struct net n = make_net(w, inputs);
    size_t partials = (size_t)(inputs / TILE) * HIDDEN, count = weight_count(&n);
    float *partial = WL_ARRAY(w, float, partials), *want = WL_ARRAY(w, float, partials);

    CUdeviceptr d_input = wl_upload(w, n.input, (size_t)(inputs + 1) * sizeof(float));
    CUdeviceptr d_weights = wl_upload(w, n.weights, count * sizeof(float));
    CUdeviceptr d_last = wl_upload(w, n.last, count * sizeof(float));
    CUdeviceptr d_partial = wl_alloc(w, partials * sizeof(float));
    struct wl_dim grid = wl_dim(1, (unsigned)(inputs / TILE)), block = wl_dim(TILE, TILE);
    WL_LAUNCH(w, "backprop_forward", grid, block, 0, &d_input, &d_weights, &d_partial, &hidden);
    wl_get(w, partial, d_partial, partials * sizeof(float));
    middle_of_pass(&n, partial);
    wl_put(w, d_weights, n.weights, count * sizeof(float));
    CUdeviceptr d_delta = wl_upload(w, n.delta, sizeof n.delta);
    float r = rate, m = momentum;
    WL_LAUNCH(w, "backprop_adjust", grid, block, 0, &d_delta, &hidden, &d_input, &d_weights, &d_last, &r, &m);

    float *weights = WL_ARRAY(w, float, count), *last = WL_ARRAY(w, float, count);
    wl_get(w, weights, d_weights, count * sizeof(float));
    wl_get(w, last, d_last, count * sizeof(float));
    if (w->check) {
        reference_forward(&n, want);
        reference_adjust(&n);
    }
    /* positive terms: a product and 4 additions; the new weight: 3 products and 2 additions near 1 */
    wl_check_f32(w, "partial sum", partial, want, partials, (struct wl_tolerance){10 * 0x1p-24, 0});
    wl_check_f32(w, "weight", weights, n.weights, count, (struct wl_tolerance){8 * 0x1p-24, 1});
    wl_check_f32(w, "last move", last, n.last, count, (struct wl_tolerance){8 * 0x1p-24, 0x1p-8});
}

const struct workload workload = {"backprop", run};
