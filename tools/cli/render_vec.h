#ifndef RUBBLE_CLI_RENDER_VEC_H
#define RUBBLE_CLI_RENDER_VEC_H

/// Vectors of the picture maker.

#include <math.h>

typedef struct vec {
    float x, y, z;
} vec;

static inline vec vec_make(float x, float y, float z)
{
    return (vec){x, y, z};
}

static inline vec add(vec a, vec b)
{
    return vec_make(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline vec scale(vec a, float s)
{
    return vec_make(a.x * s, a.y * s, a.z * s);
}

static inline float dot(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vec cross(vec a, vec b)
{
    return vec_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline vec normalize(vec a)
{
    float length = sqrtf(dot(a, a));
    return length > 0 ? scale(a, 1 / length) : a;
}

static inline vec from_array(const float p[3])
{
    return vec_make(p[0], p[1], p[2]);
}

/* Two unit vectors across a unit vector (Duff et al. 2017). */
static inline void make_basis(vec n, vec *a, vec *b)
{
    float sign = copysignf(1, n.z);
    float c = -1 / (sign + n.z);
    float d = n.x * n.y * c;
    *a = vec_make(1 + sign * n.x * n.x * c, sign * d, -sign * n.x);
    *b = vec_make(d, sign + n.y * n.y * c, -n.y);
}

#endif
