// Colours of bones, as linear RGB. Hues are laid out in OKLCH, where equal numbers look equally light.

/// OKLCH to linear RGB, clipped.
function oklch(lightness, chroma, hue) {
    const a = chroma * Math.cos((hue * Math.PI) / 180),
        b = chroma * Math.sin((hue * Math.PI) / 180)
    const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
    return [
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
    ].map((x) => Math.min(Math.max(x, 0), 1))
}

const gamma = (x) => (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055)

/// Linear RGB as a CSS colour.
export const css = (rgb) => `rgb(${rgb.map((x) => Math.round(255 * gamma(x))).join(' ')})`

/// Colours that tell neighbours in a list apart: hues one golden angle after the other.
function distinct(index) {
    return oklch([0.74, 0.8, 0.68][index % 3], 0.092, (28 + 137.50776405 * index) % 360)
}

/// A ramp from dark violet over teal to light yellow, for t from 0 to 1.
export function ramp(t) {
    const stops = [
        [0.36, 0.12, 300],
        [0.5, 0.11, 262],
        [0.63, 0.1, 205],
        [0.77, 0.13, 160],
        [0.9, 0.15, 105],
    ]
    const at = Math.min(Math.max(t, 0), 1) * (stops.length - 1),
        i = Math.min(Math.floor(at), stops.length - 2),
        f = at - i
    return oklch(...stops[i].map((x, k) => x + f * (stops[i + 1][k] - x)))
}

/// What colour modes there are; each gives [colours of bones, legend] for the bones that are told apart.
export const MODES = {
    bone: { label: 'Bone', colors: byBone },
    level: { label: 'Level', colors: byLevel },
    cluster: { label: 'Cluster', colors: byCluster },
    volume: { label: 'Volume', colors: byVolume },
    material: { label: 'Material', colors: byMaterial },
}

function byBone(model, shown) {
    const order = new Map()
    return {
        color: (b) => {
            const s = shown[b]
            if (!order.has(s)) order.set(s, order.size)
            return distinct(order.get(s))
        },
        legend: [],
    }
}

/// A little darker or lighter, so that neighbours of one colour can be told apart.
const shade = (color, index) => color.map((x) => Math.min(1, x * (0.82 + 0.09 * (((index * 5) % 7) % 4))))

const levelColor = (model, level) => ramp(model.levels ? 0.12 + (0.8 * level) / model.levels : 0.5)

function byLevel(model, shown) {
    const used = [...new Set(model.pieces.map((b) => model.level[shown[b]]))].sort((a, b) => a - b)
    return {
        color: (b) => shade(levelColor(model, model.level[shown[b]]), shown[b]),
        legend: used.map((l) => ({ text: `Level ${l}`, color: levelColor(model, l) })),
    }
}

function byCluster(model, shown) {
    const order = new Map()
    const of = (s) => {
        const cluster = model.parent[s] >= 0 ? model.parent[s] : s
        if (!order.has(cluster)) order.set(cluster, order.size)
        return order.get(cluster)
    }
    const clusters = new Set(model.pieces.map((b) => model.parent[shown[b]]))
    const legend = [...clusters]
        .sort((a, b) => a - b)
        .map((c) => ({ text: c >= 0 ? model.names[c] : 'no cluster', cluster: c }))
    const color = (b) => shade(distinct(of(shown[b])), shown[b])
    for (const b of model.pieces) of(shown[b])
    for (const entry of legend) entry.color = distinct(order.get(entry.cluster) ?? 0)
    return { color, legend }
}

/// Smallest and largest volume among the bones that are told apart.
function volumeRange(model, shown) {
    let low = Infinity,
        high = 0
    for (const b of model.pieces) {
        const v = model.volume[shown[b]]
        if (v > 0) low = Math.min(low, v)
        high = Math.max(high, v)
    }
    return low <= high ? [low, high] : [1, 1]
}

function byVolume(model, shown) {
    const [low, high] = volumeRange(model, shown)
    const span = Math.log(high / low)
    const at = (v) => (span > 1e-9 && v > 0 ? Math.log(v / low) / span : 0.5)
    return {
        color: (b) => ramp(at(model.volume[shown[b]])),
        legend: [0, 0.25, 0.5, 0.75, 1]
            .map((t) => ({ volume: low * Math.exp(span * t), color: ramp(t) }))
            .slice(0, span > 1e-9 ? 5 : 1),
    }
}

/// Colours of materials; those of a file when it gives some that differ.
export function materialColors(model) {
    const { materials } = model.data
    const own = new Set(materials.map((m) => JSON.stringify(m.color)))
    return materials.map((m, i) => {
        if (m.name === 'interior') return oklch(0.82, 0.03, 70)
        return m.color && (own.size > 1 || materials.length === 1) ? m.color : distinct(i)
    })
}

function byMaterial(model) {
    const colors = materialColors(model),
        used = new Set(model.data.material)
    return {
        color: () => [0.6, 0.6, 0.6],
        perFace: true,
        legend: model.data.materials
            .map((m, i) => ({ text: m.name, color: colors[i], index: i }))
            .filter((m) => used.has(m.index)),
    }
}
