// What the page of `rubble view` computes, without a browser: test_model.mjs; exit code 1 when something is wrong.

import assert from 'node:assert/strict'

import { Damage, makeEdges, makeThresholds } from '../../tools/view/src/damage.js'
import { fromBase64, readData } from '../../tools/view/src/data.js'
import { makeBins } from '../../tools/view/src/histogram.js'
import { explode, isBelow, makeModel, piecesBelow, shownBones } from '../../tools/view/src/model.js'
import { search } from '../../tools/view/src/panel.js'
import { number } from '../../tools/view/src/texts.js'

let passed = 0,
    failed = 0

function test(name, body) {
    try {
        body()
        passed++
        console.log(`ok   ${name}`)
    } catch (error) {
        failed++
        console.log(`FAIL ${name}: ${error.message}`)
    }
}

/// Unit boxes in a row along x, in clusters: `clusters` [2, 3] gives a root, two clusters, two and three boxes.
function boxes(clusters, extra = {}) {
    const parent = [-1],
        level = [0],
        names = ['root'],
        geometryBone = [],
        positions = [],
        faces = []
    const corner = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [i & 1, (i >> 1) & 1, i >> 2])
    const sides = [
        [0, 2, 1],
        [1, 2, 3],
        [4, 5, 6],
        [5, 7, 6],
        [0, 1, 4],
        [1, 5, 4],
        [2, 6, 3],
        [3, 6, 7],
        [0, 4, 2],
        [2, 4, 6],
        [1, 3, 5],
        [3, 7, 5],
    ]
    for (const [i] of clusters.entries()) {
        parent.push(0)
        level.push(1)
        names.push(`cluster_${i}`)
    }
    let at = 0
    for (const [i, count] of clusters.entries()) {
        for (let k = 0; k < count; k++) {
            parent.push(1 + i)
            level.push(2)
            names.push(`box_${at}`)
            geometryBone.push(names.length - 1)
            for (const s of sides) faces.push(...s.map((v) => v + 8 * at))
            for (const c of corner) positions.push(c[0] + at, c[1], c[2])
            at++
        }
    }
    const n = geometryBone.length
    const starts = (step) => Int32Array.from({ length: n }, (_, i) => i * step)
    return makeModel({
        names,
        parent: Int32Array.from(parent),
        level: Int32Array.from(level),
        geometry_bone: Int32Array.from(geometryBone),
        vertex_start: starts(8),
        vertex_count: new Int32Array(n).fill(8),
        face_start: starts(12),
        face_count: new Int32Array(n).fill(12),
        volume: new Float64Array(n).fill(1),
        positions: Float32Array.from(positions),
        faces: Uint32Array.from(faces),
        materials: [],
        ...extra,
    })
}

/// Contacts of neighbours in the row.
const row = (clusters) => {
    const first = 1 + clusters.length,
        n = clusters.reduce((a, b) => a + b)
    return { contact: Int32Array.from({ length: 2 * (n - 1) }, (_, i) => first + (i >> 1) + (i & 1)) }
}

test('base64 of every length', () => {
    for (let n = 0; n < 50; n++) {
        const bytes = Uint8Array.from({ length: n }, (_, i) => (i * 37 + n) & 255)
        assert.deepEqual(fromBase64(Buffer.from(bytes).toString('base64')), bytes)
    }
})

test('data that is none', () => {
    assert.throws(() => readData(new Uint8Array(4)), /no data/)
    assert.throws(() => readData(new Uint8Array(64)), /no data/)
    const other = new Uint8Array(16)
    other.set([82, 85, 66, 86, 2])
    assert.throws(() => readData(other), /version 2/)
})

test('the hierarchy is measured', () => {
    const m = boxes([2, 3])
    assert.deepEqual([...m.pieceCount], [5, 2, 3, 1, 1, 1, 1, 1])
    assert.deepEqual([...m.volume].slice(0, 3), [5, 2, 3])
    assert.deepEqual([...m.bounds.subarray(12, 18)], [2, 0, 0, 5, 1, 1])
    assert.deepEqual(m.all.center, [2.5, 0.5, 0.5])
    assert.ok(isBelow(m, 5, 2) && !isBelow(m, 5, 1) && isBelow(m, 5, 0))
    assert.deepEqual(piecesBelow(m, 2), [5, 6, 7])
})

test('levels stand for what is below', () => {
    assert.deepEqual([...shownBones(boxes([2, 3]), 1)], [0, 1, 2, 1, 1, 2, 2, 2])
    assert.deepEqual([...shownBones(boxes([2, 3]), 0)], [0, 0, 0, 0, 0, 0, 0, 0])
})

test('pieces explode from the middle of their parents, level by level', () => {
    const m = boxes([2, 3]),
        x = (o, b) => o[3 * b]
    const coarse = explode(m, 1, 1),
        fine = explode(m, 1, 2)
    assert.equal(x(coarse, 1), -1.5) // the middle of two boxes, 1, from that of all, 2.5
    assert.equal(x(coarse, 3), -1.5) // moves with its cluster
    assert.equal(x(fine, 3), -2)
    assert.ok(
        explode(m, 1, 2).every((o, i) => i % 3 !== 1 || o === 0),
        'what stands on the ground stays there',
    )
    assert.ok(explode(m, 0, 2).every((o) => o === 0))
})

test('sizes fall into bins', () => {
    const m = boxes([2, 3])
    const equal = makeBins(m, m.pieces)
    assert.equal(equal.bins.length, 1)
    assert.equal(equal.bins[0].bones.length, 5)
    m.volume[3] = 1000
    const { bins } = makeBins(m, m.pieces)
    assert.equal(
        bins.reduce((n, b) => n + b.bones.length, 0),
        5,
    )
    assert.deepEqual(bins.at(-1).bones, [3])
})

test('names are found in any case, as they stand', () => {
    const m = boxes([2, 3])
    assert.deepEqual(search(m, 'BOX_1'), [4])
    assert.deepEqual(search(m, '.*'), [])
    assert.deepEqual(search(m, '  '), [])
})

test('numbers', () => {
    assert.deepEqual([0, 1234.5, 0.00012345, 1e-9, NaN, 0.5].map(number), [
        '0',
        '1,235',
        '0.000123',
        '1.00e-9',
        '–',
        '0.5',
    ])
})

test('contacts are lifted to siblings where there is no connection graph', () => {
    const { edges, linked } = makeEdges(boxes([2, 3], row([2, 3])))
    assert.deepEqual([...edges[1]], [2])
    assert.deepEqual([...edges[6]].sort(), [5, 7])
    assert.deepEqual([...linked].slice(0, 3), [1, 1, 1])
})

function damage(clusters, anchored = [], threshold = 10, extra = row(clusters)) {
    const m = boxes(clusters, extra),
        marks = new Uint8Array(m.count)
    for (const b of anchored) marks[b] = 1
    const d = new Damage(m, marks)
    d.thresholds = Float64Array.from(m.level, (l) => (l === 1 ? threshold : threshold / 10))
    return d
}
const shape = (d) => d.bodies.map((b) => b.pieces.join()).sort()

test('a blow below the threshold breaks nothing, and does not add up', () => {
    const d = damage([2, 3])
    for (let i = 0; i < 5; i++) assert.deepEqual(d.step(new Map([[3, 9.99]])), [])
    assert.equal(d.bodies.length, 1)
})

test('clusters come off first, then their pieces', () => {
    const d = damage([2, 3])
    d.step(new Map([[3, 10]]))
    assert.deepEqual(shape(d), ['3,4', '5,6,7'])
    d.step(new Map([[6, 1]]))
    assert.deepEqual(shape(d), ['3,4', '5', '6', '7'])
    assert.equal(d.broken, 2)
    assert.deepEqual(d.step(new Map([[6, 1e9]])), [], 'a single piece does not break')
})

test('the excess goes to the neighbours in equal parts, one hop a step', () => {
    const d = damage([5], [], 10)
    assert.deepEqual(shape(d), ['2,3,4,5,6'], 'a root with one cluster is that cluster')
    d.step(new Map([[4, 1 + 2 * 2.5]]))
    assert.deepEqual(shape(d), ['2,3', '4', '5,6'])
    assert.deepEqual(
        [...d.carried],
        [
            [3, 2.5],
            [5, 2.5],
        ],
    )
    d.step(new Map())
    assert.deepEqual(shape(d), ['2', '3', '4', '5', '6'])
})

test('what is anchored stays, with all that is linked to it', () => {
    const d = damage([5], [2])
    d.step(new Map([[4, 1]]))
    assert.deepEqual(
        d.bodies.filter((b) => b.fixed).map((b) => b.pieces),
        [[2, 3]],
    )
})

test('without links the rest stays one', () => {
    const d = damage([5], [], 10, {})
    d.step(new Map([[4, 5]]))
    assert.deepEqual(shape(d), ['2,3,5,6', '4'])
})

test('random blows keep every piece in exactly one body', () => {
    const seed = Date.now() & 0xffff
    let state = seed || 1
    const random = () => (state = (state * 48271) % 2147483647) / 2147483647
    for (let round = 0; round < 30; round++) {
        const d = damage([2 + Math.floor(random() * 4), 1 + Math.floor(random() * 5), 3], random() < 0.5 ? [4] : [])
        const all = [...d.model.pieces]
        for (let i = 0; i < 12; i++) {
            d.step(new Map([[all[Math.floor(random() * all.length)], random() * 20]]))
            const pieces = d.bodies.flatMap((b) => b.pieces).sort((a, b) => a - b)
            assert.deepEqual(pieces, all, `seed ${seed}`)
            for (const b of d.bodies) {
                assert.equal(
                    b.fixed,
                    b.pieces.some((p) => d.anchored[p]),
                    `seed ${seed}`,
                )
                for (const p of b.pieces) assert.equal(d.bodyOf[p], b, `seed ${seed}`)
            }
        }
    }
})

test('guessed thresholds are smaller for lighter bones', () => {
    const m = boxes([2, 3]),
        { thresholds, guessed } = makeThresholds(m, m.volume, 10)
    assert.ok(guessed && thresholds[3] > 0 && thresholds[3] < thresholds[1] && thresholds[1] < thresholds[2])
    const own = Float32Array.from(m.level)
    assert.deepEqual(makeThresholds(boxes([2, 3], { threshold: own }), m.volume, 10), {
        thresholds: own,
        guessed: false,
    })
})

console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
