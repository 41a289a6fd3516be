#ifndef RUBBLE_OPS_STATE_H
#define RUBBLE_OPS_STATE_H

/// What a runtime reads of bones: what stays in place, what moves, how much it takes to break a bone off,
/// when it disappears, how heavy it is. The attributes stand in schema.h.
///
/// All functions write a copy: `in` is not changed, `*out` is set on success only. A selection NULL means all
/// bones; one of another topology is RBL_ERR_COLLECTION. Other errors: RBL_ERR_COLLECTION (no asset),
/// RBL_ERR_NO_MEMORY, and what a comment adds. Threads: reentrant. Cost: linear.

#include "fracture/collection/hierarchy.h"

/// bone.anchored of the bones of the selection and of all below them.
rbl_status rbli_set_anchored(rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection,
    bool anchored, rbl_collection **out);

/// bone.simulation_type of the bones of the selection alone.
rbl_status rbli_set_simulation_type(rbl_context *ctx, const rbl_collection *in,
    const rbli_selection *selection, rbli_simulation_type type, rbl_collection **out);

typedef enum rbli_threshold_by {
    RBLI_THRESHOLD_LEVEL,    /* roots and their children take the first value, each level below the next */
    RBLI_THRESHOLD_SIZE,     /* value i is for bones of at least sizes[i], the last one for the smallest */
    RBLI_THRESHOLD_MATERIAL, /* value i is for bones of materials[i], the last one for all others */
} rbli_threshold_by;

typedef struct rbli_damage_options {
    const rbli_selection *selection;
    rbli_threshold_by by;
    const double *thresholds; /* [threshold_count ≥ 1] impulses in N·s; the last value repeats */
    size_t threshold_count;
    const double *sizes; /* [size_count] descending parts of the whole asset's size; size: ∛ of the volume */
    size_t size_count;
    const char *const *materials; /* [material_count] patterns (rbli_glob_match); the first that matches */
    size_t material_count;
} rbli_damage_options;
/// bone.damage_threshold; bones that are not in the selection keep theirs, or get 0 when there was none (0: a
/// bone that no runtime may ask for its threshold). A bone's material is the one with the largest area on
/// its surface and below.
/// @return also RBL_ERR_ARGUMENT (no thresholds)
rbl_status rbli_set_damage_thresholds(
    rbl_context *ctx, const rbl_collection *in, const rbli_damage_options *options, rbl_collection **out);

typedef struct rbli_removal_options {
    bool on_sleep, on_break;
    double sleep_time[2];         /* seconds asleep before removal begins, drawn from least … most */
    double sleep_removal_time[2]; /* seconds that it takes then */
    double sleep_speed; /* m/s; what moves slower counts as sleeping; 0: only what the solver put to sleep */
    double break_time[2], break_removal_time[2]; /* the same from the break on */
    bool crumble_clusters;                       /* on break, clusters fall into their children */
} rbli_removal_options;
rbli_removal_options rbli_removal_default_options(void);
/// bone.remove_on_sleep, bone.sleep_time …: see schema.h.
rbl_status rbli_set_removal(rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection,
    const rbli_removal_options *options, rbl_collection **out);

/// Density of the pieces of materials whose name matches a pattern.
typedef struct rbli_material_density {
    const char *material;
    double density;
} rbli_material_density;
typedef struct rbli_set_mass_options {
    double density;                         /* kg/m³; default 2400 */
    const rbli_material_density *materials; /* [material_count] the first that matches a piece's material */
    size_t material_count;
} rbli_set_mass_options;
rbli_set_mass_options rbli_set_mass_default_options(void);
/// bone.mass, bone.center_of_mass, bone.inertia and bone.inertia_products of all bones: solid pieces by exact
/// integrals over their volume (a solid inside another one counts for itself), in world space at rest; sheets
/// weigh nothing; clusters are the sum of what is below them. A piece's material is the one with the largest
/// area on it.
rbl_status rbli_set_mass(
    rbl_context *ctx, const rbl_collection *in, const rbli_set_mass_options *options, rbl_collection **out);

#endif
