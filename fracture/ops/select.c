/// Sets of bones as masks. What asks for volumes or bounds takes them from rbli_asset_stats_compute.

#include "fracture/ops/select.h"

#include <math.h>
#include <stdio.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/ops/asset_stats.h"

static size_t bone_count_of(const rbl_collection *collection)
{
    return rbli_collection_size(collection, "bone");
}

static bool is_in(const bool *within, size_t bone)
{
    return !within || within[bone];
}

/// bone.parent, each before its child.
static rbl_status read_parents(rbl_context *ctx, const rbl_collection *collection, const int32_t **out)
{
    size_t count = bone_count_of(collection);
    const int32_t *parent = rbli_collection_read(collection, "bone", "parent", RBL_INT32);
    if (!parent && count)
        return rbli_fail(ctx, RBL_ERR_COLLECTION, "bone.parent is missing or not of type int32");
    for (size_t b = 0; b < count; b++)
        if (parent[b] < -1 || parent[b] >= (int32_t)b)
            return rbli_fail(ctx, RBL_ERR_COLLECTION,
                "bone.parent: bone %zu has parent %d, which does not come before it", b, (int)parent[b]);
    *out = parent;
    return RBL_OK;
}

/* ---- kind, level, kinship ---- */

rbl_status rbli_select_leaves(
    rbl_context *ctx, const rbl_collection *collection, const bool *within, bool *mask)
{
    rbl_status status = RBL_OK;
    size_t count = bone_count_of(collection), leaf_count = 0;
    const int32_t *parent;
    int32_t *leaves = NULL;
    RBL_TRY(read_parents(ctx, collection, &parent));
    RBL_TRY(rbli_rigid_leaves(ctx, collection, NULL, &leaves, &leaf_count));
    for (size_t b = 0; b < count; b++)
        mask[b] = is_in(within, b) || (parent[b] >= 0 && mask[parent[b]]);
    for (size_t b = 0, next = 0; b < count; b++) {
        bool leaf = next < leaf_count && leaves[next] == (int32_t)b;
        mask[b] = mask[b] && leaf;
        next += leaf;
    }
done:
    rbli_free(ctx, leaves);
    return status;
}

void rbli_select_clusters(const rbl_collection *collection, const bool *within, bool *mask)
{
    const int32_t *type = rbli_collection_read(collection, "bone", "type", RBL_INT32);
    for (size_t b = 0; b < bone_count_of(collection); b++)
        mask[b] = is_in(within, b) && type && type[b] == RBLI_BONE_CLUSTER;
}

/// Levels by parents, freed by the caller.
static rbl_status find_levels(rbl_context *ctx, const rbl_collection *collection, int32_t **out)
{
    size_t count = bone_count_of(collection);
    const int32_t *parent;
    rbl_status status = read_parents(ctx, collection, &parent);
    if (status != RBL_OK) return status;
    int32_t *level = rbli_alloc(ctx, count, sizeof *level);
    if (!level) return RBL_ERR_NO_MEMORY;
    for (size_t b = 0; b < count; b++)
        level[b] = parent[b] < 0 ? 0 : level[parent[b]] + 1;
    *out = level;
    return RBL_OK;
}

rbl_status rbli_select_level(
    rbl_context *ctx, const rbl_collection *collection, int64_t level, const bool *within, bool *mask)
{
    int32_t *levels = NULL, deepest = 0;
    size_t count = bone_count_of(collection);
    rbl_status status = find_levels(ctx, collection, &levels);
    if (status != RBL_OK) return status;
    for (size_t b = 0; b < count; b++)
        deepest = levels[b] > deepest ? levels[b] : deepest;
    if (level < 0) level += (int64_t)deepest + 1;
    for (size_t b = 0; b < count; b++)
        mask[b] = is_in(within, b) && levels[b] == level;
    rbli_free(ctx, levels);
    return RBL_OK;
}

rbl_status rbli_select_kin(
    rbl_context *ctx, const rbl_collection *collection, rbli_kinship kinship, const bool *within, bool *mask)
{
    rbl_status status = RBL_OK;
    size_t count = bone_count_of(collection);
    const int32_t *parent;
    bool *marked = NULL, root_marked = false;
    RBL_TRY(read_parents(ctx, collection, &parent));
    RBL_TRY_ALLOC(marked = rbli_calloc(ctx, count, sizeof *marked));
    /* The set itself, or the parents of its bones. */
    for (size_t b = 0; b < count; b++) {
        if (!is_in(within, b)) continue;
        if (kinship == RBLI_KIN_CHILDREN)
            marked[b] = true;
        else if (parent[b] >= 0)
            marked[parent[b]] = true;
        else
            root_marked = true;
    }
    for (size_t b = 0; b < count; b++) {
        if (kinship == RBLI_KIN_PARENTS)
            mask[b] = marked[b];
        else if (parent[b] >= 0)
            mask[b] = marked[parent[b]];
        else
            mask[b] = kinship == RBLI_KIN_SIBLINGS && root_marked;
    }
done:
    rbli_free(ctx, marked);
    return status;
}

/* ---- contact ---- */

rbl_status rbli_select_contact(
    rbl_context *ctx, const rbl_collection *collection, const bool *within, bool *mask)
{
    rbl_status status = RBL_OK;
    size_t count = bone_count_of(collection), pair_count = rbli_collection_size(collection, "proximity");
    size_t geometry_count = rbli_collection_size(collection, "geometry");
    const int32_t(*pairs)[2] = rbli_collection_read(collection, "proximity", "geometries", RBL_INT32_2);
    const int32_t *bone = rbli_collection_read(collection, "geometry", "bone", RBL_INT32), *parent;
    int32_t *level = NULL, *owner = NULL; /* owner: the bone of the set at or above a bone, or −1 */
    if (!rbli_collection_has_group(collection, "proximity") || (pair_count && !pairs))
        return rbli_fail(ctx, RBL_ERR_NOT_FOUND,
            "the collection does not know which pieces touch (no group \"proximity\"): run Proximity first");
    RBL_TRY(read_parents(ctx, collection, &parent));
    RBL_TRY(find_levels(ctx, collection, &level));
    RBL_TRY_ALLOC(owner = rbli_alloc(ctx, count, sizeof *owner));
    for (size_t b = 0; b < count; b++)
        owner[b] = is_in(within, b) ? (int32_t)b : parent[b] >= 0 ? owner[parent[b]] : -1;
    memset(mask, 0, count * sizeof *mask);
    for (size_t i = 0; i < 2 * pair_count; i++) {
        int32_t g = pairs[i / 2][i % 2], h = pairs[i / 2][1 - i % 2];
        if (g < 0 || h < 0 || (size_t)g >= geometry_count || (size_t)h >= geometry_count || !bone ||
            bone[g] < 0 || bone[h] < 0 || (size_t)bone[g] >= count || (size_t)bone[h] >= count) {
            status =
                rbli_fail(ctx, RBL_ERR_COLLECTION, "proximity.geometries: pair %zu is out of range", i / 2);
            goto done;
        }
        int32_t from = owner[bone[g]], to = bone[h];
        if (from < 0 || owner[to] >= 0) continue;
        while (level[to] > level[from])
            to = parent[to];
        mask[to] = true;
    }
done:
    rbli_free(ctx, level);
    rbli_free(ctx, owner);
    return status;
}

/* ---- size and place ---- */

static double measure_of(const rbli_bone_stats *bone, rbli_measure measure)
{
    if (measure == RBLI_MEASURE_VOLUME) return bone->volume;
    double square = 0;
    for (int k = 0; k < 3; k++)
        square += (bone->bounds_max[k] - bone->bounds_min[k]) * (bone->bounds_max[k] - bone->bounds_min[k]);
    return sqrt(square);
}

rbl_status rbli_select_measure(rbl_context *ctx, const rbl_collection *collection, rbli_measure measure,
    double low, double high, const bool *within, bool *mask)
{
    rbl_status status = RBL_OK;
    rbli_asset_stats stats = {0};
    int32_t *leaves = NULL;
    size_t leaf_count = 0;
    double largest = 0;
    RBL_TRY(rbli_asset_stats_compute(ctx, collection, &stats));
    RBL_TRY(rbli_rigid_leaves(ctx, collection, NULL, &leaves, &leaf_count));
    for (size_t i = 0; i < leaf_count; i++)
        largest = fmax(largest, measure_of(&stats.bones[leaves[i]], measure));
    for (size_t b = 0; b < stats.bone_count; b++) {
        double share = measure_of(&stats.bones[b], measure) / (largest > 0 ? largest : 1);
        mask[b] = is_in(within, b) && stats.bones[b].has_bounds && low <= share && share <= high;
    }
done:
    rbli_free(ctx, leaves);
    rbli_asset_stats_free(ctx, &stats);
    return status;
}

void rbli_select_random(
    const rbl_collection *collection, double chance, uint32_t seed, const bool *within, bool *mask)
{
    for (size_t b = 0; b < bone_count_of(collection); b++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_SELECT, b);
        mask[b] = is_in(within, b) && rbli_rng_double(&rng) < chance;
    }
}

/// Square of the distance from a point to the nearest (`far` false) or farthest point of bounds.
static double distance_square(const rbli_bone_stats *bone, const double point[3], bool far)
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        double below = bone->bounds_min[k] - point[k], above = point[k] - bone->bounds_max[k];
        double d = far ? fmax(fabs(below), fabs(above)) : fmax(0, fmax(below, above));
        square += d * d;
    }
    return square;
}

static bool in_sphere(const rbli_bone_stats *bone, const double center[3], double radius, rbli_inside inside)
{
    if (inside != RBLI_INSIDE_CENTER)
        return distance_square(bone, center, inside == RBLI_INSIDE_WHOLE) <= radius * radius;
    double square = 0;
    for (int k = 0; k < 3; k++) {
        double d = 0.5 * (bone->bounds_min[k] + bone->bounds_max[k]) - center[k];
        square += d * d;
    }
    return square <= radius * radius;
}

static bool in_box(const rbli_bone_stats *bone, const double low[3], const double high[3], rbli_inside inside)
{
    for (int k = 0; k < 3; k++) {
        double least = bone->bounds_min[k], most = bone->bounds_max[k];
        if (inside == RBLI_INSIDE_CENTER) least = most = 0.5 * (least + most);
        if (inside == RBLI_INSIDE_ANY ? most < low[k] || least > high[k] : least < low[k] || most > high[k])
            return false;
    }
    return true;
}

rbl_status rbli_select_in_box(rbl_context *ctx, const rbl_collection *collection, const double low[3],
    const double high[3], rbli_inside inside, const bool *within, bool *mask)
{
    rbli_asset_stats stats = {0};
    rbl_status status = rbli_asset_stats_compute(ctx, collection, &stats);
    if (status != RBL_OK) return status;
    for (size_t b = 0; b < stats.bone_count; b++)
        mask[b] = is_in(within, b) && stats.bones[b].has_bounds && in_box(&stats.bones[b], low, high, inside);
    rbli_asset_stats_free(ctx, &stats);
    return RBL_OK;
}

rbl_status rbli_select_in_sphere(rbl_context *ctx, const rbl_collection *collection, const double center[3],
    double radius, rbli_inside inside, const bool *within, bool *mask)
{
    rbli_asset_stats stats = {0};
    rbl_status status = rbli_asset_stats_compute(ctx, collection, &stats);
    if (status != RBL_OK) return status;
    for (size_t b = 0; b < stats.bone_count; b++)
        mask[b] = is_in(within, b) && stats.bones[b].has_bounds &&
                  in_sphere(&stats.bones[b], center, radius, inside);
    rbli_asset_stats_free(ctx, &stats);
    return RBL_OK;
}

/* ---- names ---- */

/// Matches one byte against the set after `[`. @return the pattern after the set, or NULL when it is not
/// closed
static const char *match_set(const char *pattern, char c, bool *matches)
{
    bool negate = *pattern == '!' || *pattern == '^', found = false;
    const char *p = pattern + negate;
    for (bool first = true; *p && (first || *p != ']'); first = false) {
        unsigned char low = (unsigned char)*p++, high = low;
        if (p[0] == '-' && p[1] && p[1] != ']') {
            high = (unsigned char)p[1];
            p += 2;
        }
        found = found || (low <= (unsigned char)c && (unsigned char)c <= high);
    }
    if (*p != ']') return NULL;
    *matches = found != negate;
    return p + 1;
}

/// Matches one element of the pattern that is no star against the beginning of `text`, and moves both on.
static bool match_one(const char **pattern, const char **text)
{
    const char *p = *pattern, *t = *text, *after = NULL;
    bool matches = false;
    if (*p == '?') {
        t++;
        while (((unsigned char)*t & 0xc0) == 0x80)
            t++;
        *pattern = p + 1;
        *text = t;
        return true;
    }
    if (*p == '[') after = match_set(p + 1, *t, &matches);
    if (!after) {
        p += *p == '\\' && p[1];
        matches = *p == *t;
        after = p + 1;
    }
    *pattern = after;
    *text = t + 1;
    return matches;
}

bool rbli_glob_match(const char *pattern, const char *text)
{
    /* After a mismatch the last star takes one character more; earlier stars never need to be tried again. */
    const char *star = NULL, *star_text = NULL;
    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            star_text = text;
            continue;
        }
        if (*text == 0 && *pattern == 0) return true;
        if (*text != 0 && *pattern != 0 && match_one(&pattern, &text)) continue;
        if (!star || *star_text == 0) return false;
        pattern = star;
        text = ++star_text;
    }
}

void rbli_select_name(const rbl_collection *collection, const char *pattern, const bool *within, bool *mask)
{
    for (size_t b = 0; b < bone_count_of(collection); b++)
        mask[b] = is_in(within, b) &&
                  rbli_glob_match(pattern, rbli_collection_string(collection, "bone", "name", b));
}

/* ---- numbers ---- */

static const char *skip_spaces(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')
        p++;
    return p;
}

/// A decimal number, held at 2^40 when it is larger. @return false when there is no digit
static bool read_number(const char **text, uint64_t *out)
{
    const char *p = *text;
    *out = 0;
    while (*p >= '0' && *p <= '9') {
        *out = *out * 10 + (uint64_t)(*p++ - '0');
        if (*out > (uint64_t)1 << 40) *out = (uint64_t)1 << 40;
    }
    bool found = p != *text;
    *text = p;
    return found;
}

rbl_status rbli_select_list(const rbl_collection *collection, const char *list, const bool *within,
    bool *mask, char *why, size_t why_bytes)
{
    size_t count = bone_count_of(collection);
    const char *p = skip_spaces(list);
    memset(mask, 0, count * sizeof *mask);
    for (;;) {
        const char *begin = p;
        uint64_t first, last;
        bool good = read_number(&p, &first);
        last = first;
        p = skip_spaces(p);
        if (good && *p == '-') {
            p = skip_spaces(p + 1);
            good = read_number(&p, &last);
            p = skip_spaces(p);
        }
        if (!good || (*p != ',' && *p != 0)) {
            snprintf(why, why_bytes, "at character %zu: expected %s, as in \"0, 2, 5-10\"",
                (size_t)(p - list) + 1, good ? "a comma" : "the number of a bone");
            return RBL_ERR_ARGUMENT;
        }
        if (first > last) {
            snprintf(why, why_bytes, "at character %zu: the range ends before it begins",
                (size_t)(begin - list) + 1);
            return RBL_ERR_ARGUMENT;
        }
        if (last >= count) {
            snprintf(why, why_bytes,
                "at character %zu: there is no bone %llu; the collection has %zu, from 0",
                (size_t)(begin - list) + 1, (unsigned long long)(first >= count ? first : last), count);
            return RBL_ERR_ARGUMENT;
        }
        for (uint64_t b = first; b <= last; b++)
            mask[b] = is_in(within, b);
        if (*p == 0) return RBL_OK;
        p = skip_spaces(p + 1);
    }
}

/* ---- attributes ---- */

static rbl_status no_attribute(rbl_context *ctx, const rbl_collection *collection, const char *attribute)
{
    char names[600] = "";
    size_t used = 0;
    for (int g = 0; g < 2; g++) {
        const char *group = g ? "geometry" : "bone", *name;
        for (size_t i = 0; (name = rbli_collection_attribute_name(collection, group, i)) != NULL; i++) {
            int length = snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", name);
            if (length < 0 || (size_t)length >= sizeof names - used) break;
            used += (size_t)length;
        }
        names[used] = 0;
    }
    return rbli_fail(
        ctx, RBL_ERR_NOT_FOUND, "bones have no attribute \"%s\"; there are: %s", attribute, names);
}

/// A number of a plain array of numbers or bools; false for another type.
static bool number_at(const rbli_buffer *buffer, size_t index, double *out)
{
    const void *data = rbli_buffer_data(buffer);
    if (rbli_buffer_is_list(buffer)) return false;
    switch (rbli_buffer_type(buffer)) {
    case RBL_BOOL:
        *out = ((const bool *)data)[index];
        return true;
    case RBL_INT32:
        *out = ((const int32_t *)data)[index];
        return true;
    case RBL_INT64:
        *out = (double)((const int64_t *)data)[index];
        return true;
    case RBL_FLOAT:
        *out = (double)((const float *)data)[index];
        return true;
    case RBL_DOUBLE:
        *out = ((const double *)data)[index];
        return true;
    default:
        return false;
    }
}

rbl_status rbli_select_attribute(rbl_context *ctx, const rbl_collection *collection, const char *attribute,
    double low, double high, const char *text, const bool *within, bool *mask)
{
    size_t count = bone_count_of(collection);
    const rbli_buffer *buffer = rbli_collection_buffer(collection, "bone", attribute);
    const int32_t *element = NULL;
    double number = 0;
    if (!buffer) {
        buffer = rbli_collection_buffer(collection, "geometry", attribute);
        element = rbli_collection_read(collection, "bone", "geometry", RBL_INT32);
        if (!buffer || !element) return no_attribute(ctx, collection, attribute);
    }
    size_t length = rbli_buffer_count(buffer);
    bool is_text = rbli_buffer_is_list(buffer) && rbli_buffer_type(buffer) == RBL_CHAR;
    if (is_text && !text)
        return rbli_fail(ctx, RBL_ERR_TYPE, "attribute \"%s\" is text: give \"text\", a pattern", attribute);
    if (!is_text && text)
        return rbli_fail(ctx, RBL_ERR_TYPE,
            "attribute \"%s\" is no text: give \"min\" and \"max\" instead of \"text\"", attribute);
    if (!is_text && length && !number_at(buffer, 0, &number))
        return rbli_fail(ctx, RBL_ERR_TYPE,
            "attribute \"%s\" is %s%s: only numbers, bools and text can be compared", attribute,
            rbli_buffer_is_list(buffer) ? "a list of " : "", rbl_type_word(rbli_buffer_type(buffer)));
    for (size_t b = 0; b < count; b++) {
        size_t i = element ? (size_t)(element[b] < 0 ? (int64_t)length : element[b]) : b;
        mask[b] = is_in(within, b) && i < length;
        if (!mask[b]) continue;
        if (is_text)
            mask[b] = rbli_glob_match(text, rbli_buffer_string(buffer, i));
        else
            mask[b] = number_at(buffer, i, &number) && low <= number && number <= high;
    }
    return RBL_OK;
}

void rbli_select_combine(rbli_combine how, size_t count, const bool *other, bool *mask)
{
    for (size_t i = 0; i < count; i++)
        switch (how) {
        case RBLI_COMBINE_AND:
            mask[i] = mask[i] && other[i];
            break;
        case RBLI_COMBINE_OR:
            mask[i] = mask[i] || other[i];
            break;
        case RBLI_COMBINE_XOR:
            mask[i] = mask[i] != other[i];
            break;
        case RBLI_COMBINE_MINUS:
            mask[i] = mask[i] && !other[i];
            break;
        }
}
