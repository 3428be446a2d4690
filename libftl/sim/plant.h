/* plant.h - faults put in on purpose, to prove that the tests find such faults.
 *
 * Only a build with -Dplanted=true has them; there the environment variable FTL_PLANT
 * names the one that is active. Everywhere else FTL_PLANT() is the constant false. */
#ifndef FTL_SIM_PLANT_H
#define FTL_SIM_PLANT_H

#ifdef FTL_WITH_PLANTS
#include <stdbool.h>
#include <stdint.h>

enum sim_plant {
#define X(name, text) PLANT_##name,
#include "sim/plants.def"
#undef X
    PLANT_COUNT
};
/* Every nth call of the active plant; false for all others. */
bool sim_plant(enum sim_plant plant, uint32_t nth);
#define FTL_PLANT(name, nth) sim_plant(PLANT_##name, nth)
#else
#define FTL_PLANT(name, nth) false
#endif

#endif
