#!/usr/bin/env python3
"""Times nodes and their phases in whole evaluations, one process each, without a cache.

  bench_graph.py [BUILD] [--graph FILE | --nodes] [--triangles N,…] [--pieces N,…] [--runs N] [--threads N]

Without a graph: read, weld, cut, contacts, clusters, hulls, GLB and .rbl of the bumpy sphere, for every mixture of triangles and
pieces (default 20000,300000 and 1000). --nodes adds a node of every family behind that. With a graph: that one as it is.

Rows are those of bench.h. `case` is the graph; `part` is `whole` (the process, with start and end), a node (its id and type), or a phase
of a node: `cut: flood`, `repair: weld`, … Peak is that of the process.
"""
import argparse
import os
import sys
import tempfile

import bench_common as common


def chain(mesh, sites):
    return {"rubble": 1, "nodes": {
        "mesh": {"type": "MeshToCollection", "params": {"file": mesh}},
        "sites": {"type": "MakePoints", "params": {"file": sites}},
        "cut": {"type": "VoronoiFracture", "in": {"collection": "mesh", "points": "sites"}},
        "near": {"type": "Proximity", "in": {"collection": "cut"}, "params": {"contact_area": "geometry",
            "connection_graph": True}},
        "groups": {"type": "AutoCluster", "in": {"collection": "near"}, "params": {"by": "fraction"}},
        "hulls": {"type": "CreateLeafConvexHulls", "in": {"collection": "groups"}},
        "end": {"type": "Terminal", "in": {"collection": "hulls"}, "params": {"files": ["a.glb", "a.rbl"]}}}}


def every_family(graph, pieces):
    """Adds nodes of the catalogue's families, each on the mesh, the pieces or the clusters."""
    count = {"count": pieces}
    on = {"mesh": [
        ("ScatterPoints", dict(count, inside_only=True)), ("VolumePoints", dict(count, count=min(pieces, 1000))),
        ("SurfacePoints", {"radius": 0.05}), ("ImpactPoints", {"at": [[1, 0, 0]], "count": pieces}),
        ("MeshVertexPoints", {"skip_fraction": 0.5}), ("CollisionSamples", {}), ("RecomputeNormals", {}),
        ("BoxProjectUV", {}), ("SliceCutter", {"slices": [8, 8, 8]}), ("PlaneCutter", {"random_planes": 12}),
        ("BrickCutter", {"length": 0.3, "height": 0.15, "depth": 0.15}), ("UniformFracture", {"min_sites": pieces,
            "max_sites": pieces}), ("NegativeSpaceSpheres", {}),
    ], "cut": [
        ("FixTinyGeo", {"relative_volume": 0.02}), ("SplitIslands", {}), ("SelectLeaves", {}), ("SelectBySize", {}),
        ("SelectByVolume", {}), ("SelectRandom", {}), ("ConnectionGraph", {"method": "delaunay"}),
        ("ExplodedView", {}), ("ColorPieces", {}), ("ValidateCollection", {}), ("SetMass", {}), ("AutoUnwrapUV", {}),
    ], "near": [
        ("ClusterMergeToNeighbors", {}), ("SelectContact", {}), ("ClusterMagnet", {}), ("SetAnchored", {}), ("SetDamageThresholds", {}),
        ("SetRemoval", {}), ("SetSimulationType", {}), ("Flatten", {}),
    ], "hulls": [
        ("SimplifyConvexHulls", {}), ("ClusterConvexHulls", {}), ("ClearConvexHulls", {}), ("SetColliders", {}),
        ("MergeConvexHulls", {}), ("Table", {}),
    ]}
    for source, nodes in on.items():
        for type_, params in nodes:
            chosen = {"selection": "SelectRandom"} if type_ in ("SelectContact", "ClusterMagnet") else {}
            graph["nodes"][type_] = {"type": type_, "in": {"collection": source, **chosen}, "params": params}
    return graph


def measure(table, build, case, graph, folder, a, triangles=None, pieces=None):
    rubble = os.path.join(build, "rubble")
    made = [common.evaluate(rubble, graph, folder, threads=a.threads, trace=True) for _ in range(a.runs)]
    size = {"triangles": triangles, "pieces": pieces, "threads": a.threads}
    table.row(case, "whole", [m["cpu"] for m in made], [m["wall"] for m in made], peak_mb=max(m["peak_mb"] for m in made), **size)
    for node, type_ in made[0]["types"].items():
        name = node if node == type_ else f"{node} ({type_})"
        table.row(case, name, [m["nodes"][node][0] for m in made], [m["nodes"][node][1] for m in made], **size)
        for key in (k for k in made[0]["phases"] if k[0] == node):
            times = [m["phases"].get(key, (0, 0)) for m in made]
            table.row(case, f"{node}: {key[1]}", [t[0] for t in times], [t[1] for t in times], **size)


def numbers(text):
    return [int(n) for n in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default=os.path.join(common.ROOT, "build"))
    parser.add_argument("--graph")
    parser.add_argument("--nodes", action="store_true")
    parser.add_argument("--triangles", type=numbers, default=[20000, 300000])
    parser.add_argument("--pieces", type=numbers, default=[1000])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    a = parser.parse_args()
    build = os.path.abspath(a.build)
    table = common.Rows("graph", common.machine_of(build))
    with tempfile.TemporaryDirectory(prefix="rubble-bench-") as folder:
        if a.graph:
            measure(table, build, os.path.basename(a.graph), os.path.abspath(a.graph), folder, a)
            return
        for triangles in a.triangles:
            for pieces in a.pieces:
                mesh, sites = common.make_input(build, folder, triangles, pieces, ".obj", ".json")
                graph = chain(mesh, sites)
                if a.nodes:
                    graph = every_family(graph, pieces)
                measure(table, build, "every node" if a.nodes else "chain", graph, folder, a, triangles, pieces)


if __name__ == "__main__":
    main()
