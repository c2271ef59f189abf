"""RecAccessor: holds the frame and its options; one short method per table."""

import math
from collections.abc import Hashable, Iterable

import pandas as pd

from recframe.columns import find_columns
from recframe.evaluate import per_user_table
from recframe.frames import mean_table, single_table
from recframe.metrics import DEFAULT_METRICS, Metric, make_metric, parse_metrics
from recframe.options import INFER, Missing, Options, Short, Ties
from recframe.ranking import rank_table, top_table


class RecAccessor:
    """
    Ranking metrics of a frame of interactions, as ``df.rec``.

    The frame has one row for each user and item, one or more score columns and a relevance column.
    Nothing is cached and the frame is never changed. Call the accessor to set options.

    Parameters
    ----------
    frame : DataFrame
        The interactions.

    See Also
    --------
    recframe.evaluate : The same as a function, with all options explained.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
    >>> df.rec.recall(k=1)
    recall@1  score
    user
    1           0.0
    2           1.0
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        # pandas makes an accessor at every access and for tab completion: no work here.
        self._frame = frame
        self._options: Options | None = None

    def __call__(
        self,
        *,
        user: Hashable | None = INFER,
        item: Hashable = INFER,
        score: Hashable | list[Hashable] = INFER,
        relevant: Hashable = INFER,
        ties: Ties = "expected",
        short: Short = "raise",
        missing: Missing = "raise",
        zero_division: float = math.nan,
        min_relevance: float | None = None,
        min_score: float | None = None,
    ) -> "RecAccessor":
        """
        Return an accessor to the same frame with these options.

        The options are those of `recframe.evaluate`. They are not added to options set before:
        what is not passed has its default.

        Parameters
        ----------
        user : label or None, default "infer"
            The column of user ids; None: the whole frame is one ranking.
        item : label, default "infer"
            The column of item ids.
        score : label or list of labels, default "infer"
            The score columns.
        relevant : label, default "infer"
            The column of relevance.
        ties : {"expected", "first", "last", "best", "worst"}, default "expected"
            The order of rows with equal scores.
        short : {"raise", "pad", "shrink", "nan"}, default "raise"
            What a user with fewer than k ranked rows scores.
        missing : {"raise", "unranked", "drop"}, default "raise"
            What a null score means.
        zero_division : {nan, 0.0, 1.0}, default nan
            The value where a denominator is 0.
        min_relevance : float, default None
            Rows at or above it are relevant.
        min_score : float, default None
            Rows below it are not recommended.

        Returns
        -------
        RecAccessor
            An accessor bound to the options.

        Raises
        ------
        RecframeError
            An option has a value it does not take.

        See Also
        --------
        recframe.evaluate : The options explained.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1], "score": [0.5, 0.5], "relevant": [0, 1]})
        >>> df.rec(ties="worst").recall(k=1)
        recall@1  score
        user
        1           0.0
        """
        bound = type(self)(self._frame)
        bound._options = Options(
            user=user,
            item=item,
            score=score,
            relevant=relevant,
            ties=ties,
            short=short,
            missing=missing,
            zero_division=zero_division,
            min_relevance=min_relevance,
            min_score=min_score,
        )
        return bound

    def precision(self, k: int = 10) -> pd.DataFrame:
        """
        Return precision@k = hits@k / k of every user.

        hits@k is the number of relevant rows among the first k of the user's ranking.

        Parameters
        ----------
        k : int, default 10
            The cut-off, 1 or more.

        Returns
        -------
        DataFrame
            Index: users, sorted. Columns: the score columns, ``columns.name`` the metric's label.

        Raises
        ------
        RecframeError
            k is not an integer of 1 or more, or the frame is refused as in `recframe.evaluate`.

        See Also
        --------
        recall : The same hits divided by the relevant rows of the user.
        evaluate : Several metrics at once.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
        >>> df.rec.precision(k=1)
        precision@1  score
        user
        1              0.0
        2              1.0
        """
        return self._single(make_metric("precision", k))

    def recall(self, k: int = 10) -> pd.DataFrame:
        """
        Return recall@k = hits@k / R of every user.

        hits@k is the number of relevant rows among the first k of the user's ranking, R that of
        all relevant rows of the user.

        Parameters
        ----------
        k : int, default 10
            The cut-off, 1 or more.

        Returns
        -------
        DataFrame
            Index: users, sorted. Columns: the score columns, ``columns.name`` the metric's label.
            NaN (or `zero_division`) where R = 0.

        Raises
        ------
        RecframeError
            k is not an integer of 1 or more, or the frame is refused as in `recframe.evaluate`.

        See Also
        --------
        precision : The same hits divided by k.
        evaluate : Several metrics at once.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [1, 1, 1]})
        >>> df.rec.recall(k=1)
        recall@1  score
        user
        1           0.5
        2           1.0
        """
        return self._single(make_metric("recall", k))

    def r_precision(self) -> pd.DataFrame:
        """
        Return R-precision = hits@R / R of every user.

        R is the number of relevant rows of the user, hits@R that among the first R of the user's
        ranking.

        Returns
        -------
        DataFrame
            Index: users, sorted. Columns: the score columns, ``columns.name`` the metric's label.
            NaN (or `zero_division`) where R = 0.

        Raises
        ------
        RecframeError
            The frame is refused as in `recframe.evaluate`.

        See Also
        --------
        precision : The precision at a cut-off of one's choice.
        evaluate : Several metrics at once.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
        >>> df.rec.r_precision()
        r_precision  score
        user
        1              0.0
        2              1.0
        """
        return self._single(make_metric("r_precision"))

    def evaluate(self, metrics: str | Iterable[str] = DEFAULT_METRICS) -> pd.DataFrame:
        """
        Return metrics of every user, for each score column.

        The columns are counted once, however many metrics are asked for.

        Parameters
        ----------
        metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
            Names of metrics, as "precision@4", "recall@4", "r_precision".

        Returns
        -------
        DataFrame
            Index: users, sorted. Columns: a MultiIndex (score, metric).

        Raises
        ------
        RecframeError
            A metric is unknown, or the frame is refused as in `recframe.evaluate`.

        See Also
        --------
        mean : The means over users.
        recframe.evaluate : The same as a function, with all options explained.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
        >>> df.rec.evaluate(["recall@1", "r_precision"])
        score     score
        metric recall@1 r_precision
        user
        1           0.0         0.0
        2           1.0         1.0
        """
        return self._per_user(parse_metrics(metrics))

    def mean(self, metrics: str | Iterable[str] = DEFAULT_METRICS) -> pd.DataFrame:
        """
        Return the means of metrics over users, for each score column.

        The mean of a column of `evaluate`; users whose value is NaN are left out, as pandas does.

        Parameters
        ----------
        metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
            Names of metrics, as "precision@4", "recall@4", "r_precision".

        Returns
        -------
        DataFrame
            Index: the score columns. Columns: the metrics.

        Raises
        ------
        RecframeError
            A metric is unknown, or the frame is refused as in `recframe.evaluate`.

        See Also
        --------
        evaluate : The values the mean is taken of.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
        >>> df.rec.mean(["recall@1", "r_precision"])
        metric  recall@1  r_precision
        score
        score        0.5          0.5
        """
        return mean_table(self.evaluate(metrics))

    def rank(self) -> pd.DataFrame:
        """
        Return the position of every row in its user's ranking.

        1 is the best. Rows that the tie rule does not tell apart share the mean of their
        positions: under "expected" all tied rows, as ``Series.rank(method="average")`` does, under
        "best" and "worst" those of the same relevance.

        Returns
        -------
        DataFrame
            Index: that of the frame. Columns: the score columns. NaN for rows that are not ranked.

        Raises
        ------
        RecframeError
            The frame is refused as in `recframe.evaluate`. The relevance column is read only
            under "best" and "worst".

        See Also
        --------
        top : The first rows of every user.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 1], "score": [0.5, 0.9, 0.5]})
        >>> df.rec.rank()
        score  score
        0        2.5
        1        1.0
        2        2.5
        """
        return rank_table(self._frame, self._bound_options)

    def top(self, k: int = 10, score: Hashable | None = None) -> pd.DataFrame:
        """
        Return the rows of the first k places of every user, in ranked order.

        Rows that the tie rule does not tell apart are never split by the cut: where they share
        the k-th place all of them are returned, in row order. With ``ties="first"`` or "last"
        every row has a place of its own, and a user has at most k rows.

        Parameters
        ----------
        k : int, default 10
            The number of places, 1 or more.
        score : label, default None
            The score column to rank by; needed where there are several.

        Returns
        -------
        DataFrame
            The rows of the frame with their index and a column ``rank`` added, users sorted.

        Raises
        ------
        RecframeError
            k is not an integer of 1 or more, there are several score columns and none is named,
            the frame has a column "rank", or it is refused as in `recframe.evaluate`.

        See Also
        --------
        rank : The position of every row.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 1], "item": list("abc"), "score": [0.5, 0.9, 0.1]})
        >>> df.rec.top(k=2)
           user item  score  rank
        1     1    b    0.9   1.0
        0     1    a    0.5   2.0
        """
        return top_table(self._frame, k, score, self._bound_options)

    @property
    def _bound_options(self) -> Options:
        """The options this accessor was called with, or the defaults."""
        return Options() if self._options is None else self._options

    def _per_user(self, metrics: list[Metric]) -> pd.DataFrame:
        """Return metrics of every user."""
        columns = find_columns(self._frame, self._bound_options)
        return per_user_table(self._frame, columns, metrics, self._bound_options)

    def _single(self, metric: Metric) -> pd.DataFrame:
        """Return one metric of every user, a column for each score."""
        return single_table(self._per_user([metric]), metric)
