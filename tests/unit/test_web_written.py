from __future__ import annotations

import os

import pytest

from ciphermark_measure.parties.blobs import BlobStore
from ciphermark_parties.host import Written


@pytest.fixture
def store(tmp_path):
    return BlobStore(tmp_path)


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_a_blob_goes_with_the_last_party_that_wrote_it(store, tmp_path):
    """Data in the clear are the same for all variants, and so are the names of their blobs."""
    written = Written(store)
    own, shared = store.put(b"own"), store.put(b"shared")
    written.hold([own, shared])
    written.hold([shared])
    written.release([own, shared])
    assert names(tmp_path) == {shared.digest}
    written.release([shared])
    assert names(tmp_path) == set()


def test_a_blob_that_somebody_else_put_since_stays(store, tmp_path):
    """The other service's party, or one that has written it and not yet said so."""
    written = Written(store)
    blob = store.put(b"data")
    written.hold([blob])
    os.utime(tmp_path / blob.digest, (1e11, 1e11))
    written.release([blob])
    assert names(tmp_path) == {blob.digest}


def test_what_was_swept_away_meanwhile_is_gone(store):
    written = Written(store)
    blob = store.put(b"data")
    written.hold([blob])
    store.sweep(0)
    written.release([blob])
