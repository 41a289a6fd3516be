#ifndef RUBBLE_CHANGES_H
#define RUBBLE_CHANGES_H

/// Which pieces a new run changed: an editor uploads only those.

#include "rubble/rubble.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rbl_change {
    RBL_CHANGE_ADDED = 1,
    RBL_CHANGE_REMOVED = 2,
    RBL_CHANGE_GEOMETRY = 4,  /* vertices, faces, corner attributes, materials */
    RBL_CHANGE_TRANSFORM = 8, /* its own transform or its parent */
} rbl_change;

/// A bone that is not as it was. Bones are the same when their names are.
typedef struct rbl_changed_bone {
    const char *name;
    unsigned what;         /* of rbl_change; ADDED and REMOVED stand alone */
    int32_t before, after; /* its index, −1: not there */
} rbl_changed_bone;

typedef struct rbl_changes rbl_changes;

/// Compares two collections bone by bone: those of `after` in its order, then those that were removed.
/// `before` NULL: all were added. May outlive both. Cost: linear in what differs, next to nothing when the
/// collections are equal.
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_COLLECTION (bones or geometry that are not valid)
RBL_API rbl_status rbl_collection_changes(
    rbl_engine *engine, const rbl_collection *before, const rbl_collection *after, rbl_changes **out);
/// The same for output "node.port" (or "node": its first) of two runs. A run that is NULL or has no such
/// collection counts as one without bones.
RBL_API rbl_status rbl_run_changes(
    rbl_engine *engine, const rbl_run *before, const rbl_run *after, const char *output, rbl_changes **out);
RBL_API size_t rbl_changes_count(const rbl_changes *changes);
RBL_API const rbl_changed_bone *rbl_changes_get(const rbl_changes *changes, size_t index);
RBL_API void rbl_changes_destroy(rbl_changes *changes);

#ifdef __cplusplus
}
#endif
#endif
