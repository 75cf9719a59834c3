"""Figures that the README tells are figures that a command has measured."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FIGURE = re.compile(r"(?<![\w.])\d*\.\d+(?![\w.])")


def results_part(readme):
    """What stands under the heading "Results", up to the next one of its kind."""
    found = re.search(r"^## Results\b.*?(?=^## |\Z)", readme, flags=re.MULTILINE | re.DOTALL)
    return found.group() if found else ""


def missing_figures(part, results):
    known = {figure.lstrip("0") for figure in FIGURE.findall(results)}
    return [figure for figure in FIGURE.findall(part) if figure.lstrip("0") not in known]


def test_every_figure_of_the_readme_is_in_the_results():
    page = ROOT / "RESULTS.md"
    if not page.exists():
        pytest.skip("there is no RESULTS.md yet; `setwise bench report DIR --markdown` makes it")
    part = results_part((ROOT / "README.md").read_text(encoding="utf-8"))
    if not part:
        pytest.skip("the README has no part with results")
    assert missing_figures(part, page.read_text(encoding="utf-8")) == []


def test_a_figure_that_nobody_measured_is_noticed():
    readme = "# x\n\n0.1\n\n## Results\n\nscene .735, yeast 0.265, in 0.11.2\n\n## Next\n\n0.9\n"
    assert results_part(readme).count("0.9") == 0
    assert missing_figures(results_part(readme), "| 0.735 ± 0.01 |") == ["0.265"]
