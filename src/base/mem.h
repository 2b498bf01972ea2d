/* Allocation. All heap memory of the library rooms comes from here, so that tests can make allocation
 * number N fail and plans can be compared with what was really used. Sizes are overflow-checked. */
#ifndef CUZK_BASE_MEM_H
#define CUZK_BASE_MEM_H

#include "base/status.h"
#include <stdint.h>

/* count * size bytes, 64-byte aligned, contents undefined / zero; NULL if not available. Zero bytes give a
 * valid pointer. Blocks of 1 MiB and more come from mmap (returned to the system when freed, huge-page
 * advised), and zeroed ones are not touched. */
void *mem_alloc(size_t count, size_t size);
void *mem_alloc_zero(size_t count, size_t size);
/* Grows or moves a block; the old one stays valid when NULL is returned. old_count is its present count. */
void *mem_grow(void *block, size_t old_count, size_t new_count, size_t size);
void mem_free(void *block); /* NULL is allowed */
/* Overwrites bytes in a way that no compiler removes: for secrets, before mem_free. */
void mem_wipe(void *block, size_t bytes);
/* "out of memory: WHAT needs N bytes", code STATUS_MEMORY. */
struct status mem_failed(const char *what, size_t count, size_t size);

/* Bytes now in use through this interface, and the highest value since mem_peak_reset(). */
size_t mem_used(void);
size_t mem_peak(void);
void mem_peak_reset(void);
/* Test hook: the n-th allocation from now (1 = the next) and all after it fail; 0 turns this off. */
void mem_fail_after(uint64_t n);
/* Allocations made since mem_fail_after() was last called. */
uint64_t mem_allocations(void);

#endif
