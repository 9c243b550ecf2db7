// Thrust: sort, stable sort by key, reduce, transform, scan, unique on device vectors.
#include "test.h"
#include <thrust/binary_search.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

struct square {
    __host__ __device__ long long operator()(int x) const {
        return (long long)x * x;
    }
};

template <class V> static void print(const char *name, const V &v) {
    thrust::host_vector<typename V::value_type> h = v;
    printf("%s %016llx\n", name, (unsigned long long)fnv(h.data(), h.size() * sizeof(h[0])));
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 5000);
    random_source rng(45);
    thrust::host_vector<int> host(n);
    for (int i = 0; i < n; i++)
        host[i] = int(rng.below(1000)) - 500;
    thrust::device_vector<int> v = host, keys = host, order(n);
    thrust::sort(v.begin(), v.end());
    print("sorted", v);
    thrust::sequence(order.begin(), order.end());
    thrust::stable_sort_by_key(keys.begin(), keys.end(), order.begin(), thrust::greater<int>());
    print("order", order);
    printf("sum %d\n", thrust::reduce(v.begin(), v.end(), 0));
    printf("squares %lld\n",
           thrust::transform_reduce(v.begin(), v.end(), square(), 0ll, thrust::plus<long long>()));
    thrust::inclusive_scan(order.begin(), order.end(), keys.begin());
    print("scan", keys);
    int distinct = int(thrust::unique(v.begin(), v.end()) - v.begin());
    printf("distinct %d\n", distinct);
    printf("found %d\n", int(thrust::lower_bound(v.begin(), v.begin() + distinct, 17) - v.begin()));
    return finish();
}
