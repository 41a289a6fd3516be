// What breaks, by the rules of docs/design/CATALOGUE.md §11, in their simple form.
//
// A body is one bone, or siblings that hold together. Strain (an impulse, N·s) on a piece counts for the child of the
// body's cluster that the piece is in; the largest one counts, nothing accumulates. A child whose strain reaches its
// threshold comes off, and the excess goes to its neighbours in equal parts for the next step. What stays falls into
// parts that are still connected; a part that holds an anchored piece stays in place.

/// Edges between siblings: the connection graph where a parent has one, else contacts of pieces, lifted to siblings.
export function makeEdges(model) {
    const { data, parent } = model
    const edges = Array.from({ length: model.count }, () => new Set()),
        linked = new Uint8Array(model.count)
    const join = (a, b) => {
        edges[a].add(b)
        edges[b].add(a)
    }
    const connection = data.connection || []
    for (let i = 0; i < connection.length; i += 2) {
        const [a, b] = [connection[i], connection[i + 1]]
        if (parent[a] !== parent[b]) continue
        join(a, b)
        if (parent[a] >= 0) linked[parent[a]] = 1
    }
    const contact = data.contact || [],
        lifted = []
    for (let i = 0; i < contact.length; i += 2) {
        let [a, b] = [contact[i], contact[i + 1]]
        while (a !== b && parent[a] !== parent[b]) {
            if (a > b) a = parent[a]
            else b = parent[b]
            if (a < 0 || b < 0) break
        }
        if (a >= 0 && b >= 0 && a !== b && parent[a] >= 0 && !linked[parent[a]]) lifted.push([a, b])
    }
    for (const [a, b] of lifted) {
        join(a, b)
        linked[parent[a]] = 1
    }
    return { edges, linked }
}

/// Thresholds of bones: those of the file, else some that suit the asset, smaller for lighter bones.
export function makeThresholds(model, mass, gravity) {
    if (model.data.threshold) return { thresholds: model.data.threshold, guessed: false }
    const whole = model.roots.reduce((sum, b) => sum + mass[b], 0)
    const fall = Math.sqrt(2 * gravity * (model.all.high[1] - model.all.low[1])) // speed from its own height
    return { thresholds: Float64Array.from(mass, (m) => 0.2 * fall * Math.sqrt(m * whole)), guessed: true }
}

export class Damage {
    /// @param anchored  of each bone. `thresholds`, likewise and in N·s, is set before the first step
    constructor(model, anchored) {
        this.model = model
        this.anchored = anchored
        this.thresholds = null
        Object.assign(this, makeEdges(model))
        this.bodies = []
        this.bodyOf = new Array(model.count).fill(null) // of pieces
        this.carried = new Map() // strain from neighbours, for the next step
        this.broken = 0
        for (const root of model.roots) if (model.pieceCount[root]) this.addBody([root])
    }

    addBody(members) {
        const { model } = this
        const full = (b) => model.children[b].filter((c) => model.pieceCount[c])
        while (members.length === 1 && !this.isUnit(members[0]) && full(members[0]).length === 1)
            members = full(members[0])
        const targets = members.length > 1 ? members : this.isUnit(members[0]) ? [] : full(members[0])
        const pieces = members.flatMap((b) => this.piecesBelow(b))
        const body = { members, targets, pieces, fixed: pieces.some((b) => this.anchored[b]) }
        for (const b of pieces) this.bodyOf[b] = body
        this.bodies.push(body)
        return body
    }

    /// A bone with triangles is not divided further: what hangs below it are its sheets.
    isUnit(b) {
        return this.model.geometryOf[b] >= 0 || !this.model.children[b].length
    }

    piecesBelow(b, out = []) {
        const { model } = this
        if (model.geometryOf[b] >= 0) out.push(b)
        for (const c of model.children[b]) if (model.pieceCount[c]) this.piecesBelow(c, out)
        return out
    }

    /// The target of a body that a bone is in, or −1.
    targetOf(body, bone) {
        const { parent } = this.model,
            above = body.targets.length ? parent[body.targets[0]] : -2
        while (bone >= 0 && parent[bone] !== above) bone = parent[bone]
        return bone
    }

    /// One step. @param strain  Map of pieces to impulses
    /// @return [{body, parts}]: bodies that are no more, and those that came of them
    step(strain) {
        const byBody = new Map(),
            carried = this.carried
        this.carried = new Map()
        const enter = (piece, target, amount) => {
            const body = this.bodyOf[piece]
            if (!body || !body.targets.length) return
            const t = target ?? this.targetOf(body, piece)
            if (t < 0 || (target !== null && !body.targets.includes(t))) return
            if (!byBody.has(body)) byBody.set(body, new Map())
            const own = byBody.get(body)
            own.set(t, Math.max(own.get(t) ?? 0, amount))
        }
        for (const [piece, amount] of strain) enter(piece, null, amount)
        for (const [target, amount] of carried) enter(this.piecesBelow(target)[0], target, amount)
        const changes = []
        for (const [body, own] of byBody) {
            const released = [...own].filter(([t, amount]) => amount >= this.thresholds[t] && amount > 0)
            if (!released.length) continue
            for (const [t, amount] of released) this.spread(t, amount - this.thresholds[t])
            changes.push({ body, parts: this.divide(body, new Set(released.map(([t]) => t))) })
        }
        return changes.filter((c) => c.parts.length > 1)
    }

    spread(target, excess) {
        const neighbours = [...this.edges[target]]
        if (!(excess > 0) || !neighbours.length) return
        for (const n of neighbours) this.carried.set(n, (this.carried.get(n) ?? 0) + excess / neighbours.length)
    }

    /// Replaces a body by its released targets and the connected parts of the others.
    divide(body, released) {
        const rest = body.targets.filter((t) => !released.has(t)),
            parts = []
        for (const t of released) parts.push([t])
        const left = new Set(rest)
        const linked = rest.length && this.linked[this.model.parent[rest[0]]]
        while (left.size) {
            const part = [left.values().next().value]
            left.delete(part[0])
            if (!linked) {
                for (const t of left) part.push(t)
                left.clear()
            }
            for (let i = 0; linked && i < part.length; i++)
                for (const n of this.edges[part[i]]) if (left.delete(n)) part.push(n)
            parts.push(part)
        }
        if (parts.length < 2) return [body]
        this.broken += released.size
        this.bodies.splice(this.bodies.indexOf(body), 1)
        return parts.map((members) => this.addBody(members))
    }
}
