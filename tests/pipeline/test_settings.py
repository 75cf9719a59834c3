import pytest

from setwise.errors import DataError, FormatError
from setwise.pipeline import FitSettings, read_settings


def test_toml_becomes_settings(write):
    path = write(
        "fit.toml",
        'labels = "tags"\ntext = ["title", "body"]\nheld-out = 0.1\n[options]\nn_components = 5\n',
    )
    settings = FitSettings.of(read_settings(str(path)))
    assert settings.labels == ("tags",)
    assert settings.text == ("title", "body")
    assert settings.held_out == 0.1
    assert settings.options == {"n_components": 5}
    assert FitSettings.of(settings.to_dict()) == settings


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"lables": "tags"}, "there is no setting 'lables'; did you mean 'labels'"),
        ({"labels": 3}, "labels is a list of columns, not 3"),
        ({"text": [1]}, "text is a list of columns' names"),
        ({"target": "accuracy"}, "target is one of set_accuracy, f1"),
        ({"promise": "yes"}, "promise is one of auto, exact, approximate"),
        ({"held_out": 1.5}, "held_out is a share"),
        ({"budget": 0}, "budget is a number of seconds"),
        ({"keep_rows": "no"}, "keep_rows is true or false, not 'no'"),
        ({"folds": 1}, "folds is a whole number from 2 up"),
        ({"seed": "one"}, "seed is a whole number, not 'one'"),
        ({"max_words": True}, "max_words is a whole number, not True"),
    ],
)
def test_what_is_no_setting_gets_a_sentence(given, sentence):
    with pytest.raises(DataError, match=sentence):
        FitSettings.of(given)


def test_what_is_no_toml_gets_a_sentence(write, tmp_path):
    with pytest.raises(FormatError, match="not TOML"):
        read_settings(str(write("fit.toml", "labels = \n")))
    with pytest.raises(FormatError, match="no such file of settings"):
        read_settings(str(tmp_path / "none.toml"))
