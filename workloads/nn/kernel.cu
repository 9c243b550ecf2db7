// Distances of places on a map from one place: one thread for each record.
#include "device.h"

struct nn_place {
    float latitude, longitude;
};

KERNEL nn_distance(const nn_place *places, float *distances, int n, float latitude, float longitude) {
    int i = (int)(blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x);
    if (i < n) {
        float dy = latitude - places[i].latitude, dx = longitude - places[i].longitude;
        distances[i] = sqrtf(dy * dy + dx * dx);
    }
}
