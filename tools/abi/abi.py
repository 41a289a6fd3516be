#!/usr/bin/env python3
"""The binary interface: exported symbols, sizes and offsets of public structs, numbers of public enums.

  abi.py LIBRARY            compares with tools/abi/rubble.abi; exit 1 and a list when something differs
  abi.py --write LIBRARY    writes tools/abi/rubble.abi anew (each change is explained in its commit)

Structs and enums are found in include/rubble/*.h; a small program that the C compiler ($CC, else cc) makes tells their
layout. What is there may not be removed, moved or renumbered. What is new is told and passes: functions, constants, and
members at the end of a struct that begins with its size, which the library takes in every length since.
"""
import argparse
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILE = os.path.join(ROOT, "tools", "abi", "rubble.abi")


def headers():
    return sorted(glob.glob(os.path.join(ROOT, "include", "rubble", "*.h")))


def symbols(library):
    text = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    names = {line.split()[-1] for line in text.splitlines() if line.split()[-2] in "TDBRW"}
    return sorted(f"symbol {name}" for name in names)


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def fields(body):
    """Names of the members of a struct."""
    for member in body.split(";"):
        member = member.strip()
        pointer = re.search(r"\(\*\s*(\w+)\)\s*[(\[]", member)
        if pointer:
            yield pointer.group(1)
        elif member:
            for part in member.split(","):
                yield re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", part.strip()).group(1)


def program():
    """The text of a program that prints the layout."""
    lines = []
    for path in headers():
        with open(path) as f:
            text = without_comments(f.read())
        for name, body in re.findall(r"typedef struct (rbl_\w+)\s*\{(.*?)\}\s*\1\s*;", text, re.S):
            lines.append(f'printf("struct {name} %zu bytes\\n", sizeof({name}));')
            lines += [f'printf("struct {name}.{f} at %zu, %zu bytes\\n", offsetof({name}, {f}), sizeof((({name} *)0)->{f}));'
                for f in fields(body)]
        for body in re.findall(r"enum(?: rbl_\w+)?\s*\{(.*?)\}", text, re.S):
            lines += [f'printf("constant {c} = %lld\\n", (long long){c});'
                for c in re.findall(r"^\s*(RBL_[A-Z0-9_]+)\s*(?:=[^,]*)?,?", body, re.M) if not c.endswith("_ENUM") and "_LIST" not in c]
        for macro, prefix in re.findall(r"#define RBL_\w+_ENUM\((.*?)\)\s*RBL_(\w*?)##name", text):
            found = re.search(r"X\((\w+), \d+", text)
            lines += [f'printf("constant RBL_{prefix}{c} = %lld\\n", (long long)RBL_{prefix}{c});'
                for c in re.findall(r"^\s*X\((\w+),", text, re.M)] if found else []
    include = "".join(f'#include "rubble/{os.path.basename(p)}"\n' for p in headers())
    return "#include <stdio.h>\n#include <stddef.h>\n" + include + "int main(void)\n{\n" + "\n".join(lines) + "\nreturn 0;\n}\n"


def layout():
    compiler = shlex.split(os.environ.get("CC", "cc"))
    uv = subprocess.run(["pkg-config", "--cflags", "libuv"], capture_output=True, text=True).stdout.split()
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
        with open(source, "w") as f:
            f.write(program())
        subprocess.run([*compiler, "-std=c17", "-D_GNU_SOURCE", "-I" + os.path.join(ROOT, "include"), *uv, source,
            "-o", binary], check=True)
        text = subprocess.run([binary], check=True, capture_output=True, text=True).stdout
    return sorted(set(text.splitlines()))


def grew(line, now):
    """True for the size of a struct that begins with its size and is longer now."""
    match = re.fullmatch(r"struct (\w+) (\d+) bytes", line)
    if not match or f"struct {match.group(1)}.size at 0, 8 bytes" not in now:
        return False
    return any(int(n) > int(match.group(2)) for l in now for n in re.findall(rf"^struct {match.group(1)} (\d+) bytes$", l))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--write", action="store_true")
    a = parser.parse_args()
    now = symbols(a.library) + layout()
    if a.write:
        with open(FILE, "w") as f:
            f.write("\n".join(now) + "\n")
        return
    with open(FILE) as f:
        before = f.read().splitlines()
    lost = [line for line in before if line not in set(now) and not grew(line, now)]
    new = [line for line in now if line not in set(before)]
    for line in lost:
        print("- " + line)
    for line in new:
        print("+ " + line)
    if lost:
        print(f"{len(lost)} lines of tools/abi/rubble.abi do not hold any more: programs that are built already break. "
            "When it is meant, run tools/abi/abi.py --write LIBRARY and say why in the commit")
        sys.exit(1)
    print(f"{len(before)} symbols, sizes, offsets and numbers as in tools/abi/rubble.abi, {len(new)} new")


if __name__ == "__main__":
    main()
