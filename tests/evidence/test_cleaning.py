"""Whatever comes in, plain printable lines go out."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evidence import clean

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=300)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[31;1mred\x1b[0m", "red"),
        ("\x1b]8;;https://evil.example\x07link\x1b]8;;\x07", "link"),
        ("a\x00b\x07c", "abc"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("10%\r50%\r100%\nnext", "100%\nnext"),
        ("100%\r\n", "100%\n"),
        ("abc\u202egnp.exe", "abcgnp.exe"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("bad \udcff byte", "bad \N{REPLACEMENT CHARACTER} byte"),
        ("a\u00a0b\u2028c", "a b c"),
        ("\u5168\u91cf 18% Manuten\u00e7\u00e3o", "\u5168\u91cf 18% Manuten\u00e7\u00e3o"),
        ("\x1b", ""),
    ],
)
def test_what_becomes_of_text(text: str, expected: str) -> None:
    assert clean(text) == expected


@given(ANY_TEXT)
def test_clean_text_is_printable(text: str) -> None:
    cleaned = clean(text)

    assert all(one in "\n\t" or unicodedata.category(one)[0] != "C" for one in cleaned)
    cleaned.encode("utf-8")


@given(ANY_TEXT)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(st.binary(max_size=300))
def test_any_bytes_can_be_cleaned(data: bytes) -> None:
    clean(data.decode("utf-8", "surrogateescape")).encode("utf-8")
