/* Job files, option by option: what lands in struct wl_job, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "workload/jobs.h"

static const uint64_t second = UINT64_C(1000000000);
static char why[512];

static wl_jobs *parse(const char *text)
{
    wl_jobs *jobs = NULL;
    if (wl_jobs_parse("t.fio", text, strlen(text), NULL, 0, &jobs, why, sizeof why) != WL_OK)
        fail_msg("%s", why);
    return jobs;
}

/* One job with the given option lines; the caller frees. */
static wl_jobs *one(const char *options)
{
    char text[4096];
    snprintf(text, sizeof text, "[j]\n%s\n", options);
    return parse(text);
}

static void refused(const char *text, const char *message)
{
    wl_jobs *jobs = NULL;
    int err = wl_jobs_parse("t.fio", text, strlen(text), NULL, 0, &jobs, why, sizeof why);
    if (err != WL_EJOB)
        fail_msg("accepted: %s", text);
    assert_null(jobs);
    if (strcmp(why, message) != 0)
        fail_msg("\n got: %s\nwant: %s", why, message);
}

/* ---- the file ---------------------------------------------------------- */
static void defaults_are_those_of_fio(void **state)
{
    wl_jobs *jobs = parse("[j]\n");
    const struct wl_job *j = wl_jobs_get(jobs, 0);
    (void)state;
    assert_string_equal(j->name, "j");
    assert_string_equal(j->rw, "read");
    assert_true(j->dir[WL_READ] && !j->dir[WL_WRITE] && !j->dir[WL_TRIM] && !j->random);
    assert_int_equal(j->bs_min[WL_READ], 4096);
    assert_int_equal(j->iodepth, 1);
    assert_int_equal(j->numjobs, 1);
    assert_int_equal(j->loops, 1);
    assert_int_equal(j->percentile_count, 17);
    assert_int_equal(j->percentiles[0], 1 * WL_PCT);
    assert_int_equal(j->percentiles[13], 99500000);
    assert_int_equal(j->percentiles[16], 99990000);
    wl_jobs_free(jobs);
}

static void globals_reach_later_jobs_only(void **state)
{
    wl_jobs *jobs = parse("[global]\nbs=8k\n[a]\n[global]\niodepth=4\n[b]\nbs=16k\n");
    (void)state;
    assert_int_equal(wl_jobs_count(jobs), 2);
    assert_int_equal(wl_jobs_get(jobs, 0)->bs_min[0], 8192);
    assert_int_equal(wl_jobs_get(jobs, 0)->iodepth, 1);
    assert_int_equal(wl_jobs_get(jobs, 1)->bs_min[0], 16384);
    assert_int_equal(wl_jobs_get(jobs, 1)->iodepth, 4);
    assert_null(wl_jobs_get(jobs, 2));
    wl_jobs_free(jobs);
}

static void form_is_forgiving_where_fio_is(void **state)
{
    wl_jobs *jobs = parse("\xef\xbb\xbf# comment\r\n; another\r\n\r\n[a]\r\n  bs = 8k  ; "
                          "inline\r\ntime_based\r\nruntime=1 # s\r\n[b]\r\n");
    (void)state;
    assert_int_equal(wl_jobs_count(jobs), 2);
    assert_int_equal(wl_jobs_get(jobs, 0)->bs_min[0], 8192);
    assert_true(wl_jobs_get(jobs, 0)->time_based);
    assert_int_equal(wl_jobs_get(jobs, 0)->runtime_ns, second);
    assert_int_equal(wl_jobs_get(jobs, 1)->line, 8);
    wl_jobs_free(jobs);
}

static void the_last_of_two_counts(void **state)
{
    wl_jobs *jobs = one("bs=8k\niodepth=3\nblocksize=16k\niodepth=5");
    uint32_t n;
    const struct wl_pair *pairs = wl_jobs_pairs(jobs, 0, &n);
    (void)state;
    assert_int_equal(wl_jobs_get(jobs, 0)->bs_min[0], 16384);
    assert_int_equal(wl_jobs_get(jobs, 0)->iodepth, 5);
    assert_int_equal(n, 2);
    assert_string_equal(pairs[0].key, "bs");
    assert_string_equal(pairs[0].value, "16k");
    assert_string_equal(pairs[1].value, "5");
    wl_jobs_free(jobs);
}

static void long_lines_are_kept_whole(void **state)
{
    /* beyond the 200 characters that a line of inih has, and with blanks in it */
    char text[3000] = "[j]\ndescription=";
    size_t at = strlen(text);
    for (int i = 0; i < 400; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "w%03d ", i);
    wl_jobs *jobs = parse(text);
    const char *d = wl_jobs_get(jobs, 0)->description;
    (void)state;
    assert_int_equal(strlen(d), 400 * 5 - 1);
    assert_memory_equal(d, text + strlen("[j]\ndescription="), 400 * 5 - 1);
    wl_jobs_free(jobs);
    char *huge = malloc(70100);
    assert_non_null(huge);
    memset(huge, 'x', 70000);
    memcpy(huge, "[j]\nname=", 9);
    huge[70000] = '\0';
    refused(huge, "t.fio:2: line: line longer than 65536 characters");
    free(huge);
}

static void the_environment_is_put_in(void **state)
{
    (void)state;
    setenv("WL_TEST_BS", "32k", 1);
    setenv("WL_TEST_HALF", "6", 1);
    unsetenv("WL_TEST_NONE");
    wl_jobs *jobs = one("bs=${WL_TEST_BS}\nrate=7${WL_TEST_HALF}m,");
    assert_int_equal(wl_jobs_get(jobs, 0)->bs_min[0], 32768);
    assert_int_equal(wl_jobs_get(jobs, 0)->rate[WL_READ], UINT64_C(76) << 20);
    wl_jobs_free(jobs);
    refused("[j]\n\nbs=${WL_TEST_NONE}\n",
            "t.fio:3: bs: environment variable WL_TEST_NONE is not set");
    refused("[j]\nbs=${WL_TEST_BS\n", "t.fio:2: bs: '${' without '}'");
    refused("[j]\nsize=$mb_memory\n",
            "t.fio:2: size: $mb_memory would make the result depend on this machine");
}

static void sections_can_be_chosen(void **state)
{
    static const char text[] = "[global]\nbs=8k\n[a]\niodepth=2\n[b]\nbs=${WL_TEST_NONE}\n";
    const char *a[] = {"a"}, *c[] = {"c"};
    wl_jobs *jobs = NULL;
    (void)state;
    unsetenv("WL_TEST_NONE");
    assert_int_equal(wl_jobs_parse("t", text, sizeof text - 1, a, 1, &jobs, why, sizeof why),
                     WL_OK);
    assert_int_equal(wl_jobs_count(jobs), 1);
    assert_int_equal(wl_jobs_get(jobs, 0)->iodepth, 2);
    wl_jobs_free(jobs);
    assert_int_equal(wl_jobs_parse("t", text, sizeof text - 1, c, 1, &jobs, why, sizeof why),
                     WL_EJOB);
    assert_string_equal(why, "t:1: --section: no section named 'c'");
}

static void a_file_of_global_alone_is_one_job(void **state)
{
    wl_jobs *jobs = parse("[global]\nrw=write\n");
    (void)state;
    assert_int_equal(wl_jobs_count(jobs), 1);
    assert_string_equal(wl_jobs_get(jobs, 0)->name, "t");
    assert_non_null(strstr(wl_jobs_note(jobs, 0), "no section but [global]"));
    wl_jobs_free(jobs);
    jobs = parse("[global]\nname=fill\n");
    assert_string_equal(wl_jobs_get(jobs, 0)->name, "fill");
    wl_jobs_free(jobs);
}

static void broken_files_are_refused(void **state)
{
    (void)state;
    refused("", "t.fio:1: job: the file holds no job");
    refused("# nothing\n\n", "t.fio:1: job: the file holds no job");
    refused("bs=4k\n", "t.fio:1: bs: an option must stand in a section ([global] or [JOB])");
    refused("[j]\n\x01\x02\n", "t.fio:2: line: not a text file (a control character)");
    refused("\x7f"
            "ELF\x02\x01",
            "t.fio:1: line: not a text file (a control character)");
    refused("[j\n", "t.fio:1: line: a section ends with ']'");
    refused("[]\n", "t.fio:1: line: a section needs a name");
    refused("[j]\n=4k\n",
            "t.fio:2: line: not an option (name=value), a section ([name]) or a comment");
    refused("[j]\nbs\n", "t.fio:2: bs: needs a value");
    refused("[j]\nbs=\n", "t.fio:2: bs: a number is needed");
    refused("[j]\nno_such_thing_at_all=1\n", "t.fio:2: no_such_thing_at_all: unknown option");
    refused("[j]\nblocksise=4k\n", "t.fio:2: blocksise: unknown option; did you mean bs?");
    refused("[j]\niodept=4\n", "t.fio:2: iodept: unknown option; did you mean iodepth?");
    refused("[j]\ninclude /etc/x.fio\n", "t.fio:2: include: including other files is not supported; "
                                         "put the options into one file");
    refused("[j]\ninclude=x.fio\n", "t.fio:2: include: including other files is not supported; "
                                    "put the options into one file");
}

/* ---- options ----------------------------------------------------------- */
static void patterns(void **state)
{
    static const struct {
        const char *rw;
        bool read, write, trim, random, pair;
    } all[] = {
        {"read", true, false, false, false, false},
        {"write", false, true, false, false, false},
        {"trim", false, false, true, false, false},
        {"randread", true, false, false, true, false},
        {"randwrite", false, true, false, true, false},
        {"randtrim", false, false, true, true, false},
        {"rw", true, true, false, false, false},
        {"readwrite", true, true, false, false, false},
        {"randrw", true, true, false, true, false},
        {"trimwrite", false, true, true, false, true},
        {"randtrimwrite", false, true, true, true, true},
    };
    char line[64];
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        snprintf(line, sizeof line, "readwrite=%s", all[i].rw);
        wl_jobs *jobs = one(line);
        const struct wl_job *j = wl_jobs_get(jobs, 0);
        assert_int_equal(j->dir[WL_READ], all[i].read);
        assert_int_equal(j->dir[WL_WRITE], all[i].write);
        assert_int_equal(j->dir[WL_TRIM], all[i].trim);
        assert_int_equal(j->random, all[i].random);
        assert_int_equal(j->trimwrite, all[i].pair);
        wl_jobs_free(jobs);
    }
    wl_jobs *jobs = one("rw=randread:8\nrw_sequencer=identical");
    assert_int_equal(wl_jobs_get(jobs, 0)->rw_every, 8);
    assert_int_equal(wl_jobs_get(jobs, 0)->rw_sequencer, 1);
    wl_jobs_free(jobs);
    jobs = one("rw=write:64k");
    assert_int_equal(wl_jobs_get(jobs, 0)->rw_skip, 65536);
    wl_jobs_free(jobs);
    jobs = one("rw=read:-8k");
    assert_int_equal(wl_jobs_get(jobs, 0)->rw_skip, -8192);
    wl_jobs_free(jobs);
    refused(
        "[j]\nrw=RW\n",
        "t.fio:2: rw: 'RW' is none of read, write, trim, randread, randwrite, randtrim, rw, "
        "randrw, trimwrite, randtrimwrite");
}

static void sizes_by_direction(void **state)
{
    wl_jobs *jobs = one("bs=4k,8k,1m\nba=16k,32k");
    const struct wl_job *j = wl_jobs_get(jobs, 0);
    (void)state;
    assert_int_equal(j->bs_min[WL_READ], 4096);
    assert_int_equal(j->bs_max[WL_WRITE], 8192);
    assert_int_equal(j->bs_min[WL_TRIM], 1048576);
    assert_int_equal(j->align[WL_READ], 16384);
    assert_int_equal(j->align[WL_TRIM], 32768);
    wl_jobs_free(jobs);
    jobs = one("bs=,64k"); /* fio: default, then 64k for writes and trims */
    j = wl_jobs_get(jobs, 0);
    assert_int_equal(j->bs_min[WL_READ], 4096);
    assert_int_equal(j->bs_min[WL_WRITE], 65536);
    assert_int_equal(j->bs_min[WL_TRIM], 65536);
    wl_jobs_free(jobs);
    jobs = one("bs=8k,32k,"); /* fio: 8k, 32k, default */
    assert_int_equal(wl_jobs_get(jobs, 0)->bs_min[WL_TRIM], 4096);
    wl_jobs_free(jobs);
    jobs = one("bsrange=16k-4k,8k:64k");
    j = wl_jobs_get(jobs, 0);
    assert_int_equal(j->bs_min[WL_READ], 4096);
    assert_int_equal(j->bs_max[WL_READ], 16384);
    assert_int_equal(j->bs_max[WL_TRIM], 65536);
    wl_jobs_free(jobs);
    refused("[j]\nbs=0\n", "t.fio:2: bs: must not be 0");
    refused("[j]\nbs=1,2,3,4\n", "t.fio:2: bs: at most three parts: reads,writes,trims");
    refused("[j]\nbs=99999999999999t\n", "t.fio:2: bs: too large");
    refused("[j]\nbsrange=4k\n", "t.fio:2: bsrange: must be smallest-largest");
}

static void splits(void **state)
{
    wl_jobs *jobs = one("bssplit=4k/50:1k/:32k/,4k/33.33:8k/66.67");
    const struct wl_job *j = wl_jobs_get(jobs, 0);
    (void)state;
    assert_int_equal(j->split_count[WL_READ], 3);
    assert_int_equal(j->split[WL_READ][0].share, 50 * WL_PCT);
    assert_int_equal(j->split[WL_READ][1].share, 25 * WL_PCT);
    assert_int_equal(j->split[WL_READ][2].bytes, 32768);
    assert_int_equal(j->bs_min[WL_READ], 1024);
    assert_int_equal(j->bs_max[WL_READ], 32768);
    assert_int_equal(j->split[WL_WRITE][0].share, 33330000);
    assert_int_equal(j->split[WL_TRIM][1].share, 66670000);
    wl_jobs_free(jobs);
    jobs = one("bssplit=64k");
    assert_int_equal(wl_jobs_get(jobs, 0)->split[WL_READ][0].share, 100 * WL_PCT);
    wl_jobs_free(jobs);
    jobs = one("bssplit=4k/33:8k/33:16k/33"); /* whole percents: the last takes the rest */
    assert_int_equal(wl_jobs_get(jobs, 0)->split[WL_READ][2].share, 34 * WL_PCT);
    wl_jobs_free(jobs);
    refused("[j]\nbssplit=4k/60:8k/50\n",
            "t.fio:2: bssplit: percentages add up to 110.000000, over 100");
    refused("[j]\nbssplit=4k/60:8k/30\n",
            "t.fio:2: bssplit: percentages add up to 90.000000, not 100");
    refused("[j]\nbssplit=4k/150\n", "t.fio:2: bssplit: a percentage is over 100");
    refused("[j]\nbssplit=0/100\n", "t.fio:2: bssplit: must not be 0");
}

static void mixes(void **state)
{
    wl_jobs *jobs = one("rwmixread=70");
    (void)state;
    assert_int_equal(wl_jobs_get(jobs, 0)->rwmixread, 70);
    wl_jobs_free(jobs);
    jobs = one("rwmixread=70\nrwmixwrite=10");
    assert_int_equal(wl_jobs_get(jobs, 0)->rwmixread, 90);
    wl_jobs_free(jobs);
    jobs = one("percentage_random=0,33,0");
    assert_int_equal(wl_jobs_get(jobs, 0)->percentage_random[WL_WRITE], 33);
    assert_int_equal(wl_jobs_get(jobs, 0)->percentage_random[WL_TRIM], 0);
    wl_jobs_free(jobs);
    refused("[j]\nrwmixread=101\n", "t.fio:2: rwmixread: must be 0 to 100");
    refused("[j]\npercentage_random=101\n",
            "t.fio:2: percentage_random: must be 0 to 100, is 101");
}

static void amounts(void **state)
{
    wl_jobs *jobs = one(
        "size=80%\noffset=12.5%\noffset_increment=1g\nio_size=2t\nloops=3\nnumber_ios=1000");
    const struct wl_job *j = wl_jobs_get(jobs, 0);
    (void)state;
    assert_true(j->size.percent);
    assert_int_equal(j->size.value, 80 * WL_PCT);
    assert_int_equal(j->offset.value, 12500000);
    assert_int_equal(j->offset_increment.value, UINT64_C(1) << 30);
    assert_false(j->io_size.percent);
    assert_int_equal(j->io_size.value, UINT64_C(2) << 40);
    assert_int_equal(j->loops, 3);
    assert_int_equal(j->number_ios, 1000);
    wl_jobs_free(jobs);
    refused("[j]\nsize=101%\n", "t.fio:2: size: must not be over 100 %");
    refused("[j]\nsize=0\n", "t.fio:2: size: must not be 0");
    refused("[j]\nsize=99999999999999999999\n", "t.fio:2: size: too large");
    refused("[j]\nsize=16e\n",
            "t.fio:2: size: unknown unit (k, m, g, t, p, each with i, b or ib)");
    refused("[j]\nloops=0\n", "t.fio:2: loops: must be 1 to 4294967295, is 0");
    refused("[j]\niodepth=0\n", "t.fio:2: iodepth: must be 1 to 65536, is 0");
    refused("[j]\nnumjobs=0\n", "t.fio:2: numjobs: must be 1 to 65535, is 0");
}

static void timing(void **state)
{
    wl_jobs *jobs =
        one("runtime=2m\nramp_time=30s\nstartdelay=1-3\nrate=76m,\nrate_iops=,,500\nrate_"
            "process=poisson\n"
            "thinktime=1500\nthinktime_blocks=25\nthinktime_blocks_type=issue\nfsync=32");
    const struct wl_job *j = wl_jobs_get(jobs, 0);
    (void)state;
    assert_int_equal(j->runtime_ns, 120 * second);
    assert_int_equal(j->ramp_ns, 30 * second);
    assert_int_equal(j->delay_min_ns, second);
    assert_int_equal(j->delay_max_ns, 3 * second);
    assert_int_equal(j->rate[WL_READ], 76 << 20);
    assert_int_equal(j->rate[WL_WRITE], 0);
    assert_int_equal(j->rate[WL_TRIM], 0);
    assert_int_equal(j->rate_iops[WL_TRIM], 500);
    assert_int_equal(j->rate_process, 1);
    assert_int_equal(j->think_ns, 1500000);
    assert_int_equal(j->think_blocks, 25);
    assert_int_equal(j->think_type, 1);
    assert_int_equal(j->fsync, 32);
    wl_jobs_free(jobs);
    jobs = one("rate=1m,500k");
    assert_int_equal(wl_jobs_get(jobs, 0)->rate[WL_TRIM], 500 << 10);
    wl_jobs_free(jobs);
    refused("[j]\nrate=1m\nrate_iops=5\n",
            "t.fio:3: rate_iops: rate and rate_iops exclude each other");
    refused("[j]\nrate_process=fast\n", "t.fio:2: rate_process: must be one of linear|poisson");
    refused("[j]\nruntime=10y\n", "t.fio:2: runtime: unknown unit (us, ms, s, m, h, d)");
}

static void distributions(void **state)
{
    wl_jobs *jobs = one("random_distribution=zipf:1.2:0.25,pareto:0.2,normal:5");
    const struct wl_job *j = wl_jobs_get(jobs, 0);
    (void)state;
    assert_int_equal(j->dist[WL_READ].kind, WL_DIST_ZIPF);
    assert_int_equal(j->dist[WL_READ].parameter, 1200000);
    assert_int_equal(j->dist[WL_READ].centre, 250000);
    assert_int_equal(j->dist[WL_WRITE].kind, WL_DIST_PARETO);
    assert_int_equal(j->dist[WL_TRIM].parameter, 5000000);
    wl_jobs_free(jobs);
    jobs = one("random_distribution=zoned:50/5:30/15:20/80");
    j = wl_jobs_get(jobs, 0);
    assert_int_equal(j->dist[WL_WRITE].zone_count, 3);
    assert_int_equal(j->dist[WL_WRITE].zones[1].share, 30 * WL_PCT);
    assert_int_equal(j->dist[WL_WRITE].zones[2].size, 80 * WL_PCT);
    wl_jobs_free(jobs);
    jobs = one("random_distribution=zoned_abs:60/1g:40/2g");
    assert_int_equal(wl_jobs_get(jobs, 0)->dist[0].zones[1].size, UINT64_C(2) << 30);
    wl_jobs_free(jobs);
    refused("[j]\nrandom_distribution=zipf\n",
            "t.fio:2: random_distribution: needs a parameter after ':'");
    refused("[j]\nrandom_distribution=zoned:60/10:50/90\n",
            "t.fio:2: random_distribution: accesses add up to over 100 %");
    refused("[j]\nrandom_distribution=zoned:60/60:40/50\n",
            "t.fio:2: random_distribution: sizes add up to over 100 %");
    refused("[j]\nrandom_distribution=cauchy:1\n",
            "t.fio:2: random_distribution: 'cauchy' is none of random, zipf, "
            "pareto, normal, zoned, zoned_abs");
}

static void reports(void **state)
{
    wl_jobs *jobs =
        one("percentile_list=99.9:50:1\nlat_percentiles=1\nwrite_bw_log=lg\nwrite_lat_log\n"
            "log_avg_msec=500\nss=bw_slope:0.1%\nss_dur=300\nss_ramp=60");
    const struct wl_job *j = wl_jobs_get(jobs, 0);
    (void)state;
    assert_int_equal(j->percentile_count, 3);
    assert_int_equal(j->percentiles[0], WL_PCT);
    assert_int_equal(j->percentiles[2], 99900000);
    assert_true(j->lat_percentiles);
    assert_string_equal(j->bw_log, "lg");
    assert_string_equal(j->lat_log, "j");
    assert_int_equal(j->log_avg_ns, 500000000);
    assert_int_equal(j->ss_kind, WL_SS_BW_SLOPE);
    assert_true(j->ss_percent);
    assert_int_equal(j->ss_limit, 100000);
    assert_int_equal(j->ss_duration_ns, 300 * second);
    wl_jobs_free(jobs);
    refused("[j]\npercentile_list=50:100.1\n",
            "t.fio:2: percentile_list: a percentile must be above 0 and at most 100");
    refused("[j]\npercentile_list=1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18:19:20:21\n",
            "t.fio:2: percentile_list: at most 20 percentiles");
    refused("[j]\nss=iops:5%\n",
            "t.fio:1: steadystate_duration: steadystate needs a duration of 1 s to 1 day");
    refused("[j]\nss=volts:5%\n", "t.fio:2: steadystate: must be iops, iops_slope, bw, "
                                  "bw_slope, lat or lat_slope, then ':limit'");
}

static void streams(void **state)
{
    wl_jobs *jobs = one("fdp=1\nfdp_pli=4,5");
    (void)state;
    assert_int_equal(wl_jobs_get(jobs, 0)->stream_count, 2);
    assert_int_equal(wl_jobs_get(jobs, 0)->streams[1], 6);
    wl_jobs_free(jobs);
    refused("[j]\nfdp=1\n", "t.fio:2: fdp: needs fdp_pli, the indices to use");
}

static void inert_options_are_named_once(void **state)
{
    wl_jobs *jobs = parse("[global]\ndirect=1\nioengine=libaio\nverify=0\n[a]\ndirect="
                          "1\nthread\n[b]\nthread=1\n");
    (void)state;
    assert_string_equal(wl_jobs_note(jobs, 0), "accepted without meaning here: direct, thread");
    assert_null(wl_jobs_note(jobs, 1));
    assert_string_equal(wl_jobs_get(jobs, 0)->ioengine, "libaio");
    wl_jobs_free(jobs);
    refused(
        "[j]\nzonemode=zbd\n",
        "t.fio:2: zonemode: zones are not modelled; random_distribution=zoned skews accesses");
    jobs = one("zonemode=none\nrate_min=0");
    wl_jobs_free(jobs);
    jobs = one("filename=/dev/a:/dev/b");
    assert_string_equal(wl_jobs_note(jobs, 0),
                        "filename: all names are the one simulated drive");
    wl_jobs_free(jobs);
}

static void synchronous_engines_hold_one(void **state)
{
    wl_jobs *jobs = one("ioengine=psync\niodepth=32");
    (void)state;
    assert_int_equal(wl_jobs_get(jobs, 0)->iodepth, 1);
    assert_string_equal(wl_jobs_note(jobs, 0), "ioengine=psync is synchronous: iodepth is 1");
    wl_jobs_free(jobs);
}

static void the_table_is_sound(void **state)
{
    struct wl_option a, b;
    (void)state;
    assert_true(wl_option_count() > 150);
    for (uint32_t i = 0; i < wl_option_count(); i++) {
        assert_int_equal(wl_option_get(i, &a), WL_OK);
        assert_true(strlen(a.text) > 0);
        for (uint32_t k = 0; k < i; k++) {
            assert_int_equal(wl_option_get(k, &b), WL_OK);
            assert_string_not_equal(a.name, b.name);
        }
    }
    assert_int_equal(wl_option_get(wl_option_count(), &a), WL_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_fio),
        cmocka_unit_test(globals_reach_later_jobs_only),
        cmocka_unit_test(form_is_forgiving_where_fio_is),
        cmocka_unit_test(the_last_of_two_counts),
        cmocka_unit_test(long_lines_are_kept_whole),
        cmocka_unit_test(the_environment_is_put_in),
        cmocka_unit_test(sections_can_be_chosen),
        cmocka_unit_test(a_file_of_global_alone_is_one_job),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(patterns),
        cmocka_unit_test(sizes_by_direction),
        cmocka_unit_test(splits),
        cmocka_unit_test(mixes),
        cmocka_unit_test(amounts),
        cmocka_unit_test(timing),
        cmocka_unit_test(distributions),
        cmocka_unit_test(reports),
        cmocka_unit_test(streams),
        cmocka_unit_test(inert_options_are_named_once),
        cmocka_unit_test(synchronous_engines_hold_one),
        cmocka_unit_test(the_table_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
