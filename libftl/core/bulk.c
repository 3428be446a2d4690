#define _DEFAULT_SOURCE
#include "core/bulk.h"

#include <stdlib.h>
#include <sys/mman.h>

void *bulk_take(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(p, bytes, MADV_HUGEPAGE); /* only speed depends on it */
#endif
    return p;
}

void bulk_give(void *p, size_t bytes)
{
    if (p != NULL)
        (void)munmap(p, bytes);
}
