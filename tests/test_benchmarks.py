"""Benchmarks are run by hand: here it is seen that what they import is still there."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks"


@pytest.mark.parametrize("script", sorted(FOLDER.glob("*.py")), ids=lambda script: script.stem)
def test_what_a_benchmark_imports_of_ours_is_there(script):
    tree = ast.parse(script.read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in imports if (node.module or "").split(".")[0] == "setwise"]
    missing = [
        f"{node.module}.{alias.name}"
        for node in ours
        for alias in node.names
        if not hasattr(import_module(node.module), alias.name) and not _is_module(node, alias)
    ]
    assert not missing


def _is_module(node, alias):
    try:
        import_module(f"{node.module}.{alias.name}")
    except ImportError:
        return False
    return True


def test_there_are_benchmarks():
    assert len(list(FOLDER.glob("*.py"))) >= 19
