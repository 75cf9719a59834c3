import threading

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from setwise.learners.workers import Workers, spans


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_results_come_in_order_from_several_threads():
    seen = set()

    def work(item):
        seen.add(threading.get_ident())
        meeting.wait(timeout=10)
        return item * item

    meeting = threading.Barrier(2)
    with Workers(2) as workers:
        assert workers.map(work, range(6)) == [0, 1, 4, 9, 16, 25]
    assert len(seen) == 2
    assert threading.get_ident() not in seen


def test_one_worker_is_the_caller():
    with Workers(1) as workers:
        assert workers.map(lambda _: threading.get_ident(), range(3)) == [threading.get_ident()] * 3


def test_blas_is_single_threaded_inside_and_restored_by_the_last():
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(2, user_api="blas"):
        with Workers(1):
            with Workers(1):
                assert set(blas_threads()) == {1}
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {2}


def test_spans_cover_everything_once():
    for n, pieces in ((0, 1), (7, 3), (100, 16)):
        covered = [i for start, stop in spans(n, pieces) for i in range(start, stop)]
        assert covered == list(range(n))
