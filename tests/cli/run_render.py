#!/usr/bin/env python3
"""Tests `rubble render` as a person calls it: run_render.py RUBBLE. Exit codes, messages, and what is in the picture."""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VASE = os.path.join(ROOT, "graphs", "meshes", "vase.obj")
SMALL = ["--size", "48x36", "--samples", "2"]

CUT = """{"rubble": 1, "vars": {"mesh": {"type": "path", "default": "%s"}}, "nodes": {
"vase": {"type": "MeshToCollection", "params": {"file": {"var": "mesh"}}},
"cut": {"type": "PlaneCutter", "in": {"collection": "vase"},
        "params": {"planes": [{"point": [0, 0.2, 0], "normal": [0, 1, 0]}]}}}}""" % VASE


def chunks(path):
    """Names and data of a PNG's chunks, with right checksums."""
    data, at = open(path, "rb").read(), 8
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        part = data[at + 8:at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size)[0] == zlib.crc32(name + part)
        yield name, part
        at += size + 12


def write_png(path, head, data):
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n")
        for name, part in [*head, (b"IDAT", data), (b"IEND", b"")]:
            f.write(struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part)))


def pixels(path):
    """(width, height, rows of RGB bytes) of an 8-bit RGB PNG."""
    data, at, packed = open(path, "rb").read(), 8, b""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, depth, kind = struct.unpack_from(">IIBB", data, 16)
    assert (depth, kind) == (8, 2)
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        if name == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += size + 12
    raw, rows, previous = zlib.decompress(packed), [], bytearray(width * 3)
    for y in range(height):
        line = raw[y * (width * 3 + 1):(y + 1) * (width * 3 + 1)]
        row = bytearray(line[1:])
        for i in range(len(row)):
            a, b = row[i - 3] if i >= 3 else 0, previous[i]
            c = previous[i - 3] if i >= 3 else 0
            p = a + b - c
            nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[i] = (row[i] + (0, a, b, (a + b) // 2, nearest)[line[0]]) & 255
        rows.append(row)
        previous = row
    return width, height, rows


def colours(path):
    """Hues that the picture shows, in twelfths of the circle, of pixels that are not grey."""
    _, _, rows = pixels(path)
    found = set()
    for row in rows:
        for x in range(0, len(row), 3):
            r, g, b = row[x:x + 3]
            high, low = max(r, g, b), min(r, g, b)
            if high - low > 50:
                hue = (g - b if high == r else b - r + 2 * (high - low) if high == g else r - g + 4 * (high - low))
                found.add(int(hue * 2 / (high - low)) % 12)
    return found


class Tests:
    def __init__(self, rubble, folder):
        self.rubble, self.folder = rubble, folder
        self.passed = self.failed = 0

    def run(self, *arguments):
        p = subprocess.run([self.rubble, "render", *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=300)
        return p.returncode, p.stdout, p.stderr

    def check(self, name, condition, detail=""):
        print(f"ok   {name}" if condition else f"FAIL {name}: {detail}")
        self.passed += bool(condition)
        self.failed += not condition

    def refuses(self, name, code, pattern, *arguments):
        got, out, err = self.run(*arguments)
        self.check(name, got == code and re.search(pattern, err) and not out, f"exit {got}: {err.strip()[:200]}")

    def path(self, name):
        return os.path.join(self.folder, name)

    def overlays(self):
        nodes = {"box": {"type": "MakePrimitive"}, "sites": {"type": "ScatterPoints", "in": {"collection": "box"}, "params": {"count": 12}},
            "crack": {"type": "VoronoiFracture", "in": {"collection": "box", "points": "sites"}},
            "near": {"type": "Proximity", "in": {"collection": "crack"}, "params": {"contact_area": "geometry", "connection_graph": True}},
            "hulls": {"type": "CreateLeafConvexHulls", "in": {"collection": "near"}}}
        with open(self.path("hulls.json"), "w") as f:
            json.dump({"rubble": 1, "nodes": nodes}, f)
        big = ["--size", "160x120", "--samples", "4"]
        plain = self.run("hulls.json", "-o", "plain.png", *big)
        pictures = {"plain": pixels(self.path("plain.png"))[2]}
        for name, arguments in {"edges": ["--hulls", "edges"], "solid": ["--hulls", "solid", "--by", "cluster"], "contacts": ["--graph", "contacts"],
                "connections": ["--graph", "connections", "--explode", "0.4"], "by contacts": ["--by", "contacts"]}.items():
            code, _, err = self.run("hulls.json", "-o", "over.png", *arguments, *big)
            self.check(f"draws {name}", code == 0 and plain[0] == 0, err)
            pictures[name] = pixels(self.path("over.png"))[2]
        self.check("each overlay gives another picture", len({bytes(b"".join(rows)) for rows in pictures.values()}) == len(pictures))
        # Lines of the graph are dark blue on pale pieces, balls orange.
        pixel = lambda name: [tuple(row[x:x + 3]) for row in pictures[name] for x in range(0, len(row), 3)]
        blue = lambda name: sum(b > r + 30 and r < 110 for r, g, b in pixel(name))
        orange = lambda name: sum(r > 180 and r > b + 55 and r > g + 20 for r, g, b in pixel(name))
        self.check("shows lines and balls of a graph", blue("contacts") > 50 and orange("contacts") > 10, f"{blue('contacts')} {orange('contacts')}")
        dark = lambda name: sum(max(p) < 120 for p in pixel(name))
        self.check("shows edges of hulls", dark("edges") > dark("plain") + 50, f"{dark('edges')} {dark('plain')}")
        self.refuses("refuses hulls that are not there", 1, "there are no hulls", "cut.json", "--hulls", "edges", *SMALL)
        self.refuses("refuses solid hulls that are not there", 1, "there are no hulls", "cut.json", "--hulls", "solid", *SMALL)
        self.refuses("refuses a graph that is not there", 1, "there is no connection graph", "cut.json", "--graph", "connections", *SMALL)
        self.refuses("refuses colours that are not known", 1, "a Proximity node", "cut.json", "--by", "contacts", *SMALL)

    def animation(self, pictures):
        """An .apng taken apart again must be the pictures."""
        for palette in ((), ("--palette", "16")):
            code, out, err = self.run("cut.json", "--turntable", "4", "-o", "turn.apng", *palette, *SMALL)
            self.check("writes an .apng", code == 0 and out == "turn.apng\n" and 'error' not in err, out + err)
            found = list(chunks(self.path("turn.apng")))
            names = [name for name, _ in found]
            order = [b"fcTL", b"IDAT"] + 3 * [b"fcTL", b"fdAT"]
            self.check("has its chunks in order", [n for n in names if n in (b"fcTL", b"IDAT", b"fdAT")] == order and
                names[0] == b"IHDR" and names[-1] == b"IEND" and names.count(b"acTL") == 1 and
                names.index(b"acTL") < names.index(b"IDAT"), str(names))
            numbers = [struct.unpack_from(">I", data)[0] for name, data in found if name in (b"fcTL", b"fdAT")]
            self.check("numbers them", numbers == list(range(7)), str(numbers))
            control = [struct.unpack(">8xIIHHBB", data[4:12].rjust(16, b"\0") + data[20:26]) for name, data in found if name == b"fcTL"]
            self.check("shows each picture for 1/24 s", set(control) == {(48, 36, 1, 24, 0, 0)} and
                dict(found)[b"acTL"] == struct.pack(">II", 4, 0), str(control))
            head = [c for c in found if c[0] in (b"IHDR", b"PLTE")]
            frames = [data[4:] if name == b"fdAT" else data for name, data in found if name in (b"IDAT", b"fdAT")]
            if palette:
                self.check("has a palette", len(dict(found)[b"PLTE"]) <= 48 and
                    all(len(zlib.decompress(f)) == len(zlib.decompress(frames[0])) for f in frames))
            for frame, picture in () if palette else zip(frames, pictures):
                write_png(self.path("frame.png"), head, frame)
                self.check("holds the pictures", pixels(self.path("frame.png")) == picture)

    def turntable(self):
        code, out, err = self.run("cut.json", "--turntable", "4", "-o", "turn/%02d.png", *SMALL)
        names = [f"turn/{i:02d}.png" for i in range(4)]
        self.check("turns", code == 0 and out.split() == names and 'error' not in err, out + err)
        frames = [open(self.path(n), "rb").read() for n in names]
        self.check("each frame differs from the next", all(a != b for a, b in zip(frames, frames[1:])))
        self.animation([pixels(self.path(n)) for n in names])
        code, out, err = self.run("cut.json", "--turntable", "2", "--view", "front", *SMALL)
        self.check("numbers the default name", code == 0 and out.split() == ["cut_000.png", "cut_001.png"], out + err)
        self.refuses("refuses two numbers", 2, "takes one number", "cut.json", "--turntable", "2", "-o", "%d_%d.png", *SMALL)
        self.refuses("refuses another field", 2, "takes one number", "cut.json", "--turntable", "2", "-o", "%s.png", *SMALL)
        self.refuses("refuses one frame", 2, "--turntable needs a number from 2", "cut.json", "--turntable", "1", *SMALL)
        self.refuses("refuses a folder that cannot be made", 3, "no/such: No such file", "cut.json", "--turntable", "2", "-o", "no/such/%d.png", *SMALL)
        os.rename(self.path("cut.json"), self.path("cut_001.json"))
        os.symlink("cut_001.json", self.path("cut_1.png"))
        self.refuses("never draws over what is read", 2, "would be written over", "cut_001.json", "--turntable", "2", "-o", "cut_%d.png", *SMALL)
        os.rename(self.path("cut_001.json"), self.path("cut.json"))

    def all(self):
        with open(self.path("cut.json"), "w") as f:
            f.write(CUT)
        with open(self.path("bad.rbl"), "w") as f:
            f.write("not a collection")
        code, out, err = self.run(VASE, *SMALL)
        self.check("names the picture after the file", code == 0 and out == "vase.png\n" and not err, f"{out}{err}")
        self.check("has the size that was asked for", pixels(self.path("vase.png"))[:2] == (48, 36))
        code, out, err = self.run("cut.json", "-o", "cut.png", "--explode=0.3", *SMALL)
        self.check("draws the last node of a graph", code == 0 and len(colours(self.path("cut.png"))) >= 2, err)
        code, _, err = self.run("cut.json", "--set", "mesh=" + VASE.replace("vase", "column"), "-o", "set.png", *SMALL)
        self.check("sets a variable", code == 0 and pixels(self.path("set.png")) != pixels(self.path("cut.png")), err)
        code, _, err = self.run("cut.json", "--node", "vase", "-o", "whole.png", *SMALL)
        self.check("draws the node that was asked for", code == 0 and
            len(colours(self.path("whole.png"))) < len(colours(self.path("cut.png"))), err)
        self.run(VASE, "-o", "one.png", "--threads", "1", *SMALL)
        self.run(VASE, "-o", "four.png", "--threads", "4", *SMALL)
        self.check("draws the same with any number of threads",
            open(self.path("one.png"), "rb").read() == open(self.path("four.png"), "rb").read())
        for view in ("front", "back", "left", "right", "top", "-120,45"):
            code, _, err = self.run(VASE, "--view", view, "-o", "view.png", *SMALL)
            self.check(f"looks from {view}", code == 0, err)
        code, _, err = self.run("cut.json", "-o", "group.png", "--level", "0", "--explode=0.3", *SMALL)
        self.check("moves and colours what is below a bone as one", code == 0 and
            len(colours(self.path("group.png"))) == 1, err)
        for word in ("level", "cluster", "material", "volume"):
            code, _, err = self.run("cut.json", "-o", "by.png", "--by", word, *SMALL)
            self.check(f"colours by {word}", code == 0, err)
        painted = VASE.replace("vase", "painted_wall")
        code, _, err = self.run(painted, "-o", "paint.png", "--by", "color", "--view", "front", *SMALL)
        self.check("shows the colours of vertices", code == 0 and colours(self.path("paint.png")) >= {0, 6}, f"{err}"
            f"{colours(self.path('paint.png'))}")
        code, _, err = self.run("cut.json", "-o", "few.png", "--palette", "8", *SMALL)
        data = open(self.path("few.png"), "rb").read()
        self.check("draws with few colours", code == 0 and data[25] == 3 and len(data) <
            len(open(self.path("cut.png"), "rb").read()), err)
        self.overlays()
        self.turntable()
        self.refuses("refuses a palette", 2, '--palette needs a number from 2 to 256, not "1"', VASE, "--palette", "1")
        self.refuses("refuses a level", 2, '--level needs a number from 0 to 1000, not "deep"', VASE, "--level", "deep")
        self.refuses("refuses a word", 2, '--by takes bone, cluster, .* or contacts, not "bones"', VASE, "--by", "bones")
        self.refuses("refuses no file", 2, "error:")
        self.refuses("refuses an unknown option", 2, "did you mean --size", VASE, "--siez", "3x3")
        self.refuses("refuses a size", 2, '--size needs WIDTHxHEIGHT, 16 to 16384 each, not "9x9"', VASE, "--size", "9x9")
        self.refuses("refuses a view", 2, '--view needs corner, front.* not "corner,"', VASE, "--view", "corner,")
        self.refuses("refuses a file that is not there", 3, "error: none.obj: no such file", "none.obj")
        self.refuses("refuses a damaged collection", 3, "error: .*bad.rbl: .*not an .rbl file", "bad.rbl")
        self.refuses("refuses an unknown node", 2, 'no node "nobody"', "cut.json", "--node", "nobody")
        self.refuses("refuses a folder that is not there", 3, "error: no/picture.png: No such file", VASE, "-o",
            "no/picture.png", *SMALL)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="rubble-render-") as folder:
        tests = Tests(os.path.abspath(sys.argv[1]), folder)
        if tests.run("--help")[0]:
            print("skip render: it is not built\n0 passed, 0 failed, 1 skipped")
            return
        tests.all()
    print(f"{tests.passed} passed, {tests.failed} failed")
    sys.exit(1 if tests.failed else 0)


if __name__ == "__main__":
    main()
