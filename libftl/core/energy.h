/* energy.h - the capacitor bank: what it holds, what a flush takes. Integers only: nanojoule,
 * nanoseconds, parts per million. POWER.md has the equations and their sources. */
#ifndef FTL_CORE_ENERGY_H
#define FTL_CORE_ENERGY_H

#include "ftl/ftl_config.h"

/* Capacitance at a virtual time as a share of the new bank's, 1/1000000. Life L = 5 years at
 * 70 C, doubled per 10 C less; loss over L is 30 % (electrolytic) or 5 % (tantalum), linear. */
uint32_t energy_health_ppm(const struct ftl_config *cfg, uint64_t now_ns);
/* What a test by partial discharge reads, within power.cap_test_error_ppm of the truth. */
uint32_t energy_measured_ppm(const struct ftl_config *cfg, uint64_t now_ns);
/* 1/2 C (V1^2 - V2^2) x efficiency of a bank of this health. */
uint64_t energy_usable_nj(const struct ftl_config *cfg, uint32_t health_ppm);
/* Base power for ns and the programs of these bytes. */
uint64_t energy_need_nj(const struct ftl_config *cfg, uint64_t bytes, uint64_t ns);
/* Detection and the drain of these bytes. */
uint64_t energy_flush_ns(const struct ftl_config *cfg, uint64_t bytes);
/* The largest flush, in bytes, that this energy carries. */
uint64_t energy_flush_bytes(const struct ftl_config *cfg, uint64_t nj);

#endif
