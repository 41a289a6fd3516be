#ifndef RUBBLE_GEOMETRY_ELEMENTARY_H
#define RUBBLE_GEOMETRY_ELEMENTARY_H

/// Elementary functions with the same bits on every machine: only additions, multiplications and exact
/// remainders, in a fixed order. Errors below 1e-15. Arguments are finite, in radians. Thread-safe.

double rbli_sin(double x);
double rbli_cos(double x);

#define RBLI_PI 0x1.921fb54442d18p+1

#endif
