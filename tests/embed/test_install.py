#!/usr/bin/env python3
"""What `meson install` puts down is enough to build and run a program: headers, both libraries, pkg-config; and to use the
command: man page, completions, schema, documents, graphs.

  test_install.py BUILD
"""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
build = os.path.abspath(sys.argv[1])


def run(*arguments, **environment):
    p = subprocess.run(arguments, env=dict(os.environ, **environment), capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"FAIL {' '.join(arguments)}: exit {p.returncode}\n{p.stdout[-1500:]}\n{p.stderr[-1500:]}")
    return p.stdout


def find(folder, name):
    found = [os.path.join(f, name) for f, _, files in os.walk(folder) if name in files]
    if not found:
        sys.exit(f"FAIL {name} is not installed")
    return found[0]


with tempfile.TemporaryDirectory() as place:
    run("meson", "install", "-C", build, "--no-rebuild", "--destdir", place)
    pc = find(place, "rubble.pc")
    library = os.path.dirname(find(place, "librubble.so"))
    archive = find(place, "librubble.a")
    command = find(os.path.join(place, "usr", "local", "bin"), "rubble")
    pkg = {"PKG_CONFIG_PATH": os.path.dirname(pc) + os.pathsep + os.environ.get("PKG_CONFIG_PATH", "")}
    prefix = run("pkg-config", "--variable=prefix", "rubble", **pkg).strip()
    moved = place + prefix
    flags = run("pkg-config", "--define-variable=prefix=" + moved, "--cflags", "--libs", "rubble", "libuv", **pkg).split()
    static = run("pkg-config", "--define-variable=prefix=" + moved, "--static", "--libs", "rubble", **pkg).split()
    for name in ("custom_node", "slider"):
        source, binary = os.path.join(ROOT, "examples", name + ".c"), os.path.join(place, name)
        run("cc", "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", source, "-o", binary, *flags)
        run(binary, LD_LIBRARY_PATH=library)
        print(f"ok   {name} with the installed shared library")
    static = [f for f in static if f != "-lrubble"]
    run("cc", "-std=c17", "-D_GNU_SOURCE", "-c", os.path.join(ROOT, "examples", "custom_node.c"), "-o",
        os.path.join(place, "custom_node.o"), *[f for f in flags if f.startswith("-I")])
    run("c++", os.path.join(place, "custom_node.o"), archive, *static, "-o", os.path.join(place, "custom_static"))
    run(os.path.join(place, "custom_static"))
    print("ok   custom_node with the installed static library")
    print("ok   " + run(command, "version", LD_LIBRARY_PATH=library).strip())
    share = os.path.join(moved, "share")
    for name in ("bash-completion/completions/rubble", "zsh/site-functions/_rubble", "fish/vendor_completions.d/rubble.fish",
            "man/man1/rubble.1", "rubble/schema/graph.schema.json", "rubble/schema/nodes.json", "rubble/python/rubble.py",
            "doc/rubble/README.md", "doc/rubble/tutorial.md", "doc/rubble/nodes/Terminal.md", "doc/rubble/LICENSE",
            "doc/rubble/examples/slider.c", "rubble/graphs/vase.json"):
        if not os.path.getsize(os.path.join(share, name)):
            sys.exit(f"FAIL {name} is empty")
    if os.path.exists(os.path.join(share, "doc", "rubble", "design")):
        sys.exit("FAIL documents of the design are installed")
    graph = os.path.join(share, "rubble", "graphs", "vase.json")
    run(command, "eval", graph, "--set", "pieces=12", "--out", os.path.join(place, "out"))
    run(sys.executable, "-c", f"import rubble; rubble.Engine().load({graph!r}).evaluate()",
        PYTHONPATH=os.path.join(share, "rubble", "python"), RUBBLE_LIBRARY=os.path.join(library, "librubble.so"))
    print("ok   schema, documents, man page, completions; a graph in its place")
