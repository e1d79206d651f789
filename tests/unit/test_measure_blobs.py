from __future__ import annotations

import hashlib
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from disks import filled, mounted
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ciphermark_core.errors import UserError
from ciphermark_measure.parties import blobs
from ciphermark_measure.parties.blobs import Blob, BlobError, BlobStore, DiskFull


@pytest.fixture
def store(tmp_path):
    return BlobStore(tmp_path / "blobs")


def named(data):
    """By BLAKE3 where its package is there."""
    return f"blake3-{blobs.blake3(data).hexdigest()}" if blobs.blake3 else hashlib.sha256(data).hexdigest()


def files(tmp_path):
    return sorted(path.name for path in (tmp_path / "blobs").iterdir())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.binary(max_size=4096))
def test_what_is_put_can_be_got_by_its_digest(store, data):
    blob = store.put(data)
    assert blob == Blob(named(data), len(data))
    assert store.get(blob) == data


@pytest.mark.skipif(blobs.blake3 is None, reason="the package blake3 is missing")
def test_without_the_package_names_are_those_of_sha_256(monkeypatch, store):
    fast = store.put(b"data")
    monkeypatch.setattr(blobs, "blake3", None)
    blob = store.put(b"data")
    assert blob == Blob(hashlib.sha256(b"data").hexdigest(), 4)
    assert store.get(blob) == b"data"
    with pytest.raises(BlobError, match="the package blake3 is missing"):
        store.get(fast)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(chunks=st.lists(st.binary(max_size=300)))
def test_chunks_are_the_bytes_that_they_form(store, chunks):
    assert store.put(iter(chunks)) == store.put(b"".join(chunks))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(parts=st.lists(st.binary(max_size=300)))
def test_parts_are_got_as_they_were_put(store, parts):
    assert list(store.get_parts(store.put_parts(iter(parts)))) == parts


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    parts=st.lists(st.binary(max_size=100), min_size=1, max_size=5),
    where=st.integers(0, 10**6),
    flip=st.integers(1, 255),
)
def test_one_changed_byte_of_parts_or_lengths_is_found_out_before_any_is_given(
    tmp_path, store, parts, where, flip
):
    blob = store.put_parts(parts)
    path = tmp_path / "blobs" / blob.digest
    damaged = bytearray(path.read_bytes())
    damaged[where % len(damaged)] ^= flip
    path.write_bytes(damaged)
    with pytest.raises(BlobError, match=f"blob {blob.digest} is corrupted: its digest is"):
        store.get_parts(blob)
    path.unlink()


@pytest.mark.parametrize(
    "data", [b"x", b"\0" * 7, b"\0" * 9, (5).to_bytes(8, "big") + b"four", b"\xff" * 20, b"nonsense" * 9]
)
def test_bytes_that_were_not_put_in_parts_are_told(store, data):
    blob = store.put(data)
    with pytest.raises(BlobError, match=f"blob {blob.digest} does not consist of parts"):
        store.get_parts(blob)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(parts=st.lists(st.binary(max_size=300)))
def test_parts_of_a_scratch_folder_are_the_same(tmp_path, parts):
    scratch, shared = BlobStore(tmp_path / "scratch", is_scratch=True), BlobStore(tmp_path / "blobs")
    blob = scratch.put_parts(parts)
    assert shared.put_parts(parts) == blob
    assert list(scratch.get_parts(blob)) == list(shared.get_parts(blob)) == parts


@pytest.mark.parametrize("is_scratch", [True, False])
def test_parts_of_many_megabytes_are_whole(tmp_path, is_scratch):
    """What was given away is dropped from memory, page by page, behind the reader."""
    store = BlobStore(tmp_path / "blobs", is_scratch=is_scratch)
    parts = [bytes([number]) * (400_000 + number) for number in range(12)]
    assert list(store.get_parts(store.put_parts(parts))) == parts


def test_what_becomes_of_the_file_afterwards_changes_no_part(tmp_path, store):
    blob = store.put_parts([b"one", b"two"])
    parts = store.get_parts(blob)
    (tmp_path / "blobs" / blob.digest).write_bytes(bytes(22))
    assert list(parts) == [b"one", b"two"]


def test_parts_are_given_away(store):
    """Nobody but the reader holds a part."""
    blob = store.put_parts([bytes([number]) * 1000 for number in range(3)])
    own = bytes(1000)
    held_once = sys.getrefcount(own)
    held = [sys.getrefcount(part) for part in store.get_parts(blob)]
    assert held == [held_once] * 3


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.binary(min_size=1, max_size=500), where=st.integers(0, 10**6), flip=st.integers(1, 255))
def test_one_changed_byte_is_found_out(tmp_path, store, data, where, flip):
    blob = store.put(data)
    damaged = bytearray(data)
    damaged[where % len(data)] ^= flip
    (tmp_path / "blobs" / blob.digest).write_bytes(damaged)
    with pytest.raises(BlobError, match=f"blob {blob.digest} is corrupted: its digest is"):
        store.get(blob)
    assert store.put(data) == blob  # which heals it
    assert store.get(blob) == data


def test_a_truncated_blob_is_told_from_a_corrupted_one(tmp_path, store):
    blob = store.put(b"x" * 1000)
    os.truncate(tmp_path / "blobs" / blob.digest, 900)
    with pytest.raises(BlobError, match="is truncated: 900 bytes of 1000"):
        store.get(blob)


def test_a_blob_with_bytes_after_its_end_is_told(tmp_path, store):
    blob = store.put(b"x" * 1000)
    with (tmp_path / "blobs" / blob.digest).open("ab") as file:
        file.write(b"y")
    with pytest.raises(BlobError, match="has 1001 bytes instead of 1000"):
        store.get(blob)


@pytest.mark.parametrize("told_bytes", [0, 6, 1 << 20])
def test_a_large_file_under_the_name_of_a_small_blob_is_not_read(tmp_path, monkeypatch, store, told_bytes):
    """Its digest is not even begun."""
    blob = store.put(b"secret")
    os.truncate(tmp_path / "blobs" / blob.digest, 1 << 26)  # sparse
    asked = []
    monkeypatch.setattr(blobs, "_Digest", asked.append)
    with pytest.raises(BlobError, match=f"has {1 << 26} bytes instead of {told_bytes}"):
        store.get(Blob(blob.digest, told_bytes))
    assert asked == []


def test_a_missing_blob_is_told(store):
    with pytest.raises(BlobError, match="is missing: it was never written, or swept away"):
        store.get(Blob("0" * 64, 1))


@pytest.mark.parametrize(
    "digest",
    [
        "",
        "../" + "0" * 61,
        "/etc/passwd",
        "0" * 63,
        "0" * 65,
        "A" * 64,
        "g" * 64,
        "0" * 64 + "\n",
        "blake3-" + "0" * 63,
        "sha256-" + "0" * 64,
        "0" * 63 + "\0",
        "٠" * 64,
        "0" * 60 + "/../",
        ".partial-x",
    ],
)
def test_nothing_but_a_digest_names_a_blob(tmp_path, store, digest):
    (tmp_path / "secret").write_text("secret")
    with pytest.raises(BlobError, match="names no blob: a digest is 64 hexadecimal digits in lower case"):
        store.get(Blob(digest, 6))


def planted_folder(path, secret):
    path.mkdir()


def planted_pipe(path, secret):
    os.mkfifo(path)


def planted_link(path, secret):
    path.symlink_to(secret)


def planted_hard_link(path, secret):
    path.hardlink_to(secret)


def planted_link_to_nothing(path, secret):
    path.symlink_to(secret.with_name("absent"))


def planted_socket(path, secret):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


@pytest.mark.parametrize(
    "plant",
    [planted_folder, planted_pipe, planted_link, planted_hard_link, planted_link_to_nothing, planted_socket],
)
def test_what_is_planted_neither_blocks_nor_leads_out(tmp_path, monkeypatch, plant):
    """Not even where the link leads to the right bytes. In a process of its own: a reader that blocks is ended."""
    monkeypatch.chdir(tmp_path)  # paths of sockets are short
    digest = named(b"secret")
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    Path("blobs").mkdir()
    plant(Path("blobs", digest), secret)
    done = subprocess.run(
        [sys.executable, "-c", READER, digest], capture_output=True, text=True, check=False, timeout=300
    )
    assert f"BlobError: blob {digest} is not a regular file" in done.stderr


READER = """
import sys
from pathlib import Path
from ciphermark_measure.parties.blobs import Blob, BlobStore
BlobStore(Path("blobs")).get(Blob(sys.argv[1], 6))
"""


def test_a_blob_that_is_too_large_leaves_nothing_behind(tmp_path):
    small = BlobStore(tmp_path / "blobs", max_bytes=10)
    assert small.get(small.put(b"0123456789")) == b"0123456789"
    for data in (b"01234567890", [b"012345", b"67890"]):
        with pytest.raises(BlobError, match="may have 10 bytes, and this one has more"):
            small.put(data)
    assert files(tmp_path) == [named(b"0123456789")]
    large = BlobStore(tmp_path / "blobs").put(b"01234567890")
    with pytest.raises(BlobError, match="has 11 bytes, but only 10 are allowed"):
        small.get(large)


def test_a_source_that_fails_leaves_nothing_behind(tmp_path, store):
    def failing():
        yield b"something"
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        store.put(failing())
    assert files(tmp_path) == []


def test_files_are_for_the_group_and_nobody_else(tmp_path, store):
    blob = store.put(b"x")
    assert stat.S_IMODE((tmp_path / "blobs" / blob.digest).stat().st_mode) == 0o640


def test_a_folder_that_cannot_be_is_a_mistake(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot keep blobs there"):
        BlobStore(tmp_path / "file" / "blobs")


def test_a_folder_that_is_gone_is_told(tmp_path, store):
    (tmp_path / "blobs").rmdir()
    with pytest.raises(BlobError, match="could not be written"):
        store.put(b"x")


@pytest.mark.parametrize("is_scratch", [True, False])
def test_a_disk_that_others_fill_is_waited_for(tmp_path, is_scratch):
    with mounted(tmp_path / "disk", "1m") as disk:
        store = BlobStore(disk / "blobs", is_scratch=is_scratch)
        filler = filled(disk, left_bytes=1 << 14)
        with pytest.raises(DiskFull, match=r"could not be written to .*/blobs: No space left on device"):
            store.put(b"x" * (1 << 17))
        assert list((disk / "blobs").iterdir()) == []
        filler.unlink()
        assert store.get(store.put(b"x" * (1 << 17))) == b"x" * (1 << 17)


def test_a_disk_that_a_trial_fills_alone_is_not_waited_for(tmp_path):
    """Nobody would give space back. Who shares a folder cannot know whose blobs take it."""
    with mounted(tmp_path / "disk", "1m") as disk:
        for is_scratch in (True, False):
            store = BlobStore(disk / "blobs", is_scratch=is_scratch)
            store.put(b"x" * (1 << 18))
            with pytest.raises(BlobError, match="No space left on device") as refused:
                store.put(b"y" * 1024 for _ in range(4 << 10))
            assert isinstance(refused.value, DiskFull) != is_scratch


def test_sweeping_takes_what_is_old(tmp_path, store):
    old, young = store.put(b"old"), store.put(b"young")
    long_ago = time.time() - 1000
    partial = tmp_path / "blobs" / ".partial-abc"
    stranger = tmp_path / "blobs" / "notes.txt"
    for path in (partial, stranger):
        path.write_text("")
    for path in (tmp_path / "blobs" / old.digest, partial, stranger):
        os.utime(path, (long_ago, long_ago))
    assert store.sweep(older_than_s=500) == 2
    assert files(tmp_path) == sorted([young.digest, "notes.txt"])
    store.put(b"young")
    assert store.sweep(older_than_s=0) == 1
    assert files(tmp_path) == ["notes.txt"]


def test_putting_again_makes_a_blob_young(tmp_path, store):
    blob = store.put(b"x")
    os.utime(tmp_path / "blobs" / blob.digest, (1, 1))
    store.put(b"x")
    assert store.sweep(older_than_s=500) == 0


WRITER = """
import sys
from pathlib import Path
from ciphermark_measure.parties.blobs import BlobStore
store = BlobStore(Path(sys.argv[1]))
def chunks():
    for index in range(100_000):
        if index == 20:
            print("writing", flush=True)
        yield bytes([index % 256]) * 100_000
while True:
    store.put(chunks())
"""


def test_a_writer_killed_in_the_middle_leaves_no_blob(tmp_path, store):
    for _ in range(3):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / "blobs")], stdout=subprocess.PIPE
        )
        assert writer.stdout.readline() == b"writing\n"
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
    assert all(name.startswith(".partial-") for name in files(tmp_path))
    assert len(files(tmp_path)) == 3
    assert store.sweep(older_than_s=0) == 3


def test_writers_and_readers_at_once_see_whole_blobs(tmp_path, store):
    contents = [bytes([index]) * 200_000 for index in range(4)]
    put = [store.put(data) for data in contents]
    script = (
        "import sys; from pathlib import Path; from ciphermark_measure.parties.blobs import BlobStore\n"
        "store = BlobStore(Path(sys.argv[1]))\n"
        "for _ in range(15):\n"
        "    for index in range(4): store.put(bytes([index]) * 200_000)\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "blobs")]) for _ in range(2)]
    failures = []

    def read():
        while any(writer.poll() is None for writer in writers):
            for blob, data in zip(put, contents, strict=True):
                try:
                    assert store.get(blob) == data
                except Exception as error:
                    failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert failures == []
    assert [writer.wait() for writer in writers] == [0, 0]
    assert files(tmp_path) == sorted(blob.digest for blob in put)
