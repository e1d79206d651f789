"""The layers of a trial's last stage, when its passes are over: executed one by one at the server, and compared with
the clear at the client where a scheme has errors. No pass is timed meanwhile, and none knows of it.
"""

from __future__ import annotations

from ciphermark_benchmark.parties.party import Parties
from ciphermark_benchmark.runner.trial_runner import Requests
from ciphermark_core.model import EXACT_SCHEMES, Sample
from ciphermark_measure.parties import messages


def samples(
    requests: Requests, parties: Parties, made: messages.KeysMade, source: messages.Source, passes: int
) -> tuple[Sample, ...]:
    """Of each layer so many times, and in ckks the largest value and the largest error of any slot. Raises
    ``TrialFailed`` and ``WorkerDied`` as whoever asks parties.
    """
    is_exact = made.parameters.spec.scheme in EXACT_SCHEMES  # then a right output has no error anywhere
    stage, ask = made.stages[-1].name, requests.ask
    sent = ask(parties.client, messages.Encrypt(stage, source), messages.Encrypted)
    evaluate = messages.EvaluateLayers(
        sent.inputs, min(max(1, passes), messages.MOST_PASSES), returns_ends=not is_exact
    )
    executed = ask(parties.server, evaluate, messages.LayersEvaluated)
    if is_exact:
        return executed.samples
    compare = messages.CompareLayers(source, executed.ends)
    return executed.samples + ask(parties.client, compare, messages.LayersCompared).samples
