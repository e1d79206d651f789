"""Installation recipe of Template, for a folder shipped with Ciphermark. Read by the setup, and by images.

REPLACE the stage by one that installs your library; it has the name of the variant. REMOVE the file if users install
the library themselves.
"""

from collections.abc import Collection

from places import PYTHON, has_package_file
from runner import Shell, Stage


def stages(without: Collection[str]) -> list[Stage]:
    """Return the single stage."""
    return [
        Stage(
            "template",
            "Template",
            inputs=lambda: [],  # texts whose change makes the stage run again
            is_present=lambda: has_package_file("numpy-*.dist-info"),
            build=install,
            needs=("python",),
        )
    ]


def install(shell: Shell) -> None:
    """Load the stand-in's library once."""
    shell.run(PYTHON, "-c", "import numpy", advice="see the log; --without template leaves it out")
