/* Image scaling with a texture and a surface: scale samples an image of bytes with bilinear filtering and writes bytes;
 * luminance reads the result back and converts it to grey.
 *   nvcc -arch=sm_75 -O3 -ptx scale.cu */
extern "C" __global__ void scale(cudaTextureObject_t image, cudaSurfaceObject_t result, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float4 c = tex2D<float4>(image, (x + 0.5f) / width, (y + 0.5f) / height);
    uchar4 pixel = make_uchar4((unsigned char)(c.x * 255 + 0.5f), (unsigned char)(c.y * 255 + 0.5f),
                               (unsigned char)(c.z * 255 + 0.5f), (unsigned char)(c.w * 255 + 0.5f));
    surf2Dwrite(pixel, result, x * (int)sizeof pixel, y);
}

extern "C" __global__ void luminance(cudaSurfaceObject_t image, unsigned *grey, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    uchar4 pixel = surf2Dread<uchar4>(image, x * (int)sizeof pixel, y, cudaBoundaryModeZero);
    grey[y * width + x] = (77u * pixel.x + 150u * pixel.y + 29u * pixel.z) >> 8;
}
