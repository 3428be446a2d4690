/* gf2.h - polynomials modulo x^z + 1 and dense elimination over GF(2). */
#ifndef LDPC_GF2_H_
#define LDPC_GF2_H_

#include "code.h"

/* acc[2 * words] ^= a * b, plain (unreduced) product. */
void ldpci_poly_mul_c(const uint64_t *a, const uint64_t *b, uint32_t words, uint64_t *acc);
/* Reduce acc[2 * zw] modulo x^z + 1 into ret[zw]. */
void ldpci_poly_fold(uint32_t z, const uint64_t *acc, uint64_t *ret);
uint32_t ldpci_gf2_eliminate(uint64_t *a, uint32_t rows, uint32_t words, uint32_t cols,
                             bool full);

#endif
