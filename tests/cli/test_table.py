#!/usr/bin/env python3
"""rubble table: rows, columns, orders and conditions: test_table.py RUBBLE"""
import csv
import io
import json
import subprocess

from harness import RUBBLE, boxes, main, make_rbl, rubble, write_text

MESH = boxes(("big", (0, 0, 0), (2, 2, 2)), ("small", (3, 0, 0), (3.1, .1, .1)), ("mid, \"odd\"", (5, 0, 0), (6, 1, 1)))


def table(folder, *arguments):
    return json.loads(rubble(folder, "table", *arguments, "--json").expect(0).out)


def test_text_is_aligned_and_short(folder):
    write_text(folder, "m.obj", MESH)
    told = rubble(folder, "table", "m.obj", "--columns", "name,parent.name,geometry.volume,index").expect(0).out.splitlines()
    assert len(told) == 5 and told[0].split() == ["name", "parent.name", "geometry.volume", "index"]
    assert len({len(line) for line in told}) == 1 and all(line == line.rstrip() for line in told), told
    assert told[1].split()[1:] == ["-", "-", "0"] and told[2].split() == ["big", "root", "8", "1"]
    rubble(folder, "table", "m.obj").expect(0, "name", "level", "geometry.face_count").lacks("anchored")


def test_columns_of_all_kinds(folder):
    write_text(folder, "m.obj", MESH)
    rows = table(folder, "m.obj", "--columns", "name,geometry.bounds_max,anchored,parent,parent.level,geometry.index")
    assert rows[1] == {"name": "big", "geometry.bounds_max": [2, 2, 2], "anchored": False, "parent": 0, "parent.level": 0, "geometry.index": 0}
    assert rows[0]["geometry.bounds_max"] is None and rows[0]["parent.level"] is None
    assert [r["geometries"] for r in table(folder, make_rbl(folder, "near", {"src": {"type": "MeshToCollection", "params": {"file": "m.obj"}},
        "near": {"type": "Proximity", "in": {"collection": "src"}, "params": {"method": "convex_hull", "distance_threshold": 1}}}, "near"),
        "--group", "proximity")] == [[0, 1]]
    every = table(folder, "m.obj", "--columns", "all")
    assert {"name", "level", "parent", "type"} < set(every[0]) and "transform" not in every[0]
    assert len(table(folder, "m.obj", "--group", "face")) == 36


def test_csv_is_read_back(folder):
    write_text(folder, "m.obj", MESH)
    told = rubble(folder, "table", "m.obj", "--columns", "name,geometry.volume,geometry.bounds_max", "--csv").expect(0).out
    rows = list(csv.reader(io.StringIO(told)))
    assert rows[0] == ["name", "geometry.volume", "geometry.bounds_max_x", "geometry.bounds_max_y", "geometry.bounds_max_z"]
    assert rows[1] == ["root", "", "", "", ""] and rows[4][0] == 'mid, "odd"' and len(rows) == 5, rows
    exact = {r["name"]: r["geometry.volume"] for r in table(folder, "m.obj", "--columns", "name,geometry.volume")}
    assert all(float(row[1]) == exact[row[0]] for row in rows[2:])
    rubble(folder, "table", "m.obj", "--csv", "--json").expect(2, "not both")


def test_sorted_chosen_and_limited(folder):
    write_text(folder, "m.obj", MESH)
    names = lambda *a: [r["name"] for r in table(folder, "m.obj", "--columns", "name", *a)]
    assert names("--sort", "geometry.volume") == ["small", 'mid, "odd"', "big", "root"]
    assert names("--sort", "-geometry.volume") == ["big", 'mid, "odd"', "small", "root"]
    assert names("--sort=-name", "--limit", "2") == ["small", "root"]
    assert names("--where", "geometry.volume<1.0001") == ["small", 'mid, "odd"']
    assert names("--where", "geometry.volume>=1", "--where", "name!=b*") == ['mid, "odd"']
    assert names("--where", "name=*m*") == ["small", 'mid, "odd"']
    assert names("--where", "anchored=false", "--where", "level=1", "--where", "index<=2") == ["big", "small"]
    assert names("--where", "name=nobody") == []
    rubble(folder, "table", "m.obj", "--where", "name=nobody", "--csv").expect(0, "name")


def test_mistakes_name_the_place_and_the_nearest(folder):
    write_text(folder, "m.obj", MESH)
    bad = lambda *a: rubble(folder, "table", "m.obj", *a)
    bad("--columns", "name,volme").expect(2, '--columns: there is no attribute "volme" in bone', "attributes: anchored")
    bad("--columns", "geometry.volme").expect(2, 'in geometry', 'did you mean "geometry.volume"?')
    bad("--columns", "level.name").expect(2, '"level" of bone points to no other group')
    bad("--columns", "transform").expect(2, "a list or a matrix")
    bad("--sort", "-nmae").expect(2, '--sort: there is no attribute "nmae"', 'did you mean "name"?')
    bad("--sort", "geometry.bounds_min").expect(2, "no single number")
    bad("--group", "bones").expect(2, '--group: there is no group "bones"', 'did you mean "bone"?', "groups: bone, corner")
    bad("--where", "level").expect(2, "--where needs ATTRIBUTE=VALUE")
    bad("--where", "level<two").expect(2, "and a number")
    bad("--where", "name<b").expect(2, "texts are compared by = or != alone")
    bad("--limit", "-1").expect(2, "--limit needs a number from 0")
    rubble(folder, "table", "nowhere.obj").expect(3, "nowhere.obj")


def test_results_of_graphs(folder):
    write_text(folder, "g.json", json.dumps({"rubble": 1, "vars": {"n": {"type": "int", "default": 4}},
        "nodes": {"box": {"type": "MakePrimitive"}, "sites": {"type": "ScatterPoints", "in": {"collection": "box"}, "params": {"count": {"var": "n"}}},
            "crack": {"type": "VoronoiFracture", "in": {"collection": "box", "points": "sites"}}}}))
    assert len(table(folder, "g.json", "--set", "n=7", "--where", "level=2")) == 7
    assert len(table(folder, "g.json", "--node", "box")) == 2
    rubble(folder, "table", "g.json", "--node", "bxo").expect(2, 'no node "bxo"', 'did you mean "box"?')
    rubble(folder, "table", "g.json", "--node", "sites").expect(1, 'node "sites" gives no collection')


def test_a_reader_that_goes_away_is_no_mistake(folder):
    write_text(folder, "m.obj", MESH)
    reader = subprocess.Popen(["true"], stdin=subprocess.PIPE)
    reader.wait()
    process = subprocess.run([RUBBLE, "table", "m.obj", "--group", "corner"], cwd=folder, stdout=reader.stdin, stderr=subprocess.PIPE, text=True)
    assert process.returncode == 3 and process.stderr == "", process


if __name__ == "__main__":
    main(globals())
