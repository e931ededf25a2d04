"""Every kernel beside its slow, obvious twin.

Twins are written from the specification and from papers, never from the code they check: plain lists and dicts, whole
scans, every sum made anew.
"""

from forebay.algorithms import (
    anneal,
    bits,
    forest,
    genetic,
    heap,
    kinds,
    knapsack,
    maxmin,
    nodeset,
    order,
    pairing,
    pareto,
    place,
    plan,
    predict,
    profile,
    setformat,
    subsets,
    waiting,
)
from twins import forest as slow_forest
from twins import genetic as slow_genetic
from twins import kernels, lay, sharing
from twins import knapsack as slow_knapsack
from twins import pareto as slow_pareto
from twins.plan import Plan
from twins.predict import Past, corrected
from twins.tape import Tape
from twins.times import Calendar, Profile

COMPARISONS = {
    anneal.accepts: lay.accepts,
    anneal.refused_above: lay.refused_above,
    anneal.cooled: lay.cooled,
    anneal.swap: lay.swap,
    anneal.insert: lay.insert,
    anneal.next_order: lay.next_order,
    bits.mask: kernels.mask,
    bits.fill: kernels.fill,
    bits.wipe: kernels.wipe,
    bits.count_word: kernels.count_word,
    bits.count_bits: kernels.count_bits,
    forest.n_rows: slow_forest.n_rows,
    forest.put: slow_forest.Line.put,
    forest.grow: slow_forest.Line.grow,
    forest.find: slow_forest.Line.find,
    genetic.sizes: slow_genetic.sizes,
    genetic.evolve: slow_genetic.evolve,
    kinds.fewest_large: kernels.fewest_large,
    kinds.large_for: kernels.large_for,
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
    nodeset.take_these: kernels.Nodes.take_these,
    nodeset.take_from: kernels.Nodes.take_from,
    nodeset.put_back: kernels.Nodes.put_back,
    nodeset.give_these: kernels.Nodes.give_these,
    nodeset.holder: kernels.Nodes.holder,
    nodeset.give_back: kernels.Nodes.give_back,
    order.sort_smallest: kernels.sort_smallest,
    pairing.push_member: kernels.Timers.push,
    pairing.remove_member: kernels.Timers.remove,
    pareto.dominates: slow_pareto.dominates,
    pareto.front: slow_pareto.front,
    pareto.front_with_waste: slow_pareto.front,
    pareto.hypervolume: slow_pareto.hypervolume,
    place.count_chunks: kernels.count_chunks,
    place.pick_server: kernels.pick_server,
    place.pick_node: kernels.pick_node,
    place.place: kernels.place,
    plan.behind: Plan.least,
    plan.least: Plan.least,
    plan.enough: lay.enough,
    plan.prefer_idle: lay.prefer_idle,
    plan.lay: lay.lay,
    predict.row_of: Past.place,
    predict.remember: Past.note,
    predict.recall: Past.guess,
    predict.corrected: corrected,
    profile.fits: Profile.fits,
    profile.window: Profile.earliest,
    profile.earliest: Profile.earliest,
    profile.split: Profile.points,
    profile.reserve: Profile.reserve,
    profile.take: Calendar.take,
    profile.close: Calendar.close,
    setformat.group_intervals: kernels.group_intervals,
    setformat.write_sets: kernels.write_sets,
    subsets.deal: slow_pareto.sums,
    subsets.tighten: slow_pareto.highest,
    waiting.Replay: Tape,
    waiting.causes: Tape.free,
}
"""Every kernel of forebay.algorithms and the twin that it must agree with."""
