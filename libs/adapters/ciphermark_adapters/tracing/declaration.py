"""What ``tracing`` declares: what ``cleartext``, which it wraps by default, does."""

from dataclasses import replace

from ciphermark_adapters.cleartext import declaration as cleartext

DECLARATIONS = tuple(
    replace(
        declared,
        library="tracing",
        variant="tracing",
        implementation="ciphermark_adapters.tracing.adapter:TracingAdapter",
    )
    for declared in cleartext.DECLARATIONS
)
