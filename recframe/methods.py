"""MetricMethods: a method for each metric, which the accessors share."""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from recframe.metrics.names import Metric, make_metric

Table = TypeVar("Table")


class MetricMethods(ABC, Generic[Table]):
    """A table of one metric for each method: a row for each user, a column for each score.

    Of a pandas DataFrame the table is one too; of a Dask DataFrame it is lazy and in no order.
    """

    @abstractmethod
    def _single(self, metric: Metric) -> Table:
        """Return one metric of every user, a column for each score."""

    def precision(self, k: int = 10) -> Table:
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

    def recall(self, k: int = 10) -> Table:
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

    def r_precision(self) -> Table:
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

    def f1(self, k: int = 10) -> Table:
        """
        Return f1@k = 2 hits@k / (k + R) of every user.

        The harmonic mean of precision@k and recall@k.

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
        precision : The hits divided by k.
        recall : The hits divided by R.
        evaluate : Several metrics at once.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [1, 1, 1]})
        >>> df.rec.f1(k=1)
        f1@1     score
        user
        1     0.666667
        2     1.000000
        """
        return self._single(make_metric("f1", k))

    def hit_rate(self, k: int = 10) -> Table:
        """
        Return hit_rate@k, 1 where hits@k > 0 and else 0, of every user.

        In a tie across the cut it is the chance of a hit.

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
        reciprocal_rank : How far up the first hit is.
        evaluate : Several metrics at once.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
        >>> df.rec.hit_rate(k=1)
        hit_rate@1  score
        user
        1             0.0
        2             1.0
        """
        return self._single(make_metric("hit_rate", k))

    def reciprocal_rank(self, k: int | None = None) -> Table:
        """
        Return the reciprocal rank of every user.

        1 / the position of the user's first relevant row; 0 where that is beyond k, or not ranked.

        Parameters
        ----------
        k : int, default None
            The cut-off, 1 or more; None: the whole ranking.

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
        average_precision : What counts every relevant row.
        evaluate : Several metrics at once.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
        >>> df.rec.reciprocal_rank()
        reciprocal_rank  score
        user
        1                  0.5
        2                  1.0
        """
        return self._single(make_metric("reciprocal_rank", k))

    def average_precision(self, k: int | None = None) -> Table:
        """
        Return the average precision of every user.

        The precision at the position of each relevant row, 0 for those beyond k or not ranked,
        averaged over the user's R relevant items.

        Parameters
        ----------
        k : int, default None
            The cut-off, 1 or more; None: the whole ranking.

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
        ndcg : What gives lower positions less weight in another way.
        evaluate : Several metrics at once.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
        >>> df.rec.average_precision()
        average_precision  score
        user
        1                    0.5
        2                    1.0
        """
        return self._single(make_metric("average_precision", k))

    def ndcg(self, k: int | None = None) -> Table:
        """
        Return the normalised discounted cumulated gain of every user.

        The sum of gain / log2(1 + position) over relevant rows, divided by what it would be if
        all relevant items of the user were ranked first, highest gain first. With
        `min_relevance` a row's gain is its relevance, or 2^relevance - 1 under
        ``gain="exponential"``; else it is 1.

        Parameters
        ----------
        k : int, default None
            The cut-off, 1 or more; None: the whole ranking.

        Returns
        -------
        DataFrame
            Index: users, sorted. Columns: the score columns, ``columns.name`` the metric's label.
            NaN (or `zero_division`) where nothing can be gained, as where R = 0.

        Raises
        ------
        RecframeError
            k is not an integer of 1 or more, or the frame is refused as in `recframe.evaluate`.

        See Also
        --------
        average_precision : What averages precision.
        evaluate : Several metrics at once.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [1, 3, 2]})
        >>> df.rec(min_relevance=1).ndcg(k=1)
        ndcg@1     score
        user
        1       0.333333
        2       1.000000
        """
        return self._single(make_metric("ndcg", k))

    def capped_recall(self, k: int = 10) -> Table:
        """
        Return capped_recall@k = hits@k / min(R, k) of every user.

        A recall that is 1 where all that fits among the first k is relevant.

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
        recall : The same hits divided by R.
        evaluate : Several metrics at once.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [1, 1, 1]})
        >>> df.rec.capped_recall(k=1)
        capped_recall@1  score
        user
        1                  1.0
        2                  1.0
        """
        return self._single(make_metric("capped_recall", k))

    def auc(self) -> Table:
        """
        Return the area under the ROC curve of every user.

        The chance that a relevant row of the user outscores one that is not, a tie counting half.
        Only ranked rows are compared.

        Returns
        -------
        DataFrame
            Index: users, sorted. Columns: the score columns, ``columns.name`` the metric's label.
            NaN (or `zero_division`) where all or none of the user's ranked rows are relevant.

        Raises
        ------
        RecframeError
            The frame is refused as in `recframe.evaluate`.

        See Also
        --------
        average_precision : What counts the first positions most.
        evaluate : Several metrics at once.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 1], "score": [0.9, 0.8, 0.7], "relevant": [1, 0, 1]})
        >>> df.rec.auc()
        auc   score
        user
        1       0.5
        """
        return self._single(make_metric("auc"))
