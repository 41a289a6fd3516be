/// Colours of pieces.

#include "fracture/ops/color_pieces.h"

#include <math.h>

#include "fracture/base/context.h"
#include "fracture/base/rng.h"

/// A full colour of the hue 0 … 1, mixed with some white so that shading shows.
static void color_of_hue(double hue, float out[4])
{
    double h = 6 * (hue - floor(hue));
    for (int k = 0; k < 3; k++) {
        double distance = fabs(h - 2 * k);
        if (distance > 3) distance = 6 - distance;
        double part = 2 - distance;
        part = part < 0 ? 0 : part > 1 ? 1 : part;
        out[k] = (float)(0.1 + 0.7 * part);
    }
    out[3] = 1;
}

static void color_of_key(uint32_t seed, int32_t key, float out[4])
{
    rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_COLOR, (uint64_t)(int64_t)key);
    color_of_hue(rbli_rng_double(&rng), out);
}

rbl_status rbli_color_pieces(
    rbl_context *ctx, const rbl_collection *in, rbli_color_by by, uint32_t seed, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    const int32_t *bone = rbli_collection_read(in, "geometry", "bone", RBL_INT32);
    const int32_t *start = rbli_collection_read(in, "geometry", "face_start", RBL_INT32);
    const int32_t *count = rbli_collection_read(in, "geometry", "face_count", RBL_INT32);
    const double *volume = rbli_collection_read(in, "geometry", "volume", RBL_DOUBLE);
    const int32_t *level = rbli_collection_read(in, "bone", "level", RBL_INT32);
    const int32_t *parent = rbli_collection_read(in, "bone", "parent", RBL_INT32);
    const int32_t *material = rbli_collection_read(in, "face", "material", RBL_INT32);
    double largest = 0;
    float(*color)[4];
    rbl_collection *copy = NULL;
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    RBL_TRY(rbli_collection_write(ctx, copy, "corner", "color", RBL_FLOAT_4, (void **)&color));
    for (size_t g = 0; g < rbli_collection_size(in, "geometry"); g++)
        largest = volume && volume[g] > largest ? volume[g] : largest;
    for (size_t g = 0; g < rbli_collection_size(in, "geometry"); g++) {
        float piece[4];
        int32_t key = by == RBLI_COLOR_LEVEL     ? level[bone[g]]
                      : by == RBLI_COLOR_CLUSTER ? parent[bone[g]]
                                                 : bone[g];
        color_of_key(seed, key, piece);
        if (by == RBLI_COLOR_VOLUME) {
            double part = volume && largest > 0 && volume[g] > 0 ? volume[g] / largest : 0;
            color_of_hue((1 - sqrt(part)) * 2 / 3, piece);
        }
        for (int32_t f = start[g]; f < start[g] + count[g]; f++) {
            if (by == RBLI_COLOR_MATERIAL) color_of_key(seed, material[f], piece);
            for (int c = 0; c < 3; c++)
                for (int k = 0; k < 4; k++)
                    color[3 * (size_t)f + (size_t)c][k] = piece[k];
        }
    }
    *out = copy;
    copy = NULL;
done:
    rbli_collection_release(copy);
    return status;
}
