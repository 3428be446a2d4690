/* laws.h - published tables, shared with the fast path. */
#ifndef NAND_SRC_LAWS_H_
#define NAND_SRC_LAWS_H_

enum { PLANAR_ROWS = 5 };

struct planar_row {
    double hours, mu[8], sigma[8];
};

extern const struct planar_row nand_planar_rows[PLANAR_ROWS];
extern const double nand_planar_pitch;

#endif
