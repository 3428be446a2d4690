/* bulk.h - zeroed memory for the map arrays: huge pages where the system has
 * them, which halves the time of a random write (TLB misses), committed on touch. */
#ifndef FTL_CORE_BULK_H
#define FTL_CORE_BULK_H

#include <stddef.h>

void *bulk_take(size_t bytes);          /* NULL on lack of memory */
void bulk_give(void *p, size_t bytes);  /* NULL is fine */

#endif
