import threading

import pytest

from setwise.pipeline.in_order import in_order


@pytest.mark.parametrize("n_threads", [1, 3])
def test_results_come_in_the_order_of_the_items(n_threads):
    first_may_end = threading.Event()

    def work(number):
        if number == 0 and n_threads > 1:
            assert first_may_end.wait(10)  # others are done before it
        if number == 2:
            first_may_end.set()
        return -number

    assert list(in_order(work, range(20), n_threads)) == [-number for number in range(20)]


def test_few_items_are_held_at_a_time():
    taken = []

    def items():
        for number in range(50):
            taken.append(number)
            yield number

    for result in in_order(lambda number: number, items(), 2):
        assert len(taken) <= result + 1 + 2  # two threads, and one result that waits


@pytest.mark.parametrize("n_threads", [1, 2])
def test_what_comes_before_an_error_of_the_items_is_done(n_threads):
    def items():
        yield from range(3)
        raise ValueError("line 4 is broken")

    got = []
    with pytest.raises(ValueError, match="line 4"):
        for result in in_order(lambda number: number, items(), n_threads):
            got.append(result)
    assert got == [0, 1, 2]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_of_the_work_ends_it_in_its_place(n_threads):
    got = []
    with pytest.raises(ZeroDivisionError):
        for result in in_order(lambda number: 1 / (number - 2), range(9), n_threads):
            got.append(result)
    assert got == [-0.5, -1.0]
