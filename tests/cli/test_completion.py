#!/usr/bin/env python3
"""What shells complete, and the man page: test_completion.py RUBBLE

Bash really completes here; zsh and fish do where they are installed. The man page is checked by groff and mandoc where they are.
"""
import os
import re
import shutil
import subprocess

from harness import ROOT, RUBBLE, Skip, main, rubble, write_text

SCRIPTS = os.path.join(ROOT, "tools", "completion")
GRAPH = '{"rubble": 1, "vars": {"pieces": {"type": "int", "default": 3}, "seed": {"type": "seed"}}, "nodes": {"box": {"type": ' \
    '"MakePrimitive"}, "sites": {"type": "ScatterPoints", "in": {"collection": "box"}, "params": {"count": {"var": "pieces"}, "seed": {"var": "seed"}}}}}'
BASH = r"""
source "$1"
compopt() { echo "compopt $*" >&2; }
shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_rubble
printf '%s\n' "${COMPREPLY[@]}"
"""


def files(folder):
    write_text(folder, "g.json", GRAPH)
    write_text(folder, "mesh.obj", "")
    write_text(folder, "notes.txt", "")
    os.makedirs(os.path.join(folder, "deep dir"), exist_ok=True)


def in_bash(folder, *words):
    """What bash offers for the last word; "=" is a word of its own, as bash has it."""
    p = subprocess.run(["bash", "--norc", "-c", BASH, "bash", os.path.join(SCRIPTS, "rubble.bash"), RUBBLE, *words], cwd=folder,
        capture_output=True, text=True, timeout=60)
    errors = [line for line in p.stderr.splitlines() if not line.startswith("compopt ")]
    assert p.returncode == 0 and not errors, p.stderr
    return sorted(line for line in p.stdout.splitlines() if line)


def offered(folder, *words):
    return [line.split("\t")[0] for line in rubble(folder, "--complete", *words).expect(0).out.splitlines()]


def test_bash_completes_commands_and_options(folder):
    files(folder)
    assert in_bash(folder, "ev") == ["eval"]
    assert {"batch", "check", "eval", "inspect", "nodes", "table", "view"} <= set(in_bash(folder, ""))
    assert in_bash(folder, "help", "ins") == ["inspect"]
    assert in_bash(folder, "eval", "--ca") == ["--cache", "--cache-bytes"]
    assert in_bash(folder, "eval", "g.json", "--progress", "") == ["auto", "json", "none", "plain"]
    assert in_bash(folder, "eval", "g.json", "--progress", "=", "p") == ["plain"]
    assert in_bash(folder, "cache", "g") == ["gc"]
    assert in_bash(folder, "nodes", "Voronoi") == ["VoronoiFracture"]
    assert in_bash(folder, "check", "--fail-on", "") == ["warning"]
    assert in_bash(folder, "nonsense", "") == []


def test_bash_completes_what_is_in_a_graph(folder):
    files(folder)
    assert in_bash(folder, "eval", "g.json", "--only", "") == ["box", "sites"]
    assert in_bash(folder, "eval", "g.json", "--set", "") == ["pieces=", "seed="]
    assert in_bash(folder, "eval", "g.json", "--set", "=", "pi") == ["pieces="]
    assert in_bash(folder, "view", "g.json", "--node", "b") == ["box"]
    assert in_bash(folder, "eval", "nowhere.json", "--only", "") == []


def test_bash_completes_files_by_what_is_read(folder):
    files(folder)
    assert in_bash(folder, "eval", "") == ["deep dir", "g.json"]
    assert in_bash(folder, "inspect", "") == ["deep dir", "g.json", "mesh.obj"]
    assert in_bash(folder, "table", "") == ["deep dir", "g.json", "mesh.obj"]
    assert in_bash(folder, "eval", "g.json", "--out", "") == ["deep dir"]
    assert in_bash(folder, "eval", "g.json", "-o", "d") == ["deep dir"]
    assert in_bash(folder, "eval", "g.json", "--report", "n") == ["notes.txt"]
    assert in_bash(folder, "eval", "g.json", "--report", "=", "n") == ["notes.txt"]
    assert in_bash(folder, "eval", "g.json", "") == []


def test_every_option_of_the_help_is_offered(folder):
    commands = offered(folder, "")
    assert len(commands) >= 13
    for command in commands:
        told = rubble(folder, command, "--help").expect(0).out
        named = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", told, re.M))
        assert named == set(offered(folder, command, "--")), command


def test_options_end_and_values_are_skipped(folder):
    files(folder)
    assert offered(folder, "eval", "--", "--") == ["@files .json .jsonc"]
    assert offered(folder, "eval", "--set", "--only", "") == ["@files .json .jsonc"]
    assert offered(folder, "eval", "--threads", "") == []
    assert offered(folder, "eval", "--nonsense=") == []
    assert offered(folder) == []


def test_zsh_and_fish(folder):
    files(folder)
    fish = shutil.which("fish")
    if fish:
        script = f'source {SCRIPTS}/rubble.fish; complete -c {os.path.basename(RUBBLE)} -f -a "(__rubble_complete)"'
        env = dict(os.environ, PATH=os.path.dirname(RUBBLE) + ":" + os.environ["PATH"], HOME=folder)
        for line, wanted in (("rubble ev", {"eval"}), ("rubble eval g.json --only ", {"box", "sites"}), ("rubble eval g.json --set ", {"pieces=", "seed="}),
                ("rubble eval ", {"g.json", "deep dir/"})):
            p = subprocess.run([fish, "-c", f"{script}; complete -C '{line}'"], cwd=folder, env=env, capture_output=True, text=True, timeout=60)
            got = {l.split("\t")[0].replace("\\ ", " ") for l in p.stdout.splitlines()}
            assert got == wanted, (line, got, p.stderr)
    zsh = shutil.which("zsh")
    if zsh:
        # Its completion works in a terminal alone; the functions that it calls are told apart here.
        script = f"""
_files() {{ print -r -- files "$@"; }}
_describe() {{ print -rl -- "$2"; print -rl -- "${{(@P)3}}"; }}
words=({RUBBLE} eval g.json --only ''); CURRENT=5
source {SCRIPTS}/_rubble
words=({RUBBLE} eval g.json --set ''); CURRENT=5; _rubble
words=({RUBBLE} eval ''); CURRENT=3; _rubble
"""
        p = subprocess.run([zsh, "-f", "-c", script], cwd=folder, capture_output=True, text=True, timeout=60)
        for text in ("box:MakePrimitive", "sites:ScatterPoints", "pieces=:int", "files -g *(.json|.jsonc)(-.)"):
            assert text in p.stdout, (text, p.stdout, p.stderr)
    if not fish or not zsh:
        raise Skip("neither fish nor zsh is there" if not fish and not zsh else ("fish" if not fish else "zsh") + " is not there")


def test_the_man_page_says_what_the_help_says(folder):
    page = rubble(folder, "--help=man").expect(0).out
    assert page.startswith(".TH RUBBLE 1") and page.isascii()
    plain = page.replace(r"\-", "-").replace(r"\fB", "").replace(r"\fI", "").replace(r"\fR", "")
    for command in offered(folder, ""):
        assert f".SS rubble {command}\n" in page, command
        for option in re.findall(r"^  (?:-\w, )?(--[a-z-]+)", rubble(folder, command, "--help").out, re.M):
            assert option == "--help" or re.search(r"^(-\w, )?" + option + r"\b", plain, re.M), (command, option)
    for code in ("0", "1", "2", "3", "130"):
        assert f".TP\n.B {code}\n" in page
    write_text(folder, "rubble.1", page)
    tools = 0
    if shutil.which("groff"):
        p = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", "rubble.1"], cwd=folder, capture_output=True, text=True)
        if "can't find" not in p.stderr and "cannot open" not in p.stderr: # a groff without its macros
            tools += 1
            assert p.returncode == 0 and not p.stderr, p.stderr
    if shutil.which("mandoc"):
        tools += 1
        p = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", "rubble.1"], cwd=folder, capture_output=True, text=True)
        faults = [l for l in p.stdout.splitlines() if "missing date" not in l]
        assert not faults, faults
    if not tools:
        raise Skip("neither groff nor mandoc looks at the page's form")


if __name__ == "__main__":
    main(globals())
