"""How Template is installed where this folder is shipped with Ciphermark. Read by the setup, and by images.

REPLACE the stage by one that installs your library; it is called like the variant. REMOVE the file where users install
the library themselves.
"""

from collections.abc import Collection

from places import PYTHON, has_package_file
from runner import Shell, Stage


def stages(without: Collection[str]) -> list[Stage]:
    """Return the one stage."""
    return [
        Stage(
            "template",
            "Template",
            inputs=lambda: [],  # every text that, when it changes, makes the stage run again
            is_present=lambda: has_package_file("numpy-*.dist-info"),
            build=install,
            needs=("python",),
        )
    ]


def install(shell: Shell) -> None:
    """Load the stand-in's library once."""
    shell.run(PYTHON, "-c", "import numpy", advice="see the log; --without template leaves it out")
