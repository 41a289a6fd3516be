#ifndef RUBBLE_IO_NUMBER_TEXT_H
#define RUBBLE_IO_NUMBER_TEXT_H

/// Numbers as decimal text, in any locale.

#include <stddef.h>

enum { RBLI_NUMBER_TEXT_BYTES = 32 };

/// Writes a finite number with 15 significant digits where they give the same double back, else with 17.
/// Zero-terminated; returns the length. −0 is "-0"; a number that is not finite is "0". Reentrant. About 40
/// ns for 1e-5 … 1e17. Method: exact products of 128 bits, rounded once; outside that range the C library's
/// %g.
size_t rbli_double_text(double value, char out[RBLI_NUMBER_TEXT_BYTES]);
/// The same for a float: 7 digits, else 9.
size_t rbli_float_text(float value, char out[RBLI_NUMBER_TEXT_BYTES]);

#endif
