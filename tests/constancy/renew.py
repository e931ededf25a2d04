"""Store the fingerprints of all runs anew, and say which have changed: for a change that is meant to change results."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import polars as pl

from constancy import runs


def main() -> None:
    """Needs the reference data: without it half the store would be lost."""
    if not runs.DATA:
        sys.exit("set FOREBAY_DATA to the folder of reference data")
    before = runs.stored() if runs.STORE.exists() else {}
    found = {name: runs.outcome(run) for name, run in [*runs.small(), *runs.large()]}
    changed = [name for name, value in found.items() if before.get(name) != value]
    part = runs.STORE.with_suffix(".part")
    pl.DataFrame({"run": list(found), "fingerprint": list(found.values())}).write_csv(part)
    part.replace(runs.STORE)
    print(f"{len(found)} runs, {len(changed)} of them new or changed", *changed[:20], sep="\n  ")


if __name__ == "__main__":
    main()
