"""Opens a timeline in the trace viewer of chrome://tracing, inside headless Chromium, and compares the viewer's model with the file.

    trace_viewer.py FOLDER TIMELINE                     prints "ok TEXT" or "no TEXT: DETAILS" for each statement
    trace_viewer.py FOLDER TIMELINE --picture FILE.png  also writes a screenshot; --select NAME: of the longest span with this name, and its arguments;
                                                        --whole: fails unless all tracks are in view; --height PIXELS of the window

FOLDER holds trace_viewer_full.html and webcomponents.min.js, as in Debian's golang-src. The viewer's HTML imports are read by its own script, from file://.
Chromium is driven through its debugging pipe: descriptors 3 and 4, with a zero byte after each message."""

import argparse
import base64
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PAGE = """<!DOCTYPE html>
<meta charset="utf-8">
<style>
html, body { height: 100%; margin: 0; overflow: hidden; }
body { display: flex; flex-direction: column; }
body > tr-ui-timeline-view { flex: 1 1 auto; min-height: 0; }
tr-ui-b-info-bar-group { display: none !important; } /* messages about the viewer's age; warnings are in its model */
</style>
<script>const errors = []; addEventListener("error", (event) => errors.push(event.message));</script>
<script src="FOLDER/webcomponents.min.js"></script>
<link rel="import" href="FOLDER/trace_viewer_full.html">
"""

# What the viewer makes of a text: [model, warnings], or what went wrong. Times are milliseconds there, microseconds in trace events.
SHOW = """async (text) => {
    const model = new tr.Model(), options = new tr.importer.ImportOptions();
    options.shiftWorldToZero = false;
    await new tr.importer.Import(model, options).importTraces([text]);
    const view = window.timelineView = document.createElement("tr-ui-timeline-view"), tracks = document.createElement("track-view-container");
    tracks.id = "track_view_container";
    view.track_view_container = tracks;
    Polymer.dom(view).appendChild(tracks);
    view.globalMode = true;
    Polymer.dom(document.body).appendChild(view);
    view.model = model;
    view.viewTitle = document.title = "Sluice";
    const spans = [], values = [], names = [];
    for (const process of Object.values(model.processes)) {
        names.push([process.pid, 0, process.name]);
        for (const thread of Object.values(process.threads)) {
            names.push([process.pid, thread.tid, thread.name]);
            for (const slice of thread.sliceGroup.slices)
                spans.push([process.pid, thread.tid, slice.title, 1000 * slice.start, 1000 * slice.duration, slice.args]);
        }
        for (const counter of Object.values(process.counters))
            for (const series of counter.series)
                for (const sample of series.samples) values.push([process.pid, counter.name, series.name, 1000 * sample.timestamp, sample.value]);
    }
    return {names, spans, values, warnings: model.importWarnings.map((w) => w.type + ": " + w.message), errors, end: 1000 * model.bounds.max};
}"""

# Selects the longest span with a name.
SELECT = """(name) => {
    const view = window.timelineView, spans = [];
    for (const thread of view.model.getAllThreads()) spans.push(...thread.sliceGroup.slices.filter((slice) => slice.title == name));
    spans.sort((a, b) => b.duration - a.duration);
    if (spans.length) view.brushingStateController.changeSelectionFromTimeline(new tr.model.EventSet(spans.slice(0, 1)));
}"""


# The headings of tracks that are completely in view, above the panel with the selection.
VISIBLE = """() => {
    const found = [], bottom = window.timelineView.querySelector("#track_view_container").getBoundingClientRect().bottom;
    const walk = (node) => {
        if (node.tagName == "TR-UI-B-HEADING") {
            const box = node.getBoundingClientRect(), text = ((node.shadowRoot || node).textContent || "").trim();
            if (text && box.height > 0 && box.top >= 0 && box.bottom <= bottom + 1) found.push(text);
        }
        if (node.shadowRoot) walk(node.shadowRoot);
        for (const child of node.children || []) walk(child);
    };
    walk(document.body);
    return found;
}"""


class Chromium:
    def __init__(self, folder, height):
        there, self.to = os.pipe()
        self.back, here = os.pipe()
        command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                   "--disable-component-update", "--disable-sync", "--allow-file-access-from-files", "--remote-debugging-pipe",
                   f"--user-data-dir={folder}/profile", f"--window-size=1300,{height}", "about:blank"]
        self.process = subprocess.Popen(["sh", "-c", f'exec "$@" 3<&{there} 4>&{here}', "sh", *command], pass_fds=(there, here),
                                        stdout=subprocess.DEVNULL, stderr=open(f"{folder}/log", "w"))
        os.close(there)
        os.close(here)
        self.pending, self.calls, self.session = b"", 0, None

    def receive(self):
        while b"\0" not in self.pending:
            more = os.read(self.back, 1 << 20)
            if not more:
                raise EOFError("Chromium closed its debugging pipe")
            self.pending += more
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.calls += 1
        message = {"id": self.calls, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.calls:
                break
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, url):
        target = self.call("Target.createTarget", url=url)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get("description", "exception"))
        return result["result"].get("value")

    def close(self):
        self.session = None
        try:
            self.call("Browser.close")
            self.process.wait(20)
        except (EOFError, OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


def compare(events, model):
    """Yields (statement, details); without details the statement holds. Times in files have three digits."""
    def rows(items, digits):
        return collections.Counter(tuple(round(i, digits) if isinstance(i, float) else i for i in item) for item in items)

    def difference(found, expected):
        lost, more = expected - found, found - expected
        return f"{sum(lost.values())} missing such as {next(iter(lost))}" if lost else f"{sum(more.values())} too many such as {next(iter(more))}" if more else ""

    spans = [e for e in events if e["ph"] == "X"]
    values = [e for e in events if e["ph"] == "C"]
    names = {(e["pid"], e["tid"] if e["name"] == "thread_name" else 0, e["args"]["name"]) for e in events if e["name"] in ("process_name", "thread_name")}
    found = {tuple(name) for name in model["names"]}
    yield "the viewer imports the file without a warning", "; ".join(model["warnings"] + model["errors"])
    yield f"it names {len(names)} processes and threads", ", ".join(str(name) for name in sorted(names - found))
    yield f"it shows {len(spans)} spans with their times", difference(
        rows(([*s[:3], float(s[3]), float(s[4])] for s in model["spans"]), 3), rows(([e["pid"], e["tid"], e["name"], float(e["ts"]), float(e["dur"])] for e in spans), 3))
    arguments = collections.Counter(json.dumps([s[2], s[5]], sort_keys=True) for s in model["spans"])
    yield "it shows the arguments of spans", difference(arguments, collections.Counter(json.dumps([e["name"], e["args"]], sort_keys=True) for e in spans))
    tracks = sorted(model["spans"], key=lambda span: span[:2] + span[3:5])
    yield "the spans of a track follow each other", "; ".join(
        f"{b[2]} at {b[3]:.3f} begins before {a[2]} ends" for a, b in zip(tracks, tracks[1:]) if a[:2] == b[:2] and a[3] + a[4] > b[3] + 1e-6)[:200]
    expected = [[e["pid"], e["name"], key, float(e["ts"]), float(value)] for e in values for key, value in e["args"].items()]
    yield f"it shows {len(expected)} values of {len({(e['pid'], e['name']) for e in values})} counters", difference(rows(([*v[:3], float(v[3]), float(v[4])] for v in model["values"]), 3), rows(expected, 3))
    end = max([e["ts"] + e["dur"] for e in spans] + [e["ts"] for e in values])
    yield "its time ends with the last event", "" if abs(model["end"] - end) < 0.002 else f"{model['end']:.3f}, not {end:.3f}"


def tracks(events):
    return sorted({e["args"]["name"] for e in events if e["name"] == "thread_name"} | {e["name"] for e in events if e["ph"] == "C"})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("timeline", type=pathlib.Path)
    parser.add_argument("--picture", type=pathlib.Path)
    parser.add_argument("--select")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--height", type=int, default=760)
    options = parser.parse_args()
    text = options.timeline.read_text()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = pathlib.Path(folder, "page.html")
        page.write_text(PAGE.replace("FOLDER", options.folder.resolve().as_uri()))
        browser = Chromium(folder, options.height)
        try:
            browser.open(page.as_uri())
            deadline = time.monotonic() + 60
            while not browser.evaluate('typeof tr == "object" && Boolean(tr.importer && tr.importer.Import && customElements)'):
                if time.monotonic() > deadline:
                    raise TimeoutError("the viewer does not load")
                time.sleep(0.1)
            model = browser.evaluate(f"({SHOW})({json.dumps(text)})")
            if options.picture:
                browser.evaluate(f"({SELECT})({json.dumps(options.select)})")
                time.sleep(1)
                visible = browser.evaluate(f"({VISIBLE})()")
                hidden = [name for name in tracks(json.loads(text)["traceEvents"]) if not any(name in heading for heading in visible)]
                if options.whole and hidden:
                    raise SystemExit(f"not in the picture: {', '.join(hidden)}; a larger --height shows more")
                options.picture.write_bytes(base64.b64decode(browser.call("Page.captureScreenshot")["data"]))
        finally:
            browser.close()
    for statement, details in compare(json.loads(text)["traceEvents"], model):
        print(f"no {statement}: {details}" if details else f"ok {statement}")


if __name__ == "__main__":
    sys.exit(main())
