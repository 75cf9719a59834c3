from pathlib import Path

from setwise import metrics


def test_all_names_exist_and_say_what_they_are():
    assert metrics.__all__ == sorted(metrics.__all__)
    assert all(getattr(metrics, name).__doc__ for name in metrics.__all__)


def test_measures_do_without_scikit_learn():
    sources = Path(metrics.__file__).parent.glob("*.py")
    assert not [path.name for path in sources if "sklearn" in path.read_text(encoding="utf-8")]
