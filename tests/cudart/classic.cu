// Programs of classical shape, each of which verifies its results: classic [NAME [SCALE]]. Vectors, graphs and the edges
// of matrices and images are SCALE times as long (default: 1). nvcc compiles them (exec_test.sh).
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define MUST(call) \
    do { \
        cudaError_t error_ = (call); \
        if (error_ != cudaSuccess) { \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
            exit(3); \
        } \
    } while (0)

static int scale = 1;

template <typename T> static T *to_device(const std::vector<T> &v) {
    T *p;
    MUST(cudaMalloc(&p, v.size() * sizeof(T)));
    MUST(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}

template <typename T> static std::vector<T> to_host(const T *p, size_t n) {
    std::vector<T> v(n);
    MUST(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
}

static std::vector<int> numbers(size_t n, unsigned seed, int limit) {
    std::vector<int> v(n);
    for (auto &x : v) x = (int)((seed = seed * 1664525u + 1013904223u) >> 8) % limit;
    return v;
}

static std::vector<float> floats(size_t n, unsigned seed) {
    std::vector<float> v(n);
    std::vector<int> whole = numbers(n, seed, 64);
    for (size_t i = 0; i < n; i++) v[i] = (float)whole[i];
    return v;
}

template <typename T> static bool same(const std::vector<T> &a, const std::vector<T> &b) {
    for (size_t i = 0; i < a.size(); i++)
        if (a[i] != b[i]) {
            printf("element %zu is %g, expected %g\n", i, (double)a[i], (double)b[i]);
            return false;
        }
    return a.size() == b.size();
}

// --- vector add ---

__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

static bool vector_add() {
    const int n = 3000 * scale;
    std::vector<float> a = floats(n, 1), b = floats(n, 2), sum(n);
    for (int i = 0; i < n; i++) sum[i] = a[i] + b[i];
    float *da = to_device(a), *db = to_device(b), *dc = to_device(std::vector<float>(n));
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    MUST(cudaGetLastError());
    return same(to_host(dc, n), sum);
}

// --- matrix multiply ---

__global__ void multiply_naive(const float *a, const float *b, float *c, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

template <int TILE> __global__ void multiply_tiled(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[TILE][TILE], tb[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int t = 0; t < n; t += TILE) {
        ta[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

static bool multiply(bool tiled) {
    const int n = 48 * scale;
    std::vector<float> a = floats(n * n, 3), b = floats(n * n, 4), c(n * n);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            for (int k = 0; k < n; k++) c[y * n + x] += a[y * n + k] * b[k * n + x];
    float *da = to_device(a), *db = to_device(b), *dc = to_device(std::vector<float>(n * n));
    dim3 block(16, 16), grid(n / 16, n / 16);
    if (tiled)
        multiply_tiled<16><<<grid, block>>>(da, db, dc, n);
    else
        multiply_naive<<<grid, block>>>(da, db, dc, n);
    MUST(cudaDeviceSynchronize());
    return same(to_host(dc, n * n), c);
}

static bool naive() { return multiply(false); }
static bool tiled() { return multiply(true); }

// --- reduction: shared memory between warps, shuffles within ---

__global__ void reduce(const int *in, int *out, int n) {
    extern __shared__ int partial[];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}

static bool reduction() {
    const int n = 10000 * scale;
    std::vector<int> in = numbers(n, 5, 1000);
    int sum = 0;
    for (int x : in) sum += x;
    int *din = to_device(in), *dout = to_device(std::vector<int>(1));
    reduce<<<8, 256, 256 / 32 * sizeof(int)>>>(din, dout, n);
    MUST(cudaDeviceSynchronize());
    return same(to_host(dout, 1), {sum});
}

// --- inclusive scan: within blocks, of the block sums, and their addition ---

__global__ void scan_blocks(int *data, int *sums, int n) {
    __shared__ int part[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = i < n ? data[i] : 0;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int left = threadIdx.x >= d ? part[threadIdx.x - d] : 0;
        __syncthreads();
        part[threadIdx.x] += left;
        __syncthreads();
    }
    if (i < n) data[i] = part[threadIdx.x];
    if (sums && threadIdx.x == 255) sums[blockIdx.x] = part[255];
}

__global__ void scan_add(int *data, const int *sums, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (blockIdx.x > 0 && i < n) data[i] += sums[blockIdx.x - 1];
}

static void scan_device(int *data, int n) {
    const int blocks = (n + 255) / 256;
    int *sums = nullptr;
    if (blocks > 1) MUST(cudaMalloc(&sums, blocks * sizeof(int)));
    scan_blocks<<<blocks, 256>>>(data, sums, n);
    if (blocks == 1) return;
    scan_device(sums, blocks);
    scan_add<<<blocks, 256>>>(data, sums, n);
}

static bool scan() {
    const int n = 5000 * scale;
    std::vector<int> in = numbers(n, 6, 100), want(n);
    for (int i = 0, sum = 0; i < n; i++) want[i] = sum += in[i];
    int *data = to_device(in);
    scan_device(data, n);
    MUST(cudaDeviceSynchronize());
    return same(to_host(data, n), want);
}

// --- histogram: atomics on shared and global memory ---

__constant__ int bin_of[256];

__global__ void count(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned local[64];
    if (threadIdx.x < 64) local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[bin_of[in[i]]], 1);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

static bool histogram() {
    const int n = 8000 * scale;
    std::vector<int> values = numbers(n, 7, 256);
    std::vector<unsigned char> in(values.begin(), values.end());
    int table[256];
    std::vector<unsigned> want(64);
    for (int i = 0; i < 256; i++) table[i] = i / 4;
    for (int x : values) want[x / 4]++;
    MUST(cudaMemcpyToSymbol(bin_of, table, sizeof table));
    unsigned char *din = to_device(in);
    unsigned *bins;
    MUST(cudaMalloc(&bins, 64 * sizeof(unsigned)));
    MUST(cudaMemset(bins, 0, 64 * sizeof(unsigned)));
    count<<<4, 128>>>(din, bins, n);
    return same(to_host(bins, 64), want);
}

// --- transpose through a padded tile ---

__global__ void turn(const float *in, float *out, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) out[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}

static bool transpose() {
    const int n = 96 * scale;
    std::vector<float> in = floats(n * n, 8), want(n * n);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) want[x * n + y] = in[y * n + x];
    float *din = to_device(in), *dout = to_device(std::vector<float>(n * n));
    turn<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(din, dout, n);
    return same(to_host(dout, n * n), want);
}

// --- stencil with two buffers in pitched memory ---

__global__ void smooth(const float *in, float *out, size_t pitch, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float *row = (const float *)((const char *)in + y * pitch);
    float *to = (float *)((char *)out + y * pitch);
    bool edge = x == 0 || y == 0 || x == width - 1 || y == height - 1;
    const float *up = (const float *)((const char *)row - pitch), *down = (const float *)((const char *)row + pitch);
    to[x] = edge ? row[x] : (row[x] * 4 + row[x - 1] + row[x + 1] + up[x] + down[x]) / 8;
}

static bool stencil() {
    const int width = 70 * scale, height = 40 * scale;
    std::vector<float> now = floats(width * height, 9), next(now);
    float *a, *b;
    size_t pitch, pitch_b;
    MUST(cudaMallocPitch(&a, &pitch, width * sizeof(float), height));
    MUST(cudaMallocPitch(&b, &pitch_b, width * sizeof(float), height));
    if (pitch != pitch_b || pitch < width * sizeof(float)) return false;
    MUST(cudaMemcpy2D(a, pitch, now.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
    for (int step = 0; step < 4; step++) {
        smooth<<<dim3((width + 31) / 32, (height + 7) / 8), dim3(32, 8)>>>(a, b, pitch, width, height);
        std::swap(a, b);
        for (int y = 1; y < height - 1; y++)
            for (int x = 1; x < width - 1; x++) {
                const float *p = &now[y * width + x];
                next[y * width + x] = (p[0] * 4 + p[-1] + p[1] + p[-width] + p[width]) / 8;
            }
        std::swap(now, next);
    }
    std::vector<float> result(width * height);
    MUST(cudaMemcpy2D(result.data(), width * 4, a, pitch, width * 4, height, cudaMemcpyDeviceToHost));
    return same(result, now);
}

// --- breadth-first search: the host launches a level at a time until nothing changes ---

__global__ void expand(const int *first, const int *edges, int *level, int now, int nodes, int *changed) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || level[node] != now) return;
    for (int e = first[node]; e < first[node + 1]; e++)
        if (atomicCAS(&level[edges[e]], -1, now + 1) == -1) *changed = 1;
}

static bool search() {
    const int nodes = 1500 * scale, degree = 3;
    std::vector<int> first(nodes + 1), edges = numbers(nodes * degree, 10, nodes), level(nodes, -1), want(nodes, -1);
    for (int i = 0; i <= nodes; i++) first[i] = i * degree;
    level[0] = want[0] = 0;
    std::vector<int> queue = {0};
    for (size_t i = 0; i < queue.size(); i++)
        for (int e = first[queue[i]]; e < first[queue[i] + 1]; e++)
            if (want[edges[e]] < 0) want[edges[e]] = want[queue[i]] + 1, queue.push_back(edges[e]);
    int *dfirst = to_device(first), *dedges = to_device(edges), *dlevel = to_device(level), *dchanged;
    MUST(cudaMalloc(&dchanged, sizeof(int)));
    int changed = 1;
    for (int now = 0; changed; now++) {
        MUST(cudaMemset(dchanged, 0, sizeof(int)));
        expand<<<(nodes + 127) / 128, 128>>>(dfirst, dedges, dlevel, now, nodes, dchanged);
        MUST(cudaMemcpy(&changed, dchanged, sizeof(int), cudaMemcpyDeviceToHost));
    }
    return same(to_host(dlevel, nodes), want);
}

// --- streams with asynchronous copies from pinned memory, timed by events ---

__global__ void square(unsigned *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= data[i];
}

static bool streams() {
    const int count = 4, n = 1024 * scale;
    unsigned *host, *device;
    MUST(cudaMallocHost(&host, count * n * sizeof(unsigned)));
    MUST(cudaMalloc(&device, count * n * sizeof(unsigned)));
    for (unsigned i = 0; i < (unsigned)(count * n); i++) host[i] = i;
    cudaStream_t stream[count];
    cudaEvent_t start, stop;
    MUST(cudaEventCreate(&start));
    MUST(cudaEventCreate(&stop));
    MUST(cudaEventRecord(start));
    for (int s = 0; s < count; s++) {
        MUST(cudaStreamCreate(&stream[s]));
        unsigned *part = device + s * n;
        MUST(cudaMemcpyAsync(part, host + s * n, n * sizeof(unsigned), cudaMemcpyHostToDevice, stream[s]));
        square<<<n / 256, 256, 0, stream[s]>>>(part, n);
        MUST(cudaMemcpyAsync(host + s * n, part, n * sizeof(unsigned), cudaMemcpyDeviceToHost, stream[s]));
    }
    MUST(cudaEventRecord(stop));
    MUST(cudaEventSynchronize(stop));
    float ms = -1;
    MUST(cudaEventElapsedTime(&ms, start, stop));
    for (int s = 0; s < count; s++) MUST(cudaStreamSynchronize(stream[s]));
    for (int s = 0; s < count; s++) MUST(cudaStreamDestroy(stream[s]));
    bool good = ms > 0 && ms < 1000;
    if (!good) printf("the events are %g ms apart\n", ms);
    for (unsigned i = 0; i < (unsigned)(count * n); i++) good &= host[i] == i * i;
    MUST(cudaEventDestroy(start));
    MUST(cudaEventDestroy(stop));
    MUST(cudaFreeHost(host));
    return good;
}

// --- texture lookup: an image turned by 30 degrees, with linear interpolation ---

#ifdef __NVCC__ // Sluice's header for clang has no textures

__global__ void turn(cudaTextureObject_t image, float *out, int width, int height, float cosine, float sine) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float u = x - 0.5f * width, v = y - 0.5f * height;
    float from_x = u * cosine - v * sine + 0.5f * width, from_y = v * cosine + u * sine + 0.5f * height;
    out[y * width + x] = tex2D<float>(image, from_x + 0.5f, from_y + 0.5f);
}

static bool texture() {
    const int width = 96 * scale, height = 80 * scale;
    const float cosine = 0.8660254f, sine = 0.5f;
    std::vector<float> image = floats(width * height, 11);
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    MUST(cudaMallocArray(&array, &format, width, height));
    MUST(cudaMemcpy2DToArray(array, 0, 0, image.data(), width * sizeof(float), width * sizeof(float), height,
                             cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc sampling = {};
    sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
    sampling.filterMode = cudaFilterModeLinear;
    sampling.readMode = cudaReadModeElementType;
    cudaTextureObject_t object;
    MUST(cudaCreateTextureObject(&object, &resource, &sampling, nullptr));
    float *out = to_device(std::vector<float>(width * height));
    turn<<<dim3(width / 16, height / 16), dim3(16, 16)>>>(object, out, width, height, cosine, sine);
    std::vector<float> got = to_host(out, width * height);
    MUST(cudaDestroyTextureObject(object));
    MUST(cudaFreeArray(array));
    auto texel = [&](int x, int y) {
        x = x < 0 ? 0 : x >= width ? width - 1 : x;
        y = y < 0 ? 0 : y >= height ? height - 1 : y;
        return (double)image[y * width + x];
    };
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double u = x - 0.5 * width, v = y - 0.5 * height;
            double from_x = u * cosine - v * sine + 0.5 * width, from_y = v * cosine + u * sine + 0.5 * height;
            int left = (int)std::floor(from_x), top = (int)std::floor(from_y);
            double a = from_x - left, b = from_y - top;
            double expected = (1 - b) * ((1 - a) * texel(left, top) + a * texel(left + 1, top)) +
                              b * ((1 - a) * texel(left, top + 1) + a * texel(left + 1, top + 1));
            // GPUs interpolate with weights of 8 bits; the texels are below 64.
            if (std::fabs(got[y * width + x] - expected) > 2 * 64 / 256.0) {
                printf("pixel (%d,%d) is %g, expected %g\n", x, y, got[y * width + x], expected);
                return false;
            }
        }
    return true;
}

#endif

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        bool (*run)();
    } programs[] = {
        {"add", vector_add},     {"naive", naive},         {"tiled", tiled},     {"reduction", reduction},
        {"scan", scan},          {"histogram", histogram}, {"transpose", transpose}, {"stencil", stencil},
        {"search", search},      {"streams", streams},
#ifdef __NVCC__
        {"texture", texture},
#endif
    };
    if (argc > 2) scale = atoi(argv[2]);
    if (scale < 1) return 2;
    for (auto &program : programs) {
        if (argc > 1 && strcmp(argv[1], program.name) != 0) continue;
        if (!program.run()) {
            printf("%s: failed\n", program.name);
            return 1;
        }
        printf("%s: passed\n", program.name);
    }
    return 0;
}
