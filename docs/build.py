"""Build the documentation: ``python docs/build.py``; warnings are errors.

The pages land in ``build/docs``; open ``build/docs/index.html``. Needs ``pip install ".[docs]"``.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
TARGET = HERE.parent / "build" / "docs"


def main(arguments: list[str]) -> int:
    """The exit code of sphinx-build; further arguments go to it, such as -E for a fresh start."""
    try:
        from sphinx.cmd.build import main as sphinx_build
    except ImportError:
        print('The site needs Sphinx; run: pip install ".[docs]"', file=sys.stderr)
        return 2
    strict = ["-W", "--keep-going", "-q", "-b", "html"]
    code = sphinx_build([*strict, *arguments, str(HERE), str(TARGET)])
    if code == 0:
        print(f"The site is in {TARGET}; open {TARGET / 'index.html'}")
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
