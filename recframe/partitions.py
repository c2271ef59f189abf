"""Partitions of whole users, on Dask and Spark: the result for each, and tables of all of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import pandas as pd

from recframe.errors import RecframeError, quote
from recframe.frames.columns import Columns
from recframe.frames.companions import BlockResult, Blocks, join_ids
from recframe.frames.interactions import Interactions, read_interactions
from recframe.frames.tables import (
    Make,
    MakeTable,
    in_cells,
    mean_of_sums,
    sum_and_count,
)
from recframe.methods import RankingMethods
from recframe.notes import taking_notes
from recframe.options import Options


def make_empty(blocks: Blocks) -> pd.DataFrame:
    """Return the table for no row, which shows the columns of a lazy table."""
    options = replace(blocks.options, short="pad")
    # With user=None, no rows are one short ranking; only data may be refused or noted for it.
    with taking_notes(only_mistakes=True):
        rows = read_interactions(blocks.sample, blocks.columns, blocks.options)
        return blocks.make(rows, options)


def check_promise(results: Sequence[BlockResult]) -> Sequence[BlockResult]:
    """Return the results for all partitions; raise if a user is in several."""
    users = join_ids([result.users for result in results])
    if len(again := users[users.duplicated()].unique()):
        raise RecframeError(
            f"partitioned=True: all rows of a user must be in one partition, but {len(again)} of "
            f"{users.nunique()} users are in several (such as {quote(again.tolist()[0])}). Leave "
            "partitioned=True out, and a shuffle brings them together."
        )
    return results


def check_bound(partitioned: object) -> bool:
    """Return `partitioned`; raise if it is no flag."""
    if not isinstance(partitioned, bool):
        raise RecframeError(f"partitioned must be True or False, but is {quote(partitioned)}")
    return partitioned


class PartitionedAccessor(RankingMethods[Any]):
    """The methods that accessors of Dask and Spark share."""

    _partitioned = False
    _engine = ""

    def _bind(self, options: Options) -> Self:
        options.check_unordered(self._engine)
        return super()._bind(options)

    def _mean(self, make: Make, columns: Columns, options: Options, make_table: MakeTable) -> Any:
        """Return the table that `make_table` makes from means; each partition sums its values."""

        def add_up(interactions: Interactions, options: Options) -> pd.DataFrame:
            return in_cells([sum_and_count(make(interactions, options))])

        def make_of_sums(cells: pd.DataFrame) -> pd.DataFrame:
            return make_table(mean_of_sums(cells["cell"]))

        return self._whole(add_up, columns, options, make_of_sums)
