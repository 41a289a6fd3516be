#!/usr/bin/env python3
"""rubble inspect: what it says of a collection, and what it warns of: test_inspect.py RUBBLE"""
import fcntl
import json
import os
import pty
import struct
import subprocess
import termios

from harness import RUBBLE, boxes, main, make_rbl, rubble, write_text

CUBE = boxes(("a", (0, 0, 0), (1, 1, 1)))


def mesh(file):
    return {"src": {"type": "MeshToCollection", "params": {"file": file}}}


def concerns(folder, file):
    told = json.loads(rubble(folder, "inspect", file, "--json").expect(0).out)["concerns"]
    return {c["code"]: c for c in told}


def fractured(folder, pieces=12):
    write_text(folder, "cube.obj", CUBE)
    nodes = dict(mesh("cube.obj"),
        sites={"type": "ScatterPoints", "in": {"collection": "src"}, "params": {"count": pieces}},
        crack={"type": "VoronoiFracture", "in": {"collection": "src", "points": "sites"}},
        near={"type": "Proximity", "in": {"collection": "crack"}, "params": {"contact_area": "geometry", "connection_graph": True}},
        hulls={"type": "CreateLeafConvexHulls", "in": {"collection": "near"}})
    return make_rbl(folder, "cube", nodes, "hulls")


def test_a_finished_asset(folder):
    file = fractured(folder)
    told = rubble(folder, "inspect", file).expect(0, "bones      14 (2 clusters, 3 levels)", "levels     0: 1 cluster · 1: 1 cluster · 2: 12 pieces",
        "draw calls 24 (one a piece and material; 12 with one material)", "hulls      12, ", "contacts   ", "connected  ",
        "in an engine: ", "… 4 more")
    assert all(len(line) <= 120 and line == line.rstrip() for line in told.out.splitlines()), told.out
    told.lacks("look at")
    assert told.out.count(" triangles, volume ") == 8, told.out
    rubble(folder, "inspect", file, "--depth", "0").expect(0, "root").lacks(" triangles, volume ")
    assert rubble(folder, "inspect", file, "--bones").expect(0).out.count(" triangles, volume ") == 12
    rubble(folder, "inspect", file, "--attributes").expect(0, "geometry   12, ", "name string", "points list of vec3")
    rubble(folder, "inspect", file, "--fail-on", "warning").expect(0)
    rubble(folder, "inspect", file, "--fail-on", "note").expect(2, "--fail-on takes")


def on_terminal(folder, columns, *arguments):
    """What the command prints on a terminal of that width."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([RUBBLE, *arguments], cwd=folder, stdout=its, stderr=subprocess.DEVNULL)
    os.close(its)
    out = b""
    try:
        while part := os.read(ours, 4096):
            out += part
    except OSError:  # Linux says so at the end
        pass
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return out.decode().replace("\r\n", "\n")


def test_lines_are_as_wide_as_the_terminal(folder):
    file = fractured(folder)
    whole = rubble(folder, "inspect", file, "--attributes").expect(0).out
    for columns in (200, 80, 60):
        told = on_terminal(folder, columns, "inspect", file, "--attributes")
        assert max(map(len, told.splitlines())) <= columns, told
        assert told.split() == whole.split(), told  # not a word is lost or cut
        assert (told == whole) == (max(map(len, whole.splitlines())) <= columns), told
    told = on_terminal(folder, 60, "inspect", file)
    assert "\n  levels     0: 1 cluster · 1: 1 cluster · 2: 12 pieces\n" in told, told
    assert "of 32 B,\n             indices" in told, told


def test_json_agrees_with_the_file(folder):
    file = fractured(folder)
    told = json.loads(rubble(folder, "inspect", file, "--json", "--bones").expect(0).out)
    assert [l["pieces"] for l in told["levels"]] == [0, 0, 12] and [l["clusters"] for l in told["levels"]] == [1, 1, 0]
    assert told["engine"]["draw_calls"] == 24 and told["engine"]["fewest_draw_calls"] == 12
    assert told["hulls"]["count"] == 12 and told["hulls"]["least_vertices"] >= 4
    assert told["contacts"]["least"] >= 1 and told["contacts"]["area"] > 0 and told["connections"]["count"] == told["contacts"]["count"]
    assert told["groups"]["bone"]["count"] == 14 and told["groups"]["bone"]["attributes"]["name"]["type"] == "string"
    assert told["groups"]["vertex"]["attributes"]["position"]["bytes"] == 24 * told["groups"]["vertex"]["count"]
    assert told["concerns"] == [] and len(told["bones"]) == 14
    # Vertices as drawn: as many as the .glb has.
    write_text(folder, "glb.json", json.dumps({"rubble": 1, "nodes": {"src": {"type": "LoadCollection", "params": {"file": file}},
        "end": {"type": "Terminal", "in": {"collection": "src"}, "params": {"files": ["cube.glb"]}}}}))
    rubble(folder, "eval", "glb.json").expect(0)
    with open(os.path.join(folder, "out", "cube.glb"), "rb") as f:
        data = f.read()
    scene = json.loads(data[20:20 + int.from_bytes(data[12:16], "little")])
    primitives = [p for m in scene["meshes"] for p in m["primitives"] if "NORMAL" in p["attributes"]]
    assert len(primitives) == 24
    assert sum(scene["accessors"][i]["count"] for i in {p["attributes"]["POSITION"] for p in primitives}) == told["engine"]["vertices"]


def test_a_mesh_gets_no_advice_on_what_it_cannot_have(folder):
    write_text(folder, "two.obj", boxes(("a", (0, 0, 0), (1, 1, 1)), ("b", (2, 0, 0), (4, 1, 1))))
    rubble(folder, "inspect", "two.obj").expect(0, "pieces     2, volume 1 (a) … 2 (b)").lacks("look at")


def test_results_of_graphs(folder):
    fractured(folder)
    rubble(folder, "inspect", "cube.json").expect(0, "pieces     12", "contacts   ")
    rubble(folder, "inspect", "cube.json", "--node", "src").expect(0, "pieces     1\n").lacks("contacts   ")
    rubble(folder, "inspect", "cube.json", "--node", "scr").expect(2, 'did you mean "src"?')


def test_a_mesh_is_no_graph(folder):
    write_text(folder, "cube.obj", CUBE)
    for command in ("eval", "check", "explain", "dot", "fmt"):
        rubble(folder, command, "cube.obj").expect(2, f"rubble {command} takes a graph (.json), and cube.obj is a mesh: `rubble inspect`")


def test_slivers_tiny_pieces_and_what_touches_nothing(folder):
    write_text(folder, "m.obj", boxes(("wall", (0, 0, 0), (2, 2, 1)), ("sheet", (0, 0, 1), (2, 2, 1.01)), ("crumb", (0, 2, 0), (.005, 2.005, .005)),
        ("moon", (9, 9, 9), (10, 10, 10))))
    nodes = dict(mesh("m.obj"), near={"type": "Proximity", "in": {"collection": "src"}})
    file = make_rbl(folder, "m", nodes, "near")
    told = concerns(folder, file)
    assert told["sliver_pieces"]["names"] == ["sheet"] and told["tiny_pieces"]["names"] == ["crumb"], told
    assert told["no_contact"]["names"] == ["moon"] and told["no_hulls"]["severity"] == "note", told
    assert set(told) == {"sliver_pieces", "tiny_pieces", "no_contact", "no_hulls"}
    rubble(folder, "inspect", file).expect(0, "look at", "1 piece touches no other: nothing holds it (moon)")
    rubble(folder, "inspect", file, "--fail-on", "warning").expect(1, "3 warnings, and --fail-on warning was given")
    told = concerns(folder, make_rbl(folder, "far", mesh("m.obj"), "src"))
    assert "no_contacts" in told and "no_contact" not in told


def test_hulls_beyond_what_engines_take(folder):
    nodes = {"ball": {"type": "MakePrimitive", "params": {"shape": "sphere", "segments": 48}}}
    for budget, expected in ((1000, {"hull_vertices", "hull_triangles"}), (200, {"hull_triangles", "hull_gpu"}), (100, {"hull_gpu"}), (64, set())):
        nodes["hulls"] = {"type": "CreateLeafConvexHulls", "in": {"collection": "ball"}, "params": {"max_vertices": budget}}
        told = concerns(folder, make_rbl(folder, f"ball{budget}", nodes, "hulls"))
        assert set(told) == expected, (budget, told)


def test_pieces_without_a_hull(folder):
    file = fractured(folder)
    nodes = {"src": {"type": "LoadCollection", "params": {"file": os.path.join(folder, file)}},
        "some": {"type": "SelectCustom", "in": {"collection": "src"}, "params": {"bones": "2, 3"}},
        "clear": {"type": "ClearConvexHulls", "in": {"collection": "src", "selection": "some"}}}
    told = concerns(folder, make_rbl(folder, "bare", nodes, "clear"))
    assert told["no_hull"]["count"] == 2 and len(told["no_hull"]["names"]) == 2, told


def test_clusters_of_one(folder):
    file = fractured(folder)
    nodes = {"src": {"type": "LoadCollection", "params": {"file": os.path.join(folder, file)}},
        "one": {"type": "SelectCustom", "in": {"collection": "src"}, "params": {"bones": "5"}},
        "alone": {"type": "Cluster", "in": {"collection": "src", "selection": "one"}, "params": {"name": "lonely", "clusters_of_one": True}}}
    told = concerns(folder, make_rbl(folder, "one", nodes, "alone"))
    assert told["clusters_of_one"]["names"] == ["lonely"], told


def test_textures_without_uvs(folder):
    write_text(folder, "m.mtl", "newmtl skin\nmap_Kd skin.png\n")
    with open(os.path.join(folder, "skin.png"), "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + b"\0" * 32)
    cube = CUBE.replace("o a\n", "mtllib m.mtl\no a\nusemtl skin\n")
    write_text(folder, "bare.obj", cube)
    told = concerns(folder, "bare.obj")
    assert told["no_uvs"]["names"] == ["skin"], told
    nodes = dict(mesh("bare.obj"), uv={"type": "BoxProjectUV", "in": {"collection": "src"}, "params": {"faces": "all"}})
    assert "no_uvs" not in concerns(folder, make_rbl(folder, "mapped", nodes, "uv"))
    write_text(folder, "flat.obj", cube.replace("o a\n", "o a\nvt 0.5 0.5\n").replace("f 1 2 4 3", "f 1/1 2/1 4/1 3/1").replace(
        "f 5 7 8 6", "f 5/1 7/1 8/1 6/1").replace("f 1 5 6 2", "f 1/1 5/1 6/1 2/1").replace("f 3 4 8 7", "f 3/1 4/1 8/1 7/1"))
    assert concerns(folder, "flat.obj")["flat_uvs"]["names"] == ["skin"]


if __name__ == "__main__":
    main(globals())
