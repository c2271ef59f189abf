"""RankingMethods: every public method, written once for all engines."""

import inspect
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from contextlib import nullcontext, suppress
from copy import copy
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, Unpack, cast

import pandas as pd

from recframe.analysis.bounds import bounds_table, check_bounds, measure_bounds
from recframe.analysis.catalogue import (
    CatalogueTask,
    catalogue_columns,
    catalogue_options,
    join_shown,
    read_catalogue,
)
from recframe.analysis.compare import Correction, Test, compare_table, make_comparison, trust
from recframe.analysis.describe import Describer
from recframe.analysis.description import Description
from recframe.analysis.display import Inspection, NotedTable, with_notes
from recframe.analysis.overlap import check_overlap, measure_overlap, overlap_table
from recframe.analysis.overview import Overview, make_overview
from recframe.analysis.paper_tables import MeanTable
from recframe.analysis.people import (
    check_judged,
    check_trustable,
    find_people,
    is_per_user,
    measure_people,
)
from recframe.analysis.ranked_rows import (
    check_shown,
    inspect_user,
    list_ranks,
    rank_options,
    rank_table,
    split_user,
    top_columns,
    top_table,
)
from recframe.analysis.reconcile import Conventions, reconcile_table, robustness_table
from recframe.analysis.report import (
    DESCRIBED,
    Findings,
    K,
    Report,
    check_baseline,
    check_title,
    list_conventions,
    list_facts,
    list_points,
    make_curves,
    make_page,
)
from recframe.analysis.resampling import Interval, OfDifferences
from recframe.analysis.segments import (
    By,
    MakeWeighted,
    UserValues,
    apply_by_segment,
    find_grouping,
    mean_by_segment,
    measure_with_values,
    segment_users,
)
from recframe.analysis.summary import (
    curve_metrics,
    curve_table,
    measure_curve,
    measure_noted,
    summary_table,
)
from recframe.analysis.trusted import read_people
from recframe.errors import RecframeError, RecframeWarning, is_number, prefix_errors, quote
from recframe.frames.classes import are_classes, check_classes
from recframe.frames.columns import Columns, find_columns
from recframe.frames.duplicates import find_models
from recframe.frames.ids import ALL_USERS
from recframe.frames.list_frames import make_companion_rows
from recframe.frames.names import as_labels, check_label, find_role, is_infer, remove_labels
from recframe.frames.questions import Asked, ask_all
from recframe.frames.roles import find_roles
from recframe.frames.tables import Make, MakeTable, as_columns, make_columns, mean_table
from recframe.frames.unused_columns import (
    check_others,
    check_unit,
    list_others,
)
from recframe.metrics.definitions import DEFAULT_METRICS, DEFINITIONS, describe_arguments
from recframe.metrics.names import Metric, check_k, find_map_at, make_metric, parse_metrics
from recframe.metrics.other_names import describe_map, find_near_name, read_synonym
from recframe.metrics.recipes import find_recipe
from recframe.note_kinds import Facts
from recframe.notes import list_notes, taking_notes, warn_of
from recframe.options import (
    DEFAULTS,
    INFER,
    MADE,
    Models,
    OptionArguments,
    Options,
    is_key,
    list_changed,
    make_options,
    spell_arguments,
    spell_made,
    spell_options,
)
from recframe.other_tables import is_path
from recframe.public_calls import public

Table = TypeVar("Table")
Method = TypeVar("Method", bound=Callable[..., Any])
Join = Callable[[Sequence[Any]], Any]
# With other options a line of pandas would count other rows than recframe.
SHOWN_OPTIONS = {"user", "item", "score", "relevant", "min_relevance", "truth", "short"}


def ask_accessor(
    error: RecframeError, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Add all open questions to the refusal of a method's call."""
    if args[0]._asks_all:
        ask_all(error, function, args, kwargs, args[0]._as_asked())


def public_method(method: Method) -> Method:
    """Return a method of an accessor as a public call, which asks all open questions."""
    asking: Any = public(method, DEFAULTS, ask_accessor)
    return cast("Method", asking)


def metric_method(method: Method) -> Method:
    """Return the public method of a metric, with the docstring of the metric's formula."""
    definition = DEFINITIONS[method.__name__]
    if formula := inspect.getdoc(definition.formula):  # python -OO removes docstrings
        parameters = describe_arguments(definition, ", default 10", "1 or more")
        refused = "An argument is out of its range, or the" if parameters else "The"
        sections = {
            "Parameters": "\n".join(parameters),
            "Returns": "DataFrame\n    Index: users, sorted. Columns: the score columns, "
            "``columns.name`` the metric's label.",
            "Raises": f"RecframeError\n    {refused} frame is refused as in `recframe.evaluate`.",
            "See Also": "evaluate : Several metrics at once.",
        }
        text = [f"{title}\n{'-' * len(title)}\n{body}" for title, body in sections.items() if body]
        convention, _, rest = formula.partition("See Also\n--------\n")
        docstring = "\n\n".join([convention.strip(), *text]) + f"\n{rest}"
        method.__doc__ = f"\n{docstring}\n"
    return public_method(method)


class RankingMethods(ABC, Generic[Table]):
    """
    Ranking metrics of interactions that an engine holds, with a method for each table.

    A method checks its arguments and chooses a function that makes its table from pandas
    DataFrames. The engine calls this function where the rows are.

    Parameters
    ----------
    frame : object
        The interactions: a row for each user and item, score columns, a relevance column.
    """

    _call = "df.rec"  # the accessor in messages
    _options = Options()
    _written = ""  # the code of the accessor in the user's call, if it is not `_call`
    _made: Mapping[str, str] = MappingProxyType({})  # the code of options that are tables
    _takes: Set[str] = DEFAULTS.keys()  # answers with which a refused call can be repeated
    # Methods that an engine lacks, each with the end of its message.
    _lacks: Mapping[str, str] = MappingProxyType(
        {"judge": ". Pass truth= to the call that it should judge."}
    )
    _by: tuple[UserValues, ...] = ()  # the segments, or groups of items, in a call with `by`
    _unit: Hashable | None = None  # values that are read for means too
    _shows_bar = False  # whether a bar shows the segments that are done
    _asks_all = True  # whether a refused call is repeated to find all open questions

    def __init__(self, frame: Any) -> None:
        # pandas makes an accessor at every access and for tab completion: no work here.
        self._frame = frame

    @spell_options
    @public
    def __call__(self, **options: Unpack[OptionArguments]) -> Self:
        """
        Return an accessor to the same frame with these options.

        They replace options set before: an option that you do not pass has its default.

        Parameters
        ----------
        **options
            Those of `recframe.evaluate`.

        Returns
        -------
        RankingMethods
            An accessor of the same kind, bound to the options.

        Raises
        ------
        RecframeError
            An option is unknown or has a value it does not take.

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
        return self._bind(make_options(options))

    def _bind(self, options: Options) -> Self:
        """Return an accessor to the same frame with these options; lists of truth become rows."""
        bound, label = copy(self), options.model
        for name in ("truth", "exclude"):
            given = getattr(options, name)
            opened: dict[str, Any] = {name: given}
            if isinstance(given, pd.DataFrame):
                with prefix_errors(name):
                    opened = {name: make_companion_rows(name, given, options)}
            elif given is not None:
                opened = {name: self._open_path(given)}
            if opened[name] is not given:
                options = replace(options, **opened)
        bound._options = options
        if label is not None and not is_infer(label) and not isinstance(label, Models):
            check_label(self._sample, "model", label)
            models = find_models(label, bound._read_values(label), options)
            bound._options = replace(options, model=models)
        return bound

    def _open_path(self, path: Any) -> Any:
        """Return the files of a path, for truth or exclude."""
        from recframe.files.companion_files import as_companion_files  # Frames do not need it.

        return as_companion_files(path)

    def __repr__(self) -> str:
        """Return the roles of the frame's columns as text, without reading its values."""
        return self._show(str) or f"<{self._call} of a frame that cannot be shown>"

    def _repr_html_(self) -> str | None:
        """Return the roles of the frame's columns as HTML, for a notebook."""
        return self._show(Overview.to_html)

    def _show(self, show: Callable[[Overview], str]) -> str | None:
        """Return the roles of the frame's columns, None if its columns cannot be read."""
        try:
            return show(make_overview(self._call, self._size, self._sample, self._options))
        except Exception:  # a display must not raise, whatever the frame does
            return None

    def __dir__(self) -> list[str]:
        """Return the public methods and the special names of an object, for completion."""
        names = super().__dir__()
        return sorted(name for name in names if name[:1] != "_" or name[:2] == "__")

    def _answer(self, answers: Mapping[str, Any]) -> Self:
        """Return an accessor with its options and those that answer a refusal."""
        return self._bind(replace(self._options, **answers))

    def _as_asked(self) -> Asked:
        """Return this accessor as questions see it."""
        return Asked(
            accessor=self,
            options=self._options,
            takes=self._takes,
            answer=lambda answers: self._answer(answers)._as_asked(),
            code=self._call and (self._written or self._call),
            made=self._made,
        )

    @property
    def _size(self) -> str:
        """The size of the frame in words, as far as it is known."""
        n_columns = self._sample.shape[1]
        return f"{n_columns:,} column{'s' * (n_columns != 1)}"

    # An engine supplies these methods. Their arguments are checked.

    @property
    @abstractmethod
    def _sample(self) -> pd.DataFrame:
        """A DataFrame with the columns and dtypes of the rows; it may be empty."""

    @abstractmethod
    def _read_values(self, label: Hashable) -> pd.Series:
        """Return the values of a column in any order; repeated values may be left out."""

    @abstractmethod
    def _map(
        self, make: Make, columns: Columns, options: Options, *, reads_all: bool = False
    ) -> Table:
        """Return the table that `make` makes from the rows and the options.

        Rows may come in blocks, each with all rows of its users. Unless `reads_all`, only columns
        in a role are read.
        """

    def _whole(
        self, make: Make, columns: Columns, options: Options, make_table: MakeTable
    ) -> Table:
        """Return the table that `make_table` makes from the per-user table of all users, sorted."""
        # This serves engines whose tables are DataFrames of pandas.
        return make_table(self._map(make, columns, options))  # type: ignore[arg-type,return-value]

    def _collect(self, table: Any) -> pd.DataFrame:
        """Return a table of this engine as a DataFrame of pandas."""
        collected: pd.DataFrame = table
        return collected

    def _add_up(
        self,
        make: Make,
        columns: Columns,
        options: Options,
        make_table: MakeTable,
        join: Join,
    ) -> Table:
        """Return the table that `make_table` makes from the cells of all blocks.

        `make` turns each block into one cell; `join` may join some cells to one before.
        """
        return self._whole(make, columns, options, make_table)

    def _mean(self, make: Make, columns: Columns, options: Options, make_table: MakeTable) -> Table:
        """Return the table that `make_table` makes from the means over users."""
        return self._whole(make, columns, options, lambda table: make_table(mean_table(table)))

    @abstractmethod
    def _describe(self, describer: Describer) -> Table:
        """Return the description of the rows."""

    @abstractmethod
    def _rows_of(self, user: Hashable, columns: Columns) -> tuple[pd.DataFrame, bool]:
        """Return rows that include all rows of a user, and whether the frame has no others."""

    def _options_for(self, user: Hashable, columns: Columns) -> Options:
        """Return the options to inspect a user; their truth needs no rows of other users."""
        return self._options

    def _parse(self, metrics: str | Iterable[str]) -> list[Metric]:
        """Return the metrics that labels name; `like` settles those such as "map@10"."""
        return parse_metrics(metrics, self._options.map_at_k, self._spell_roles)

    def _spell_roles(self) -> Mapping[str, str]:
        """Return the columns and options as code, those with which a line of pandas is right."""
        options, changed, frame = self._options, list_changed(self._options), self._frame
        if not isinstance(frame, pd.DataFrame):
            return {}
        roles = find_roles(frame, options, with_item=True)
        labels = {name: one.found[0] for name, one in roles.items() if len(one.found) == 1}
        spelled = {name: quote(label) for name, label in labels.items() if label in frame}
        spelled["grade"] = quote(1 if options.min_relevance is None else options.min_relevance)
        if changed.keys() <= SHOWN_OPTIONS:
            spelled["options"] = f"({', '.join(spell_arguments(changed))})" if changed else ""
        return spelled

    def _find_columns(
        self, *, with_item: bool = False, metrics: Sequence[Metric] = (), used: Sequence[Any] = ()
    ) -> Columns:
        """Return the label of each role, and of each column that a metric averages.

        Columns that are `used` otherwise, by name or as Series, are not inferred as scores.
        """
        names = [getattr(one, "name", one) for argument in used for one in as_labels(argument)]
        asked: dict[str, Any] = {"with_item": with_item, "call": self._call, "metrics": metrics}
        used = [name for name in names if is_key(name)]
        return find_columns(self._sample, self._options, used=used, **asked)

    def _read_places(self, labels: list[Hashable], columns: Columns) -> list[pd.DataFrame]:
        """Return these columns of a few users' rows, [] for engines that are lazy."""
        return []

    def _ask_others(
        self, columns: Columns, named: Iterable[Hashable] = (), *, asks_unit: bool = False
    ) -> None:
        """Raise if a column without a role seems to split the rows of a user into rankings."""
        if not columns.others:
            return
        others, floats = list_others(self._sample, columns, self._options, asks_unit=asks_unit)
        others, floats = remove_labels(others, named), remove_labels(floats, named)
        for unit in [label for label in others if find_role(label) == "user"]:
            of_units = columns._replace(user=unit)
            if asks_unit and (places := self._read_places([unit, *columns.users], of_units)):
                check_unit(places, unit, columns)
        labels = list(dict.fromkeys([*columns.labels, *others]))
        places = self._read_places(labels, columns) if others or floats else []
        has_classes = places and floats and are_classes(places, columns)
        if has_classes and (rows := self._read_places([*labels, *floats], columns)):
            check_classes(rows, floats, columns)
        if places and others:
            check_others(places, others, columns, self._options)

    def _per_user(self, metrics: list[Metric], *, is_single: bool = False) -> Table:
        """Return the metrics of every user; a single metric may have one column for each score."""
        columns = self._find_columns(metrics=metrics)
        make = partial(measure_noted, metrics=metrics, is_single=is_single)
        self._ask_others(columns)
        with taking_notes(only_mistakes=True) as facts:
            table = self._map(make, columns, self._options)
        if isinstance(table, pd.DataFrame):
            table.attrs[MADE] = spell_made(self._options)
        return self._add_notes(table, facts)

    def _per_metric(self, name: str, k: int | None = None, **parameters: float) -> Table:
        """Return a metric of every user; its label names parameters that are not the default."""
        for one in DEFINITIONS[name].parameters:
            if is_number(parameters[one.name]) and parameters[one.name] == one.default:
                del parameters[one.name]
        return self._per_user([make_metric(name, k, **parameters)], is_single=True)

    def _list_ranks(self) -> Table:
        """Return every row with its rank, as `rank` does for tables without an index."""
        options = rank_options(self._options)
        columns = top_columns(self._sample, None, options, self._call)
        return self._map(list_ranks, columns, options, reads_all=True)

    def _add_notes(self, table: Any, facts: Facts) -> Table:
        """Return a table with the notes on some facts, and warn about mistakes."""
        notes = list_notes(facts, self._options)
        warn_of(notes)
        noted: Table = with_notes(table, notes)
        return noted

    def _read_trusted(self, metrics: list[Metric], trusted: Any) -> pd.DataFrame | None:
        """Return people's values of users from trusted labels, None without them."""
        if trusted is None:
            return None
        columns = self._find_columns(metrics=metrics)  # open questions about the judge come first
        labels = make_columns(columns.scores, [metric.label for metric in metrics])
        check_trustable(metrics)
        if is_per_user(trusted):
            return read_people(trusted, labels)
        options = find_people(
            trusted, columns, self._options, self._sample, self._read_values, self._open_path
        )
        bound, make = self._bind(options), partial(measure_people, metrics=metrics)
        with taking_notes(), prefix_errors("trusted"):
            people = bound._map(make, bound._find_columns(metrics=metrics), options)
            table = bound._collect(people)
        names = {str(score): score for score in columns.scores}  # Spark has texts
        return check_judged(table.rename(columns=names)[labels])

    def _aggregate(
        self,
        metrics: list[Metric],
        make_table: MakeWeighted,
        by_weights_unit: tuple[Any, Any, Any] = (None, None, None),
        measure: Callable[..., pd.DataFrame] = measure_noted,
        *,
        of_means: bool = False,
    ) -> Table:
        """Return the table that `make_table` makes from users' values, or means, by segment."""
        by, weights, unit = by_weights_unit
        with taking_notes() as facts:
            columns = self._find_columns(metrics=metrics, used=(by, weights))
            grouping = find_grouping(self._sample, by, weights, columns.users, unit)
            self._ask_others(columns, grouping.labels, asks_unit=is_infer(unit))
            make, options = partial(measure, metrics=metrics), self._options
            if not grouping.all:
                finish = self._mean if of_means else self._whole
                return self._add_notes(finish(make, columns, options, make_table), facts)
            # Users are measured in cells, which have their segments, weights and units too.
            columns = columns._replace(of_users=tuple(grouping.labels))
            make = partial(measure_with_values, measure=make, grouping=grouping)
            apply = partial(apply_by_segment, shows_bar=self._shows_bar)
            make_all = partial(mean_by_segment if of_means else apply, make_table=make_table)
            segment = partial(segment_users, grouping=grouping)
            bound = copy(self)
            bound._frame, bound._by = grouping.add_rows(self._frame), grouping.by
            table = bound._whole(make, columns, options, lambda cells: make_all(segment(cells)))
            return self._add_notes(table, facts)

    def _read_by_user(self, label: Any, metric: Metric, users: list[Hashable]) -> pd.Series:
        """Return the value of each user in a column; raise if it varies within users."""
        means = self._collect(self.mean(metric.label, by=[*users, label]))
        # Spark's means of segments are collected like the values of users.
        rows = as_columns(means) if means.columns.nlevels == 1 else means.index.to_frame()
        keys = list(rows)[: len(users)]
        return rows.drop_duplicates(keys).set_index(keys).iloc[:, 0]

    # The public methods.

    @public_method
    def evaluate(self, metrics: str | Iterable[str] = DEFAULT_METRICS) -> Table:
        """
        Return the metrics of each user, for each score column.

        Each score column is counted once, however many metrics you name.

        Parameters
        ----------
        metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
            Names of metrics, such as "precision@4" and "r_precision".

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

        Notes
        -----
        ``mean(COLUMN)@k`` takes a column that a line of pandas makes. With `train`, the pairs of
        users and items known before, each pair once and with ids of the types in `df`,
        ``counts = train["item"].value_counts()`` and ``seen = df["item"].map(counts).fillna(0)``:

        * popularity (ARP): ``seen``; its rank: ``df["item"].map(counts.rank(pct=True)).fillna(0)``
          (H. Abdollahpouri, R. Burke and B. Mobasher, "Managing popularity bias in recommender
          systems with personalized re-ranking", FLAIRS 2019);
        * novelty: the self-information ``-np.log2(seen.clip(lower=1) / train["user"].nunique())``
          (T. Zhou et al., "Solving the apparent diversity-accuracy dilemma of recommender
          systems", PNAS 107, 2010; S. Vargas and P. Castells, "Rank and relevance in novelty and
          diversity metrics for recommender systems", RecSys 2011);
        * long tail (APLT): ``seen < counts.quantile(0.8)``, all but the best known 20% of items
          (Abdollahpouri et al. 2019);
        * unseen: ``~pd.MultiIndex.from_frame(df[["user", "item"]]).isin(known)``, with
          ``known = pd.MultiIndex.from_frame(train[["user", "item"]])`` (N. Hurley and M. Zhang,
          "Novelty and diversity in top-N recommendation", ACM TOIT 10, 2011);
        * unexpected: ``seen < counts.nlargest(10).min()``, none that a list for everyone has, and
          serendipity: that and relevant (M. Ge, C. Delgado-Battenfeld and D. Jannach, "Beyond
          accuracy: evaluating recommender systems by coverage and serendipity", RecSys 2010);
        * revenue: ``df["price"] * df["relevant"]``, k times the mean for that of a list.

        ``share(COLUMN)@k`` of that column is the share of a user's revenue that the first k rows
        have; of ``df["relevant"] / propensity`` it is recall weighted by inverse propensity (L.
        Yang et al., "Unbiased offline recommender evaluation for missing-not-at-random implicit
        feedback", RecSys 2018). ``diversity(COLUMN)@k`` of a genre or of vectors is intra-list
        diversity.

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
        >>> df.assign(price=[5, 9, 2]).rec.evaluate("mean(price)@1")
        score          score
        metric mean(price)@1
        user
        1                5.0
        2                2.0
        """
        return self._per_user(self._parse(metrics))

    @public_method
    def mean(
        self,
        metrics: str | Iterable[str] = DEFAULT_METRICS,
        by: By | None = None,
        weights: Hashable | pd.Series | None = None,
    ) -> Table:
        """
        Return the means of metrics over users, for each score column.

        Each averages a column of `evaluate`; users whose value is NaN are left out, as in pandas.

        Parameters
        ----------
        metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
            Names of metrics, such as "precision@4" and "r_precision".
        by : label, Series or list of them, default None
            Splits users into segments: a column that does not vary within a user's rows, as
            label or as a Series with the frame's own index, such as ``df["country"]``; or a Series
            whose index holds users and is named as their column. A null is a segment of its own,
            which also has the users without rows.
        weights : label or Series, default None
            The weight of each user, 0 or more: a column or Series, as for `by`. None: all users
            weigh the same. `auc` weighted by the users' numbers of rows is known as GAUC.

        Returns
        -------
        DataFrame
            Index: the score columns, within segments if there are any. Columns: the metrics.
            ``.to_latex(digits=3)`` and ``.to_markdown(digits=3)`` return the table for a paper;
            those of `curve` and `catalogue` have them too.

        Raises
        ------
        RecframeError
            A metric is unknown, or the frame is refused as in `recframe.evaluate`.

        See Also
        --------
        evaluate : The values of each user.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
        >>> df.rec.mean(["recall@1", "r_precision"])
        metric  recall@1  r_precision
        score
        score        0.5          0.5
        >>> df.assign(country=["NL", "NL", "FR"]).rec.mean("recall@1", by="country")
        metric         recall@1
        country score
        FR      score       1.0
        NL      score       0.0
        """
        asked = self._parse(metrics)
        return self._aggregate(asked, MeanTable, (by, weights, self._unit), of_means=True)

    @public_method
    def rank(self) -> Table:
        """
        Return the position of each row in its user's ranking.

        1 is the best. Tied rows share the mean of their positions, as in ``Series.rank``: all under
        "expected", those of the same relevance under "best" and "worst".

        Returns
        -------
        DataFrame
            Index: that of the frame. Columns: the score columns. NaN for rows that are not ranked.

        Raises
        ------
        RecframeError
            The frame is refused; its relevance is read only for "best" and "worst".

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
        options = rank_options(self._options)
        with_relevant, call = options.tie_rule.reads_relevance, self._call
        columns = find_columns(self._sample, options, with_relevant=with_relevant, call=call)
        self._ask_others(columns)
        return self._map(rank_table, columns, options)

    @public_method
    def top(self, k: int = 10, score: Hashable | None = None) -> Table:
        """
        Return the rows of the first k positions of every user, in ranked order.

        All rows that share position k are returned, in row order. With ``ties="first"`` or
        "last" every row has its own position, so that a user has at most k rows.

        Parameters
        ----------
        k : int, default 10
            The number of positions, 1 or more.
        score : label, default None
            The score column to rank by; None: all, each by itself.

        Returns
        -------
        DataFrame
            The rows of the frame with their index and a new column ``rank``, users sorted. With
            several score columns, each has its rows, and a column ``ranked_by`` before ``rank``
            holds its label.

        Raises
        ------
        RecframeError
            k is below 1, the frame has a column named like a new one, or it is refused as in
            `recframe.evaluate`.

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
        k = check_k(k)
        options = rank_options(self._options)
        columns = top_columns(self._sample, score, options, self._call)
        self._ask_others(columns)
        with taking_notes() as facts:
            table: Any = self._map(partial(top_table, k=k), columns, options, reads_all=True)
        return self._add_notes(NotedTable(table) if type(table) is pd.DataFrame else table, facts)

    @public_method
    def inspect(
        self,
        user: Hashable = ALL_USERS,
        k: int = 10,
        label: Hashable | list[Hashable] | None = None,
        metrics: str | Iterable[str] | None = None,
    ) -> Inspection:
        """
        Return the rankings of one user side by side, one for each score column.

        It displays itself, as HTML in a notebook (with the extra ``notebook``), otherwise as text:
        the first k rows in ranked order, marks on relevant ones, and how many rows follow. Long
        texts are cut where the display ends, and wrapped in HTML.

        Parameters
        ----------
        user : label, default "all"
            The id of the user, a tuple for several columns of users; "all" is the one ranking of
            ``user=None``.
        k : int, default 10
            The cut-off, 1 or more.
        label : label or list of labels, default None
            Columns to show next to the item, such as "title"; several items may have one title. An
            item that only truth has shows a null. A column with one value in all ranked rows, such
            as the text of a query, stands above the lists.
        metrics : str or iterable of str, default None
            The metrics of the caption; None: precision@k, recall@k and R-precision.

        Returns
        -------
        Inspection
            ``tables`` holds a DataFrame for each score column: all rows with their position (NaN
            if not ranked) and relevance. If truth has a column of relevance, rows have it as
            their grade, null if truth lacks them. ``metrics`` is a DataFrame of the metrics,
            ``to_html()`` returns the HTML.

        Raises
        ------
        RecframeError
            No row has that id, k is below 1, a label is no column, a metric is unknown, or the
            user's rows are refused.

        See Also
        --------
        top : The first rows of every user.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> rows = {"item": ["a", "b", "c"], "score": [0.5, 0.9, 0.5], "relevant": [1, 1, 0]}
        >>> df = pd.DataFrame({"user": 1, **rows})
        >>> df.rec.inspect(1, k=1)
        user 1: 3 rows, 2 relevant
        <BLANKLINE>
        score
        precision@1: 100.00%
        recall@1: 50.00%
        R-precision: 75.00%
        <BLANKLINE>
        position   item relevance score
        ───────────────────────────────
               1 ✓ b            1   0.9
        ───────────────────────────────
        … 2 more rows, 1 relevant
        """
        k = check_k(k)
        asked = self._parse(
            (f"precision@{k}", f"recall@{k}", "r_precision") if metrics is None else metrics
        )
        labels = check_shown(self._sample, label)
        columns = self._find_columns(with_item=True)
        features = self._find_columns(with_item=True, metrics=asked).features
        split_user(user, columns)  # this raises for an id that no user can have
        read = columns._replace(features=features, of_users=tuple(labels))
        rows, is_all = self._rows_of(user, read)
        options = self._options_for(user, columns)
        return inspect_user(rows, user, k, options, is_all=is_all, labels=labels, metrics=asked)

    @public_method
    def describe(self, k: int = 10, trusted: Any = None) -> Table:
        """
        Return counts that describe the data: users, nulls, duplicates, short rankings and ties.

        It displays itself with a warning for each count that should worry you; the list
        ``warnings`` holds these. Problems are counted, not refused. Rows with a null user or
        relevance are left out of the other counts. Rows with a null score are not ranked (or left
        out, with `missing` "drop"). If relevance is unknown (neither 0/1 nor `min_relevance`, or
        duplicate pairs that cannot be looked up in `truth`), the counts that need it are NaN.

        Parameters
        ----------
        k : int, default 10
            The cut-off to look at, 1 or more.
        trusted : label, DataFrame or path, default None
            Labels of people, as in `summary`, whose agreement with those evaluated is counted.

        Returns
        -------
        DataFrame
            Index: the names of the counts; faults in the rows come last. Columns: the score
            columns, counts as integers. Duplicate pairs are rows that repeat the user and item of
            an earlier row. With `truth`, truth items in nobody's list are relevant items that no
            user's list has. If truth holds grades or non-relevant pairs too, rows that it holds
            are judged, and judged@k is the expected share of judged rows among the first k ranked
            rows (of all, if there are fewer). Ties can move precision only between its worst value
            (relevant rows of every tie last) and its best (first); "raise" divides both by k, as
            "pad" does.
            A warning names sampled candidates if all users have equally many rows, 20 or more, with
            one relevant row each, and fewer than half of the users share an item taken by its hash.

        Raises
        ------
        RecframeError
            A column is missing, scores are not numbers, or k is not an integer of 1 or more.

        See Also
        --------
        evaluate : The metrics of every user.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> rows = {"score": [0.5, 0.5, 0.1, 0.2], "relevant": [0, 1, 0, 0]}
        >>> df = pd.DataFrame({"user": [1, 1, 1, 2], "item": list("abca"), **rows})
        >>> df.rec.describe(k=1)
        score                       score
        rows                            4
        users                           2
        users without relevant rows     1
        users with fewer than 1         0
        users with a tie across 1       1
        precision@1, worst            0.0
        precision@1, best             0.5
        shortest ranking                1
        longest ranking                 3
        rows in ties                    2
        null users                      0
        null relevance                  0
        null scores                     0
        duplicate pairs                 0
        <BLANKLINE>
        - users without relevant rows: 1 of 2 users; their precision is 0; means of
          metrics that need a relevant row leave them out by default (option
          zero_division)
        - users with a tie across 1: 1 of 2 users; precision@1 is 0 in the worst order,
          0.5 in the best (option ties)
        """
        return self._describe_rows(check_k(k), trusted)

    def _describe_rows(self, k: int, trusted: Any, metrics: Sequence[Metric] = ()) -> Table:
        """Return the description; if all `metrics` read columns, relevance may be unknown."""
        options, people = self._options, None
        if options.population == "raise":  # the figures count the users of each side instead
            options = replace(options, population="all")
        columns = self._find_columns(with_item=True, metrics=metrics)._replace(features=())
        if trusted is not None:
            if is_per_user(trusted):
                raise RecframeError(
                    "trusted must be labels of rows in describe, but is a table of users' values"
                )
            people = find_people(
                trusted, columns, self._options, self._sample, self._read_values, self._open_path
            )
            of_column = () if people.has_truth else (people.relevant,)
            columns = columns._replace(of_users=of_column)
        with taking_notes():  # the figures count the same facts
            described = self._describe(Describer(columns, k, options, people))
        if not isinstance(described, Description):  # lazy engines return their own table
            return described
        described.warn(self._options)
        if described.is_refused:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    self.mean([f"precision@{k}", f"recall@{k}"])
                except RecframeError as error:
                    described.refusal = error.with_traceback(None)
        return described

    @public_method
    def catalogue(
        self, k: int = 10, items: Any = None, by: Hashable | list[Hashable] | None = None
    ) -> Table:
        """
        Return how the lists of all users cover the catalogue, for each score column.

        A list is a user's first k rows; relevance is not needed. The values describe all lists
        together: the share of items that anyone sees, how evenly, and how much the lists differ.

        Parameters
        ----------
        k : int, default 10
            The length of the lists, 1 or more.
        items : array_like, DataFrame or int, default None
            The catalogue: its ids, repeated or not, a frame with a column of them, or their
            number. None: the items of the frame's rows, listed or not. Coverage and Gini are then
            NaN, with a note, if no ranking is longer than k, as every item is in somebody's list.
        by : label or list of labels, default None
            Columns of the frame `items` that group them, such as "provider"; then `items` must have
            one group for each item. Items with a null are a group of their own.

        Returns
        -------
        DataFrame
            Index: the score columns. Columns:

            * ``coverage@k``: the share of the catalogue's items in at least one list;
            * ``gini@k``: the Gini index of the items' shares of all lists, with items never shown:
              0 if all have the same share, 1 if one has all;
            * ``entropy@k``: Shannon's entropy of these shares in bits, from 0 to log2 of the number
              of items; divide by that to normalise it;
            * ``personalization@k``: 1 - the mean overlap of two users' lists (shared items / k):
              0 if all have the same list, 1 if no two lists share an item.

            With `by`, index: the groups and the score columns. Columns:

            * ``exposure@k``: the group's expected share of the positions in all lists;
            * ``catalogue_share``: the group's share of the catalogue's items;
            * ``coverage@k``: the share of the group's items in at least one list;
            * ``recall@k``: the share of all users' relevant items of the group that are in their
              lists; it is there only if the frame has a column of relevance, or `truth` is passed.

            An undefined value, such as that of an empty, single-item or single-list catalogue, is
            NaN or the value of `zero_division`.

        Raises
        ------
        RecframeError
            A recommended item is not in the catalogue (with `by` also a relevant item), the frame
            has no item column, an argument is out of its range, an item has two groups,
            `duplicates` is "keep", or the frame is refused as in `recframe.evaluate`.

        See Also
        --------
        overlap : How much the lists of two score columns have in common.
        evaluate : Values of each user; novelty and popularity are means of a column there.

        Notes
        -----
        Under ties coverage and personalization are exact expectations: an item is in a user's list
        with a probability p, so that some list has it with 1 - Π (1 - p), and two lists share
        Σ p p'. Gini and entropy are those of the expected shares Σ p, not expected ones.

        A user without a ranked row has no list. A user with fewer than k rows is refused, unless
        `short` allows shorter lists: "pad" divides shared items by k anyway, "shrink" by
        √(n n') for lists of n and n' rows, "nan" leaves the user out. `population` "both" and
        "truth" leave out the rows of users whom `truth` lacks. Without `by`, `truth` does nothing
        else. The recall of a group adds up hits and relevant items of all users, those that no row
        has included, and divides once; users without a list have no hits. Those whom "nan" leaves
        out have no relevant items in it either.

        Dask holds a count for each item, and under ties for each of its probabilities; files do so
        within `memory`. No bit of the result depends on the order of rows or on partitions.

        Coverage is that of M. Ge, C. Delgado-Battenfeld and D. Jannach, "Beyond accuracy:
        evaluating recommender systems by coverage and serendipity", RecSys 2010; Gini, divided by
        items - 1, and entropy those of P. Castells, N. Hurley and S. Vargas, "Novelty and diversity
        in recommender systems", Recommender Systems Handbook, 2022; personalization that of T. Zhou
        et al., "Solving the apparent diversity-accuracy dilemma of recommender systems", PNAS 107,
        2010.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2, 2], "item": list("abac"), "score": [3, 2, 3, 2]})
        >>> df.rec.catalogue(k=1, items=4)
        metric  coverage@1  gini@1  entropy@1  personalization@1
        score
        score         0.25     1.0        0.0                0.0
        >>> df.rec.catalogue(k=2, items=["a", "b", "c", "d"])
        metric  coverage@2    gini@2  entropy@2  personalization@2
        score
        score         0.75  0.5           1.5                0.5
        >>> items = pd.DataFrame({"item": list("abcd"), "provider": ["x", "x", "y", "y"]})
        >>> df.assign(relevant=[1, 0, 0, 1]).rec.catalogue(k=2, items=items, by="provider")
        metric          exposure@2  catalogue_share  coverage@2  recall@2
        provider score
        x        score        0.75              0.5         1.0       1.0
        y        score        0.25              0.5         0.5       1.0
        """
        k = check_k(k)
        options = catalogue_options(self._options, by)
        columns = catalogue_columns(self._sample, options, self._call, by)
        known = read_catalogue(items, columns, by)
        with_recall = by is not None and (options.has_truth or columns.relevant is not None)
        zero_division = float(options.zero_division)
        task = CatalogueTask(k, columns.scores, known, zero_division, with_recall)
        groups: Any = {} if known.groups is None else known.groups
        bound = copy(self)
        bound._by = tuple(UserValues("by", label, label, groups[label]) for label in groups)
        with taking_notes() as facts:
            self._ask_others(columns)
            table = bound._add_up(task.count_shown, columns, options, task.make_table, join_shown)
        return self._add_notes(table, facts)

    @public_method
    def overlap(self, k: int | None = None, *, rbo: float | None = None) -> Table:
        """
        Return how alike the rankings of each two score columns are, as means over users.

        Pass either `k` or `rbo`. Items are needed, relevance is not.

        Parameters
        ----------
        k : int, default None
            The length of the lists, 1 or more: the value of a user is the number of items that both
            lists have among their first k, divided by k.
        rbo : float, default None
            The probability p, in [0, 1), of going on to the next rank: the value of a user is the
            rank-biased overlap of the whole rankings. The higher p, the more lower ranks count: of
            0.9 the first 10 ranks have about 86% of the weight.

        Returns
        -------
        DataFrame
            Index and columns: the score columns. ``columns.name`` is the measure, "overlap@10" or
            "rbo(p=0.9)". Values are means over users, in [0, 1]: 0 if no two lists share an item.
            A score column equals itself, whatever its ties: 1.

        Raises
        ------
        RecframeError
            Both or neither of `k` and `rbo` are passed, one is out of its range, the frame has
            fewer than two score columns or no item column, `duplicates` is "keep", or the frame is
            refused as in `recframe.evaluate`.

        See Also
        --------
        compare : How the metrics of two score columns differ.
        catalogue : How much the lists of different users differ, as personalization.

        Notes
        -----
        Under ties values are exact expectations, if each ranking orders its tied rows by itself:
        two columns with the same ties may have less than 1. Pass ``ties="item"`` to order both
        alike.

        A user whom one score column leaves out has an empty list there, and the value 0; a note
        counts these users. If both leave the user out, the value is that of `zero_division`: NaN,
        which means leave out. Option `short` decides at cut-off k about other lists with fewer than
        k rows: "raise" refuses them, "pad" divides by k anyway, "shrink" by √(n n') for lists
        of n and n' rows, "nan" leaves the user out. Rank-biased overlap takes rankings of any
        length. `population` "both" and "truth" leave out users whom `truth` lacks.

        Rank-biased overlap is the extrapolated one, RBO_EXT (equation 32) of W. Webber, A. Moffat
        and J. Zobel, "A similarity measure for indefinite rankings", ACM TOIS 28, 2010.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> scores = {"a_score": [3, 2, 1], "b_score": [3, 1, 2]}
        >>> df = pd.DataFrame({"user": 1, "item": list("abc"), **scores})
        >>> df.rec.overlap(k=2)
        overlap@2    a_score  b_score
        other_score
        a_score          1.0      0.5
        b_score          0.5      1.0
        >>> df.rec.overlap(rbo=0.5)
        rbo(p=0.5)   a_score  b_score
        other_score
        a_score        1.000    0.875
        b_score        0.875    1.000
        """
        options = catalogue_options(self._options)
        columns = catalogue_columns(self._sample, options, self._call)
        label = check_overlap(columns.scores, k, rbo)
        with taking_notes() as facts:
            self._ask_others(columns)
            measure = partial(measure_overlap, k=k, rbo=rbo, label=label)
            make_table = partial(overlap_table, label=label)
            table = self._mean(measure, columns, options, make_table)
        return self._add_notes(table, facts)

    @public_method
    def curve(
        self,
        metric: str = "recall",
        k: int | Iterable[int] | None = None,
        by: By | None = None,
        weights: Hashable | pd.Series | None = None,
    ) -> Table:
        """
        Return the mean of a metric over users at every cut-off.

        The rows are ranked once for any number of cut-offs. ``.plot()`` draws the table with named
        axes.

        Parameters
        ----------
        metric : str, default "recall"
            The name of a metric that takes a cut-off, such as "recall", "precision" or "ndcg".
        k : int or iterable of int, default None
            The cut-offs, each 1 or more; a number means all from 1 to it. None: from 1 to 50, but
            under ``short="raise"`` no further than the shortest ranking.
        by, weights : label, Series or list of them, default None
            Segments and weights of users, as in `mean`.

        Returns
        -------
        DataFrame
            Index: the cut-offs, named k, within segments if there are any. Columns: the score
            columns; ``columns.name`` is the metric, such as "recall@k". Values are those of `mean`.

        Raises
        ------
        RecframeError
            The metric takes no cut-off, one is not valid or given twice, or the frame is refused.

        See Also
        --------
        mean : The means of several metrics.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 1], "score": [3, 2, 1], "relevant": [1, 0, 1]})
        >>> df.rec.curve("recall")
        recall@k  score
        k
        1           0.5
        2           0.5
        3           1.0
        """
        metrics = curve_metrics(metric, k, self._options.map_at_k)
        make_table = partial(curve_table, metrics=metrics)
        measure = measure_curve if k is None else measure_noted
        grouped = by, weights, None
        return self._aggregate(metrics, make_table, grouped, measure, of_means=True)

    @public_method
    def bounds(self, metrics: str | Iterable[str] = "precision@10") -> Table:
        """
        Return the lowest and highest means that unjudged rows leave possible.

        A row is unjudged if `truth` lacks its pair, or if its relevance is null under
        ``null_relevance="nonrelevant"``. For the lowest mean no unjudged row is relevant, for the
        highest all are, with the highest grade where grades count.

        Parameters
        ----------
        metrics : str or iterable of str, default "precision@10"
            Names of metrics that a relevant row can only raise: precision, dcg, err, rbp, hit_rate
            and reciprocal_rank. Of metrics with grades only err has bounds, as its name has the
            highest grade.

        Returns
        -------
        DataFrame
            Index: (score, metric). Columns: low and high, means over users in the range of the
            metric, and judged, the mean share of judged rows among the first k ranked rows, in
            [0, 1]: of all, for a metric without k and for users with fewer. A user with an empty
            list has the value 0 in low and high and is left out of judged.
            ``.plot()``, ``.to_latex()`` and ``.to_markdown()`` work as in `summary`, with the range
            from low to high.

        Raises
        ------
        RecframeError
            Another metric is named, such as recall, which a further relevant row may raise or
            lower; dcg with grades; hit_rate or reciprocal_rank unless `zero_division` is 0, as
            unjudged rows may decide whether a user has a value; or the frame is refused as in
            `recframe.evaluate`.

        See Also
        --------
        judged : The share of judged rows of each user.
        summary : The interval that the choice of users leaves.

        Notes
        -----
        Under ``unjudged="drop"`` no row is unjudged, and low is high, with a note. The distance
        from low to high of rbp without k is the residual of A. Moffat and J. Zobel,
        "Rank-biased precision for measurement of retrieval effectiveness", ACM Transactions on
        Information Systems 27, 2008, without the part of rows beyond the end of a ranking.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> rows = {"item": ["a", "b", "c", "d"], "score": [4, 3, 2, 1]}
        >>> df = pd.DataFrame({"user": "ann", **rows})
        >>> truth = pd.DataFrame({"user": "ann", "item": ["a", "c"], "relevant": [1, 0]})
        >>> df.rec(truth=truth).bounds(["precision@2", "rbp(p=0.5)"])
                           low    high  judged
        score metric
        score precision@2  0.5  1.0000     0.5
              rbp(p=0.5)   0.5  0.8125     0.5
        """
        asked = self._parse(metrics)
        check_bounds(asked, self._options)
        grouped = (None, None, self._unit)
        return self._aggregate(asked, bounds_table, grouped, measure_bounds, of_means=True)

    @public_method
    def summary(
        self,
        metrics: str | Iterable[str] = DEFAULT_METRICS,
        confidence: float = 0.95,
        n_resamples: int = 9_999,
        seed: int = 0,
        interval: Interval = "auto",
        by: By | None = None,
        weights: Hashable | pd.Series | None = None,
        unit: Hashable | None = INFER,
        trusted: Any = None,
    ) -> Table:
        """
        Return the means of metrics over users with their confidence intervals.

        https://github.com/recframe/recframe/blob/main/examples/guide/compare.md
        explains the intervals.

        Parameters
        ----------
        metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
            Names of metrics, such as "precision@4" and "r_precision".
        confidence : float, default 0.95
            The confidence of the intervals, in (0, 1).
        n_resamples : int, default 9999
            The number of samples that "bootstrap" draws, from 1 to 1,000,000.
        seed : int, default 0
            The seed of its random numbers; the same seed gives the same intervals.
        interval : {"auto", "wilson", "skewed", "t", "bootstrap"}, default "auto"
            "wilson" is for values that are all 0 or 1, "skewed" Student's t corrected for skewness,
            "t" without, "bootstrap" the percentile bootstrap; the last two are too narrow for few
            users. "auto" takes "wilson" where it can, else "skewed".
        by, weights : label, Series or list of them, default None
            As in `mean`; intervals assume that users are drawn with their weights. Segments are
            taken one by one: each row of the table takes about half a millisecond, with
            "bootstrap" 4. Files show a bar if ``progress=True``.
        unit : label or None, default "infer"
            The column of independent users, if these have several rankings: one of several `user`
            columns, such as "user" of ["date", "user"], or another column with one value for each
            ranking, such as "user_id" if `user` is "session_id". Each unit counts as the mean of
            its rankings, weighted by their number, so the overall mean does not change. n_users
            counts units, n_undefined rankings. None: each ranking counts by itself. It is required
            if a unit has several rankings within a table or segment: not if `by` is the date.
        trusted : label, DataFrame or path, default None
            Labels of people for some users, drawn at random, where the labels of all users are by
            a judge, such as a language model or clicks: a column that is null for other rows; pairs
            of users and items with their labels, 0 for rows that are not relevant, which count as
            those of `truth` do; or a table of people's values, as from `evaluate`. Grades count
            from `trusted_min_relevance` on. A user counts as judged by people if they judged all
            rows that a metric reads: for precision, dcg, rbp and err at k, and for hit_rate and
            reciprocal_rank at k with ``zero_division=0``, those of the first k.

        Returns
        -------
        DataFrame
            Index: (score, metric), within segments if there are any. Columns: mean, low and high
            (the interval), n_users (with a value), interval (its name in statistics, such as
            "Wilson score" or "skewness-adjusted t"), standard_error, and n_undefined (users whose
            value is NaN) if there are any. If all users have the same value, "Wilson score for
            equal values" covers what unseen users may have, from 0 to 1. The interval is NaN, and
            its name "none", for fewer than two users, and for equal values of a metric that can be
            above 1, such as diversity. A narrow display prints all columns in blocks.
            With `trusted`, mean is that of people's labels over all users, by the regression
            estimator of two-phase sampling: people's mean, corrected by how much the judge's mean
            of all users differs from its mean of judged users. Further columns: n_trusted (users
            with a value by people), judge_mean, judge_bias (judge_mean - mean), and worth (how many
            users judged by people would give as exact a mean without the judge). If judge and
            people differ on fewer than 20 users, the judge is left out, with a note.
            ``.plot(ax=None, figsize=None)`` draws a dot and its interval for each model and metric,
            with the extra ``plot``. ``.to_latex(digits=3)`` and ``.to_markdown(digits=3)`` return
            the table for a paper.

        Raises
        ------
        RecframeError
            A metric is unknown, a number out of its range, or the frame is refused.

        See Also
        --------
        compare : The differences between models, which share their users.
        recframe.summary : The same for an existing per-user table.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
        >>> df.rec.summary("recall@1").round(3)
                        mean    low   high  n_users      interval  standard_error
        score metric
        score recall@1   0.5  0.095  0.905        2  Wilson score             0.5
        """
        draws = confidence, n_resamples, seed, interval
        how = make_comparison(*draws, intervals=Interval, unit=unit)
        asked = self._parse(metrics)
        how = trust(how, self._read_trusted(asked, trusted))
        return self._aggregate(asked, partial(summary_table, how=how), (by, weights, unit))

    @public_method
    def compare(
        self,
        metrics: str | Iterable[str] = DEFAULT_METRICS,
        baseline: Hashable | None = None,
        test: Test = "permutation",
        correction: Correction | None = "holm",
        confidence: float = 0.95,
        n_resamples: int = 9_999,
        seed: int = 0,
        interval: OfDifferences = "auto",
        by: By | None = None,
        weights: Hashable | pd.Series | None = None,
        unit: Hashable | None = INFER,
        trusted: Any = None,
    ) -> Table:
        """
        Return how every other score column differs from a baseline, paired over users.

        A row compares a score column in one metric, over the users who have both values.

        Parameters
        ----------
        metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
            Names of metrics, such as "precision@4" and "r_precision".
        baseline : label, list of labels, or "all", default None
            The score column to compare with; None: the first. A list: each of them, and a pair of
            them once. "all": every pair, unless a column has that name.
        test : {"permutation", "ttest", "wilcoxon"}, default "permutation"
            The test that gives the two-sided p-value: a permutation test that flips the signs of
            users' differences (all patterns, or `n_resamples` of them), or SciPy's test.
        correction : {"holm", "bonferroni", "fdr_bh", "max_t"} or None, default "holm"
            How p-values are corrected for the number of rows. "max_t" flips a user's signs in all
            rows at once: for correlated metrics it finds more than "holm". None: no correction.
        confidence, n_resamples, seed : float, int, int
            As in `summary`; `n_resamples` is also the number of sign patterns drawn.
        interval : {"auto", "tango", "skewed", "t", "bootstrap"}, default "auto"
            As in `summary`, for differences. "tango" is for values that are 0 or 1; "auto" takes
            it where it can, otherwise "skewed".
        by, weights : label, Series or list of them, default None
            As in `summary`; each segment is corrected by itself, and "wilcoxon" takes no weights.
            A row takes about 2 milliseconds in a segment of 10 users, and 40 in one of 1,000.
        unit : label or None, default "infer"
            As in `summary`, for users' differences; "wilcoxon" takes None only.
        trusted : label, DataFrame or path, default None
            Labels of people for some users, as in `summary`; users count whom people judged by both
            scores. They allow the default test and interval only, and no "max_t".

        Returns
        -------
        DataFrame
            Index: (score, metric), within segments if there are any. Columns: difference (of the
            means), low and high (its interval), p_corrected, p_value, relative (difference / the
            baseline's mean), effect (difference / standard deviation of users' differences),
            detectable (the smallest difference that so many users show with power 0.8 at 5%),
            n_won, n_tied, n_lost, n_users, interval and test (their names in statistics, such as
            "Tango score" and "exact sign-flip permutation test"). If the metric is undefined for
            some users, n_undefined_score, n_undefined_baseline and n_undefined_both count them.
            ``columns.name`` names the baseline; if `baseline` is a list or "all", the index is
            (baseline, score, metric).
            With `trusted`, further columns are n_trusted, judge_difference, judge_bias and worth,
            as in `summary`; n_won, n_tied and n_lost count judged users.
            Text and HTML show difference, low, high, p_corrected and n_users, and name the other
            columns. ``.plot()``, ``.to_latex()`` and ``.to_markdown()`` work as in `summary`, with
            a line at zero; p_corrected below 1 - confidence fills a dot, or adds a star.

        Raises
        ------
        RecframeError
            The frame has fewer than two score columns, the baseline is none of them, an argument
            is out of its range, or the frame is refused.
        ImportError
            The test or the correction needs SciPy, the extra ``stats``.

        See Also
        --------
        summary : The means and their intervals.
        recframe.compare : The same for an existing per-user table.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> scores = {"a_score": [2, 1, 2, 1, 2, 1], "b_score": [2, 1, 1, 2, 1, 2]}
        >>> df = pd.DataFrame({"user": [1, 1, 2, 2, 3, 3], "relevant": [0, 1] * 3, **scores})
        >>> df.rec.compare("recall@1")[["difference", "low", "high", "p_corrected"]]
        baseline: a_score  difference       low      high  p_corrected
        score   metric
        b_score recall@1     0.666667 -0.269162  0.938508          0.5
        """
        draws = confidence, n_resamples, seed, interval
        how = make_comparison(*draws, test, correction, weights=weights, unit=unit)
        asked = self._parse(metrics)
        how = trust(how, self._read_trusted(asked, trusted))
        make_table = partial(compare_table, baseline=baseline, how=how)
        return self._aggregate(asked, make_table, (by, weights, unit))

    @public_method
    def reconcile(
        self, metric: str, value: float | str, digits: int | None = None, score: Hashable = None
    ) -> pd.DataFrame:
        """
        Return the conventions that give a reported number, the nearest first.

        It tries each library of `like`, and values of options by themselves and in pairs: ties,
        short, missing, null_relevance, duplicates, zero_division, population, unjudged, gain, and
        each grade as min_relevance. With recall and average precision it tries their capped kinds,
        with nDCG and DCG other offsets. Values that change no mean are tried by themselves only.
        Options that the accessor was called with stay as they are.

        Parameters
        ----------
        metric : str
            The name of a metric, such as "ndcg@10". "map@10" stands for both of its definitions.
        value : float or str
            The number. As text, such as "0.3120", it keeps the zeros at its end.
        digits : int, default None
            The number of its decimals, 0 or more; None: as many as `value` has.
        score : label, default None
            The score column, or the model, whose mean it is; None: the only one.

        Returns
        -------
        DataFrame
            A row for each distinct mean, for every engine as a table of pandas. Index: the metric
            and the options of the simplest convention that gives it. Columns: value (the mean by
            the score), difference (value - the number), matches (whether it rounds to the number, a
            half up or down), n_calls (how many conventions give it), libraries (those that do so by
            ``like=`` alone), call (text to paste, with ``df`` and ``truth`` for your frames). The
            printed table leaves out the calls. A note says how easily numbers match by chance.

        Raises
        ------
        RecframeError
            The metric is unknown, it cannot have the value, several score columns are open and
            `score` names none, or the frame is refused for a reason that no convention decides.

        See Also
        --------
        robustness : The range of means over all conventions.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [3, 3, 1], "relevant": [0, 1, 0]})
        >>> table = df.rec.reconcile("hit_rate@1", "0.250")
        >>> table[["value", "difference", "matches"]]
                                      value  difference  matches
        convention
        hit_rate@1 zero_division=0.0   0.25        0.00     True
        hit_rate@1                     0.50        0.25    False
        hit_rate@1 ties='first'        0.00       -0.25    False
        hit_rate@1 zero_division=1.0   0.75        0.50    False
        hit_rate@1 ties='last'         1.00        0.75    False
        note: values that match, of 87 conventions tried: 1; of the 1,001 numbers with
          as many digits in this range, 5 would match some convention by chance
        >>> table["call"].iloc[0]
        "df.rec(zero_division=0.0).mean('hit_rate@1')"
        """
        return reconcile_table(self._find_conventions(), metric, value, digits, score)

    @public_method
    def robustness(self, metric: str) -> pd.DataFrame:
        """
        Return the lowest and highest mean that a convention gives, for each score column.

        The conventions are those that `reconcile` tries. A note below says whether they change the
        order of the models.

        Parameters
        ----------
        metric : str
            The name of a metric, such as "ndcg@10". "map@10" stands for both of its definitions.

        Returns
        -------
        DataFrame
            A table of pandas for every engine. Index: the score columns. Columns: lowest and
            highest (means), best_rank and worst_rank (of the score among all by their means; 1 is
            the best), lowest_by and highest_by (the simplest convention that gives each mean).

        Raises
        ------
        RecframeError
            The metric is unknown, or the frame is refused as in `reconcile`.

        See Also
        --------
        reconcile : The conventions that give a reported number.
        compare : The differences between models under one convention, with their intervals.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> scores = {"old_score": [3, 2, 1], "new_score": [3, 3, 1]}
        >>> df = pd.DataFrame({"user": [1, 1, 2], "relevant": [1, 0, 1], **scores})
        >>> df.rec.robustness("hit_rate@1")[["lowest", "highest", "best_rank", "worst_rank"]]
                   lowest  highest  best_rank  worst_rank
        score
        old_score     1.0      1.0          1           1
        new_score     0.5      1.0          1           2
        note: 26 of 65 conventions order the models otherwise than most; wins: 65 by
          old_score and 26 by new_score
        """
        return robustness_table(self._find_conventions(), metric)

    def _find_conventions(self) -> Conventions:
        """Return the conventions that the options leave open."""
        columns, call = self._find_columns(), self._written or self._call
        hooks = self._answer, self._collect, self._read_values
        return Conventions(self._options, columns, *hooks, call)

    @public_method
    def report(
        self,
        metrics: str | Iterable[str] = DEFAULT_METRICS,
        baseline: Hashable | None = None,
        by: By | None = None,
        title: str | None = None,
        unit: Hashable | None = INFER,
        trusted: Any = None,
        label: Hashable | list[Hashable] | None = None,
        items: Any = None,
    ) -> Report:
        """
        Return a page to share: the data, its problems, and how the models differ.

        It is one file of HTML that opens offline, light or dark, and prints on A4. Problems of the
        data come first, in words. Then come the data evaluated, `summary`, `compare`, means at
        smaller cut-offs, segments, the distribution over users, the users whose first metric falls
        and rises most by each model with their lists side by side, `catalogue`, and the definitions
        in force.

        Parameters
        ----------
        metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
            Names of metrics, such as "precision@4" and "r_precision".
        baseline : label, list of labels, or "all", default None
            The score column to compare with, as in `compare`; None: the first of several.
        by : label, Series or list of them, default None
            Segments, as in `mean`; the worst come first.
        title : str, default None
            The title of the page; None: "Ranking report".
        unit : label or None, default "infer"
            As in `summary`, with several `user` columns.
        trusted : label, DataFrame or path, default None
            Labels of people for some users, as in `summary`. They correct means, differences and
            segments; the rest of the page is by the labels of all users.
        label : label or list of labels, default None
            Columns to show next to items, such as "title". A column with one value for each user,
            such as the text of a query, is shown next to users.
        items : array_like, DataFrame or int, default None
            The catalogue for coverage and Gini, as in `catalogue`.

        Returns
        -------
        Report
            ``save(path)`` writes the page, ``html`` is its text; a notebook displays it. It shows
            the first of many models, metrics, segments or users, so that it has at most 300 kB. It
            speaks of queries if the user column is named like query, topic or question.

        Raises
        ------
        RecframeError
            A metric is unknown, the baseline is no score column, a label is no column, an item
            shown is not in the catalogue, or the frame is refused.
        ImportError
            The page needs jinja2, the extra ``notebook``.

        See Also
        --------
        summary : The means and their intervals.
        compare : The differences between models.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> scores = {"a_score": [2, 1, 2, 1, 2, 1], "b_score": [2, 1, 1, 2, 1, 2]}
        >>> df = pd.DataFrame({"user": [1, 1, 2, 2, 3, 3], "relevant": [0, 1] * 3, **scores})
        >>> page = df.rec.report("recall@1", title="Monday").html
        >>> page[:15], "<h1" in page, "Monday" in page, "<script" in page
        ('<!doctype html>', True, True, False)
        """
        title, asked = check_title(title), self._parse(metrics)
        labels = check_shown(self._sample, label)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecframeWarning)  # the page has their words
            findings = self._collect_findings(asked, baseline, by, unit, trusted, items)
            findings = self._add_lists(findings, asked, labels)
            return make_page(findings, title, baseline, unit)

    def _collect_findings(
        self, metrics: list[Metric], baseline: Any, by: Any, unit: Any, trusted: Any, items: Any
    ) -> Findings:
        """Return the tables of a page; raise before any row is read if that is possible."""
        columns = self._find_columns(metrics=metrics, used=[by])
        check_baseline(columns.scores, baseline)
        find_grouping(self._sample, by, None, columns.users)
        grouping = find_grouping(self._sample, None, None, columns.users, unit)
        self._ask_others(columns, grouping.labels, asks_unit=is_infer(unit))
        k, points = max(metric.k or 0 for metric in metrics), list_points(metrics)
        catalogue = None
        # The items of rows may be unknown, or lists shorter than k; `items` must fit.
        with suppress(RecframeError) if items is None else nullcontext():
            catalogue = as_columns(self._collect(self.catalogue(k or K, items)))
        people = self._read_trusted(metrics, trusted)
        make = partial(measure_noted, metrics=metrics)
        with taking_notes() as facts:
            per_user = self._collect(self._map(make, columns, self._options))
        if grouping.unit is not None:  # it becomes the last level of the index
            units = self._read_by_user(grouping.unit, metrics[0], columns.users)
            units = units.reindex(per_user.index)
            per_user = per_user.set_index(pd.Index(units.array, name=units.name), append=True)
        means = self.mean([f"{family}@{k}" for family, k in points]) if points else None
        described = cast("Description", self._collect(self._describe_rows(k or 1, None, metrics)))
        roles = make_overview(self._call, self._size, self._sample, self._options)
        paths = list(getattr(self, "paths", []))
        companions = [one for one in (self._options.truth, self._options.exclude) if is_path(one)]

        def by_segment(make_table: MakeWeighted) -> pd.DataFrame:
            table = self._aggregate(metrics, make_table, (by, None, unit))
            return as_columns(self._collect(table))

        return Findings(
            per_user=per_user,
            facts=list_facts(self._size, paths, roles, described, len(per_user)),
            worries=described.warn(self._options).warnings,
            notes=[one for one in list_notes(facts, self._options) if one.kind not in DESCRIBED],
            inputs=list(map(os.fspath, [*paths, *companions])),
            by_segment=None if by is None else by_segment,
            curves={} if means is None else make_curves(as_columns(self._collect(means)), points),
            catalogue=catalogue,
            conventions=list_conventions(self._options),
            trusted=people,
        )

    def _add_lists(
        self, findings: Findings, metrics: list[Metric], labels: list[Hashable]
    ) -> Findings:
        """Return the findings with the rankings of users, and with the labels of users."""
        names: list[Any] = self._find_columns(metrics=metrics).users
        index: Any = findings.per_user.index
        # A unit is the last level.
        users = index.droplevel(-1) if index.nlevels > max(len(names), 1) else index
        k, texts = max(metric.k or 0 for metric in metrics), pd.DataFrame(index=users)
        for label in labels if names else ():
            with suppress(RecframeError):  # It varies within users, so it describes items.
                texts[label] = self._read_by_user(label, metrics[0], names)
        labels = remove_labels(labels, texts)

        def inspect(user: Hashable) -> Inspection:
            return self.inspect(users[index.get_loc(user)], k=k or K, label=labels)

        return findings._replace(inspect=inspect, texts=texts.set_axis(index))

    @metric_method
    def precision(self, k: int = 10) -> Table:
        return self._per_metric("precision", k=k)

    @metric_method
    def recall(self, k: int = 10) -> Table:
        return self._per_metric("recall", k=k)

    @metric_method
    def r_precision(self) -> Table:
        return self._per_metric("r_precision")

    @metric_method
    def f1(self, k: int = 10) -> Table:
        return self._per_metric("f1", k=k)

    @metric_method
    def capped_recall(self, k: int = 10) -> Table:
        return self._per_metric("capped_recall", k=k)

    @metric_method
    def fall_out(self, k: int = 10) -> Table:
        return self._per_metric("fall_out", k=k)

    @metric_method
    def ndcg(self, k: int | None = None, *, offset: float = 1) -> Table:
        return self._per_metric("ndcg", k=k, offset=offset)

    @metric_method
    def dcg(self, k: int | None = None, *, offset: float = 1) -> Table:
        return self._per_metric("dcg", k=k, offset=offset)

    @metric_method
    def err(self, k: int | None = None, *, max: float) -> Table:
        return self._per_metric("err", k=k, max=max)

    @metric_method
    def rbp(self, k: int | None = None, *, p: float) -> Table:
        return self._per_metric("rbp", k=k, p=p)

    @metric_method
    def hit_rate(self, k: int = 10) -> Table:
        return self._per_metric("hit_rate", k=k)

    @metric_method
    def all_relevant(self, k: int = 10) -> Table:
        return self._per_metric("all_relevant", k=k)

    @metric_method
    def reciprocal_rank(self, k: int | None = None) -> Table:
        return self._per_metric("reciprocal_rank", k=k)

    @metric_method
    def average_precision(self, k: int | None = None) -> Table:
        return self._per_metric("average_precision", k=k)

    @metric_method
    def capped_average_precision(self, k: int = 10) -> Table:
        return self._per_metric("capped_average_precision", k=k)

    @metric_method
    def auc(self) -> Table:
        return self._per_metric("auc")

    @metric_method
    def bpref(self) -> Table:
        return self._per_metric("bpref")

    @metric_method
    def judged(self, k: int = 10) -> Table:
        return self._per_metric("judged", k=k)

    if not TYPE_CHECKING:  # type checkers report misspelt methods themselves

        def __getattr__(self, name: str) -> Callable[..., Table]:
            """Raise `AttributeError` and suggest the nearest method."""
            hint = ""
            if not name.startswith("_"):  # IPython looks for private names
                names = [*(one for one in dir(self) if one[0] != "_"), *DEFINITIONS]
                near, k = find_near_name(name, names), ""
                if (synonym := read_synonym(name)) is not None:
                    near, takes_k = [synonym.name], DEFINITIONS[synonym.name].cut_off != "none"
                    k = f"k={synonym.k}" if synonym.k and takes_k else ""
                hint = f"; did you mean {near[0]}({k})?" if near else ""
                if near and not hasattr(type(self), near[0]):
                    hint = f"; it reads a column: evaluate('{near[0]}(COLUMN)@10')"
                at_k = find_map_at(name)
                hint = f"; did you mean {describe_map(at_k)}?" if at_k else hint
                hint = self._lacks.get(name, find_recipe(name, self._spell_roles).rstrip() or hint)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")
