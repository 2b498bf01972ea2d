/* See windows.h. About 255 doublings and 4 additions a window, one thread: 0.4 ms in G1, where the card's own
 * formulas compiled for the host take ten times that. */
#include "device/cuda/windows.h"
#include "curve/point.h"

#define WINDOWS_SUM(g)                                                                                       \
    void gpu_windows_sum_##g(void *out, const void *sums, uint32_t windows, uint32_t bits,                   \
                             uint32_t low_bits)                                                              \
    {                                                                                                        \
        const g##_xyzz *s = sums;                                                                            \
        g##_xyzz total, window;                                                                              \
        g##_infinity(&total);                                                                                \
        for (uint32_t w = windows; w-- > 0;) {                                                               \
            const g##_xyzz *rows = s + 4 * (size_t)w, *columns = rows + 2;                                   \
            window = rows[1];                                                                                \
            for (uint32_t i = 0; i < low_bits; i++)                                                          \
                g##_dbl(&window, &window);                                                                   \
            g##_add(&window, &window, &rows[0]);                                                             \
            g##_add(&window, &window, &columns[1]);                                                          \
            for (uint32_t i = 0; i < bits; i++)                                                              \
                g##_dbl(&total, &total);                                                                     \
            g##_add(&total, &total, &window);                                                                \
        }                                                                                                    \
        *(g##_xyzz *)out = total;                                                                            \
    }

WINDOWS_SUM(g1)
WINDOWS_SUM(g2)
