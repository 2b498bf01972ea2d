/* Allocation with counters and fault injection.
 *
 * Every block has a header in front of it that remembers its size, so that freeing needs no size and the
 * counters stay exact. Small blocks come from the C library, 64-byte aligned behind a 64-byte header. Blocks
 * of 1 MiB and more are mappings of their own: freed ones go back to the system at once (a prover's peak
 * would otherwise stay with the process), fresh ones are zero without being touched. Their header has a
 * page to itself, so that the payload is page aligned and can be pinned or advised as a whole.
 * Under the address sanitizer all blocks are small ones, because it does not watch mappings. */
#include "base/mem.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT    ((size_t)64)
#define PAGE         ((size_t)4096)
#define HUGE_PAGE    ((size_t)2 << 20)
#define MAP_AT_LEAST ((size_t)1 << 20)
#define MAGIC        UINT64_C(0x637a6b6d656d6f72)

#if defined(__SANITIZE_ADDRESS__)
#define MAPPINGS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MAPPINGS 0
#endif
#endif
#ifndef MAPPINGS
#define MAPPINGS 1
#endif

/* The address sanitizer aborts on requests that its allocator can never serve. */
#define SMALL_AT_MOST ((size_t)1 << 39)

/* Lies directly in front of the payload. */
struct header {
    uint64_t magic;
    size_t bytes;  /* payload as asked for */
    void *start;   /* of the mapping or of the C library's block */
    size_t mapped; /* length of the mapping; 0 for a block of the C library */
    uint64_t rest[4];
};
_Static_assert(sizeof(struct header) == 64, "the header keeps the payload's alignment");

static atomic_size_t used_bytes, peak_bytes;
static atomic_uint_fast64_t allocations, fail_from;

static void count_more(size_t bytes)
{
    size_t now = atomic_fetch_add(&used_bytes, bytes) + bytes;
    size_t peak = atomic_load(&peak_bytes);
    while (now > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, now)) {
    }
}

/* Counts one allocation; false if fault injection wants it to fail. */
static bool admitted(void)
{
    uint64_t number = atomic_fetch_add(&allocations, 1) + 1;
    uint64_t from = atomic_load(&fail_from);
    return from == 0 || number < from;
}

static bool product(size_t *out, size_t count, size_t size)
{
    return !__builtin_mul_overflow(count, size, out) && *out <= SIZE_MAX / 2;
}

static struct header *header_of(void *block)
{
    struct header *header = (struct header *)((char *)block - sizeof *header);
    CHECK(header->magic == MAGIC);
    return header;
}

static size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static void *fill_header(char *payload, void *start, size_t bytes, size_t mapped)
{
    struct header *header = (struct header *)(payload - sizeof *header);
    *header = (struct header){.magic = MAGIC, .bytes = bytes, .start = start, .mapped = mapped};
    count_more(bytes);
    return payload;
}

/* A mapping whose payload begins one page after a huge page boundary if it is large enough to matter. */
static void *allocate_mapping(size_t bytes)
{
    size_t length = PAGE + round_up(bytes, PAGE);
    size_t slack = bytes >= 2 * HUGE_PAGE ? HUGE_PAGE - PAGE : 0;
    char *start = mmap(NULL, length + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    if (slack) {
        size_t skip = round_up((uintptr_t)start + PAGE, HUGE_PAGE) - PAGE - (uintptr_t)start;
        if (skip)
            munmap(start, skip);
        if (slack > skip)
            munmap(start + skip + length, slack - skip);
        start += skip;
        /* Advice only; kernels without huge pages refuse it. For the whole mapping, header included, since
         * mremap() moves only what has the same advice throughout. */
        (void)madvise(start, length, MADV_HUGEPAGE);
    }
    return fill_header(start + PAGE, start, bytes, length);
}

static void *allocate(size_t bytes, bool zero)
{
    if (MAPPINGS && bytes >= MAP_AT_LEAST)
        return allocate_mapping(bytes);
    if (bytes > SMALL_AT_MOST)
        return NULL;
    char *start = aligned_alloc(ALIGNMENT, sizeof(struct header) + round_up(bytes, ALIGNMENT));
    if (!start)
        return NULL;
    char *payload = start + sizeof(struct header);
    if (zero)
        memset(payload, 0, bytes);
    return fill_header(payload, start, bytes, 0);
}

void *mem_alloc(size_t count, size_t size)
{
    size_t bytes;
    return admitted() && product(&bytes, count, size) ? allocate(bytes, false) : NULL;
}

void *mem_alloc_zero(size_t count, size_t size)
{
    size_t bytes;
    return admitted() && product(&bytes, count, size) ? allocate(bytes, true) : NULL;
}

static void release(struct header *header)
{
    header->magic = 0;
    if (header->mapped)
        munmap(header->start, header->mapped);
    else
        free(header->start);
}

/* Both sizes are mapped: the kernel moves pages instead of bytes. */
static void *grow_mapping(struct header *header, size_t bytes)
{
    size_t old = header->bytes, length = PAGE + round_up(bytes, PAGE);
    char *start = mremap(header->start, header->mapped, length, MREMAP_MAYMOVE);
    if (start == MAP_FAILED)
        return NULL;
    atomic_fetch_sub(&used_bytes, old);
    return fill_header(start + PAGE, start, bytes, length);
}

void *mem_grow(void *block, size_t old_count, size_t new_count, size_t size)
{
    size_t bytes;
    if (!block)
        return mem_alloc(new_count, size);
    struct header *header = header_of(block);
    CHECK(header->bytes == old_count * size);
    if (!admitted() || !product(&bytes, new_count, size))
        return NULL;
    if (header->mapped && bytes >= MAP_AT_LEAST)
        return grow_mapping(header, bytes);
    void *moved = allocate(bytes, false);
    if (!moved)
        return NULL;
    memcpy(moved, block, bytes < header->bytes ? bytes : header->bytes);
    mem_free(block);
    return moved;
}

void mem_free(void *block)
{
    if (!block)
        return;
    struct header *header = header_of(block);
    atomic_fetch_sub(&used_bytes, header->bytes);
    release(header);
}

void mem_wipe(void *block, size_t bytes)
{
    if (block)
        explicit_bzero(block, bytes);
}

struct status mem_failed(const char *what, size_t count, size_t size)
{
    size_t bytes;
    struct status s;
    if (product(&bytes, count, size))
        s = status_error(STATUS_MEMORY, "out of memory: %s needs %zu bytes", what, bytes);
    else
        s = status_error(STATUS_MEMORY, "out of memory: %s needs %zu times %zu bytes", what, count, size);
    s = status_detail(s, "%zu bytes are in use, %zu at most so far", mem_used(), mem_peak());
    return status_hint(s, "free memory, raise the memory limit, or run less at the same time");
}

size_t mem_used(void)
{
    return atomic_load(&used_bytes);
}

size_t mem_peak(void)
{
    return atomic_load(&peak_bytes);
}

void mem_peak_reset(void)
{
    atomic_store(&peak_bytes, atomic_load(&used_bytes));
}

void mem_fail_after(uint64_t n)
{
    atomic_store(&allocations, 0);
    atomic_store(&fail_from, n);
}

uint64_t mem_allocations(void)
{
    return atomic_load(&allocations);
}
