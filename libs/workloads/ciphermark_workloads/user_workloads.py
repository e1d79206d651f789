"""Workloads of users, in files of their own, and the files that options of workloads name.

The command line and suites name a file as ``./mine.py`` or ``./mine.py:MyWorkload``. Runs keep a copy of it under a
name derived from its content, ``mine@3b5d12ab``, so that a run resumes even if the file has changed. Files that options
name are kept likewise, ``records@3b5d12ab.bin``.
"""

from __future__ import annotations

import ast
import copy
import faulthandler
import hashlib
import importlib.util
import os
import re
import sys
import tempfile
import traceback
from collections import UserDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import isabstract
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from ciphermark_core.budget import Budget
from ciphermark_core.containment import Contained, EndedEarlyError, Limits, contained, watched
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.nearest import did_you_mean
from ciphermark_workloads.data_sets import named
from ciphermark_workloads.options import declared
from ciphermark_workloads.workload import AnyWorkload, Workload

SUFFIX = ".py"
MAX_FILE_BYTES = 1 << 30
T = TypeVar("T")
LOADING = Limits(60.0, Budget().memory_mb)
_NO_CLASS = "no class below Workload in it, and no @computation: `ciphermark workload new` writes one"
_COMPUTATION = '''\
"""A polynomial of 4,096 encrypted numbers: a computation to change into your own."""

from ciphermark import computation, reals


@computation(x=reals(4096, low=-2, high=2), tolerance=1e-3)
def horner(x):
    y = 0.004
    for c in (-0.012, 0.031, -0.05, 0.11, 0.2, -0.7, 0.3):
        y = y * x + c
    return y
'''
_LARGEST_BYTES = 16 << 20  # of a file
_LONGEST_TEXT = 500  # characters of an exception's text
_NEARLY = 0.9  # of the time limit of loading: then the current place is recorded
_MODULE = "_ciphermark_own_"  # prefix of the names of modules from users' files
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>\S+)')
_COPY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}@[0-9a-f]{8}", re.ASCII)
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}@[0-9a-f]{8}\.[a-z]{1,8}", re.ASCII)


def template() -> str:
    """The text of a file with a working workload, as a starting point."""
    return (Path(__file__).parent / "_template.py").read_text(encoding="utf-8")


def computation_template() -> str:
    """The text of a file with a working computation, as a starting point."""
    return _COMPUTATION


# --- Classes in a module ----------------------------------------------------------------------------------------------


def workload_classes(module: ModuleType) -> dict[str, type[AnyWorkload]]:
    """The classes below ``Workload`` among a module's names, imported ones included.

    The type of each object decides whether it is a class. An alias such as ``dict[str, float]`` pretends to be one,
    even to ``inspect.isclass`` of Python 3.10, but has no subclasses.
    """
    classes = {name: item for name, item in vars(module).items() if issubclass(type(item), type)}
    return {name: item for name, item in classes.items() if issubclass(item, Workload)}


def offered_by(module: ModuleType) -> tuple[AnyWorkload, ...]:
    """The workloads that a module lists as ``WORKLOADS``; else its computations, and one of each class below
    ``Workload`` that it defines.
    """
    listed: tuple[AnyWorkload, ...] | None = getattr(module, "WORKLOADS", None)
    if listed is not None:
        return listed
    classes = _defined(module)
    computations = (item for item in _instances(module).values() if type(item) not in classes)
    return (*computations, *(kind() for kind in classes if not isabstract(kind)))


def _defined(module: ModuleType) -> list[type[AnyWorkload]]:
    return [item for item in workload_classes(module).values() if item.__module__ == module.__name__]


def _instances(module: ModuleType) -> dict[str, AnyWorkload]:
    """The workloads among a module's names whose classes it made, such as computations."""
    items = {name: item for name, item in vars(module).items() if issubclass(type(item), Workload)}
    return {name: item for name, item in items.items() if type(item).__module__ == module.__name__}


# --- A workload in a file ---------------------------------------------------------------------------------------------


def is_own(name: str) -> bool:
    """Whether a suite's name for a workload is a file."""
    return name.partition(":")[0].endswith(SUFFIX)


def load(text: str, folder: Path) -> AnyWorkload:
    """The workload in a file, relative to ``folder``; a file with several requires the name of one.

    Executes the file. Raises ``UserError``, with the file and its line where there is one, for a file that cannot be
    loaded.
    """
    name, _, kind = text.partition(":")
    path = folder / name
    if not path.is_file():
        raise UserError(f"{name}: there is no such file (looked for {path})")
    if path.stat().st_size > _LARGEST_BYTES:
        raise UserError(
            f"{name}: a workload of more than {_LARGEST_BYTES >> 20} MiB is not read: keep its data in files"
        )
    _require_workload(path, kind)
    module = _module(path)
    offered = _offered(module, path)
    if kind:
        return _chosen(module, kind, path)
    if len(offered) != 1:
        names = [type(item).__name__ for item in offered]
        raise UserError(
            f"{name} has {len(offered)} workloads ({', '.join(names)}): name one, as in {name}:{names[0]}"
        )
    return offered[0]


def sound(text: str, folder: Path) -> AnyWorkload:
    """As :func:`load`; also raises ``UserError`` for a workload with faulty declarations."""
    # Not at the top: callers recognize users' files without loading any workload.
    from ciphermark_workloads.declarations import faults

    workload, file = load(text, folder), text.partition(":")[0]
    try:
        reasons = faults(workload)
    except (Exception, SystemExit) as error:  # whatever the workload does
        raise UserError(explained(error, folder / file)) from error
    if reasons:
        raise UserError(f"{file}: {'; '.join(reasons)}")
    return workload


def _require_workload(path: Path, kind: str) -> None:
    """Raise ``UserError`` for a file that cannot contain a workload, or none of this name, without executing it."""
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except (SyntaxError, ValueError) as error:
        raise UserError(explained(error, path)) from error
    names = {*_bound_in(tree)}
    if "*" in names:
        return
    if kind and kind not in names:
        raise UserError(f"{path.name} has no workload {kind!r}{did_you_mean(kind, names)}")
    if not kind and "WORKLOADS" not in names and not any(_may_be_workload(node) for node in ast.walk(tree)):
        raise UserError(f"{path.name}: {_NO_CLASS}")


def _may_be_workload(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) or (isinstance(node, ast.FunctionDef) and bool(node.decorator_list))


def _bound_in(tree: ast.AST) -> Iterator[str]:
    """The names that a module may define; a star for any names of another module."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef() | ast.FunctionDef():
                yield node.name
            case ast.alias():
                yield node.asname or node.name
            case ast.Name(ctx=ast.Store()):
                yield node.id


def _module(path: Path) -> ModuleType:
    """The file as a module, under a name derived from its content: a changed file is loaded again."""
    name = f"{_MODULE}{path.stem}_{_digest(path.read_bytes())}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever the file does
        del sys.modules[name]
        raise UserError(explained(error, path)) from error
    return module


def _offered(module: ModuleType, path: Path) -> tuple[AnyWorkload, ...]:
    try:
        offered = offered_by(module)
    except (Exception, SystemExit) as error:  # whatever the file does
        raise UserError(explained(error, path)) from error
    unfinished = [kind for kind in _defined(module) if isabstract(kind)]
    if not offered and not unfinished:
        raise UserError(f"{path.name}: {_NO_CLASS}")
    if not offered:
        kind = unfinished[0]
        missing = ", ".join(sorted(kind.__abstractmethods__))
        raise UserError(
            f"{path.name}: {kind.__name__} does not say {missing}: these are every workload's own"
        )
    return offered


def _chosen(module: ModuleType, name: str, path: Path) -> AnyWorkload:
    classes, instances = workload_classes(module), _instances(module)
    if name in instances:
        return instances[name]
    if name not in classes:
        near = did_you_mean(name, [*instances, *classes])
        raise UserError(f"{path.name} has no workload {name!r}{near}")
    try:
        return classes[name]()
    except (Exception, SystemExit) as error:  # whatever the file does
        raise UserError(explained(error, path)) from error


# --- Where in a file an exception came from ---------------------------------------------------------------------------


def place(error: BaseException, path: Path) -> str | None:
    """The place in a file that an exception came from: ``mine.py:12, in circuit``; ``None`` for another origin."""
    if isinstance(error, SyntaxError) and _is_same(error.filename, path):
        return f"{path.name}:{error.lineno}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if _is_same(frame.filename, path):
            return f"{path.name}:{frame.lineno}, in {frame.name}"
    return None


def _is_same(filename: str | None, path: Path) -> bool:
    return filename is not None and Path(filename).resolve() == path.resolve()


def explained(error: BaseException, path: Path) -> str:
    """An exception of a workload's file, with its place there, which the text of a user's mistake may begin with."""
    where = place(error, path)
    text = _text_of(error)
    if isinstance(error, UserError) and text.startswith(f"{path.name}:"):
        return text
    words = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if isinstance(error, SystemExit):
        words = f"it ends the program ({words})"
    return words if where is None else f"{where}: {words}"


def _text_of(error: BaseException) -> str:
    """The text of an exception, up to the limit of a message; empty where making it fails."""
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error)
    except Exception:  # the exception's class is user code
        return ""
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}… ({len(text)} characters)"


def innermost(error: BaseException) -> str | None:
    """The place in any user's file that an exception, or its cause, came from; ``None`` for another origin."""
    for cause in reversed(_with_causes(error)):
        for frame, line in reversed([*traceback.walk_tb(cause.__traceback__)]):
            if is_in_file(str(frame.f_globals.get("__name__", ""))):
                return f"{Path(frame.f_code.co_filename).name}:{line}, in {frame.f_code.co_name}"
    return None


def _with_causes(error: BaseException) -> list[BaseException]:
    """An exception, its cause, the cause of that, and so on. Each appears once: causes may form a cycle."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and not any(cause is item for item in chain):
        chain.append(cause)
        cause = cause.__cause__
    return chain


def is_in_file(module: str) -> bool:
    """Whether a module is a user's file."""
    return module.startswith(_MODULE)


def place_in_dump(dump: str, is_of_file: Callable[[Path], bool]) -> str | None:
    """The innermost place in a file within a dump of ``faulthandler``, which begins with the last call. Pure."""
    for match in _FRAME.finditer(dump):
        if is_of_file(path := Path(match["file"])):
            return f"{path.name}:{match['line']}, in {match['function']}"
    return None


def place_in_copy(dump: str) -> str | None:
    """The innermost place in a copy of a workload within a dump of ``faulthandler``. Pure."""
    return place_in_dump(dump, lambda path: _COPY.fullmatch(path.stem) is not None)


# --- Copies of workloads, for runs ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WorkloadCopy:
    """A workload's name in results, ``mine@3b5d12ab``, and the text of its file."""

    name: str
    text: str


class CatalogueWithCopies(UserDict[str, AnyWorkload]):
    """Installed workloads, and copies in a folder, which are loaded on demand."""

    def __init__(self, installed: Mapping[str, AnyWorkload], folder: Path | None) -> None:
        super().__init__(installed)
        self._folder = folder

    def __missing__(self, name: str) -> AnyWorkload:
        if self._folder is None or not _COPY.fullmatch(name):
            raise KeyError(name)
        return _loaded_copy(self._folder, name)


def copied(text: str, folder: Path, limits: Limits = LOADING) -> WorkloadCopy:
    """A workload as a suite writes it, ``./mine.py:MyWorkload``, below a folder. It is installed in this process once
    another process has loaded it within ``limits``.

    Raises ``UserError`` as :func:`sound` does, and for a file that exceeds the limits or leaves processes behind.
    """
    file, _, kind = text.partition(":")
    workload = _loaded_here(folder / file, partial(sound, text, folder), limits)
    source = (folder / file).read_text(encoding="utf-8")
    if kind:
        source += (
            f"\n\nWORKLOADS = ({kind if callable(workload) else f'{kind}()'},)\n"  # computations are callable
        )
    name = f"{workload.name}@{_digest(source.encode())}"
    _install(_renamed(workload, name))
    return WorkloadCopy(name, source)


def _loaded_here(path: Path, load_it: Callable[[], AnyWorkload], limits: Limits) -> AnyWorkload:
    """The workload in a file, loaded by this process once another one has loaded it. A file may behave differently the
    second time, so this process applies the same limits and also raises ``UserError`` for it.
    """
    rehearsed = asked(path, lambda: _declarations(load_it()), limits)
    _require_alone(path, rehearsed.left_behind)
    try:
        loaded = watched(load_it, limits)
    except (TimeoutError, EndedEarlyError) as error:
        raise UserError(f"{path.name}: it ended early: {error}") from None
    _require_alone(path, loaded.left_behind)
    declarations = _declarations(loaded.value)
    if declarations != rehearsed.value:
        raise UserError(
            f"{path.name}: it declares something else each time that it is loaded: {rehearsed.value}, then "
            f"{declarations}"
        )
    return loaded.value


def _require_alone(path: Path, left_behind: int) -> None:
    if left_behind:
        raise UserError(
            f"{path.name}: loading it leaves processes running: {left_behind}, which were ended; start none there"
        )


def _declarations(workload: AnyWorkload) -> str:
    """A workload's declarations for suites, as a text that is equal for equal workloads."""
    stages = ", ".join(stage.name for stage in workload.stages)
    schemes = ", ".join(workload.schemes)
    return f"{workload.name} ({type(workload).__name__}; {schemes}; stages {stages}; {workload.options})"


def asked(path: Path, action: Callable[[], T], limits: Limits = LOADING) -> Contained[T]:
    """The result of an action with a workload of a file, executed by another process within ``limits``.

    Raises ``UserError``, with the place in the file, for any fault of the workload; ``Unsupported`` passes.
    """
    with tempfile.TemporaryFile() as calls:

        def act() -> T:
            faulthandler.dump_traceback_later(limits.deadline_s * _NEARLY, file=calls)
            try:
                return action()
            except (UserError, Unsupported):
                raise
            except (Exception, SystemExit) as error:  # whatever the workload does
                raise UserError(explained(error, path)) from error

        try:
            return contained(act, limits)
        except (TimeoutError, MemoryError, EndedEarlyError) as error:
            calls.seek(0)
            dump = calls.read().decode(errors="replace")
            where = place_in_dump(dump, lambda other: _is_same(str(other), path)) or path.name
            raise UserError(f"{where}: it ended early: {error}") from None


def store_copy(folder: Path, kept: WorkloadCopy) -> None:
    """Write a copy to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{kept.name}{SUFFIX}").write_text(kept.text, encoding="utf-8")


def is_copy(name: str) -> bool:
    """Whether a workload in results is a copy of a user's file."""
    return _COPY.fullmatch(name) is not None


def install_copies(folder: Path, names: Iterable[str]) -> None:
    """Install copies of a folder; raises ``UserError`` for one that is gone, or was changed."""
    for name in names:
        load_it = partial(_loaded_copy, folder, name)
        _install(_loaded_here(folder / f"{name}{SUFFIX}", load_it, LOADING))


def _install(workload: AnyWorkload) -> None:
    from ciphermark_workloads.catalogue import WORKLOADS, add

    if workload.name not in WORKLOADS:
        add(WORKLOADS, workload)


def _loaded_copy(folder: Path, name: str) -> AnyWorkload:
    path = folder / f"{name}{SUFFIX}"
    if not path.is_file():
        raise UserError(f"the workload {name} is no longer in {folder}: put {path.name} back there")
    _require_digest(path, path.read_bytes())
    return _renamed(load(path.name, folder), name)


def _renamed(workload: AnyWorkload, name: str) -> AnyWorkload:
    other = copy.copy(workload)
    object.__setattr__(other, "name", name)  # of a frozen dataclass, too
    return other


# --- Files that options name ------------------------------------------------------------------------------------------

Form = Callable[[str, bytes], tuple[str, bytes]]
_held: dict[str, bytes] = {}
_folders: list[Path] = []


def file_name(file: str, data: bytes) -> str:
    """The name of a file in results. Equal names imply equal content, regardless of the folder."""
    path = Path(file)
    return named(path.stem, hashlib.sha256(data).hexdigest()) + path.suffix.lower()


def hold_file(name: str, data: bytes) -> None:
    """Make a file available to this process without a folder."""
    _held[name] = data


def look_in(folder: Path) -> None:
    """Make the files of a folder available to this process."""
    if folder not in _folders:
        _folders.append(folder)


def file_content(name: str) -> bytes:
    """A file by its name in results; raises ``UserError`` for one that does not exist, or has changed."""
    if name in _held:
        return _held[name]
    for folder in _folders:
        path = file_in(folder, name)
        if path is not None:
            return read_file(path)
    raise UserError(f"the file {name} is not here; looked in: {', '.join(map(str, _folders)) or 'no folder'}")


def file_in(folder: Path, name: str) -> Path | None:
    """The file of a name in ``folder``; ``None`` where it does not exist, and for an invalid name."""
    path = folder / name
    return path if _FILE.fullmatch(name) and path.is_file() else None


def read_file(path: Path) -> bytes:
    """A stored file; raises ``UserError`` where its content does not match its name."""
    data = path.read_bytes()
    _require_digest(path, data)
    return data


def store_file(folder: Path, name: str, data: bytes) -> None:
    """Store a file in ``folder``, readable by its owner alone; replaces one of that name as a whole."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, partial = tempfile.mkstemp(dir=folder)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    os.replace(partial, folder / name)


def files_named_in(workload: AnyWorkload, values: Mapping[str, Value]) -> list[str]:
    """The names of files in values of options."""
    return [str(values[option]) for option in _file_options(workload) if values.get(option)]


def settled(
    workload: AnyWorkload, values: Mapping[str, Value], find: Callable[[str, Form], tuple[str, bytes]]
) -> dict[str, Value]:
    """The values of options, with those that follow from the files that they name. ``find`` returns a file's name in
    results and its content, in the workload's form.
    """
    settings = dict(values)
    for option in _file_options(workload):
        if values.get(option):
            settings = workload.with_file(option, *find(str(values[option]), workload.as_kept), settings)
    return settings


def _file_options(workload: Workload[Any, Any]) -> list[str]:
    return [option.name for option in declared(workload.Options) if option.is_file]


# --- Contents and their names -----------------------------------------------------------------------------------------


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:8]


def _require_digest(path: Path, data: bytes) -> None:
    if _digest(data) != path.stem.rpartition("@")[2]:
        raise UserError(f"{path}: its contents do not match the digest in its name: remove it")
