/* cell.h - what the cells hold: threshold voltages, wear, time, reads, senses.
 *
 * Pure functions on plain data: no device needed, no state, thread-safe. The same
 * model is used by a device that was created with cells (see nand.h).
 *
 * Unit of voltage: the pitch between two programmed states as written (state i
 * is aimed at voltage i; 0 is the erased state). Boundary b (1..states-1) parts
 * states b-1 and b; arrays of boundaries hold boundary b at index b-1.
 * Equations, sources and validity: MODEL.md.
 * Errors: 0, or NAND_EINVAL with one line in ret_why (field, value, range).
 * Repeatability: plain IEEE-754 double arithmetic, own exp, log and normal tail;
 * every supported compiler and CPU gives the same bits. */
#ifndef NAND_CELL_H_
#define NAND_CELL_H_

#include "nand/nand.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NAND_STATES_MAX = 16, NAND_BOUNDS_MAX = 15, NAND_BINS_MAX = 8, NAND_RETRY_MAX = 63 };

/* How the distributions come about; a profile names one. */
enum nand_cell_law {
    NAND_LAW_VTH = 0,       /* the threshold-voltage model, calibrated [A] */
    NAND_LAW_FAST19 = 1,    /* published RBER power law, 72-layer TLC [P]; no voltages */
    NAND_LAW_PLANAR_TLC = 2 /* published table of voltages, planar TLC at 2,000 P/E [P] */
};

/* Constants of one cell kind. Get one by name, copy, change, check. */
struct nand_cell {
    const char *name;
    uint32_t states;        /* 2, 4, 8, 16 */
    char map[16];           /* map[b-1] = '0' + page type whose bit flips at boundary b */
    double pe_ref;          /* cycles at which p = 1 */
    double pe_max;          /* the model is not asked beyond */
    double s0, s_wear;      /* width of a programmed state = s0 (1 + s_wear p^0.8) */
    double beta, b, m, lo;  /* shift d_i = beta (lo + (1-lo) i/(S-1)) (1 + b p^m) u */
    double rho;             /* widening by the shift: sigma^2 += (rho d_i)^2 */
    double er, er_sigma;    /* erased state as erased */
    double er_wear, er_up;  /* its rise: er_wear sqrt(p) + er_up beta (1 + b p^m) u */
    double tail_w, tail_kap;/* (1-w) Q(z) + w/2 exp(-kap z) */
    double ea_slow, ea_fast;/* activation energies, eV */
    double fast_share;      /* part of the logarithmic loss that follows ea_fast, 0..1 */
    double rd_amp, rd_exp;  /* erased state rises by rd_amp dose^rd_exp (1 + rd_wear p) */
    double rd_wear;
    double rd_neighbor;     /* dose of one read of a neighbour word line, in reads elsewhere */
    double couple;          /* shift of a cell by its neighbour's programming, part of its rise */
    double xt_shift, xt_wide;   /* per K between programming and reading: shift, width */
    double retry_step;      /* one retry level lowers the top boundary by this */
    double var_chip, var_block, var_layer, var_page;    /* ln-sigma of the width */
    double layer_edge;      /* ln-width of the outermost layers above the middle ones */
};

/* "slc", "mlc", "tlc", "etlc", "qlc"; NULL = unknown. Static storage. */
NAND_API const struct nand_cell *nand_cell_find(const char *name);
NAND_API const char *nand_cell_name(uint32_t index);    /* NULL past the end */
NAND_API int nand_cell_check(const struct nand_cell *cell, char *ret_why, size_t why_size);

/* What happened to the cells. Zero-initialise through NAND_CELL_USE_INIT. */
enum { NAND_NEIGHBOR_RANDOM = -1, NAND_NEIGHBOR_ERASED = 0 /* or a state number */ };
struct nand_cell_use {
    double pe;              /* cycles, 0..cell.pe_max */
    double hours;           /* since programming, 0..1e6 */
    double celsius;         /* while it lay, -55..150 */
    double reads;           /* of other word lines of the block since programming, 0..1e9 */
    double neighbor_reads;  /* of the word lines next to it, 0..1e9 */
    double program_celsius; /* while programmed, -55..150 */
    double read_celsius;    /* while read, -55..150 */
    double width_ln;        /* ln of this page's width against the typical one, -0.5..0.5 */
    int32_t neighbor_state; /* of the word line programmed after it; NAND_NEIGHBOR_* */
};
#define NAND_CELL_USE_INIT {0, 0, 30, 0, 0, 30, 30, 0, NAND_NEIGHBOR_RANDOM}
NAND_API int nand_cell_use_check(const struct nand_cell *cell, const struct nand_cell_use *use,
                                 char *ret_why, size_t why_size);

/* Arrhenius acceleration against 30 C: exp(ea/k (1/303.15 K - 1/T)), JESD218's form.
 * 1.0 for ea = 0. No range check: celsius > -273. */
NAND_API double nand_cell_acceleration(double ea_ev, double celsius);
/* Dose of reads in "reads elsewhere in the block". */
NAND_API double nand_cell_dose(const struct nand_cell *cell, double reads,
                               double neighbor_reads);

/* ---- distributions --------------------------------------------------------- */
struct nand_cell_dist {
    uint32_t states, page_types;
    char map[16];
    double mu[NAND_STATES_MAX], sigma[NAND_STATES_MAX];
    double tail_w, tail_kap;
};
/* Errors: NAND_EINVAL with the field that is out of range. */
NAND_API int nand_cell_dist(const struct nand_cell *cell, const struct nand_cell_use *use,
                            struct nand_cell_dist *ret_dist, char *ret_why, size_t why_size);
/* The planar TLC table (2,000 P/E) at `hours`, 24..8760: published points, straight
 * lines over ln(hours) between them. In table units / 63.583 (its pitch). */
NAND_API int nand_planar_tlc_dist(double hours, struct nand_cell_dist *ret_dist);
/* The 72-layer power law. `time` in days or hours (the source leaves it open; this
 * project takes days). pe 0..20000, time 0..3650 days, reads 0..1e7 per page. */
NAND_API int nand_fast19_rber(double pe, double time, double reads, double *ret_rber);
/* Density of state `state` at `voltage`, per pitch; for plots. */
NAND_API double nand_cell_density(const struct nand_cell_dist *dist, uint32_t state,
                                  double voltage);

/* Part of all cells with low < voltage <= high: what a sweep of one sense counts. */
NAND_API double nand_cell_fraction(const struct nand_cell_dist *dist, double low, double high);

/* ---- read voltages ---------------------------------------------------------- */
struct nand_cell_volts { double v[NAND_BOUNDS_MAX]; };
/* Voltages with the fewest errors, one boundary at a time, to 1e-9 pitch. */
NAND_API void nand_cell_optimum(const struct nand_cell_dist *dist,
                                struct nand_cell_volts *ret_volts);
/* The optimum of fresh cells, frozen: what the part uses without being told otherwise. */
NAND_API void nand_cell_default(const struct nand_cell *cell, struct nand_cell_volts *ret_volts);
/* Default lowered by retry level 0..NAND_RETRY_MAX: the top boundary by level *
 * retry_step, lower ones in proportion to their shift. */
NAND_API void nand_cell_retry(const struct nand_cell *cell, uint32_t level,
                              struct nand_cell_volts *ret_volts);

/* ---- errors and senses ------------------------------------------------------ */
struct nand_cell_errors {
    double rber;            /* (zero_to_one + one_to_zero) / 2 for random data */
    double zero_to_one;     /* stored 0 read as 1, per stored 0 */
    double one_to_zero;
};
/* Exact sum over all states and all boundaries of the page. page_type < page_types. */
NAND_API void nand_cell_page_errors(const struct nand_cell_dist *dist, uint32_t page_type,
                                    const struct nand_cell_volts *volts,
                                    struct nand_cell_errors *ret_errors);
/* Mean over the page types. */
NAND_API double nand_cell_mean_rber(const struct nand_cell_dist *dist,
                                    const struct nand_cell_volts *volts);

/* Sensing with `bits` 1 (hard), 2 or 3: 2^bits - 1 senses per boundary, `spacing`
 * pitch apart, around volts. Bin 0 = surest 0 ... 2^bits - 1 = surest 1. */
struct nand_cell_bins {
    uint32_t bins;
    double p0[NAND_BINS_MAX];   /* P(bin | stored 0), sums to 1 */
    double p1[NAND_BINS_MAX];   /* P(bin | stored 1) */
};
NAND_API int nand_cell_sense(const struct nand_cell_dist *dist, uint32_t page_type,
                             const struct nand_cell_volts *volts, uint32_t bits,
                             double spacing, struct nand_cell_bins *ret_bins);
/* ln(p0/p1) per bin, natural units, clipped to +-40; positive = 0 is likelier. */
NAND_API void nand_cell_llr(const struct nand_cell_bins *bins, double ret_llr[NAND_BINS_MAX]);
/* The same times `scale`, rounded half away from zero and clipped to +-limit. */
NAND_API void nand_cell_llr_int8(const struct nand_cell_bins *bins, double scale, int limit,
                                 int8_t ret_llr[NAND_BINS_MAX]);
/* Mutual information between stored bit and bin, bits per bit, 0..1. */
NAND_API double nand_cell_information(const struct nand_cell_bins *bins);
/* Spacing in 0.005..0.3 pitch with the most information, to 1e-4. ~50 evaluations. */
NAND_API double nand_cell_best_spacing(const struct nand_cell_dist *dist, uint32_t page_type,
                                       const struct nand_cell_volts *volts, uint32_t bits);

/* ---- the fast path: tables built once, integers afterwards --------------------
 * Agrees with nand_cell_page_errors() within 1 % of RBER wherever that is between
 * 1e-8 and 0.5. One query costs some 100 ns (tlc) and no floating point. */
typedef struct nand_cell_table nand_cell_table;
/* O(ms), some 200 KB. law: enum nand_cell_law; FAST19 and PLANAR_TLC need 8 states. */
NAND_API int  nand_cell_table_create(const struct nand_cell *cell, enum nand_cell_law law,
                                     nand_cell_table **ret_table);
NAND_API void nand_cell_table_destroy(nand_cell_table *table);  /* NULL is fine */

struct nand_cell_point {    /* values beyond a bound count as the bound */
    uint32_t pe;            /* 0..cell.pe_max */
    uint64_t slow_s;        /* seconds since programming, weighted by AF(ea_slow); 2^40 */
    uint64_t fast_s;        /* the same with AF(ea_fast) */
    uint64_t dose_q4;       /* reads elsewhere, in 1/16 read; 2^34 */
    int32_t read_minus_program_mk;  /* temperature difference, mK, +-205000 */
    uint32_t width_q16;     /* factor of the width, 65536 = 1; 0.6..1.65 */
    int32_t neighbor_state; /* NAND_NEIGHBOR_RANDOM or a state */
};
#define NAND_CELL_POINT_INIT {0, 0, 0, 0, 0, 65536, NAND_NEIGHBOR_RANDOM}
struct nand_cell_rates { uint64_t rber_q48, zero_to_one_q48, one_to_zero_q48; };
/* volts_q24[b-1]: boundary b in 2^-24 pitch, ascending; see nand_cell_volts_q24(). */
NAND_API void nand_cell_table_rates(const nand_cell_table *table,
                                    const struct nand_cell_point *point, uint32_t page_type,
                                    const int32_t *volts_q24,
                                    struct nand_cell_rates *ret_rates);
NAND_API void nand_cell_volts_q24(const struct nand_cell_volts *volts,
                                  int32_t ret_q24[NAND_BOUNDS_MAX]);

/* ---- sampling --------------------------------------------------------------- */
/* The generator of everything random in this library: a 64-bit value that depends
 * on nothing but its four arguments. */
NAND_API uint64_t nand_draw(uint64_t seed, uint64_t purpose, uint64_t address, uint64_t count);
/* Number of successes in `trials` (at most 2^20) at probability `rate_q48` / 2^48 for
 * the uniform draw u (a whole 64-bit value): inversion, so that the same u gives
 * more successes at a higher rate. Both tails are exact down to one draw in 2^64
 * (probabilities to 1e-11 of themselves). Cost: O(mean), above a mean of 64
 * O(sqrt(mean)); 0.2 to 2 us for a codeword. */
NAND_API uint32_t nand_binomial(uint32_t trials, uint64_t rate_q48, uint64_t u);

#ifdef __cplusplus
}
#endif
#endif
