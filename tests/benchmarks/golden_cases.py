"""Make the random frames and calls of `golden`, each from its number alone."""

from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import recframe

N_SMALL, N_LARGE = 640, 40
# Threads share the rows of these last large cases.
N_HUGE = 8
# Codes times this number have 64 bits that look random.
SPREAD = 0x9E3779B97F4A7C15


def texts(form, **dtype):
    """Return a function that makes texts from codes."""
    return lambda codes: pd.array([form.format(code) for code in codes.tolist()], **dtype)


def take(make):
    """Return a function that makes objects from codes, the same object for the same code."""
    return lambda codes: pd.Series(map(make, range(codes.max() + 1)), dtype=object).to_numpy()[
        codes
    ]


def from_codes(codes):
    """Return categories in mixed order, some of them unused."""
    names = [f"c{code}" for code in range(int(codes.max()) + 3)][::-1]
    return pd.Categorical.from_codes(len(names) - 1 - codes, categories=names)


LARGE_IDS = {
    "int64": lambda codes: codes * 7919 % 1_000_003 + 3,
    "int32": lambda codes: (codes * 31).astype("int32"),
    "str": texts("u{}", dtype="str"),
    "far apart": lambda codes: (codes.astype("uint64") * np.uint64(SPREAD)).view("int64"),
    "category": from_codes,
    "long text": texts("organisation/department/customer-{:09}", dtype="str"),
    "shared objects": take("user{}".format),
    "distinct objects": lambda codes: np.array([f"u{code}" for code in codes.tolist()], object),
}
IDS = LARGE_IDS | {
    "uint64": lambda codes: codes.astype("uint64") * np.uint64(SPREAD),
    "negative": lambda codes: 11 - 37 * codes,
    "mixed objects": take(lambda code: code if code % 2 else f"u{code}"),
    "objects of int": take(lambda code: 10**6 + code),
    "bytes": take(b"u%d".__mod__),
    "tuples": take(lambda code: (code, "x")),
    "ordered": lambda codes: pd.Categorical(codes, ordered=True),
    "datetime": lambda codes: np.datetime64("2024-01-01", "s") + codes,
    "zoned": lambda codes: pd.DatetimeIndex(codes * 10**15, tz="Europe/Berlin"),
    "float": lambda codes: codes / 2,
    "bool": lambda codes: codes % 2 == 0,
    "decimal": lambda codes: pd.array(
        [Decimal(code) / 4 for code in codes.tolist()], dtype=pd.ArrowDtype(pa.decimal128(12, 2))
    ),
    "Int64": lambda codes: pd.array(codes * 5, dtype="Int64"),
    "string[pyarrow]": texts("v{}", dtype="string[pyarrow]"),
    "arrow text": texts("é{}", dtype=pd.ArrowDtype(pa.string())),
    "arrow int": lambda codes: pd.array(codes, dtype=pd.ArrowDtype(pa.int32())),
    "hexadecimal": lambda codes: take(lambda code: f"{code * SPREAD % 2**64:016x}")(codes),
}
IDS["nulls"] = lambda codes: pd.array(np.where(codes % 17, codes, np.nan))
LARGE_SCORES = {
    "float64": lambda rng, n: rng.random(n),
    "float32": lambda rng, n: rng.random(n, dtype="float32"),
    "ratings": lambda rng, n: rng.integers(1, 6, n, dtype="int8"),
    "few mantissas": lambda rng, n: rng.random(30)[rng.integers(30, size=n)],
    "two decimals": lambda rng, n: rng.integers(0, 100, n) / 100,
    "half 0": lambda rng, n: rng.random(n) * rng.integers(0, 2, n),
    "wide int64": lambda rng, n: rng.integers(-(2**63), 2**63 - 1, n) >> rng.integers(0, 50, n),
}
SCORES = LARGE_SCORES | {
    "float16": lambda rng, n: rng.random(n).astype("float16"),
    "int32": lambda rng, n: rng.integers(-9, 9, n, dtype="int32"),
    "beyond 2**61": lambda rng, n: rng.integers(2**61, 2**61 + 40, n),
    "uint64": lambda rng, n: rng.integers(2**64 - 30, 2**64 - 1, n, dtype="uint64"),
    "infinite": lambda rng, n: rng.choice([-np.inf, np.inf, 0.0, -0.0, 1e308, 5e-324], n),
    "subnormal": lambda rng, n: rng.integers(-20, 20, n) * 5e-324,
    "close": lambda rng, n: 1 + rng.integers(0, 9, n) * 2.0**-52,
    "Float64 with nulls": lambda rng, n: pd.array(gaps(rng, n), dtype="Float64"),
    "nulls": lambda rng, n: gaps(rng, n),
    "Int8 with nulls": lambda rng, n: pd.array(np.round(9 * gaps(rng, n)), dtype="Int8"),
    "arrow": lambda rng, n: pd.array(rng.random(n).round(1), dtype=pd.ArrowDtype(pa.float64())),
}
RELEVANCE = {
    "bool": lambda rng, n: rng.random(n) < 0.3,
    "int8": lambda rng, n: (rng.random(n) < 0.2).astype("int8"),
    "float64": lambda rng, n: rng.integers(0, 2, n).astype("float64"),
    "grades": lambda rng, n: rng.integers(0, 5, n),
    "fractions": lambda rng, n: rng.integers(0, 9, n) / 2,
    "boolean": lambda rng, n: pd.array(rng.random(n) < 0.5, dtype="boolean"),
    "none": lambda rng, n: np.zeros(n, "int64"),
}
GRADES = ("grades", "fractions")
AT = ["precision", "recall", "f1", "hit_rate", "all_relevant", "capped_recall", "fall_out"]
AT += ["judged", "mean(price)"]
EITHER = ["reciprocal_rank", "average_precision", "ndcg", "ndcg(offset=0)", "dcg", "rbp(p=0.8)"]
EITHER += ["err(max=4)"]
WHOLE = ["r_precision", "auc"]
METHODS = ["evaluate"] * 12 + ["mean"] * 4 + ["rank", "top", "curve", "catalogue", "summary"]
METHODS += ["compare", "describe", "inspect", "judge", "ndcg", "recall", "r_precision"]
COMMANDS = [
    "evaluate run.parquet --format json; evaluate run.csv --short shrink --format json",
    "evaluate run.parquet --metric precision@3 recall@3 ndcg auc --short nan --format json",
    "evaluate run.csv --metric ndcg@5 f1@2 --ties worst --short pad --by country --format json",
    "evaluate run.parquet --metric recall@2 dcg --short pad --summary --format json --seed 3",
    "evaluate run.parquet --metric recall@2 auc --short pad --baseline score --format json",
    "evaluate run.parquet --metric recall@2 auc --short pad --baseline score --by country",
    "evaluate run.csv --metric judged@3 bpref --short pad --truth truth.parquet --population all "
    "--format json",
    "evaluate run.parquet --metric recall@2 --exclude truth.parquet --short shrink --format csv",
    "evaluate run.parquet other.parquet --metric f1@2 --short pad --duplicates max --weights price",
    "evaluate run.parquet --metric recall@2 --short pad --filter country~=~c1 --format json",
    "evaluate run.parquet --no-user --metric precision@5 --duplicates keep",
    "evaluate run.parquet --metric recal@5; evaluate nowhere.csv; evaluate run.csv --ties odd",
    "describe run.parquet --k 3 --format json; describe run.csv --truth truth.parquet",
    "catalogue run.parquet --k 3 --short pad --format json; catalogue run.csv --items 500 -k 2",
    "evaluate run.parquet --metric recall@3 auc --short pad --per-user a.csv --quiet; "
    "evaluate other.parquet --metric recall@3 auc --short pad --per-user b.csv --quiet; "
    "compare a.csv b.csv --format json; compare a.csv b.csv --max-drop 0.01",
    "trec truth.qrels score.run b_score.run --format json",
    "trec truth.qrels score.run --metric ndcg average_precision precision@5 -q",
    "trec truth.qrels score.run b_score.run --baseline score.run",
    "trec truth.qrels b_score.run --unjudged drop --complete --min-relevance 2",
]
COUNT = N_SMALL + N_LARGE + len(COMMANDS)


class Case(NamedTuple):
    """A call: its entry point, frame, method, arguments and options."""

    said: str
    entry: str
    frame: pd.DataFrame
    method: str
    arguments: dict[str, Any]
    options: dict[str, Any]


def gaps(rng, n):
    """Return scores, some of them null."""
    return np.where(rng.random(n) < 0.1, np.nan, rng.random(n))


def pick(rng, choices, chance=1.0):
    """Return one of the choices, or None with probability 1 - chance."""
    place = rng.integers(len(choices))
    return list(choices)[place] if rng.random() < chance else None


def make_case(number):
    """Return the case of a number; small cases come first, then large ones, then commands."""
    rng = np.random.default_rng([number, 7])
    if number >= N_SMALL + N_LARGE:
        line = COMMANDS[number - N_SMALL - N_LARGE]
        frame = make_frame(rng, 90, "int64", "str", "two decimals", "int8")[0]
        frame = frame.drop_duplicates(["user", "item"], ignore_index=True)
        frame["b_score"] = frame["price"] + frame["score"].round(1)
        return Case(f"recframe {line}", "command", frame, "command", {"line": line}, {})
    is_large = number >= N_SMALL
    rows = int(rng.integers(70_000, 300_000) if is_large else pick(rng, [2, 9, 30, 150, 400]))
    if number >= N_SMALL + N_LARGE - N_HUGE:
        rows *= 8
    users = list(LARGE_IDS)[number % len(LARGE_IDS)] if is_large else pick(rng, IDS)
    items = pick(rng, ["int64", "int32", "str"] if is_large or rng.random() < 0.5 else IDS)
    scores = pick(rng, LARGE_SCORES if is_large else SCORES)
    relevance = pick(rng, RELEVANCE)
    frame, codes, repeats = make_frame(rng, rows, users, items, scores, relevance)
    options = make_options(rng, scores, relevance, repeats)
    entry = pick(rng, ["pandas"] * (6 if is_large else 12) + list(ENTRY_POINTS))
    is_plain = entry.startswith("function") or is_large
    method = "evaluate" if is_plain else pick(rng, METHODS)
    if method in ("rank", "top", "judge") and entry in ("parquet", "csv", "jsonl"):
        # These methods have no table for files.
        method = "catalogue"
    if method == "compare":
        frame["b_score"] = SCORES[scores](rng, rows)
    if method == "judge" or rng.random() < 0.3:
        options.pop("min_relevance", None)
        options |= make_truth(rng, codes, users, items, entry)
    if rng.random() < 0.1:
        options["exclude"] = pair_frame(rng, codes, users, items, 0.2)
    role = pick(rng, ["several", "none", "index"], 0.15)
    if role == "several" and not {"truth", "exclude"} & set(options):
        frame = frame.assign(day=codes["user"].to_numpy() % 2)
        options["user"] = ["day", "user"]
    elif role == "none":
        options |= {"user": None, "duplicates": "keep"}
    elif role == "index" and entry in ("pandas", "dask", "function"):
        frame = frame.set_index("user")
    arguments = make_arguments(rng, method, frame, options)
    shown = {name: getattr(value, "shape", value) for name, value in options.items()}
    said = f"{entry}: {method} of {rows} rows, users {users}, items {items}, scores {scores}, "
    said += f"relevance {relevance}; {shown}; "
    said += str({name: getattr(value, "shape", value) for name, value in arguments.items()})
    return Case(said, entry, frame, method, arguments, options)


def make_frame(rng, rows, users, items, scores, relevance):
    """Return a frame, its codes of users and items, and whether pairs repeat."""
    n_users = int(
        rows // pick(rng, [5, 20, 100]) if rows > 1000 else rng.integers(1, rows // 3 + 2)
    )
    weights = rng.lognormal(size=n_users)
    user = np.sort(rng.choice(n_users, rows, p=weights / weights.sum()))
    user = rng.permutation(n_users)[user] if rng.random() < 0.5 else user
    user = user % 2 if users == "bool" else user
    place = pd.Series(user).groupby(user).cumcount().to_numpy()
    item = (user * 13 + place * 7) % 20_011  # 20,011 is prime, so that no user has an item twice.
    repeats = rng.random() < 0.12
    if repeats:
        item[rng.integers(rows, size=rows // 9 + 1)] = item[rows // 2]
    codes = pd.DataFrame({"user": user, "item": item})
    if rng.random() < 0.5:
        codes = codes.sample(frac=1, random_state=int(rng.integers(99)), ignore_index=True)
    frame = pd.DataFrame({"user": IDS[users](codes["user"].to_numpy())})
    frame["item"] = IDS[items](codes["item"].to_numpy())
    for name in ["score", "b_score"][: 2 if rng.random() < 0.4 else 1]:
        frame[name] = SCORES[scores](rng, rows)
    frame["relevant"] = RELEVANCE[relevance](rng, rows)
    # A price does not vary within users.
    frame["price"] = 1.0 + codes["user"].to_numpy() % 7
    frame["country"] = [f"c{code % 3}" for code in codes["user"].tolist()]
    return frame, codes, repeats or users == "nulls"


def make_options(rng, scores, relevance, repeats):
    """Return options that suit a frame, and sometimes some that do not."""
    has_grades, has_nulls = relevance in GRADES, "null" in scores
    drawn = {
        "ties": pick(rng, ["first", "last", "best", "worst", "item", "expected"], 0.5),
        "short": pick(rng, ["pad", "pad", "shrink", "nan"], 0.9),
        "missing": pick(rng, ["unranked", "drop"], 0.9 if has_nulls else 0.1),
        "duplicates": pick(rng, ["keep", "max", "first"], 0.9 if repeats else 0.2),
        "zero_division": pick(rng, [0.0, 1.0], 0.25),
        "min_relevance": pick(rng, [1, 2, 2.5], 0.95 if has_grades else 0.05),
        "gain": pick(rng, ["exponential"], 0.3 * has_grades),
        "ascending": pick(rng, [True, False], 0.12),
    }
    if rng.random() < 0.12 and not drawn["ascending"]:
        drawn["min_score"] = pick(rng, [0, 0.3, 3])
    return {name: value for name, value in drawn.items() if value is not None}


def pair_frame(rng, codes, users, items, share):
    """Return some pairs of a frame, each once, and some that it does not have."""
    listed = codes[rng.random(len(codes)) < share]
    others = codes[: len(listed) // 2 + 1] + rng.integers(0, 3, 2)
    pairs = pd.concat([listed, others]).drop_duplicates().sample(frac=1, random_state=1)
    return pd.DataFrame(
        {"user": IDS[users](pairs["user"].to_numpy()), "item": IDS[items](pairs["item"].to_numpy())}
    ).drop_duplicates(ignore_index=True)


def make_truth(rng, codes, users, items, entry):
    """Return the options of a truth that has other users and pairs too."""
    truth, found = pair_frame(rng, codes, users, items, pick(rng, [0.1, 0.4])), {}
    if rng.random() < 0.2:
        truth = truth.astype({"user": object, "item": object})
    if rng.random() < 0.4:
        truth["relevant"] = rng.integers(0, 4, len(truth))
        found["min_relevance"] = 1
    if "polars" in entry and rng.random() < 0.5:
        truth = converted(truth, pl.from_pandas)
    found["population"] = pick(rng, ["rows"], 0.3) or "all"
    found["unjudged"] = pick(rng, ["drop"], 0.25)
    return {"truth": truth} | {name: value for name, value in found.items() if value}


def make_metrics(rng, has_truth):
    """Return names of metrics with one, several or no cut-offs, some beyond the rankings."""
    cuts = [int(cut) for cut in rng.integers(1, 12, 1 + int(rng.integers(3)))]
    names = [f"{name}@{cut}" for name in AT + EITHER for cut in cuts] + EITHER + WHOLE
    names += ["bpref"] * has_truth
    names = [names[place] for place in rng.permutation(len(names))]
    return list(dict.fromkeys(names[: pick(rng, [1, 2, 4, 8, 40])]))


def make_arguments(rng, method, frame, options):
    """Return the arguments of a method."""
    k = int(rng.integers(1, 6))
    if method in ("evaluate", "mean"):
        metrics = make_metrics(rng, "truth" in options)
        segments = make_segments(rng, frame) if method == "mean" else {}
        return {"metrics": metrics} | segments
    if method in ("summary", "compare"):
        metrics = ["recall@2", "r_precision", "ndcg", "hit_rate@1"][: int(rng.integers(1, 5))]
        interval = pick(rng, ["auto", "t", "bootstrap", "skewed"])
        given = {"metrics": metrics, "n_resamples": 200, "interval": interval}
        return given | make_segments(rng, frame)
    if method == "curve":
        return {"metric": pick(rng, ["recall", "ndcg", "precision", "average_precision"]), "k": 5}
    if method == "inspect":
        return {"user": pick(rng, list(frame["user"])), "k": k} if "user" in frame else {"k": k}
    return {} if method in ("rank", "judge", "r_precision") else {"k": k}


def make_segments(rng, frame):
    """Return segments and weights of users, as columns or Series, or none."""
    found = {"weights": pick(rng, ["price"], 0.3), "by": pick(rng, ["country", "Series"], 0.4)}
    if found["by"] == "Series":
        ids = frame["user"].unique() if "user" in frame else frame.index.unique()
        found["by"] = pd.Series(np.arange(len(ids)) % 2, index=ids, name="half").rename_axis("user")
    return {name: value for name, value in found.items() if value is not None}


def cut(frame, convert):
    """Return the converted thirds of a frame."""
    third = len(frame) // 3 + 1
    return [convert(frame[at : at + third].reset_index(drop=True)) for at in (0, third, 2 * third)]


def save(frame, write):
    """Write the thirds of a frame as files, and return their folder."""
    for place, part in enumerate(cut(frame, lambda part: part)):
        write(part, f"case/{place}")
    return "case"


def bind(frame, options):
    """Return the accessor of a frame."""
    return frame.rec(**options)


def scan(folder, options):
    """Return the accessor of files that are larger than their memory limit."""
    n_bytes = sum(path.stat().st_size for path in Path(folder).iterdir())
    return recframe.scan(folder, memory=max(12_000, n_bytes // 4))(**options)


# Each entry point converts a frame, and makes its accessor unless it is a function.
ENTRY_POINTS = {
    "pandas": (lambda frame: frame, bind),
    "polars": (pl.from_pandas, bind),
    "polars in chunks": (lambda frame: pl.concat(cut(frame, pl.from_pandas), rechunk=False), bind),
    "polars lazy": (lambda frame: pl.from_pandas(frame).lazy(), bind),
    "arrow": (
        lambda frame: pa.concat_tables(cut(frame, pa.Table.from_pandas)),
        lambda table, options: recframe.rec(table, **options),
    ),
    "dask": (lambda frame: dd.from_pandas(frame, npartitions=3, sort=False), bind),
    "parquet": (
        lambda frame: save(
            frame, lambda part, path: part.to_parquet(f"{path}.parquet", row_group_size=50)
        ),
        scan,
    ),
    "csv": (
        lambda frame: save(frame, lambda part, path: part.to_csv(f"{path}.csv", index=False)),
        scan,
    ),
    "jsonl": (
        lambda frame: save(
            frame, lambda part, path: part.to_json(f"{path}.jsonl", orient="records", lines=True)
        ),
        scan,
    ),
    "function": (lambda frame: frame, None),
    "function of polars": (pl.from_pandas, None),
    "function of files": (
        lambda frame: save(frame, lambda part, path: part.to_parquet(f"{path}.parquet")),
        None,
    ),
}


def converted(frame, convert):
    """Return a converted frame, or None if the other library refuses it."""
    try:
        return convert(frame)
    # Each library raises other errors.
    except Exception:
        return None


def write_runs(frame):
    """Write the files that commands name."""
    rng = np.random.default_rng(1)
    frame.to_parquet("run.parquet")
    frame.to_csv("run.csv", index=False)
    frame.assign(b_score=rng.random(len(frame))).to_parquet("other.parquet")
    truth = frame[["user", "item"]].sample(frac=0.5, random_state=1)
    truth.to_parquet("truth.parquet")
    qrels = truth.assign(iteration=0, grade=rng.integers(-1, 3, len(truth)))
    for name, lines in {
        "truth.qrels": qrels[["user", "iteration", "item", "grade"]],
        **{
            f"{score}.run": frame.assign(q="Q0", place=1)[
                ["user", "q", "item", "place", score, "q"]
            ]
            for score in ("score", "b_score")
        },
    }.items():
        lines.to_csv(name, sep=" ", header=False, index=False)
