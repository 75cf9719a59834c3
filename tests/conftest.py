"""Where tests find data, and what keeps them honest.

Tests marked ``data`` need the folder ``$SETWISE_DATA``. Where it is unset they are skipped, and say
so; where it is set, one that skips fails.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No test is timed: a first call may have to compile. CI tries the same examples each time, so that
# a change never fails for another one's luck; everywhere else the examples are new.
settings.register_profile("setwise", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("setwise")

HAS_DATA = bool(os.environ.get("SETWISE_DATA"))


def pytest_collection_modifyitems(items):
    if not HAS_DATA:
        skip = pytest.mark.skip(reason="$SETWISE_DATA is unset: no data sets to test with")
        for item in items:
            if item.get_closest_marker("data"):
                item.add_marker(skip)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if (
        HAS_DATA
        and report.skipped
        and item.get_closest_marker("data")
        and not hasattr(report, "wasxfail")
    ):
        report.outcome = "failed"
        report.longrepr = (
            f"a data test was skipped although $SETWISE_DATA is set: {report.longrepr}"
        )
    return report


@pytest.fixture(autouse=True)
def no_network_and_no_cache(monkeypatch, tmp_path_factory):
    """Nothing in a test asks the real OpenML, or finds what an earlier run has cached."""
    monkeypatch.setenv("SETWISE_OPENML", "off")
    monkeypatch.setenv("SETWISE_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def data_folder() -> Path:
    return Path(os.environ["SETWISE_DATA"])


@pytest.fixture
def write(tmp_path):
    """A function that writes a small file and returns its path."""

    def write_file(name: str, contents: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return path

    return write_file
