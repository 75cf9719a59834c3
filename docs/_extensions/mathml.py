"""Formulas as MathML, by the converter that docutils brings along."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)

#: Commands that docutils does not know, and what says the same.
SPELLINGS = (
    (re.compile(r"\\dots(?![a-z])"), r"\\ldots"),
    (re.compile(r"\\([bB]igg?[lrm]?|textstyle|displaystyle)(?![a-zA-Z])"), ""),
    (re.compile(r"\\arg\s*\\(max|min)(?![a-z])"), r"\\operatorname{arg\1}"),
)

#: A letter with an accent and an index, which docutils would set below the letter.
INDEXED_ACCENT = re.compile(r"(\{?\\(?:hat|tilde|bar) ?(?:\w|\{\w\}|\\[a-z]+)\}?)([_^])")


def setup(app: Any) -> dict[str, Any]:
    """Register the renderer that ``html_math_renderer`` names."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(inline, None), block_renderers=(block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def inline(self: Any, node: nodes.math) -> None:
    """A formula in a line of text."""
    self.body.append(converted(node, as_block=False))
    raise nodes.SkipNode


def block(self: Any, node: nodes.math_block) -> None:
    """A formula on a line of its own, which scrolls where a phone is narrower than it."""
    self.body.append(f'<div class="formula" tabindex="0">{converted(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def converted(node: nodes.Node, *, as_block: bool) -> str:
    """MathML; a formula that cannot be read is a warning, so that -W refuses it."""
    try:
        return str(tex2mathml(respelled(node.astext()), as_block=as_block))
    except MathError as problem:
        logger.warning("formula %r: %s", node.astext(), problem, location=node)
        return f"<code>{escape(node.astext())}</code>"


def respelled(formula: str) -> str:
    r"""A formula in words that docutils knows, and sets well.

    >>> print(respelled(r"\Big[ \hat y_1, \dots, \hat y_L \Big]"))
    [ \hat y{}_1, \ldots, \hat y{}_L ]
    """
    for known, same in SPELLINGS:
        formula = known.sub(same, formula)
    return INDEXED_ACCENT.sub(r"\1{}\2", formula)
