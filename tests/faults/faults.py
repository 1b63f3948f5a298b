#!/usr/bin/env python3
"""Fails the calls of the program one by one: the Nth allocation, write, open, fork, ... of each command.

    tests/faults/faults.py [--full] [--most N] [-j N] [--program FILE] [COMMAND[:KIND[:N]]...]

tests/faults/faults.c defines the kinds. Calls with the same call stack are one path. Without --full, a sample of the calls of
each command and kind fails, the same one every time. With --full all calls fail but for allocations and libraries, of which
the first and the last call of each path and one between them fail. --most sets the size of the sample. A command with a failed call must end

  - with status 0, if it does not need the call, and always if a read was short: all output files are complete, and the same as without the failure;
  - or with status 1 or 2 and a message. Each output file is then complete or absent, and no temporary file is left.

It never ends with a signal, a finding of a sanitizer (leaks included) or later than the time limit. After a failed `lab run`
the store passes SQLite's integrity check and has all runs that it had before; the same command without a failing call then
completes the experiment and leaves nothing but the store.

Running out of memory ends the process at once. `lab run` then leaves what it leaves when it is killed, the journal of the
store and its directory of results, which the next `lab run` imports.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KINDS = ["malloc", "library", "sqlite", "write", "full", "read", "short", "open", "close", "rename", "fsync", "fork", "thread"]
# The number of failing calls per command and kind without --full. `lab run` takes longest.
SAMPLE = {"lab": 3, "lab-child": 2, "": 8}
BY_PATH = ("malloc", "library", "sqlite")  # thousands of calls
SECONDS = 120  # a command takes less than one; the rest is for a loaded machine
SMALL = ["--gpu", "small.yaml"]

LAUNCH = """name: saxpy
ptx: saxpy.ptx
buffers:
  - {name: x, bytes: 1024, fill: {kind: iota, type: f32, start: 0, step: 0.5}}
  - {name: y, bytes: 1024, fill: {kind: const, type: f32, value: 1}, dump: y.bin}
launches:
  - kernel: saxpy
    grid: [1]
    block: [256]
    args: [{buffer: x}, {buffer: y}, {scalar: f32, value: 2}, {scalar: s32, value: 256}]
"""

EXPERIMENT = """title: A test
gpu: small.yaml
workloads: [synth:alu]
designs: {a: {}, b: {design: lrr}, c: {design: private}}
set: {workload.iterations: 1, workload.ctas: 2}
metrics:
  - {name: IPC, value: ipc, relative_to: a}
draw: bars
"""

# Stands for gnuplot, and writes what the script requests.
GNUPLOT = """#!/bin/sh
for end in svg pdf; do echo plot >"${1%.gnuplot}.$end"; done
"""

# The words of each command, and its output files.
COMMANDS = {
    "run": (["run", "synth:stream", *SMALL, "--set", "workload.iterations=1", "--set", "workload.ctas=2", "--sample",
             "100", "--json", "out.json", "--dram-log", "out.csv"], ["out.json", "out.csv"]),
    "launch": (["run", "--launch", "saxpy.yaml", *SMALL, "--json", "out.json"], ["out.json", "y.bin"]),
    "lookahead": (["run", "synth:shared", *SMALL, "--design", "look-ahead", "--set", "llc.slices_per_mc=2", "--set",
                   "llc.selrep.epoch_cycles=1000", "--set", "workload.iterations=20", "--set", "workload.ctas=4", "--json",
                   "out.json"], ["out.json"]),
    "compare": (["compare", "--launch", "saxpy.yaml", *SMALL, "--designs", "default,private", "--json", "out.json"],
                ["out.json"]),
    "record": (["record", "--launch", "saxpy.yaml", "-o", "out.stream"], ["out.stream"]),
    "trace": (["run", "--trace", "saxpy.stream", *SMALL, "--json", "out.json"], ["out.json"]),
    "lab": (["lab", "run", "two.yaml", "--store", "one.sqlite", "-j", "1"], ["one.sqlite"]),
    "report": (["report", "two.yaml", "--store", "two.sqlite", "-o", "out.html"],
               ["out.html", "out.figures/two.gnuplot", "out.figures/two.pdf", "out.figures/two.svg"]),
    "plot": (["plot", "run.json", "run.json", "-o", "out.html"], ["out.html"]),
    "correlate": (["correlate", "reference", "-j", "1", "--json", "out.json", "-o", "out.svg"], ["out.json", "out.svg"]),
}
CHILD = "lab-child"  # `lab run` again; the calls of its processes fail
JOURNAL = "(one|two).sqlite(-wal|-shm)"  # if it cannot be written back to the store, the next command does it
OUT_OF_MEMORY = "sluice: out of memory\n"


def environment(folder, **more):
    found = dict(os.environ, TMPDIR=str(folder / "tmp"), PATH=f"{folder / 'bin'}:{os.environ['PATH']}", **more)
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
        found[name] = "exitcode=99"
    return found


def execute(program, words, folder, **more):
    with open(folder / "tmp.out", "wb") as out, open(folder / "tmp.err", "wb") as err:
        try:
            status = subprocess.run([program, *words], cwd=folder, stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                                    env=environment(folder, **more), timeout=SECONDS, check=False).returncode
        except subprocess.TimeoutExpired:
            status = None
    texts = [(folder / name).read_text(errors="replace") for name in ("tmp.out", "tmp.err")]
    for name in ("tmp.out", "tmp.err"):
        (folder / name).unlink()
    return status, *texts


def without_host(value):
    if isinstance(value, dict):
        return {key: without_host(one) for key, one in value.items() if key not in ("host", "seconds")}
    return [without_host(one) for one in value] if isinstance(value, list) else value


def runs_of(path):
    """The runs of a store, without what depends on the host. Fails if the store is damaged."""
    store = sqlite3.connect(path)
    try:
        check = store.execute("PRAGMA integrity_check").fetchall()
        if check != [("ok",)]:
            raise sqlite3.DatabaseError(f"integrity check: {check[0][0]}")
        if not store.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return {}
        found = {}
        for number, identity, result in store.execute("SELECT id, identity, result FROM run").fetchall():
            rows = [sorted(store.execute(f"SELECT name, value FROM {table} WHERE run = ?", (number,)))
                    for table in ("value", "parameter")]
            found[identity] = (result, rows)
        return found
    finally:
        store.close()


def content(path):
    if path.suffix == ".sqlite":
        return runs_of(path)
    if path.suffix == ".json":
        return without_host(json.loads(path.read_bytes()))
    return path.read_bytes()


def files_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()} | {
        str(path.relative_to(folder)) + "/" for path in folder.rglob("*") if path.is_dir() and not any(path.iterdir())}


class Case:
    """A command in a directory of its own, and what it leaves there without a failure."""

    def __init__(self, name, program, template):
        self.name, self.program, self.template = name, program, template
        self.words, self.outputs = COMMANDS["lab" if name == CHILD else name]
        with self.folder() as folder:
            report = template.parent / f"{name}.counts"
            variable = "SLUICE_FAIL_CHILD" if name == CHILD else "SLUICE_FAIL"
            status, self.out, err = execute(program, self.words, folder, SLUICE_FAULTS=str(report), **{variable: "paths"})
            if status != 0:
                sys.exit(f"faults.py: {name} fails without a fault: status {status}: {err}")
            self.files = files_in(folder)
            self.content = {one: content(folder / one) for one in self.outputs}
            by_process = collections.defaultdict(list)
            for line in report.read_text().splitlines():
                kind, process, path = line.split()
                by_process[kind, process].append(path)
            self.paths = {}  # of each kind, the paths of its calls in their order; of the child with most of them
            for (kind, _), paths in by_process.items():
                self.paths[kind] = max(self.paths.get(kind, []), paths, key=len)
        self.before = files_in(template)

    def folder(self):
        class Copy:
            def __enter__(copy):
                copy.path = Path(tempfile.mkdtemp(dir=self.template.parent))
                shutil.rmtree(copy.path)
                shutil.copytree(self.template, copy.path, symlinks=True)
                return copy.path

            def __exit__(copy, *_):
                shutil.rmtree(copy.path)

        return Copy()

    def left_over(self, folder, allowed):
        found = files_in(folder) - self.before - set(self.outputs)
        return sorted(one for one in found if not re.fullmatch(allowed, one))

    def faults_of(self, folder, kind, status, out, err, failed):
        """What is wrong with the end of the command, one text each."""
        if status is None:
            yield f"no end after {SECONDS} s"
            return
        if "Sanitizer" in err or "runtime error:" in err or status == 99:
            yield "a finding of the sanitizer"
        if status not in (0, 1, 2):
            yield f"status {status}"
        if status and not re.search(r"^sluice: .", err, re.MULTILINE):
            yield f"status {status} without a message"
        if status == 0 and len(out.splitlines()) != len(self.out.splitlines()):
            yield "status 0 with another standard output"
        if status and kind == "short":
            yield f"status {status}, though the rest can be read"
        if status and not failed:
            yield f"status {status}, but no call failed"
        lab = self.name in ("lab", CHILD)
        allowed = f"out.figures/|{JOURNAL}" if self.name == "report" else "-"
        if lab:
            allowed = JOURNAL
            if status:
                allowed += r"|one.sqlite.work/local/[0-9a-f]*\.json"
            if OUT_OF_MEMORY in err:
                allowed += r"|one.sqlite.work/.*"
        for one in self.left_over(folder, allowed):
            yield f"{one} is left"
        for one in self.outputs:
            if status == 0 and not (folder / one).exists():
                yield f"status 0 without {one}"
            elif (folder / one).exists() and not lab:
                yield from self.output_faults(folder / one, self.content[one], status)
        if lab:
            yield from self.store_faults(folder, status)

    def output_faults(self, path, wanted, status):
        try:
            found = content(path)
        except (ValueError, sqlite3.Error) as why:
            yield f"{path.name}: {why}"
            return
        complete = self.name == "report" and status and path.suffix == ".html" and found.rstrip().endswith(b"</html>")
        if found != wanted and not complete:
            yield f"{path.name} differs"

    def store_faults(self, folder, status):
        wanted = self.content["one.sqlite"]
        try:
            # On a copy: opening a store with a journal changes it.
            with tempfile.TemporaryDirectory(dir=folder.parent) as copy:
                for path in folder.glob("one.sqlite*"):
                    if path.is_file():
                        shutil.copy(path, copy)
                found = runs_of(Path(copy) / "one.sqlite")
        except sqlite3.Error as why:
            yield f"the store is damaged: {why}"
            return
        if any(found[identity] != wanted.get(identity) for identity in found):
            yield "a stored run differs"
        if not self.kept <= set(found):
            yield "a stored run is lost"
        if status == 0:
            if found != wanted:
                yield "status 0 without all runs"
            return
        again, _, err = execute(self.program, self.words, folder)
        if again != 0:
            yield f"rerun: status {again}: {err.strip()}"
            return
        for one in self.left_over(folder, "-"):
            yield f"rerun: {one} is left"
        if runs_of(folder / "one.sqlite") != wanted:
            yield "rerun: runs are missing or differ"

    kept = set()

    def try_fault(self, kind, number):
        with self.folder() as folder:
            report = folder.parent / f"{folder.name}.faults"
            variable = "SLUICE_FAIL_CHILD" if self.name == CHILD else "SLUICE_FAIL"
            status, out, err = execute(self.program, self.words, folder, SLUICE_FAULTS=str(report),
                                       **{variable: f"{kind}:{number}"})
            lines = report.read_text().splitlines() if report.exists() else []
            failed = next((line.removeprefix("failed ") for line in lines if line.startswith("failed ")), None)
            report.unlink(missing_ok=True)
            faults = list(self.faults_of(folder, kind, status, out, err, failed))
        return kind, number, failed, status, faults, err


def prepare(program, scratch):
    """The directory that each command starts in."""
    template = scratch / "template"
    for folder in ("tmp", "bin"):
        (template / folder).mkdir(parents=True)
    (template / "bin/gnuplot").write_text(GNUPLOT)
    (template / "bin/gnuplot").chmod(0o755)
    (template / "two.yaml").write_text(EXPERIMENT)
    (template / "one.yaml").write_text(EXPERIMENT.replace(", b: {design: lrr}, c: {design: private}", ""))
    (template / "saxpy.yaml").write_text(LAUNCH)
    (template / "reference/launch").mkdir(parents=True)
    (template / "reference/launch/saxpy.yaml").write_text(LAUNCH.replace("saxpy.ptx", "../../saxpy.ptx"))
    (template / "reference/machines.csv").write_text("machine,gpu,settings\nsmall,../small.yaml,\n")
    (template / "reference/counters.csv").write_text("machine,kernel,cycles\nsmall,saxpy,1000\n")
    shutil.copy(ROOT / "tests/faults/small.yaml", template)
    shutil.copy(ROOT / "examples/saxpy.ptx", template)
    for words in (["lab", "run", "one.yaml", "--store", "one.sqlite"], ["lab", "run", "two.yaml", "--store", "two.sqlite"],
                  ["record", "--launch", "saxpy.yaml", "-o", "saxpy.stream"],
                  ["run", "--launch", "saxpy.yaml", *SMALL, "--sample", "100", "--json", "run.json"]):
        status, _, err = execute(program, words, template)
        if status != 0:
            sys.exit(f"faults.py: sluice {' '.join(words)}: {err}")
    Case.kept = set(runs_of(template / "one.sqlite"))
    return template


def chosen(kind, paths, most, seed):
    """The calls that fail. A sample is the same every time; `most` is None with --full."""
    rng = random.Random(seed)
    numbers = range(1, len(paths) + 1)
    if most is None and kind not in BY_PATH:
        return numbers
    if most is not None:
        return numbers if len(paths) <= most else sorted(rng.sample(numbers, most))
    calls = collections.defaultdict(list)
    for number, path in zip(numbers, paths):
        calls[path].append(number)
    return sorted({number for of_path in calls.values() for number in (of_path[0], rng.choice(of_path), of_path[-1])})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true", default=bool(os.environ.get("SLUICE_LONG_TESTS")))
    parser.add_argument("--most", type=int, help="at most this many failing calls per command and kind")
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("--program", default=str(ROOT / "build/asan/sluice_faults"))
    parser.add_argument("--verbose", action="store_true", help="print the outcome of each call")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    wanted = [case.split(":") for case in options.cases] or [[name] for name in [*COMMANDS, CHILD]]
    passed = bad = tried = 0
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        options.program = str(Path(options.program).resolve())  # commands run in other directories
        template = prepare(options.program, Path(scratch))
        for name, *rest in wanted:
            case = Case(name, options.program, template)
            most = options.most or (None if options.full else SAMPLE.get(name, SAMPLE[""]))
            for kind in rest[:1] or KINDS:
                paths = case.paths.get(kind, [])
                numbers = [int(rest[1])] if rest[1:] else chosen(kind, paths, most, f"{name}:{kind}")
                outcomes = list(pool.map(lambda number: case.try_fault(kind, number), numbers))
                tried += len(outcomes)
                wrong = [outcome for outcome in outcomes if outcome[4]]
                if options.verbose:
                    for kind, number, failed, status, faults, err in outcomes:
                        print(f"{name}:{kind}:{number}  {failed}, status {status}: {err.strip()}")
                for _, number, failed, status, faults, err in wrong[:3]:
                    print(f"FAIL  faults: {name}:{kind}:{number} ({failed}): {'; '.join(faults)}\n"
                          f"    status {status}: {err.strip()[:2000]}")
                if len(wrong) > 3:
                    print(f"    and {len(wrong) - 3} more of {len(numbers)}: {name}:{kind} "
                          f"{' '.join(str(one[1]) for one in wrong[3:])}")
                if outcomes:
                    passed, bad = passed + (not wrong), bad + bool(wrong)
                if paths and (options.verbose or options.full):
                    print(f"{name}:{kind}: {len(outcomes)} of {len(paths)} calls on {len(set(paths))} paths failed", flush=True)
    print(f"{tried} failing calls")
    print(f"{passed} passed, {bad} failed")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
