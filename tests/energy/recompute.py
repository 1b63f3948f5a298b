#!/usr/bin/env python3
"""Recomputes the energy of runs from their counters and configuration, independently of src/energy.

    recompute.py RESULT.json ...

Reads the output of `sluice run --json` and the tables energy/*.yaml, applies the formulas of docs/energy.md, and
compares every component, by events and by time, with the `energy` of the file. Prints each difference; the exit status
is 1 if there is one. Relative differences up to 1e-9 are rounding."""

import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOLERANCE = 1e-9


def read_table(name):
    """A bundled table or a file: numbers, lists of numbers and mappings of them, of up to two levels."""
    def value(text):
        if text.startswith("{"):
            return {k: float(v) for k, v in re.findall(r"(\w+): *([^,}]+)", text)}
        if text.startswith("["):
            return [float(v) for v in text[1:-1].split(",")]
        try:
            return float(text)
        except ValueError:
            return text

    table, inner = {}, None
    path = pathlib.Path(name) if name.endswith(".yaml") else ROOT / "energy" / f"{name}.yaml"
    for line in path.read_text().splitlines():
        line = re.sub(r"(^|\s)#.*", "", line).rstrip()
        if not line:
            continue
        key, text = re.fullmatch(r" *(\w+):(.*)", line).groups()
        if line.startswith(" "):
            inner[key] = value(text.strip())
        elif text.strip():
            table[key] = value(text.strip())
        else:
            inner = table[key] = {}
    return table


class Router:
    """A router of DSENT's shape: inputs I, outputs O, bits W, VCs V, flits B of a VC."""

    def __init__(self, table, I, O, W, V, B):
        self.table = table
        self.inputs = I
        self.terms = {
            "one": 1, "inputs": I, "inputs2": I * I, "bits": W, "stored_bits": W * V * B, "input_bits": W * I,
            "output_bits": W * O, "crosspoint_bits": W * I * O, "crosspoint_bits2": W * W * I * O,
            "crosspoints": I * O, "crosspoints_inputs": I * I * O, "vcs2": V * (V - 1), "input_vcs2": I * V * (V - 1),
        }

    def __getitem__(self, quantity):
        return sum(c * self.terms[term] for term, c in self.table[quantity].items())

    def leak_mw(self, inputs=None):
        inputs = self.inputs if inputs is None else inputs
        rest = self["crossbar_leak_mw"] + self["allocator_leak_mw"] + self["register_leak_mw"]
        return inputs * self["input_leak_mw"] + rest


def link(table, bits, mm, picoseconds):
    """Energy of a flit in pJ and leakage in mW: the fewest repeaters, of the smallest size, that meet the time."""
    most = min(max(round(mm * math.sqrt(table["wire_ps"] / table["repeater_ps"])), 1), 10000)
    chosen = (most, 1)
    for count in range(1, most + 1):
        fast = [s / 100 for s in table["sizes_percent"]
                if count * table["repeater_ps"] + table["wire_ps"] * mm**2 / count
                + mm * (table["drive_ps"] / (s / 100) + table["load_ps"] * s / 100) <= picoseconds]
        if fast:
            chosen = (count, fast[0])
            break
    strength = bits * chosen[0] * chosen[1]
    return table["wire_pj"] * bits * mm + table["repeater_pj"] * strength, table["repeater_leak_mw"] * strength


def array(table, quantity, size, ways, bits):
    """A cache by its geometry: scale × bytes^p × ways^q, between 256 and 1024 bits by their logarithm."""
    def law(width):
        c = table[width][quantity]
        small = c.get("small", 1) if size < 32768 else 1
        return c["scale"] * size ** c["bytes"] * ways ** c["ways"] * small

    narrow, wide = law("bits_256"), law("bits_1024")
    share = min(max(math.log2(bits / 256) / 2, 0), 1)
    if wide > narrow > 0:
        return narrow ** (1 - share) * wide ** share
    return narrow if share < 0.5 else wide


def tags(table, quantity, size):
    """A table of `size` bytes: as the tags of a cache of 4 ways, whose lines of 128 bytes have 4 bytes of tag."""
    return array(table, quantity, size / 4 * 128, 4, 256)


class Account:
    def __init__(self, result):
        self.result, self.config, self.stats = result, result["config"], result["stats"]
        c = self.config
        self.gpu = read_table(c["energy.gpu"])
        self.dram = read_table(c["energy.dram"] or "dram-" + c["dram.kind"])
        self.router, self.link = read_table(c["energy.router"]), read_table(c["energy.link"])
        self.array = read_table(c["energy.array"])
        self.hertz = c["gpu.core_mhz"] * 1e6
        self.noc_hertz = c["noc.clock_mhz"] * 1e6 or self.hertz
        self.seconds = result["cycles"] / self.hertz
        self.parts = {name: {"events": 0.0, "time": 0.0} for name in result["energy"]["parts"]}
        self.stages = {name: {"events": 0.0, "time": 0.0} for name in result["energy"]["noc_stages"]}
        self.line = c["gpu.line_bytes"]
        self.slices = c["llc.slices_per_mc"] * c["dram.mcs"]
        self.groups = c.get("group.count") or c["gpu.clusters"]
        self.grouped = c["l1.organisation"] != "private"
        self.group_sms = c["sm.count"] // self.groups
        self.group_nodes = c.get("group.nodes") or self.group_sms
        self.l1s = self.groups * self.group_nodes if self.grouped else c["sm.count"]

    def count(self, name):
        return self.stats.get(name, 0)

    def events(self, part, number, pj):
        self.parts[part]["events"] += number * pj * 1e-12

    def power(self, part, watts):
        self.parts[part]["time"] += watts * self.seconds

    def routers(self, stage, events=0.0, time=0.0):
        for part in (self.parts["noc_routers"], self.stages[stage]):
            part["events"] += events
            part["time"] += time

    def sms(self):
        gpu, warps, threads = self.gpu, self.count("sm.warp_instructions"), self.count("sm.thread_instructions")
        self.events("issue", warps, gpu["instruction_pj"] + gpu["schedule_pj"])
        self.events("registers", threads, gpu["register_reads"] * gpu["register_read_pj"]
                    + gpu["register_writes"] * gpu["register_write_pj"])
        for cache in "instruction", "constant":
            for outcome, counter in ("hit", "hits"), ("miss", "misses"):
                self.events("sm_caches", self.count(f"sm.{cache}_{counter}"), gpu[f"{cache}_{outcome}_pj"])
        self.events("sm_caches", self.count("sm.read_only_hits") + self.count("sm.read_only_misses"),
                    gpu["read_only_pj"])
        self.events("shared_memory", self.count("sm.shared_accesses"), gpu["shared_pj"])
        classes = {"int_pj": "other int_add int_minmax", "int_mul_pj": "int_mul int_mad",
                   "f32_pj": "f32_add f32_minmax", "f32_mul_pj": "f32_mul f32_fma",
                   "f64_pj": "f64_add f64_minmax", "f64_mul_pj": "f64_mul f64_fma",
                   "special_pj": "int_div f32_div f64_div special"}
        for pj, names in classes.items():
            for name in names.split():
                self.events("arithmetic", self.count("sm.op." + name) * threads / max(warps, 1), gpu[pj])
        self.events("arithmetic", self.count("sm.tensor_multiply_adds"), gpu["tensor_pj"])
        self.power("sm_idle", self.config["sm.count"] * gpu["sm_watts"])
        self.power("constant", gpu["constant_watts"])

    def measured_caches(self):
        gpu, count = self.gpu, self.count
        self.events("l1", count("l1.read_hits") + count("l1.read_pending_hits") + count("l1.icc.served_hits"),
                    gpu["l1_read_hit_pj"])
        self.events("l1", count("l1.read_misses") + count("l1.read_bypasses"), gpu["l1_read_miss_pj"])
        self.events("l1", count("l1.write_hits"), gpu["l1_write_hit_pj"])
        self.events("l1", count("l1.write_misses"), gpu["l1_write_miss_pj"])
        in_vain = count("l1.icc.served") - count("l1.icc.served_hits")
        c = self.config
        self.events("l1", in_vain,
                    array(self.array, "tag_read_pj", 1024 * c["l1.size_kb"], c["l1.ways"], 8 * self.line))
        self.events("llc", count("llc.read_hits") + count("llc.read_pending_hits"), gpu["llc_read_hit_pj"])
        self.events("llc", count("llc.read_misses"), gpu["llc_read_miss_pj"])
        for outcome in "hit", "miss":
            plural = {"hit": "hits", "miss": "misses"}[outcome]
            writes = count(f"llc.write_{plural}") + count(f"llc.atomic_{plural}") + count(f"atomics.atomic_{plural}")
            self.events("llc", writes, gpu[f"llc_write_{outcome}_pj"])

    def caches_by_geometry(self):
        c = self.config

        def total(module, names):
            return sum(self.count(f"{module}.{name}") for name in names.split())

        def cache(part, number, kb, ways, bits, lookups, reads, writes):
            size, accesses = 1024 * kb, math.ceil(8 * self.line / bits)
            self.events(part, lookups, array(self.array, "tag_read_pj", size, ways, bits))
            self.events(part, reads * accesses, array(self.array, "data_read_pj", size, ways, bits))
            self.events(part, writes * accesses, array(self.array, "data_write_pj", size, ways, bits))
            self.power(part, 1e-3 * number * (array(self.array, "data_leak_mw", size, ways, bits)
                                              + array(self.array, "tag_leak_mw", size, ways, bits)))

        def moved(owner, lines, sectors):  # in lines; a sectored cache counts sectors
            sectored = c["l1.sector_bytes" if owner == "l1" else "llc.sector_bytes"]
            return total(owner + ".sectors", sectors) * sectored / self.line if sectored else lines

        cache("l1", self.l1s, c["l1.size_kb"], c["l1.ways"], 8 * self.line,
              total("l1", "read_hits read_pending_hits read_misses write_hits write_misses icc.served"),
              total("l1", "read_hits read_pending_hits write_backs icc.served_hits"),
              moved("l1", total("l1", "fills"), "fetched written"))
        changes = total("llc", "write_hits write_misses atomic_hits atomic_misses")
        cache("llc", self.slices, c["llc.slice_kb"], c["llc.ways"], 8 * c["llc.port_bytes"],
              total("llc", "read_hits read_pending_hits read_misses") + changes,
              moved("llc", total("llc", "data_replies write_backs") - total("llc", "atomics_forwarded"), "read written_back"),
              moved("llc", total("llc", "fills") + changes, "fetched written"))
        adapts = c.get("llc.adaptive.acts", False) and c.get("llc.adaptive.atomics", False)
        private = c["llc.organisation"] == "private" or adapts
        performed = total("atomics", "atomic_hits atomic_misses")
        cache("llc", c["dram.mcs"] if private else 0, c["atomics.size_kb"], c["atomics.ways"], 8 * c["llc.port_bytes"],
              performed, moved("atomics", total("atomics", "data_replies write_backs"), "read written_back"),
              moved("atomics", total("atomics", "fills") + performed, "fetched written"))

    def network(self, direction):
        """Stages of routers from the sources on, each with the links behind it; before the first the injection links."""
        c, request = self.config, direction == "request"
        ends = self.l1s, self.slices
        sources, destinations = ends if request else ends[::-1]
        near, far = c["energy.link_mm"], c["energy.long_link_mm"]
        short, long = c["noc.link_cycles"], c["noc.long_link_cycles"]
        kinds = ("sm_router", "mc_router") if request else ("mc_router", "sm_router")
        first, last = (c["gpu.clusters"], c["dram.mcs"]) if request else (c["dram.mcs"], c["gpu.clusters"])
        share = c["noc.concentration"] if c["noc.topology"] == "concentrated" else 1
        # stages: name of the routers, their number, inputs, outputs, mm and cycles of the links behind them
        if c["noc.topology"] == "hierarchical":
            before = near
            stages = [(kinds[0], first, sources // first, last, far, long),
                      (kinds[1], last, first, destinations // last, near, short)]
        elif c["noc.topology"] in ("full", "concentrated"):
            before = far if request else near
            behind = (near, short) if request else (far, long)
            stages = [("router", 1, sources // share, destinations // share, *behind)]
        else:
            return
        bits, cycle_ps = 8 * c["noc.channel_bytes"], 1e12 / self.noc_hertz
        pj, leak_mw = link(self.link, bits, before, cycle_ps * (long if before == far else short))
        self.events("noc_links", self.count(f"noc.{direction}.flits_injected"), pj)
        self.power("noc_links", 1e-3 * stages[0][1] * stages[0][2] * leak_mw)
        if share > 1:
            self.concentrators(direction, share, sources, destinations)
        for stage, number, inputs, outputs, mm, cycles in stages:
            name = f"noc.{direction}.{stage}"
            pj, leak_mw = link(self.link, bits, mm, cycle_ps * cycles)
            self.events("noc_links", self.count(name + ".link_traversals"), pj)
            self.power("noc_links", 1e-3 * number * outputs * leak_mw)
            router = Router(self.router, inputs, outputs, bits, c["noc.vcs"], c["noc.vc_flits"])
            for event, quantity in (("buffer_writes", "buffer_write_pj"), ("buffer_reads", "buffer_read_pj"),
                                    ("vc_allocations", "vc_allocation_pj"), ("crossbar_traversals", "crossbar_pj"),
                                    ("switch_allocations", "switch_allocation_pj")):
                self.routers(stage, events=1e-12 * self.count(f"{name}.{event}") * router[quantity])
            off = self.count(name + ".gated_cycles") / self.hertz
            on = number * self.seconds - off
            leak, clock = 1e-3 * router.leak_mw(), 1e-12 * self.noc_hertz * router["clock_pj"]
            self.routers(stage, time=on * (leak + clock) + off * c["energy.gated_leak"] * leak)

    def concentrators(self, direction, share, sources, destinations):
        """Multiplexers with a buffer per source, demultiplexers, and a short link of one cycle to every endpoint."""
        c, bits = self.config, 8 * self.config["noc.channel_bytes"]
        pj, leak_mw = link(self.link, bits, c["energy.link_mm"], 1e12 / self.noc_hertz)
        self.power("noc_links", 1e-3 * (sources + destinations) * leak_mw)
        injected, ejected = (self.count(f"noc.{direction}.flits_{way}") for way in ("injected", "ejected"))
        self.events("noc_links", injected + ejected, pj)
        gather = Router(self.router, share, 1, bits, c["noc.vcs"], c["noc.vc_flits"])
        spread = Router(self.router, 1, share, bits, c["noc.vcs"], 0)
        packets = self.count(f"noc.{direction}.packets_injected")
        self.routers("concentrator", events=1e-12 * packets * gather["switch_allocation_pj"] + 1e-12 * injected * sum(
            gather[quantity] for quantity in ("buffer_write_pj", "buffer_read_pj", "crossbar_pj")))
        self.routers("concentrator", time=1e-3 * self.seconds * sources / share * (
            share * gather["input_leak_mw"] + gather["crossbar_leak_mw"] + gather["allocator_leak_mw"]))
        self.routers("distributor", events=1e-12 * ejected * spread["crossbar_pj"])
        self.routers("distributor", time=1e-3 * self.seconds * destinations / share * spread["crossbar_leak_mw"])

    def crossbars(self):
        """Of a group: routers with a buffer of one packet per input, and short links to SMs and nodes."""
        c = self.config
        bits = 8 * c["group.channel_bytes"]
        flits = math.ceil((8 + self.line) / c["group.channel_bytes"])
        pj, leak_mw = link(self.link, bits, c["energy.link_mm"], 1e12 / self.hertz * c["group.link_cycles"])
        for direction, inputs, outputs in (("request", self.group_sms, self.group_nodes),
                                           ("reply", self.group_nodes, self.group_sms)):
            router = Router(self.router, inputs, outputs, bits, 1, flits)
            self.events("l1_crossbars", self.count(f"l1.{direction}_crossbar.flits"),
                        router["buffer_write_pj"] + router["buffer_read_pj"] + router["crossbar_pj"] + 2 * pj)
            self.events("l1_crossbars", self.count(f"l1.{direction}_crossbar.packets"), router["switch_allocation_pj"])
            self.power("l1_crossbars", self.groups * (1e-3 * (router.leak_mw() + (inputs + outputs) * leak_mw)
                                                      + 1e-12 * self.hertz * router["clock_pj"]))

    def cooperation(self):
        c, organisation = self.config, self.config["l1.organisation"]
        if not c.get(f"l1.{organisation}.cooperate", False):
            return
        net = {"icc-agc": "l1.adjnet", "icc-mgc": "l1.mulnet"}[organisation]
        entries, mm = c[f"l1.{organisation}.queue"], math.sqrt(c["energy.die_mm2"] / self.groups)
        probes, hops = self.count(net + ".probes"), self.count(net + ".answer_hops")
        lines, misses = self.count(net + ".data_answers"), self.count(net + ".miss_answers")
        full = lines + misses * 8 / self.line  # an answer without a line moves 8 bytes
        moved = hops * full / (lines + misses) if lines + misses else 0
        for bits, queued, crossed, granted in (64, probes, probes, probes), (8 * self.line, full, moved, hops):
            stop = Router(self.router, 3, 3, bits, 1, entries)
            pj, leak_mw = link(self.link, bits, mm, 1e12 / self.hertz)
            self.events("l1_cooperation", 2 * queued, stop["buffer_write_pj"] + stop["buffer_read_pj"])
            self.events("l1_cooperation", crossed, stop["crossbar_pj"] + pj)
            self.events("l1_cooperation", granted, stop["switch_allocation_pj"])
            self.power("l1_cooperation", self.l1s * (1e-3 * (stop.leak_mw(inputs=2) + 2 * leak_mw)
                                                     + 1e-12 * self.hertz * stop["clock_pj"]))
        if organisation == "icc-agc":
            bits = c["l1.icc-agc.hash_bits"] + 3
            size = 1024 * c["l1.size_kb"] / self.line * bits / 8
            changed = (self.count("l1.fills") - self.count("l1.stale_fills") + self.count("l1.evictions")
                       + self.count("l1.write_hits"))
            self.events("l1_cooperation", self.count("l1.read_misses") + 3 * changed,
                        tags(self.array, "tag_read_pj", size))
            self.power("l1_cooperation", 1e-3 * self.l1s * tags(self.array, "tag_leak_mw", size))

    def memory(self):
        for counter, pj in (("activates", "activate_pj"), ("read_bytes", "read_pj_per_byte"),
                            ("write_bytes", "write_pj_per_byte"), ("refreshes", "refresh_pj")):
            self.events("dram", self.count("dram." + counter), self.dram[pj])
        self.power("dram", 1e-3 * self.dram["channel_milliwatts"] * self.config["dram.mcs"]
                   * self.config["dram.channels_per_mc"])

    def compute(self):
        self.sms()
        self.measured_caches() if self.config["energy.measured_caches"] else self.caches_by_geometry()
        self.network("request")
        self.network("reply")
        if self.grouped:
            self.crossbars()
            self.cooperation()
        self.memory()


def differences(result):
    account, reported = Account(result), result["energy"]
    account.compute()
    parts = account.parts
    pairs = [(f"{name}.{kind}", parts[name][kind], reported["parts"][name][kind])
             for name in parts for kind in ("events", "time")]
    pairs += [(f"noc_stages.{name}.{kind}", account.stages[name][kind], reported["noc_stages"][name][kind])
              for name in account.stages for kind in ("events", "time")]
    events, time = (sum(part[kind] for part in parts.values()) for kind in ("events", "time"))
    noc = sum(parts[name][kind] for name in ("noc_routers", "noc_links") for kind in ("events", "time"))
    pairs += [("total", events + time, reported["total"]), ("events", events, reported["events"]),
              ("time", time, reported["time"]), ("seconds", account.seconds, reported["seconds"]),
              ("watts", (events + time) / account.seconds, reported["watts"]), ("noc", noc, reported["noc"])]
    return [(name, expected, got) for name, expected, got in pairs
            if abs(expected - got) > TOLERANCE * max(abs(expected), abs(got))]


def main():
    failed = False
    for path in sys.argv[1:]:
        result = json.loads(pathlib.Path(path).read_text())
        for name, expected, got in differences(result):
            failed = True
            print(f"{result['workload']} on {result['gpu']}, {result['design']}: energy.{name} is {got:.12g} J, "
                  f"recomputed {expected:.12g} J")
    return failed or len(sys.argv) < 2


sys.exit(main())
