"""Blobs: a folder of files named by the digest of their content: ``blake3-…``, or SHA-256 without that package.

Parties exchange keys and ciphertexts this way. Many processes may write and read, in containers that share the folder
as a volume and a group. A file appears whole or not at all, even if its writer is killed or the machine stops. Every
read compares the content with the name.
"""

from __future__ import annotations

import errno
import hashlib
import io
import mmap
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from time import time
from typing import Annotated, Any, Protocol, TypeAlias

import msgspec
from msgspec import Meta

from ciphermark_core.errors import UserError


def _blake3() -> Any:
    """The digest used where its package is installed; names state which of the two digests was used."""
    try:
        return import_module("blake3").blake3
    except ImportError:
        return None


blake3 = _blake3()
_BLAKE3 = "blake3-"
_DIGEST = re.compile(rf"({_BLAKE3})?[0-9a-f]{{64}}", re.ASCII)
_PARTIAL_PREFIX = ".partial-"
# Files that may be overwritten: allocating the pages of a new file takes as long as the digest of its content.
_SPARE_PREFIX = f"{_PARTIAL_PREFIX}spare-"
_MAX_SPARE_BYTES = 64 << 20
_LENGTH_BYTES = 8  # before each part
_DROPPED_BYTES = 1 << 20  # released at a time
_FILE_MODE = 0o640  # only the group of the volume may read
# The errors of open for a link and for a socket.
_IRREGULAR = (errno.ELOOP, errno.ENXIO)
MAX_BYTES = 16 << 30
MAX_PARTS = 1 << 20
FULL = (errno.ENOSPC, errno.EDQUOT)
Content: TypeAlias = mmap.mmap | bytes
_ALL_BUT_NOTHING = 0.9  # of a disk: the rest is for the file system's reserve and small files of others


class Blob(msgspec.Struct, frozen=True):
    """A content-addressed blob: digest in hexadecimal, size, and of how many parts it is made."""

    digest: Annotated[
        str,
        Meta(
            pattern=rf"^({_BLAKE3})?[0-9a-f]{{64}}$",
            description="`blake3-` and the BLAKE3 digest of its bytes, or their SHA-256 alone",
            examples=[_BLAKE3 + "5e" * 32],
        ),
    ]
    size_bytes: Annotated[int, Meta(ge=0, le=MAX_BYTES, examples=[65649])]
    parts: Annotated[
        int,
        Meta(ge=0, le=MAX_PARTS, description="each behind its length of 8 bytes; 0: no parts", examples=[1]),
    ] = 0

    @property
    def payload_bytes(self) -> int:
        """The size without the length prefixes of parts."""
        return self.size_bytes - _LENGTH_BYTES * self.parts


class BlobError(Exception):
    """A blob cannot be read or stored; the text gives the blob and the reason."""


class DiskFull(BlobError):
    """A blob cannot be stored now, for lack of space that other files use and may release."""


class Blobs(Protocol):
    """The interface of a store that parties need."""

    def put(self, data: bytes) -> Blob:
        """Store bytes."""
        ...

    def put_parts(self, parts: Iterable[bytes]) -> Blob:
        """Store data that is produced, and to be read, part by part."""
        ...

    def get(self, blob: Blob) -> bytes:
        """The bytes of a blob."""
        ...

    def get_parts(self, blob: Blob) -> Iterator[bytes]:
        """The parts of a blob; each is released after use."""
        ...


class BlobStore(Blobs):
    """The blobs in one folder, of at most ``max_bytes`` each. Objects and processes may share a folder.

    ``is_scratch`` means that the folder is not read after a restart of the machine. Writes then do not wait for the
    disk, so a stop of the machine could corrupt them.
    """

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES, *, is_scratch: bool = False) -> None:
        """Creates a missing folder; raises ``UserError`` where that fails."""
        self._folder = folder
        self._max_bytes = max_bytes
        self._is_scratch = is_scratch
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"{folder}: cannot keep blobs there: {error.strerror}; name another folder"
            ) from None

    def put(self, data: bytes | Iterable[bytes]) -> Blob:
        """Store bytes, given whole or in chunks. Storing an existing blob only renews its age.

        Raises :class:`BlobError` for more than ``max_bytes``, and where the folder cannot be written. Raises its
        subclass :class:`DiskFull` where the lack of space may be temporary.
        """
        return self._put([data], len(data)) if isinstance(data, bytes) else self._put(data)

    def put_parts(self, parts: Iterable[bytes]) -> Blob:
        """:meth:`put` for data that is produced, and to be read, part by part: each part follows its length."""
        count, size = 0, 0

        def pieces() -> Iterator[bytes]:
            nonlocal count
            for part in parts:
                count += 1
                yield from (_length(part), part)

        if isinstance(parts, Sequence):
            size = sum(_LENGTH_BYTES + len(part) for part in parts)
        blob = self._put(pieces(), size)
        return msgspec.structs.replace(blob, parts=count)

    def _put(self, chunks: Iterable[bytes], size: int = 0) -> Blob:
        """Store chunks; ``size`` is their total, where it is known."""
        try:
            descriptor, partial = self._file_for(size)
            try:
                blob = self._written(descriptor, chunks)
                os.replace(partial, self._path(blob.digest))
                partial = ""
            except OSError as error:
                raise self._unwritten(error) from error  # while the partial file still exists
            finally:
                os.close(descriptor)
                if partial:
                    with suppress(FileNotFoundError):  # a sweeper was faster
                        os.unlink(partial)
            if not self._is_scratch:
                self._sync_folder()
        except OSError as error:
            raise self._unwritten(error) from error
        return blob

    def get(self, blob: Blob) -> bytes:
        """The bytes of a blob, compared with its digest. A file of another size is not read.

        Raises :class:`BlobError` for a blob that is missing, truncated, too long, corrupted or above ``max_bytes``, and
        for anything other than a regular file.
        """
        return self._compared(blob)[:]

    def get_parts(self, blob: Blob) -> Iterator[bytes]:
        """The parts of :meth:`put_parts`: each becomes bytes on request, and its pages are released.

        All are compared with the digest before this returns, and do not change afterwards. Anyone with write access can
        change files of a shared folder, so they are read into private memory. Only this user's parties change files of
        a scratch folder, one after the other, so those are mapped. Parts already yielded leave memory that is not
        locked. Raises as :meth:`get` does, and for a blob without parts.
        """
        content = self._compared(blob)
        spans = _spans(content, blob.parts)
        if len(spans) != blob.parts or (spans[-1][1] if spans else 0) != len(content):
            raise BlobError(f"blob {blob.digest} does not consist of parts of which {blob.parts} were named")
        return _given_away(content, spans)

    def _compared(self, blob: Blob) -> Content:
        """The whole content of a blob's file, compared with its digest."""
        path = self._path(blob.digest)
        try:
            with open(path, "rb", opener=_opened) as file:
                size = os.fstat(file.fileno()).st_size
                self._require_size(size, blob)
                content = self._content(file, size)
        except _IrregularFileError:
            raise BlobError(
                f"blob {blob.digest} is not a regular file of its own: it was not put there by Ciphermark"
            ) from None
        except FileNotFoundError:
            raise BlobError(f"blob {blob.digest} is missing: it was never written, or swept away") from None
        except OSError as error:
            raise BlobError(f"blob {blob.digest} cannot be read: {error.strerror}") from error
        digest = _Digest(is_blake3=blob.digest.startswith(_BLAKE3))
        digest.update(content)
        if digest.name != blob.digest:
            raise BlobError(f"blob {blob.digest} is corrupted: its digest is {digest.name}")
        return content

    def _content(self, file: io.BufferedReader, size: int) -> Content:
        if not size:
            return b""
        if self._is_scratch:
            return mmap.mmap(
                file.fileno(), size, flags=mmap.MAP_PRIVATE | mmap.MAP_POPULATE, prot=mmap.PROT_READ
            )
        content = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        file.readinto(
            content
        )  # of a file that shrinks meanwhile the rest is zeros, and the digest another one
        return content

    def remove(self, blob: Blob, put_before_s: float) -> None:
        """Remove a blob, unless it was put again after a moment of :func:`time.time`. A file that cannot be removed is
        left for :meth:`sweep`.
        """
        path = self._path(blob.digest)
        with suppress(OSError):
            if path.stat().st_mtime <= put_before_s:
                path.unlink()

    def sweep(self, older_than_s: float) -> int:
        """Remove blobs last put, and partial files begun, longer ago than this in seconds; returns how many."""
        limit = time() - older_than_s
        removed = 0
        for path in self._files():
            with suppress(FileNotFoundError):  # another sweeper was faster
                if path.stat().st_mtime <= limit:
                    path.unlink()
                    removed += 1
        return removed

    def recycle(self) -> None:
        """Release all blobs of a scratch folder. New blobs of similar sizes overwrite them. Meanwhile nothing may read
        the folder, and only this user may ever read it.
        """
        for path in self._files():
            if path.name.startswith(_PARTIAL_PREFIX):
                continue
            size = path.stat().st_size
            if 0 < size <= _MAX_SPARE_BYTES:
                path.rename(path.with_name(f"{_SPARE_PREFIX}{size}-{path.name}"))
            else:
                path.unlink()

    def _file_for(self, size: int) -> tuple[int, str]:
        """A partial file that no other writer uses, open: the spare one whose size is closest, or a new one."""
        names = os.listdir(self._folder) if self._is_scratch and size else []
        spares = [name for name in names if name.startswith(_SPARE_PREFIX)]
        new = f"{_PARTIAL_PREFIX}{os.urandom(16).hex()}"
        name = min(spares, key=lambda name: abs(int(name.split("-")[2]) - size), default=new)
        path = os.path.join(self._folder, name)
        return os.open(path, os.O_WRONLY | (os.O_CREAT | os.O_EXCL if name is new else 0), _FILE_MODE), path

    def _unwritten(self, error: OSError) -> BlobError:
        text = f"a blob could not be written to {self._folder}: {error.strerror}"
        may_pass = error.errno in FULL and not self._fills_its_disk()
        return DiskFull(text) if may_pass else BlobError(text)

    def _fills_its_disk(self) -> bool:
        """Whether this trial itself uses the space, so that no other can release any. Unknown for a shared folder."""
        if not self._is_scratch:
            return False
        held = sum(path.stat().st_size for path in self._files())
        return held > _ALL_BUT_NOTHING * shutil.disk_usage(self._folder).total

    def _written(self, descriptor: int, chunks: Iterable[bytes]) -> Blob:
        digest, size = _Digest(is_blake3=blake3 is not None), 0
        for chunk in chunks:
            size += len(chunk)
            if size > self._max_bytes:
                raise BlobError(f"a blob may have {self._max_bytes} bytes, and this one has more")
            digest.update(chunk)
            rest = memoryview(chunk)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        os.ftruncate(descriptor, size)
        os.fchmod(descriptor, _FILE_MODE)
        if not self._is_scratch:
            os.fsync(descriptor)
        return Blob(digest.name, size)

    def _require_size(self, size: int, blob: Blob) -> None:
        if size > self._max_bytes:
            raise BlobError(f"blob {blob.digest} has {size} bytes, but only {self._max_bytes} are allowed")
        if size < blob.size_bytes:
            raise BlobError(f"blob {blob.digest} is truncated: {size} bytes of {blob.size_bytes}")
        if size > blob.size_bytes:
            raise BlobError(f"blob {blob.digest} has {size} bytes instead of {blob.size_bytes}")

    def _sync_folder(self) -> None:
        descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _path(self, digest: str) -> Path:
        if not _DIGEST.fullmatch(digest):
            raise BlobError(
                f"{digest[:80]!r} names no blob: a digest is 64 hexadecimal digits in lower case, behind {_BLAKE3} "
                "or nothing"
            )
        return self._folder / digest

    def _files(self) -> Iterator[Path]:
        for path in self._folder.iterdir():
            if path.name.startswith(_PARTIAL_PREFIX) or _DIGEST.fullmatch(path.name):
                yield path


def _length(part: bytes) -> bytes:
    return len(part).to_bytes(_LENGTH_BYTES, "big")


def _spans(content: Content, most: int) -> list[tuple[int, int]]:
    """The start and end of each part by the length before it, for at most ``most`` parts."""
    spans: list[tuple[int, int]] = []
    end = 0
    while end < len(content) and len(spans) < most:
        start = end + _LENGTH_BYTES
        end = start + int.from_bytes(content[end:start], "big")
        spans.append((start, end))
    return spans


def _given_away(content: Content, spans: Iterable[tuple[int, int]]) -> Iterator[bytes]:
    dropped = 0
    for start, end in spans:
        yield content[start:end]
        if isinstance(content, mmap.mmap) and end - dropped >= _DROPPED_BYTES:
            whole = (end - dropped) // mmap.PAGESIZE * mmap.PAGESIZE
            with suppress(OSError):  # locked pages, such as a client's, stay
                content.madvise(mmap.MADV_DONTNEED, dropped, whole)
            dropped += whole


class _Digest:
    """One of the two kinds of digest, and the resulting name of a blob."""

    def __init__(self, *, is_blake3: bool) -> None:
        if is_blake3 and blake3 is None:
            raise BlobError("the package blake3 is missing here, by whose digest a blob is named")
        self._prefix = _BLAKE3 if is_blake3 else ""
        self._digest = blake3() if is_blake3 else hashlib.sha256()
        self.update = self._digest.update

    @property
    def name(self) -> str:
        return self._prefix + self._digest.hexdigest()


class _IrregularFileError(Exception):
    """A path names a link, a pipe, a folder or another irregular file, or a file with a second name."""


def _opened(path: str, flags: int) -> int:
    """Open a regular file; raises ``_IrregularFileError`` for anything else.

    Anyone with write access to the folder could plant a pipe, which would block a reader, or a link to another file. A
    hard link counts, too: a reader with more rights would reveal whether a file matches a digest.
    """
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno in _IRREGULAR:
            raise _IrregularFileError from error
        raise
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        os.close(descriptor)
        raise _IrregularFileError
    return descriptor
