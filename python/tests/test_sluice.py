"""The package against the program: SLUICE=build/release/sluice pytest python/tests."""
import pytest

import sluice


@pytest.fixture(scope="module")
def shared():
    return sluice.run("mm:tiny", design="shared")


def test_run_returns_totals_and_frames(shared):
    assert shared.workload == "mm:tiny" and shared.design == "shared" and shared.check == "passed"
    assert shared.ipc == pytest.approx(shared.thread_instructions / shared.cycles)
    assert shared.stats["sm.thread_instructions"] == shared.thread_instructions
    assert shared.units.loc["sm.thread_instructions"].sum() == shared.thread_instructions
    assert list(shared.kernels["name"]) == ["mm_tiled"] and shared.kernels["cycles"].sum() <= shared.cycles
    assert "mm:tiny on adaptive-80sm" in repr(shared)


def test_settings_and_samples():
    result = sluice.run("mm:tiny", set={"llc.slice_kb": 48, "noc.lookahead": True}, sample=1000)
    assert result.config["llc.slice_kb"] == 48 and result.config["noc.lookahead"] is True
    assert result.samples["sm.thread_instructions"].sum() == result.thread_instructions
    assert result.samples.index[0] == 1000


def test_a_run_without_samples_says_how_to_get_them(shared):
    with pytest.raises(ValueError, match="sample=CYCLES"):
        shared.samples
    with pytest.raises(AttributeError):
        shared.nonsense


def test_results_are_saved_and_loaded(shared, tmp_path):
    shared.save(tmp_path / "run.json")
    assert sluice.load(tmp_path / "run.json").data == shared.data


def test_compare_has_a_row_per_design(shared):
    frame = sluice.compare("mm:tiny", ["shared", "private"])
    assert list(frame.index) == ["shared", "private"]
    assert frame.loc["shared", "cycles"] == shared.cycles
    assert frame.loc["shared", "llc.read_misses"] == shared.stats["llc.read_misses"]
    assert frame.loc["shared", "normalised_ipc"] == 1


def test_diff_lists_what_changed(shared, tmp_path):
    private = sluice.run("mm:tiny", design="private")
    private.save(tmp_path / "private.json")
    frame = sluice.diff(shared, tmp_path / "private.json")
    row = frame[frame["name"] == "llc.read_misses"].iloc[0]
    assert row["kind"] == "counters" and (row["a"], row["b"]) == (shared.stats["llc.read_misses"], private.stats["llc.read_misses"])
    assert sluice.diff(shared, shared).empty


def test_plot_draws_results(shared, tmp_path):
    shared.save(tmp_path / "a.json")
    sluice.plot(shared, tmp_path / "a.json", output=tmp_path / "a.svg", kind=["stalls", "roofline"])
    text = (tmp_path / "a.svg").read_text()
    assert ">SM cycle breakdown<" in text and ">Roofline<" in text and ">a.json<" in text
    with pytest.raises(sluice.Error, match="did you mean `stalls`"):
        sluice.plot(shared, output=tmp_path / "b.svg", kind="stall")


def test_lab_runs_once_and_results_come_from_the_store(tmp_path):
    store = tmp_path / "results.sqlite"
    frame = sluice.lab("quick/sharing", store=store, size="tiny")
    assert len(frame) > 4 and set(frame["check"]) == {"passed"} and frame["identity"].is_unique
    again = sluice.results(store=store)
    assert set(again["identity"]) == set(frame["identity"])


def test_errors_have_location_and_status(tmp_path):
    bad = tmp_path / "bad.yaml"
    bad.write_text("name: x\nptx: a.ptx\nbuffers: 3\n")
    with pytest.raises(sluice.Error) as caught:
        sluice.run(launch=bad)
    assert (caught.value.status, caught.value.file, caught.value.line, caught.value.column) == (2, str(bad), 3, 10)
    assert str(caught.value).startswith(f"{bad}:3:10: ")
    with pytest.raises(sluice.Error, match="did you mean `shared`"):
        sluice.run("mm:tiny", design="sharde")


def test_names_are_those_of_the_program():
    assert "fermi-15sm" in sluice.names("gpus") and "decoupled" in sluice.names("designs")
    assert "mm" in sluice.names("workloads") and "quick/sharing" in sluice.names("experiments")
    with pytest.raises(ValueError, match="expected one of gpus"):
        sluice.names("counters")


def test_a_missing_program_is_reported(monkeypatch, tmp_path):
    monkeypatch.delenv("SLUICE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sluice, "__file__", str(tmp_path / "a" / "b" / "c.py"))
    with pytest.raises(FileNotFoundError, match="SLUICE"):
        sluice.run("mm:tiny")
