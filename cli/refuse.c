/* refuse.c - apart from main.c, so that programs of single commands link it too. */
#include "refuse.h"

#include <stdarg.h>
#include <stdio.h>

int cli_refuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("ftlsim: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return CLI_REFUSED;
}
