"""Count how the package is laid out: `python scripts/structure.py`.

Numbers that tell whether a newcomer finds a way through it: how many files stand side by side, whether modules import
each other in circles, how long functions are, and how often the core of the engine asks whether a capability is in
use. The house rules hold them (tests/test_house_rules.py): they may get smaller, not larger.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1] / "src" / "forebay"
MANY_FILES, LONG, MANY_PARAMETERS = 20, 40, 9
CORE = (
    *("loop", "actions", "legs", "events", "submissions", "arrival", "ending"),
    *("allocation/allocate", "allocation/picks", "build/tables", "results/tables"),
)
"""Files of the engine through which every run goes."""
CAPABILITIES = re.compile(
    r"\b(meters|limited|turned_away|full_meter|doors|planned|planning|is_outside|outside|waits|joins|dependencies"
    r"|rounds|in_rounds|flexible|flexibility|choose_size|resilience|safety|guarded|is_guarded|must_save|end_saving"
    r"|stands_still|halts|_is_halted|begin_attempt|checkpoints?|down|failures|faults|inside|asks|shared|sharing|chunk"
    r"|chunked|servers|adhoc|tiers|ways?|atoms|settle_atoms|may_have|allowed|eligible|divided|member|placement|leaving"
    r"|victims|network|drains|io)\b"
)
"""What their conditions name if they ask for a capability: its tables, or what else is there only with it."""
WORDS = re.compile(r"\b(told|nobody|anew|whoever)\b", re.IGNORECASE)


class Structure(NamedTuple):
    """The numbers."""

    crowded_folders: int
    files_at_the_root: int
    conditions: int
    on_capabilities: int
    import_circles: int
    long_functions: int
    many_parameters: int
    words: int


def trees() -> dict[str, ast.Module]:
    """Every module's syntax tree, by its dotted name."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text())
    return found


def crowded_folders() -> dict[str, int]:
    """Folders with many files, and how many they have."""
    counts = {path.relative_to(ROOT).as_posix(): len(list(path.glob("*.py"))) for path in [ROOT, *ROOT.rglob("*/")]}
    return {name: count for name, count in counts.items() if count > MANY_FILES}


def conditions() -> tuple[list[str], list[str]]:
    """Conditions in the core of the engine, and those of them that ask for a capability."""
    every = []
    for name in CORE:
        for node in ast.walk(ast.parse((ROOT / "engine" / f"{name}.py").read_text())):
            if isinstance(node, ast.If | ast.While | ast.IfExp):
                every.append(f"engine/{name}.py:{node.lineno}: {ast.unparse(node.test)}")
    return every, [text for text in every if CAPABILITIES.search(text.split(": ", 1)[1])]


def _imports(tree: ast.Module, modules: set[str]) -> Iterator[str]:
    """What a module imports, also in functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules else node.module


def import_circles(sources: dict[str, ast.Module]) -> list[list[str]]:
    """Groups of modules that import each other, one way or another: those that can only be read together."""
    graph = {name: set(_imports(tree, set(sources))) - {name} for name, tree in sources.items()}
    reached = {name: _reach(graph, name) for name in graph}
    groups = {frozenset(other for other in reached[name] if name in reached[other]) for name in graph}
    return sorted(sorted(group) for group in groups if len(group) > 1)


def _reach(graph: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    pending = [start]
    while pending:
        for other in graph.get(pending.pop(), ()):
            if other not in seen:
                seen.add(other)
                pending.append(other)
    return seen


def functions(sources: dict[str, ast.Module]) -> Iterator[tuple[str, int, int]]:
    """Every function with its lines and parameters."""
    for name, tree in sources.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                given = node.args
                count = len([*given.posonlyargs, *given.args, *given.kwonlyargs])
                yield f"{name}.{node.name}", (node.end_lineno or node.lineno) - node.lineno + 1, count


def measure() -> Structure:
    """All of it."""
    sources = trees()
    every, asking = conditions()
    sizes = list(functions(sources))
    return Structure(
        crowded_folders=len(crowded_folders()),
        files_at_the_root=len(list(ROOT.glob("*.py"))),
        conditions=len(every),
        on_capabilities=len(asking),
        import_circles=len(import_circles(sources)),
        long_functions=sum(lines > LONG for _, lines, _ in sizes),
        many_parameters=sum(count > MANY_PARAMETERS for _, _, count in sizes),
        words=sum(len(WORDS.findall(path.read_text())) for path in ROOT.rglob("*.py")),
    )


def main() -> None:
    """A line for each number, with what it counts where that is short."""
    found = measure()
    for name, value in found._asdict().items():
        print(f"{name.replace('_', ' '):20}{value:6}")
    for folder, count in crowded_folders().items():
        print(f"  {folder}: {count} files")
    for group in import_circles(trees()):
        print("  circle:", ", ".join(group))


if __name__ == "__main__":
    main()
