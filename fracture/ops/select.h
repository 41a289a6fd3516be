#ifndef RUBBLE_OPS_SELECT_H
#define RUBBLE_OPS_SELECT_H

/// Sets of bones by kind, kinship, contact, size, place, name and attribute. A set is a mask: one bool a
/// bone.
///
/// All functions write `mask[bone_count]`, given by the caller, and read `within` (NULL: all bones), which
/// limits the answer of filters and is what kinship and contact start from. `mask` may be `within`. After a
/// failure the mask holds nothing of use. Threads: reentrant. Cost: linear in bones (and pairs), unless a
/// comment says otherwise.

#include "fracture/collection/hierarchy.h"

/// Rigid bones that have geometry, are no sheets and have no children but sheets: those of the set, and those
/// below a bone of the set. @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY
rbl_status rbli_select_leaves(
    rbl_context *ctx, const rbl_collection *collection, const bool *within, bool *mask);
/// Bones of type cluster.
void rbli_select_clusters(const rbl_collection *collection, const bool *within, bool *mask);
/// Bones of one level, 0 the roots; negative levels count from the deepest, −1.
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY
rbl_status rbli_select_level(
    rbl_context *ctx, const rbl_collection *collection, int64_t level, const bool *within, bool *mask);

typedef enum rbli_kinship {
    RBLI_KIN_CHILDREN, /* children of the set's bones */
    RBLI_KIN_PARENTS,  /* parents of the set's bones */
    RBLI_KIN_SIBLINGS, /* all children of the set's parents, the set included; roots are siblings of each
                          other */
} rbli_kinship;
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY
rbl_status rbli_select_kin(
    rbl_context *ctx, const rbl_collection *collection, rbli_kinship kinship, const bool *within, bool *mask);

/// Bones that touch a bone of the set, by the pairs of group `proximity`. A bone of the set touches through
/// itself and all below it, and what it touches is told on its own level: a cluster's neighbours are
/// clusters, a piece's are pieces (or a shallower piece, where the neighbour does not go that deep). Nothing
/// in or below the set is chosen.
/// @return RBL_OK · RBL_ERR_NOT_FOUND (no group `proximity`) · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY
rbl_status rbli_select_contact(
    rbl_context *ctx, const rbl_collection *collection, const bool *within, bool *mask);

typedef enum rbli_measure {
    RBLI_MEASURE_VOLUME, /* volume of the solid; of a cluster the sum over its pieces */
    RBLI_MEASURE_SIZE,   /* diagonal of the bounds in world space */
} rbli_measure;
/// Bones whose measure, divided by that of the largest piece of the collection, lies in low … high. Bones
/// with no geometry at or below them are never chosen. @return RBL_OK · RBL_ERR_COLLECTION ·
/// RBL_ERR_NO_MEMORY
rbl_status rbli_select_measure(rbl_context *ctx, const rbl_collection *collection, rbli_measure measure,
    double low, double high, const bool *within, bool *mask);

/// Each bone with probability `chance`, drawn by (seed, bone).
void rbli_select_random(
    const rbl_collection *collection, double chance, uint32_t seed, const bool *within, bool *mask);

/// What of a bone's bounds in world space must lie inside; touching counts.
typedef enum rbli_inside { RBLI_INSIDE_CENTER, RBLI_INSIDE_WHOLE, RBLI_INSIDE_ANY } rbli_inside;
/// Bones that lie in a box or a sphere. Bones with no geometry at or below them are never chosen.
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY
rbl_status rbli_select_in_box(rbl_context *ctx, const rbl_collection *collection, const double low[3],
    const double high[3], rbli_inside inside, const bool *within, bool *mask);
rbl_status rbli_select_in_sphere(rbl_context *ctx, const rbl_collection *collection, const double center[3],
    double radius, rbli_inside inside, const bool *within, bool *mask);

/// Bones whose name matches a pattern (rbli_glob_match).
void rbli_select_name(const rbl_collection *collection, const char *pattern, const bool *within, bool *mask);
/// True when the whole of `text` matches `pattern`: `*` any run of characters, `?` one character (UTF-8),
/// `[a-z]` and
/// `[!a-z]` one byte of a set or not of it, `\` takes the next character as it is. An unclosed `[` is a plain
/// one. Cost: O(pattern × text), no recursion.
bool rbli_glob_match(const char *pattern, const char *text);

/// Bones by number: "0, 2, 5-10"; several times the same is fine. Here `mask` may not be `within`.
/// @param why [why_bytes] receives what is wrong and where, one sentence
/// @return RBL_OK · RBL_ERR_ARGUMENT (malformed, empty, or no such bone)
rbl_status rbli_select_list(const rbl_collection *collection, const char *list, const bool *within,
    bool *mask, char *why, size_t why_bytes);

/// Bones by an attribute of group `bone` or, if that has none of the name, of group `geometry` (bones without
/// geometry are then never chosen). Numbers and bools: low ≤ value ≤ high; NaN never lies there. Strings:
/// those that match the pattern `text`.
/// @param text NULL for numbers
/// @return RBL_OK · RBL_ERR_NOT_FOUND (the message lists the attributes there are) · RBL_ERR_TYPE (a vector
/// or list; a string without text or the reverse) · RBL_ERR_NO_MEMORY
rbl_status rbli_select_attribute(rbl_context *ctx, const rbl_collection *collection, const char *attribute,
    double low, double high, const char *text, const bool *within, bool *mask);

typedef enum rbli_combine {
    RBLI_COMBINE_AND,
    RBLI_COMBINE_OR,
    RBLI_COMBINE_XOR,
    RBLI_COMBINE_MINUS
} rbli_combine;
/// mask[i] = mask[i] ∘ other[i].
void rbli_select_combine(rbli_combine how, size_t count, const bool *other, bool *mask);

#endif
