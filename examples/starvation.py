"""Covers: making a workload by hand, job models, reading from the log who held the burst buffer when.

Scenario: a stream of jobs that take 4 of 10 TB of burst buffer each, and one that needs 8 TB, submitted while the first
two of the stream run. Slurm grants buffers to the jobs expected first and keeps none for later: when a job of the
stream ends, the next one is there, and the large job starves until the stream is over. With a reservation it is next.
`python starvation.py [FILE]` draws it, or prints when the large job starts.
"""

import sys

import polars as pl

import forebay as fb
from forebay.workload.workload import job_table

TB = 10**12
LARGE, SUBMITTED = 3, 110.0
MACHINE = "flat:nodes=8,burst_buffer=10TB,pfs=1TB/s"
RUNS = {"slurm-bb": "three-legs", "fcfs-bb": "io-aware"}
TITLES = {
    "slurm-bb": "slurm-bb: buffers to the jobs expected first, none kept for later",
    "fcfs-bb": "fcfs-bb: the head of the queue has a reservation",
}


def stream(n: int = 20) -> fb.Workload:
    """One job of 4 TB every 100 s, each running 250 s, and the large one behind the first two."""
    small = [100.0 * k for k in range(n)]
    submit = [*small[:2], SUBMITTED, *small[2:]]
    jobs = job_table(
        {
            "id": range(1, n + 2),
            "submit": submit,
            "run_time": [250.0] * (n + 1),
            "walltime": [300.0] * (n + 1),
            "nodes": [1] * (n + 1),
            "burst_buffer": [8 * TB if job == LARGE else 4 * TB for job in range(1, n + 2)],
        }
    )
    return fb.Workload("stream", jobs)


def held(result: fb.Result) -> list[tuple[int, float, float, float]]:
    """(job, from, to, TB) of the burst buffer."""
    rows = result.log.filter(pl.col("resource") == "burst_buffer").group_by("job", maintain_order=True)
    spans = rows.agg(pl.col("time").min().alias("low"), pl.col("time").max().alias("high"), pl.col("amount").max())
    return [(job, low, high, amount / TB) for job, low, high, amount in spans.sort("low").rows()]


def draw(results: dict[str, fb.Result], path: str) -> None:
    """The buffer over time, a rectangle a job, the large one in orange."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.hashsalt": "forebay", "svg.fonttype": "none", "font.size": 8})
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    panels = figure.subplots(2, 1, sharex=True)
    for panel, (policy, result) in zip(panels, results.items(), strict=True):
        level: list[tuple[float, float, float]] = []  # (until, bottom, top) of what is drawn
        for job, low, high, size in held(result):
            level = [one for one in level if one[0] > low]
            bottom = next(y for y in (0.0, 4.0) if all(y + size <= b or y >= t for _, b, t in level))
            level.append((high, bottom, bottom + size))
            colour = "#d55e00" if job == LARGE else "#56b4e9"
            panel.broken_barh([(low / 60, (high - low) / 60)], (bottom, size), facecolor=colour, edgecolor="white")
        panel.axhline(10, color="#888888", linestyle="--", linewidth=0.8)
        panel.axvline(SUBMITTED / 60, color="#d55e00", linewidth=0.8)
        panel.set(ylim=(0, 11), yticks=(0, 4, 8, 10), ylabel="burst buffer (TB)")
        panel.set_title(TITLES[policy], loc="left", fontsize=8)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].annotate("submitted", (SUBMITTED / 60, 10), (3, -9), textcoords="offset points", color="#d55e00")
    panels[1].set_xlabel("time (minutes)")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    results = {policy: fb.simulate(stream(), MACHINE, policy, job_model=model) for policy, model in RUNS.items()}
    if len(sys.argv) > 1:
        draw(results, sys.argv[1])
    else:
        for policy, result in results.items():
            starts = dict(result.jobs.select("job_id", "starting_time").rows())
            before = sum(1 for start in starts.values() if start < starts[LARGE])
            print(f"{policy:8} the large job starts at {starts[LARGE]:.0f} s, behind {before} others")
