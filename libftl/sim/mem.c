#define _DEFAULT_SOURCE
#include "sim/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BULK_BYTES = 1 << 20 };

static void *take(size_t bytes, bool zeroed)
{
    if (bytes < BULK_BYTES && !zeroed)
        return malloc(bytes > 0 ? bytes : 1);
    if (bytes < BULK_BYTES)
        return calloc(1, bytes > 0 ? bytes : 1);
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(p, bytes, MADV_HUGEPAGE); /* only speed depends on it */
#endif
    return p;
}

static void give(void *p, size_t bytes)
{
    if (bytes < BULK_BYTES)
        free(p);
    else if (p != NULL)
        (void)munmap(p, bytes);
}

static void set_pointer(struct sim_mem *mem, uint32_t i)
{
    memcpy((char *)mem + mem->list[i].where, &mem->list[i].array, sizeof(void *));
}

int sim_mem_take(struct sim_mem *mem, void *where, size_t count, size_t size)
{
    intptr_t place = (intptr_t)where - (intptr_t)mem;
    bool raw = mem->raw, parts = mem->parts;

    mem->raw = mem->parts = false;

    if (count > SIZE_MAX / 2 / size)
        return -1;
    if (mem->again) {
        uint32_t i = mem->cursor++;
        if (i >= mem->count || mem->list[i].where != place || mem->list[i].bytes != count * size)
            abort();                /* initialisation took another way: our fault */
        if (!raw)
            memset(mem->list[i].array, 0, count * size);
        set_pointer(mem, i);
        return 0;
    }
    if (mem->count == SIM_MEM_ARRAYS)
        abort();
    void *p = take(count * size, true);
    if (p == NULL)
        return -1;
    mem->list[mem->count].array = p;
    mem->list[mem->count].bytes = count * size;
    mem->list[mem->count].where = place;
    mem->list[mem->count].parts = parts;
    set_pointer(mem, mem->count++);
    return 0;
}

void sim_mem_again(struct sim_mem *mem)
{
    mem->again = true;
    mem->cursor = 0;
}

int sim_mem_copy(struct sim_mem *to, const struct sim_mem *from)
{
    to->count = 0;
    for (uint32_t i = 0; i < from->count; i++) {
        void *p = take(from->list[i].bytes, false);
        if (p == NULL) {
            sim_mem_free(to);
            return -1;
        }
        if (!from->list[i].parts)
            memcpy(p, from->list[i].array, from->list[i].bytes);
        to->list[i] = from->list[i];
        to->list[i].array = p;
        set_pointer(to, i);
        to->count++;
    }
    return 0;
}

void sim_mem_aim(struct sim_mem *mem)
{
    for (uint32_t i = 0; i < mem->count; i++)
        set_pointer(mem, i);
}

void sim_mem_free(struct sim_mem *mem)
{
    for (uint32_t i = 0; i < mem->count; i++)
        give(mem->list[i].array, mem->list[i].bytes);
    mem->count = 0;
}
