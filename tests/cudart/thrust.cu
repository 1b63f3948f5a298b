// Algorithms of Thrust, whose host code chooses kernels and tile sizes by the attributes of functions and of the device.
// nvcc compiles it (nvcc_test.sh).
#include <cstdio>

#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

int main() {
    const int n = 1000;
    thrust::host_vector<int> numbers(n);
    for (int i = 0; i < n; i++) numbers[i] = i * 7919 % n; // each number once
    thrust::device_vector<int> v = numbers, sums(n);
    printf("sum %d\n", thrust::reduce(v.begin(), v.end()));
    thrust::inclusive_scan(v.begin(), v.end(), sums.begin());
    thrust::host_vector<int> got = sums;
    int wrong = 0;
    for (int i = 0, sum = 0; i < n; i++) wrong += got[i] != (sum += numbers[i]);
    thrust::sort(v.begin(), v.end());
    got = v;
    for (int i = 0; i < n; i++) wrong += got[i] != i;
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
