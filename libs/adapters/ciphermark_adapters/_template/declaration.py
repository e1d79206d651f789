"""Declaration of the adapter. It is read without loading the library: import nothing of the library here."""

from ciphermark_contract.declaration import Declaration

# REPLACE: the rows of the operation table (docs/reference/operations.md) for which your library has one call each. The
# managed operations follow from them, as long as Evaluator.managed is left as it is.
_BFV = ("add", "sub", "add_plain", "mul_plain", "mul", "relinearize", "rotate")
_CKKS = (*_BFV, "rescale", "mod_switch")

DECLARATIONS = (
    Declaration(
        library="Template",  # the library's name as its authors write it
        variant="template",  # one build of it: the name in suites and charts; one Declaration per build
        look=(
            "#7F5BD4",
            "triangle-right",
        ),  # REPLACE: color and shape in charts, different from other variants'
        implementation=f"{__package__}.adapter:TemplateAdapter",
        license="Apache-2.0",  # the library's
        operations={"bfv": _BFV, "ckks": _CKKS},
        compressions=("none",),
        serializable=("parameters",),
        requires=("numpy",),  # REPLACE: modules that must be importable
        remedy="pip install numpy",  # REPLACE: the command that installs them
        budget_schemes=(),  # REPLACE: schemes whose noise budget the library reports; REMOVE for bfv and bgv
        is_reference=True,  # REMOVE: a library that encrypts is ranked with the others
        # Parts of an operation's time beyond the bare primitive, one text per operation.
        notes={"mul": "without relinearization and rescaling"},
        # Reasons for missing operations, one text per operation.
        reasons={
            "negate": "the stand-in has no negation",
            "sub_plain": "the stand-in subtracts no plaintexts",
            "square": "the stand-in has no squaring; use mul",
            "mod_switch": "the stand-in switches the modulus in ckks only",
            "rotate_columns": "the stand-in rotates rows only",
            "noise_budget_bits": "the stand-in has no noise",  # REMOVE where the library reports it
        },
    ),
)
