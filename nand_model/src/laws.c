/* laws.c - two published laws that stand beside the model. */
#include <string.h>

#include "dist.h"
#include "dmath.h"
#include "laws.h"

/* Planar TLC at 2,000 P/E, 0 = ground, 512 = highest: Cai et al., Proc. IEEE
 * 105(9), 2017 [P]. */
const struct planar_row nand_planar_rows[PLANAR_ROWS] = {
    {24, {-92.7, 66.6, 128.1, 191.9, 254.9, 318.3, 384.3, 448.1},
     {48.2, 9.7, 9.7, 9.4, 9.3, 9.1, 9.5, 9.1}},
    {168, {-86.7, 67.5, 128.1, 191.4, 253.8, 316.5, 381.8, 444.9},
     {46.4, 10.7, 10.8, 10.5, 10.6, 10.3, 10.6, 10.6}},
    {720, {-84.4, 68.6, 128.7, 191.6, 253.5, 315.8, 380.9, 443.6},
     {46.8, 11.3, 11.2, 11.0, 10.9, 10.8, 11.2, 11.1}},
    {2160, {-75.6, 72.8, 131.6, 193.3, 254.3, 315.7, 380.2, 442.2},
     {45.9, 12.0, 11.8, 11.5, 11.4, 11.4, 11.7, 11.7}},
    {8760, {-69.4, 76.6, 134.2, 195.2, 255.3, 316.0, 379.6, 440.8},
     {45.9, 12.8, 12.4, 12.0, 12.0, 11.9, 12.3, 12.4}},
};

const double nand_planar_pitch = 63.583333333333336; /* (448.1 - 66.6) / 6 [D] */

int nand_planar_tlc_dist(double hours, struct nand_cell_dist *ret_dist)
{
    struct nand_cell_dist dist = {.states = 8, .page_types = 3, .tail_w = 0, .tail_kap = 1};
    const struct planar_row *row = nand_planar_rows;
    double part;

    if (!ret_dist || !(hours >= 24 && hours <= 8760))
        return NAND_EINVAL;
    for (int i = 1; i < PLANAR_ROWS - 1 && hours > row[1].hours; i++)
        row++;
    part = (nandi_log(hours) - nandi_log(row[0].hours)) / (nandi_log(row[1].hours) - nandi_log(row[0].hours));
    if (hours == row[0].hours)
        part = 0;
    if (hours == row[1].hours)
        part = 1;
    memcpy(dist.map, "0121012", 8);
    for (int s = 0; s < 8; s++) {
        dist.mu[s] = (row[0].mu[s] + part * (row[1].mu[s] - row[0].mu[s])) / nand_planar_pitch;
        dist.sigma[s] =
            (row[0].sigma[s] + part * (row[1].sigma[s] - row[0].sigma[s])) / nand_planar_pitch;
    }
    *ret_dist = dist;
    return 0;
}

/* RBER of 72-layer TLC, FAST'19 [P]. */
int nand_fast19_rber(double pe, double time, double reads, double *ret_rber)
{
    if (!ret_rber || !(pe >= 0 && pe <= 20000) || !(time >= 0 && time <= 3650 * 24.0) ||
        !(reads >= 0 && reads <= 1e7))
        return NAND_EINVAL;
    *ret_rber = 1.48e-3 + 3.90e-10 * nandi_pow(pe, 2.05) +
                6.28e-5 * nandi_pow(pe, 0.14) * nandi_pow(time, 0.54) +
                3.73e-9 * nandi_pow(pe, 0.33) * nandi_pow(reads, 1.71);
    return 0;
}
