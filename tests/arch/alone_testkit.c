/* alone_testkit.c - a program with the test kit: one case, played. */
#include <ftl/ftl_testkit.h>

#include <stdio.h>

int main(void)
{
    char why[FTL_WHY_MAX] = "";
    struct tk_case c = {0};
    struct tk_result r = {0};
    struct tk_load load = {.lbas = 96, .io_lbas = 1, .depth = 4, .seed = 1};
    int bad = tk_tiny(&c.cfg, why, sizeof why, NULL) < 0 || tk_add_fill(&c.script, &load) < 0 ||
              tk_add_uniform(&c.script, &load, 500) < 0 || tk_play(&c, NULL, &r) < 0 ||
              r.verdict != TK_SOUND;
    printf("%s %s: %llu writes\n", why, tk_verdict_name(r.verdict),
           (unsigned long long)r.writes);
    tk_script_free(&c.script);
    return bad;
}
