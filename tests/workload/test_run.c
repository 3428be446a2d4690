/* The engine on a drive whose every command takes 10 us: times, rates and counts
 * follow by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_drive.h"
#include "workload/run.h"

enum { LBA = 4096, LBAS = 100000 };
static const uint64_t us = 1000, ms = 1000000, second = UINT64_C(1000000000);
static char why[512];

struct bench {
    ftl_drive *drive;
    wl_jobs *jobs;
    wl_run *run;
};

static struct bench prepare_with(const char *text, struct wl_run_options options)
{
    struct bench b = {.drive = fake_new(LBAS, LBA)};
    options.submit_ns = FAKE_SUBMIT_NS;
    options.scale = 64;
    if (wl_jobs_parse("t", text, strlen(text), NULL, 0, &b.jobs, why, sizeof why) != WL_OK ||
        wl_run_new(b.drive, b.jobs, &options, &b.run, why, sizeof why) != WL_OK)
        fail_msg("%s", why);
    return b;
}

static struct bench prepare(const char *text)
{
    return prepare_with(text, (struct wl_run_options){.seed = 1});
}

static struct bench run(const char *text)
{
    struct bench b = prepare(text);
    if (wl_run_go(b.run, why, sizeof why) != WL_OK)
        fail_msg("%s", why);
    return b;
}

static void drop(struct bench *b)
{
    wl_run_free(b->run);
    wl_jobs_free(b->jobs);
    ftl_destroy(b->drive);
}

static void refused(const char *text, const char *message)
{
    struct wl_run_options options = {.seed = 1, .scale = 64};
    ftl_drive *drive = fake_new(LBAS, LBA);
    wl_jobs *jobs = NULL;
    wl_run *r = NULL;
    assert_int_equal(wl_jobs_parse("t", text, strlen(text), NULL, 0, &jobs, why, sizeof why),
                     WL_OK);
    assert_int_equal(wl_run_new(drive, jobs, &options, &r, why, sizeof why), WL_EJOB);
    assert_null(r);
    assert_string_equal(why, message);
    wl_jobs_free(jobs);
    ftl_destroy(drive);
}

/* ---- amounts ----------------------------------------------------------- */
static void one_access_at_a_time(void **state)
{
    struct bench b = run("[j]\nrw=read\nbs=4k\ntime_based\nruntime=1\n");
    const struct wl_report *r = wl_run_report(b.run, 0);
    (void)state;
    /* one each 10 us, the last one asked for at the very end */
    assert_int_equal(r->dir[WL_READ].ios, 100001);
    assert_int_equal(r->dir[WL_READ].bytes, UINT64_C(100001) * 4096);
    assert_int_equal(r->dir[WL_READ].runtime_ns, second + 10 * us);
    assert_int_equal(r->dir[WL_READ].slat.max, FAKE_SUBMIT_NS);
    assert_int_equal(r->dir[WL_READ].clat.min, FAKE_LATENCY_NS - FAKE_SUBMIT_NS);
    assert_int_equal(r->dir[WL_READ].lat.max, FAKE_LATENCY_NS);
    assert_true(wl_sum_stddev(&r->dir[WL_READ].lat) == 0.0);
    assert_int_equal(r->dir[WL_READ].clat_bins[wl_bin_index(8500)], 100001);
    assert_int_equal(r->lat_us[2], 100001); /* 4 to 9 us */
    assert_int_equal(r->depth[0], 100001);
    /* samples of 500 ms */
    assert_int_equal(r->dir[WL_READ].iops.n, 2);
    assert_int_equal(r->dir[WL_READ].iops.min, 100000);
    assert_int_equal(r->dir[WL_READ].bw.max, 400000);
    assert_int_equal(r->dir[WL_WRITE].ios + r->dir[WL_TRIM].ios, 0);
    assert_int_equal(fake_deepest(b.drive), 1);
    drop(&b);
}

static void the_queue_is_as_deep_as_asked(void **state)
{
    struct bench b =
        run("[j]\nrw=randread\niodepth=32\nnumjobs=3\nnumber_ios=1000\ngroup_reporting\n");
    const struct wl_report *r = wl_run_report(b.run, 0);
    (void)state;
    assert_int_equal(fake_deepest(b.drive), 96);
    assert_int_equal(wl_run_report_count(b.run), 1);
    assert_int_equal(r->threads, 3);
    assert_int_equal(r->dir[WL_READ].ios, 3000);
    assert_int_equal(r->submissions, 3000);
    /* the first 32 see depths 1..32: 1 at 1, 2 at 2-3, 4 at 4-7, 8, 16, then 32 */
    assert_int_equal(r->depth[0], 3 * 1);
    assert_int_equal(r->depth[3], 3 * 8);
    assert_int_equal(r->depth[5], 3 * (1000 - 31));
    drop(&b);
}

static void amounts_end_jobs(void **state)
{
    static const struct {
        const char *options;
        uint64_t ios;
    } rows[] = {
        {"size=64k\nbs=4k\nloops=3", 48},
        {"size=66k\nbs=8k", 8}, /* a rest below an access is left out */
        {"size=64k\nio_size=20k\nbs=4k", 5},
        {"size=64k\nio_size=128k\nbs=4k", 32},
        {"size=64k\nio_size=50%\nbs=4k", 8},
        {"filesize=64k\nsize=32k\nbs=4k", 8},
        {"number_ios=7\nbs=4k", 7},
        {"size=1%\nbs=4k", 1000},
        {"rw=randwrite\nsize=64k\nbs=4k", 16},
        {"rw=randrw\nsize=64k\nbs=4k", 16},
        {"rw=read:8k\nsize=40k\nbs=4k", 4}, /* at 0, 12k, 24k, 36k: as fio does */
        {"rw=read:-8k\nsize=40k\nbs=4k\nloops=2", 20},
    };
    char text[256];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text, "[j]\n%s\n", rows[i].options);
        struct bench b = run(text);
        assert_int_equal(fake_count(b.drive), rows[i].ios);
        drop(&b);
    }
    /* pairs: as much trimmed as written */
    struct bench b = run("[j]\nrw=trimwrite\nsize=64k\nbs=4k\n");
    assert_int_equal(fake_count(b.drive), 32);
    assert_int_equal(wl_run_report(b.run, 0)->dir[WL_TRIM].ios, 16);
    assert_int_equal(fake_seen(b.drive)[0].opcode, FTL_TRIM);
    assert_int_equal(fake_seen(b.drive)[1].opcode, FTL_WRITE);
    drop(&b);
}

static void regions_are_where_asked(void **state)
{
    (void)state;
    struct bench b = run("[j]\nnumjobs=3\noffset=1m\noffset_increment=2m\nsize=8k\nbs=4k\n");
    static const uint64_t at[] = {256, 768, 1280, 257, 769, 1281};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(fake_seen(b.drive)[i].lba, at[i]);
    drop(&b);
    /* 25 % of 100,000 LBAs, raised to a multiple of the access of 16 LBAs: 25,008 */
    b = run("[j]\noffset=25%\nsize=100%\nbs=64k\n");
    assert_int_equal(fake_seen(b.drive)[0].lba, 25008);
    assert_int_equal(fake_count(b.drive), (100000 - 25008) / 16);
    drop(&b);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    refused("[j]\n\nsize=1g\n", "t:3: size: job 'j' needs 1073741824 bytes from byte 0 on, the "
                                "drive has 409600000 at scale 64");
    refused(
        "[j]\noffset=400m\n",
        "t:2: offset: job 'j' starts at byte 419430400, the drive has 409600000 at scale 64");
    refused("[j]\nbs=512\n",
            "t:2: bs: 512 bytes is not a multiple of the drive's LBA of 4096 bytes");
    refused("[j]\nbssplit=4k/50:6k/50\n",
            "t:2: bssplit: 6144 bytes is not a multiple of the drive's LBA of 4096 bytes");
    refused("[j]\nsize=4k\nbs=8k\n",
            "t:3: bs: an access of 8192 bytes does not fit into the 4096 bytes of job 'j', "
            "the drive has 409600000 at scale 64");
    refused("[j]\nsize=1%\nbs=8m\n",
            "t:3: bs: an access of 8388608 bytes does not fit into the 4096000 bytes of job 'j', "
            "the drive has 409600000 at scale 64");
    refused("[j]\niodepth=40000\nnumjobs=2\n",
            "t:2: iodepth: 80000 accesses would be open at once, the drive takes 65536");
    refused("[j]\nnumjobs=65535\n[k]\nnumjobs=9\n",
            "t:1: numjobs: 65544 threads in all, at most 65535");
    refused("[j]\nrw=randread\nsize=40k\nrandom_distribution=zoned_abs:50/20k:50/24k\n",
            "t:4: random_distribution: the zones need more than the 40960 bytes of job 'j'");
}

/* ---- rates and pauses -------------------------------------------------- */
static void rates_space_accesses_evenly(void **state)
{
    (void)state;
    struct bench b = run("[j]\nrate=10m\nbs=4k\niodepth=4\nnumber_ios=1000\n");
    for (uint64_t i = 0; i < 1000; i++) /* 4096 B / 10 MiB/s = 390,625 ns */
        assert_int_equal(fake_seen(b.drive)[i].at, i * 390625);
    drop(&b);
    b = run("[j]\nrate_iops=3000\nbsrange=4k-64k\nnumber_ios=300\n");
    for (uint64_t i = 0; i < 300; i++)
        assert_int_equal(fake_seen(b.drive)[i].at, i * second / 3000);
    drop(&b);
}

static void a_rate_may_hold_one_direction(void **state)
{
    (void)state;
    struct bench b =
        run("[j]\nrw=randrw\nrwmixread=50\nrate_iops=1000,\nbs=4k\ntime_based\nruntime=1\n");
    const struct wl_report *r = wl_run_report(b.run, 0);
    assert_in_range(r->dir[WL_READ].ios, 1000, 1001);
    /* reads ahead of their rate give way: writes take the rest of 100,000 */
    assert_in_range(r->dir[WL_WRITE].ios, 98999, 99002);
    drop(&b);
}

static void poisson_gaps_are_exponential(void **state)
{
    enum { N = 20000 };
    double mean = 0.0, squares = 0.0;
    (void)state;
    struct bench b = run("[j]\nrate_iops=1000\nrate_process=poisson\nrw="
                         "randread\nnorandommap\niodepth=1000\nnumber_ios=20000\n");
    for (int i = 1; i < N; i++) {
        double gap = (double)(fake_seen(b.drive)[i].at - fake_seen(b.drive)[i - 1].at) / 1e6;
        mean += gap / (N - 1);
        squares += gap * gap / (N - 1);
    }
    /* mean 1 ms, deviation 1 ms: five deviations of the mean are 0.035 */
    assert_true(fabs(mean - 1.0) < 0.036);
    assert_true(fabs(sqrt(squares - mean * mean) - 1.0) < 0.05);
    drop(&b);
}

static void pauses_come_after_so_many(void **state)
{
    (void)state;
    struct bench b = run("[j]\nthinktime=1000\nthinktime_blocks=4\nnumber_ios=40\n");
    for (uint64_t i = 0; i < 40; i++)
        assert_int_equal(fake_seen(b.drive)[i].at, i / 4 * 1040 * us + i % 4 * 10 * us);
    drop(&b);
    /* four open: the fourth completion starts the pause, the three open ones end first */
    b = run("[j]\niodepth=4\nthinktime=1000\nthinktime_blocks=4\nnumber_ios=14\n");
    for (uint64_t i = 0; i < 14; i++)
        assert_int_equal(fake_seen(b.drive)[i].at,
                         i / 7 * 1020 * us + (i % 7 < 4 ? 0 : 10 * us));
    drop(&b);
    b = run("[j]\niodepth=4\nthinktime=1000\nthinktime_blocks=4\nthinktime_blocks_type="
            "issue\nnumber_ios=12\n");
    for (uint64_t i = 0; i < 12; i++)
        assert_int_equal(fake_seen(b.drive)[i].at, i / 4 * 1010 * us);
    drop(&b);
}

static void rates_catch_up_after_pauses_unless_told(void **state)
{
    (void)state;
    /* one a ms, a pause of 5 ms after ten: the next five are overdue and go at once */
    struct bench b =
        run("[j]\nrate_iops=1000\nthinktime=5000\nthinktime_blocks=10\nnumber_ios=16\n");
    assert_int_equal(fake_seen(b.drive)[9].at, 9 * ms);
    assert_int_equal(fake_seen(b.drive)[10].at, 14 * ms + 10 * us);
    assert_int_equal(fake_seen(b.drive)[11].at, 14 * ms + 20 * us);
    drop(&b);
    b = run("[j]\nrate_iops=1000\nrate_ignore_thinktime\nthinktime=5000\nthinktime_blocks="
            "10\nnumber_ios=16\n");
    assert_int_equal(fake_seen(b.drive)[10].at, 15 * ms);
    assert_int_equal(fake_seen(b.drive)[11].at, 16 * ms);
    drop(&b);
}

/* ---- time -------------------------------------------------------------- */
static void ramps_and_delays(void **state)
{
    (void)state;
    struct bench b = run("[j]\nstartdelay=2\nramp_time=1\nruntime=1\ntime_based\n");
    const struct wl_report *r = wl_run_report(b.run, 0);
    assert_int_equal(fake_seen(b.drive)[0].at, 2 * second);
    assert_int_equal(fake_count(b.drive), 200001);
    /* the access that ends with the ramp is not counted, the last one is */
    assert_int_equal(r->dir[WL_READ].ios, 100001);
    assert_int_equal(r->dir[WL_READ].runtime_ns, second + 10 * us);
    assert_int_equal(r->elapsed_ns, 2 * second + 10 * us);
    drop(&b);
    b = run("[j]\nstartdelay=1-3\nnumber_ios=1\nnumjobs=50\n");
    uint64_t low = UINT64_MAX, high = 0;
    for (int i = 0; i < 50; i++) {
        uint64_t at = fake_seen(b.drive)[i].at;
        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    assert_true(low >= second && low < second + 500 * ms && high > 2 * second + 500 * ms &&
                high <= 3 * second);
    drop(&b);
}

static void stonewalls_wait(void **state)
{
    (void)state;
    struct bench b = run("[a]\nnumber_ios=10\n[b]\nnumber_ios=20\n[c]\nstonewall\nrw="
                         "write\nnumber_ios=5\n[d]\nrw=write\nnumber_ios=5\n");
    for (uint64_t i = 0; i < 30; i++)
        assert_int_equal(fake_seen(b.drive)[i].opcode, FTL_READ);
    assert_int_equal(fake_seen(b.drive)[30].opcode, FTL_WRITE);
    assert_int_equal(fake_seen(b.drive)[30].at, 200 * us);
    assert_int_equal(fake_seen(b.drive)[31].at, 200 * us);
    assert_int_equal(wl_run_report(b.run, 0)->group, 0);
    assert_int_equal(wl_run_report(b.run, 1)->group, 0);
    assert_int_equal(wl_run_report(b.run, 2)->group, 1);
    assert_int_equal(wl_run_report(b.run, 3)->group, 1);
    drop(&b);
    b = run("[global]\ngroup_reporting\nnumjobs=2\nnumber_ios=1\n[a]\n[b]\n[c]\nnew_group\n");
    assert_int_equal(wl_run_report_count(b.run), 2);
    assert_int_equal(wl_run_report(b.run, 0)->threads, 4);
    assert_string_equal(wl_run_report(b.run, 1)->job->name, "c");
    drop(&b);
}

static void exitall_ends_all(void **state)
{
    (void)state;
    struct bench b = run("[a]\nnumber_ios=10\nexitall\n[b]\nruntime=9\ntime_based\n");
    assert_in_range(fake_count(b.drive), 19, 21);
    drop(&b);
}

/* ---- flushes, flow, streams, steady state ------------------------------ */
static void flushes_follow_writes(void **state)
{
    (void)state;
    struct bench b = run("[j]\nrw=write\nfsync=4\nend_fsync=1\nnumber_ios=10\n");
    static const uint8_t want[] = {1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 0};
    assert_int_equal(fake_count(b.drive), 13);
    for (size_t i = 0; i < 13; i++)
        assert_int_equal(fake_seen(b.drive)[i].opcode, want[i]);
    assert_int_equal(wl_run_report(b.run, 0)->sync.n, 3);
    drop(&b);
}

static void flow_keeps_proportions(void **state)
{
    (void)state;
    struct bench b = run("[global]\ntime_based\nruntime=1\n[a]\nrw=read\nflow=3\n[b]\nrw="
                         "write\nflow=1\niodepth=8\n");
    double reads = (double)wl_run_report(b.run, 0)->dir[WL_READ].ios;
    double writes = (double)wl_run_report(b.run, 1)->dir[WL_WRITE].ios;
    assert_true(reads > 99000.0); /* held back is the one that could do more */
    assert_true(fabs(reads / writes - 3.0) < 0.01);
    drop(&b);
    /* when one has ended, the other goes on alone */
    b = run("[a]\nflow=3\nnumber_ios=30\n[b]\nflow=1\nnumber_ios=1000\n");
    assert_int_equal(fake_count(b.drive), 1030);
    drop(&b);
}

static void streams_take_turns(void **state)
{
    (void)state;
    struct bench b = run("[j]\nrw=write\nfdp=1\nfdp_pli=4,5,9\nnumber_ios=7\n");
    static const uint16_t want[] = {5, 6, 10, 5, 6, 10, 5};
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(fake_seen(b.drive)[i].stream, want[i]);
    drop(&b);
}

static void steady_state_ends_a_group(void **state)
{
    (void)state;
    struct bench b = run("[a]\nss=iops_slope:0.1%\nss_dur=3\nss_ramp=2\nruntime=60\ntime_"
                         "based\n[b]\nstonewall\nnumber_ios=1\n");
    const struct wl_report *r = wl_run_report(b.run, 0);
    assert_true(r->ss.attained);
    assert_int_equal(r->ss.samples, 3);
    assert_int_equal(r->ss.iops[0], 100000);
    assert_int_equal(r->ss.bw[2], 409600000);
    assert_true(fabs(r->ss.criterion) < 1e-9);
    assert_in_range(r->dir[WL_READ].runtime_ns, 5 * second, 5 * second + 20 * us);
    drop(&b);
    /* alternating pauses: a deviation that is never below 1 %, so the run takes its time */
    b = run("[a]\nss=iops:1%\nss_dur=4\nruntime=9\ntime_based\nthinktime=700ms\nthinktime_"
            "blocks=90000\n");
    r = wl_run_report(b.run, 0);
    assert_false(r->ss.attained);
    assert_true(r->ss.criterion > 1.0);
    assert_true(r->elapsed_ns >= 9 * second);
    drop(&b);
}

/* ---- logs -------------------------------------------------------------- */
static void expect_file(const char *directory, const char *name, const char *want)
{
    char path[256], text[4096] = "";
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(text, want);
    assert_int_equal(remove(path), 0);
}

static void logs_hold_intervals(void **state)
{
    char directory[] = "/tmp/wl_test_XXXXXX", path[128];
    (void)state;
    assert_non_null(mkdtemp(directory));
    struct bench b =
        prepare_with("[j]\nruntime=250ms\ntime_based\nlog_avg_msec=100\nwrite_bw_log=x\nwrite_"
                     "iops_log=x\nwrite_lat_log=x\n",
                     (struct wl_run_options){.seed = 1, .log_directory = directory});
    assert_int_equal(wl_run_go(b.run, why, sizeof why), WL_OK);
    snprintf(path, sizeof path, "%s/x_bw.1.log", directory);
    assert_int_equal(access(path, F_OK), -1); /* no name before all is well */
    assert_int_equal(wl_run_keep_logs(b.run, why, sizeof why), WL_OK);
    /* 10,000 accesses of 4 KiB in 100 ms = 400,000 KiB/s */
    expect_file(directory, "x_bw.1.log", "100, 400000, 0, 0, 0\n200, 400000, 0, 0, 0\n");
    expect_file(directory, "x_iops.1.log", "100, 100000, 0, 0, 0\n200, 100000, 0, 0, 0\n");
    expect_file(directory, "x_lat.1.log",
                "100, 10000, 0, 0, 0\n200, 10000, 0, 0, 0\n250, 10000, 0, 0, 0\n");
    expect_file(directory, "x_slat.1.log",
                "100, 1500, 0, 0, 0\n200, 1500, 0, 0, 0\n250, 1500, 0, 0, 0\n");
    expect_file(directory, "x_clat.1.log",
                "100, 8500, 0, 0, 0\n200, 8500, 0, 0, 0\n250, 8500, 0, 0, 0\n");
    drop(&b);
    b = prepare_with("[j]\nrw=write\nnumber_ios=2\nlog_offset=1\nper_job_logs=0\nwrite_lat_log="
                     "y\ndisable_slat=1\ndisable_clat=1\n",
                     (struct wl_run_options){.seed = 1, .log_directory = directory});
    assert_int_equal(wl_run_go(b.run, why, sizeof why), WL_OK);
    assert_int_equal(wl_run_keep_logs(b.run, why, sizeof why), WL_OK);
    expect_file(directory, "y_lat.log",
                "0, 10000, 1, 4096, 0, 0\n0, 10000, 1, 4096, 4096, 0\n");
    drop(&b);
    /* not kept: nothing is left, so the directory can go */
    b = prepare_with("[j]\nnumber_ios=2\nwrite_bw_log=z\n",
                     (struct wl_run_options){.seed = 1, .log_directory = directory});
    assert_int_equal(wl_run_go(b.run, why, sizeof why), WL_OK);
    drop(&b);
    assert_int_equal(rmdir(directory), 0);
}

/* ---- preconditioning --------------------------------------------------- */
static struct wl_precondition steps_of(const char *spec)
{
    struct wl_precondition p;
    if (wl_precondition_parse(spec, &p, why, sizeof why) != WL_OK)
        fail_msg("%s", why);
    return p;
}

static void seq_writes_all_in_order(void **state)
{
    struct bench b = prepare("[j]\n");
    struct wl_precondition p = steps_of("seq:2");
    uint64_t at = 0;
    (void)state;
    assert_int_equal(wl_run_precondition(b.run, &p, why, sizeof why), WL_OK);
    for (uint64_t i = 0; i < fake_count(b.drive); i++) {
        const struct fake_seen *s = &fake_seen(b.drive)[i];
        assert_int_equal(s->lba, at % LBAS);
        assert_int_equal(s->lba_count, 32); /* 128 KiB; 100,000 is a multiple */
        at += s->lba_count;
    }
    assert_int_equal(at, 2 * LBAS);
    assert_int_equal(fake_resets(b.drive), 1);
    drop(&b);
}

static void rand_writes_units_everywhere(void **state)
{
    struct bench b = prepare("[j]\n");
    struct wl_precondition p = steps_of("rand:0.5");
    uint32_t quarters[4] = {0};
    (void)state;
    assert_int_equal(wl_run_precondition(b.run, &p, why, sizeof why), WL_OK);
    assert_int_equal(fake_count(b.drive), LBAS / 2);
    for (uint64_t i = 0; i < LBAS / 2; i++) {
        assert_int_equal(fake_seen(b.drive)[i].lba_count, 1);
        quarters[fake_seen(b.drive)[i].lba * 4 / LBAS]++;
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(quarters[i], 12500 - 5 * 97, 12500 + 5 * 97);
    drop(&b);
}

static void self_writes_the_mix_of_the_file(void **state)
{
    /* the reader does not write; the two writers stand 1 : 3 by their depths */
    struct bench b = prepare(
        "[r]\nrw=randread\n[a]\nrw=randwrite\nbs=4k\nsize=50%\niodepth=8\nnorandommap\n"
        "[b]\nrw=randwrite\nbs=8k\noffset=50%\niodepth=24\nnorandommap\nfdp=1\nfdp_pli=2\n");
    struct wl_precondition p = steps_of("self:2");
    uint32_t small = 0, large = 0;
    (void)state;
    assert_int_equal(wl_run_precondition(b.run, &p, why, sizeof why), WL_OK);
    for (uint64_t i = 0; i < fake_count(b.drive); i++) {
        const struct fake_seen *s = &fake_seen(b.drive)[i];
        assert_true(s->lba_count == 1 ? s->lba < LBAS / 2 && s->stream == 0
                                      : s->lba >= LBAS / 2 && s->stream == 3);
        small += s->lba_count == 1;
        large += s->lba_count == 2;
    }
    assert_in_range(small + 2 * large, 2 * LBAS, 2 * LBAS + 1);
    assert_true(fabs((double)small / (small + large) - 0.25) < 0.01);
    drop(&b);
    b = prepare("[r]\nrw=randread\n");
    assert_int_equal(wl_run_precondition(b.run, &p, why, sizeof why), WL_EJOB);
    assert_string_equal(why, "--precondition: self: no job of the file writes");
    drop(&b);
}

static void bad_preconditions_are_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "fill:1",
        "seq:x",
        "seq:1001",
        "seq:-1",
        "seq:1,,rand:1",
        "seq:0.0000001",
        "seq,seq,seq,seq,seq,seq,seq,seq,seq,seq,seq,seq,seq,seq,seq,seq,seq"};
    struct wl_precondition p = {.count = 77};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(wl_precondition_parse(bad[i], &p, why, sizeof why), WL_EJOB);
    assert_int_equal(p.count, 77);
    p = steps_of("seq,rand:3,self:0.25");
    assert_int_equal(p.count, 3);
    assert_int_equal(p.steps[0].writes_micro, 1000000);
    assert_int_equal(p.steps[2].fill, WL_FILL_SELF);
    assert_int_equal(p.steps[2].writes_micro, 250000);
}

/* ---- repeating and stopping -------------------------------------------- */
static uint64_t fingerprint(uint64_t seed, const char *text)
{
    struct bench b = prepare_with(text, (struct wl_run_options){.seed = seed});
    uint64_t h = 0;
    assert_int_equal(wl_run_go(b.run, why, sizeof why), WL_OK);
    for (uint64_t i = 0; i < fake_count(b.drive); i++) {
        const struct fake_seen *s = &fake_seen(b.drive)[i];
        h = (h ^ s->lba ^ s->at ^ ((uint64_t)s->opcode << 60) ^
             ((uint64_t)s->lba_count << 40)) *
            UINT64_C(0x100000001b3);
    }
    drop(&b);
    return h;
}

static void seeds_repeat_and_differ(void **state)
{
    static const char *const texts[] = {
        "[j]\nrw=randread\nnumber_ios=1000\n",
        "[j]\nrw=randrw\nbssplit=4k/50:8k/50\nnumber_ios=1000\nnumjobs=2\n",
        "[j]\nrw=randwrite\nrandom_distribution=zipf:1.1\nnumber_ios=1000\n",
        "[j]\nrw=read\nrate_iops=1000\nrate_process=poisson\nnumber_ios=100\n",
    };
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        assert_true(fingerprint(1, texts[i]) == fingerprint(1, texts[i]));
        assert_true(fingerprint(1, texts[i]) != fingerprint(2, texts[i]));
    }
}

static int stop_after_two(void *user, const struct wl_progress *p)
{
    int *calls = user;
    assert_true(p->done_ppm <= 1000000);
    return ++*calls >= 2;
}

static void a_run_can_be_stopped(void **state)
{
    int calls = 0;
    (void)state;
    struct bench b = prepare_with(
        "[j]\nruntime=60\ntime_based\n[k]\nstonewall\n",
        (struct wl_run_options){.seed = 1, .progress = stop_after_two, .user = &calls});
    assert_int_equal(wl_run_go(b.run, why, sizeof why), WL_OK);
    assert_true(wl_run_interrupted(b.run));
    assert_int_equal(calls, 2);
    assert_true(wl_run_report(b.run, 0)->dir[WL_READ].ios > 0);
    assert_int_equal(wl_run_report(b.run, 1)->dir[WL_READ].ios, 0);
    drop(&b);
}

static int stop_at_once(void *user, const struct wl_progress *p)
{
    (void)user;
    return p->untimed;
}

static void a_stop_while_preconditioning_stops_all(void **state)
{
    struct wl_precondition p = steps_of("rand:3,seq:1");
    (void)state;
    struct bench b = prepare_with("[j]\nruntime=60\ntime_based\n[k]\nstonewall\n",
                                  (struct wl_run_options){.seed = 1, .progress = stop_at_once});
    assert_int_equal(wl_run_precondition(b.run, &p, why, sizeof why), WL_OK);
    uint64_t filled = wl_run_filled(b.run);
    assert_true(filled > 0 && filled < LBAS);
    assert_int_equal(wl_run_go(b.run, why, sizeof why), WL_OK);
    assert_true(wl_run_interrupted(b.run));
    assert_int_equal(fake_count(b.drive), filled);
    drop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_access_at_a_time),
        cmocka_unit_test(the_queue_is_as_deep_as_asked),
        cmocka_unit_test(amounts_end_jobs),
        cmocka_unit_test(regions_are_where_asked),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(rates_space_accesses_evenly),
        cmocka_unit_test(a_rate_may_hold_one_direction),
        cmocka_unit_test(poisson_gaps_are_exponential),
        cmocka_unit_test(pauses_come_after_so_many),
        cmocka_unit_test(rates_catch_up_after_pauses_unless_told),
        cmocka_unit_test(ramps_and_delays),
        cmocka_unit_test(stonewalls_wait),
        cmocka_unit_test(exitall_ends_all),
        cmocka_unit_test(flushes_follow_writes),
        cmocka_unit_test(flow_keeps_proportions),
        cmocka_unit_test(streams_take_turns),
        cmocka_unit_test(steady_state_ends_a_group),
        cmocka_unit_test(logs_hold_intervals),
        cmocka_unit_test(seq_writes_all_in_order),
        cmocka_unit_test(rand_writes_units_everywhere),
        cmocka_unit_test(self_writes_the_mix_of_the_file),
        cmocka_unit_test(bad_preconditions_are_refused),
        cmocka_unit_test(seeds_repeat_and_differ),
        cmocka_unit_test(a_run_can_be_stopped),
        cmocka_unit_test(a_stop_while_preconditioning_stops_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
