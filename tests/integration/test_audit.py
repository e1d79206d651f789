"""Who did what to runs, as the audit log has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from benchmark_service import ended, started, submitted, suite
from command import Ciphermark

from ciphermark_web.keyring import user_line

ADA, EVE, BOSS = (f"the-token-of-the-user-{name}" for name in ("ada", "eve", "boss"))


@pytest.fixture
def users(tmp_path: Path) -> Path:
    path = tmp_path / "users"
    people = (("ada", "submitter", ADA), ("eve", "submitter", EVE), ("boss", "admin", BOSS))
    path.write_text("\n".join(user_line(*person) for person in people))
    return path


def test_jobs_are_submitted_and_cancelled_by_somebody(
    users: Path, tmp_path: Path, new_url: Callable[[], str]
) -> None:
    url = new_url()
    service = started(tmp_path, url, CIPHERMARK_USERS_FILE=str(users))
    with service.client(ADA) as ada, service.client(EVE) as eve, service.client(BOSS) as boss:
        own, other = (submitted(ada, suite=suite())["id"] for _ in range(2))
        refused = eve.post(f"/v1/runs/{own}/cancel")
        assert refused.status_code == 403
        assert "eve did not submit this run" in refused.json()["detail"]
        assert ada.post(f"/v1/runs/{own}/cancel").json()["state"] == "cancelled"
        assert boss.post(f"/v1/runs/{other}/cancel").json()["state"] == "cancelled"
    with service.client() as dashboard:
        named = dashboard.post("/v1/runs", json={"suite": suite()}, headers={"x-actor": "cleo:submitter"})
        assert named.status_code == 202
    ended(service)
    assert not any(token in service.log.read_text() for token in (ADA, EVE, BOSS))
    rows = Ciphermark(tmp_path / "data", url).rows(
        "select actor, action, run_id, detail from audit_log order by acted_at"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("ada", "submitted", own, "asked"),
        ("ada", "submitted", other, "asked"),
        ("ada", "cancelled", own, None),
        ("boss", "cancelled", other, None),
        ("cleo", "submitted", named.json()["id"], "asked"),
    ]


def test_admins_alone_delete_runs_and_are_named(
    users: Path, tmp_path: Path, new_url: Callable[[], str]
) -> None:
    url = new_url()
    Ciphermark(tmp_path / "data", url)("runs", "import", "reference/quick.jsonl.xz")
    service = started(tmp_path, url, CIPHERMARK_USERS_FILE=str(users))
    with service.client(ADA) as ada, service.client(BOSS) as boss, service.client() as dashboard:
        own = submitted(ada, suite=suite())["id"]
        ada.post(f"/v1/runs/{own}/cancel")
        imported = next(run["id"] for run in boss.get("/v1/runs").json()["runs"] if run["id"] != own)
        for run_id in (own, imported):
            refused = ada.delete(f"/v1/runs/{run_id}")
            assert (refused.status_code, refused.json()["detail"]) == (
                403,
                "ada is a submitter; this needs an admin",
            )
        assert boss.delete(f"/v1/runs/{imported}").status_code == 204
        assert dashboard.delete(f"/v1/runs/{own}").status_code == 204
        assert boss.get("/v1/runs").json()["runs"] == []
    ended(service)
    rows = Ciphermark(tmp_path / "data", url).rows(
        "select actor, run_id from audit_log where action = 'deleted' order by acted_at"
    )
    assert [tuple(row.values()) for row in rows] == [("boss", imported), ("service token", own)]


def test_what_commands_do_to_runs_is_recorded(ciphermark: Ciphermark) -> None:
    ciphermark("runs", "import", "reference/quick.jsonl.xz")
    ciphermark("runs", "label", "last", "first")
    ciphermark("runs", "label", "first")
    ciphermark("runs", "delete", "last", "--yes")
    rows = ciphermark.rows("select actor, action, detail from audit_log order by acted_at")
    assert [row["action"] for row in rows] == ["imported", "labelled", "labelled", "deleted"]
    assert [row["detail"] for row in rows][1:] == ["first", None, None]
    assert all("@" in row["actor"] for row in rows)
