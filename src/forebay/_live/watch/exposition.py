"""Numbers of a watch for the textfile collector of Prometheus's node_exporter: no user, no job, no name of one."""

from pathlib import Path

from forebay._live.watch.state import Standing
from forebay._support.files import replacing
from forebay._support.text import plain


def write(path: Path, last: Standing | None, cycles: int, calls: int, failing: bool) -> None:
    """Write them, whole or not at all: the collector reads at any time."""
    with replacing(path) as (file,):
        file.write_text(text(last, cycles, calls, failing), encoding="utf-8")
        file.chmod(0o644)  # node_exporter runs as another user


def text(last: Standing | None, cycles: int, calls: int, failing: bool) -> str:
    """In the format of expositions."""
    parts = [
        _family("up", "gauge", "Whether the last reading of Slurm succeeded.", [({}, float(not failing))]),
        _family("cycles_total", "counter", "Cycles since the watch began.", [({}, cycles)]),
        _family("calls_total", "counter", "Calls of Slurm's commands since the watch began.", [({}, calls)]),
    ]
    if last is not None:
        parts += _of(last)
    return "".join(parts)


def _of(last: Standing) -> list[str]:
    jobs = {"running": last.running, "waiting": len(last.ahead.names), "held": last.held}
    nodes = {"up": last.nodes - last.down, "down": last.down, "used": min(last.used, last.nodes)}
    quantiles = [
        ({"partition": row["queue"], "quantile": level}, row[part])
        for row in (last.ahead.waits.iter_rows(named=True) if last.ahead.waits is not None else ())
        for level, part in (("0.1", "low"), ("0.5", "middle"), ("0.9", "high"))
    ]
    rows = last.reliability
    covered = [({"partition": one.partition, "band": f"{s:g}"}, c) for one in rows for s, c in one.coverage.items()]
    off = [
        ({"partition": one.partition, "by": by}, error)
        for one in rows
        if one.both
        for by, error in (("forebay", one.ours), ("squeue", one.slurm))
    ]
    return [
        _family("snapshot_timestamp_seconds", "gauge", "When the queue was read.", [({}, last.found.now)]),
        _family("cycle_seconds", "gauge", "What the last cycle took.", [({}, last.took)]),
        _family("jobs", "gauge", "Jobs, by what they do.", [({"state": name}, n) for name, n in jobs.items()]),
        _family("nodes", "gauge", "Nodes.", [({"state": name}, n) for name, n in nodes.items()]),
        _family("expected_wait_seconds", "gauge", "What jobs that come within a day will wait.", quantiles),
        _family(
            "scored_jobs",
            "gauge",
            "Jobs whose prediction is scored.",
            [({"partition": o.partition}, o.jobs) for o in rows],
        ),
        _family("coverage_ratio", "gauge", "Starts within intervals, by what these are to cover.", covered),
        _family("median_error_seconds", "gauge", "How far predicted starts are off, at the same moments.", off),
    ]


def _family(name: str, kind: str, words: str, rows: "list[tuple[dict[str, str], float]]") -> str:
    if not rows:
        return ""
    lines = [f"# HELP forebay_{name} {words}\n# TYPE forebay_{name} {kind}\n"]
    lines += [f"forebay_{name}{_labels(labels)} {float(value):.10g}\n" for labels, value in rows]
    return "".join(lines)


def _labels(labels: dict[str, str]) -> str:
    pairs = [f'{name}="{label(value)}"' for name, value in labels.items()]
    return f"{{{','.join(pairs)}}}" if pairs else ""


def label(value: str) -> str:
    r"""A label's value: `\`, `"` and the end of a line are escaped, and nothing that a terminal obeys is left."""
    return plain(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
