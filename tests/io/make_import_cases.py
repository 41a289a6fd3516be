#!/usr/bin/env python3
"""Writes tests/io/import/: one scene as FBX (text and binary), DAE and 3MF (packed and stored), in centimetres, centimetres
with z up, and millimetres.

The scene in metres with y up: `block`, a box from (-1, 0, -0.5) to (1, 1, 0.5) of the material `red` with the texture paint.png
and a concave cap as one polygon; on it `tower`, a unit cube scaled by a half and moved to (0.5, 1, 0), of the material `blue`.
"""
import os
import struct
import zipfile
import zlib

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "import")

# Faces counter-clockwise from outside.
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def box(low, high):
    points = [(low[0] if i < 4 else high[0], low[1] if i % 4 < 2 else high[1], low[2] if i % 2 == 0 else high[2])
        for i in range(8)]
    return points, QUADS


def prism(high):
    """An L seen from the front: the front and the back are concave polygons of six corners."""
    outline = [(-1, 0), (1, 0), (1, 0.5), (0, 0.5), (0, high), (-1, high)]
    points = [(x, y, z) for z in (0.5, -0.5) for x, y in outline]
    faces = [tuple(range(6)), tuple(range(11, 5, -1))]
    faces += [(i, i + 6, (i + 1) % 6 + 6, (i + 1) % 6) for i in range(6)]
    return points, faces


BLOCK = prism(1)
TOWER = box((-0.5, 0, -0.5), (0.5, 1, 0.5))


def normal(points, face):
    a, b, c = (points[face[i]] for i in range(3))
    u, v = [b[k] - a[k] for k in range(3)], [c[k] - a[k] for k in range(3)]
    n = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    length = sum(x * x for x in n) ** 0.5
    return tuple(x / length for x in n)


def uv(p):
    return (p[0] / 4 + 0.5, p[1])


def numbers(values):
    return ",".join(f"{v:.9g}" for v in values)


def png(color):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(b"\0" + bytes(color))) + chunk(b"IEND", b""))


def fbx_geometry(number, points, faces):
    flat = [100 * x for p in points for x in p]
    indices = [i if k + 1 < len(f) else -i - 1 for f in faces for k, i in enumerate(f)]
    normals = [x for f in faces for _ in f for x in normal(points, f)]
    uvs = [x for f in faces for i in f for x in uv(points[i])]
    return f"""	Geometry: {number}, "Geometry::", "Mesh" {{
		Vertices: *{len(flat)} {{
			a: {numbers(flat)}
		}}
		PolygonVertexIndex: *{len(indices)} {{
			a: {numbers(indices)}
		}}
		GeometryVersion: 124
		LayerElementNormal: 0 {{
			Version: 101
			Name: ""
			MappingInformationType: "ByPolygonVertex"
			ReferenceInformationType: "Direct"
			Normals: *{len(normals)} {{
				a: {numbers(normals)}
			}}
		}}
		LayerElementUV: 0 {{
			Version: 101
			Name: "map"
			MappingInformationType: "ByPolygonVertex"
			ReferenceInformationType: "Direct"
			UV: *{len(uvs)} {{
				a: {numbers(uvs)}
			}}
		}}
		LayerElementMaterial: 0 {{
			Version: 101
			Name: ""
			MappingInformationType: "AllSame"
			ReferenceInformationType: "IndexToDirect"
			Materials: *1 {{
				a: 0
			}}
		}}
		Layer: 0 {{
			Version: 100
			LayerElement:  {{
				Type: "LayerElementNormal"
				TypedIndex: 0
			}}
			LayerElement:  {{
				Type: "LayerElementMaterial"
				TypedIndex: 0
			}}
			LayerElement:  {{
				Type: "LayerElementUV"
				TypedIndex: 0
			}}
		}}
	}}
"""


def fbx_model(number, name, move, scale):
    return f"""	Model: {number}, "Model::{name}", "Mesh" {{
		Version: 232
		Properties70:  {{
			P: "Lcl Translation", "Lcl Translation", "", "A",{numbers(move)}
			P: "Lcl Scaling", "Lcl Scaling", "", "A",{numbers([scale] * 3)}
		}}
		Shading: T
		Culling: "CullingOff"
	}}
"""


def fbx_material(number, name, color):
    return f"""	Material: {number}, "Material::{name}", "" {{
		Version: 102
		ShadingModel: "phong"
		MultiLayer: 0
		Properties70:  {{
			P: "DiffuseColor", "Color", "", "A",{numbers(color)}
		}}
	}}
"""


def write_fbx():
    text = """; FBX 7.4.0 project file
FBXHeaderExtension:  {
	FBXHeaderVersion: 1003
	FBXVersion: 7400
	Creator: "rubble tests"
}
GlobalSettings:  {
	Version: 1000
	Properties70:  {
		P: "UpAxis", "int", "Integer", "",1
		P: "UpAxisSign", "int", "Integer", "",1
		P: "FrontAxis", "int", "Integer", "",2
		P: "FrontAxisSign", "int", "Integer", "",1
		P: "CoordAxis", "int", "Integer", "",0
		P: "CoordAxisSign", "int", "Integer", "",1
		P: "UnitScaleFactor", "double", "Number", "",1
	}
}
Definitions:  {
	Version: 100
	Count: 6
}
Objects:  {
"""
    text += fbx_geometry(11, *BLOCK) + fbx_geometry(12, *TOWER)
    text += fbx_model(21, "block", (0, 0, 0), 1) + fbx_model(22, "tower", (50, 100, 0), 0.5)
    text += fbx_material(31, "red", (0.8, 0.1, 0.1)) + fbx_material(32, "blue", (0.1, 0.1, 0.8))
    text += """	Texture: 41, "Texture::paint", "" {
		Type: "TextureVideoClip"
		Version: 202
		TextureName: "Texture::paint"
		FileName: "C:\\art\\paint.png"
		RelativeFilename: "paint.png"
	}
}
Connections:  {
	C: "OO",21,0
	C: "OO",22,21
	C: "OO",11,21
	C: "OO",12,22
	C: "OO",31,21
	C: "OO",32,22
	C: "OP",41,31, "DiffuseColor"
}
"""
    return text


def split_fields(text):
    """Fields of a line of a text FBX: strings stay in their quotes."""
    fields, quoted = [""], False
    for c in text:
        quoted ^= c == '"'
        if c == "," and not quoted:
            fields.append("")
        else:
            fields[-1] += c
    return [f.strip() for f in fields if f.strip()]


def binary_property(field, integers):
    """A string, an integer of 64 bits (of 32 in plain nodes), a letter or a double, behind the letter of its type."""
    if field.startswith('"'):
        text = field[1:-1]
        kind, _, name = text.partition("::")  # "Model::block" is kept the other way round
        data = (f"{name}\0\1{kind}" if "::" in text else text).encode()
        return b"S" + struct.pack("<I", len(data)) + data
    if field.isalpha():
        return b"C" + field.encode()
    if "." in field or "e" in field:
        return b"D" + struct.pack("<d", float(field))
    return integers + struct.pack("<q" if integers == b"L" else "<i", int(field))


def binary_array(name, text, packed):
    whole = name in ("PolygonVertexIndex", "Materials")
    values = [int(v) if whole else float(v) for v in text.split(",")]
    data = struct.pack(f"<{len(values)}{'i' if whole else 'd'}", *values)
    data = zlib.compress(data) if packed else data
    return (b"i" if whole else b"d") + struct.pack("<III", len(values), packed, len(data)) + data


def binary_nodes(lines, start):
    """The nodes of a level from line `lines[0]` on, which they take away, as bytes that begin at `start` of the file."""
    out = b""
    while lines and lines[0] != "}":
        line = lines.pop(0)
        name, rest = line.split(":", 1)
        opens = rest.endswith("{")
        fields, children, begin = split_fields(rest.rstrip("{")), b"", start + len(out)
        if fields and fields[0].startswith("*"):  # an array: its values are in a line of their own
            properties = [binary_array(name, lines.pop(0).split(":", 1)[1], name == "Normals")]
            lines.pop(0)
        else:
            numbered = name in ("Geometry", "Model", "Material", "Texture", "C")
            properties = [binary_property(f, b"L" if numbered else b"I") for f in fields]
            if name == "P" and fields[1] in ('"double"', '"Color"', '"Lcl Translation"', '"Lcl Scaling"'):
                properties[4:] = [b"D" + struct.pack("<d", float(f)) for f in fields[4:]]
        head = 13 + len(name) + sum(map(len, properties))
        if opens and not (fields and fields[0].startswith("*")):
            children = binary_nodes(lines, begin + head) + bytes(13)
            lines.pop(0)
        out += struct.pack("<III", begin + head + len(children), len(properties), sum(map(len, properties)))
        out += bytes([len(name)]) + name.encode() + b"".join(properties) + children
    return out


def binary_fbx(text):
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(";")]
    head = b"Kaydara FBX Binary  \0\x1a\0" + struct.pack("<I", 7400)
    return head + binary_nodes(lines, len(head)) + bytes(13)


def dae_geometry(name, points, faces, material):
    turned = [x for p in points for x in (100 * p[0], -100 * p[2], 100 * p[1])]  # z up
    normals = [x for f in faces for n in (normal(points, f),) for x in (n[0], -n[2], n[1])]
    uvs = [x for p in points for x in uv(p)]

    def source(kind, values, names):
        return f"""      <source id="{name}-{kind}">
        <float_array id="{name}-{kind}-array" count="{len(values)}">{numbers(values).replace(",", " ")}</float_array>
        <technique_common>
          <accessor source="#{name}-{kind}-array" count="{len(values) // len(names)}" stride="{len(names)}">
            {"".join(f'<param name="{n}" type="float"/>' for n in names)}
          </accessor>
        </technique_common>
      </source>
"""
    corners = " ".join(f"{i} {f} {i}" for f, face in enumerate(faces) for i in face)
    return f"""    <geometry id="{name}-mesh" name="{name}">
      <mesh>
{source("positions", turned, "XYZ")}{source("normals", normals, "XYZ")}{source("uvs", uvs, "ST")}\
      <vertices id="{name}-vertices"><input semantic="POSITION" source="#{name}-positions"/></vertices>
      <polylist material="{material}" count="{len(faces)}">
        <input semantic="VERTEX" source="#{name}-vertices" offset="0"/>
        <input semantic="NORMAL" source="#{name}-normals" offset="1"/>
        <input semantic="TEXCOORD" source="#{name}-uvs" offset="2" set="0"/>
        <vcount>{" ".join(str(len(f)) for f in faces)}</vcount>
        <p>{corners}</p>
      </polylist>
      </mesh>
    </geometry>
"""


def write_dae():
    def effect(name, diffuse, more=""):
        return f"""    <effect id="{name}-effect">
      <profile_COMMON>
{more}        <technique sid="common"><lambert><diffuse>{diffuse}</diffuse></lambert></technique>
      </profile_COMMON>
    </effect>
"""

    def node(name, matrix, child=""):
        material = {"block": "red", "tower": "blue"}[name]
        return f"""<node id="{name}" name="{name}" type="NODE">
        <matrix sid="transform">{matrix}</matrix>
        <instance_geometry url="#{name}-mesh">
          <bind_material><technique_common>
            <instance_material symbol="{material}" target="#{material}">
              <bind_vertex_input semantic="map" input_semantic="TEXCOORD" input_set="0"/>
            </instance_material>
          </technique_common></bind_material>
        </instance_geometry>
        {child}</node>
"""
    paint = """        <newparam sid="paint-surface"><surface type="2D"><init_from>paint</init_from></surface></newparam>
        <newparam sid="paint-sampler"><sampler2D><source>paint-surface</source></sampler2D></newparam>
"""
    tower = node("tower", "0.5 0 0 50 0 0.5 0 0 0 0 0.5 100 0 0 0 1")
    return f"""<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset>
    <created>2026-01-01T00:00:00</created>
    <modified>2026-01-01T00:00:00</modified>
    <unit name="centimeter" meter="0.01"/>
    <up_axis>Z_UP</up_axis>
  </asset>
  <library_images><image id="paint" name="paint"><init_from>paint.png</init_from></image></library_images>
  <library_effects>
{effect("red", '<texture texture="paint-sampler" texcoord="map"/>', paint)}\
{effect("blue", '<color>0.1 0.1 0.8 1</color>')}  </library_effects>
  <library_materials>
    <material id="red" name="red"><instance_effect url="#red-effect"/></material>
    <material id="blue" name="blue"><instance_effect url="#blue-effect"/></material>
  </library_materials>
  <library_geometries>
{dae_geometry("block", *BLOCK, "red")}{dae_geometry("tower", *TOWER, "blue")}  </library_geometries>
  <library_visual_scenes>
    <visual_scene id="scene" name="scene">
      {node("block", "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1", tower)}    </visual_scene>
  </library_visual_scenes>
  <scene><instance_visual_scene url="#scene"/></scene>
</COLLADA>
"""


def triangles(faces):
    """Polygons cut so that the six-cornered ones stay inside their outline."""
    cuts = {3: [(0, 1, 2)], 4: [(0, 1, 2), (0, 2, 3)]}
    for f in faces:
        if len(f) == 6:
            start = 3 if f[0] == 0 else 2  # the corner that is bent inwards
            for i in range(4):
                yield f[start], f[(start + i + 1) % 6], f[(start + i + 2) % 6]
        else:
            for a, b, c in cuts[len(f)]:
                yield f[a], f[b], f[c]


def write_3mf(path, method):
    def thing(number, name, mesh, color):
        points = "".join(f'<vertex x="{1000 * x:.9g}" y="{-1000 * z:.9g}" z="{1000 * y:.9g}"/>' for x, y, z in mesh[0])
        corners = "".join(f'<triangle v1="{a}" v2="{b}" v3="{c}"/>' for a, b, c in triangles(mesh[1]))
        return (f'<object id="{number}" name="{name}" type="model" pid="1" pindex="{color}"><mesh><vertices>{points}'
            f"</vertices><triangles>{corners}</triangles></mesh></object>")
    model = ('<?xml version="1.0" encoding="UTF-8"?>\n'
        '<model unit="millimeter" xml:lang="en-US" xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02">'
        '<resources><basematerials id="1"><base name="red" displaycolor="#CC1A1AFF"/>'
        '<base name="blue" displaycolor="#1A1ACCFF"/></basematerials>'
        + thing(2, "block", BLOCK, 0) + thing(3, "tower", TOWER, 1)
        + '</resources><build><item objectid="2"/>'
        '<item objectid="3" transform="0.5 0 0 0 0.5 0 0 0 0.5 500 0 1000"/></build></model>')
    types = ('<?xml version="1.0" encoding="UTF-8"?>\n'
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="model" ContentType="application/vnd.ms-package.3dmanufacturing-3dmodel+xml"/></Types>')
    relations = ('<?xml version="1.0" encoding="UTF-8"?>\n'
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Target="/3D/3dmodel.model" Id="rel0" '
        'Type="http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"/></Relationships>')
    with zipfile.ZipFile(path, "w", method) as package:
        for name, text in (("[Content_Types].xml", types), ("_rels/.rels", relations), ("3D/3dmodel.model", model)):
            package.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), text, method)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for name, text in (("scene.fbx", write_fbx()), ("scene.dae", write_dae())):
        with open(os.path.join(FOLDER, name), "w") as f:
            f.write(text)
    with open(os.path.join(FOLDER, "paint.png"), "wb") as f:
        f.write(png((200, 40, 40)))
    with open(os.path.join(FOLDER, "binary.fbx"), "wb") as f:
        f.write(binary_fbx(write_fbx()))
    write_3mf(os.path.join(FOLDER, "scene.3mf"), zipfile.ZIP_DEFLATED)
    write_3mf(os.path.join(FOLDER, "stored.3mf"), zipfile.ZIP_STORED)


if __name__ == "__main__":
    main()
