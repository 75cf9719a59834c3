import logging
import os
import subprocess
import sys
import time

import numba
import numpy as np

from setwise import compiling


def test_a_slow_compile_says_so_once(caplog, monkeypatch):
    monkeypatch.setattr(compiling, "SLOW_COMPILE_SECONDS", 0.01)
    monkeypatch.setattr(compiling.slow_compile_notice, "said", False)
    started = Started("setwise.data.fake")
    with caplog.at_level(logging.WARNING, logger="setwise"):
        for _ in range(2):
            compiling.slow_compile_notice.on_start(started)
            time.sleep(0.2)
            compiling.slow_compile_notice.on_end(started)
    assert [record.message[:20] for record in caplog.records] == ["setwise is compiling"]


def test_a_quick_compile_or_anothers_says_nothing(caplog, monkeypatch):
    monkeypatch.setattr(compiling.slow_compile_notice, "said", False)
    with caplog.at_level(logging.WARNING, logger="setwise"):
        for module in ("setwise.data.fake", "other.package"):
            monkeypatch.setattr(
                compiling, "SLOW_COMPILE_SECONDS", 60 if module.startswith("setwise") else 0
            )
            compiling.slow_compile_notice.on_start(Started(module))
            compiling.slow_compile_notice.on_end(Started(module))
    assert not caplog.records


def test_kernels_are_cached_on_disk(tmp_path):
    """A second process loads what the first has compiled."""
    code = (
        "import numpy as np; from setwise.data.formats._number_kernel import parse_index as kernel;"
        "kernel(np.zeros(1, np.uint8), 0, 1); print(sum(kernel.stats.cache_hits.values()))"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    hits = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        ).stdout.strip()
        for _ in range(2)
    ]
    assert hits == ["0", "1"]


def test_where_nothing_can_be_cached_kernels_still_compile(monkeypatch):
    def refuse(dispatcher):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(numba.core.dispatcher.Dispatcher, "enable_caching", refuse)
    assert compiling.kernel(_divide)(3.0, 2.0) == 1.5
    assert compiling.lane_kernel(_divide)(3.0, 2.0) == 1.5


def test_division_is_numpys():
    half = compiling.kernel(_divide)
    assert half(1.0, 2.0) == 0.5
    assert np.isinf(half(1.0, 0.0))


def _divide(a, b):
    return a / b


class Started:
    """What numba's event tells of a compilation."""

    def __init__(self, module):
        function = type("Function", (), {"__module__": module})
        self.data = {"dispatcher": type("Dispatcher", (), {"py_func": function})}
