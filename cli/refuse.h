/* refuse.h - the one way a command says no. */
#ifndef CLI_REFUSE_H_
#define CLI_REFUSE_H_

enum cli_exit { CLI_OK = 0, CLI_REFUSED = 2, CLI_BROKEN = 3, CLI_INTERRUPTED = 130 };

/* One line "ftlsim: ..." on stderr; returns CLI_REFUSED. */
int cli_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
