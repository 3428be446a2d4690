/* cell.c - constants of each cell kind and the judge of a caller's own.
 *
 * Columns s0 .. tail_kap of mlc, tlc, etlc, qlc: assumed [A], tuned together so
 * that a TLC part needs 3 retries fresh after 90 days at 30 C, 11 at 1,000
 * cycles and 20 at 2,000 cycles after a year (calibration, not validation).
 * slc and everything after tail_kap: assumed [A] unless noted. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "nand/cell.h"

/* rd_exp and rd_neighbor follow from three published figures [P]: a block lasts
 * 518,420 uniform reads or 54,560 reads of one neighbour, and equal numbers of
 * reads weigh 8.4 times more next door. In a block of 512 word lines a uniform
 * read costs (509 + 2 w) / 512 on average, hence w = 9.8105; a shift of dose^g
 * with w^g = 8.4 gives g = 0.93203 [D]. rd_amp of tlc is set so that the 518,420th
 * read ends a block of 1,000 cycles at the default voltages (calibration). */
#define READ_DISTURB(amp) .rd_amp = (amp), .rd_exp = 0.93203, .rd_wear = 0.5, \
                          .rd_neighbor = 9.8105
#define ENVIRONMENT .ea_slow = 1.1 /* [P] JESD218 */, .ea_fast = 0.2, .fast_share = 0.1, \
                    .xt_shift = 0.0008, .xt_wide = 0.0006
#define VARIATION .var_chip = .02, .var_block = .025, .var_layer = .02, .var_page = .01, \
                  .layer_edge = .05
#define TLC_CELL .s0 = .132, .s_wear = .075, .beta = .0425, .b = .416, .m = .5, .lo = .35, \
                 .rho = .15, .er = -1.6, .er_sigma = .55, .er_wear = .05, .er_up = .6, \
                 .tail_w = .03, .tail_kap = 1.7, READ_DISTURB(3.2517e-6), \
                 .couple = .012, .retry_step = .0215

static const struct nand_cell cells[] = {
    {.name = "slc", .states = 2, .map = "0", .pe_ref = 20000, .pe_max = 200000,
     .s0 = .10, .s_wear = .075, .beta = .012, .b = .416, .m = .5, .lo = .35, .rho = .15,
     .er = -1.0, .er_sigma = .22, .er_wear = .02, .er_up = .3, .tail_w = .02, .tail_kap = 2.4,
     READ_DISTURB(1e-6), .couple = .006, .retry_step = .01, ENVIRONMENT, VARIATION},
    {.name = "mlc", .states = 4, .map = "101", .pe_ref = 5000, .pe_max = 100000,
     .s0 = .108, .s_wear = .075, .beta = .0155, .b = .5, .m = .55, .lo = .2, .rho = .20,
     .er = -1.3, .er_sigma = .30, .er_wear = .05, .er_up = .3, .tail_w = .02, .tail_kap = 2.4,
     READ_DISTURB(2e-6), .couple = .010, .retry_step = .01, ENVIRONMENT, VARIATION},
    {.name = "tlc", .states = 8, .map = "0121012" /* 2-3-2 */, .pe_ref = 1000,
     .pe_max = 20000, TLC_CELL, ENVIRONMENT, VARIATION},
    {.name = "etlc", .states = 8, .map = "0121012", .pe_ref = 3500, .pe_max = 40000, TLC_CELL,
     ENVIRONMENT, VARIATION},
    {.name = "qlc", .states = 16, .map = "021302123120312" /* 3-4-5-3 */, .pe_ref = 1000,
     .pe_max = 10000, .s0 = .148, .s_wear = .075, .beta = .060, .b = .416, .m = .5, .lo = .35,
     .rho = .12, .er = -2.6, .er_sigma = .9, .er_wear = .1, .er_up = .6, .tail_w = .03,
     .tail_kap = 1.7, READ_DISTURB(3e-6), .couple = .009, .retry_step = .03, ENVIRONMENT,
     VARIATION},
};

enum { CELL_COUNT = sizeof cells / sizeof cells[0] };

const char *nand_cell_name(uint32_t index)
{
    return index < CELL_COUNT ? cells[index].name : NULL;
}

const struct nand_cell *nand_cell_find(const char *name)
{
    for (uint32_t i = 0; name && i < CELL_COUNT; i++)
        if (strcmp(cells[i].name, name) == 0)
            return &cells[i];
    return NULL;
}

struct rule {
    const char *field;
    double value, low, high;
};

__attribute__((format(printf, 3, 4))) static int refuse(char *ret_why, size_t why_size,
                                                        const char *fmt, ...)
{
    va_list args;

    if (ret_why && why_size) {
        va_start(args, fmt);
        (void)vsnprintf(ret_why, why_size, fmt, args);
        va_end(args);
    }
    return NAND_EINVAL;
}

static int check_rules(const struct rule *rules, size_t count, char *ret_why, size_t why_size)
{
    for (size_t i = 0; i < count; i++)
        if (!(rules[i].value >= rules[i].low && rules[i].value <= rules[i].high))
            return refuse(ret_why, why_size, "%s=%.9g: must be %.9g..%.9g", rules[i].field,
                          rules[i].value, rules[i].low, rules[i].high);
    return 0;
}

/* A map is a Gray code when every state gets its own combination of bits. */
static int check_map(const struct nand_cell *cell, char *ret_why, size_t why_size)
{
    uint32_t seen = 1, code = 0;

    for (uint32_t b = 0; b + 1 < cell->states; b++) {
        uint32_t type = (uint32_t)(cell->map[b] - '0');
        if (type >= NAND_PAGE_TYPES_MAX || (1u << type) >= cell->states)
            return refuse(ret_why, why_size, "map[%u]=%d: not a page type of this cell",
                          (unsigned)b, cell->map[b]);
        code ^= 1u << type;
        if (seen >> code & 1)
            return refuse(ret_why, why_size, "map=%.15s: two states carry the same bits",
                          cell->map);
        seen |= 1u << code;
    }
    return 0;
}

int nand_cell_check(const struct nand_cell *cell, char *ret_why, size_t why_size)
{
    int err;

    if (!cell)
        return refuse(ret_why, why_size, "cell=NULL: must be given");
    if (cell->states != 2 && cell->states != 4 && cell->states != 8 && cell->states != 16)
        return refuse(ret_why, why_size, "states=%u: must be 2, 4, 8 or 16",
                      (unsigned)cell->states);
    const struct rule rules[] = {
        {"pe_ref", cell->pe_ref, 1, 1e6},       {"pe_max", cell->pe_max, 1, 1e6},
        {"s0", cell->s0, .01, .5},              {"s_wear", cell->s_wear, 0, 2},
        {"beta", cell->beta, 0, .5},            {"b", cell->b, 0, 5},
        {"m", cell->m, .1, 2},                  {"lo", cell->lo, 0, 1},
        {"rho", cell->rho, 0, 1},               {"er", cell->er, -8, .5},
        {"er_sigma", cell->er_sigma, .01, 2},   {"er_wear", cell->er_wear, 0, 1},
        {"er_up", cell->er_up, 0, 10},          {"tail_w", cell->tail_w, 0, .5},
        {"tail_kap", cell->tail_kap, .5, 10},   {"ea_slow", cell->ea_slow, 0, 2},
        {"ea_fast", cell->ea_fast, 0, 2},       {"fast_share", cell->fast_share, 0, 1},
        {"rd_amp", cell->rd_amp, 0, 1e-3},      {"rd_exp", cell->rd_exp, .1, 2},
        {"rd_wear", cell->rd_wear, 0, 10},      {"rd_neighbor", cell->rd_neighbor, 0, 1000},
        {"couple", cell->couple, 0, .1},        {"xt_shift", cell->xt_shift, -.01, .01},
        {"xt_wide", cell->xt_wide, 0, .01},     {"retry_step", cell->retry_step, 0, .2},
        {"var_chip", cell->var_chip, 0, .2},    {"var_block", cell->var_block, 0, .2},
        {"var_layer", cell->var_layer, 0, .2},  {"var_page", cell->var_page, 0, .2},
        {"layer_edge", cell->layer_edge, 0, .2},
    };
    err = check_rules(rules, sizeof rules / sizeof rules[0], ret_why, why_size);
    return err ? err : check_map(cell, ret_why, why_size);
}

int nand_cell_use_check(const struct nand_cell *cell, const struct nand_cell_use *use,
                        char *ret_why, size_t why_size)
{
    int err = nand_cell_check(cell, ret_why, why_size);

    if (err)
        return err;
    if (!use)
        return refuse(ret_why, why_size, "use=NULL: must be given");
    const struct rule rules[] = {
        {"pe", use->pe, 0, cell->pe_max},
        {"hours", use->hours, 0, 1e6},
        {"celsius", use->celsius, -55, 150},
        {"reads", use->reads, 0, 1e9},
        {"neighbor_reads", use->neighbor_reads, 0, 1e9},
        {"program_celsius", use->program_celsius, -55, 150},
        {"read_celsius", use->read_celsius, -55, 150},
        {"width_ln", use->width_ln, -.5, .5},
        {"neighbor_state", use->neighbor_state, NAND_NEIGHBOR_RANDOM, cell->states - 1.0},
    };
    return check_rules(rules, sizeof rules / sizeof rules[0], ret_why, why_size);
}
