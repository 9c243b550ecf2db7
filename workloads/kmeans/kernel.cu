// k-means clustering: which centre is nearest to each point. One thread for each point, 256 in a block;
// points are read through a texture, feature by feature, centres from constant memory, the same for all
// threads.
#include "device.h"

#define MAX_CENTRES  16
#define MAX_FEATURES 34

__constant__ float kmeans_centres[MAX_CENTRES * MAX_FEATURES];

// From all features of a point together to all points of a feature together.
KERNEL kmeans_invert(const float *in, float *out, int points, int features) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point < points)
        for (int f = 0; f < features; f++)
            out[point + points * f] = in[point * features + f];
}

KERNEL kmeans_nearest(texture_t by_feature, int features, int points, int centres, int *membership) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points)
        return;
    int nearest = -1;
    float least = 3.4e38f;
    for (int c = 0; c < centres; c++) {
        float distance = 0.0f;
        for (int f = 0; f < features; f++) {
            float d = texture_1d(by_feature, point + points * f) - kmeans_centres[c * features + f];
            distance += d * d;
        }
        if (distance < least) {
            least = distance;
            nearest = c;
        }
    }
    membership[point] = nearest;
}
