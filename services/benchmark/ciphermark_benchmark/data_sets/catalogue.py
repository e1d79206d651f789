"""The locations of a suite's data sets: shipped, in the data directory, at the client service, or in files next to the
suite.

A file is copied into the data directory under a name derived from its contents, so that a run resumes even if the file
has changed. If the parties are services, the client receives the copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Protocol

import msgspec

from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.data_sets import Known
from ciphermark_benchmark.data_sets.finder import FILES_BY_COMMAND, Finder, options_key, unknown
from ciphermark_benchmark.parties import http_party
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import UserError
from ciphermark_measure.parties import inputs
from ciphermark_web.rest import NoAnswer, RequestRefused, RestClient, Service
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import AnyWorkload
from ciphermark_workloads.data_sets import DATA_SETS, MAX_BYTES, LabelRule, UserDataSet, take

_PATH = "/v1/data-sets"
_TIMEOUT_S = 60.0
_shapes = msgspec.json.Decoder(list[Known])


class Place(Protocol):
    """A location from which clients read given data sets."""

    def names(self) -> Iterable[str]:
        """The names of the data sets there."""

    def find(self, name: str) -> Known | None:
        """The data set of a name; ``None`` if there is none."""

    def put(self, name: str, data: bytes) -> None:
        """Put one there."""


class Folder:
    """Data sets of parties on this host."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def names(self) -> Iterable[str]:
        """See :class:`Place`."""
        return [path.stem for path in self.folder.glob("*.csv")]

    def find(self, name: str) -> Known | None:
        """See :class:`Place`; raises ``UserError`` for a file that is no data set."""
        path = inputs.kept(self.folder, name)
        if path is None:
            return None
        data_set = take(path.read_bytes(), str(path))
        stem, _, _ = name.rpartition("@")
        if name not in (data_set.called(stem), data_set.digest):
            raise UserError(f"{path}: its contents do not match the digest in its name: remove it")
        return Known(name, data_set.rows, data_set.features)

    def put(self, name: str, data: bytes) -> None:
        """See :class:`Place`."""
        inputs.keep(self.folder, name, data)


class Catalogue(Finder):
    """Finds data sets for a suite, in files only below ``base``. Without ``base``, as for suites from REST, no path is
    read.
    """

    def __init__(
        self, data_directory: DataDirectory, environ: Mapping[str, str], base: Path | None = None
    ) -> None:
        self._data_directory = Folder(data_directory.data_sets)
        self._kept_workloads = data_directory.workloads
        self._environ = environ
        self._base = base
        self._given: dict[str, UserDataSet] = {}
        self._files = data_directory.files
        self._written: dict[str, str] = {}
        self._settled: dict[str, dict[str, Value]] = {}
        user_workloads.look_in(data_directory.files)
        self._workloads: dict[str, user_workloads.WorkloadCopy] = {}

    def other(self, name: str) -> Known:
        """See :class:`Finder`; raises ``UserError`` if the client service does not answer."""
        data_set = self._place.find(name) or self._data_directory.find(name)
        if data_set is None:
            raise ValueError(unknown(name, {*DATA_SETS, *self._place.names()}))
        return data_set

    def in_file(self, file: str, rule: LabelRule) -> Known:
        if self._base is None:
            raise ValueError(
                f"{file!r}: files are read by the command line alone; give the CSV to the client service (POST "
                "/v1/data-sets?name=mine), and write here the name that it answers with"
            )
        try:
            data_set = take(_content(self._base / file, file), file, rule)
        except UserError as error:
            raise ValueError(str(error)) from None
        name = data_set.called(Path(file).stem)
        self._given[name] = data_set
        return Known(name, data_set.rows, data_set.features)

    def workload(self, text: str) -> str:
        """See :class:`Finder`. This executes the file, so only its owner may request it."""
        if self._base is None or http_party.services(self._environ) is not None:
            raise ValueError(
                f"{text!r}: workloads in files are loaded by the command line alone, for parties on this host: install "
                "yours with an entry point ciphermark.workloads, and write its name here"
            )
        if text not in self._workloads:  # loading it takes another process
            try:
                self._workloads[text] = user_workloads.copied(text, self._base)
            except UserError as error:
                raise ValueError(str(error)) from None
        return self._workloads[text].name

    def with_files(self, workload: AnyWorkload, values: Mapping[str, Value]) -> dict[str, Value]:
        key = options_key(workload.name, values)
        if key not in self._settled:
            try:
                self._settled[key] = user_workloads.settled(workload, values, self._file)
            except UserError as error:
                raise ValueError(self._as_written(str(error))) from None
        return self._settled[key]

    def _file(self, text: str, form: user_workloads.Form) -> tuple[str, bytes]:
        is_elsewhere = http_party.services(self._environ) is not None  # services receive no files of options
        path = user_workloads.file_in(self._files, text)
        if path is not None and not is_elsewhere:
            return text, user_workloads.read_file(path)
        if self._base is None or is_elsewhere:
            raise UserError(f"{text!r}: {FILES_BY_COMMAND}, for parties on this host")
        file, data = form(text, _content(self._base / text, text, user_workloads.MAX_FILE_BYTES, "elements"))
        name = user_workloads.file_name(file, data)
        self._written[name] = text
        user_workloads.hold_file(name, data)
        return name, data

    def _as_written(self, sentence: str) -> str:
        """A message with the suite's names of files in place of the copies' names."""
        for name, text in self._written.items():
            sentence = sentence.replace(name, text)
        return sentence

    @property
    def workloads(self) -> dict[str, str]:
        """The names of the workloads from files, by their text in the suite."""
        return {text: copy.name for text, copy in self._workloads.items()}

    def provide(self, names: Iterable[str]) -> None:
        """Store copies of the files, and give clients all data sets of ``names``.

        Raises ``UserError`` for a data set that no location has.
        """
        for name, data_set in self._given.items():
            self._data_directory.put(name, data_set.data)
        for name in self._written:
            user_workloads.store_file(self._files, name, user_workloads.file_content(name))
        for copy in self._workloads.values():
            user_workloads.store_copy(self._kept_workloads, copy)
        for name in names:
            if name not in DATA_SETS and self._place.find(name) is None:
                self._place.put(name, self._copy(name))

    def _copy(self, name: str) -> bytes:
        path = inputs.kept(self._data_directory.folder, name)
        if path is None:
            raise UserError(
                f"the data set {name} is no longer in {self._data_directory.folder}: put {name}.csv back there"
            )
        return path.read_bytes()

    @cached_property
    def _place(self) -> Place:
        services = http_party.services(self._environ)
        return self._data_directory if services is None else ClientData(services[0])


def _content(path: Path, name: str, most: int = MAX_BYTES, fewer: str = "rows") -> bytes:
    """The bytes of a file; raises ``UserError`` if it cannot be read or is too long."""
    try:
        if not path.is_file():
            raise UserError(f"{name}: there is no such file (looked for {path})")
        size = path.stat().st_size
        if size > most:
            raise UserError(f"{name}: {size} bytes are too many: at most {most} are read: use fewer {fewer}")
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{name}: cannot be read: {error.strerror}") from None


class ClientAway(UserError):
    """The client service does not answer, or not as expected."""


class ClientData:
    """The data sets of the client service, queried once, at the first use. All methods raise ``ClientAway``."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def names(self) -> Iterable[str]:
        """The names of the client's data sets."""
        return self._known

    def find(self, name: str) -> Known | None:
        """The data set of a name; ``None`` if there is none."""
        return self._known.get(name)

    def put(self, name: str, data: bytes) -> None:
        """Give the client a data set; ``name`` must be the one that its contents determine."""
        stem, _, _ = name.rpartition("@")
        answer = self._sent("POST", f"{_PATH}?name={stem}" if stem else _PATH, data)
        if msgspec.json.decode(answer, type=Known).name != name:
            raise ClientAway(f"{self._told} calls the data set {name} otherwise: is it of this version?")

    @cached_property
    def _known(self) -> dict[str, Known]:
        try:
            return {shape.name: shape for shape in _shapes.decode(self._sent("GET", _PATH))}
        except msgspec.MsgspecError as error:
            raise ClientAway(f"{self._told} answers nonsense: {error}") from None

    def _sent(self, method: str, path: str, content: bytes | None = None) -> bytes:
        try:
            with RestClient(self._service, _TIMEOUT_S) as rest:
                return rest.send(method, path, content, headers={"Content-Type": "text/csv"})
        except NoAnswer as error:
            raise ClientAway(f"{self._told}, which has the data sets, does not answer: {error}") from None
        except RequestRefused as refusal:
            raise ClientAway(f"{self._told}: {refusal.body[:300]}") from None

    @property
    def _told(self) -> str:
        return f"the client service at {self._service.url}"
