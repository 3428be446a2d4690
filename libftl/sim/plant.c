/* plant.c - which planted fault is active. The only static state of the library, and
 * only in builds with -Dplanted=true. */
#include "sim/plant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define X(name, text) #name,
#include "sim/plants.def"
#undef X
};

static int find(const char *name)
{
    for (int i = 0; i < PLANT_COUNT; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    (void)fprintf(stderr, "libftl: FTL_PLANT=%s: no such fault\n", name);
    abort();
}

bool sim_plant(enum sim_plant plant, uint32_t nth)
{
    static int active = -2;         /* -2 = not asked yet, -1 = none */
    static uint32_t calls;

    if (active == -2) {
        const char *name = getenv("FTL_PLANT");
        active = name == NULL || name[0] == '\0' ? -1 : find(name);
    }
    return active == (int)plant && ++calls % nth == 0;
}
