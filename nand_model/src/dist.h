/* dist.h - pieces of the distribution model shared inside nand_model. */
#ifndef NAND_SRC_DIST_H_
#define NAND_SRC_DIST_H_

#include "nand/cell.h"

double nand_dist_log_time(const struct nand_cell *cell, double hours, double celsius);
double nand_dist_tail(const struct nand_cell_dist *dist, double z);
double nand_dist_between(const struct nand_cell_dist *dist, uint32_t state, double low,
                         double high);
/* Bit of page `type` carried by `state`; the erased state carries all ones. */
uint32_t nand_dist_bit(const struct nand_cell_dist *dist, uint32_t state, uint32_t type);

#endif
