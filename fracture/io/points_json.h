#ifndef RUBBLE_IO_POINTS_JSON_H
#define RUBBLE_IO_POINTS_JSON_H

/// A list of points as JSON: [[x, y, z], …].

#include "fracture/base/context.h"

/// Reads a list of points; anything else in the text is an error with its line.
/// @param name  for messages
/// @param out   [count][3], freed by the caller with rbli_free; set on success only; may be empty
/// @return RBL_OK · RBL_ERR_PARSE (also for a number that is not finite: the message names the point) ·
/// RBL_ERR_NO_MEMORY Threads: reentrant.
rbl_status rbli_read_points_json(
    rbl_context *ctx, const char *name, const char *text, size_t bytes, double (**out)[3], size_t *count);

#endif
