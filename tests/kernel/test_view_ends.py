"""The last bytes of texts in views are those of the texts, wherever these lie."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.frames.text_words import Coding, decode_texts
from recframe.kernel import view_ends, views
from recframe.kernel.view_ends import number_ends, number_several

BEGIN = "customer-of-2026-"


def lay_out(texts, places, n_data, before):
    """Return the views of texts, and the data in which each lies at a place of its own."""
    data = [bytearray(b"?" * before) for _ in range(n_data)]
    rows = []
    for text, place in zip(texts, places, strict=True):
        if len(text) <= views.LONGEST:
            rows.append(len(text).to_bytes(4, "little") + text.ljust(views.LONGEST, b"\0"))
            continue
        own = data[place % n_data]
        at = own.find(text) if place % 2 else -1  # an even place has a copy of its own
        if at < 0:
            at = len(own)
            own += text
        numbers = (len(text), int.from_bytes(text[:4], "little"), place % n_data, at)
        rows.append(b"".join(number.to_bytes(4, "little") for number in numbers))
    words = np.frombuffer(b"".join(rows), np.uint64).reshape(-1, 2)
    return words, [np.frombuffer(bytes(own), np.uint8) for own in data]


@st.composite
def laid_out(draw):
    """Long texts of one length that begin alike, in pieces of views, and the data of each."""
    ends = st.text(st.sampled_from("0129a\0"), min_size=8, max_size=8)
    begin = BEGIN[: draw(st.integers(5, len(BEGIN)))]
    pieces = draw(st.lists(st.lists(ends, min_size=1, max_size=9), min_size=1, max_size=3))
    texts = [[(begin + end).encode() for end in piece] for piece in pieces]
    n_data = draw(st.integers(1, 4))
    before = draw(st.integers(0, 9))
    places = [draw(st.lists(st.integers(0, 9), min_size=len(p), max_size=len(p))) for p in texts]
    made = [lay_out(*each, n_data, before) for each in zip(texts, places, strict=True)]
    return [text for piece in texts for text in piece], *zip(*made, strict=True)


@pytest.mark.parametrize("batch", [2, views.BATCH])
@pytest.mark.parametrize("most_data", [1, view_ends.MOST_DATA])
@given(laid_out())
def test_ends_tell_texts(batch, most_data, drawn):
    """Integers give the texts back, or there are none where data are too many for a batch."""
    texts, pieces, data = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(views, "BATCH", batch)
        patch.setattr(view_ends, "BATCH", batch)
        patch.setattr(view_ends, "MOST_DATA", most_data)
        numbers = number_ends(pieces, data, texts[0])

    if numbers is None:
        assert most_data < max(map(len, data))
    else:
        n_bytes = len(texts[0])
        coding = Coding(pa.binary(), texts[0][:-8], n_bytes, n_bytes)
        assert texts == decode_texts(numbers, coding).to_pylist()


@pytest.mark.parametrize("at", range(len(BEGIN)))
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("before", [0, 9])
def test_texts_that_begin_otherwise_have_no_ends(at, place, before):
    """Whichever byte before the last eight differs, it is seen."""
    own = f"{BEGIN}12345678".encode()
    other = own[:at] + b"!" + own[at + 1 :]
    words, data = lay_out([own, own, other, own], [place] * 4, 2, before)

    assert number_ends([words], [data], own) is None


@pytest.mark.parametrize("n_more", [-8, -1, 1])
def test_texts_of_another_length_have_no_ends(n_more):
    """A longer or a shorter text, which may be in its view, is seen."""
    own = b"a" * 18
    words, data = lay_out([own, b"a" * (18 + n_more)], [0, 0], 1, 0)

    assert number_ends([words], [data], own) is None


@pytest.mark.parametrize(
    ("length", "is_told"), [(12, False), (13, True), (128, True), (129, False)]
)
def test_texts_that_are_too_short_or_too_long_have_no_ends(length, is_told):
    """Short texts are in their views; of long ones all is read, which takes room."""
    texts = [b"a" * length, b"a" * (length - 1) + b"b"]
    words, data = lay_out(texts, [0, 0], 1, 0)

    assert is_told == (number_ends([words], [data], texts[0]) is not None)


@st.composite
def of_several_lengths(draw):
    """Texts of ASCII that begin alike, long and short ones, in pieces of views."""
    n_begin = draw(st.integers(0, len(BEGIN)))
    ends = st.text(st.sampled_from("0129a\0"), max_size=8)
    pieces = draw(st.lists(st.lists(ends, min_size=1, max_size=9), min_size=1, max_size=3))
    texts = [[(BEGIN[:n_begin] + end).encode() for end in piece] for piece in pieces]
    n_data, before = draw(st.integers(1, 4)), draw(st.integers(0, 9))
    places = [draw(st.lists(st.integers(0, 9), min_size=len(p), max_size=len(p))) for p in texts]
    made = [lay_out(*each, n_data, before) for each in zip(texts, places, strict=True)]
    return [text for piece in texts for text in piece], *zip(*made, strict=True)


@pytest.mark.parametrize("batch", [2, views.BATCH])
@given(of_several_lengths())
def test_ends_of_several_lengths_tell_texts(batch, drawn):
    """Integers give the texts back, whatever their lengths, in views or where these point to."""
    texts, pieces, data = drawn
    lengths = min(map(len, texts)), max(map(len, texts))
    begin = texts[0][: max(0, lengths[1] - 8)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(views, "BATCH", batch)
        patch.setattr(view_ends, "BATCH", batch)
        numbers = number_several(pieces, data, begin, lengths)

    if all(text.startswith(begin) for text in texts) and lengths[0] < lengths[1]:
        assert numbers is not None
    if numbers is not None:
        assert texts == decode_texts(numbers, Coding(pa.binary(), begin, *lengths)).to_pylist()
        assert len(set(texts)) == len(set(numbers.tolist()))


@pytest.mark.parametrize("longest", [14, 20, 25])
@pytest.mark.parametrize("place", [0, 1])
def test_texts_of_several_lengths_that_begin_otherwise_have_no_ends(place, longest):
    """Whichever byte of what all are to begin with differs, of a long text or a short one."""
    own = f"{BEGIN}12345678"[:longest].encode()
    n_begin = longest - 8
    for length in range(n_begin, longest):
        other = own[:length]
        words, data = lay_out([own, other, own], [place] * 3, 2, 3)
        assert number_several([words], [data], own[:n_begin], (length, longest)) is not None
        for at in range(n_begin):
            differs = other[:at] + b"!" + other[at + 1 :]
            texts = [own, differs, own]
            words, data = lay_out(texts, [place] * 3, 2, 3)
            numbers = number_several([words], [data], own[:n_begin], (length, longest))
            if at < length - 8:
                assert numbers is None
            elif numbers is not None:  # the byte is in the integer
                coding = Coding(pa.binary(), own[:n_begin], length, longest)
                assert texts == decode_texts(numbers, coding).to_pylist()


@pytest.mark.parametrize("text", ["customer-é", "customer-2026-é"])
def test_texts_of_several_lengths_that_are_not_ascii_have_no_ends(text):
    """The bits into which lengths are written are to be free."""
    texts = [b"customer-2026-12", b"customer-202", text.encode()]
    words, data = lay_out(texts, [0] * 3, 1, 0)
    lengths = min(map(len, texts)), max(map(len, texts))

    assert number_several([words[:2]], [data], texts[0][:8], (12, 16)) is not None
    assert number_several([words], [data], texts[0][: lengths[1] - 8], lengths) is None
