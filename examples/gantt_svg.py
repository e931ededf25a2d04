"""Covers: reading schedules from a Result: who ran when, on which nodes, holding how much burst buffer.

Scenario: Table 1 of Kopański & Rządca (2021) under EASY backfilling without and with burst-buffer reservations, drawn
as one SVG: `python gantt_svg.py [FILE]` writes it, or prints what it would draw.
"""

import sys
from pathlib import Path

import forebay as fb

COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#ee8866")  # Paul Tol, bright
X, ROW, MINUTE, BUFFER = 96, 22, 30, 52  # left margin, a node's height, a minute's width, the buffer lane's height
TITLES = {
    "fcfs-easy": "fcfs-easy: job 3 has its nodes at minute 4, but no burst buffer, and blocks everybody until 10",
    "fcfs-bb": "fcfs-bb: nodes and burst buffer reserved together; the others run in the meantime",
}


def pieces(allocation: str) -> list[tuple[int, int]]:
    """`0-2 5` as [(0, 2), (5, 5)]."""
    bounds = [part.split("-") for part in allocation.split()]
    return [(int(part[0]), int(part[-1])) for part in bounds]


def panel(policy: str, top: int) -> list[str]:
    """One schedule: a row a node, and below it the burst buffer in use, stacked by job."""
    result = fb.simulate(fb.read("table1"), policy=policy)
    nodes, capacity = result.resources["nodes"], result.resources["burst_buffer"]
    lane = top + nodes * ROW + 8
    svg = [f'<text x="8" y="{top - 10}" font-weight="bold">{TITLES[policy]}</text>']
    for node in range(nodes):
        svg.append(f'<text x="{X - 8}" y="{top + node * ROW + 15}" text-anchor="end">node {node}</text>')
    svg.append(f'<text x="{X - 8}" y="{lane + 20}" text-anchor="end">burst buffer</text>')
    svg.append(f'<text x="{X - 8}" y="{lane + 35}" text-anchor="end">(10 TB)</text>')
    svg.append(f'<rect x="{X}" y="{lane}" width="{18 * MINUTE}" height="{BUFFER}" fill="none" stroke="#999"/>')
    jobs = result.jobs.sort("starting_time", "job_id").to_dicts()
    for job in jobs:
        start, end = job["starting_time"] / 60, job["finish_time"] / 60
        x, width, colour = X + start * MINUTE, (end - start) * MINUTE, COLOURS[job["job_id"] - 1]
        for low, high in pieces(job["allocated_resources"]):
            y, height = top + low * ROW, (high - low + 1) * ROW
            svg.append(f'<rect x="{x:g}" y="{y}" width="{width:g}" height="{height}" fill="{colour}" stroke="white"/>')
            svg.append(
                f'<text x="{x + width / 2:g}" y="{y + height / 2 + 5:g}" text-anchor="middle">{job["job_id"]}</text>'
            )
    for minute in range(18):
        used = 0.0
        for job in jobs:
            if job["starting_time"] <= minute * 60 < job["finish_time"]:
                height = BUFFER * job["burst_buffer"] / capacity
                y, colour = lane + BUFFER - used - height, COLOURS[job["job_id"] - 1]
                svg.append(
                    f'<rect x="{X + minute * MINUTE}" y="{y:g}" width="{MINUTE}" height="{height:g}" fill="{colour}"/>'
                )
                used += height
    for minute in range(0, 19, 2):
        svg.append(f'<text x="{X + minute * MINUTE}" y="{lane + BUFFER + 15}" text-anchor="middle">{minute}</text>')
    return svg


def main() -> None:
    body = panel("fcfs-easy", 34) + panel("fcfs-bb", 246)
    body.append('<text x="366" y="424" text-anchor="middle">minutes</text>')
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="660" height="434" font-family="sans-serif" font-size="12">'
    drawing = "\n".join([head, '<rect width="660" height="434" fill="white"/>', *body, "</svg>\n"])
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(drawing)
    else:
        print(f"{drawing.count('<rect')} rectangles, {drawing.count('<text')} words")


main()
