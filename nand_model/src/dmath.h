/* dmath.h - elementary functions with the same bits everywhere.
 *
 * libm results differ in the last bit between versions and CPUs; these use only
 * +, -, *, / and bit patterns (the library is built with -ffp-contract=off).
 * Relative error below 1e-13 on the ranges given. */
#ifndef NAND_SRC_DMATH_H_
#define NAND_SRC_DMATH_H_

double nandi_exp(double x);            /* -700..700; 0 below */
double nandi_log(double x);            /* x > 0, normal */
double nandi_log1p(double x);          /* x > -1 */
double nandi_pow(double x, double y);  /* x >= 0; 0^0 = 1 */
double nandi_sqrt(double x);           /* x >= 0; Newton, within 1 ulp */
double nandi_q(double z);              /* upper tail of the standard normal */
double nandi_normal_quantile(double p);/* z with P(Z < z) = p, 1e-12 < p < 1 - 1e-12 */

#endif
