"""Golden counters: runs every row of `matrix` and compares all counters with those kept in kept/*.csv.

A run's row has a digest over every counter of every unit, every kernel and every decision, then the totals of all counters, so
that a difference can be shown as counters before and after. Names do not enter the digest by themselves: a counter that was only renamed
is found by its place among the counters and its values, and reported as renamed.

    golden.py PROGRAM [-j N] [--only TEXT]          compare; the last line is `N passed, N failed`, one test for each design on each GPU
    golden.py PROGRAM [-j N] --stop                 compare, a run of each design in turn, and end at the first difference
    golden.py PROGRAM [-j N] --no-skip              compare runs that poll every component in every cycle
    golden.py PROGRAM [-j N] --against OTHER        compare with another program, every workload in every row of the matrix
    golden.py PROGRAM [-j N] --accept REASON        keep the counters of this program, and the reason in history.md
"""
import argparse
import collections
import concurrent.futures
import csv
import hashlib
import itertools
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
KEPT = os.path.join(HERE, "kept")

FEW = "lud sp gemm an mm hg bfs sssp ptf reduction cfd"
SYNTH = {
    "chase": "iterations=200", "stream": "iterations=8", "copy": "iterations=6", "hotline": "iterations=3",
    "uniform": "iterations=3", "shared": "iterations=6", "spread": "iterations=6", "alu": "iterations=1",
}

Row = collections.namedtuple("Row", "gpu design settings programs")
Run = collections.namedtuple("Run", "key gpu design settings program")


def workloads(program):
    """Names of the bundled programs, as `sluice list workloads` prints them."""
    text = subprocess.run([program, "list", "workloads"], capture_output=True, text=True, check=True).stdout
    programs = text.split("\n\n")[0].splitlines()[1:]  # then come the generated streams
    return [line.split()[0] for line in programs if line[:1].isalnum()]


def read_matrix(program, whole):
    """The rows of the matrix; with `whole`, all workloads where it names few."""
    sets = {"@all": None, "@few": [f"{name}:tiny" for name in FEW.split()], "@synth": [f"synth:{name}" for name in SYNTH]}
    rows = []
    with open(os.path.join(HERE, "matrix"), encoding="utf-8") as lines:
        for line in lines:
            line = line.split("#")[0].strip()
            if not line:
                continue
            gpu, design, settings, programs = (field.strip() for field in line.split("|"))
            if whole:
                programs = programs.replace("@few", "@all")
            if "@all" in programs and sets["@all"] is None:
                sets["@all"] = [f"{name}:tiny" for name in workloads(program)]
            expanded = []
            for name in programs.split():
                expanded += sets[name] if name.startswith("@") else [name]
            rows.append(Row(gpu, design, tuple(settings.split()), expanded))
    return rows


def runs_of(row):
    for program in row.programs:
        yield Run(" ".join([program, *row.settings]), row.gpu, row.design, row.settings, program)


def command(program, run, extra):
    words = [program, "run", *run.program.replace("+", " + ").split(), "--gpu", run.gpu]
    if run.design != "default":
        words += ["--design", run.design]
    settings = list(run.settings) + extra
    if run.program.startswith("synth:"):
        settings.append("workload." + SYNTH[run.program[len("synth:"):]])
    for setting in settings:
        words += ["--set", setting]
    return words


def simulate(program, run, flags):
    """The run's result as a dict, or a sentence that says why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, "run.json")
        steps = [[]]
        if run.design == "profiled":  # one run counts, the next goes by the counts
            counts = os.path.join(folder, "profile")
            steps = [[f"l1.profiled.record={counts}"], [f"l1.profiled.profile={counts}"]]
        for extra in steps:
            done = subprocess.run(command(program, run, extra) + flags + ["--json", result], capture_output=True, text=True)
            if done.returncode != 0:
                return f"exit status {done.returncode}: {done.stderr.strip()[:120]}"
        with open(result, encoding="utf-8") as text:
            return json.load(text)


def without_wording(value, texts):
    """Numbers texts in the order of their first occurrence: a reworded reason of a decision is the same reason."""
    if isinstance(value, dict):
        return {name: without_wording(one, texts) for name, one in value.items()}
    if isinstance(value, list):
        return [without_wording(one, texts) for one in value]
    return texts.setdefault(value, f"text {len(texts)}") if isinstance(value, str) else value


def summary(result):
    """(totals by counter, digest parts by counter, digest of the rest)"""
    totals = {"cycles": result["cycles"], **result["stats"]}
    parts = {name: json.dumps([value, result["units"].get(name)]) for name, value in totals.items()}
    rest = json.dumps([[kernel[key] for key in sorted(kernel) if key != "launch"] for kernel in result["kernels"]] +
                      [without_wording(result.get("decisions"), {}), result.get("check")])
    return totals, parts, rest


def digest(parts, rest, names):
    """Over the counters in the order of `names`; a list of the names that they were kept by."""
    whole = hashlib.sha256(rest.encode())
    for name in names:
        whole.update(b"\n" + (parts[name].encode() if name in parts else b"-"))
    return whole.hexdigest()[:16]


def kept_path(gpu, design):
    return os.path.join(KEPT, f"{gpu}.{design}.csv")


def read_kept(path):
    """(names of counters, {key: (digest, {counter: total})})"""
    if not os.path.exists(path):
        return [], {}
    with open(path, encoding="utf-8", newline="") as text:
        rows = list(csv.reader(text))
    names = rows[0][2:]
    return names, {row[0]: (row[1], {n: int(v) for n, v in zip(names, row[2:]) if v != ""}) for row in rows[1:]}


def write_kept(path, names, rows):
    with open(path + ".new", "w", encoding="utf-8", newline="") as text:
        out = csv.writer(text, lineterminator="\n")
        out.writerow(["run", "digest", *names])
        for key, (totals, parts, rest) in rows.items():
            out.writerow([key, digest(parts, rest, names), *[totals.get(name, "") for name in names]])
    os.replace(path + ".new", path)


def names_of(rows):
    names = {}
    for totals, _, _ in rows.values():
        names.update(dict.fromkeys(totals))
    return list(names)


def renamed(kept_names, names):
    """{kept name: new name}, where counters that are gone and counters that are new stand in the same order."""
    gone = [name for name in kept_names if name not in set(names)]
    new = [name for name in names if name not in set(kept_names)]
    return dict(zip(gone, new)) if len(gone) == len(new) else {}


def compare(kept, rows):
    """Lines that say what differs; empty if nothing does."""
    kept_names, kept_rows = kept
    names = names_of(rows)
    now_called = renamed(kept_names, names)
    lines = [f"    renamed: {old} is now {new}" for old, new in now_called.items()]
    lines += [f"    gone: {name}" for name in kept_names if name not in set(names) and name not in now_called]
    lines += [f"    new: {name}" for name in names if name not in set(kept_names) and name not in now_called.values()]
    order = [now_called.get(name, name) for name in kept_names]
    for key in kept_rows.keys() | rows.keys():
        if key not in rows or key not in kept_rows:
            lines.append(f"    {key}: {'no longer a run' if key not in rows else 'a new run'}")
            continue
        (totals, parts, rest), (kept_digest, kept_totals) = rows[key], kept_rows[key]
        if digest(parts, rest, order) == kept_digest:
            continue
        differ = [(name, new) for name, new in zip(kept_names, order) if totals.get(new) != kept_totals.get(name)]
        lines.append(f"    {key}: {len(differ)} counters differ" if differ else f"    {key}: only values of single units, kernels or decisions differ")
        for name, new in differ[:12]:
            lines.append(f"        {name:<40} before {kept_totals.get(name)}, after {totals.get(new)}")
    return lines


def first_difference(program, wanted, flags, jobs, limit):
    """Key of a run that differs, or None. One run of each design comes first, then the second of each: most faults show early."""
    kept = {place: read_kept(kept_path(*place)) for place in wanted}

    def differs(run):
        result = simulate(program, run, flags)
        names, rows = kept[run.gpu, run.design]
        if isinstance(result, str) or run.key not in rows:
            return run
        _, parts, rest = summary(result)
        return run if digest(parts, rest, names) != rows[run.key][0] else None

    rounds = itertools.islice(itertools.zip_longest(*[runs.values() for runs in wanted.values()]), limit)
    flat = [run for each in rounds for run in each if run]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for start in range(0, len(flat), jobs):
            for run in pool.map(differs, flat[start:start + jobs]):
                if run:
                    return run
    return None


def compare_programs(program, other, runs, flags, jobs):
    """Runs both programs and compares all counters. A run that neither program accepts is left out."""

    def difference(run):
        now, before = simulate(program, run, flags), simulate(other, run, [])
        if isinstance(now, str) or isinstance(before, str):
            return None if now == before else f"{now if isinstance(now, str) else before}"
        now, before = summary(now), summary(before)
        if now == before:
            return ""
        return ", ".join(name for name in before[1] if now[1].get(name) != before[1][name]) or "kernels, decisions or new counters"

    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for run, found in zip(runs, pool.map(difference, runs)):
            passed += found == ""
            failed += bool(found)
            if found:
                print(f"FAIL  {run.gpu} {run.design} {run.key}: {found[:400]}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="only files of the matrix whose GPU and design hold this text")
    parser.add_argument("--stop", action="store_true", help="end at the first difference")
    parser.add_argument("--rounds", type=int, help="with --stop: compare only this number of runs of each design")
    parser.add_argument("--no-skip", action="store_true", help="poll every component in every cycle: the counters must be the same")
    parser.add_argument("--against", metavar="PROGRAM", help="compare with the counters of another program, in more runs than are kept")
    parser.add_argument("--accept", metavar="REASON")
    args = parser.parse_args()
    program = os.path.abspath(args.program)
    flags = ["--no-skip"] if args.no_skip else []
    os.chdir(ROOT)

    wanted = collections.OrderedDict()
    for row in read_matrix(program, args.against):
        for run in runs_of(row):
            if args.only in f"{run.gpu}.{run.design}":
                wanted.setdefault((run.gpu, run.design), collections.OrderedDict())[run.key] = run
    if args.stop:
        run = first_difference(program, wanted, flags, args.j, args.rounds)
        if run:
            print(f"FAIL  golden: {run.design} on {run.gpu} has the kept counters\n    {run.key} differs")
        print(f"{0 if run else len(wanted)} passed, {1 if run else 0} failed")
        return run is not None
    flat = [run for runs in wanted.values() for run in runs.values()]
    if args.against:
        return compare_programs(program, os.path.abspath(args.against), flat, flags, args.j)
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        results = dict(zip(flat, pool.map(lambda run: simulate(program, run, flags), flat)))

    passed = failed = changed = 0
    if args.accept:
        os.makedirs(KEPT, exist_ok=True)
    for (gpu, design), runs in wanted.items():
        errors = [f"    {run.key}: {results[run]}" for run in runs.values() if isinstance(results[run], str)]
        rows = {run.key: summary(results[run]) for run in runs.values() if not isinstance(results[run], str)}
        path = kept_path(gpu, design)
        lines = errors or compare(read_kept(path), rows)
        if args.accept and not errors:
            changed += bool(lines)
            write_kept(path, names_of(rows), rows)
        elif lines:
            failed += 1
            print(f"FAIL  golden: {design} on {gpu} has the kept counters")
            print("\n".join([line for line in lines if " renamed: " in line] + [line for line in lines if " renamed: " not in line][:8]))
        else:
            passed += 1
    if args.accept:
        if failed:
            print(f"{failed} designs have runs that fail; nothing of these was kept", file=sys.stderr)
            return 1
        with open(os.path.join(HERE, "history.md"), "a", encoding="utf-8") as history:
            history.write(f"- {args.accept} ({changed} of {len(wanted)} files differ)\n")
        print(f"{len(flat)} runs kept; {changed} of {len(wanted)} files differ")
        return 0
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
