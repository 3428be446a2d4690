/* secded.h - the (72,64) code of controller memories: single errors corrected, double
 * ones detected. Odd-weight columns after Hsiao (IBM J. Res. Dev. 14, 1970 [P]): every
 * data bit has its own column of weight 3 or 5, so two flips give an even syndrome. */
#ifndef FTL_SIM_SECDED_H
#define FTL_SIM_SECDED_H

#include <stdint.h>

enum secded { SECDED_CLEAN, SECDED_CORRECTED, SECDED_DETECTED };

/* The 8 check bits of a word. */
uint8_t secded_check(uint64_t data);
/* Corrects data and check bits in place where one bit is wrong. More than two flips may
 * pass for one: such words need a check of their own. */
enum secded secded_decode(uint64_t *data, uint8_t *check);

#endif
