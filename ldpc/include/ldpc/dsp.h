/* dsp.h - read voltages, soft values and the retry ladder. The firmware's part
 * (issuing the reads) is the caller's; here are the decisions. No allocation.
 *
 * Unit of voltage: millipitch (mp), a thousandth of the distance between two
 * neighbouring states' programmed levels. An offset is relative to the default
 * read voltage of its boundary; boundary b lies between states b and b + 1. All
 * decisions are integer. Errors: enum ldpc_err. */
#ifndef LDPC_DSP_H_
#define LDPC_DSP_H_

#include "ldpc/ldpc.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LDPC_BOUNDS_MAX = 15,     /* boundaries of a 4-bit cell */
    LDPC_OFFSET_MAX_MP = 2000 /* offsets stay within +- two pitches */
};

struct ldpc_volt {
    int16_t off_mp[LDPC_BOUNDS_MAX];
};

/* How a page's charge moves: the share of the top boundary's shift that each
 * boundary takes, 0..1000. */
struct ldpc_shape {
    uint8_t bounds; /* 1..LDPC_BOUNDS_MAX */
    uint16_t share_permille[LDPC_BOUNDS_MAX];
};

/* Offsets for a shift of the top boundary (negative = charge lost), each boundary
 * in proportion. Rounds to nearest, halves away from 0. Errors: EINVAL. */
LDPC_API int ldpc_volt_shift(const struct ldpc_shape *shape, int top_mp, struct ldpc_volt *ret);

/* Retry table entry n (n = 0 is the default read): the top boundary lowered by
 * n * step_mp_x10 / 10. Errors: EINVAL. */
LDPC_API int ldpc_retry_entry(const struct ldpc_shape *shape, uint32_t n, uint32_t step_mp_x10,
                              struct ldpc_volt *ret);

/* ---- last-good voltage store ------------------------------------------------------ */

/* One top-boundary shift per block group, layer and page type, in caller memory. */
struct ldpc_vstore {
    uint32_t groups, layers, types;
    int16_t *top_mp; /* [group][layer][type], owned by the caller, start with 0 */
};

/* Number of int16_t that top_mp needs; 0 if a count is 0 or the product exceeds 2^28. */
LDPC_API size_t ldpc_vstore_entries(uint32_t groups, uint32_t layers, uint32_t types);
LDPC_API int ldpc_vstore_get(const struct ldpc_vstore *s, uint32_t group, uint32_t layer,
                             uint32_t type, int *ret_top_mp);
LDPC_API int ldpc_vstore_put(struct ldpc_vstore *s, uint32_t group, uint32_t layer,
                             uint32_t type, int top_mp);

/* ---- tracking ------------------------------------------------------------------------ */

/* Correction of one boundary from the errors a decode corrected there: `up` cells
 * belonged above but read below, `down` the reverse. At the best voltage both are
 * equally many; an excess of `up` means the charge has sunk, so the result is
 * negative. gain_mp is the step at complete asymmetry; fewer than min_errors
 * errors give 0, because the ratio would be noise. Never more than +-gain_mp. */
LDPC_API int ldpc_track_step(uint32_t up, uint32_t down, uint32_t gain_mp, uint32_t min_errors);

/* ---- valley search ------------------------------------------------------------------- */

enum { LDPC_SWEEP_MAX = 64 };

/* Lowest point of the cell histogram from a sweep of reads at start_mp + i *
 * step_mp: below[i] = cells that read below the i-th voltage, not falling.
 * The histogram is smoothed (1 2 1) and its lowest bin refined by a parabola.
 * 5 <= count <= LDPC_SWEEP_MAX. Errors: EINVAL (also if below[] falls). */
LDPC_API int ldpc_valley(const uint32_t *below, uint32_t count, int start_mp, uint32_t step_mp,
                         int *ret_mp);

/* ---- sentinel cells ------------------------------------------------------------------- */

/* Cells programmed to known states near a boundary tell the shift of all: fit
 * offset = slope * asymmetry from pairs seen at characterisation. */
struct ldpc_sentinel {
    int64_t sum_xy, sum_xx; /* running least squares through the origin */
};

LDPC_API void ldpc_sentinel_learn(struct ldpc_sentinel *s, uint32_t up, uint32_t down,
                                  uint32_t cells, int best_mp);
/* Offset for the seen errors among `cells` sentinels; 0 while nothing was learnt. */
LDPC_API int ldpc_sentinel_offset(const struct ldpc_sentinel *s, uint32_t up, uint32_t down,
                                  uint32_t cells);

/* ---- neighbour-conditioned read -------------------------------------------------------- */

/* A neighbour programmed later pushes a cell's charge up by coupling. Offset to
 * read cells whose neighbour is in `state` of `states`, around the mean:
 * coupling_permille of the neighbour's swing. */
LDPC_API int ldpc_neighbour_offset(uint32_t state, uint32_t states, uint32_t coupling_permille);

/* Merge reads of one page taken at several offsets: bit v comes from read c where
 * class bit v of mask[c] is set. The masks must not overlap; bits in no mask come
 * from read 0. Errors: EINVAL. */
LDPC_API int ldpc_neighbour_merge(uint32_t classes, const uint8_t *const *reads,
                                  const uint8_t *const *mask, size_t bytes, uint8_t *ret);

/* ---- soft values --------------------------------------------------------------------------
 */

/* Value of a region from how often it was seen with each true bit (a corrected
 * page gives these): round(scale * ln((zeros + 1) / (ones + 1))), clipped to
 * +-LDPC_LLR_MAX. scale_x16: sixteenths of an LLR unit per nat. Integer only,
 * ln to 1/4096. */
LDPC_API int8_t ldpc_llr_count(uint32_t zeros, uint32_t ones, uint32_t scale_x16);

/* Two neighbouring states as Gaussians and the reads that split them: regions are
 * below read[0], between read[0] and read[1], .. above the last. bit_below = the
 * bit stored in the lower state. */
struct ldpc_valley_model {
    int mean_mp[2];       /* lower, upper; mean_mp[0] < mean_mp[1] */
    uint32_t sigma_mp[2]; /* 1..2000 */
    uint8_t reads;        /* 1..7 */
    int read_mp[7];       /* rising */
    uint8_t bit_below;    /* 0 or 1 */
};

/* LLR of each of reads + 1 regions, largest magnitude `peak` (1..31), and the
 * region probabilities given each state (may be NULL). Errors: EINVAL. */
LDPC_API int ldpc_llr_model(const struct ldpc_valley_model *m, int peak, int8_t *ret_llr,
                            double (*ret_p)[2]);

/* ---- the ladder -----------------------------------------------------------------------------
 */

enum ldpc_step {
    LDPC_STEP_DEFAULT,   /* hard read at default voltages */
    LDPC_STEP_TRACKED,   /* hard read at the last good voltages */
    LDPC_STEP_RETRY,     /* hard reads through the retry table */
    LDPC_STEP_SOFT2,     /* 3 senses */
    LDPC_STEP_SOFT3,     /* 7 senses */
    LDPC_STEP_NEIGHBOUR, /* 7 senses conditioned on the neighbour word line */
    LDPC_STEP_RAID,      /* rebuild from the other pages of the stripe */
    LDPC_STEPS
};

LDPC_API const char *ldpc_step_name(enum ldpc_step step);

/* Costs of the parts of a read. Latency in ns, energy in pJ. */
struct ldpc_costs {
    uint32_t sense_ns;       /* one array sense with its setup (tR) */
    uint32_t extra_sense_ns; /* each further sense of a soft read */
    uint32_t transfer_ns;    /* one code word over the bus */
    uint32_t decode_ns[3];   /* hard, 2-bit, 3-bit */
    uint32_t sense_pj, extra_sense_pj, transfer_pj, decode_pj[3];
    uint32_t raid_pages; /* pages to read for a rebuild */
};

/* Soft bits of a step's read (1, 2 or 3); 1 for no step. */
LDPC_API unsigned ldpc_step_soft_bits(enum ldpc_step step);

/* Latency and energy of one attempt of a step, senses to decoder. The part combines its
 * senses, so a soft read moves one word per soft bit; the neighbour step also reads the
 * neighbour word line (one more hard read); a rebuild reads and decodes every other page
 * of the stripe, sensed in parallel. Errors: EINVAL. */
LDPC_API int ldpc_step_price(const struct ldpc_costs *costs, enum ldpc_step step,
                             uint64_t *ret_latency_ns, uint64_t *ret_energy_pj);

struct ldpc_ladder {
    struct ldpc_shape shape;
    struct ldpc_costs costs;
    uint32_t retries; /* entries of the retry table, 0..255 */
    uint32_t step_mp_x10;
    uint32_t track_gain_mp, track_min_errors;
    uint8_t enabled[LDPC_STEPS]; /* 0 = skip this step */
};

/* What to do next. */
struct ldpc_action {
    enum ldpc_step step;
    uint32_t attempt; /* of this step, from 0; the retry entry is attempt + 1 */
    uint32_t senses;
    uint8_t soft_bits; /* 1, 2 or 3 */
    struct ldpc_volt volt;
    uint64_t latency_ns, energy_pj; /* of this action */
};

/* State of one read's recovery. Treat as opaque; copy freely. */
struct ldpc_retry {
    const struct ldpc_ladder *ladder;
    int start_top_mp; /* last good shift when the read began */
    int top_mp;       /* of the current action */
    int step;
    uint32_t attempt;
    uint64_t latency_ns, energy_pj; /* sums over the actions so far */
};

/* Begin with the last good shift of the page's slot. Errors: EINVAL. */
LDPC_API int ldpc_retry_begin(struct ldpc_retry *r, const struct ldpc_ladder *ladder,
                              int last_good_top_mp);

/* Next action; returns 1, or 0 when the ladder is used up. A step whose read would
 * repeat the one before (a tracked read at shift 0 after a default read) is skipped. */
LDPC_API int ldpc_retry_next(struct ldpc_retry *r, struct ldpc_action *ret_action);

/* After the current action decoded: the shift to remember, moved by tracking from
 * the top boundary's corrected errors. */
LDPC_API int ldpc_retry_success(const struct ldpc_retry *r, uint32_t up, uint32_t down);

#ifdef __cplusplus
}
#endif
#endif
