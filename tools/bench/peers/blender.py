"""CPU of Blender for a Voronoi fracture:
blender -b --factory-startup -noaudio -P blender.py -- MESH.obj SITES CELLS.json cell-fracture|exact-boolean

cell-fracture: the add-on's operator, sites given as vertices of a child, every other option such that pieces stay what the
cells cut. exact-boolean: for each cell the convex hull of its corners (given, made by rubble) and the exact boolean
modifier. Reading and volumes are not measured. Prints a line `RESULT {json}`.
"""
import json
import sys
import time

import bmesh
import bpy

mesh_path, sites_path, cells_path, mode = sys.argv[sys.argv.index("--") + 1:]


def read_obj(path):
    vertices, faces = [], []
    with open(path) as f:
        for line in f:
            words = line.split()
            if words[:1] == ["v"]:
                vertices.append(tuple(map(float, words[1:4])))
            elif words[:1] == ["f"]:
                faces.append(tuple(int(w) - 1 for w in words[1:4]))
    return vertices, faces


def make_object(name, vertices, faces):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    mesh.update()
    made = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(made)
    return made


def measure(mesh):
    b = bmesh.new()
    b.from_mesh(mesh)
    volume, triangles = b.calc_volume(signed=True), sum(len(f.verts) - 2 for f in b.faces)
    is_open = any(not e.is_manifold for e in b.edges)
    b.free()
    return volume, triangles, is_open


def cell_fracture(source, sites):
    points = make_object("sites", sites, [])
    points.parent = source
    bpy.ops.object.select_all(action="DESELECT")
    source.select_set(True)
    bpy.context.view_layer.objects.active = source
    bpy.context.view_layer.update()
    begin = clocks()
    bpy.ops.object.add_fracture_cell_objects(source={"VERT_CHILD"}, source_limit=0, source_noise=0.0, recursion=0, margin=0.0,
        use_sharp_edges_apply=False, use_recenter=False, use_remove_original=False, use_island_split=False,
        collection_name="cells")
    return begin, clocks(), list(bpy.data.collections["cells"].objects)


def exact_boolean(source, cells):
    begin, made = clocks(), []
    for corners in cells:
        b = bmesh.new()
        for p in corners:
            b.verts.new(p)
        bmesh.ops.convex_hull(b, input=b.verts[:])
        bmesh.ops.recalc_face_normals(b, faces=b.faces[:])
        cell = make_object("cell", [], [])
        b.to_mesh(cell.data)
        b.free()
        boolean = cell.modifiers.new("boolean", "BOOLEAN")
        boolean.object, boolean.operation, boolean.solver = source, "INTERSECT", "EXACT"
        made.append(cell)
    bpy.context.view_layer.update()
    graph = bpy.context.evaluated_depsgraph_get()
    for cell in made:
        cell.data = bpy.data.meshes.new_from_object(cell.evaluated_get(graph))
        cell.modifiers.clear()
    return begin, clocks(), made


def clocks():
    return time.process_time(), time.monotonic()


for old in list(bpy.data.objects):
    bpy.data.objects.remove(old)
source = make_object("source", *read_obj(mesh_path))
if mode == "cell-fracture":
    bpy.ops.preferences.addon_enable(module="object_fracture_cell")
    with open(sites_path) as f:
        begin, end, pieces = cell_fracture(source, [tuple(map(float, line.split())) for line in f])
else:
    with open(cells_path) as f:
        begin, end, pieces = exact_boolean(source, json.load(f))
found = [measure(p.data) for p in pieces if len(p.data.polygons)]
print("RESULT " + json.dumps({
    "cpu_ms": (end[0] - begin[0]) * 1e3,
    "wall_ms": (end[1] - begin[1]) * 1e3,
    "pieces": len(found),
    "triangles": sum(f[1] for f in found),
    "volume": sum(f[0] for f in found),
    "source_volume": measure(source.data)[0],
    "open_pieces": sum(f[2] for f in found),
}), flush=True)
