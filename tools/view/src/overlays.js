// What is drawn over the pieces: hulls, connections, contacts, and the outline of what is selected. All of it follows
// the bones by the same texture as the pieces.

import * as THREE from 'three'

import { BONE_GLSL } from './batch.js'

/// A material of vertices that follow their bones. `fragment` sets gl_FragColor from uColor, vColor (of the bone) and
/// vSize; `pixels` is the size of points; what else there is goes to three's material.
function followingMaterial(bones, { color, fragment, pixels, ...rest }) {
    return new THREE.ShaderMaterial({
        uniforms: { uBones: bones.uniform, uColor: color ?? { value: null }, uPixels: pixels ?? { value: 1 } },
        vertexShader: `attribute float aBone; attribute float aSize; uniform float uPixels;
            varying vec3 vColor; varying float vSize;
            ${BONE_GLSL}
            void main() {
                vColor = boneTexel(aBone, 3).rgb;
                vSize = aSize;
                gl_Position = projectionMatrix * viewMatrix * boneMatrix(aBone) * vec4(position, 1.0);
                gl_PointSize = uPixels;
            }`,
        fragmentShader: `uniform vec3 uColor; varying vec3 vColor; varying float vSize;
            void main() {
                ${fragment}
                #include <colorspace_fragment>
            }`,
        transparent: true,
        depthWrite: false,
        ...rest,
    })
}

function object(kind, geometry, material, order) {
    const made = new kind(geometry, material)
    made.frustumCulled = false
    made.renderOrder = order
    return made
}

function attributes(position, bone, size) {
    const geometry = new THREE.BufferGeometry()
    geometry.setAttribute('position', new THREE.BufferAttribute(position, 3))
    geometry.setAttribute('aBone', new THREE.BufferAttribute(bone, 1))
    if (size) geometry.setAttribute('aSize', new THREE.BufferAttribute(size, 1))
    return geometry
}

/// Edges of triangles that are no diagonals of flat sides, as pairs of vertices of `points`.
function sharpEdges(points, faces, flat) {
    const edges = new Map(),
        n = new THREE.Vector3(),
        u = new THREE.Vector3(),
        v = new THREE.Vector3(),
        a = new THREE.Vector3()
    for (let f = 0; f < faces.length; f += 3) {
        a.fromArray(points, 3 * faces[f])
        u.fromArray(points, 3 * faces[f + 1]).sub(a)
        v.fromArray(points, 3 * faces[f + 2]).sub(a)
        n.crossVectors(u, v).normalize()
        for (let k = 0; k < 3; k++) {
            const i = faces[f + k],
                j = faces[f + ((k + 1) % 3)],
                key = i < j ? i * 4294967296 + j : j * 4294967296 + i
            const other = edges.get(key)
            if (other) other.sharp = other.normal.dot(n) < flat
            else edges.set(key, { i, j, normal: n.clone(), sharp: true })
        }
    }
    return [...edges.values()].filter((e) => e.sharp).flatMap((e) => [e.i, e.j])
}

function hullEdges(data, h) {
    const start = data.hull_point_start[h],
        points = data.hull_points.subarray(3 * start, 3 * data.hull_point_start[h + 1])
    const faces = data.hull_faces.subarray(3 * data.hull_face_start[h], 3 * data.hull_face_start[h + 1])
    return sharpEdges(points, faces, 0.9995).map((v) => v + start)
}

const MOST_OUTLINED = 100000 // triangles

/// The edges of chosen pieces, also where others are in front of them.
export class Outline {
    constructor(model, bones, color) {
        this.model = model
        this.group = new THREE.Group()
        for (const [opacity, depthTest] of [
            ['0.3', false],
            ['1.0', true],
        ]) {
            const material = followingMaterial(bones, {
                color,
                fragment: `gl_FragColor = vec4(uColor, ${opacity});`,
                depthTest,
            })
            this.group.add(object(THREE.LineSegments, new THREE.BufferGeometry(), material, 6))
        }
    }

    show(pieces) {
        const { data, geometryOf, triangles } = this.model,
            position = [],
            bone = []
        let left = MOST_OUTLINED
        for (const b of pieces) {
            const g = geometryOf[b]
            if ((left -= triangles[b]) < 0) break
            const faces = data.faces.subarray(3 * data.face_start[g], 3 * (data.face_start[g] + data.face_count[g]))
            for (const v of sharpEdges(data.positions, faces, 0.94)) {
                position.push(data.positions[3 * v], data.positions[3 * v + 1], data.positions[3 * v + 2])
                bone.push(b)
            }
        }
        for (const lines of this.group.children) {
            lines.geometry.dispose()
            lines.geometry = attributes(new Float32Array(position), new Float32Array(bone))
        }
    }
}

export class Hulls {
    constructor(model, bones, accent) {
        const { data } = model
        this.model = model
        this.group = new THREE.Group()
        const position = new Float32Array(data.hull_points),
            bone = new Float32Array(position.length / 3)
        const lines = [],
            faces = []
        for (let h = 0; h < data.hull_bone.length; h++) {
            bone.fill(data.hull_bone[h], data.hull_point_start[h], data.hull_point_start[h + 1])
            lines.push(hullEdges(data, h))
            const own = []
            for (let f = 3 * data.hull_face_start[h]; f < 3 * data.hull_face_start[h + 1]; f++)
                own.push(data.hull_point_start[h] + data.hull_faces[f])
            faces.push(own)
        }
        this.lines = lines
        this.faces = faces
        const lineMaterial = followingMaterial(bones, {
            color: accent,
            fragment: 'gl_FragColor = vec4(uColor, 0.85);',
        })
        const faceMaterial = followingMaterial(bones, {
            fragment: 'gl_FragColor = vec4(vColor, 0.16);',
            side: THREE.DoubleSide,
        })
        this.group.add(
            object(THREE.Mesh, attributes(position, bone), faceMaterial, 2),
            object(THREE.LineSegments, attributes(position, bone), lineMaterial, 3),
        )
    }

    /// Shows the hulls of bones that are told apart, or those of the pieces below one that has none.
    show(shown) {
        const wanted = (h) => {
            const b = this.model.data.hull_bone[h],
                s = shown[b]
            return s === b || (!this.model.hulls[s].length && !this.model.children[b].length)
        }
        const chosen = this.lines.map((_, h) => h).filter(wanted)
        this.group.children[0].geometry.setIndex(chosen.flatMap((h) => this.faces[h]))
        this.group.children[1].geometry.setIndex(chosen.flatMap((h) => this.lines[h]))
        this.count = chosen.length
    }
}

/// Lines between the centres of bones.
export class Links {
    /// @param pairs  bones, two by two; areas  one a pair, may be missing
    constructor(model, bones, pairs, areas, color) {
        this.model = model
        this.pairs = pairs
        this.areas = areas
        this.group = new THREE.Group()
        this.pixels = { value: 7 }
        const line = followingMaterial(bones, {
            color,
            fragment: 'gl_FragColor = vec4(uColor, 0.25 + 0.7 * vSize);',
            depthTest: false,
        })
        const dot = followingMaterial(bones, {
            color,
            pixels: this.pixels,
            depthTest: false,
            fragment: `float d = length(gl_PointCoord - 0.5); if (d > 0.5) discard;
                gl_FragColor = vec4(uColor, 1.0 - smoothstep(0.4, 0.5, d));`,
        })
        this.group.add(
            object(THREE.LineSegments, new THREE.BufferGeometry(), line, 4),
            object(THREE.Points, new THREE.BufferGeometry(), dot, 5),
        )
    }

    /// Shows links between bones that are told apart; `holds(a, b)` says which of them are not broken.
    show(shown, holds = () => true) {
        const { center, pieceCount } = this.model,
            ends = [],
            sizes = [],
            dots = new Set()
        let largest = 0
        for (const area of this.areas || []) largest = Math.max(largest, area)
        for (let i = 0; i < this.pairs.length; i += 2) {
            const [a, b] = [this.pairs[i], this.pairs[i + 1]]
            if (shown[a] !== a || shown[b] !== b || !pieceCount[a] || !pieceCount[b] || !holds(a, b)) continue
            const size = largest > 0 ? Math.sqrt(Math.max(0, this.areas[i / 2]) / largest) : 0.5
            ends.push(a, b)
            sizes.push(size, size)
            dots.add(a)
            dots.add(b)
        }
        const fill = (child, list, size) => {
            const position = new Float32Array(list.flatMap((b) => [...center.subarray(3 * b, 3 * b + 3)]))
            child.geometry.dispose()
            child.geometry = attributes(position, new Float32Array(list), new Float32Array(size))
        }
        fill(this.group.children[0], ends, sizes)
        fill(
            this.group.children[1],
            [...dots],
            [...dots].map(() => 1),
        )
        this.pixels.value = (dots.size > 150 ? 4 : 7) * Math.min(devicePixelRatio, 2)
        this.count = ends.length / 2
    }
}
