"""Eight jobs on which nine policies give nine different schedules, each solved by hand.

The machine has 4 nodes and 6 units of burst buffer. All jobs are submitted at time 0 and run exactly their walltime.

    job       1  2  3  4  5  6  7  8
    seconds   5  1  4  2  3  5  2  3
    nodes     3  1  2  3  2  1  1  1
    buffer    4  3  2  0  2  0  3  1
    priority  0  1  2  2  2  2  2  1

"2n 3b" below is two nodes and three units of buffer free; "[5,6)" is from 5 until before 6.
"""

import pytest

import forebay
from cases import pooled

pytestmark = pytest.mark.small

MACHINE = pooled.platform(4, 6)
SECONDS = (5, 1, 4, 2, 3, 5, 2, 3)
NODES = (3, 1, 2, 3, 2, 1, 1, 1)
BUFFER = (4, 3, 2, 0, 2, 0, 3, 1)
PRIORITY = (0, 1, 2, 2, 2, 2, 2, 1)

STARTS = {
    # Nobody passes anybody.
    #  0  1 starts: 1n 2b. Job 2 needs 3b and stops the queue.
    #  5  1 ends: 4n 6b. 2 and 3 start: 1n 1b. Job 4 needs 3n.
    #  6  2 ends: 2n 4b, too few for 4.
    #  9  3 ends: 4n 6b. 4 starts: 1n 6b. Job 5 needs 2n.
    # 11  4 ends: 4n 6b. 5, 6, 7 start: 0n 1b.
    # 13  7 ends: 1n 4b. 8 starts.
    "fcfs": [0, 5, 5, 9, 11, 11, 11, 13],
    # The head reserves nodes alone.
    #  0  1 starts: 1n 2b. Head 2 has its node and lacks 1b: it reserves the node from now on, [0,1). Nobody can start.
    #  5  1 ends: 4n 6b. 2 and 3 start: 1n 1b. Head 4 (3n): 2n at 6, 4n at 9, hence [9,11), which leaves 1n there.
    #     5 needs 2n. 6 (1n) for [5,10): one node is left all along, it starts: 0n 1b.
    #  6  2 ends: 1n 4b. Head 4: still [9,11), now all 3n of that time. 7 (1n 3b) for [6,8) ends before: starts. 0n 1b.
    #  8  7 ends: 1n 4b. 8 (1n) for [8,11) would take a node of 4's: no.
    #  9  3 ends: 3n 6b. 4 starts: 0n. Head 5 (2n): 1n at 10, 4n at 11, hence [11,14).
    # 10  6 ends: 1n 6b. 8 for [10,13): 4 - 2 nodes are left from 11 on, it starts: 0n 5b.
    # 11  4 ends: 3n 5b. 5 starts.
    "fcfs-easy": [0, 5, 5, 9, 11, 5, 6, 10],
    # Whoever fits starts.
    #  0  1 starts: 1n 2b. 2 lacks buffer; 3, 4, 5 lack nodes; 6 (1n) starts: 0n 2b.
    #  5  1 and 6 end: 4n 6b. 2 and 3 start: 1n 1b. 4, 5 lack nodes, 7 lacks buffer; 8 (1n 1b) starts: 0n 0b.
    #  6  2 ends: 1n 3b. 4, 5 lack nodes; 7 (1n 3b) starts: 0n 0b.
    #  8  7 and 8 end: 2n 4b. 4 lacks a node; 5 (2n 2b) starts: 0n 2b.
    #  9  3 ends: 2n 4b. 4 still lacks a node: 5 has passed it.
    # 11  5 ends: 4n 6b. 4 starts.
    "filler": [0, 5, 5, 11, 8, 0, 6, 5],
    # The head reserves nodes and buffer.
    #  0  1 starts: 1n 2b. Head 2 (1n 3b) must wait for 1's buffer: [5,6). 3, 4, 5 lack nodes. 6 (1n) for [0,5) ends as
    #     that begins: starts. 0n 2b.
    #  5  1 and 6 end: 4n 6b. 2 and 3 start: 1n 1b. Head 4 (3n): [9,11). 5 lacks nodes, 7 buffer. 8 (1n 1b) for [5,8)
    #     ends before 9: starts. 0n 0b.
    #  6  2 ends: 1n 3b. Head 4: [9,11). 5 lacks a node. 7 (1n 3b) for [6,8): starts. 0n 0b.
    #  8  7 and 8 end: 2n 4b. 5 (2n) for [8,11) would leave 4 with 2n at 9: no. Here filler lets it pass.
    #  9  3 ends: 4n 6b. 4 starts: 1n. Head 5: [11,14).
    # 11  4 ends: 5 starts.
    "fcfs-bb": [0, 5, 5, 9, 11, 0, 6, 5],
    # As fcfs-bb, but candidates by walltime, then id: 4 7 (2 s), 5 8 (3 s), 3 (4 s), 6 (5 s).
    #  0  1 starts: 1n 2b. Head 2: [5,6). 4 lacks nodes, 7 buffer, 5 nodes. 8 (1n 1b) for [0,3): starts, before 6.
    #  3  8 ends: 1n 2b. Head 2: [5,6). 4, 7, 5, 3 as before. 6 (1n) for [3,8): beside 2 there are 3n, it starts. 0n 2b.
    #  5  1 ends: 3n 6b. 2 and 3 start: 0n 1b. Head 4 (3n): 1n at 6, 2n at 8, 4n at 9, hence [9,11).
    #  6  2 ends: 1n 4b. 7 (1n 3b) for [6,8): starts. 0n 1b.
    #  8  6 and 7 end: 2n 4b. 5 (2n) for [8,11) would leave 4 with 2n at 9: no.
    #  9  3 ends: 4n 6b. 4 starts: 1n. Head 5: [11,14).
    # 11  4 ends: 5 starts.
    "sjf-bb": [0, 5, 5, 9, 11, 3, 6, 0],
    # As fcfs-easy, candidates by walltime.
    #  0  1 starts. Head 2 holds the free node, [0,1): nobody starts.
    #  5  1 ends: 4n 6b. 2 and 3 start: 1n 1b. Head 4: nodes [9,11), 1n beside it. 7 lacks buffer, 5 a node;
    #     8 (1n 1b) for [5,8): starts, before 6. 0n 0b.
    #  6  2 ends: 1n 3b. 7 (1n 3b) for [6,8): starts. 0n 0b.
    #  8  7 and 8 end: 2n 4b. Head 4: [9,11), 1n beside it. 5 (2n) for [8,11): no. 6 (1n) for [8,13): starts. 1n 4b.
    #  9  3 ends: 3n 6b. 4 starts: 0n. Head 5 (2n): [11,14).
    # 11  4 ends: 5 starts.
    "sjf-easy": [0, 5, 5, 9, 11, 8, 6, 5],
    # Everybody reserves nodes alone, in order of arrival.
    #  0  1 starts: 1n 2b; nodes free: 1 in [0,5), then 4. 2 lacks 1b and holds the node, [0,1). 3 (2n): [5,9), which
    #     leaves 2n. 4 (3n): [9,11). 5 (2n): [5,8). 6 (1n, 5 s): a node is free from 1 to 5, but 3 and 5 fill [5,8), so
    #     [8,13). 7 (1n, 2 s): [1,3). 8 (1n, 3 s): from 3 it would meet 5, from 8 it would meet 4 and 6: [11,14).
    #     Nobody may start.
    #  5  1 ends: 4n 6b. 2 and 3 start: 1n 1b; nodes: 1 in [5,6), 2 in [6,9), then 4. 4: [9,11). 5: [6,9), which
    #     leaves 0n. 6 has its node now but not after 6: [9,14). 7: [11,13). 8 has 1n 1b now, not after 6: [11,14).
    #  6  2 ends: 2n 4b. 4: [9,11). 5 (2n 2b) for [6,9): starts. 0n 2b.
    #  9  3 and 5 end: 4n 6b. 4 and 6 start: 0n.
    # 11  4 ends: 3n 6b. 7 and 8 start.
    "conservative": [0, 5, 5, 9, 6, 9, 11, 11],
    # Everybody reserves everything, in order of arrival.
    #  0  1 starts: 1n 2b until 5, then 4n 6b. 2 (1n 3b): [5,6). 3 (2n 2b): [5,9). 4 (3n): [9,11). 5 (2n 2b): 1n is left
    #     in [5,6), so [6,9), which leaves 0n 2b there. 6 (1n, 5 s) for [0,5): starts, 0n 2b until 5. 7 (1n 3b, 2 s): 1b
    #     is left in [5,6) and 0n in [6,9), so [9,11) beside 4. 8 (1n 1b, 3 s): [11,14).
    #  5  1 and 6 end: 4n 6b. 2 and 3 start: 1n 1b. 4: [9,11). 5: [6,9). 7: [9,11). 8 fits now, not after 6: [11,14).
    #  6  2 ends: 2n 4b. 4: [9,11). 5 (2n 2b) for [6,9): starts. 0n 2b.
    #  9  3 and 5 end: 4n 6b. 4 starts: 1n 6b. 7 (1n 3b) starts: 0n 3b.
    # 11  4 and 7 end: 8 starts.
    "conservative-bb": [0, 5, 5, 9, 6, 0, 9, 11],
    # As fcfs-bb, but the queue is by priority, then id: 3 4 5 6 7 (2), 2 8 (1), 1 (0).
    #  0  3 starts: 2n 4b. Head 4 (3n): [4,6), 1n beside it. 5 (2n 2b) for [0,3): starts. 0n 2b.
    #  3  5 ends: 2n 4b. Head 4: [4,6). 6 (1n) for [3,8): starts, and takes the node beside 4. 1n 4b. 7 (1n) for [3,5)
    #     would meet 4: no. 2 (1n 3b) for [3,4): starts. 0n 1b.
    #  4  3 and 2 end: 3n 6b. 4 starts: 0n 6b. Head 7: [6,8).
    #  6  4 ends: 3n 6b. 7 and 8 start: 1n 2b. Head 1 (3n 4b): [8,13).
    #  8  6 and 7 end: 3n 5b. 1 starts.
    "priority": [8, 3, 0, 4, 0, 3, 6, 6],
}


def eight_jobs():
    columns = zip(SECONDS, NODES, BUFFER, PRIORITY, strict=True)
    jobs = [
        {"id": i, "submit": 0.0, "walltime": float(s), "nodes": n, "burst_buffer": b, "priority": float(p)}
        for i, (s, n, b, p) in enumerate(columns, 1)
    ]
    return pooled.workload(jobs)


@pytest.mark.parametrize("policy", STARTS)
def test_starts(policy):
    assert forebay.simulate(eight_jobs(), MACHINE, policy).jobs["starting_time"].to_list() == STARTS[policy]


def test_all_different():
    """Else two policies could be swapped and no number above would notice."""
    assert len({tuple(starts) for starts in STARTS.values()}) == len(STARTS) == 9
