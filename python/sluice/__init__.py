"""Runs the simulator Sluice from Python. Pure Python over the command line: every function is one call of the program, and what
it returns comes from the program's JSON (schemas/).

    import sluice
    result = sluice.run("mm:tiny", design="private", set={"llc.slice_kb": 192})
    result.ipc, result.stats["llc.read_hits"], result.kernels, result.units
    sluice.compare("mm:tiny", ["shared", "private", "adaptive"])
    sluice.lab("quick/sharing", store="results.sqlite", size="tiny")

The program is the argument `program`, else $SLUICE, else `sluice` in the PATH, else build/release/sluice of the source tree that
contains this file.
"""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pandas

__all__ = ["Error", "Result", "compare", "diff", "lab", "load", "names", "plot", "results", "run"]


class Error(RuntimeError):
    """The program failed. `status` is 1 if a run failed or was interrupted, 2 if the input is invalid; `file`, `line` and `column`
    are the location of invalid input, or None."""

    def __init__(self, status, messages):
        first = messages[0] if messages else {"message": f"exit status {status}"}
        place = [str(first[key]) for key in ("file", "line", "column") if key in first]
        super().__init__(": ".join(filter(None, [":".join(place), first["message"]])))
        self.status = status
        self.messages = messages
        self.file, self.line, self.column = (first.get(key) for key in ("file", "line", "column"))


def _program(program):
    tree = pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "sluice"
    found = program or os.environ.get("SLUICE") or shutil.which("sluice") or (str(tree) if tree.exists() else None)
    if not found:
        raise FileNotFoundError("no sluice in the PATH; pass program=..., set SLUICE, or build it with ./demo")
    return os.fspath(found)


def _message(line):
    try:
        return json.loads(line)
    except ValueError:
        return {"message": line}


def _call(program, words):
    done = subprocess.run([_program(program), *map(os.fspath, words), "--errors", "json"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise Error(done.returncode, [_message(line) for line in done.stderr.splitlines() if line.strip()])
    return done.stdout


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_text, value)) + "]"
    return str(value)


def _options(**options):
    """Options of the command line: None and False are omitted, True is a flag, a dictionary is KEY=VALUE, repeated."""
    words = []
    for name, value in options.items():
        name = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(name)
        elif isinstance(value, dict):
            words += [word for key, item in value.items() for word in (name, f"{key}={_text(item)}")]
        elif isinstance(value, (list, tuple)):
            words += [word for item in value for word in (name, _text(item))]
        else:
            words += [name, _text(value) if not isinstance(value, os.PathLike) else os.fspath(value)]
    return words


class Result:
    """The result of one run: the JSON as `data`, its totals as attributes, and its tables as frames."""

    def __init__(self, data):
        self.data = data

    def __getattr__(self, name):
        if name.startswith("_") or name == "data" or name not in self.data:
            raise AttributeError(name)
        return self.data[name]

    def __repr__(self):
        return f"<{self.workload} on {self.gpu}, {self.design}: {self.cycles} cycles, IPC {self.ipc:.2f}>"

    @property
    def stats(self):
        """Every counter by name."""
        return pandas.Series(self.data["stats"])

    @property
    def units(self):
        """A frame with a row per counter and a column per SM, slice or channel; a counter with fewer units ends with NaN."""
        return pandas.DataFrame.from_dict(self.data["units"], orient="index")

    @property
    def kernels(self):
        """A frame with a row per launch."""
        return pandas.DataFrame(self.data["kernels"])

    @property
    def samples(self):
        """A frame with a row per interval (`sample=N`), indexed by cycle."""
        samples = self.data.get("samples")
        if samples is None:
            raise ValueError("the run has no samples; pass sample=CYCLES")
        return pandas.DataFrame(samples["rows"], columns=samples["columns"]).set_index("cycle")

    def save(self, path):
        """Writes the JSON, which `load` and `sluice diff` read."""
        pathlib.Path(path).write_text(json.dumps(self.data), encoding="utf-8")


def load(path):
    """A result that `sluice run --json` wrote."""
    return Result(json.loads(pathlib.Path(path).read_text(encoding="utf-8")))


def run(workload=None, *, gpu=None, design=None, set=None, program=None, **options):
    """Simulates a workload ("mm:small"), or launch="FILE", trace="FILE". Other options are those of `sluice run`: max_insts=N,
    sample=N, no_skip=True. Returns a Result; raises Error if the run fails or its own check does not pass."""
    words = ["run", *([workload] if workload else []), *_options(gpu=gpu, design=design, set=set, **options), "--json", "-"]
    return Result(json.loads(_call(program, words)))


def compare(workload=None, designs=(), *, gpu=None, set=None, program=None, **options):
    """One program under several designs: a frame with a row per design, its totals, total energy and every counter."""
    words = ["compare", *([workload] if workload else []), "--designs", ",".join(designs),
             *_options(gpu=gpu, set=set, **options), "--json", "-"]
    rows = json.loads(_call(program, words))["designs"]
    return _frame(rows).set_index("design")


@contextlib.contextmanager
def _files(results):
    """The paths of results, each a Result or a path."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for index, result in enumerate(results):
            paths.append(os.fspath(result) if not isinstance(result, Result) else os.path.join(folder, f"{index}.json"))
            if isinstance(result, Result):
                result.save(paths[-1])
        yield paths


def plot(*results, output, program=None, **options):
    """Charts of results (Result or path) as a file: .html, .svg or .png. `kind` and `counter` are those of `sluice plot`."""
    with _files(results) as paths:
        _call(program, ["plot", *paths, *_options(**options), "-o", os.fspath(output)])


def diff(first, second, *, program=None):
    """What changed between two results (Result or path): a frame with a row per share, rate and counter that differs, largest
    effects of each kind first, then the counters that only one of them has."""
    with _files((first, second)) as paths:
        found = json.loads(_call(program, ["diff", *paths, "--json", "-"]))
    rows = [{"kind": kind, **row} for kind in ("shares", "rates", "counters", "counters_of_one_run") for row in found[kind]]
    return pandas.DataFrame(rows, columns=["kind", "name", "unit", "a", "b", "effect"])


def _frame(runs):
    totals = ("identity", "workload", "gpu", "design", "check", "cycles", "thread_instructions", "warp_instructions", "ipc",
              "normalised_ipc")
    return pandas.DataFrame([{**{key: run[key] for key in totals if key in run}, "energy": run["energy"]["total"], **run["stats"]}
                             for run in runs])


def results(*experiments, store="results.sqlite", size=None, program=None):
    """Stored runs of experiments, or of the whole store: a frame with a row per run."""
    words = ["lab", "export", *experiments, *_options(store=store, size=size), "--json", "-"]
    return _frame(json.loads(_call(program, words)))


def lab(*experiments, store="results.sqlite", size=None, jobs=None, program=None):
    """Simulates what the store does not have of these experiments, and returns their runs as `results` does."""
    _call(program, ["lab", "run", *experiments, *_options(store=store, size=size), *(["-j", str(jobs)] if jobs else [])])
    return results(*experiments, store=store, size=size, program=program)


def names(kind, *, program=None):
    """Names of the bundled gpus, designs, workloads or experiments."""
    about = {"gpus": ["run", "--gpu", ""], "designs": ["run", "--design", ""], "workloads": ["run", ""],
             "experiments": ["report", ""]}
    if kind not in about:
        raise ValueError(f"cannot list {kind!r}; expected one of {', '.join(about)}")
    done = subprocess.run([_program(program), "complete", "--", *about[kind]], capture_output=True, text=True, check=True)
    return [line.split("\t")[0] for line in done.stdout.splitlines()]
