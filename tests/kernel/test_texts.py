"""Keys of texts: equal where texts are, whatever is beside them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.kernel import texts as module
from recframe.kernel.repeats import write_bits
from recframe.kernel.texts import Texts


@pytest.mark.parametrize("batch", [3, module.BATCH])
@given(texts=st.lists(st.sampled_from(["", "a", "ab", "é", "12345678", "12345679", "\0", "a\0"])))
def test_equal_texts_have_equal_keys(batch, texts):
    """A text's key depends on nothing but the text, wherever it stands among others."""
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BATCH", batch)
        keys = write_bits(Texts(offsets, np.frombuffer(b"".join(encoded), np.uint8))).tolist()

    found = {}
    for text, key in zip(texts, keys, strict=True):
        assert key == found.setdefault(text, key)
    assert len(found) == len(set(found.values()))


def test_no_texts():
    """Without texts there are no keys."""
    assert 0 == len(write_bits(Texts(np.array([0]), np.empty(0, np.uint8))))
