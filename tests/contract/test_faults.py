"""The suite's checks find faults: each fails for an adapter with the fault planted, and passes without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from time import sleep
from typing import Any

import installed
import pytest

from ciphermark_contract.declaration import KEY_ITEMS
from ciphermark_contract.interfaces import Bound
from ciphermark_core.model import Parameters

from . import examples, faults, harness
from .checks import levels, noise, operations, parameters, secrecy, serialization, time
from .checks.values import right
from .faults import planted
from .harness import SPECS, Subject

Check = Callable[[Subject], None]
WITHOUT_NEGATE = {
    "operations": {"bfv": ("add", "sub", "mul", "relinearize")},
    "reasons": {"negate": "nobody needs it"},
}


def works(name: str) -> Check:
    return lambda subject: operations.works(subject, subject.evaluator, name, examples.primitive)


def refused(name: str) -> Check:
    return lambda subject: operations.refused(subject, subject.evaluator, name)


def padding(subject: Subject) -> None:
    values = subject.vector(0, 5)
    right(subject, subject.encrypted(values), examples.meaning(subject, "add", values, 0 * values))


def kept(subject: Subject) -> None:
    secrecy.kept(subject, b"".join(subject.owner.public_material()))


def key(item: str) -> Check:
    return lambda subject: serialization.key_item(subject, item, "none")


CKKS = {"scheme": "ckks"}
SECRET = {"owner": faults.WithSecret, "serializable": ("parameters", "secret_key")}


@dataclass(frozen=True, slots=True)
class Fault:
    """The check that must find it, what it says then, where the fault is, and what an honest adapter needs."""

    check: Check
    says: str
    evaluator: type | None = None
    owner: type | None = None
    declared: Mapping[str, Any] = field(default_factory=dict)
    honest: Mapping[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> dict[str, Any]:
        classes = {"evaluator": self.evaluator, "owner": self.owner}
        return {
            **self.honest,
            **self.declared,
            **{name: it for name, it in classes.items() if it is not None},
        }


FAULTS: dict[str, Fault] = {
    "a wrong slot": Fault(works("add"), "1 slots are wrong", faults.OneSlotWrong),
    "a wrong slot when bound": Fault(works("add"), "1 slots are wrong", faults.WrongWhenBound),
    "the first row's result for all": Fault(works("mul"), "slots are wrong", faults.FirstRowForAll),
    "only the first row": Fault(works("mul"), "1 results for 2 rows", faults.FirstRowOnly),
    "a cached result": Fault(works("sub"), "slots are wrong", faults.CachedResult),
    "an operand overwritten": Fault(works("negate"), "slots are wrong", faults.OperandChanged),
    "an operand moved": Fault(works("negate"), "changed an operand's", faults.OperandAtAnotherLevel),
    "declared, but refused": Fault(works("add"), "but raises Unsupported", faults.RefusesWhatItDeclares),
    "declared, but missing": Fault(works("negate"), "not in the table", faults.MissesWhatItDeclares),
    "values not reduced": Fault(works("add"), "slots are wrong", faults.NotReduced),
    "too few slots": Fault(works("add"), "not all slots", owner=faults.FewerSlots),
    "another type": Fault(works("add"), "decrypt gives float64", owner=faults.Floats),
    "imprecise": Fault(works("add"), "2048 slots are wrong", owner=faults.Imprecise, honest=CKKS),
    "short vectors repeated": Fault(padding, "slots are wrong", owner=faults.RepeatsShortVectors),
    "undeclared, but listed": Fault(
        refused("negate"), "but not declared", faults.MoreThanDeclared, honest=WITHOUT_NEGATE
    ),
    "undeclared, but works": Fault(
        refused("negate"), "nothing was raised", faults.MoreThanItLists, honest=WITHOUT_NEGATE
    ),
    "undeclared, but works when bound": Fault(
        refused("negate"), "nothing was raised", faults.MoreWhenBound, honest=WITHOUT_NEGATE
    ),
    "no reason": Fault(refused("negate"), "gives no reason", faults.NoReason, honest=WITHOUT_NEGATE),
    "another error": Fault(
        refused("negate"), "KeyError instead", faults.CrashesWhereUnsupported, honest=WITHOUT_NEGATE
    ),
    "two polynomials after a product": Fault(
        lambda subject: levels.effect(subject, "mul"), "mul: level", faults.TwoPolynomials
    ),
    "three polynomials after relinearization": Fault(
        lambda subject: levels.effect(subject, "relinearize"), "relinearize: level", faults.NoRelinearization
    ),
    "a nominal scale": Fault(
        lambda subject: levels.effect(subject, "rescale"), "rescale: level", faults.NominalScale, honest=CKKS
    ),
    "a lost level": Fault(lambda subject: levels.effect(subject, "add"), "add: level", faults.LosesALevel),
    "never exhausted": Fault(
        lambda subject: levels.end_of_chain(subject, "mod_switch"),
        "nothing was raised instead of Exhausted",
        faults.NeverExhausted,
    ),
    "an arithmetic error where exhausted": Fault(
        lambda subject: levels.end_of_chain(subject, "mod_switch"),
        "ZeroDivisionError instead of Exhausted",
        faults.FailsWhenExhausted,
    ),
    "noise budget not told": Fault(
        noise.shrinks, "no reason for noise_budget_bits", declared={"reasons": {}}
    ),
    "noise budget below zero": Fault(noise.shrinks, r"\[20, -10\]", owner=faults.noisy(20, 30, -50)),
    "noise budget that stays": Fault(noise.shrinks, r"\[20, 20\]", owner=faults.noisy(20, 0, 0)),
    "noise budget in parts of bits": Fault(noise.shrinks, "not whole bits", owner=faults.noisy(20.5, 9, 0)),
    "scale lost on the way": Fault(
        lambda subject: serialization.round_trip(subject, "none"),
        "level, scale, polynomials",
        faults.ScaleLost,
        honest=CKKS,
    ),
    "any compression": Fault(
        serialization.unknown_compression, "nothing was raised", owner=faults.AnyCompression
    ),
    "any compression of keys": Fault(
        serialization.unknown_compression, "nothing was raised", owner=faults.AnyKeyCompression
    ),
    "one plaintext for all": Fault(
        lambda subject: serialization.plaintexts(subject, "none"), "same bytes", faults.OnePlaintext
    ),
    "plaintexts serialized against the declaration": Fault(
        lambda subject: serialization.plaintexts(subject, "none"),
        "nothing was raised",
        declared={"reasons": {"dump_plaintext": "cannot"}},
    ),
    "a declared key missing": Fault(
        key("public_key"), "declared, but raises Unsupported", declared={"serializable": KEY_ITEMS}
    ),
    "an undeclared key shown": Fault(key("secret_key"), "nothing was raised", owner=faults.ShowsEveryKey),
    "the secret key in the public material": Fault(
        kept, "are in the public material", owner=faults.LeaksSecret, honest=SECRET
    ),
    "an evaluator that decrypts": Fault(secrecy.no_decryption, "the evaluator has decrypt", faults.Decrypts),
    "decryption among the operations": Fault(
        secrecy.no_decryption, "among the evaluator's operations", faults.DecryptsAsOperation
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_the_fault_is_found(fault: Fault) -> None:
    with pytest.raises(AssertionError, match=fault.says):
        fault.check(planted(**fault.place))


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_without_the_fault_the_check_passes(fault: Fault) -> None:
    fault.check(planted(**fault.honest))


def _bound(subject: Subject) -> Bound:
    return subject.evaluator.bind("add", [examples.primitive(subject, "add", 0).row])


LIES: dict[str, tuple[Callable[[int], int], Callable[[int], int]]] = {
    # what is wrong: (loops that are really run, time that is told)
    "nothing": (lambda loops: loops, lambda elapsed: 0),
    "a constant": (lambda loops: loops, lambda elapsed: 100),
    "half the time": (lambda loops: loops, lambda elapsed: elapsed // 2),
    "twice the time": (lambda loops: loops, lambda elapsed: 2 * elapsed),
    "time of other work": (lambda loops: loops, lambda elapsed: elapsed + 10_000_000),
    "one loop only": (lambda loops: 1, lambda elapsed: elapsed),
    "seconds": (lambda loops: loops, lambda elapsed: elapsed / 1e9),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_wrong_time_is_found(lie: str) -> None:
    bound = _bound(planted())
    time.is_told(bound)
    with pytest.raises(AssertionError):
        time.is_told(faults.Told(bound, *LIES[lie]), patience_s=0.1)


def test_work_outside_the_clock_is_found() -> None:
    """What ``run`` does before its clock starts or after it ends is not told."""

    class Hidden(faults.Told):
        def run(self, loops: int) -> int:
            elapsed = super().run(loops)
            sleep(elapsed / 1e9)
            return elapsed

    hidden = Hidden(_bound(planted()), lambda loops: loops, lambda elapsed: elapsed)
    with pytest.raises(AssertionError):
        time.is_told(hidden, patience_s=0.1)


WRONG_PARAMETERS: dict[str, Callable[[Parameters], Parameters]] = {
    "the special prime first": lambda p: replace(
        p, moduli=p.special_moduli + p.moduli[1:], special_moduli=p.moduli[:1]
    ),
    "a prime twice": lambda p: replace(p, moduli=p.moduli[:1] * 2),
    "no prime": lambda p: replace(p, moduli=(p.moduli[0], p.moduli[1] + 2 * p.ring_dimension)),
    "not 1 modulo 2N": lambda p: replace(p, moduli=(p.moduli[0], 68719476731)),
    "no special prime": lambda p: replace(p, moduli=p.moduli + p.special_moduli, special_moduli=()),
    "another plaintext modulus": lambda p: replace(p, plain_modulus=40961),
    "half the slots": lambda p: replace(p, slots=p.slots // 2),
    "a scale in bfv": lambda p: replace(p, scale=2.0**30),
}


@pytest.mark.parametrize("name", WRONG_PARAMETERS)
def test_wrong_parameters_are_found(name: str) -> None:
    honest = planted().parameters
    parameters.resolved(honest, SPECS["bfv"])
    with pytest.raises(AssertionError):
        parameters.resolved(WRONG_PARAMETERS[name](honest), SPECS["bfv"])


def test_an_absent_variant_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    reason = installed.absence("cleartext")
    assert reason is None
    absent = replace(harness.registry.declaration("cleartext"), requires=("no_such_module",), isa=())
    monkeypatch.setattr(harness.registry, "declaration", lambda variant: absent)
    found = installed.absence("cleartext")
    assert found is not None
    assert "no_such_module" in found
    assert absent.remedy in found
