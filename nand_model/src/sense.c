/* sense.c - read voltages, bit errors, soft bins. */
#include "dist.h"
#include "dmath.h"

static const double far_away = 1e6; /* pitch; stands for an unbounded region */

uint32_t nand_dist_bit(const struct nand_cell_dist *dist, uint32_t state, uint32_t type)
{
    uint32_t bit = 1;

    for (uint32_t b = 0; b < state; b++)
        bit ^= (uint32_t)(dist->map[b] - '0') == type;
    return bit;
}

/* ---- voltages ------------------------------------------------------------------ */

/* Where two neighbouring densities cross. */
static double crossing(const struct nand_cell_dist *dist, uint32_t below)
{
    double low = dist->mu[below], high = dist->mu[below + 1];

    for (int i = 0; i < 48; i++) {
        double mid = 0.5 * (low + high);
        if (nand_cell_density(dist, below, mid) > nand_cell_density(dist, below + 1, mid))
            low = mid;
        else
            high = mid;
    }
    return 0.5 * (low + high);
}

void nand_cell_optimum(const struct nand_cell_dist *dist, struct nand_cell_volts *ret_volts)
{
    for (uint32_t b = 0; b < NAND_BOUNDS_MAX; b++)
        ret_volts->v[b] = b + 1 < dist->states ? crossing(dist, b) : 0;
}

void nand_cell_default(const struct nand_cell *cell, struct nand_cell_volts *ret_volts)
{
    const struct nand_cell_use fresh = NAND_CELL_USE_INIT;
    struct nand_cell_dist dist = {0};

    (void)nand_cell_dist(cell, &fresh, &dist, NULL, 0);
    nand_cell_optimum(&dist, ret_volts);
}

void nand_cell_retry(const struct nand_cell *cell, uint32_t level,
                     struct nand_cell_volts *ret_volts)
{
    nand_cell_default(cell, ret_volts);
    if (level > NAND_RETRY_MAX)
        level = NAND_RETRY_MAX;
    for (uint32_t b = 1; b < cell->states; b++)
        ret_volts->v[b - 1] -=
            level * cell->retry_step * (cell->lo + (1 - cell->lo) * b / (cell->states - 1));
}

/* ---- hard errors ------------------------------------------------------------------ */

/* P(read bit differs) for one state: the regions of the page alternate in value. */
static double state_error(const struct nand_cell_dist *dist, uint32_t state, uint32_t type,
                          const struct nand_cell_volts *volts)
{
    double wrong = 0, low = -far_away;
    uint32_t own = nand_dist_bit(dist, state, type), region = 1;

    for (uint32_t b = 0; b + 1 < dist->states; b++) {
        if ((uint32_t)(dist->map[b] - '0') != type)
            continue;
        if (region != own)
            wrong += nand_dist_between(dist, state, low, volts->v[b]);
        low = volts->v[b];
        region ^= 1;
    }
    if (region != own)
        wrong += nand_dist_between(dist, state, low, far_away);
    return wrong;
}

void nand_cell_page_errors(const struct nand_cell_dist *dist, uint32_t page_type,
                           const struct nand_cell_volts *volts,
                           struct nand_cell_errors *ret_errors)
{
    double wrong[2] = {0, 0}, half = dist->states / 2.0;

    for (uint32_t s = 0; s < dist->states; s++)
        wrong[nand_dist_bit(dist, s, page_type)] += state_error(dist, s, page_type, volts);
    ret_errors->zero_to_one = wrong[0] / half;
    ret_errors->one_to_zero = wrong[1] / half;
    ret_errors->rber = 0.5 * (ret_errors->zero_to_one + ret_errors->one_to_zero);
}

double nand_cell_mean_rber(const struct nand_cell_dist *dist,
                           const struct nand_cell_volts *volts)
{
    struct nand_cell_errors errors;
    double sum = 0;

    for (uint32_t t = 0; t < dist->page_types; t++) {
        nand_cell_page_errors(dist, t, volts, &errors);
        sum += errors.rber;
    }
    return sum / dist->page_types;
}

/* ---- soft senses ---------------------------------------------------------------- */

enum { CUTS_MAX = NAND_BOUNDS_MAX * 7 };

struct cuts {
    uint32_t count;
    double at[CUTS_MAX]; /* ascending edges between regions */
    uint32_t bin[CUTS_MAX + 1];
};

/* Bin of a voltage: hard bit of its region, confidence from the distance to the
 * nearest boundary of the page in units of the spacing. */
static uint32_t bin_of(const struct nand_cell_dist *dist, uint32_t type,
                       const struct nand_cell_volts *volts, uint32_t bits, double spacing,
                       double voltage)
{
    uint32_t surest = (1u << (bits - 1)) - 1, bit = 1, confidence = surest;

    for (uint32_t b = 0; b + 1 < dist->states; b++) {
        if ((uint32_t)(dist->map[b] - '0') != type)
            continue;
        double distance = voltage - volts->v[b];
        bit ^= distance > 0;
        if (distance < 0)
            distance = -distance;
        for (uint32_t c = 0; c < confidence; c++)
            if (distance < (c + 1) * spacing)
                confidence = c;
    }
    return bit ? surest + 1 + confidence : surest - confidence;
}

static void insert_cut(struct cuts *cuts, double at)
{
    uint32_t i = cuts->count++;

    for (; i > 0 && cuts->at[i - 1] > at; i--)
        cuts->at[i] = cuts->at[i - 1];
    cuts->at[i] = at;
}

static void make_cuts(const struct nand_cell_dist *dist, uint32_t type,
                      const struct nand_cell_volts *volts, uint32_t bits, double spacing,
                      struct cuts *cuts)
{
    int reach = (1 << (bits - 1)) - 1;

    cuts->count = 0;
    for (uint32_t b = 0; b + 1 < dist->states; b++)
        for (int k = -reach; k <= reach; k++)
            if ((uint32_t)(dist->map[b] - '0') == type)
                insert_cut(cuts, volts->v[b] + k * spacing);
    for (uint32_t r = 0; r <= cuts->count; r++) {
        double low = r == 0 ? cuts->at[0] - 2 : cuts->at[r - 1];
        double high = r == cuts->count ? cuts->at[r - 1] + 2 : cuts->at[r];
        cuts->bin[r] = bin_of(dist, type, volts, bits, spacing, 0.5 * (low + high));
    }
}

int nand_cell_sense(const struct nand_cell_dist *dist, uint32_t page_type,
                    const struct nand_cell_volts *volts, uint32_t bits, double spacing,
                    struct nand_cell_bins *ret_bins)
{
    struct cuts cuts;
    double per_state;

    if (!dist || !volts || !ret_bins || page_type >= dist->page_types || bits < 1 || bits > 3 ||
        !(bits == 1 || (spacing > 0 && spacing <= 1)))
        return NAND_EINVAL;
    make_cuts(dist, page_type, volts, bits, spacing, &cuts);
    *ret_bins = (struct nand_cell_bins){.bins = 1u << bits};
    per_state = 2.0 / dist->states;
    for (uint32_t s = 0; s < dist->states; s++) {
        double *p = nand_dist_bit(dist, s, page_type) ? ret_bins->p1 : ret_bins->p0;
        for (uint32_t r = 0; r <= cuts.count; r++) {
            double low = r == 0 ? -far_away : cuts.at[r - 1];
            double high = r == cuts.count ? far_away : cuts.at[r];
            p[cuts.bin[r]] += per_state * nand_dist_between(dist, s, low, high);
        }
    }
    return 0;
}

void nand_cell_llr(const struct nand_cell_bins *bins, double ret_llr[NAND_BINS_MAX])
{
    const double least = 1e-30;

    for (uint32_t i = 0; i < NAND_BINS_MAX; i++) {
        double llr = 0;
        if (i < bins->bins)
            llr = nandi_log(bins->p0[i] + least) - nandi_log(bins->p1[i] + least);
        ret_llr[i] = llr > 40 ? 40 : llr < -40 ? -40 : llr;
    }
}

void nand_cell_llr_int8(const struct nand_cell_bins *bins, double scale, int limit,
                        int8_t ret_llr[NAND_BINS_MAX])
{
    double llr[NAND_BINS_MAX];
    int top = limit > 127 ? 127 : limit < 1 ? 1 : limit;

    nand_cell_llr(bins, llr);
    for (uint32_t i = 0; i < NAND_BINS_MAX; i++) {
        double x = llr[i] * scale;
        if (x > top)
            x = top;
        if (x < -top)
            x = -top;
        ret_llr[i] = (int8_t)(x < 0 ? (int)(x - 0.5) : (int)(x + 0.5));
    }
}

double nand_cell_information(const struct nand_cell_bins *bins)
{
    double sum = 0;

    for (uint32_t i = 0; i < bins->bins; i++) {
        double mix = 0.5 * (bins->p0[i] + bins->p1[i]);
        if (bins->p0[i] > 1e-300)
            sum += 0.5 * bins->p0[i] * nandi_log(bins->p0[i] / mix);
        if (bins->p1[i] > 1e-300)
            sum += 0.5 * bins->p1[i] * nandi_log(bins->p1[i] / mix);
    }
    return sum / 0.69314718055994530942;
}

double nand_cell_best_spacing(const struct nand_cell_dist *dist, uint32_t page_type,
                              const struct nand_cell_volts *volts, uint32_t bits)
{
    const double golden = 0.61803398874989484820;
    struct nand_cell_bins bins;
    double low = .005, high = .3, at[2], info[2];

    for (int i = 0; i < 24; i++) {
        at[0] = high - golden * (high - low);
        at[1] = low + golden * (high - low);
        for (int k = 0; k < 2; k++) {
            if (nand_cell_sense(dist, page_type, volts, bits, at[k], &bins) != 0)
                return 0;
            info[k] = nand_cell_information(&bins);
        }
        if (info[0] > info[1])
            high = at[1];
        else
            low = at[0];
    }
    return 0.5 * (low + high);
}
