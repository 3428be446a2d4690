/* dmath.h - the few transcendental functions the channel needs, from + - * / only.
 * IEEE doubles without contraction give the same bits everywhere, which no libm
 * promises, and the library stays free of libm. Relative error below 1e-12 over
 * the stated ranges (tested against libm). */
#ifndef LDPC_DMATH_H_
#define LDPC_DMATH_H_

double ldpci_exp(double x);  /* |x| <= 700; below gives 0 */
double ldpci_log(double x);  /* normal x > 0 */
double ldpci_sqrt(double x); /* normal x > 0, 0 gives 0 */
double ldpci_q(double x);    /* upper tail of the standard normal, |x| <= 37; above gives 0 */
double ldpci_qinv(double p); /* inverse of ldpci_q, 1e-300 < p < 1 */
double ldpci_pow(double x, double y); /* x > 0 */

#endif
