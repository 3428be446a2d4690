/* progress.c - one line on a terminal, and ^C. The only clock of the wall is here. */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

void cli_catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESETHAND};
    sigemptyset(&action.sa_mask); /* a second ^C ends the program at once */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int cli_interrupted(void)
{
    return interrupted;
}

double cli_wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void cli_progress_start(struct cli_progress *p, const ftl_drive *drive)
{
    *p = (struct cli_progress){
        .drive = drive, .terminal = isatty(STDERR_FILENO) != 0, .started = cli_wall()};
}

static void draw(struct cli_progress *p, const struct wl_progress *w, double now)
{
    struct ftl_counters c;
    ftl_counters_get(p->drive, &c);
    struct cli_wa wa = cli_wa_of(&c);
    double done = (double)w->done_ppm / 1e6, elapsed = now - p->started;
    double left = done > 0.001 ? elapsed * (1.0 - done) / done : 0.0;
    double virtual_s = (double)w->virtual_ns / 1e9, span = virtual_s - p->last_virtual;
    uint64_t host = wa.host - p->last_host;

    fprintf(stderr, "\r%5.1f %%", 100.0 * done);
    if (w->untimed)
        fprintf(stderr, "  preconditioning, %.1f M writes", (double)w->accesses / 1e6);
    else
        fprintf(stderr, "  t=%.3f s  %.0f IOPS", virtual_s,
                span > 0.0 ? ((double)w->accesses - p->last_accesses) / span : 0.0);
    if (!w->untimed && wa.host > p->last_host)
        fprintf(stderr, "  WA %.2f",
                (double)(wa.programmed - p->last_programmed) / (double)host);
    if (done > 0.001)
        fprintf(stderr, "  %.0f s left", left);
    fputs("\033[K", stderr);
    fflush(stderr);
    p->last_accesses = (double)w->accesses;
    p->last_virtual = virtual_s;
    p->last_host = wa.host;
    p->last_programmed = wa.programmed;
    p->drawn = true;
}

int cli_progress_tick(void *user, const struct wl_progress *w)
{
    struct cli_progress *p = user;
    if (p->terminal) {
        double now = cli_wall();
        if (now - p->shown >= 0.2) {
            p->shown = now;
            draw(p, w, now);
        }
    }
    return interrupted;
}

void cli_progress_clear(struct cli_progress *p)
{
    if (p->drawn)
        fputs("\r\033[K", stderr);
    p->drawn = false;
    p->started = cli_wall();
    p->last_accesses = p->last_virtual = 0.0;
    p->last_host = p->last_programmed = 0;
}
