"""Every command block of README, CONTRIBUTING and docs is executed, and prints what the page shows, digits apart.

What cannot be executed here is in one table with its reason, and even so the command line's parser takes it.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import shlex
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest
import warm
from command import REPOSITORY
from databases import Databases
from documents import PAGES, Step, complaint, inline, invocations, languages, shape, steps
from installed import has_hexl
from processes import PATIENCE_OF_RUNS_S
from running_services import Services

from ciphermark_core import wire

PROGRAMS = Path(sys.executable).parent
QUICK = REPOSITORY / "reference" / "quick.jsonl.xz"
NAMES = [path.relative_to(REPOSITORY).as_posix() for path in PAGES]
# Pages that have a test of their own, which executes all of their blocks.
ELSEWHERE = {
    "docs/how-to/add-a-library.md": "tests/contract/test_recipe.py",
    "docs/tutorials/your-own-workload.md": "tests/integration/test_cli_check.py",
    "docs/tutorials/choose-a-library.md": "tests/integration/test_docs_tutorials.py",
}
# Executed by `make test`; other pages by `make test-all`. The parser sees the commands of all.
EVERYDAY = ("README.md",)
# What begins like this is not executed, and why.
NOT_EXECUTED = {
    r"make (demo|test|setup|check|soak|bench)\b": "takes minutes, and is what executes this",
    r"ciphermark db stop && cp": "copies the data directory of a reader who used `make serve`",
    r"make serve\b|\.venv/bin/python deploy/|ciphermark (serve|worker)\b|(\S+ )*ciphermark-\w+": (
        "runs until it is ended: its own tests"
    ),
    r"source ": "the reader's own shell: here the programs are found already",
    r"export CIPHERMARK_|token=": "names a server or a token that a reader has",
    r"ciphermark suite new \S+$": "asks at a terminal: its own tests",
    r"ciphermark (run|profile) ": "measures for minutes: tests of recipes, of a tutorial and of `smoke` execute suites",
    r"ciphermark (advise|calibrate|predict mine|validate-model)\b": (
        "needs a cost table of the host, which takes minutes: test_cli_advise.py"
    ),
    r"ciphermark (build (add|show|remove)|bisect|compare-builds)\b": "compiles a library: test_builds.py does",
    r"([A-Z_]+=('[^']*'|\S+) )*docker ": (
        "needs docker: tests/acceptance/test_compose.py executes what has to work there"
    ),
    r"(.* \| )?curl |figure[ (]": "needs a benchmark service or a dashboard: their own tests ask each route",
    r"HELIB_ROOT=": "needs an HElib",
    r"\.venv/bin/python -m pytest ": "executes tests",
    r"\.venv/bin/python -m ciphermark_adapters\.operations_page": "writes a page: the test of the page asks for it",
}
# What the command prints in the end, another one prints of a run that is there; the rest that it shows is its own.
SHOWN_BY = {"ciphermark run quick": "ciphermark results last"}
# Where pages take functions of the shell from.
BEFORE = {"docs/how-to/own-data.md": "docs/how-to/run-two-parties.md"}
# Exit codes that a command may have beside 0: of two runs of equal builds some results may be undecided.
EXIT_CODES = {r"ciphermark compare ": {3}}
_MARK = "== step "


def accepted(command: str) -> set[int]:
    """The exit codes of a command that worked."""
    return {0}.union(*(codes for what, codes in EXIT_CODES.items() if re.match(what, command)))


def reason(command: str) -> str:
    """Why a command is not executed; nothing for one that is."""
    return next((why for what, why in NOT_EXECUTED.items() if re.match(what, command)), "")


def told(page: str) -> list[Step]:
    """The steps of a page; of pages that are executed every day also the commands within sentences and tables."""
    path = REPOSITORY / page
    return [*steps(path), *map(Step, inline(path) if page in EVERYDAY else ())]


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody with a data directory in which two runs of ``quick`` and one of ``tenseal-ml`` are recorded, and with
    services."""

    data_directory: Path
    database_url: str
    services: Services

    def environment(self) -> dict[str, str]:
        kept = {
            name: text for name, text in os.environ.items() if not name.startswith(("CIPHERMARK_", "COLUMNS"))
        }
        ours = {
            "HOME": str(self.data_directory),
            "CIPHERMARK_DATA": str(self.data_directory / "ciphermark"),
            "CIPHERMARK_DATABASE_URL": self.database_url,
            "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
            "NO_PROXY": "*",
        }
        return kept | ours

    def start_services(self) -> None:
        """Those that pages but for the README speak to."""
        for name in ("client", "server")[len(self.services.running) :]:
            (self.data_directory / f".ciphermark-{name}").write_text(self.services.start(name).token)

    def types(self, script: str, folder: Path) -> subprocess.CompletedProcess[str]:
        for port, service in zip((8101, 8102), self.services.running, strict=False):
            script = script.replace(f"127.0.0.1:{port}", service.url.removeprefix("http://"))
        return subprocess.run(
            ["bash", "-c", script],
            cwd=folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_OF_RUNS_S,
            check=False,
        )

    def executes(self, command: str, folder: Path) -> tuple[str, int]:
        """What a command prints, and its exit code: forked where it needs no shell."""
        words = shlex.split(command, comments=True)
        if words[0] != "ciphermark" or set("|&;<>$`") & set("".join(words)):
            done = self.types(command, folder)
            return done.stdout, done.returncode
        process = warm.command(words[1:], self.environment(), folder)
        output, error = process.communicate(timeout=PATIENCE_OF_RUNS_S)
        return output.decode() if process.wait() == 0 else error.decode(), process.wait()

    def outcomes(self, page: str, folder: Path) -> Iterator[tuple[str, int]]:
        """What each step of a page prints that is executed, and its exit code."""
        for step in told(page):
            command = SHOWN_BY.get(step.command, step.command)
            if step.is_suite:
                (folder / "mine.yaml").write_text(step.command)
            elif not reason(command):
                yield self.executes(command, folder)


@pytest.fixture(scope="module")
def first_reader(tmp_path_factory: pytest.TempPathFactory, reference: Callable[..., str]) -> Iterator[Reader]:
    data_directory = tmp_path_factory.mktemp("reader")
    services = Services(data_directory / "services")
    found = Reader(data_directory, reference("tenseal-ml"), services)
    for archive in (earlier(QUICK, data_directory), QUICK):  # so the last two runs are comparable
        output, code = found.executes(f"ciphermark runs import {archive}", REPOSITORY)
        assert code == 0, output
    try:
        yield found
    finally:
        services.stop()


@pytest.fixture
def reader(first_reader: Reader, databases: Databases) -> Reader:
    """One whose database is a copy: what a page imports or deletes is the same for no other page."""
    return replace(first_reader, database_url=databases.made(first_reader.database_url))


def identity(archive: Path) -> str:
    """The id of the run in an archive."""
    with lzma.open(archive) as lines:
        return str(json.loads(next(iter(lines)))["run"]["id"])


def earlier(archive: Path, folder: Path) -> Path:
    """The same run as if it had been executed a minute before, under ids of its own."""
    head, *outcomes, _ = lzma.decompress(archive.read_bytes()).decode().splitlines()
    old = identity(archive)
    new = str(uuid.uuid5(uuid.UUID(old), "earlier"))
    changed = json.loads(head.replace(old, new))
    started_at = datetime.fromisoformat(changed["run"]["started_at"]) - timedelta(minutes=1)
    changed["run"]["started_at"] = started_at.isoformat()
    changed["run"]["label"] = "before"
    lines = [json.dumps(changed)]
    for line in outcomes:
        outcome = json.loads(line.replace(old, new))
        case = outcome["trial"]["id"]
        outcome["trial"]["id"] = str(uuid.uuid5(uuid.UUID(new), case))
        lines.append(json.dumps(outcome))
    content = "".join(f"{line}\n" for line in lines).encode()
    digest = wire.to_line({"sha256": sha256(content).hexdigest()})
    path = folder / "before.jsonl.xz"
    path.write_bytes(lzma.compress(content + digest, preset=0))
    return path


def furnished(folder: Path, services: Services) -> Path:
    """What lies in a reader's folder: reference results, own data, the logs of services."""
    (folder / "reference").symlink_to(REPOSITORY / "reference")
    for name, rows, columns in (("mine", 60, 2), ("prices", 442, 10)):
        lines = [",".join([*(f"x{n}" for n in range(columns)), "y"])]
        lines += [
            ",".join(str((row * (n + 3)) % 17) for n in range(columns)) + f",{row % 2}" for row in range(rows)
        ]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    for service in services.running:
        (folder / f"{service.name}.log").symlink_to(service.log_path)
    return folder


def script(page: str) -> tuple[str, list[Step]]:
    """All that is executed of a page as one script, and its steps; each tells its number and how it ended."""
    before = told(BEFORE[page]) if page in BEFORE else []
    lines = [step.command for step in before if step.command.startswith("client()")]
    done: list[Step] = []
    for step in told(page):
        if step.is_suite:
            lines.append(f"cat > mine.yaml <<'END_OF_SUITE'\n{step.command}END_OF_SUITE")
            continue
        command = SHOWN_BY.get(step.command, step.command)
        if reason(command):
            continue
        lines += [f"echo '{_MARK}{len(done)}'", command, f'echo "{_MARK}code $?"']
        done.append(step)
    return "\n".join(lines), done


def printed(output: str) -> list[tuple[str, int]]:
    """What each step printed, and its exit code."""
    parts = re.split(rf"^{_MARK}\d+\n", output, flags=re.MULTILINE)[1:]
    split = [part.rpartition(f"{_MARK}code ") for part in parts]
    return [(text, int(code)) for text, _, code in split]


def test_every_block_says_what_it_is() -> None:
    assert {
        page: found for page, found in zip(NAMES, map(languages, PAGES), strict=True) if "" in found
    } == {}


def test_pages_with_a_test_of_their_own_are_executed_there() -> None:
    for page, test in ELSEWHERE.items():
        assert Path(page).name in (REPOSITORY / test).read_text(encoding="utf-8")


def test_what_is_not_executed_has_a_reason_that_is_needed() -> None:
    """No entry of the table is left that no page needs."""
    commands = [step.command for page in NAMES if page not in ELSEWHERE for step in told(page)]
    assert len(commands) > 60
    for what in NOT_EXECUTED:
        assert any(re.match(what, command) for command in commands), what
    assert sum(1 for command in commands if not reason(command)) > 35


@pytest.mark.parametrize("page", NAMES)
def test_the_command_line_knows_every_command_of_a_page(page: str) -> None:
    """Those of sentences, too: an option or a command that there is not is a wrong claim."""
    typed = [step.command for step in told(page) if not step.is_suite]
    found = [words for text in (*typed, *inline(REPOSITORY / page)) for words in invocations(text)]
    assert [said for words in found if (said := complaint(words))] == []


def test_the_parser_finds_what_is_not_there() -> None:
    assert "No such option" in complaint(["results", "last", "--formats", "md"])
    assert "No such command" in complaint(["suite", "explian", "quick"])
    assert complaint(["results", "RUN", "--format", "md"]) == complaint(["figure", "NAME", "RUN"]) == ""
    typed = 'docker compose run --rm -T benchmark results last --format csv > x; psql "$(ciphermark db url)"'
    assert list(invocations(typed)) == [["results", "last", "--format", "csv"], ["db", "url"]]


def test_a_shape_is_of_words() -> None:
    assert shape("add  23.9 µs\n…\nrun 8136aaf8").fullmatch("add 1 µs  and more\n run 00ffab12")
    assert not shape("add  23.9 µs").fullmatch("add 23.9 ms")
    assert not shape("add\nmul").fullmatch("add")


EXECUTED = [
    name if name in EVERYDAY else pytest.param(name, marks=pytest.mark.extended)
    for name in NAMES
    if name not in ELSEWHERE
]


@pytest.mark.parametrize("page", EXECUTED)
def test_the_commands_of_a_page_print_what_it_shows(page: str, reader: Reader, tmp_path: Path) -> None:
    text, executed = script(page)
    if not executed:
        return  # nothing here can be; the parser has seen it
    missing = [
        tool for tool in ("jq", "psql", "curl") if re.search(rf"\b{tool} ", text) and not shutil.which(tool)
    ]
    if missing:
        pytest.skip(f"no {', '.join(missing)} here")
    if page not in EVERYDAY:
        reader.start_services()
    folder, errors = furnished(tmp_path, reader.services), ""
    if page in EVERYDAY:  # its commands take nothing from each other but files
        outcomes = list(reader.outcomes(page, folder))
    else:
        done = reader.types(text, folder)
        outcomes, errors = printed(done.stdout), done.stderr
    assert len(outcomes) == len(executed), errors
    problems = []
    for step, (output, code) in zip(executed, outcomes, strict=True):
        if code not in accepted(step.command):
            problems.append(f"{step.command}: exit code {code}\n{output}")
        problems += [
            f"{step.command} printed\n{output}" for wanted in expected(step) if not wanted.search(output)
        ]
    assert problems == [], "\n".join([*problems, errors])


def expected(step: Step) -> Sequence[re.Pattern[str]]:
    """The shapes of what a step has to print."""
    if not step.shown or ("seal-hexl" in step.shown and not has_hexl() and "suite explain" in step.command):
        return ()
    if step.command in SHOWN_BY:  # the parts between the first and the last gap
        return tuple(shape(part) for part in f"\n{step.shown}\n".split("\n…\n")[1:-1])
    return (re.compile(rf"\A\s*{shape(step.shown).pattern}\s*\Z"),)
