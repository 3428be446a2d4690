/* precondition.c - drive writes at memory speed, before anything is timed. */
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"
#include "value.h"

enum { BATCH = 512, PROGRESS_BATCHES = 64, SEQ_BYTES = 131072, UNIT_BYTES = 4096 };

int wl_precondition_parse(const char *spec, struct wl_precondition *ret, char *ret_why,
                          size_t why_size)
{
    static const char *const names[] = {"seq", "rand", "self"};
    struct wl_precondition p = {0};
    struct wl_span rest = wl_span_of(spec), item, name;
    const char *rule = NULL;
    while (rule == NULL && wl_span_cut(&rest, ',', &item)) {
        uint8_t fill = 0;
        uint64_t writes = 1000000;
        wl_span_cut(&item, ':', &name);
        while (fill < 3 && !wl_span_equals(name, names[fill]))
            fill++;
        if (fill == 3)
            rule = "steps are seq, rand and self, each with ':' and a number of drive writes";
        else if (p.count == WL_STEPS_MAX)
            rule = "at most 16 steps";
        else if (item.at != NULL)
            rule = wl_value_micro(item, &writes);
        if (rule == NULL && writes > UINT64_C(1000000000))
            rule = "at most 1000 drive writes a step";
        if (rule == NULL) {
            p.steps[p.count].fill = fill;
            p.steps[p.count++].writes_micro = writes;
        }
    }
    if (rule != NULL) {
        snprintf(ret_why, why_size, "--precondition: %s: %s", spec, rule);
        return WL_EJOB;
    }
    *ret = p;
    return WL_OK;
}

/* A thread's write mix, drawn without its clock. */
struct source {
    struct wl_gen gen;
    const struct wl_job *job;
    uint64_t weight_end; /* cumulative iodepth */
    uint32_t next_stream;
};

struct filler {
    struct wl_run *run;
    struct ftl_extent batch[BATCH];
    uint32_t used;
    uint64_t written, target; /* LBAs */
    uint64_t batches;
    struct source *sources;
    uint32_t source_count;
    struct wl_rng pick;
    int err;
};

static int flush_batch(struct filler *f)
{
    struct wl_run *run = f->run;
    int r = f->used > 0 ? ftl_write_untimed(run->drive, f->batch, f->used) : 0;
    run->filled += f->used;
    f->used = 0;
    if (r < 0)
        return f->err = r;
    if (run->options.progress != NULL && ++f->batches % PROGRESS_BATCHES == 0) {
        struct wl_progress p = {(uint64_t)((wl_u128)f->written * 1000000 / f->target), 0,
                                run->filled, true};
        run->interrupted |= run->options.progress(run->options.user, &p) != 0;
    }
    return 0;
}

/* False at the end of the step. */
static inline bool put(struct filler *f, uint64_t lba, uint32_t count, uint16_t stream)
{
    f->batch[f->used++] = (struct ftl_extent){.lba = lba, .lba_count = count, .stream = stream};
    f->written += count;
    if (f->used == BATCH && flush_batch(f) < 0)
        return false;
    return f->written < f->target && !f->run->interrupted;
}

static void fill_seq(struct filler *f)
{
    uint64_t lba = 0, lbas = f->run->lbas;
    uint32_t step = SEQ_BYTES / f->run->lba_bytes, count;
    do {
        count = step < lbas - lba ? step : (uint32_t)(lbas - lba);
        uint64_t at = lba;
        lba = lba + count == lbas ? 0 : lba + count;
        if (!put(f, at, count, 0))
            break;
    } while (true);
}

static void fill_rand(struct filler *f, struct wl_rng rng)
{
    uint32_t unit = UNIT_BYTES / f->run->lba_bytes;
    uint64_t units = f->run->lbas / unit;
    if (units == 0)
        return;
    while (put(f, wl_below(wl_rng_next(&rng), units) * unit, unit, 0))
        ;
}

static struct source *pick_source(struct filler *f)
{
    if (f->source_count == 1)
        return f->sources;
    uint64_t draw = wl_below(wl_rng_next(&f->pick), f->sources[f->source_count - 1].weight_end);
    uint32_t low = 0, high = f->source_count - 1;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (draw < f->sources[mid].weight_end)
            high = mid;
        else
            low = mid + 1;
    }
    return &f->sources[low];
}

static void fill_self(struct filler *f)
{
    struct wl_access a;
    uint16_t stream;
    do {
        struct source *s = pick_source(f);
        stream = 0;
        if (s->job->fdp) {
            stream = (uint16_t)s->job->streams[s->next_stream];
            s->next_stream = (s->next_stream + 1) % s->job->stream_count;
        }
        wl_gen_access(&s->gen, WL_WRITE, UINT32_MAX, &a);
    } while (put(f, a.lba, a.count, stream));
}

/* Every thread that writes becomes a source with draws of its own. */
static int make_sources(struct filler *f, uint64_t seed)
{
    struct wl_run *run = f->run;
    uint64_t weights = 0;
    int dir;
    f->sources = calloc(run->thread_count, sizeof *f->sources);
    if (f->sources == NULL)
        return WL_ENOMEM;
    for (uint32_t i = 0; i < run->thread_count; i++) {
        const struct wl_thread *t = &run->threads[i];
        struct source *s = &f->sources[f->source_count];
        if (!t->job->dir[WL_WRITE])
            continue;
        int err = wl_gen_init(&s->gen, t->job, t->gen.start * run->lba_bytes,
                              t->gen.length * run->lba_bytes, run->lba_bytes, seed, i, &dir);
        if (err != WL_OK)
            return err;
        s->gen.trimwrite = false; /* writes alone: untimed trims come with no drive write */
        s->job = t->job;
        s->weight_end = weights += t->depth;
        f->source_count++;
    }
    f->pick = wl_rng_make(seed, WL_FOR_SELF, 0);
    return WL_OK;
}

static void free_sources(struct filler *f)
{
    for (uint32_t i = 0; f->sources != NULL && i < f->source_count; i++)
        wl_gen_free(&f->sources[i].gen);
    free(f->sources);
    f->sources = NULL;
    f->source_count = 0;
}

/* Step number `index`: a stream of draws of its own. */
static int do_step(struct filler *f, uint8_t fill, uint32_t index, char *why, size_t why_size)
{
    uint64_t seed = f->run->options.seed + UINT64_C(0x5851f42d4c957f2d) * (index + 1);
    int err = WL_OK;
    if (fill == WL_FILL_SEQ) {
        fill_seq(f);
    } else if (fill == WL_FILL_RAND) {
        fill_rand(f, wl_rng_make(seed, WL_FOR_FILL, 0));
    } else {
        err = make_sources(f, seed);
        if (err == WL_OK && f->source_count > 0)
            fill_self(f);
        else
            snprintf(why, why_size,
                     err != WL_OK ? "out of memory"
                                  : "--precondition: self: no job of the file writes");
        if (err == WL_OK && f->source_count == 0)
            err = WL_EJOB;
        free_sources(f);
    }
    if (err == WL_OK && f->err == 0)
        flush_batch(f);
    return err;
}

int wl_run_measure(wl_run *run, const struct wl_precondition *steps, struct ftl_counters *ret,
                   char *ret_why, size_t why_size)
{
    struct filler *f = calloc(1, sizeof *f);
    int err = WL_OK;
    if (f == NULL) {
        snprintf(ret_why, why_size, "out of memory");
        return WL_ENOMEM;
    }
    f->run = run;
    for (uint32_t i = 0; err == WL_OK && i < steps->count && !run->interrupted; i++) {
        f->written = 0;
        if (ret != NULL && i + 1 == steps->count)
            ftl_counters_reset(run->drive);
        f->target = (uint64_t)((wl_u128)run->lbas * steps->steps[i].writes_micro / 1000000);
        if (f->target > 0)
            err = do_step(f, steps->steps[i].fill, i, ret_why, why_size);
        if (err == WL_OK && f->err != 0) {
            char fault[FTL_WHY_MAX / 2];
            bool policy = ftl_policy_fault(run->drive, fault, sizeof fault) < 0;
            snprintf(ret_why, why_size, "--precondition: the drive: %s",
                     policy ? fault : ftl_strerror(f->err));
            err = WL_EDRIVE;
        }
    }
    free(f);
    if (ret != NULL)
        ftl_counters_get(run->drive, ret);
    ftl_counters_reset(run->drive);
    return err;
}

int wl_run_precondition(wl_run *run, const struct wl_precondition *steps, char *ret_why,
                        size_t why_size)
{
    return wl_run_measure(run, steps, NULL, ret_why, why_size);
}
