"""What Blender makes of files: blender -b --factory-startup --python blender_facts.py -- FACTS.json FILE…

Each file (.glb, .obj) is imported into an empty scene. FACTS.json gets, for each file, its objects with their parents,
materials, UV layers, custom properties, triangles, volumes and bounds in the world, and open edges (in a .glb after its split
vertices of equal place are joined)."""
import json
import sys
import traceback

import bmesh
import bpy
import numpy

numpy.bool = bool  # Blender 3.4's glTF add-on uses a name that Debian's numpy 1.24 no longer has


def clear():
    bpy.ops.wm.read_factory_settings(use_empty=True)


def load(path):
    if path.endswith(".obj"):
        bpy.ops.wm.obj_import(filepath=path)  # turns Y up to Z up with a matrix of the object
    else:
        bpy.ops.import_scene.gltf(filepath=path)
    bpy.context.view_layer.update()


def open_edges(mesh, weld):
    """Directed edges that are not met once by their reverse; `weld`: vertices of equal place are one."""
    places, edges = {}, {}
    ids = [places.setdefault(tuple(v.co), len(places)) if weld else v.index for v in mesh.vertices]
    for polygon in mesh.polygons:
        corners = [ids[v] for v in polygon.vertices]
        for a, b in zip(corners, corners[1:] + corners[:1]):
            edges[a, b] = edges.get((a, b), 0) + 1
    return sum(n != edges.get((b, a), 0) or n != 1 for (a, b), n in edges.items())


def mesh_facts(o, weld):
    mesh = bmesh.new()
    mesh.from_mesh(o.data)
    mesh.transform(o.matrix_world)
    # Blender's world has Z up: files have (x, y, z) = (X, Z, -Y) of it.
    places = [(v.co.x, v.co.z, -v.co.y) for v in mesh.verts]
    facts = {
        "triangles": len(mesh.faces),
        "polygon_sizes": sorted({len(f.verts) for f in mesh.faces}),
        "volume": mesh.calc_volume(signed=True),
        "min": [min(p[k] for p in places) for k in range(3)],
        "max": [max(p[k] for p in places) for k in range(3)],
        "materials": [m.name if m else None for m in o.data.materials],
        "uv_layers": [l.name for l in o.data.uv_layers],
        "used_materials": sorted({f.material_index for f in mesh.faces}),
    }
    layer = mesh.loops.layers.uv.active
    if layer:
        uvs = [l[layer].uv for f in mesh.faces for l in f.loops]
        facts["uv_min"], facts["uv_max"] = ([f(u[k] for u in uvs) for k in range(2)] for f in (min, max))
    mesh.free()
    facts["open_edges"] = open_edges(o.data, weld)
    return facts


def plain(value):
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return value.to_list() if hasattr(value, "to_list") else value


def object_facts(o, weld):
    facts = {"name": o.name, "type": o.type, "parent": o.parent.name if o.parent else None,
             "properties": {k: plain(o[k]) for k in o.keys() if not k.startswith("_")}}
    if o.type == "MESH":
        facts.update(mesh_facts(o, weld))
    return facts


def material_facts(m):
    facts = {"name": m.name, "images": []}
    for node in m.node_tree.nodes if m.use_nodes else []:
        if node.type == "BSDF_PRINCIPLED":
            facts["color"] = list(node.inputs["Base Color"].default_value)
        if node.type == "TEX_IMAGE" and node.image:
            facts["images"].append({"name": node.image.name, "size": list(node.image.size)})
    return facts


def main():
    out, *files = sys.argv[sys.argv.index("--") + 1:]
    facts = {"version": bpy.app.version_string}
    for path in files:
        clear()
        load(path)
        facts[path] = {"objects": [object_facts(o, path.endswith(".glb")) for o in bpy.data.objects],
                       "materials": [material_facts(m) for m in bpy.data.materials]}
    with open(out, "w") as f:
        json.dump(facts, f)


try:
    main()
except Exception:  # Blender itself would go on and exit with 0
    traceback.print_exc()
    sys.exit(1)
