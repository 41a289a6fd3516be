// What the page knows of the asset: the hierarchy, and what is measured from it.

const add = (into, at, value) => {
    into[at] += value
}

/// Grows bounds [x0, y0, z0, x1, y1, z1] at `b` by a point.
function grow(bounds, b, x, y, z) {
    const i = 6 * b
    if (x < bounds[i]) bounds[i] = x
    if (y < bounds[i + 1]) bounds[i + 1] = y
    if (z < bounds[i + 2]) bounds[i + 2] = z
    if (x > bounds[i + 3]) bounds[i + 3] = x
    if (y > bounds[i + 4]) bounds[i + 4] = y
    if (z > bounds[i + 5]) bounds[i + 5] = z
}

function measure(data, model) {
    const { bounds, volume, pieces, geometryOf, triangles } = model
    for (let g = 0; g < data.geometry_bone.length; g++) {
        const bone = data.geometry_bone[g]
        if (!data.face_count[g]) continue
        pieces.push(bone)
        geometryOf[bone] = g
        volume[bone] = data.volume ? Math.abs(data.volume[g]) : 0
        triangles[bone] = data.face_count[g]
        const start = data.vertex_start[g],
            end = start + data.vertex_count[g],
            p = data.positions
        for (let v = start; v < end; v++) grow(bounds, bone, p[3 * v], p[3 * v + 1], p[3 * v + 2])
    }
}

/// Bones of one collection with their hierarchy; a parent comes before its children.
export function makeModel(data) {
    const count = data.names.length
    const model = {
        data,
        count,
        names: data.names,
        parent: data.parent,
        level: data.level,
        children: Array.from({ length: count }, () => []),
        pieces: [], // bones with triangles
        geometryOf: new Int32Array(count).fill(-1),
        pieceCount: new Int32Array(count), // pieces at or below a bone
        triangles: new Int32Array(count),
        volume: new Float64Array(count),
        bounds: new Float32Array(6 * count),
        center: new Float32Array(3 * count),
        hulls: Array.from({ length: count }, () => []),
        contacts: new Int32Array(count),
        levels: 0,
    }
    for (let b = 0; b < count; b++)
        model.bounds.set([Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity], 6 * b)
    measure(data, model)
    for (const bone of model.pieces) add(model.pieceCount, bone, 1)
    for (let b = count; b-- > 0; ) {
        const parent = model.parent[b],
            i = 6 * b
        model.levels = Math.max(model.levels, model.level[b])
        for (let k = 0; k < 3; k++)
            model.center[3 * b + k] =
                model.bounds[i] <= model.bounds[i + 3] ? (model.bounds[i + k] + model.bounds[i + 3 + k]) / 2 : 0
        if (parent < 0) continue
        add(model.pieceCount, parent, model.pieceCount[b])
        add(model.volume, parent, model.volume[b])
        add(model.triangles, parent, model.triangles[b])
        if (!model.pieceCount[b]) continue
        grow(model.bounds, parent, model.bounds[i], model.bounds[i + 1], model.bounds[i + 2])
        grow(model.bounds, parent, model.bounds[i + 3], model.bounds[i + 4], model.bounds[i + 5])
    }
    for (let b = 0; b < count; b++) if (model.parent[b] >= 0) model.children[model.parent[b]].push(b)
    const hulls = data.hull_bone || []
    for (let h = 0; h < hulls.length; h++) model.hulls[hulls[h]].push(h)
    for (const bone of data.contact || []) model.contacts[bone]++
    model.roots = [...Array(count).keys()].filter((b) => model.parent[b] < 0)
    model.all = allBounds(model)
    return model
}

function allBounds(model) {
    const out = [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity]
    for (const b of model.pieces) {
        for (let k = 0; k < 3; k++) {
            out[k] = Math.min(out[k], model.bounds[6 * b + k])
            out[3 + k] = Math.max(out[3 + k], model.bounds[6 * b + 3 + k])
        }
    }
    const empty = !model.pieces.length
    const low = empty ? [-1, -1, -1] : out.slice(0, 3),
        high = empty ? [1, 1, 1] : out.slice(3)
    const size = Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]) || 1
    return { low, high, size, center: low.map((x, k) => (x + high[k]) / 2) }
}

/// The bone that stands for each bone when only levels down to `level` are told apart.
export function shownBones(model, level) {
    const shown = new Int32Array(model.count)
    for (let b = 0; b < model.count; b++)
        shown[b] = model.level[b] > level && model.parent[b] >= 0 ? shown[model.parent[b]] : b
    return shown
}

/// How far each bone has moved when pieces move apart: sideways from the middle of the parent, upwards by the height
/// above its foot, so that what stands goes on standing. Levels below `level` move with the bone above them.
export function explode(model, amount, level) {
    const offsets = new Float32Array(3 * model.count)
    for (let b = 0; b < model.count; b++) {
        const parent = model.parent[b]
        if (parent < 0) {
            if (model.roots.length > 1 && model.pieceCount[b])
                moveApart(model, offsets, b, model.all.center, model.all.low[1], amount)
            continue
        }
        for (let k = 0; k < 3; k++) offsets[3 * b + k] = offsets[3 * parent + k]
        if (model.level[b] > level || !model.pieceCount[b]) continue
        moveApart(
            model,
            offsets,
            b,
            model.center.subarray(3 * parent, 3 * parent + 3),
            model.bounds[6 * parent + 1],
            amount,
        )
    }
    return offsets
}

function moveApart(model, offsets, b, center, foot, amount) {
    offsets[3 * b] += amount * (model.center[3 * b] - center[0])
    offsets[3 * b + 1] += amount * (model.bounds[6 * b + 1] - foot)
    offsets[3 * b + 2] += amount * (model.center[3 * b + 2] - center[2])
}

/// Whether `bone` is `ancestor` or below it.
export function isBelow(model, bone, ancestor) {
    while (bone > ancestor) bone = model.parent[bone]
    return bone === ancestor
}

/// Pieces at or below a bone.
export function piecesBelow(model, bone) {
    return model.pieces.filter((b) => isBelow(model, b, bone))
}
