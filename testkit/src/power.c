/* power.c - a rig loses its power. */
#include <stdlib.h>
#include <string.h>

#include "rig.h"

int tk_rig_fork(const tk_rig *from, tk_rig **ret)
{
    tk_rig *r = malloc(sizeof *r);
    if (r == NULL)
        return FTL_ENOMEM;
    *r = *from;
    r->drive = NULL;
    for (int i = 0; i < TK_OPEN_MAX; i++) {
        r->open[i].borrowed = r->open[i].used;
        if (!r->open[i].used)
            r->open[i] = (struct open_cmd){0};
    }
    r->oracle = tk_oracle_copy(from->oracle);
    int err = r->oracle == NULL ? FTL_ENOMEM : ftl_fork(from->drive, &r->drive);
    if (err == 0)
        *ret = r;
    else
        tk_rig_free(r);
    return err;
}

int tk_rig_arm(tk_rig *r, uint64_t operation, const struct ftl_power_cut *how)
{
    return ftl_power_arm(r->drive, operation, how);
}

bool tk_rig_is_on(const tk_rig *r)
{
    return !r->off;
}

/* Is each recent write there as a whole or not at all? An LBA that reads as zeros or as a
 * later version says nothing. Call it when every LBA has one value: after reading all. */
static int check_whole(tk_rig *r)
{
    for (uint32_t k = 0; k < TK_RECENT; k++) {
        const struct recent_write *w = &r->recent[k];
        uint32_t there = 0, older = 0;
        for (uint64_t lba = w->lba; lba < w->lba + w->lba_count; lba++) {
            uint32_t v = tk_oracle_newest(r->oracle, lba);
            there += v == w->version;
            older += v != 0 && v < w->version;
        }
        if (there != 0 && older != 0)
            return tk_rig_fail(r, TK_SHORN_WRITE,
                               "of %u LBAs from %llu written as version %u, %u are there and %u "
                               "are older", w->lba_count, (unsigned long long)w->lba, w->version,
                               there, older);
    }
    return 0;
}

int tk_rig_on(tk_rig *r)
{
    struct ftl_power_report report = {.struct_size = sizeof report};
    ftl_power_last(r->drive, &report);
    r->weak = r->weak || report.units_lost != 0;
    int err = ftl_power_on(r->drive, NULL);
    if (err == FTL_EPOWER && !ftl_power_is_on(r->drive)) {
        tk_oracle_cut(r->oracle);
        return 0;
    }
    if (err < 0)
        return tk_rig_fail(r, TK_DEAD_DEVICE, "power on: %s", ftl_strerror(err));
    r->off = false;
    err = tk_rig_check(r);
    if (err == 0)
        err = tk_rig_read_all(r);
    bool weak = r->weak;
    if (err == 0)
        r->weak = false;
    if (err == 0 && !weak)
        err = check_whole(r);
    if (err == 0)
        memset(r->recent, 0, sizeof r->recent);
    return err == TK_LOST ? 0 : err;
}

static bool can(const tk_rig *r)
{
    return r->payload && r->journal;
}

int tk_rig_off_on(tk_rig *r)
{
    if (!can(r))
        return 0;
    int err = tk_rig_wait(r);
    if (err != 0)
        return err;
    uint32_t begin = tk_oracle_tick(r->oracle);
    int done = ftl_power_off(r->drive, NULL);
    if (done == FTL_EPOWER) {
        tk_rig_lost(r);
        return TK_LOST;
    }
    if (done < 0)
        return tk_rig_fail(r, TK_DEAD_DEVICE, "power off: %s", ftl_strerror(done));
    tk_oracle_flushed(r->oracle, begin);
    r->off = true;
    return tk_rig_on(r);
}

int tk_rig_cut_on(tk_rig *r, uint64_t seed)
{
    struct ftl_power_cut how = {.struct_size = sizeof how, .others = FTL_OTHERS_DRAWN,
                                .seed = seed, .energy_ppm = 1000000};
    if (!can(r))
        return 0;
    int err = ftl_power_cut(r->drive, &how, NULL);
    if (err < 0)
        return tk_rig_fail(r, TK_DEAD_DEVICE, "power cut: %s", ftl_strerror(err));
    tk_rig_lost(r);
    return tk_rig_on(r);
}
