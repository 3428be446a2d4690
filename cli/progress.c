/* progress.c - one line on a terminal, and ^C. The only clock of the wall is here. */
#include <signal.h>
#include <stdarg.h>
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

void cli_progress_start(struct cli_progress *p)
{
    *p = (struct cli_progress){.terminal = isatty(STDERR_FILENO) != 0, .started = cli_wall()};
}

bool cli_progress_due(struct cli_progress *p)
{
    double now = p->terminal ? cli_wall() : 0.0;
    if (!p->terminal || now - p->shown < 0.2)
        return false;
    p->shown = now;
    return true;
}

void cli_progress_draw(struct cli_progress *p, double done, const char *format, ...)
{
    double elapsed = p->shown - p->started;
    va_list args;

    done = done < 0.0 ? 0.0 : done > 1.0 ? 1.0 : done;
    fprintf(stderr, "\r%5.1f %%", 100.0 * done);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    if (done > 0.001)
        fprintf(stderr, "  %.0f s left", elapsed * (1.0 - done) / done);
    fputs("\033[K", stderr);
    fflush(stderr);
    p->drawn = true;
}

void cli_progress_clear(struct cli_progress *p)
{
    if (p->drawn)
        fputs("\r\033[K", stderr);
    p->drawn = false;
    p->started = cli_wall();
}
