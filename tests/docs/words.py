#!/usr/bin/env python3
"""Prints the places where a text of the project uses a phrase for which the field has a term, one per line, and the term.

Texts are: pages, manual, scripts, build files, descriptions and experiments as a whole; comments and strings of C files, and so
help, errors and titles of tests; comments and titles of test scripts. Names in code are not texts.
"""
import os
import pathlib
import re
import sys

# Phrase (a regular expression, any case) and the term for it. docs/glossary.md defines the terms.
TERMS = [
    (r"on (its|their) way", "in flight, pending hit"),
    (r"\bpending read\b", "pending hit"),
    (r"\brefus(e|es|ed|al|als|ing)\b", "reservation failure (of a cache); reject (of input)"),
    (r"merge list|(full|whole) list of waiters|room for (a|another|one more) waiter", "MSHR merge limit"),
    (r"\bpast the (L1|LLC|cache)s?\b|\b(go|goes|going|went) past\b|\bpass(es|ed)? by the (L1|LLC|cache)s?\b", "bypass the L1"),
    (r"\bbr(ing|ings|ought) (it|(its|the|a|their) lines?) (in|into)\b", "allocate"),
    (r"\bforg(et|ets|ot|otten)\b", "invalidate"),
    (r"\boutdated\b", "stale"),
    (r"\brooms?\b", "module, space, entry"),
    (r"\b(late|last|first) word of\b|\border from outside\b", "message, command"),
    (r"\b(\d+|no|older|private|more|fewer|without|time with) copies\b|\bcopies of (its|the|a) lines?\b", "replicas"),
    (r"\bstands? under\b|\bhow the machine stands\b", "mode"),
    (r"\banew\b|\bonce more\b", "again, rerun"),
    (r"\b(stopped|time|cost) (to|of a) switch\b|\bswitch (to|between) (a )?(shared|private)\b", "reconfiguration"),
    (r"\bset aside\b", "replay queue"),
    (r"\bunloaded (cycles|latency)\b", "zero-load latency"),
    (r"\bso many (lines|cycles|flits|loads|times|draws|of|to|have|make|replaced)\b", "N ..."),
    (r"\bwhat there is\b|\bof one's own\b", "a plain noun"),
    (r"\blets? out\b", "sustain"),
    (r"\b(tell|tells|told) (it|us|how|what|which|where|who|whether|apart|of)\b", "report, show, identify"),
    (r"\b(comes?|came) to an end\b|\bwhat .{1,40} came? to\b", "end, result"),
    (r"\bset beside\b|\bbeside (the|a|it|each)\b", "next to"),
    (r"\bs00[0234]\b", "adaptive, icc, selrep, bypass"),
]

WHOLE = {".md", ".yaml", ".awk", ".cmake", ".txt", ".json", ".1", ".py", ".css", ".html"}
SKIPPED = re.compile(
    r"^(data|tests/golden|tests/fuzz)/"  # results and inputs
    r"|^CHANGELOG\.md$|^tests/docs/words(\.py|_test\.sh)$"  # lists of former names
    r"|^(tests/cli/sizes_test\.sh|tests/lab/(plan|papers)_test\.c|tests/workloads/workloads_test\.c|workloads/work\.[ch])$"  # test and map them
)
# Places where a phrase is right.
RIGHT = {"docs/workloads.md": ["s000", "s002", "s003", "s004"]}

COMMENT_OR_STRING = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", re.S)
SCRIPT_TEXT = re.compile(r"(?:^|\s)#[^\n]*|^\s*testcase \"[^\n]*", re.M)


def texts(path, content):
    """Yields (line, text) of the parts of a file that are text."""
    if path.suffix in (".c", ".h", ".cu", ".def", ".js"):
        parts = COMMENT_OR_STRING
    elif path.name.endswith("_test.sh"):
        parts = SCRIPT_TEXT
    elif path.name == "equivalent":  # quotes changed lines of code
        parts = re.compile(r"^(?:#|reason: )[^\n]*", re.M)
    elif path.suffix in WHOLE or not path.suffix or path.suffix == ".sh":
        parts = re.compile(r"[^\n]+")
    else:
        return
    for part in parts.finditer(content):
        yield content.count("\n", 0, part.start()) + 1, part.group()


def walk(root):
    """Yields the files below a directory, without those of builds and of Git."""
    for directory, names, files in os.walk(root):
        names[:] = sorted(set(names) - {"build", ".git"})
        yield from (pathlib.Path(directory, name) for name in sorted(files))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    terms = [(re.compile(phrase, re.I), term) for phrase, term in TERMS]
    files = 0
    for path in walk(root):
        name = path.relative_to(root).as_posix()
        if SKIPPED.match(name) or path.suffix in (".ptx", ".png", ".svg", ".csv"):
            continue
        try:
            content = path.read_text()
        except UnicodeDecodeError:
            continue
        files += 1
        for line, text in texts(path, content):
            joined = re.sub(r"\s*\n\s*(\*|#|//)?\s*", " ", text)
            if path.suffix in (".c", ".h"):
                joined = re.sub(r"`[^`]*`", "`", joined)  # quoted names
            for phrase, term in terms:
                found = phrase.search(joined)
                if found and found.group().lower() not in RIGHT.get(name, []):
                    print(f"{name}:{line}: \"{found.group()}\": {term}")
    print(f"{files} files", file=sys.stderr)


main()
