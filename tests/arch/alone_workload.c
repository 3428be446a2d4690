/* alone_workload.c - a program with the workload library: a job of ten writes. */
#include <workload/run.h>

#include <stdio.h>

static const char text[] = "[ten]\nrw=randwrite\nbs=4k\nnumber_ios=10\n";

static int run(ftl_drive *drive, const wl_jobs *jobs, char *why)
{
    struct wl_run_options options = {.seed = 1, .scale = 1};
    wl_run *run = NULL;
    if (wl_run_new(drive, jobs, &options, &run, why, FTL_WHY_MAX) < 0)
        return 1;
    int bad = wl_run_go(run, why, FTL_WHY_MAX) < 0 || wl_run_report_count(run) != 1 ||
              wl_run_report(run, 0)->dir[WL_WRITE].ios != 10;
    wl_run_free(run);
    return bad;
}

int main(void)
{
    struct ftl_config cfg;
    ftl_drive *drive = NULL;
    wl_jobs *jobs = NULL;
    char why[FTL_WHY_MAX] = "";
    int bad = ftl_config_init(&cfg, "wa-reference", why, sizeof why) < 0 ||
              ftl_create(&cfg, &drive, why, sizeof why) < 0 ||
              wl_jobs_parse("ten.fio", text, sizeof text - 1, NULL, 0, &jobs, why, sizeof why) < 0 ||
              run(drive, jobs, why);
    printf("%s\n", bad ? why : "ten writes done");
    wl_jobs_free(jobs);
    ftl_destroy(drive);
    return bad;
}
