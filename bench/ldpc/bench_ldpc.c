/* bench_ldpc.c - `ftlsim ldpc bench` as a program of its own. */
#include "cmd_ldpc.h"

int main(int argc, char **argv)
{
    char name[] = "ldpc", what[] = "bench";
    char *args[8] = {name, what};
    int n = 2;
    for (int i = 1; i < argc && n < 8; i++)
        args[n++] = argv[i];
    return cmd_ldpc(n, args);
}
