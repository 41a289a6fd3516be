#!/usr/bin/env python3
"""What docs/security.md promises of files: test_security.py RUBBLE

Nothing is written outside of the output folder and the cache's, whatever names a mesh, a graph, a manifest or a folder that
strangers filled has; nothing waits for a pipe, and nothing is read without end. Each function test_… has a folder of its own:
`work` is the working folder in it, and whatever lies beside must stay as it is.
"""
import json
import os
import struct
import subprocess

import harness
from harness import Skip, rubble, write_text

CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + "".join(
    f"f {f}\n" for f in ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"))
SECRET = "nobody writes here\n"


def graph(files=("piece.obj", "piece.glb", "piece.json", "piece.rbl", "piece.usda"), mesh="a.obj"):
    return {"rubble": 1, "vars": {"n": {"type": "int", "default": 3, "min": 1, "max": 100}},
        "nodes": {"src": {"type": "MeshToCollection", "params": {"file": mesh}},
            "sites": {"type": "ScatterPoints", "in": {"collection": "src"}, "params": {"count": {"var": "n"}}},
            "cut": {"type": "VoronoiFracture", "in": {"collection": "src", "points": "sites"}},
            "end": {"type": "Terminal", "in": {"collection": "cut"}, "params": {"files": list(files)}}}}


def prepare(folder, mesh=CUBE, **asked):
    """@return the working folder; beside it lies what must not change"""
    work = os.path.join(folder, "work")
    os.makedirs(work)
    os.makedirs(os.path.join(folder, "elsewhere"))
    write_text(folder, "secret", SECRET)
    write_text(work, "a.obj", mesh)
    write_text(work, "g.json", json.dumps(graph(**asked)))
    return work


def check_outside(folder):
    assert sorted(os.listdir(folder)) == ["elsewhere", "secret", "work"], os.listdir(folder)
    assert os.listdir(os.path.join(folder, "elsewhere")) == [], os.listdir(os.path.join(folder, "elsewhere"))
    with open(os.path.join(folder, "secret")) as f:
        assert f.read() == SECRET


def plain_files(folder):
    out = {}
    for path, folders, names in os.walk(folder):
        for name in names + folders:
            full = os.path.join(path, name)
            assert not os.path.islink(full), full
            if os.path.isfile(full):
                with open(full, "rb") as f:
                    out[os.path.relpath(full, folder)] = f.read()
    return out


HOSTILE = ["../../elsewhere/x", "/tmp/rubble-hostile", "..", ".", "a\\..\\b", "con:1", "-rf", "\x1b[2J", "a\tb", "%n%s", "x" * 3000,
    "<script>", "${HOME}", "$(touch ../../elsewhere/y)", "`id`", "'; rm -rf ~; '"]


def test_names_in_meshes_lead_nowhere(folder):
    mesh = ""
    for i, name in enumerate(HOSTILE):
        mesh += f"o {name}\nusemtl {name}\n" + "".join(
            f"v {int(c[1]) + 3 * i} {c[2]} {c[3]}\n" for c in (l.split() for l in CUBE.splitlines() if l[0] == "v"))
        mesh += "".join("f " + " ".join(str(int(k) + 8 * i) for k in l.split()[1:]) + "\n" for l in CUBE.splitlines() if l[0] == "f")
    work = prepare(folder, "mtllib ../secret\nmtllib /etc/passwd\nmtllib m.mtl\n" + mesh)
    write_text(work, "m.mtl", "".join(f"newmtl {n}\nmap_Kd {n}.png\nmap_Bump ../secret\n" for n in HOSTILE))
    rubble(work, "eval", "g.json").expect(0)
    assert sorted(plain_files(os.path.join(work, "out"))) == ["end.manifest.json", "piece.glb", "piece.json", "piece.mtl",
        "piece.obj", "piece.rbl", "piece.usda"]
    check_outside(folder)
    assert not os.path.exists("/tmp/rubble-hostile")


def test_names_in_graphs_lead_nowhere(folder):
    work = prepare(folder)
    for name in ["../elsewhere/x.obj", "/tmp/rubble-hostile.obj", "sub/x.obj", "..", ".x.obj", "a\\b.obj", "c:x.obj", "a\nb.obj", ""]:
        write_text(work, "g.json", json.dumps(graph(files=[name])))
        result = rubble(work, "eval", "g.json")
        assert result.code in (1, 2), (name, result.code, result.out, result.err)
        assert not os.path.exists(os.path.join(work, "out")), name
    text = json.dumps(graph()).replace('"end"', '"../../elsewhere/end"')
    write_text(work, "g.json", text)
    rubble(work, "eval", "g.json")
    check_outside(folder)


def test_links_pipes_and_folders_in_the_output_folder(folder):
    work = prepare(folder)
    out = os.path.join(work, "out")
    rubble(work, "eval", "g.json", "--out", "good").expect(0)
    good = plain_files(os.path.join(work, "good"))
    os.mkdir(out)
    os.symlink("../../secret", os.path.join(out, "piece.obj"))
    os.symlink(os.path.join(folder, "secret"), os.path.join(out, "end.manifest.json"))
    os.symlink("../../elsewhere/new", os.path.join(out, "piece.glb"))
    os.symlink("piece.json", os.path.join(out, "piece.json"))
    os.mkfifo(os.path.join(out, "piece.usda"))
    os.link(os.path.join(folder, "secret"), os.path.join(out, "piece.rbl"))
    os.symlink("../good/piece.mtl", os.path.join(out, "piece.mtl"))  # the very content, elsewhere
    rubble(work, "eval", "g.json").expect(0)
    assert plain_files(out) == good
    check_outside(folder)
    os.remove(os.path.join(out, "piece.obj"))
    os.mkdir(os.path.join(out, "piece.obj"))
    rubble(work, "eval", "g.json").expect(3, "piece.obj")


def test_links_below_the_output_folder_of_a_batch(folder):
    work = prepare(folder)
    out = os.path.join(work, "out")
    ask = ["batch", "g.json", "--over", "n=2..4", "--name", "{graph}/{n}"]
    rubble(work, *ask, "--out", "good").expect(0)
    good = plain_files(os.path.join(work, "good", "g", "2"))
    os.makedirs(os.path.join(out, "g", "2"))
    os.symlink("../../../elsewhere", os.path.join(out, "g", "3"))  # leads out
    os.mkdir(os.path.join(out, "inner"))
    os.symlink("../inner", os.path.join(out, "g", "4"))  # leads to another folder of the output
    for name in ("asset.json", "piece.obj"):
        os.symlink("../../../../secret", os.path.join(out, "g", "2", name))
    for name in ("batch.json", "batch.csv", "batch.html"):
        os.symlink("../../secret", os.path.join(out, name))
    rubble(work, *ask).expect(1, "2 done, 1 failed", "leads out of it")
    made = plain_files(os.path.join(out, "g", "2"))
    assert sorted(made) == sorted(good) and made["piece.obj"] == good["piece.obj"]
    assert os.path.isfile(os.path.join(out, "inner", "piece.obj"))
    assert not os.path.islink(os.path.join(out, "batch.json"))
    check_outside(folder)
    # The whole folder of all assets, and one that is not there.
    for target in ("../../elsewhere", "../../elsewhere/none"):
        subprocess.run(["rm", "-rf", out], check=True)
        os.mkdir(out)
        os.symlink(target, os.path.join(out, "g"))
        rubble(work, *ask).expect(1, "3 failed", "leads out of it")
        check_outside(folder)
    # An output folder that is a link itself is what the person named.
    subprocess.run(["rm", "-rf", out], check=True)
    os.mkdir(os.path.join(work, "disk"))
    os.symlink("disk", out)
    rubble(work, *ask).expect(0, "3 done")
    assert os.path.isfile(os.path.join(work, "disk", "g", "3", "piece.obj"))


def test_journals_and_thumbnails_follow_no_link(folder):
    work = prepare(folder)
    out = os.path.join(work, "out")
    os.mkdir(out)
    for kind in (lambda p: os.symlink("../../secret", p), os.mkfifo):
        kind(os.path.join(out, "batch-1-of-1.jsonl"))
        rubble(work, "batch", "g.json", "--chunk", "1/1").expect(0, "batch-1-of-1.jsonl")
        check_outside(folder)
        os.remove(os.path.join(out, "batch-1-of-1.jsonl"))
    if not os.path.exists(os.path.join(os.path.dirname(harness.RUBBLE), "rubble-render")):
        return
    picture = os.path.join(out, "g", "thumbnail.png")
    os.symlink("../../../secret", picture)
    rubble(work, "batch", "g.json", "--thumbnails").expect(0)
    assert os.path.isfile(picture) and not os.path.islink(picture)
    check_outside(folder)


def test_records_cannot_make_a_resume_wait_or_read_elsewhere(folder):
    work = prepare(folder)
    ask = ["batch", "g.json", "--resume"]
    rubble(work, *ask).expect(0, "1 done")
    rubble(work, *ask).expect(0, "1 finished before")
    path = os.path.join(work, "out", "g", "asset.json")
    record = json.load(open(path))
    os.mkfifo(os.path.join(work, "out", "g", "pipe"))
    for name in ("pipe", "../../../secret", "/dev/zero", "/proc/self/mem", "../../out"):
        write_text(os.path.dirname(path), "asset.json", json.dumps(dict(record, files=[{"name": name, "hash": "0" * 32}])))
        rubble(work, *ask).expect(0, "1 done")
        write_text(os.path.dirname(path), "asset.json", json.dumps(dict(record, inputs=[{"path": name, "hash": "0" * 32}])))
        rubble(work, *ask).expect(0, "1 done")
    for text in ("", "[" * 100000, "{", "null", '{"files": 3}', "\0" * 1000):
        write_text(os.path.dirname(path), "asset.json", text)
        rubble(work, *ask).expect(0, "1 done")
    check_outside(folder)


def entries(cache):
    return sorted(os.path.join(path, n) for path, _, names in os.walk(cache) for n in names if n.endswith((".rblc", ".rblf")))


def spoil_entry(kind, path, folder):
    size = os.path.getsize(path)
    os.remove(path)
    if kind == "link":
        os.symlink(os.path.join(folder, "secret"), path)
    elif kind == "dangling":
        os.symlink(os.path.join(folder, "elsewhere", "new"), path)
    elif kind == "loop":
        os.symlink(os.path.basename(path), path)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        os.makedirs(os.path.join(path, "full"))
    elif kind == "huge":
        with open(path, "wb") as f:
            f.truncate(1 << 40)
    elif kind == "hard link":
        os.link(os.path.join(folder, "secret"), path)
    elif kind == "zeros":
        with open(path, "wb") as f:
            f.truncate(size)
    elif kind == "device":
        os.symlink("/dev/zero", path)


def test_cache_folders_that_strangers_filled(folder):
    work = prepare(folder)
    rubble(work, "eval", "g.json", "--out", "good", "--no-cache").expect(0)
    good = plain_files(os.path.join(work, "good"))
    cache = os.path.join(work, "cache")
    ask = ["eval", "g.json", "--cache", "cache"]
    for kind in ("link", "dangling", "loop", "pipe", "folder", "huge", "hard link", "zeros", "device"):
        subprocess.run(["rm", "-rf", cache, os.path.join(work, "out")], check=True)
        rubble(work, *ask).expect(0)
        assert entries(cache)
        try:
            for path in entries(cache):
                spoil_entry(kind, path, folder)
        except OSError:  # a file system that has no file as large
            continue
        if kind != "folder":
            subprocess.run(["rm", "-rf", os.path.join(work, "out")], check=True)
        rubble(work, *ask).expect(0)
        assert plain_files(os.path.join(work, "out")) == good, kind
        check_outside(folder)
        for command in ("stat", "verify", "gc", "clear"):
            rubble(work, "cache", command, "cache")
            check_outside(folder)


def test_shelves_of_the_cache_that_are_links(folder):
    work = prepare(folder)
    cache, other = os.path.join(work, "cache"), os.path.join(work, "other")
    ask = ["eval", "g.json", "--cache", "cache"]
    rubble(work, "eval", "g.json", "--cache", "other").expect(0)
    os.mkdir(cache)
    for shelf in range(256):
        os.symlink("../../elsewhere", os.path.join(cache, f"{shelf:02x}"))
    rubble(work, *ask).expect(0, "is a link")
    check_outside(folder)
    # Shelves of another cache: nothing there is removed.
    for shelf in range(256):
        os.remove(os.path.join(cache, f"{shelf:02x}"))
        os.symlink(f"../other/{shelf:02x}", os.path.join(cache, f"{shelf:02x}"))
    before = entries(other)
    rubble(work, "cache", "gc", "cache", "--cache-bytes", "0")
    rubble(work, "cache", "clear", "cache")
    assert entries(other) == before and before


def test_cache_files_of_other_owners(folder):
    if os.geteuid() != 0:
        raise Skip("needs root")
    work = prepare(folder)
    cache = os.path.join(work, "cache")
    rubble(work, "eval", "g.json", "--cache", "cache").expect(0)
    good = plain_files(os.path.join(work, "out"))
    for path, folders, names in os.walk(cache):
        os.chown(path, 65534, 65534)
        for name in names:
            os.chown(os.path.join(path, name), 65534, 65534)
            os.chmod(os.path.join(path, name), 0o444)
    subprocess.run(["rm", "-rf", os.path.join(work, "out")], check=True)
    rubble(work, "eval", "g.json", "--cache", "cache").expect(0)
    assert plain_files(os.path.join(work, "out")) == good


def test_nothing_waits_for_pipes_or_reads_devices(folder):
    work = prepare(folder)
    os.mkfifo(os.path.join(work, "pipe.obj"))
    for mesh in ("pipe.obj", "/dev/zero", "/dev/random", "/proc/self/mem", "."):
        write_text(work, "g.json", json.dumps(graph(mesh=mesh)))
        assert rubble(work, "eval", "g.json").code in (1, 3), mesh
        assert rubble(work, "inspect", mesh).code in (1, 2, 3), mesh
    os.mkfifo(os.path.join(work, "m.mtl"))
    os.mkfifo(os.path.join(work, "t.png"))
    write_text(work, "a.obj", "mtllib m.mtl n.mtl\nusemtl a\n" + CUBE)
    write_text(work, "n.mtl", "newmtl a\nmap_Kd t.png\nmap_Ks /dev/zero\n")
    write_text(work, "g.json", json.dumps(graph()))
    rubble(work, "eval", "g.json").expect(0, "t.png")
    for name in ("pipe.json", "pipe.bin"):
        os.mkfifo(os.path.join(work, name))
    assert rubble(work, "eval", "pipe.json").code in (2, 3)
    for uri in ("pipe.bin", "../secret", "/dev/zero", "%2e%2e/secret", "file:///etc/passwd", "http://127.0.0.1/x"):
        write_text(work, "x.gltf", json.dumps({"asset": {"version": "2.0"}, "buffers": [{"uri": uri, "byteLength": 36}],
            "bufferViews": [{"buffer": 0, "byteLength": 36}], "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3,
            "type": "VEC3"}], "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}], "nodes": [{"mesh": 0}],
            "scenes": [{"nodes": [0]}]}))
        assert rubble(work, "inspect", "x.gltf").code in (1, 3), uri
    check_outside(folder)


def test_texts_without_end_or_bottom(folder):
    work = prepare(folder)
    deep = "[" * 200000 + "]" * 200000
    for name, text in (("deep.json", deep), ("deep.jsonc", deep), ("objects.json", '{"a":' * 100000 + "1" + "}" * 100000)):
        write_text(work, name, text)
        for command in ("eval", "check", "fmt", "dot", "batch"):
            assert rubble(work, command, name).code in (1, 2, 3), (command, name)
    write_text(work, "m.json", '{"rubble_batch": 1, "jobs": [' + deep + "]}")
    assert rubble(work, "batch", "m.json").code in (2, 3)
    write_text(work, "m.json", '{"rubble_batch": 1, ' + ", ".join(f'"k{i}": 1' for i in range(20000)) + "}")
    rubble(work, "batch", "m.json").expect(2, "more than 1000 members")
    write_text(work, "m.json", '{"rubble_batch": 1, "jobs": [' + ", ".join('{"graph": 3}' for i in range(20000)) + "]}")
    rubble(work, "batch", "m.json").expect(2)
    document = ("[" * 100000).encode()
    document += b" " * (-len(document) % 4)
    with open(os.path.join(work, "deep.glb"), "wb") as f:
        f.write(struct.pack("<4sIII4s", b"glTF", 2, 20 + len(document), len(document), b"JSON") + document)
    assert rubble(work, "inspect", "deep.glb").code == 3
    with open(os.path.join(work, "large.json"), "wb") as f:
        f.truncate((64 << 20) + 1)
    rubble(work, "check", "large.json").expect(1, "larger than the limit")


if __name__ == "__main__":
    harness.main(globals())
