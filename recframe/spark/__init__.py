"""``recframe.spark.rec(sdf)``: the methods of ``df.rec`` on Spark DataFrames."""

from typing import Any, Unpack

from recframe.calls import public
from recframe.options import OptionArguments
from recframe.spark.accessor import SparkRecAccessor
from recframe.spelling import spell_options

__all__ = ["SparkRecAccessor", "rec"]


@spell_options
@public
def rec(
    frame: Any, *, partitioned: bool = False, **options: Unpack[OptionArguments]
) -> SparkRecAccessor:
    """
    Return the accessor of a Spark DataFrame, which has the methods of ``df.rec``.

    Options are set here, or by calling it: ``recframe.spark.rec(sdf)(ties="worst")``.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The interactions.
    partitioned : bool, default False
        Promises that each user's rows are in one partition, as in `SparkRecAccessor`.
    **options
        Those of `recframe.evaluate`; `truth` and `exclude` may be Spark DataFrames too.

    Returns
    -------
    SparkRecAccessor
        The accessor, bound to the options; it displays what it understood of the frame.

    Raises
    ------
    RecframeError
        It is no Spark DataFrame, or an option is unknown or has a value it does not take.

    See Also
    --------
    SparkRecAccessor : The methods, and what they return.
    recframe.evaluate : The options explained.

    Examples
    --------
    >>> import pandas as pd, recframe.spark
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
    >>> recframe.spark.rec(spark.createDataFrame(df)).mean("recall@1").show()
    +-----+--------+
    |score|recall@1|
    +-----+--------+
    |score|     0.5|
    +-----+--------+
    <BLANKLINE>
    """
    return SparkRecAccessor(frame)(partitioned=partitioned, **options)
