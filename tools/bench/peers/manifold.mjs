// CPU of manifold-3d (npm) for a Voronoi fracture: manifold.mjs MESH.obj CELLS.json
//
// For each cell the hull of its corners and its intersection with the mesh; corners are given (made by rubble), so that
// making cells costs the peer nothing. Reading, the import of the mesh and volumes are not measured. Prints JSON:
// milliseconds of hulls and intersections, pieces, triangles, volumes.
import fs from "node:fs";
import Module from "manifold-3d";

const [, , meshPath, cellsPath] = process.argv;

function readObj(path) {
    const positions = [], triangles = [];
    for (const line of fs.readFileSync(path, "utf8").split("\n")) {
        const words = line.split(" ");
        if (words[0] === "v") positions.push(+words[1], +words[2], +words[3]);
        if (words[0] === "f") triangles.push(words[1] - 1, words[2] - 1, words[3] - 1);
    }
    return { vertProperties: new Float32Array(positions), triVerts: new Uint32Array(triangles) };
}

const wasm = await Module();
wasm.setup();
const mesh = readObj(meshPath);
const cells = JSON.parse(fs.readFileSync(cellsPath, "utf8"));
const source = wasm.Manifold.ofMesh(new wasm.Mesh({ numProp: 3, ...mesh }));
source.numTri();

source.intersect(wasm.Manifold.hull(cells[0])).numTri(); // compiles, and prepares the mesh

const wallBegin = performance.now(), begin = process.cpuUsage();
const pieces = [];
for (const corners of cells) {
    const cell = wasm.Manifold.hull(corners);
    const piece = source.intersect(cell);
    piece.numTri(); // evaluation is lazy
    cell.delete();
    pieces.push(piece);
}
const used = process.cpuUsage(begin), wall = performance.now() - wallBegin;

const solid = pieces.filter((piece) => !piece.isEmpty());
console.log(JSON.stringify({
    cpu_ms: (used.user + used.system) / 1e3,
    wall_ms: wall,
    pieces: solid.length,
    triangles: solid.reduce((sum, piece) => sum + piece.numTri(), 0),
    volume: solid.reduce((sum, piece) => sum + piece.volume(), 0),
    source_volume: source.volume(),
}));
