// What web loaders make of our files, as trees that can be compared. Runs in a page; loaders.mjs opens it.
//
// A tree: a list of bones, parents before children, each { name, parent, matrix (to the world, 16 numbers by column),
// triangles, min, max (in the world), materials: [{ name, color, triangles }] }. What a loader does not tell is null.

import { Box3, Matrix4, Vector3 } from 'three'
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js'
import { USDLoader } from 'three/addons/loaders/USDLoader.js'
import { TinyUSDZLoader } from 'tinyusdz/TinyUSDZLoader.js'

const triangleCount = (geometry) => (geometry.index ?? geometry.attributes.position).count / 3
const colorOf = (material) => (material?.color ? material.color.toArray() : null)

/// Bounds of places moved by a matrix.
function bounds(positions, matrix, into) {
    const p = new Vector3()
    for (let i = 0; i < positions.length; i += 3) into.expandByPoint(p.fromArray(positions, i).applyMatrix4(matrix))
    return into
}

function bone(name, parent, matrix) {
    return { name, parent, matrix: matrix.toArray(), triangles: 0, box: new Box3(), materials: [] }
}

function finish(bones) {
    return bones.map(({ box, ...rest }) => {
        const empty = box.isEmpty()
        return { ...rest, min: empty ? null : box.min.toArray(), max: empty ? null : box.max.toArray() }
    })
}

/// A mesh of three belongs to a bone: its triangles, material by material.
function addMesh(to, mesh) {
    const materials = Array.isArray(mesh.material) ? mesh.material : [mesh.material]
    const groups = Array.isArray(mesh.material)
        ? mesh.geometry.groups
        : [{ count: 3 * triangleCount(mesh.geometry), materialIndex: 0 }]
    to.triangles += triangleCount(mesh.geometry)
    bounds(mesh.geometry.attributes.position.array, mesh.matrixWorld, to.box)
    for (const { count, materialIndex } of groups) {
        const m = materials[materialIndex]
        to.materials.push({ name: m.name || null, color: colorOf(m), triangles: count / 3 })
    }
}

/// three's GLTFLoader. Node names are made fit for animation paths; userData.name has the file's own.
export async function glb(url) {
    const { scene, parser } = await new GLTFLoader().loadAsync(url)
    const bones = []
    scene.updateMatrixWorld(true)
    const visit = (object, parent) => {
        let own = parent
        if (object !== scene && parser.associations.get(object)?.nodes !== undefined) {
            own = bone(object.userData.name, parent?.name ?? null, object.matrixWorld)
            own.extras = object.userData
            bones.push(own)
        }
        if (object.isMesh) addMesh(own, object)
        for (const child of object.children) visit(child, own)
    }
    visit(scene, null)
    return finish(bones)
}

const isOurs = (name) => name === 'mesh' || /^collider_\d+$/.test(name) || name === 'Looks' || name === 'Joints'

/// three's USDLoader: a prim below `Asset` is a bone, its `mesh` the piece.
export async function usda(url) {
    const root = await new USDLoader().loadAsync(url)
    const bones = []
    root.updateMatrixWorld(true)
    const visit = (object, parent) => {
        for (const child of object.children) {
            if (child.name === 'mesh') addMesh(parent, child)
            if (isOurs(child.name)) continue
            const own = bone(child.name, parent?.name ?? null, child.matrixWorld)
            bones.push(own)
            visit(child, own)
        }
    }
    visit(root.getObjectByName('Asset'), null)
    return finish(bones)
}

/// tinyusdz. It tells one material a mesh, without its name, and shows subsets as nodes that hold nothing.
export async function tiny(url) {
    const loader = await new TinyUSDZLoader().init()
    const usd = await loader.loadAsync(url)
    const bones = []
    const visit = (node, parent) => {
        for (const child of node.children) {
            if (child.nodeType === 'mesh' && child.primName === 'mesh') {
                const mesh = usd.getMesh(child.contentId)
                const material = mesh.materialId >= 0 ? usd.getMaterial(mesh.materialId) : null
                parent.triangles += mesh.faceVertexIndices.length / 3
                bounds(mesh.points, new Matrix4().fromArray(child.globalMatrix), parent.box)
                parent.materials.push({ name: null, color: material?.diffuseColor ?? null, triangles: parent.triangles })
            }
            if (isOurs(child.primName)) continue
            const own = bone(child.primName, parent?.name ?? null, new Matrix4().fromArray(child.globalMatrix))
            if (child.displayName) own.displayName = child.displayName
            bones.push(own)
            visit(child, own)
        }
    }
    visit(usd.getDefaultRootNode(), null)
    return finish(bones)
}

window.trees = { glb, usda, tiny }
