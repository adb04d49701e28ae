"""What `compare` and `Study` take, and what they refuse."""

import inspect
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cwnd
from cwnd._study import ARGUMENTS

NETWORK: dict[str, Any] = {"rate": "20 Mbit/s", "rtt": "40 ms", "duration": "2 s"}


def refused(pattern: str, **settings: Any) -> None:
    with pytest.raises(cwnd.InputError, match=pattern):
        cwnd.compare("cubic", progress=False, **{**NETWORK, **settings})


def test_numbers_of_numpy_are_numbers() -> None:
    own = cwnd.compare("cubic", rate=20e6, rtt=0.25, duration=2, flows=2, seed=7, repeats=2, progress=False)
    theirs = cwnd.compare(
        "cubic",
        rate=np.float64(20e6),
        rtt=np.float32(0.25),
        duration=np.int64(2),
        flows=np.uint8(2),
        seed=np.int64(7),
        repeats=np.int32(2),
        threads=np.int64(1),
        progress=False,
    )
    assert own.study.text == theirs.study.text
    scenario = {**NETWORK, "algorithm": "cubic", "sack": np.bool_(False), "rtt": Fraction(1, 25)}
    study = cwnd.Study(title="x", scenario=scenario, repeats=np.int64(2), axes={"flows": np.array([1, 2])})
    assert "sack = false" in study.text and '"0.04 s"' in study.text
    assert study.axes == {"flows": ["1", "2"]} and study.repeats == 2


@pytest.mark.parametrize("ratio", [1e-13, 1.23456e-10, 4.4e-7, 1 / 3, 0.1])
def test_numbers_keep_their_digits(ratio: float) -> None:
    result = cwnd.compare("cubic", per=ratio, progress=False, **{**NETWORK, "duration": 0.1})
    assert result.runs["per_value"][0] == ratio


def test_flags_that_are_no_settings_say_what_to_use() -> None:
    for flag, instead in {
        "trace": "result.samples",
        "plot": "result.plot()",
        "sketch": "result.plot()",
        "pcap": "result.packets()",
        "qlog": "result.samples",
        "json": "to_pylist",
        "print_study": "result.study.text",
        "open": "result.report()",
        "quiet": "progress=False",
    }.items():
        refused(f"{flag}: .*{instead}".replace("(", "\\(").replace(")", "\\)"), **{flag: "x"})
        with pytest.raises(cwnd.InputError, match=flag):
            cwnd.Simulation("cubic", **{flag: True})


def test_an_unknown_keyword_is_answered_with_keywords() -> None:
    for wrong, meant in {"buffr": "buffer", "warmup": "warm_up", "Rate": "rate", "ack-thining": "ack_thinning", "sampel": "sample"}.items():
        refused(f"^{wrong}: there is no such setting or argument: did you mean `{meant}`\\?$", **{wrong: 1})
    refused("^verbose: .*: `cwnd.settings\\(\\)` lists the settings; other arguments are seed, repeats, sample", verbose=True)
    refused("^executor: this is no setting: `Study.run` takes it", executor="processes:2")
    refused("^directory: this is no setting: `save` is the directory", directory="x")
    refused("^no_fast_path: this is no setting: the command", no_fast_path=True)
    with pytest.raises(cwnd.InputError, match="^seeed: .* did you mean `seed`"):
        cwnd.Simulation("cubic", seeed=1)
    with pytest.raises(cwnd.InputError, match="^verbose: .* other arguments are seed, cell, repeat, classes$"):
        cwnd.Simulation("cubic", verbose=True)
    with pytest.raises(cwnd.InputError, match="^executor: a simulation does not take it"):
        cwnd.Simulation("cubic", executor="processes:2")


def test_all_keywords_of_compare_are_proposed() -> None:
    arguments = [one.name for one in inspect.signature(cwnd.compare).parameters.values() if one.kind is one.KEYWORD_ONLY]
    assert sorted(arguments) == sorted(ARGUMENTS)


def test_lists_are_not_empty_and_texts_are_no_lists(aimd: type[cwnd.CongestionControl]) -> None:
    for key in ("rtt", "rate", "flows", "mix"):
        refused(f"{key}: the list is empty", **{key: []})
    scenario = {**NETWORK, "algorithm": "cubic"}
    with pytest.raises(cwnd.InputError, match="flow: the list is empty"):
        cwnd.Study(title="x", scenario={**NETWORK, "flow": []})
    with pytest.raises(cwnd.InputError, match=r"axes: flows: is '24'; it must be a list, such as \['24'\]"):
        cwnd.Study(title="x", scenario=scenario, axes={"flows": "24"})
    with pytest.raises(cwnd.InputError, match=r"metrics: .*\['jain_index'\]"):
        cwnd.Study(title="x", scenario=scenario, metrics="jain_index")

    class Text(aimd):  # type: ignore[valid-type,misc]
        observables = "epochs"

    with pytest.raises(cwnd.InputError, match=r"Text.observables: .*\['epochs'\]"):
        cwnd.compare(Text, progress=False, **NETWORK)


def test_contradictions_are_refused() -> None:
    scenario = {**NETWORK, "algorithm": "cubic"}
    with pytest.raises(cwnd.InputError, match="run: `repeats` .* write repeats=5"):
        cwnd.Study(title="x", scenario=scenario, repeats=3, run={"repeats": 5})
    with pytest.raises(cwnd.InputError, match="give one of them"):
        cwnd.Study(title="x", scenario=scenario, sample="10 ms", trace={"sample": "20 ms"})
    assert cwnd.Study(title="x", scenario=scenario, repeats=3, run={"engine": "sim"}).repeats == 3


def test_one_setting_in_two_spellings_is_refused() -> None:
    with pytest.raises(cwnd.InputError, match="scenario: `warm_up` and `warm-up` are the same setting"):
        cwnd.Study(title="x", scenario={"algorithm": "cubic", "warm_up": 1, "warm-up": 2})
    with pytest.raises(cwnd.InputError, match="axes: `warm-up` and `warm_up` are the same setting"):
        cwnd.Study(title="x", scenario={"algorithm": "cubic"}, axes={"warm-up": [1], "warm_up": [2]})
    assert "warm-up = \"1 s\"" in cwnd.Study(title="x", scenario={"algorithm": "cubic", "warm_up": 1}).text


@pytest.mark.parametrize("text", ["Speed \U0001f680", "ä\u2028€", "".join(map(chr, range(0x21))) + "\x7f\x80\x9f", "\"'\\", "\U0010ffff"])
def test_texts_have_all_characters(text: str) -> None:
    study = cwnd.Study(title=text, scenario={"algorithm": "cubic"}, claims=[], notes=text)
    assert study.title == text
    assert cwnd.Study.parse(study.text).title == text
    with pytest.raises(cwnd.InputError, match="has no key"):
        cwnd.Study(title="x", scenario={"algorithm": "cubic"}, **{text: 1})


def test_a_lone_surrogate_is_no_character() -> None:
    for document in ({"title": "Speed \ud83d"}, {"title": "x", "notes": ["a", "\udc80"]}, {"title": "x", "\udfff": 1}):
        with pytest.raises(cwnd.InputError, match=r"has a lone surrogate, U\+D[89A-F]..: it is no character"):
            cwnd.Study(scenario={"algorithm": "cubic"}, **document)


def test_the_directory_of_another_study_is_refused(tmp_path: Path) -> None:
    study = cwnd.Study(title="x", scenario={**NETWORK, "algorithm": "cubic"})
    study.run(tmp_path, progress=False)
    other = "has the results of another study, `study`; choose another directory \\(`directory` of `Study.run`, `save` of"
    refused(other, save=tmp_path)


def test_results_are_saved_in_a_directory_with_a_name() -> None:
    refused("save: is empty", save="")
    with pytest.raises(cwnd.InputError, match="directory: is empty"):
        cwnd.Study(title="x", scenario={**NETWORK, "algorithm": "cubic"}).run("", progress=False)


@pytest.mark.parametrize("threads", [10**9, 65_536, 0, -1, "2", 1.5, True])
def test_threads_are_those_of_the_command_line(threads: Any) -> None:
    refused("threads: is .*; it must be a whole number from 1 to 65,535", threads=threads)


def test_samples_are_of_all_repeats_or_refused() -> None:
    refused("memory|sample", sample="1 ns", memory="1 GB")
    refused("samples need a time between them", sample=0)
    result = cwnd.compare("cubic", repeats=3, sample="100 ms", progress=False, **NETWORK)
    assert set(result.samples["seed"]) == {1, 2, 3}
    assert set(cwnd.compare("cubic", repeats=3, progress=False, **NETWORK).samples["seed"]) == {1}


def test_samples_that_nobody_asked_for_are_not_too_many() -> None:
    """A run has 5,000 times at most, so 20 flows have 100,000 samples."""
    network = {"rate": "1 Mbit/s", "rtt": "20 ms", "duration": "12 s", "progress": False}
    assert 99_000 < len(cwnd.compare("cubic", flows=20, **network).samples) <= 100_000
    assert len(cwnd.compare("cubic", flows=21, **network).samples) == 0
    assert len(cwnd.compare("cubic", mix="cubic*21", flows=1, **network).samples) == 0, "the other run would not have too many"
    assert len(cwnd.compare("cubic", flows=21, sample="100 ms", repeats=2, **network).samples) > 0
    eleven = [f"cubic:beta=0.{number}" for number in range(10, 21)]
    assert len(cwnd.compare(eleven, flows=20, **network).samples) == 0, "more than a million together"


def test_metrics_are_columns_by_what_they_are_of() -> None:
    runs = cwnd.compare("cubic", progress=False, **NETWORK).runs
    ends = {column.split(".")[1] for column in runs.columns if "." in column}
    others = [metric.name for metric in cwnd.metrics() if metric.name not in runs and metric.name not in ends]
    assert others == ["relative_gain", "bandwidth_stolen_rate", "harm", "harm_of_less"], "those of two results"
    assert "throughput_share" not in runs and "flow1.throughput_share" in runs
    assert "mean_packets" not in runs and "bottleneck.mean_packets" in runs


def test_settings_are_columns_if_they_have_a_value() -> None:
    usual = cwnd.compare("cubic", progress=False, **NETWORK).runs
    assert usual["buffer_value"][0] == 1 and usual["mtu_value"][0] == 1500
    assert "jitter" not in usual and "bytes" not in usual
    stated = cwnd.compare("cubic", jitter="uniform:1 ms", bytes="1 MB", progress=False, **NETWORK).runs
    assert stated["jitter"][0] == "uniform:1 ms" and stated["bytes_value"][0] == 1, "in MB"
    assert stated["rate_value"][0] == 20 and stated["rtt_value"][0] == 40, "in Mbit/s and ms"


def test_what_no_run_has_is_an_empty_column() -> None:
    result = cwnd.compare("cubic", per=1, progress=False, **NETWORK)
    assert np.isnan(result.runs["rtt_mean_s"]).all() and result.mean("rtt_mean_s")[0].count == 0
    applicable = [metric.name for metric in cwnd.metrics() if metric.name in result.runs]
    assert {"throughput_bps", "rtt_mean_s", "completion_time_s", "jain_index"} <= set(applicable)
    assert len(result.runs.columns) == len(set(result.runs.columns))
    with pytest.raises(KeyError):
        result.runs["no_such_metric"]
    assert "completion" not in result._repr_html_()


def test_packets_and_pictures_are_of_runs_that_there_are() -> None:
    result = cwnd.compare("cubic", repeats=2, progress=False, **NETWORK)
    for wrong in ((1, 0), (-1, 0), (0, 2), (0, -1)):
        with pytest.raises(IndexError, match="the study has [12], counted from 0"):
            result.packets(*wrong)
    assert len(result.packets(0, 1)) > 0
    pytest.importorskip("matplotlib")
    with pytest.raises(cwnd.InputError, match="repeat 1: it was not sampled; give `sample`"):
        result.plot(repeat=1)
    for repeat in (2, 9, -1):
        with pytest.raises(cwnd.InputError, match="repeat: is .* from 0 to 1"):
            result.plot(repeat=repeat)
    with pytest.raises(cwnd.InputError, match="must be a list"):
        result.plot("cwnd")  # type: ignore[arg-type]
    sampled = cwnd.compare("cubic", repeats=2, sample="100 ms", progress=False, **NETWORK)
    assert sampled.plot(repeat=1).axes[0].lines


def test_a_report_makes_its_directory(tmp_path: Path) -> None:
    result = cwnd.compare("cubic", progress=False, **NETWORK)
    assert result.report(tmp_path / "a" / "rep").read_text().startswith("<!DOCTYPE html>")
    (tmp_path / "file").write_text("x")
    with pytest.raises(cwnd.InputError, match="cannot create the directory"):
        result.report(tmp_path / "file")
