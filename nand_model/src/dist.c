/* dist.c - from constants and history to one distribution per state. */
#include <string.h>

#include "dist.h"
#include "dmath.h"
#include "nand/cell.h"

static const double boltzmann_ev = 8.617333262e-5; /* eV/K, CODATA 2018 [P] */
static const double kelvin_30c = 303.15;

double nand_cell_acceleration(double ea_ev, double celsius)
{
    return nandi_exp(ea_ev / boltzmann_ev * (1 / kelvin_30c - 1 / (273.15 + celsius)));
}

double nand_cell_dose(const struct nand_cell *cell, double reads, double neighbor_reads)
{
    return reads + cell->rd_neighbor * neighbor_reads;
}

/* u: both retention mechanisms lose charge with the logarithm of their own clock.
 * t0 = 1 h. */
double nand_dist_log_time(const struct nand_cell *cell, double hours, double celsius)
{
    double slow = hours * nand_cell_acceleration(cell->ea_slow, celsius);
    double fast = hours * nand_cell_acceleration(cell->ea_fast, celsius);

    return (1 - cell->fast_share) * nandi_log1p(slow) + cell->fast_share * nandi_log1p(fast);
}

/* Rise of the neighbour when it is programmed to state j, and its first two
 * moments over random data: what s0 already contains. */
static double rise(const struct nand_cell *cell, uint32_t j)
{
    return j == 0 ? 0 : j - cell->er;
}

static void apply_neighbor(const struct nand_cell *cell, int32_t state,
                           struct nand_cell_dist *dist)
{
    double mean = 0, square = 0, shift, variance;

    if (state == NAND_NEIGHBOR_RANDOM)
        return;
    for (uint32_t j = 0; j < cell->states; j++) {
        mean += rise(cell, j) / cell->states;
        square += rise(cell, j) * rise(cell, j) / cell->states;
    }
    shift = cell->couple * (rise(cell, (uint32_t)state) - mean);
    variance = cell->couple * cell->couple * (square - mean * mean);
    for (uint32_t i = 0; i < cell->states; i++) {
        double left = dist->sigma[i] * dist->sigma[i] - variance;
        double least = 0.25 * dist->sigma[i] * dist->sigma[i];
        dist->mu[i] += shift;
        dist->sigma[i] = nandi_sqrt(left > least ? left : least);
    }
}

int nand_cell_dist(const struct nand_cell *cell, const struct nand_cell_use *use,
                   struct nand_cell_dist *ret_dist, char *ret_why, size_t why_size)
{
    int err = nand_cell_use_check(cell, use, ret_why, why_size);
    struct nand_cell_dist dist = {0};

    if (err)
        return err;
    if (!ret_dist)
        return NAND_EINVAL;
    double p = use->pe / cell->pe_ref;
    double u = nand_dist_log_time(cell, use->hours, use->celsius);
    double loss = cell->beta * (1 + cell->b * nandi_pow(p, cell->m)) * u;
    double width = nandi_exp(use->width_ln);
    double s = cell->s0 * (1 + cell->s_wear * nandi_pow(p, 0.8)) * width;
    double dose = nand_cell_dose(cell, use->reads, use->neighbor_reads);
    double kelvin = use->read_celsius - use->program_celsius;
    double wide = cell->xt_wide * kelvin;

    dist.states = cell->states;
    while ((1u << dist.page_types) < cell->states)
        dist.page_types++;
    memcpy(dist.map, cell->map, sizeof dist.map);
    dist.tail_w = cell->tail_w;
    dist.tail_kap = cell->tail_kap;
    for (uint32_t i = 1; i < cell->states; i++) {
        double d = loss * (cell->lo + (1 - cell->lo) * i / (cell->states - 1));
        dist.mu[i] = i - d - cell->xt_shift * kelvin;
        dist.sigma[i] = nandi_sqrt(s * s + cell->rho * d * cell->rho * d + wide * wide);
    }
    dist.mu[0] = cell->er + cell->er_wear * nandi_sqrt(p) + cell->er_up * loss +
                 cell->rd_amp * nandi_pow(dose, cell->rd_exp) * (1 + cell->rd_wear * p) -
                 cell->xt_shift * kelvin;
    dist.sigma[0] = nandi_sqrt(cell->er_sigma * width * cell->er_sigma * width + wide * wide);
    apply_neighbor(cell, use->neighbor_state, &dist);
    *ret_dist = dist;
    return 0;
}

/* ---- tails ------------------------------------------------------------------- */

double nand_dist_tail(const struct nand_cell_dist *dist, double z)
{
    if (z < 0)
        return 1 - nand_dist_tail(dist, -z);
    return (1 - dist->tail_w) * nandi_q(z) +
           0.5 * dist->tail_w * nandi_exp(-dist->tail_kap * z);
}

double nand_cell_density(const struct nand_cell_dist *dist, uint32_t state, double voltage)
{
    double z;

    if (state >= dist->states)
        return 0;
    z = (voltage - dist->mu[state]) / dist->sigma[state];
    if (z < 0)
        z = -z;
    return ((1 - dist->tail_w) * 0.39894228040143267794 * nandi_exp(-0.5 * z * z) +
            0.5 * dist->tail_w * dist->tail_kap * nandi_exp(-dist->tail_kap * z)) /
           dist->sigma[state];
}

/* P(low < V <= high) of one state without cancellation between two tails. */
double nand_dist_between(const struct nand_cell_dist *dist, uint32_t state, double low,
                         double high)
{
    double z_low = (low - dist->mu[state]) / dist->sigma[state];
    double z_high = (high - dist->mu[state]) / dist->sigma[state];

    if (z_high <= z_low)
        return 0;
    if (z_low >= 0)
        return nand_dist_tail(dist, z_low) - nand_dist_tail(dist, z_high);
    if (z_high <= 0)
        return nand_dist_tail(dist, -z_high) - nand_dist_tail(dist, -z_low);
    return 1 - nand_dist_tail(dist, -z_low) - nand_dist_tail(dist, z_high);
}

double nand_cell_fraction(const struct nand_cell_dist *dist, double low, double high)
{
    double sum = 0;

    for (uint32_t s = 0; s < dist->states; s++)
        sum += nand_dist_between(dist, s, low, high);
    return sum / dist->states;
}
