/* Timing on the device and the rates of its arithmetic (check_kernels.h): for gpu-check, on a card only. */
#include "check_kernels.h"
#include "device/cuda/fr.cuh"
#include "device/cuda/kernels.h"
#include "device/cuda/launch.cuh"
#include "device/cuda/point.cuh"
#include <stdio.h>
#include <string.h>
#include <vector>

using namespace gpu;

namespace
{

cudaEvent_t from, to;
struct mark {
    const char *name;
    cudaEvent_t at;
};
std::vector<mark> marks;
std::vector<cudaEvent_t> spare;

void phase(const char *name, struct CUstream_st *stream)
{
    cudaEvent_t e;
    if (spare.empty()) {
        (void)cudaEventCreate(&e);
    } else {
        e = spare.back();
        spare.pop_back();
    }
    (void)cudaEventRecord(e, stream);
    marks.push_back(mark{name, e});
}

const int STEPS = 200;

/* Two independent chains a thread, so that latency hides. */
template <class F> __global__ void rate_mul(F *out, F x, F y)
{
    x.l[0] ^= threadIdx.x;
    y.l[0] ^= blockIdx.x & 255;
    for (int i = 0; i < STEPS; i++) {
        fp_mul(x, x, y);
        fp_mul(y, y, x);
    }
    if (x.l[0] == 0x12345 && y.l[0] == 0x54321)
        *out = x;
}

__global__ void rate_sqr(fp *out, fp x, fp y)
{
    x.l[0] ^= threadIdx.x;
    y.l[0] ^= threadIdx.x * 3;
    for (int i = 0; i < STEPS; i++) {
        fp_sqr(x, x);
        fp_sqr(y, y);
    }
    if (x.l[0] == 0x12345 && y.l[0] == 0x54321)
        *out = x;
}

__global__ void rate_fp2(fp2 *out, fp2 x, fp2 y)
{
    x.c0.l[0] ^= threadIdx.x;
    for (int i = 0; i < STEPS; i++) {
        fp_mul(x, x, y);
        fp_mul(y, y, x);
    }
    if (x.c0.l[0] == 0x12345 && y.c0.l[0] == 0x54321)
        *out = x;
}

__global__ void rate_fr(fr *out, fr x, fr y)
{
    x.l[0] ^= threadIdx.x;
    for (int i = 0; i < STEPS; i++) {
        fr_mul(x, y, x);
        fr_mul(y, x, y);
    }
    if (x.l[0] == 0x12345 && y.l[0] == 0x54321)
        *out = x;
}

__global__ void rate_shoup(fr *out, fr x, fr y, fr_shoup w)
{
    x.l[0] ^= threadIdx.x;
    y.l[0] ^= threadIdx.x * 5;
    for (int i = 0; i < STEPS; i++) {
        fr_mul_shoup(x, x, w.w, w.q);
        fr_mul_shoup(y, y, w.w, w.q);
    }
    if (x.l[0] == 0x12345 && y.l[0] == 0x54321)
        *out = x;
}

__global__ void rate_wide(unsigned long long *out, unsigned a, unsigned b)
{
    unsigned long long s[8];
    for (int k = 0; k < 8; k++)
        s[k] = threadIdx.x * 77u + (unsigned)k + ((unsigned long long)a << 32);
    for (int i = 0; i < STEPS; i++) {
#pragma unroll
        for (int k = 0; k < 8; k++)
            s[k] += (unsigned long long)(unsigned)s[k] * b;
    }
    for (int k = 1; k < 8; k++)
        s[0] ^= s[k];
    if (s[0] == 0x12345)
        *out = s[0];
}

} // namespace

extern "C" {

bool check_device(char *text, size_t size)
{
    int count = 0;
    cudaError_t e = cudaGetDeviceCount(&count);
    if (e != cudaSuccess || count == 0) {
        snprintf(text, size, "no CUDA device: %s", e != cudaSuccess ? cudaGetErrorString(e) : "none found");
        return false;
    }
    cudaDeviceProp p;
    e = cudaGetDeviceProperties(&p, 0);
    if (e == cudaSuccess)
        e = cudaFree(nullptr); /* makes the context */
    if (e != cudaSuccess) {
        snprintf(text, size, "CUDA device 0 does not work: %s", cudaGetErrorString(e));
        return false;
    }
    int driver = 0, runtime = 0;
    (void)cudaDriverGetVersion(&driver);
    (void)cudaRuntimeGetVersion(&runtime);
    snprintf(text, size, "%s, sm_%d%d, %d multiprocessors, %.1f GiB, L2 %d MiB, driver API %d, runtime %d",
             p.name, p.major, p.minor, p.multiProcessorCount, (double)p.totalGlobalMem / 1073741824.0,
             p.l2CacheSize >> 20, driver, runtime);
    return true;
}

size_t check_free_bytes(void)
{
    size_t left = 0, all = 0;
    (void)cudaMemGetInfo(&left, &all);
    return left;
}

void check_timer_start(void)
{
    if (!from) {
        (void)cudaEventCreate(&from);
        (void)cudaEventCreate(&to);
    }
    (void)cudaEventRecord(from, nullptr);
}

double check_timer_stop(void)
{
    float ms = 0;
    (void)cudaEventRecord(to, nullptr);
    (void)cudaEventSynchronize(to);
    (void)cudaEventElapsedTime(&ms, from, to);
    return ms;
}

void check_phases_on(void)
{
    gpu_phase_hook = phase;
}

int check_phases(struct check_phase out[CHECK_PHASES])
{
    int count = 0;
    phase("end", nullptr);
    (void)cudaDeviceSynchronize();
    for (size_t i = 0; i + 1 < marks.size(); i++) {
        float ms = 0;
        (void)cudaEventElapsedTime(&ms, marks[i].at, marks[i + 1].at);
        int k = 0;
        while (k < count && strcmp(out[k].name, marks[i].name) != 0)
            k++;
        if (k == count && count < CHECK_PHASES)
            out[count++] = {marks[i].name, 0};
        if (k < CHECK_PHASES)
            out[k].ms += ms;
    }
    for (mark &m : marks)
        spare.push_back(m.at);
    marks.clear();
    gpu_phase_hook = nullptr;
    return count;
}

struct status check_rate_of(double *out, enum check_rate rate)
{
    const unsigned blocks = 132 * 16, threads = 128;
    double best = 0, per = 2.0 * STEPS;
    void *sink;
    fp2 x = field_of<fp2>::one(), y;
    fr fx = fr_one(), fy = fr_r2();
    fr_shoup w;
    y.c0 = fp_r2();
    y.c1 = fp_one();
    fr_shoup_from(w, fr_r2());
    TRY(check_alloc(&sink, 4096));
    for (int i = 0; i < 4; i++) {
        check_timer_start();
        switch (rate) {
        case RATE_FP_MUL:
            LAUNCH((rate_mul<fp>), blocks, threads, 0, nullptr, (fp *)sink, y.c0, y.c1);
            break;
        case RATE_FP_SQR:
            LAUNCH(rate_sqr, blocks, threads, 0, nullptr, (fp *)sink, y.c0, y.c1);
            break;
        case RATE_FP2_MUL:
            LAUNCH(rate_fp2, blocks, threads, 0, nullptr, (fp2 *)sink, x, y);
            break;
        case RATE_FR_MUL:
            LAUNCH(rate_fr, blocks, threads, 0, nullptr, (fr *)sink, fx, fy);
            break;
        case RATE_FR_SHOUP:
            LAUNCH(rate_shoup, blocks, threads, 0, nullptr, (fr *)sink, fx, fy, w);
            break;
        default:
            per = 8.0 * STEPS;
            LAUNCH(rate_wide, blocks, threads, 0, nullptr, (unsigned long long *)sink, 0x1234567u,
                   0x89abcdefu);
            break;
        }
        LAUNCH_TRY();
        double ms = check_timer_stop();
        double r = per * blocks * threads / ms * 1e3;
        if (i > 0 && r > best)
            best = r;
    }
    check_free(sink);
    *out = best;
    return status_ok();
}

struct status check_copy_rate(double *bytes_per_second)
{
    const size_t bytes = (size_t)4 << 30;
    void *a, *b;
    double best = 0;
    TRY(check_alloc(&a, bytes));
    TRY(check_alloc(&b, bytes));
    for (int i = 0; i < 4; i++) {
        check_timer_start();
        TRY(check_copy(b, a, bytes));
        double ms = check_timer_stop();
        if (2.0 * (double)bytes / ms * 1e3 > best)
            best = 2.0 * (double)bytes / ms * 1e3;
    }
    check_free(a);
    check_free(b);
    *bytes_per_second = best;
    return status_ok();
}
}
