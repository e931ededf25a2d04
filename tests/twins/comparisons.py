"""Every kernel beside its slow, obvious twin.

Twins are written from the specification and from papers, never from the code they check: plain lists and dicts, whole
scans, every sum made anew.
"""

import operator

from forebay.algorithms import fairtree, maxmin, pairs, predict, prices, quotient, waiting
from forebay.algorithms.availability import layout, profile, site_windows, timelines
from forebay.algorithms.nodes import atoms, bits, blocks, boxes, choice, nodeset, placement, setformat, shared_nodes
from forebay.algorithms.queues import forest, heap, pairing, sorting, thresholds
from forebay.algorithms.search import annealing, genetic, knapsack, pareto, subsets
from twins import blocks as slow_blocks
from twins import boxes as slow_boxes
from twins import choice as slow_choice
from twins import fairtree as slow_fairtree
from twins import forest as slow_forest
from twins import genetic as slow_genetic
from twins import inside as slow_inside
from twins import kernels, lay, sharing
from twins import knapsack as slow_knapsack
from twins import pareto as slow_pareto
from twins import prices as slow_prices
from twins import thresholds as slow_thresholds
from twins import timelines as slow_timelines
from twins import windows as slow_windows
from twins.plan import Plan
from twins.predict import Past, corrected
from twins.tape import Tape
from twins.times import Calendar, Profile

COMPARISONS = {
    annealing.accepts: lay.accepts,
    annealing.refused_above: lay.refused_above,
    annealing.cooled: lay.cooled,
    annealing.swap: lay.swap,
    annealing.insert: lay.insert,
    annealing.next_order: lay.next_order,
    annealing.last_order: lay.last_order,
    atoms.may_choose: kernels.may_choose,
    atoms.atom_of: kernels.Park.atom_of,
    atoms.free_in: kernels.Park.free_in,
    atoms.has_room: kernels.Park.share,
    atoms.share_now: kernels.Park.share,
    atoms.share_for: kernels.Park.share,
    bits.mask: kernels.mask,
    bits.fill: kernels.fill,
    bits.wipe: kernels.wipe,
    bits.count_word: kernels.count_word,
    bits.count_bits: kernels.count_bits,
    bits.lowest: kernels.lowest,
    bits.is_in: kernels.is_in,
    bits.next_run: kernels.next_run,
    blocks.best_block: slow_blocks.best,
    blocks.pick_blocks: slow_blocks.pick,
    boxes.outline: slow_boxes.outline,
    boxes.one_holds: slow_boxes.one_holds,
    boxes.tally: slow_boxes.tally,
    boxes.enough_nodes: slow_forest.most_parts,
    choice.choose: slow_choice.choose,
    choice.Rule: slow_choice.choose,
    fairtree.fair_tree: slow_fairtree.fair_tree,
    fairtree.fair_share: slow_fairtree.fair_share,
    forest.Sought: slow_forest.Line.find,
    forest.n_rows: slow_forest.n_rows,
    forest.put: slow_forest.Line.put,
    forest.put_inside: slow_forest.Line.put_inside,
    forest.asked_within: slow_forest.Line.put,
    forest.grow: slow_forest.Line.grow,
    forest.find: slow_forest.Line.find,
    forest.Parting: slow_forest.Line.grow,
    forest.tree_at: slow_forest.Line.grow,
    forest.blank: slow_forest.Line.grow,
    forest.clean: slow_forest.Line.find,
    forest.possible: slow_forest.Line.find,
    genetic.sizes: slow_genetic.sizes,
    genetic.evolve: slow_genetic.evolve,
    shared_nodes.n_rows: slow_inside.make_nodes,
    shared_nodes.holds: slow_inside.holds,
    shared_nodes.holds_in: slow_inside.holds,
    shared_nodes.may_hold: slow_inside.holds,
    shared_nodes.next_open: slow_inside.most_of,
    shared_nodes.count_parts: slow_inside.fits,
    shared_nodes.place_parts: slow_inside.place,
    shared_nodes.bound_block: slow_inside.most_of,
    shared_nodes.take_parts: slow_inside.take,
    shared_nodes.give_amounts: slow_inside.give,
    shared_nodes.taken_by: slow_inside.take,
    shared_nodes.take_amounts: slow_inside.take,
    shared_nodes.all_of: slow_inside.take,
    shared_nodes.held_in: slow_inside.give,
    heap.push: kernels.Timers.push,
    heap.remove: kernels.Timers.remove,
    knapsack.in_units: slow_knapsack.in_units,
    knapsack.common_unit: slow_knapsack.common_unit,
    knapsack.choose_by_table: slow_knapsack.by_recursion,
    knapsack.choose_by_list: slow_knapsack.by_enumeration,
    knapsack.choose: slow_knapsack.by_enumeration,
    maxmin.share_bandwidth: sharing.share_bandwidth,
    nodeset.clear: kernels.Nodes,
    nodeset.take_lowest: kernels.Nodes.take_lowest,
    nodeset.find: kernels.Nodes.find,
    nodeset.first_from: kernels.Nodes.first_from,
    nodeset.take_these: kernels.Nodes.take_these,
    nodeset.take_from: kernels.Nodes.take_from,
    nodeset.put_back: kernels.Nodes.put_back,
    nodeset.give_these: kernels.Nodes.give_these,
    nodeset.holder: kernels.Nodes.holder,
    nodeset.give_back: kernels.Nodes.give_back,
    sorting.sort_smallest: kernels.sort_smallest,
    pairing.push_member: kernels.Timers.push,
    pairing.remove_member: kernels.Timers.remove,
    pairs.room_for: dict,
    pairs.place_of: dict.get,
    pareto.dominates: slow_pareto.dominates,
    pareto.front: slow_pareto.front,
    pareto.front_with_waste: slow_pareto.front,
    pareto.hypervolume: slow_pareto.hypervolume,
    placement.count_chunks: kernels.count_chunks,
    placement.pick_server: kernels.pick_server,
    placement.pick_node: kernels.pick_node,
    placement.place: kernels.place,
    layout.behind: Plan.least,
    layout.least: Plan.least,
    layout.enough: lay.enough,
    layout.prefer_idle: lay.prefer_idle,
    layout.charge_servers: lay.charge,
    layout.lay: lay.lay,
    predict.row_of: Past.place,
    predict.remember: Past.note,
    predict.recall: Past.guess,
    predict.corrected: corrected,
    prices.paid_until: slow_prices.paid_until,
    prices.least_cost: slow_prices.least_cost,
    profile.fits: Profile.fits,
    profile.window: Profile.earliest,
    profile.longest_run: Profile.earliest,
    profile.earliest: Profile.earliest,
    profile.split: Profile.points,
    profile.reserve: Profile.reserve,
    profile.take: Calendar.take,
    profile.close: Calendar.close,
    quotient.quotient: operator.floordiv,
    setformat.group_intervals: kernels.group_intervals,
    setformat.write_sets: kernels.write_sets,
    subsets.deal: slow_pareto.sums,
    subsets.tighten: slow_pareto.highest,
    thresholds.Thresholds: slow_thresholds.ask_for_as_much,
    thresholds.thresholds_in: slow_thresholds.ask_for_as_much,
    thresholds.choose_bounds: slow_thresholds.ask_for_as_much,
    thresholds.enter: slow_thresholds.ask_for_as_much,
    thresholds.leave: slow_thresholds.ask_for_as_much,
    thresholds.drop: slow_thresholds.ask_for_as_much,
    thresholds.next_in: slow_thresholds.ask_for_as_much,
    thresholds.strike_out: slow_thresholds.ask_for_as_much,
    thresholds.put_within: slow_thresholds.ask_for_no_more,
    timelines.Timelines: slow_timelines.free_at,
    timelines.new_timelines: slow_timelines.free_at,
    timelines.has_rows: slow_timelines.free_at,
    timelines.with_room: slow_timelines.free_at,
    timelines.segment_at: slow_timelines.free_at,
    timelines.append: slow_timelines.free_at,
    timelines.give_from: slow_timelines.free_at,
    timelines.take_between: slow_timelines.free_at,
    timelines.least_between: slow_timelines.free_at,
    timelines.first_window: slow_timelines.free_at,
    timelines.next_segment: slow_timelines.free_at,
    timelines.least_if: slow_timelines.free_at,
    timelines.write_runs: slow_timelines.free_at,
    waiting.Replay: Tape,
    waiting.causes: Tape.free,
    site_windows.keeps_out: slow_windows.keeps_out,
    site_windows.left_open: slow_windows.left_open,
    site_windows.next_edge: slow_windows.next_edge,
}
"""Every kernel of forebay.algorithms and the twin that it must agree with."""
