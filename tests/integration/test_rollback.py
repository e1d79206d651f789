"""Back to an earlier version, as docs/how-to/deploy.md describes it: with the copy of the data."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from command import Ciphermark

from ciphermark_db import embedded
from ciphermark_db.database import Database

NEWER = "insert into schema_migration values (9999, 'later', 'x')"


def test_the_copy_of_the_data_serves_the_earlier_version(data_directory: Path) -> None:
    command = Ciphermark(data_directory)
    command("runs", "import", "reference/quick.jsonl.xz")
    command("db", "stop")
    copy = data_directory.with_name("before")
    subprocess.run(["cp", "-a", data_directory, copy], check=True)

    with Database.open(embedded.ensure_started(data_directory)) as database:
        database.query(NEWER, read_only=False)  # as a later version leaves it
    assert "update Ciphermark" in command("runs", code=2).err
    command("db", "stop")
    shutil.rmtree(data_directory)
    copy.rename(data_directory)
    assert command.rows("select suite from runs") == [{"suite": "quick"}]
