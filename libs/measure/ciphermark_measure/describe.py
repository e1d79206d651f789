"""``python -m ciphermark_measure.describe VARIANT``: load one library and print its ``LibraryInfo`` as JSON."""

from __future__ import annotations

import os
import sys

from ciphermark_adapters import registry
from ciphermark_core import wire


def main() -> None:
    """Print the library's description; anything the library prints while loading goes to standard error."""
    output = os.dup(1)
    os.dup2(2, 1)
    os.write(output, wire.to_line(registry.load(sys.argv[1]).info()))


if __name__ == "__main__":
    main()
