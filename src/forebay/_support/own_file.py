"""Python in users' own files: imported with the modules beside them, and again when any of these has changed."""

import ast
import hashlib
import importlib.machinery
import importlib.util
import site
import sys
import sysconfig
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from forebay._support.programs import may_start
from forebay._support.reading import MOST, read_bytes
from forebay.errors import ForebayError, InputError

_ROOT = Path(__file__).parents[1]
_OTHERS = tuple(
    Path(folder).resolve()
    for folder in {*sysconfig.get_paths().values(), *site.getsitepackages(), site.getusersitepackages(), str(_ROOT)}
)
_INSTALLED = {"site-packages", "dist-packages"}
"""Where modules are that their users do not edit; the second by name, for a .pth file may add such a folder."""


@dataclass
class _World:
    """What a user's file sees: the modules beside it, by the names under which it imports them."""

    folder: Path
    names: frozenset[str] = frozenset()
    modules: dict[str, ModuleType] = field(default_factory=dict)

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """As Python asks `sys.meta_path`: a module of the file's own folder hides one of the same name elsewhere."""
        if path is not None or name not in self.names:
            return None
        return PathFinder.find_spec(name, [str(self.folder)])


@dataclass(frozen=True)
class _Imported:
    module: ModuleType
    digest: str
    world: _World


@dataclass(frozen=True)
class _Digested:
    seen: dict[Path, tuple[int, int]]  # of each file and folder: when it changed, and its size
    digest: str


_imported: dict[Path, _Imported] = {}
_entered: list[_World] = []  # the one whose modules `sys.modules` has
_digested: dict[Path, _Digested] = {}
_SETTLED = 1_000_000_000
"""Nanoseconds after which a file that changes again shows another time; some file systems count in steps that long."""


def import_file(path: Path) -> ModuleType:
    """A user's file as a module: run once, and again only after it, or a module of its user's below it, has changed.

    Files in two folders may import modules of the same name. Python knows one module by a name, so that each file gets
    its own ones back whenever it is asked for.
    """
    path = path.resolve()
    digest = sources_digest(path)
    if path not in _imported or _imported[path].digest != digest:
        helpers: dict[Path, str] = {}
        for _ in _below(path, helpers):
            pass
        world = _World(path.parent, frozenset(helpers.values()))
        _enter(world)
        _imported[path] = _Imported(_run(path), digest, world)
    _enter(_imported[path].world)
    return _imported[path].module


def _enter(world: _World) -> None:
    """Let imports find a file's own modules; what the file entered before has imported so far is kept for it."""
    if _entered and _entered[0] is world:
        return
    if _entered:
        before = _entered.pop()
        sys.meta_path.remove(before)
        before.modules = {name: sys.modules[name] for name in before.names if name in sys.modules}
    for name in world.names:
        sys.modules.pop(name, None)
    sys.modules.update(world.modules)
    sys.meta_path.insert(0, world)
    _entered.append(world)


def sources(path: Path) -> list[Path]:
    """A user's file and every module of the user's that it imports, directly or not."""
    return sorted({path.resolve(), *_below(path.resolve(), {})})


def sources_digest(path: Path) -> str:
    """Of a user's file and of all that it imports of the user's.

    To find these takes milliseconds, and every run asks: what was found counts until a file changes, or a folder of
    theirs, where a new module may hide another one.
    """
    path = path.resolve()
    known = _digested.get(path)
    if known is not None and known.seen == _states(known.seen):
        return known.digest
    found, begun = sources(path), time.time_ns()
    seen = _states([*found, *(source.parent for source in found)])
    digest = hashlib.sha256()
    for source in found:
        digest.update(hashlib.sha256(source.read_bytes()).digest())
    if all(begun - changed > _SETTLED for changed, _ in seen.values()):
        _digested[path] = _Digested(seen, digest.hexdigest())
    return digest.hexdigest()


def _states(paths: Iterable[Path]) -> dict[Path, tuple[int, int]]:
    found = {}
    for path in paths:
        try:
            state = path.stat()
        except OSError:
            continue  # gone: no longer what was seen
        found[path] = state.st_mtime_ns, state.st_size
    return found


def _run(path: Path) -> ModuleType:
    name = f"forebay_user_{path.stem}_{hashlib.sha256(bytes(path)).hexdigest()[:8]}"
    # A link mine.py may lead to a file of another name, by which Python would not take it for a source.
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    module_spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert module_spec is not None
    assert module_spec.loader is not None
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # last: a queue.py there is not Python's
    importlib.invalidate_caches()
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[name] = module
    may_start()
    try:
        module_spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except ForebayError as error:
        del sys.modules[name]
        raise type(error)(f"{path}: {error}") from None
    except BaseException as error:  # sys.exit() too
        del sys.modules[name]
        raise InputError(f"{path}: cannot be imported: {type(error).__name__}: {error}") from error
    return module


def _below(path: Path, found: dict[Path, str]) -> Iterator[Path]:
    """The files of users that a file imports, and those that they import; `found` gets their modules' names."""
    for name in _imports(path):
        for source, module in _sources(name, path.parent):
            if source not in found:
                found[source] = module
                yield source
                yield from _below(source, found)


def _imports(path: Path) -> list[str]:
    """Every module that a file's import statements name, wherever they stand."""
    try:
        tree = ast.parse(read_bytes(path, MOST))
    except (SyntaxError, ValueError):
        return []  # running it will say so
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            # A name taken from a package may be a module of it. What is relative stands beside the file.
            start = [] if node.module is None else [node.module]
            names += [".".join([*start, alias.name]) for alias in node.names] + start
    return names


def _sources(name: str, folder: Path) -> Iterator[tuple[Path, str]]:
    """The files of a dotted name that are a user's: those of its packages, and its own."""
    where: list[str] | None = [str(folder), *sys.path]
    parts = name.split(".")
    if parts[0] in sys.stdlib_module_names or _installed(parts[0]):
        return
    for place, _ in enumerate(parts, start=1):
        dotted = ".".join(parts[:place])
        spec: ModuleSpec | None = PathFinder.find_spec(dotted, where)
        if spec is None:
            return
        origin = Path(spec.origin).resolve() if spec.has_location and spec.origin else None
        if origin is not None:
            if origin.suffix != ".py" or _is_installed(origin):
                return
            yield origin, dotted
        where = spec.submodule_search_locations
        if where is None:
            return


def _installed(name: str) -> bool:
    """Whether imports find what is installed, whatever lies beside a file."""
    module = sys.modules.get(name)
    spec: ModuleSpec | None = getattr(module, "__spec__", None) if module else PathFinder.find_spec(name)
    return bool(spec and spec.has_location and spec.origin and _is_installed(Path(spec.origin).resolve()))


def _is_installed(path: Path) -> bool:
    return not _INSTALLED.isdisjoint(path.parts) or any(path.is_relative_to(other) for other in _OTHERS)
