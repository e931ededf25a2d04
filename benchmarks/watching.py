"""Memory of `forebay slurm watch` over many cycles: `python benchmarks/watching.py [CYCLES]`."""

import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from _live.acted import Acted, Queue
from forebay._live.watch.running import Watch

EVERY = 500


def resident() -> float:
    """MB that this process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def main(cycles: int) -> None:
    """Cycles of a minute each; a line now and then."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        slurm, queue = Acted(folder / "slurm", 16), Queue(16, every=180.0)
        watch = Watch(folder / "kept", slurm, futures=10, textfile=folder / "forebay.prom")
        for cycle in range(cycles):
            begun = slurm.now()
            slurm.show(queue.at(begun))
            watch.once(lambda text: None)
            slurm.sleep(begun + 60 - slurm.now())
            if cycle % EVERY == EVERY - 1 or cycle in (0, 99):
                most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                took = time.process_time() / (cycle + 1)
                print(f"{cycle + 1:,} cycles: {resident():.0f} MB, {most:.0f} at most, {took:.3f} s each", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
