/* ldpc_tool.c - `ftlsim ldpc` without the rest of ftlsim. */
#include "cmd_ldpc.h"

int main(int argc, char **argv)
{
    return cmd_ldpc(argc, argv);
}
