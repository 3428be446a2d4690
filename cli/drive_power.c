/* drive_power.c - ftlsim drives power: the bank and the start of a full-size drive, computed. */
#include "cli.h"
#include "ftl/ftl_power.h"

static const double flushed_target_s = 2, scan_target_s = 10;

static double s_of(uint64_t ns)
{
    return (double)ns / 1e9;
}

static const char *verdict(uint64_t ns, double target)
{
    return s_of(ns) < target ? "met" : "NOT met";
}

static void print_bank(FILE *out, const struct ftl_power_estimate *e)
{
    if (e->usable_nj == 0) {
        fprintf(out, "no capacitors\n\n");
        return;
    }
    fprintf(out, "capacitors      new %.1f mJ, a flush needs %.1f mJ: margin %.3f\n",
            (double)e->usable_nj / 1e6, (double)e->need_nj / 1e6, (double)e->margin_ppm / 1e6);
    fprintf(out, "flush           %.1f MB in %.1f ms; hold-up at base power %.1f ms\n",
            (double)e->flush_bytes / 1e6, s_of(e->flush_ns) * 1e3, s_of(e->hold_up_ns) * 1e3);
    fprintf(out, "5 years, 70 C   health %.0f %%, %.1f mJ: full buffers %s\n",
            (double)e->life_health_ppm / 1e4, (double)e->life_usable_nj / 1e6,
            e->life_usable_nj >= e->need_nj ? "carried" : "NOT carried, they shrink");
}

static void print_start(FILE *out, const struct ftl_power_estimate *e)
{
    const struct ftl_start_estimate *s = e->start;

    fprintf(out, "checkpoint      %llu units, %.1f MB, segment %llu of %llu pages%s\n\n",
            (unsigned long long)e->units, (double)e->checkpoint_bytes / 1e6,
            (unsigned long long)e->checkpoint_pages, (unsigned long long)e->segment_pages,
            e->log_fits ? "" : " (no room)");
    fprintf(out, "%-28s %23s %23s\n", "", "checkpoint just ended", "worst case");
    fprintf(out, "%-28s %11s %11s %11s %11s\n", "start, seconds", "mark", "no mark", "mark",
            "no mark");
    for (uint32_t i = 0; i < s[0].step_count; i++)
        fprintf(out, "%-28s %11.3f %11.3f %11.3f %11.3f\n", s[0].steps[i].name,
                s_of(s[0].steps[i].ns), s_of(s[1].steps[i].ns), s_of(s[2].steps[i].ns),
                s_of(s[3].steps[i].ns));
    fprintf(out, "%-28s %11.3f %11.3f %11.3f %11.3f\n", "sum", s_of(s[0].ready_ns),
            s_of(s[1].ready_ns), s_of(s[2].ready_ns), s_of(s[3].ready_ns));
    fprintf(out, "%-28s %11llu %11llu %11llu %11llu\n", "superblocks scanned",
            (unsigned long long)s[0].superblocks_scanned,
            (unsigned long long)s[1].superblocks_scanned,
            (unsigned long long)s[2].superblocks_scanned,
            (unsigned long long)s[3].superblocks_scanned);
    fprintf(out, "\nafter a flush   < %.0f s: just after a checkpoint %s, worst case %s\n",
            flushed_target_s, verdict(s[FTL_ESTIMATE_MARK].ready_ns, flushed_target_s),
            verdict(s[FTL_ESTIMATE_MARK_WORST].ready_ns, flushed_target_s));
    fprintf(out, "without a mark  < %.0f s: just after a checkpoint %s, worst case %s\n",
            scan_target_s, verdict(s[FTL_ESTIMATE_SCAN].ready_ns, scan_target_s),
            verdict(s[FTL_ESTIMATE_SCAN_WORST].ready_ns, scan_target_s));
}

int cli_drive_power(FILE *out, const struct ftl_config *cfg)
{
    struct ftl_power_estimate e = {.struct_size = sizeof e};

    if (ftl_power_estimate(cfg, &e) < 0)
        return cli_refuse("drives: power: not a drive");
    print_bank(out, &e);
    print_start(out, &e);
    return CLI_OK;
}
