"""What if a share of a trace's jobs were malleable: the numbers and the picture of docs/guides/malleable-jobs.md.

`python benchmarks/malleable.py [PICTURE]`, with FOREBAY_DATA set, prints the guide's tables: some 300 runs of the KTH
log, each with another draw of the jobs or another setting of the model.
"""

import os
import sys
from pathlib import Path

import polars as pl

import forebay as fb
from forebay.workload import models

SEEDS = range(1, 11)
SHARES = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1)
OTHERS = (
    "kind=moldable", "min=1", "max=1", "points=60", "points=1h",
    "alpha=1", "alpha=0.7", "alpha=0.5", "alpha_on=one-node", "alpha=0.99,alpha_on=one-node",
)  # fmt: skip
GREEDY, MODEST = "fcfs-malleable", "fcfs-malleable:when=idle"
HOUR, DAY = 3600, 86400


def numbers(workload: fb.Workload, policy: str, model: str = "", seed: int = 0) -> dict[str, object]:
    """What the guide says of a run."""
    result = fb.simulate(workload, policy=policy, progress=False)
    told, jobs = fb.summary(result), result.jobs
    return {
        "model": model,
        "policy": policy,
        "seed": seed,
        "wait": told["mean_waiting_time"] / HOUR,
        "turnaround": told["mean_turnaround_time"] / HOUR,
        "longest": told["max_waiting_time"] / DAY,
        "in_use": 100 * told["utilisation_nodes"],
        "resized": int((jobs["n_resizes"] > 0).sum()) if model else 0,
    }


def measured(trace: fb.Workload) -> pl.DataFrame:
    """A row a run."""
    rows = [numbers(trace, policy) for policy in ("fcfs", "fcfs-easy")]
    for model in (*(f"share={share:g}" for share in SHARES), *OTHERS):
        for seed in SEEDS:
            flexible = models.attach(trace, [f"flexible:{model}"], seed)
            rows += [numbers(flexible, policy, model, seed) for policy in (GREEDY, MODEST)]
    return pl.DataFrame(rows)


def by_type(trace: fb.Workload, model: str = "share=0.2") -> None:
    """How the jobs that are malleable fare, and the others: means over the draws."""
    runs = [fb.simulate(models.attach(trace, [f"flexible:{model}"], seed), policy=GREEDY).jobs for seed in SEEDS]
    times = pl.col("mean_nodes") / pl.col("requested_number_of_resources")
    each = [
        jobs.group_by("type").agg(pl.mean("waiting_time") / HOUR, pl.mean("execution_time") / HOUR, nodes=times.mean())
        for jobs in runs
    ]
    for kind, wait, ran, nodes in pl.concat(each).group_by("type").mean().sort("type").rows():
        print(f"{kind}: wait {wait:.1f} h, run {ran:.1f} h on {nodes:.2f} times the nodes they prefer")


def report(table: pl.DataFrame) -> None:
    """Means over the draws, with the least and the largest."""
    print("| jobs | policy | mean wait | mean turnaround | longest wait | nodes in use | jobs resized |")
    print("|---|---|---|---|---|---|---|")
    for (model, policy), runs in table.group_by("model", "policy", maintain_order=True):
        spread = {name: (runs[name].mean(), runs[name].min(), runs[name].max()) for name in runs.columns[3:]}
        wait, turnaround = (_range(spread[name], len(runs)) for name in ("wait", "turnaround"))
        rest = f"{spread['longest'][0]:.1f} d | {spread['in_use'][0]:.1f} % | {spread['resized'][0]:,.0f}"
        print(f"| {model or 'as recorded'} | {policy} | {wait} | {turnaround} | {rest} |")


def _range(values: tuple[float, float, float], runs: int) -> str:
    mean, least, most = values
    return f"{mean:.1f} h ({least:.1f} to {most:.1f})" if runs > 1 and most > least else f"{mean:.1f} h"


def draw(table: pl.DataFrame, path: str) -> None:
    """Mean waits over the share of malleable jobs: a dot a draw, a line through their means."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.hashsalt": "forebay", "svg.fonttype": "none", "font.size": 8})
    figure = Figure(figsize=(4.6, 2.9), layout="constrained")
    axis = figure.subplots()
    for policy, dash in (("fcfs", (0, (4, 2))), ("fcfs-easy", (0, (1, 1)))):
        wait = table.filter(pl.col("policy") == policy)["wait"].item()
        axis.axhline(wait, color="#555555", lw=0.9, ls=dash)
        axis.text(100, wait * 1.06, f"{policy}, all jobs rigid", ha="right", va="bottom", color="#555555", fontsize=7)
    at = {f"share={share:g}": 100 * share for share in SHARES}
    rigid = table.filter(pl.col("policy") == "fcfs")["wait"].item()
    for policy, label, colour, marker, aside in (
        (MODEST, "grow when nobody waits (when=idle)", "#d55e00", "s", 0.5),
        (GREEDY, "grow when nodes are free (when=free)", "#0072b2", "o", -0.5),
    ):
        runs = table.filter(pl.col("policy") == policy, pl.col("model").is_in(list(at)))
        x = [at[model] + aside for model in runs["model"]]
        axis.plot(x, runs["wait"], marker, color=colour, ms=2.2, mew=0, alpha=0.5)
        means = runs.group_by("model", maintain_order=True).agg(pl.mean("wait"))
        axis.plot([0, *map(at.get, means["model"])], [rigid, *means["wait"]], color=colour, lw=1.3, label=label)
    axis.set_yscale("log")
    axis.set_yticks([1, 2, 5, 10, 20, 50, 100], ["1 h", "2 h", "5 h", "10 h", "20 h", "50 h", "100 h"])
    axis.minorticks_off()
    axis.set(xlim=(0, 102), ylim=(1.4, 150), xlabel="malleable jobs (%)", ylabel="mean wait")
    axis.grid(True, lw=0.4, color="#dddddd")
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, fontsize=7, loc="upper right", bbox_to_anchor=(1, 0.88))
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    data = os.environ.get("FOREBAY_DATA")
    if not data:
        sys.exit("set FOREBAY_DATA to the folder that has swf/KTH-SP2-1996-2.1-cln.swf.gz")
    kth = fb.read(Path(data) / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz")
    by_type(kth)
    found = measured(kth)
    report(found)
    if len(sys.argv) > 1:
        draw(found, sys.argv[1])
