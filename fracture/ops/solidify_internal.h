#ifndef RUBBLE_OPS_SOLIDIFY_INTERNAL_H
#define RUBBLE_OPS_SOLIDIFY_INTERNAL_H

/// What the parts of rbli_solidify share.

#include "fracture/ops/solidify.h"

typedef struct solidify_job {
    const rbl_collection *in;
    const rbli_solidify_options *options;
    rbli_repair_result *repair; /* what becomes geometry: the union, where there is one */
    rbli_repair_result *found;  /* then the shells before it, else NULL */
    bool *found_kept;
    int32_t *geometry_bone;   /* [geometry_count] bone of each old geometry */
    bool *kept;               /* [shell_count] shell is part of the result */
    int32_t *shell_bone;      /* [shell_count] new geometry of a kept shell */
    size_t solid_count;       /* new geometries that are solids */
    size_t geometry_count;    /* new geometries: solids, then sheets */
    int32_t *geometry_node;   /* [geometry_count] old geometry */
    int32_t *geometry_part;   /* [geometry_count] number within the node, −1 unless split_components */
    int32_t *geometry_parent; /* [geometry_count] the geometry that a sheet is attached to, or −1 */
} solidify_job;

/// Name of the bone that a shell comes from.
static inline const char *solidify_node_name(const solidify_job *job, int32_t node)
{
    return rbli_collection_string(job->in, "bone", "name", (size_t)job->geometry_bone[node]);
}

/// What could not be closed, or has two sides back to back.
static inline bool solidify_is_sheet(const rbli_shell *shell)
{
    return shell->kind == RBLI_SHELL_SHEET || (shell->kind == RBLI_SHELL_DROPPED && shell->two_sided);
}

/// A solid within a solid. A shell within a swallowed one goes with it.
static inline bool solidify_is_swallowed(const rbli_shell *shells, size_t shell)
{
    int32_t parent = shells[shell].parent;
    return shells[shell].kind == RBLI_SHELL_SOLID && parent >= 0 && shells[parent].kind == RBLI_SHELL_SOLID;
}

/// Errors where there is nothing to break: the first few shells by name, the others by number.
rbl_status solidify_refuse(rbl_context *ctx, const solidify_job *job);
/// Says what was found and done; `*warnings` counts what is more than ordinary.
rbl_status solidify_report(rbl_context *ctx, const solidify_job *job, size_t *warnings);
/// Writes the groups `shell` and `hole`.
rbl_status solidify_write_details(rbl_context *ctx, const solidify_job *job, rbl_collection *collection);

#endif
