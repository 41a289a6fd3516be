#!/usr/bin/env python3
"""Executes the code blocks of the handbook.

  run_docs.py RUBBLE [FILE.md …]      default: README.md and docs/*.md

Each document gets a folder of its own with a copy of graphs/, and its blocks run in order there, `rubble` on the PATH:
  ```sh               runs with `sh -e`; must exit 0
  ```sh exit=N        must exit N
  ```output           must be contained, line by line and in order, in what the block before printed; a line `…` skips any
  ```json NAME        becomes the file NAME
  ```json of GRAPH    { node: … }: nodes as they are in that graph, but for comments
  ```json             is JSON on its own (a part to look at)
  ```c NAME           becomes the file NAME and compiles against include/
  ```c NAME run       is linked with the librubble.so beside RUBBLE and run, too; must exit 0
  ```python           runs with tools/python/rubble.py and that library; must exit 0
  ```html NAME        becomes the file NAME, as ```gdscript NAME does; tests/foreign/run_tutorial.py runs both
  ```console          is not run: what changes the machine, or needs another one
Any other block fails, so that nobody forgets one. Without RUBBLE_SLOW pictures are drawn with 2 rays a pixel, where the page does
not say how many: they take half of the time.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def blocks(text):
    """(line number, info words, body) of each fenced block."""
    out, fence, start, body = [], None, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"\s*```(.*)$", line)
        if fence is None and match:
            fence, start, body = match.group(1).split(), number, []
        elif fence is not None and match:
            out.append((start, fence, "\n".join(body) + "\n"))
            fence = None
        elif fence is not None:
            body.append(line)
    if fence is not None:
        out.append((start, ["unclosed"], ""))
    return out


def contains(printed, expected):
    lines = iter([l.rstrip() for l in printed.splitlines()])
    for want in expected.splitlines():
        want = want.rstrip()
        if want in ("…", ""):
            continue
        if not any(want in l for l in lines):
            return want
    return None


def bare(value):
    """JSON without its comments."""
    if isinstance(value, dict):
        return {k: bare(v) for k, v in value.items() if k != "//"}
    return [bare(v) for v in value] if isinstance(value, list) else value


COARSE = """#!/bin/sh
case "$*" in
*--samples*) ;;
render*) set -- "$@" --samples 2 ;;
esac
exec "$RUBBLE_COMMAND" "$@"
"""


class Document:
    def __init__(self, rubble, folder):
        self.folder, self.rubble = folder, rubble
        self.printed = ""
        programs = os.path.dirname(rubble)
        if os.environ.get("RUBBLE_SLOW", "0") in ("", "0"):
            programs = os.path.join(folder, ".programs")
            os.mkdir(programs)
            with open(os.path.join(programs, "rubble"), "w") as f:
                f.write(COARSE)
            os.chmod(f.name, 0o755)
        self.environment = dict(os.environ, PATH=programs + os.pathsep + os.environ["PATH"], RUBBLE_COMMAND=rubble,
            RUBBLE_SOURCE=ROOT, NO_COLOR="1", PYTHONPATH=os.path.join(ROOT, "tools", "python"),
            RUBBLE_LIBRARY=os.path.join(os.path.dirname(rubble), "librubble.so"))

    def program(self, name):
        library, binary = os.path.dirname(self.rubble), os.path.join(self.folder, name + ".bin")
        p = subprocess.run(["cc", "-std=c17", "-I" + os.path.join(ROOT, "include"), name, "-o", binary, "-L" + library,
            "-lrubble", "-Wl,-rpath," + library], cwd=self.folder, capture_output=True, text=True)
        return p.stderr.strip()[:400] if p.returncode else self.run([binary], 0)

    def block(self, words, body):
        """@return "" or why the block failed"""
        kind, rest = (words[0] if words else ""), words[1:]
        if kind == "sh":
            return self.shell(rest, body)
        if kind == "output":
            missing = contains(self.printed, body)
            return f"not printed: {missing}; printed was: {self.printed[-600:]}" if missing else ""
        if kind == "json" and rest[:1] == ["of"]:
            return self.quotes(rest[1], json.loads(body))
        if kind == "json":
            json.loads(body)
            return self.write(rest, body)
        if kind == "c" and rest:
            self.write(rest, body)
            p = subprocess.run(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                "-I" + os.path.join(ROOT, "include"), rest[0]], cwd=self.folder, capture_output=True, text=True)
            return p.stderr.strip()[:400] or (self.program(rest[0]) if rest[1:] == ["run"] else "")
        if kind in ("html", "gdscript") and rest:
            return self.write(rest, body)
        if kind == "python":
            return self.run([sys.executable, "-c", body], 0)
        return "" if kind == "console" else f"what is a block of kind \"{' '.join(words)}\"?"

    def shell(self, rest, body):
        wanted = next((int(w[5:]) for w in rest if w.startswith("exit=")), 0)
        return self.run(["sh", "-e", "-c", body], wanted)

    def run(self, arguments, wanted):
        p = subprocess.run(arguments, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        self.printed = p.stdout
        return "" if p.returncode == wanted else f"exit {p.returncode}: {p.stdout.strip()[-600:]}"

    def quotes(self, path, nodes):
        with open(os.path.join(self.folder, path)) as f:
            graph = json.load(f)["nodes"]
        wrong = [n for n in nodes if bare(nodes[n]) != bare(graph.get(n))]
        return f"{path} has it otherwise: {', '.join(wrong)}" if wrong else ""

    def write(self, rest, body):
        if rest:
            path = os.path.join(self.folder, rest[0])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write(body)
        return ""


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)


def anchors(path):
    """Fragments that a forge gives the headings of a page."""
    with open(path) as f:
        titles = re.findall(r"^#+ +(.*?) *#*$", without_code(f.read()), re.M)
    found = set()
    for title in titles:
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
        base = name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        for i in range(1, len(titles) + 1):
            if name not in found:
                break
            name = f"{base}-{i}"
        found.add(name)
    return found


def check_links(path, text):
    """Relative links must lead somewhere: to a file, and to a heading of it."""
    lost = []
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", without_code(text))):
        name, _, fragment = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = os.path.join(os.path.dirname(path), name) if name else path
        if not os.path.exists(file) or fragment and file.endswith(".md") and fragment not in anchors(file):
            lost.append(target)
    return lost


def check_pages(rubble):
    """(name, why not) of what concerns all pages: each one is in an index, and each node has one."""
    folder = os.path.join(ROOT, "docs")
    pages = [os.path.relpath(p, folder) for p in glob.glob(os.path.join(folder, "*.md")) + glob.glob(os.path.join(folder, "design", "*.md"))]
    with open(os.path.join(folder, "README.md")) as f:
        index = re.findall(r"\]\(([^)#\s]+)", f.read())
    left_out = sorted(set(pages) - set(index) - {"README.md"})
    types = json.loads(subprocess.run([rubble, "nodes", "--json"], check=True, capture_output=True, text=True).stdout)["nodes"]
    missing = sorted({n["type"] for n in types if not os.path.exists(os.path.join(folder, "nodes", n["type"] + ".md"))})
    results = [("docs/README.md lists all pages", f"not these: {', '.join(left_out)}" if left_out else ""),
        ("docs/nodes has a page for each node", f"not for: {', '.join(missing)}" if missing or len(types) < 50 else "")]
    for path in sorted(glob.glob(os.path.join(folder, "*", "*.md"))):
        with open(path) as f:
            lost = check_links(path, f.read())
        if lost:
            results.append((f"{os.path.relpath(path, ROOT)}: links", f"lead nowhere: {', '.join(lost)}"))
    return results


def check_document(rubble, path):
    with open(path) as f:
        text = f.read()
    name, results = os.path.relpath(path, ROOT), []
    folder = tempfile.mkdtemp(prefix="rubble-docs-")
    try:
        shutil.copytree(os.path.join(ROOT, "graphs"), os.path.join(folder, "graphs"))
        document = Document(rubble, folder)
        for line, words, body in blocks(text):
            if words[:1] == ["console"]:
                continue
            try:
                why = document.block(words, body)
            except (ValueError, OSError, subprocess.TimeoutExpired) as e:
                why = str(e)
            results.append((f"{name}:{line}: {' '.join(words)}", why))
        lost = check_links(path, text)
        results.append((f"{name}: links", f"lead nowhere: {', '.join(lost)}" if lost else ""))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return results


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    rubble = os.path.abspath(sys.argv[1])
    paths = [os.path.abspath(p) for p in sys.argv[2:]] or \
        [os.path.join(ROOT, "README.md")] + sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))
    with ThreadPoolExecutor(2) as pool:
        results = [r for document in pool.map(lambda p: check_document(rubble, p), paths) for r in document]
    results += check_pages(rubble)
    for name, why in results:
        print(f"FAIL {name}: {why}" if why else f"ok   {name}")
    failed = sum(1 for _, why in results if why)
    print(f"{len(results) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
