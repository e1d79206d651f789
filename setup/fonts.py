"""Makes the fonts of pages and pictures from the pinned package of Inter: Latin letters and the weights in use.

The interpreter is that of the virtual environment: `.venv/bin/python setup/fonts.py FOLDER`. Pages take one variable
font; pictures and PDFs take a static one for each weight.
"""

import sys
from importlib.resources import files
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

_PACKAGE = files("fontpkg_inter")
_TEXT_SIZE = 14  # of the design for texts; headings share it
_WEIGHTS = (400, 500, 600, 700)
_FEATURES = ("ccmp", "kern", "mark", "mkmk", "tnum")
_CHARACTERS = (
    *range(0x20, 0x7F),  # Basic Latin
    *range(0xA0, 0x180),  # Latin-1, Latin Extended-A
    0x03BC,  # mu
    *range(0x2009, 0x200B),  # thin spaces
    *range(0x2010, 0x2016),  # dashes
    *range(0x2018, 0x201F),  # quotation marks
    *(0x2020, 0x2022, 0x2026, 0x202F, 0x2032, 0x2033),
    *(0x2070, *range(0x2074, 0x207A), 0x207B),  # superscripts
    0x20AC,
    *(*range(0x2190, 0x2196), 0x25B2, 0x25BC),  # arrows
    *(0x2212, 0x221A, 0x221E, 0x2248, 0x2260, 0x2264, 0x2265),  # mathematical signs
)


def main(folder: Path) -> None:
    """Write `inter.woff2`, `inter-WEIGHT.ttf` and the license."""
    folder.mkdir(parents=True, exist_ok=True)
    font = TTFont(str(_PACKAGE / "files" / "Inter[opsz,wght].ttf"))
    _keep_tabular_digits(font)
    _keep_characters(font)
    axes = {"opsz": _TEXT_SIZE, "wght": (min(_WEIGHTS), max(_WEIGHTS))}
    font = instancer.instantiateVariableFont(font, axes)
    for weight in _WEIGHTS:
        instance = instancer.instantiateVariableFont(font, {"wght": weight})
        instance.save(folder / f"inter-{weight}.ttf")
    font.flavor = "woff2"
    font.save(folder / "inter.woff2")
    (folder / "LICENSE").write_bytes((_PACKAGE / "LICENSE").read_bytes())


def _keep_tabular_digits(font: TTFont) -> None:
    """Let only digits have equal widths: a hyphen as wide as a digit tears names apart."""
    digits = {font.getBestCmap()[ord(digit)] for digit in "0123456789"}
    table = font["GSUB"].table
    features = [record.Feature for record in table.FeatureList.FeatureRecord if record.FeatureTag == "tnum"]
    for place in {place for feature in features for place in feature.LookupListIndex}:
        for each in table.LookupList.Lookup[place].SubTable:
            substitution = getattr(each, "ExtSubTable", each)
            mapping = substitution.mapping
            substitution.mapping = {name: mapping[name] for name in mapping if name in digits}


def _keep_characters(font: TTFont) -> None:
    options = subset.Options(layout_features=list(_FEATURES), hinting=False, notdef_outline=True)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=_CHARACTERS)
    subsetter.subset(font)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
