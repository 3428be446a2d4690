/* apart.c - a case in a process of its own, so that a crash is a verdict. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ftl/ftl_testkit.h"

/* Reads up to size bytes until the other end closes. */
static size_t drain_pipe(int fd, void *into, size_t size)
{
    char rest[256];
    size_t have = 0;
    ssize_t n;
    while (have < size && (n = read(fd, (char *)into + have, size - have)) > 0)
        have += (size_t)n;
    while (read(fd, rest, sizeof rest) > 0)
        ;
    (void)close(fd);
    return have;
}

static _Noreturn void play_child(const struct tk_case *c, const struct tk_options *options,
                                 uint32_t seconds, int out, int err)
{
    struct tk_result result = {0};
    (void)dup2(err, STDERR_FILENO);
    (void)alarm(seconds);
    int code = tk_play(c, options, &result);
    ssize_t n = write(out, &result, sizeof result);
    _exit(code == 0 && n == (ssize_t)sizeof result ? 0 : 1);
}

static void judge_end(int status, size_t got, const char *said, uint32_t seconds,
                      struct tk_result *ret)
{
    if (got == sizeof *ret)
        return;
    *ret = (struct tk_result){.verdict = TK_CRASH};
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        ret->verdict = TK_DEAD_DEVICE;
        (void)snprintf(ret->why, sizeof ret->why, "no end within %u s", seconds);
    } else {
        (void)snprintf(ret->why, sizeof ret->why, "ended by %s %d: %.400s",
                       WIFSIGNALED(status) ? "signal" : "exit",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), said);
    }
}

int tk_play_apart(const struct tk_case *c, const struct tk_options *options, uint32_t seconds,
                  struct tk_result *ret)
{
    int out[2], err[2], status = 0;
    char said[512] = "";

    if (pipe(out) != 0)
        return FTL_EIO;
    if (pipe(err) != 0) {
        (void)close(out[0]);
        (void)close(out[1]);
        return FTL_EIO;
    }
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        play_child(c, options, seconds, out[1], err[1]);
    (void)close(out[1]);
    (void)close(err[1]);
    (void)drain_pipe(err[0], said, sizeof said - 1);
    size_t got = drain_pipe(out[0], ret, sizeof *ret);
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return FTL_EIO;
    judge_end(status, got, said, seconds, ret);
    return 0;
}
