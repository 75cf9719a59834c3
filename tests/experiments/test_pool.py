"""Units in processes of their own."""

from dataclasses import replace

from setwise.experiments.pool import run_in_processes
from setwise.experiments.runner import run_tasks
from setwise.experiments.study import Study
from setwise.experiments.unit import units_of

MODULE = """
import os

def measure(name, seed):
    if name == "dies":
        os._exit(9)
    if name == "fails":
        raise ValueError("so it is")
    return [os.environ["OMP_NUM_THREADS"], os.environ["LOKY_MAX_CPU_COUNT"]]
"""


def test_a_process_that_dies_takes_no_other_unit_along(tmp_path, monkeypatch):
    (tmp_path / "measured_elsewhere.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("setwise.experiments.pool.cpu_count", lambda: 3)
    from measured_elsewhere import measure

    study = Study("elsewhere", "title", ("first", "dies", "fails", "last"), measure, list)
    tasks = [(study, unit) for unit in units_of(study)]
    first, died, failed, last = run_tasks(tasks, jobs=1)
    assert first["result"] == last["result"] == ["3", "3"]
    assert died["reason"] == "its process ended with code 9"
    assert failed["reason"] == "ValueError: so it is"


def test_nothing_to_do_starts_no_process():
    study = Study("none", "title", (), print, list)
    assert run_tasks([(study, unit) for unit in units_of(replace(study))], jobs=2) == []
    run_in_processes([], 2, print)
