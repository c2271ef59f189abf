"""Partitions of whole users, on Dask and Spark: the result for each, and tables of all of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import pandas as pd

from recframe.errors import RecframeError, quote
from recframe.frames.columns import Columns
from recframe.frames.companions import BlockResult, Companions, NotedBlocks, join_ids, make_block
from recframe.frames.interactions import Interactions, read_interactions
from recframe.frames.tables import (
    Make,
    MakeTable,
    in_cells,
    join_tables,
    mean_of_sums,
    sum_and_count,
)
from recframe.methods import RankingMethods
from recframe.notes import taking_notes
from recframe.options import Options


class Partitions(NamedTuple):
    """The work on partitions; the sample is a frame without rows that has all their columns.

    `lists_users` is True if several partitions may have the same user, or if truth has all users.
    """

    make: Make
    columns: Columns
    options: Options
    sample: pd.DataFrame
    lists_users: bool

    def read(self, frame: pd.DataFrame, companions: Companions) -> BlockResult:
        """Return the result for a partition."""
        result = make_block(frame, companions, self.make, self.columns, self.options)
        return result if self.lists_users else result._replace(users=result.users[:0])

    def read_noting(self, frame: pd.DataFrame, companions: Companions) -> BlockResult:
        """Return the result for a partition, with the facts that are noted meanwhile."""
        with taking_notes() as facts:
            return self.read(frame, companions)._replace(facts=facts)

    def make_empty(self) -> pd.DataFrame:
        """Return the table for no row."""
        options = replace(self.options, short="pad")
        # With user=None, no rows are one short ranking; only data may be refused or noted for it.
        with taking_notes(only_mistakes=True):
            return self.make(read_interactions(self.sample, self.columns, self.options), options)

    def note_all(self, results: Sequence[BlockResult], companions: Companions) -> NotedBlocks:
        """Return all partitions as blocks that are noted; raise if a user is in several."""
        check_promise(results)
        blocks = NotedBlocks(companions, self.columns, self.options)
        for result in results:
            blocks.add(result)
        return blocks

    def make_whole(
        self, results: Sequence[BlockResult], companions: Companions, make_table: MakeTable
    ) -> pd.DataFrame:
        """Return the checked table of all partitions."""
        made = [result.made for result in results] or [self.make_empty()]
        absent = self.note_all(results, companions).judge_absent(self.sample)
        if absent is not None:
            made.append(self.make(absent, self.options))
        # Sums depend on the order of values; in this order they equal those of pandas.
        return make_table(join_tables(made))


def check_promise(results: Sequence[BlockResult]) -> None:
    """Raise if a user is in several partitions."""
    users = join_ids([result.users for result in results])
    if len(again := users[users.duplicated()].unique()):
        raise RecframeError(
            f"partitioned=True: all rows of a user must be in one partition, but {len(again)} of "
            f"{users.nunique()} users are in several (such as {quote(again.tolist()[0])}). Leave "
            "partitioned=True out, and a shuffle brings them together."
        )


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
            return make_table(mean_of_sums(pd.concat(cells["cell"].tolist())))

        return self._whole(add_up, columns, options, make_of_sums)
