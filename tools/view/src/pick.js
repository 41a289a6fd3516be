// Which piece a ray meets first, among thousands that may have moved.

/// Distance along a ray to an axis-aligned box, Infinity when it passes by.
function boxDistance(origin, direction, bounds, i) {
    let near = 0,
        far = Infinity
    for (let k = 0; k < 3; k++) {
        const d = direction[k],
            low = bounds[i + k] - origin[k],
            high = bounds[i + 3 + k] - origin[k]
        if (Math.abs(d) < 1e-30) {
            if (low > 0 || high < 0) return Infinity
            continue
        }
        near = Math.max(near, Math.min(low / d, high / d))
        far = Math.min(far, Math.max(low / d, high / d))
    }
    return near <= far ? near : Infinity
}

/// Distance to a triangle (Möller and Trumbore 1997), Infinity when it is missed.
function triangleDistance(o, d, p, a, b, c) {
    const ax = p[a],
        ay = p[a + 1],
        az = p[a + 2]
    const ux = p[b] - ax,
        uy = p[b + 1] - ay,
        uz = p[b + 2] - az
    const vx = p[c] - ax,
        vy = p[c + 1] - ay,
        vz = p[c + 2] - az
    const qx = d[1] * vz - d[2] * vy,
        qy = d[2] * vx - d[0] * vz,
        qz = d[0] * vy - d[1] * vx
    const det = ux * qx + uy * qy + uz * qz
    if (det === 0) return Infinity
    const tx = o[0] - ax,
        ty = o[1] - ay,
        tz = o[2] - az
    const s = (tx * qx + ty * qy + tz * qz) / det
    if (s < 0 || s > 1) return Infinity
    const rx = ty * uz - tz * uy,
        ry = tz * ux - tx * uz,
        rz = tx * uy - ty * ux
    const t = (d[0] * rx + d[1] * ry + d[2] * rz) / det
    if (t < 0 || s + t > 1) return Infinity
    const distance = (vx * rx + vy * ry + vz * rz) / det
    return distance > 0 ? distance : Infinity
}

/// @param origin, direction  [x, y, z] in the world
/// @return {bone, distance, point} or null
export function pick(model, bones, origin, direction) {
    const { data } = model
    let best = null,
        nearest = Infinity
    for (const bone of model.pieces) {
        const o = bones.applyInverse(bone, origin, 1),
            d = bones.applyInverse(bone, direction, 0)
        if (boxDistance(o, d, model.bounds, 6 * bone) >= nearest) continue
        const g = model.geometryOf[bone],
            end = 3 * (data.face_start[g] + data.face_count[g])
        for (let f = 3 * data.face_start[g]; f < end; f += 3) {
            const t = triangleDistance(
                o,
                d,
                data.positions,
                3 * data.faces[f],
                3 * data.faces[f + 1],
                3 * data.faces[f + 2],
            )
            if (t >= nearest) continue
            nearest = t
            best = bone
        }
    }
    if (best === null) return null
    return { bone: best, distance: nearest, point: origin.map((x, k) => x + nearest * direction[k]) }
}
