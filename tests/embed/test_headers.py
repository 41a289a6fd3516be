#!/usr/bin/env python3
"""Each public header compiles alone, as C17 and as C++17, without a warning.

  test_headers.py
"""
import glob
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UV = subprocess.run(["pkg-config", "--cflags", "libuv"], capture_output=True, text=True).stdout.split()

failed = 0
for header in sorted(glob.glob(os.path.join(ROOT, "include", "rubble", "*.h"))):
    name = os.path.basename(header)
    for compiler, language, standard in (("cc", "c", "c17"), ("c++", "c++", "c++17")):
        flags = [] if name == "rubble_uv.h" else ["-pedantic"]  # <uv.h> is not ours
        p = subprocess.run([compiler, "-x", language, "-std=" + standard, "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror",
            *flags, "-fsyntax-only", "-I" + os.path.join(ROOT, "include"), *UV, "-"],
            input=f"#include <rubble/{name}>\n#include <rubble/{name}>\n", capture_output=True, text=True)
        print(f"FAIL {name} as {standard}: {p.stderr[:800]}" if p.returncode else f"ok   {name} as {standard}")
        failed += p.returncode != 0
sys.exit(1 if failed else 0)
