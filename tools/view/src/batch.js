// All pieces as one mesh: each vertex knows its bone, and a texture holds every bone's place, colour and state, so
// that thousands of pieces are drawn at once and move by a change of that texture alone.

import * as THREE from 'three'

const WIDTH = 1024 // texels a row; a multiple of TEXELS
const TEXELS = 4 // a bone: three rows of its matrix, then colour and state

export const STATE = { normal: 0, dim: 1, selected: 2, hovered: 3 }

export const BONE_GLSL = `
uniform highp sampler2D uBones;
vec4 boneTexel(float bone, int k) {
    int i = int(bone + 0.5) * ${TEXELS} + k;
    return texelFetch(uBones, ivec2(i % ${WIDTH}, i / ${WIDTH}), 0);
}
mat4 boneMatrix(float bone) {
    return transpose(mat4(boneTexel(bone, 0), boneTexel(bone, 1), boneTexel(bone, 2), vec4(0.0, 0.0, 0.0, 1.0)));
}
`

/// The texture of bones.
export class BoneTable {
    constructor(count) {
        const rows = Math.max(1, Math.ceil((count * TEXELS) / WIDTH))
        this.count = count
        this.values = new Float32Array(rows * WIDTH * 4)
        this.texture = new THREE.DataTexture(this.values, WIDTH, rows, THREE.RGBAFormat, THREE.FloatType)
        this.uniform = { value: this.texture }
        for (let b = 0; b < count; b++) this.move(b, 0, 0, 0)
    }

    /// Sets a bone's place to a mere move.
    move(bone, x, y, z) {
        const i = bone * TEXELS * 4
        this.values.set([1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z], i)
        this.texture.needsUpdate = true
    }

    /// Sets a bone's place to a turn by quaternion q, then a move by p: in the frame of the asset at rest.
    place(bone, q, p) {
        const { x, y, z, w } = q,
            i = bone * TEXELS * 4,
            v = this.values
        v[i] = 1 - 2 * (y * y + z * z)
        v[i + 1] = 2 * (x * y - w * z)
        v[i + 2] = 2 * (x * z + w * y)
        v[i + 3] = p.x
        v[i + 4] = 2 * (x * y + w * z)
        v[i + 5] = 1 - 2 * (x * x + z * z)
        v[i + 6] = 2 * (y * z - w * x)
        v[i + 7] = p.y
        v[i + 8] = 2 * (x * z - w * y)
        v[i + 9] = 2 * (y * z + w * x)
        v[i + 10] = 1 - 2 * (x * x + y * y)
        v[i + 11] = p.z
        this.texture.needsUpdate = true
    }

    paint(bone, [r, g, b]) {
        this.values.set([r, g, b], bone * TEXELS * 4 + 12)
        this.texture.needsUpdate = true
    }

    mark(bone, state) {
        this.values[bone * TEXELS * 4 + 15] = state
        this.texture.needsUpdate = true
    }

    /// Where a point of a bone is now.
    apply(bone, [x, y, z]) {
        const v = this.values,
            i = bone * TEXELS * 4
        return [0, 4, 8].map((r) => v[i + r] * x + v[i + r + 1] * y + v[i + r + 2] * z + v[i + r + 3])
    }

    /// The way back: where a point of the world lies in the bone at rest (w 1), or a direction (w 0).
    applyInverse(bone, [x, y, z], w) {
        const v = this.values,
            i = bone * TEXELS * 4
        const d = [x - w * v[i + 3], y - w * v[i + 7], z - w * v[i + 11]]
        return [0, 1, 2].map((c) => v[i + c] * d[0] + v[i + 4 + c] * d[1] + v[i + 8 + c] * d[2])
    }
}

/// Corners of a vertex that agree in normal, material and colour are one vertex of the graphics card.
function joinCorners(data) {
    const head = new Int32Array(data.positions.length / 3).fill(-1)
    const most = data.faces.length
    const next = new Int32Array(most),
        index = new Uint32Array(most),
        from = new Uint32Array(most)
    const normal = new Int32Array(most),
        tint = new Int32Array(most)
    const bone = new Float32Array(most),
        kind = new Float32Array(most)
    const pack = (bytes, i) => (bytes[i] & 255) | ((bytes[i + 1] & 255) << 8) | ((bytes[i + 2] & 255) << 16)
    let used = 0
    const corner = (c, b, k) => {
        const v = data.faces[c],
            n = data.normals ? pack(data.normals, 3 * c) : 0,
            t = data.colors ? pack(data.colors, 3 * c) : 0
        let i = head[v]
        while (i >= 0 && (normal[i] !== n || kind[i] !== k || tint[i] !== t)) i = next[i]
        if (i >= 0) return i
        i = used++
        normal[i] = n
        kind[i] = k
        tint[i] = t
        bone[i] = b
        from[i] = v
        next[i] = head[v]
        head[v] = i
        return i
    }
    for (let g = 0; g < data.geometry_bone.length; g++) {
        for (let f = data.face_start[g]; f < data.face_start[g] + data.face_count[g]; f++) {
            const k = 2 * (data.material ? data.material[f] : 0) + (data.internal ? data.internal[f] : 0)
            for (let c = 3 * f; c < 3 * f + 3; c++) index[c] = corner(c, data.geometry_bone[g], k)
        }
    }
    return { used, index, from, normal, tint, bone: bone.slice(0, used), kind: kind.slice(0, used) }
}

/// Vertices of all pieces: position, normal, aBone, aKind (2 × material + inside) and, of painted meshes, aTint.
function makePieceGeometry({ data }) {
    const corners = joinCorners(data),
        { used } = corners
    const position = new Float32Array(3 * used),
        normal = new Int8Array(4 * used),
        tint = new Uint8Array(4 * used)
    for (let i = 0; i < used; i++) {
        for (let k = 0; k < 3; k++) {
            position[3 * i + k] = data.positions[3 * corners.from[i] + k]
            normal[4 * i + k] = (corners.normal[i] << (24 - 8 * k)) >> 24
            tint[4 * i + k] = (corners.tint[i] >> (8 * k)) & 255
        }
    }
    const geometry = new THREE.BufferGeometry()
    geometry.setIndex(new THREE.BufferAttribute(corners.index, 1))
    geometry.setAttribute('position', new THREE.BufferAttribute(position, 3))
    geometry.setAttribute(
        'normal',
        new THREE.InterleavedBufferAttribute(new THREE.InterleavedBuffer(normal, 4), 3, 0, true),
    )
    geometry.setAttribute('aBone', new THREE.BufferAttribute(corners.bone, 1))
    geometry.setAttribute('aKind', new THREE.BufferAttribute(corners.kind, 1))
    if (data.colors) geometry.setAttribute('aTint', new THREE.BufferAttribute(tint, 4, true))
    if (!data.normals) geometry.computeVertexNormals()
    return geometry
}

/// A texture with a colour for each material.
function materialTexture(colors) {
    const values = new Float32Array(4 * Math.max(1, colors.length)).fill(0.6)
    colors.forEach((c, i) => values.set(c, 4 * i))
    const texture = new THREE.DataTexture(values, Math.max(1, colors.length), 1, THREE.RGBAFormat, THREE.FloatType)
    texture.needsUpdate = true
    return texture
}

function patchPlace(shader) {
    shader.vertexShader = shader.vertexShader
        .replace('#include <common>', `#include <common>\nattribute float aBone;\n${BONE_GLSL}`)
        .replace('#include <begin_vertex>', 'vec3 transformed = (boneMatrix(aBone) * vec4(position, 1.0)).xyz;')
}

function patchColor(shader, painted) {
    shader.vertexShader = shader.vertexShader
        .replace(
            '#include <beginnormal_vertex>',
            `vec3 objectNormal = mat3(boneMatrix(aBone)) * normal;
            vec4 own = boneTexel(aBone, 3);
            float inside = mod(aKind, 2.0);
            vec3 base = uPerFace > 1.5 ? PAINT : uPerFace > 0.5 ? texelFetch(uMaterials, ivec2(int(aKind) / 2, 0), 0).rgb
                : mix(own.rgb, uInside, 0.6 * inside);
            vState = own.a;
            vBase = base;`,
        )
        .replace(
            '#include <common>',
            `#include <common>
            attribute float aKind;
            ${painted ? 'attribute vec4 aTint;\n#define PAINT (aTint.rgb * aTint.rgb)' : '#define PAINT own.rgb'}
            uniform float uPerFace; uniform vec3 uInside; uniform highp sampler2D uMaterials;
            varying vec3 vBase; varying float vState;`,
        )
    shader.fragmentShader = shader.fragmentShader
        .replace(
            '#include <common>',
            `#include <common>
            uniform vec3 uDim; uniform vec3 uAccent; varying vec3 vBase; varying float vState;`,
        )
        .replace(
            '#include <color_fragment>',
            `
            float dim = step(0.5, vState) * step(vState, 1.5), chosen = step(1.5, vState);
            diffuseColor.rgb = mix(mix(vBase, uDim, 0.86 * dim), uAccent, 0.55 * chosen * (vState > 2.5 ? 0.45 : 1.0));`,
        )
        .replace(
            '#include <emissivemap_fragment>',
            `
            float rim = pow(1.0 - abs(dot(normalize(vViewPosition), normal)), 2.0);
            totalEmissiveRadiance += uAccent * chosen * (vState > 2.5 ? 0.1 : 0.16 + 0.5 * rim);`,
        )
}

/// The mesh of all pieces. setColors takes materials' colours; `uniforms` holds what changes.
export class PieceMesh {
    constructor(model, bones, materialColors) {
        const geometry = makePieceGeometry(model)
        const painted = Boolean(geometry.getAttribute('aTint'))
        this.uniforms = {
            uPerFace: { value: 0 },
            uInside: { value: new THREE.Color(0.8, 0.75, 0.68) },
            uDim: { value: new THREE.Color(0.5, 0.5, 0.5) },
            uAccent: { value: new THREE.Color(1, 0.4, 0.05) },
            uMaterials: { value: materialTexture(materialColors) },
            uBones: bones.uniform,
        }
        const material = new THREE.MeshStandardMaterial({ roughness: 0.82, metalness: 0 })
        material.onBeforeCompile = (shader) => {
            Object.assign(shader.uniforms, this.uniforms)
            patchPlace(shader)
            patchColor(shader, painted)
        }
        const depth = new THREE.MeshDepthMaterial({ depthPacking: THREE.RGBADepthPacking })
        depth.onBeforeCompile = (shader) => {
            shader.uniforms.uBones = bones.uniform
            patchPlace(shader)
        }
        this.mesh = new THREE.Mesh(geometry, material)
        this.mesh.customDepthMaterial = depth
        this.mesh.castShadow = this.mesh.receiveShadow = true
        this.mesh.frustumCulled = false // pieces move away from where the mesh was
        this.painted = painted
    }
}
