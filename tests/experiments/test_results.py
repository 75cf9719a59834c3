"""Figures that the README tells are in RESULTS.md, which a command makes of the records kept."""

import re
from pathlib import Path

import pytest
from rich.console import Console

from setwise.commands.bench_report import write_pages

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


def test_the_page_is_what_the_command_makes_of_the_records(tmp_path):
    records, page, again = ROOT / "results", ROOT / "RESULTS.md", tmp_path / "again.md"
    if not records.is_dir():
        pytest.skip("only a checkout has the records")
    write_pages(Console(quiet=True), str(records), None, str(again), keep=str(page))
    told, made = (path.read_text(encoding="utf-8") for path in (page, again))
    assert told[told.index("## Li 2016") :] == made[made.index("## Li 2016") :]
