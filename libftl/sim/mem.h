/* mem.h - the bookkeeping memory of a drive: taken at create, known as a list.
 *
 * Each array is registered with the place of the pointer that leads to it, relative to the
 * list, which lives in the same object. So a drive is copied by copying the object and every
 * array (sim_mem_copy), and forgets all by running its initialisation again: between
 * sim_mem_again() and the last take every take finds its old array, zeroed, and nothing is
 * allocated. Arrays of 1 MiB and more get huge pages where the system has them, which halves the
 * time of a random write (TLB misses), committed on touch. */
#ifndef FTL_SIM_MEM_H
#define FTL_SIM_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIM_MEM_ARRAYS = 160 };

struct sim_mem {
    struct {
        void *array;
        size_t bytes;
        intptr_t where;
        bool parts;             /* its owner copies what is in use */
    } list[SIM_MEM_ARRAYS];
    uint32_t count, cursor;
    bool again, raw, parts;
};

/* Takes `count` zeroed elements and sets the pointer p; -1 on lack of memory. */
#define SIM_TAKE(mem, p, count) sim_mem_take((mem), &(p), (count), sizeof *(p))
int sim_mem_take(struct sim_mem *mem, void *where, size_t count, size_t size);
/* For arrays of which nothing is read before it is written: taken again they are as they were. */
#define SIM_TAKE_RAW(mem, p, count) \
    ((mem)->raw = true, sim_mem_take((mem), &(p), (count), sizeof *(p)))
/* The same, and of a copy the owner fills in what is in use. */
#define SIM_TAKE_PARTS(mem, p, count) ((mem)->parts = true, SIM_TAKE_RAW(mem, p, count))
void sim_mem_again(struct sim_mem *mem);
/* `to` is a plain copy of the object that `from` lies in: gives it arrays of its own. On lack of
 * memory -1, and `to` has none. */
int sim_mem_copy(struct sim_mem *to, const struct sim_mem *from);
/* Sets all pointers again, after the object or the list was changed. */
void sim_mem_aim(struct sim_mem *mem);
void sim_mem_free(struct sim_mem *mem);

#endif
