/* fuzz.h - what a fuzz target is: one function, without state between two calls.
 *
 * Built with -Dfuzz=true by clang, libFuzzer drives it. Else driver.c does: the committed inputs,
 * and a fixed number of mutations of them, the same on every machine; that is the test. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "ftl/ftl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Ends the program with a line when `rule` does not hold. */
#define FUZZ_REQUIRE(rule)                                                                     \
    do {                                                                                       \
        if (!(rule))                                                                           \
            fuzz_fail(__FILE__, __LINE__, #rule);                                              \
    } while (0)
_Noreturn void fuzz_fail(const char *file, int line, const char *rule);

/* The drive that all targets use: tiny, with a journal. */
struct ftl_config fuzz_config(void);
/* Writes, trims, flushes: LBA k holds what fuzz_stamp() says, by version[k]; 0 = zeros. */
enum { FUZZ_LBAS = 32, FUZZ_LBA_BYTES = 4096 };
void fuzz_work(ftl_drive *d, uint32_t version[FUZZ_LBAS], uint64_t seed, uint32_t commands);
void fuzz_stamp(uint8_t *bytes, uint32_t lba, uint32_t version);
/* Sound, takes a write to every LBA, and gives each back. */
void fuzz_use(ftl_drive *d);
/* 0 = every LBA reads as it should. */
int fuzz_compare(ftl_drive *d, const uint32_t version[FUZZ_LBAS]);

#endif
