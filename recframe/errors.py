"""The exceptions recframe raises for what it refuses."""


class RecframeError(ValueError):
    """
    Raised when an argument or the data cannot be evaluated as asked.

    The message says what was required, what was found and what to do.

    See Also
    --------
    MissingColumnError : The special case of a column that is not there.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> pd.DataFrame({"user": [1], "score": [0.5], "relevant": [1]}).rec.recall(k=0)
    Traceback (most recent call last):
    recframe.errors.RecframeError: k must be an integer of 1 or more, found 0
    """


class MissingColumnError(RecframeError, KeyError):
    """
    Raised when a column that is needed is not in the frame.

    It is a `KeyError` too, as pandas raises for a missing column.

    See Also
    --------
    RecframeError : The base of every refusal.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> pd.DataFrame({"user": [1], "score": [0.5], "relevant": [1]}).rec(user="usr").recall(k=1)
    Traceback (most recent call last):
    recframe.errors.MissingColumnError: user='usr': no such column; the frame has 'user', 'score',
    'relevant'; did you mean 'user'?
    """

    # KeyError prints the repr of its message; a sentence must read as a sentence.
    __str__ = Exception.__str__
