import pytest

from setwise.data.formats.arff_header import parse_header, unquote
from setwise.errors import FormatError


def header(text):
    return parse_header("test.arff", text.encode())


def test_names_and_categories_in_every_spelling():
    parsed = header(
        "% a comment\n"
        "\n"
        "@ReLaTiOn 'Music: -C 2 -split 5'\n"
        "@ATTRIBUTE plain NUMERIC\n"
        "@attribute 'with space' real\n"
        '@attribute "double ""quoted" integer\n'.replace('""', '\\"')
        + "@attribute rock\\'n\\'roll {0,1}\n"
        "@attribute tabbed\t{ 'a b' , \"c,d\", e }\n"
        "@attribute tight{no,yes}\n"
        "@attribute - numeric\n"
        "@data\n1\n"
    )
    assert parsed.relation == "Music: -C 2 -split 5"
    assert [attribute.name for attribute in parsed.attributes] == [
        "plain",
        "with space",
        'double "quoted',
        "rock'n'roll",
        "tabbed",
        "tight",
        "-",
    ]
    assert [attribute.categories for attribute in parsed.attributes] == [
        None,
        None,
        None,
        ("0", "1"),
        ("a b", "c,d", "e"),
        ("no", "yes"),
        None,
    ]
    assert parsed.line == 12


def test_categories_become_numbers_or_positions():
    numbers, words, mixed, same = header(
        "@relation r\n@attribute a {3,1,2.5}\n@attribute b {x,y}\n@attribute c {1,many}\n"
        "@attribute d {1,1.0}\n@data\n"
    ).attributes
    assert list(numbers.codes.values()) == [3, 1, 2.5]
    assert not numbers.by_position
    assert numbers.implied == 3
    for attribute in (words, mixed, same):
        assert list(attribute.codes.values()) == [0, 1]
        assert attribute.by_position


@pytest.mark.parametrize(
    ("spelt", "meant"),
    [
        ("plain", "plain"),
        (r"'it\'s'", "it's"),
        (r"a\\b", r"a\b"),
        (r"'50\% of'", "50% of"),
        (r"'a\tb'", "a\tb"),
        (r"dise\~no", r"dise\~no"),
        (r"\u00e9t\u00e9", "été"),
        ("'", "'"),
    ],
)
def test_unquote(spelt, meant):
    assert unquote(spelt) == meant


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("@relation r\n@attribute a numeric\n", "never reaches @data"),
        ("@relation r\n@data\n", "line 2: no @attribute before @data"),
        ("@relation r\n@attribute a numeric\n@attribute a real\n@data\n", "line 3: .*in line 2"),
        ("@relation r\n@attribute a string\n@data\n", "line 2: .*'string'.* save text as CSV"),
        ("@relation r\n@attribute a date 'yyyy'\n@data\n", "line 2: .*of type 'date'"),
        ("@relation r\n@attribute a {x,y,x}\n@data\n", "line 2: the categories of 'a'"),
        ("@relation r\n@attribute a {}\n@data\n", "line 2: the categories of 'a'"),
        ("@relation r\n@attribute\n@data\n", "line 2: cannot read"),
        ("a,b,c\n1,2,3\n", "line 1: expected @relation.*is this an ARFF file"),
    ],
)
def test_bad_headers_get_a_sentence_with_the_line(text, sentence):
    with pytest.raises(FormatError, match=sentence):
        header(text)


def test_comments_may_follow_a_type():
    parsed = header(
        "@relation r\n@attribute a numeric % not {nominal}\n@attribute b {x, 'y % z'} % {c}\n"
        "@attribute c {1,2,}\n@data\n"
    )
    assert [attribute.categories for attribute in parsed.attributes] == [
        None,
        ("x", "y % z"),
        ("1", "2"),
    ]


def test_a_long_run_of_blanks_is_read_in_one_pass():
    # A pattern that backtracks would need 10**11 steps here, or 10**16 where no brace closes.
    parsed = header(f"@relation r\n@attribute a {{x{' ' * 500_000}y, z}}\n@data\n")
    assert parsed.attributes[0].categories[1] == "z"
    for unclosed in ("", "x", "'x"):
        with pytest.raises(FormatError, match="line 2: attribute 'a' is of type"):
            header(f"@relation r\n@attribute a {{{unclosed}{' ' * 500_000}y\n@data\n")
