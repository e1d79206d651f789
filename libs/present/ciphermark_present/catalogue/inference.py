"""Figures of the family inference: what the class of an encrypted image costs, moves and is worth."""

from __future__ import annotations

from dataclasses import replace

from ciphermark_present import formats, subject
from ciphermark_present.catalogue.columns import OPTIONS, SCHEME, SECURITY_2018, THREADS, VARIANT, WORKLOAD, N
from ciphermark_present.catalogue.published import PUBLISHED
from ciphermark_present.figure import Column, Figure
from ciphermark_present.sentences import inference


def _seconds(name: str, label: str, short: str = "") -> Column:
    return Column(name, label, formats.seconds, is_number=True, short=short, brief=formats.brief_seconds)


def _bytes(name: str, label: str) -> Column:
    return Column(name, label, formats.size, is_number=True, brief=formats.brief_size)


IMAGES = Column("images", "Images", formats.digits, is_number=True)
COSTS = (
    _seconds("infer_s", "Network"),
    Column("images_per_s", "Images/s", formats.digits, is_number=True),
    _bytes("upload", "Upload"),
    _bytes("download", "Download"),
    _bytes("keys_size", "Keys"),
    _bytes("weights_size", "Weights"),
)
QUALITY = (
    Column("agreeing", "Agreement", formats.text),
    Column("correct", "Right class", formats.text),
    Column("logit_error", "Largest error of a logit", formats.digits, is_number=True, short="logit error"),
    Column("margin", "Margin", formats.digits, is_number=True),
)
_PARTS = (
    _seconds("encrypt_s", "Pack and encrypt"),
    _seconds("infer_s", "Network"),
    _seconds("serialize_s", "Write and read"),
    _seconds("decrypt_s", "Decrypt"),
    _seconds("client_s", "Client"),
    _seconds("server_s", "Server"),
    _seconds("preparation_s", "Prepared once"),
    _seconds("over_10_s", "At 10 Mbit/s", "10 Mbit/s"),
    _seconds("over_100_s", "At 100 Mbit/s", "100 Mbit/s"),
    _seconds("over_1000_s", "At 1000 Mbit/s", "1000 Mbit/s"),
)
_ASKED = (WORKLOAD, IMAGES, OPTIONS, SCHEME, THREADS, VARIANT, N, SECURITY_2018)
_ORDER = "operation, options, scheme, threads, images, infer_s, variant"
INFERENCES = Figure(
    name="inferences",
    title="Latency against throughput",
    lead=(
        "Median time of the server's pass through the network against the images that it classifies in a second; both "
        "axes are logarithmic, and left and high is better. A pass has one image, or as many as a suite gives it "
        "(batch), or as lie side by side in ciphertexts. "
        "Agreement is with the network in the clear, right are images whose class is their own. Weights of "
        "workloads called -encrypted are a secret of the client, too."
    ),
    view="inferences",
    subject=subject.INFERENCE,
    narrowed_by=("operation", "variant"),
    order=_ORDER,
    tell=inference.predictions,
    chart="inference.against_throughput",
    columns=(*_ASKED, *COSTS, *QUALITY),
    empty="This run has no inference whose logits are right.",
)
PARTS = Figure(
    name="prediction",
    title="Where the time of a prediction goes",
    lead=(
        "Median times of both parties in a pass, by what they do. The transfer itself is in none of them; times over "
        "a link are those of both parties and of the bytes at its rate, without latency and without keys, which a "
        "client sends once. What a server prepares once, weights encoded, is in none of the others."
    ),
    view="inferences",
    subject=subject.INFERENCE,
    narrowed_by=("operation", "variant"),
    order=_ORDER,
    chart="inference.parts",
    columns=(*_ASKED, *_PARTS),
    empty=INFERENCES.empty,
)
PUBLISHED_INFERENCES = replace(
    PUBLISHED,
    name="published-inferences",
    title="Published inferences beside ours",
    lead=(
        "From papers, each with its host, and its security as a note. Ours are at the level that their N and chain "
        "have, and run another circuit for the same network (docs/inference.md). They are never ranked."
    ),
    subject=subject.INFERENCE,
)
