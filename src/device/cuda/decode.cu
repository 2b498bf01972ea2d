/* See decode.h. A thread a point: 5 multiplications in G1, 11 in G2; the memory's speed decides. */
#include "device/cuda/decode.h"
#include "device/cuda/launch.cuh"
#include "device/cuda/point.cuh"

using namespace gpu;

namespace
{

HD uint32_t swapped(uint32_t x)
{
    return x >> 24 | (x >> 8 & 0xff00) | (x << 8 & 0xff0000) | x << 24;
}

/* 48 bytes, highest first, to Montgomery form; false unless below p. */
HD bool coordinate(fp &r, const uint32_t *bytes)
{
    const uint32_t p[12] = GPU_FP_P;
    fp plain;
    uint32_t rest[12];
    UNROLL for (int i = 0; i < 12; i++) plain.l[i] = swapped(bytes[11 - i]);
    uint32_t below = words_sub<12>(rest, plain.l, p);
    fp_mul(r, fp_r2(), plain);
    fp_reduce(r, r);
    return below != 0;
}

/* c1 comes first. */
HD bool coordinate(fp2 &r, const uint32_t *bytes)
{
    bool good = coordinate(r.c1, bytes);
    return coordinate(r.c0, bytes + 12) && good;
}

HD fp four()
{
    fp r = fp_one();
    fp_dbl(r, r);
    fp_dbl(r, r);
    return r;
}

HD bool on_curve(const affine<fp> &a)
{
    fp l, r;
    fp_sqr(l, a.y);
    fp_sqr(r, a.x);
    fp_mul(r, r, a.x);
    fp_add(r, r, four());
    return fp_equal(l, r) && !fp_is_zero(a.x); /* points with x = 0 are of order three */
}

HD bool on_curve(const affine<fp2> &a)
{
    fp2 l, r, b;
    b.c0 = b.c1 = four();
    fp_sqr(l, a.y);
    fp_sqr(r, a.x);
    fp_mul(r, r, a.x);
    fp_add(r, r, b);
    return fp_equal(l, r);
}

template <class F>
__global__ void decode_points(affine<F> *points, size_t n, uint64_t first, unsigned long long *bad)
{
    const uint32_t words = sizeof(affine<F>) / 4;
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint4 from[words / 4];
    uint32_t bytes[words];
    UNROLL for (uint32_t k = 0; k < words / 4; k++) from[k] = ((const uint4 *)(points + i))[k];
    UNROLL for (uint32_t k = 0; k < words / 4; k++)
    {
        bytes[4 * k] = from[k].x;
        bytes[4 * k + 1] = from[k].y;
        bytes[4 * k + 2] = from[k].z;
        bytes[4 * k + 3] = from[k].w;
    }
    affine<F> p;
    bool good = (bytes[0] & 0xe0) == 0; /* of the first byte: no flag is right here */
    good = coordinate(p.x, bytes) && good;
    good = coordinate(p.y, bytes + words / 2) && good;
    if (!good || !on_curve(p))
        atomicMin(bad, (unsigned long long)(first + i));
    points[i] = p;
}

} // namespace

extern "C" {

struct status gpu_decode_points(void *points_dev, size_t n, int g2, uint64_t first, uint64_t *bad_dev,
                                struct CUstream_st *stream)
{
    if (n == 0)
        return status_ok();
    if (g2)
        LAUNCH((decode_points<fp2>), divide_up(n, 128), 128, 0, stream, (affine<fp2> *)points_dev, n, first,
               (unsigned long long *)bad_dev);
    else
        LAUNCH((decode_points<fp>), divide_up(n, 128), 128, 0, stream, (affine<fp> *)points_dev, n, first,
               (unsigned long long *)bad_dev);
    LAUNCH_TRY();
    return status_ok();
}
}
