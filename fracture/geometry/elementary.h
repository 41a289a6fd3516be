#ifndef RUBBLE_GEOMETRY_ELEMENTARY_H
#define RUBBLE_GEOMETRY_ELEMENTARY_H

/// Elementary functions with the same bits on every machine: only additions, multiplications, divisions and
/// exact scaling, in a fixed order. Thread-safe.

/// Errors below 1e-15. Arguments are finite, in radians.
double rbli_sin(double x);
double rbli_cos(double x);

/// Errors below one unit in the last place (of normal results). Arguments are not NaN.
double rbli_exp(double x); /* overflow gives infinity, underflow 0 */
double rbli_log(double x); /* x > 0; 0 gives −infinity */
/// base ≥ 0 to a finite exponent; 0 to the 0 is 1. Exact where the result of small whole exponents is.
double rbli_pow(double base, double exponent);

/// The angle of the vector (x, y), −π … π, with an error below 1e-15. Arguments are finite; (0, 0) gives 0.
double rbli_atan2(double y, double x);

#define RBLI_PI 0x1.921fb54442d18p+1

#endif
