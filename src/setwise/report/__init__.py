"""A page about a model and its rows: facts (a dict), drawings of them, and the page itself.

| file | what |
|---|---|
| facts.py | all that the page tells, ready for JSON |
| drawings.py | reliability, accuracy over coverage, label correlations, as SVG |
| html.py, sections.py | the parts of the page |
| page.py, page.css, page.js | one file that needs no network |
"""

from setwise.report.facts import report_facts
from setwise.report.page import page_of

__all__ = ["page_of", "report_facts"]
