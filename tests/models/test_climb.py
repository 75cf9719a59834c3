import pytest

from setwise.models.climb import climb, climb_both_ways


def counted(scores):
    asked = []

    def score_at(place):
        asked.append(place)
        return scores[place]

    return score_at, asked


def test_one_dip_is_stepped_over_and_two_are_the_end():
    score_at, asked = counted({1: 0.0, 2: 1.0, 3: 0.5, 4: 2.0, 5: 1.0, 6: 1.5, 7: 9.0})
    assert climb([1, 2, 3, 4, 5, 6, 7], 0.0, score_at) == (4, 2.0)
    assert asked == [2, 3, 4, 5, 6]


def test_equal_is_no_better():
    score_at, asked = counted(dict.fromkeys(range(9), 1.0))
    assert climb(range(9), 1.0, score_at) == (0, 1.0)
    assert asked == [1, 2]


@pytest.mark.parametrize("best", [1, 2, 3, 4, 5])
def test_the_highest_of_one_hill_is_found_from_the_middle(best):
    score_at, asked = counted({place: -float((place - best) ** 2) for place in range(1, 6)})
    assert climb_both_ways((1, 2, 3, 4, 5), 3, score_at) == (best, 0.0)
    assert len(asked) == len(set(asked))


def test_where_up_is_better_down_is_not_tried():
    score_at, asked = counted({1: 9.0, 2: 8.0, 3: 0.0, 4: 1.0, 5: 0.5})
    assert climb_both_ways((1, 2, 3, 4, 5), 3, score_at) == (4, 1.0)
    assert asked == [3, 4, 5]
