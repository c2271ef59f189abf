"""Clean frames as people have them: described column by column, made small and seeded.

Each description has a line for the rows, and perhaps one for truth. A line has the name of each
column and the generator of its values. Columns without a role are features, texts, prices and
times.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd

N_USERS, N_ITEMS = 30, 50
START = pd.Timestamp("2024-03-04 07:00")
WORDS = "the a red large small old quick quiet north river garden paper".split()  # noqa: SIM905 - shorter


class Rows(NamedTuple):
    """The user and item of each row, grouped by user, with facts about the row."""

    user: np.ndarray
    item: np.ndarray
    quality: np.ndarray
    relevant: np.ndarray
    rng: np.random.Generator

    @property
    def n(self):
        """The number of rows."""
        return len(self.user)

    @property
    def rank(self):
        """The position of each row within its user by quality, from 1 on."""
        ranks = pd.Series(self.quality).groupby(self.user).rank(ascending=False, method="first")
        return ranks.astype(int).to_numpy()


def make_rows(seed, length=None):
    """Return rows of users with lists of a length or of various lengths, and rows of truth."""
    rng = np.random.default_rng(seed)
    lengths = np.full(N_USERS, length) if length else rng.integers(8, 15, N_USERS)
    chosen = [rng.choice(N_ITEMS, n_rows, replace=False) for n_rows in lengths]
    user, item = np.arange(N_USERS).repeat(lengths), np.concatenate(chosen)
    relevant = rng.random(len(user)) < 0.25
    quality = 0.4 * relevant + rng.random(len(user))
    never = [np.setdiff1d(np.arange(N_ITEMS), items)[:2] for items in chosen]
    of_truth = np.append(user[relevant], np.arange(N_USERS).repeat(2))
    items = np.append(item[relevant], np.concatenate(never))
    order = np.lexsort((rng.random(len(items)), of_truth))
    all_relevant = np.ones(len(items), bool)
    truth = Rows(of_truth[order], items[order], rng.random(len(items)), all_relevant, rng)
    return Rows(user, item, quality, relevant, rng), truth


def text_of(numbers, n_words, end=""):
    """Return a text of some words for each number, made unique by an end."""
    texts = [" ".join(WORDS[(7 * one + 5 * at) % 12] for at in range(n_words)) for one in numbers]
    return [f"{text} {one}{end}" if end else text for one, text in zip(numbers, texts, strict=True)]


def pick(numbers, *values):
    """Return one of the values for each number."""
    return np.array(values)[np.asarray(numbers) * 7 % 11 % len(values)]


def at(rows, days=20):
    """Return a time for each row."""
    seconds = rows.rng.choice(days * 86_400, rows.n, replace=False)
    return START + pd.to_timedelta(seconds, "s")


GENERATORS = {
    # These columns hold ids.
    "user": lambda rows: rows.user + 1,
    "user0": lambda rows: rows.user,
    "user_text": lambda rows: [f"U{one:05}" for one in rows.user],
    "user_hash": lambda rows: [f"{one * 2654435761 % 2**32:08x}" * 8 for one in rows.user],
    "query": lambda rows: rows.user * 17 + 19_335,
    "query_text": lambda rows: [f"PLAIN-{one * 3 + 2}" for one in rows.user],
    "item": lambda rows: rows.item * 7 + 1,
    "item0": lambda rows: rows.item,
    "item_text": lambda rows: [f"B00{one * 7919:06X}" for one in rows.item],
    "news": lambda rows: [f"N{one * 13 + 4000}" for one in rows.item],
    "article": lambda rows: rows.item * 1001 + 108_775_015,
    "doc": lambda rows: [f"FBIS3-{one + 100}" for one in rows.item],
    "passage": lambda rows: [f"{one}-{one % 4}" for one in rows.item],
    # These columns hold scores and relevance.
    "score": lambda rows: rows.quality,
    "score2": lambda rows: rows.quality + rows.rng.normal(0, 0.1, rows.n),
    "logit": lambda rows: rows.rng.normal(3 * rows.quality - 2, 1),
    "bm25": lambda rows: np.round(12 + 9 * rows.quality, 4),
    "cosine": lambda rows: np.round(rows.quality / 2 + 0.2, 3).astype("float32"),
    "points": lambda rows: (20 * rows.quality).astype(int),
    "relevant": lambda rows: rows.relevant.astype(int),
    "flag": lambda rows: rows.relevant,
    "grade": lambda rows: rows.relevant * rows.rng.integers(1, 4, rows.n),
    "rating": lambda rows: np.clip(np.round(4 * rows.quality + 1.5) / 2 + 1, 0.5, 5),
    "stars": lambda rows: np.clip(np.round(3 * rows.quality + 1), 1, 5).astype(int),
    "one": lambda rows: np.ones(rows.n, int),
    # These columns describe users.
    "country": lambda rows: pick(rows.user, "DE", "FR", "BR", "US", "JP"),
    "device": lambda rows: pick(rows.user, "ios", "android", "web"),
    "gender": lambda rows: pick(rows.user, "F", "M"),
    "age": lambda rows: 18 + rows.user * 7 % 50,
    "arm": lambda rows: np.where(rows.user % 2, "treatment", "control"),
    "fold": lambda rows: rows.user % 5,
    "user_day": lambda rows: START.normalize() + pd.to_timedelta(rows.user % 6, "D"),
    "session": lambda rows: rows.user * 31 + 12_899_779,
    "query_words": lambda rows: text_of(rows.user, 3, "?"),
    "city": lambda rows: pick(rows.user, "Lisboa", "Porto", "Faro"),
    # These columns describe items.
    "title": lambda rows: text_of(rows.item, 2, "!"),
    "text": lambda rows: text_of(rows.item, 12),
    "genre": lambda rows: pick(rows.item, "Drama", "Comedy|Romance", "Action", "Sci-Fi"),
    "brand": lambda rows: pick(rows.item, "acme", "globex", "initech", "umbrella", None),
    "category": lambda rows: rows.item % 9 + 1000,
    "price": lambda rows: np.round(4.99 + rows.item * 3 % 40, 2),
    "year": lambda rows: 1980 + rows.item * 3 % 44,
    "released": lambda rows: START + pd.to_timedelta(-30 * (rows.item % 40), "D"),
    "popularity": lambda rows: 10_000 // (rows.item + 1),
    "language": lambda rows: pick(rows.item, "en", "de", "pt"),
    "url": lambda rows: [f"https://example.org/{one}.html" for one in rows.item],
    "duration": lambda rows: rows.item * 977 % 60_000 + 3_000,
    # These columns describe rows.
    "unix": lambda rows: 1_664_580_000 + rows.rng.choice(10**6, rows.n, replace=False),
    "millis": lambda rows: 1_664_580_000_123 + rows.rng.choice(10**9, rows.n, replace=False),
    "time": at,
    "time_text": lambda rows: at(rows).strftime("%m/%d/%Y %I:%M:%S %p"),
    "hour": lambda rows: rows.rng.integers(0, 24, rows.n),
    "rank": lambda rows: rows.rank,
    "row": lambda rows: np.arange(rows.n),
    "event": lambda rows: [f"{one:032x}" for one in rows.rng.choice(2**60, rows.n)],
    "feature": lambda rows: rows.rng.normal(size=rows.n),
    "share": lambda rows: rows.rng.random(rows.n),
    "count": lambda rows: rows.rng.poisson(3, rows.n),
    "binary": lambda rows: rows.rng.integers(0, 2, rows.n),
    "boolean": lambda rows: rows.rng.random(rows.n) < 0.5,
    "channel": lambda rows: rows.rng.choice(["search", "home", "email", "related"], rows.n),
    "hashed": lambda rows: rows.rng.choice(["68fd1e64", "05db9164", "8cf07265"], rows.n),
    "bid": lambda rows: np.round(rows.rng.lognormal(0, 1, rows.n), 3),
    "seconds": lambda rows: np.round(rows.rng.exponential(20, rows.n), 1),
    "snippet": lambda rows: text_of(rows.user + 3 * rows.item, 9),
    "missing": lambda rows: np.where(rows.rng.random(rows.n) < 0.4, np.nan, rows.quality),
    # These columns are the same in all rows.
    "Q0": lambda rows: ["Q0"] * rows.n,
    "tag": lambda rows: ["bm25-b0.4"] * rows.n,
    "test": lambda rows: ["test"] * rows.n,
    "zero": lambda rows: np.zeros(rows.n, int),
    "day": lambda rows: ["2024-03-04"] * rows.n,
}

GRADED = {"min_relevance": 1}
PADDED = {"short": "pad"}


class Clean(NamedTuple):
    """The columns of rows and of truth, and the options that people must pass."""

    rows: str
    truth: str = ""
    options: Mapping[str, object] = MappingProxyType({})
    length: int | None = None


RATED = {"min_relevance": 4}
CLEAN = {
    "MovieLens 100k": Clean(
        "user_id user, item_id item, rating stars, timestamp unix, prediction score, split test",
        options=RATED,
    ),
    "MovieLens 25M": Clean(
        "userId user, movieId item, rating rating, timestamp unix, title title, genres genre, "
        "prediction score",
        options=RATED,
    ),
    "MovieLens 1M, people": Clean(
        "user user, movie item, relevant relevant, score points, gender gender, age age, "
        "occupation fold, zip_code age, year year"
    ),
    "MovieLens, held out": Clean(
        "userId user, movieId item, score score, title title, genres genre",
        "userId user, movieId item, rating stars, timestamp unix",
        {"min_relevance": 4, **PADDED},
        10,
    ),
    "MovieLens tags": Clean(
        "userId user, movieId item, relevance flag, score score, tag genre, timestamp unix"
    ),
    "OTTO": Clean(
        "session session, aid item0, score score, label relevant, ts millis",
        options={"item": "aid"},
    ),
    "OTTO, held out": Clean(
        "session session, item item0, score logit",
        "session session, item item0, type test, ts millis",
        PADDED,
        20,
    ),
    "OTTO ranker": Clean(
        "session session, item item0, score score, target relevant, n_clicks count, "
        "n_carts count, covisit_rank rank, hours_ago seconds, is_weekend binary"
    ),
    "H&M": Clean(
        "customer_id user_hash, article_id article, score score, label relevant, price price, "
        "sales_channel_id binary, t_dat user_day, product_type_name brand, age age"
    ),
    "H&M, last week": Clean(
        "customer_id user_hash, article_id article, prediction score, "
        "postal_code user_text, garment_group_name genre",
        "customer_id user_hash, article_id article, t_dat day, price price, colour brand",
        PADDED,
        12,
    ),
    "H&M candidates": Clean(
        "customer_id user, article_id article, score score, relevant flag, method_rank rank, "
        "bought_before boolean, days_since missing, price_ratio share, index_code category"
    ),
    "MIND": Clean(
        "impression_id query, news_id news, score score, clicked relevant, category genre, "
        "subcategory category, title title, abstract text"
    ),
    "MIND, users": Clean(
        "impression_id query, user_id user_text, news_id news, score logit, clicked relevant, "
        "time user_day",
        options={"user": "impression_id"},
    ),
    "MIND behaviours": Clean(
        "user_id user_text, news_id news, score cosine, click relevant, url url, entities text"
    ),
    "Yelp": Clean(
        "user_id user_hash, business_id item_text, stars stars, pred score, date time, "
        "text snippet, useful count, funny count, cool count",
        options={"relevant": "stars", **RATED},
    ),
    "Yelp, business": Clean(
        "user_id user_text, business_id item_text, name title, city brand, state language, "
        "review_count popularity, is_open binary, score score, visited flag",
        options={"relevant": "visited"},
    ),
    "KuaiRec": Clean(
        "user_id user0, video_id item0, score score, label relevant, play_duration seconds, "
        "video_duration duration, watch_ratio share, time time, date user_day"
    ),
    "KuaiRand": Clean(
        "user_id user, video_id item, score score, is_click relevant, is_like binary, "
        "is_follow binary, long_view binary, tab hour, hourmin hour, time_ms millis",
        options={"relevant": "is_click"},
    ),
    "KuaiSAR": Clean(
        "user_id user, item_id item, score score, click relevant, search_source channel, "
        "keyword query_words, timestamp millis"
    ),
    "Criteo": Clean(
        "uid user, item_id item, score score, click relevant, cat1 hashed, cat2 hashed, "
        "cat3 brand, cost bid, cpo bid, time_since_last_click missing, timestamp unix"
    ),
    "Criteo display": Clean(
        "user_id user, ad item, score score, label relevant, I1 count, I2 missing, I3 count, "
        "C1 hashed, C2 hashed, C3 brand",
        options={"item": "ad"},
    ),
    "Avazu": Clean(
        "device_id user_hash, ad_id item, pctr score, click flag, hour hour, C1 category, "
        "banner_pos binary, site_category hashed, device_type device, device_conn_type binary",
        options={"user": "device_id", "item": "ad_id", "score": "pctr"},
    ),
    "Outbrain": Clean(
        "display_id query, ad_id item, score score, clicked relevant, uuid user_hash, "
        "platform device, geo_location country, campaign_id category, advertiser_id brand",
        options={"user": "display_id", "item": "ad_id"},
    ),
    "Taobao": Clean(
        "user user, adgroup_id item, score score, clk relevant, cate_id category, price price, "
        "pid hashed, shopping_level fold, time_stamp unix",
        options={"item": "adgroup_id", "relevant": "clk"},
    ),
    "MS MARCO run": Clean(
        "qid query, docid doc, score bm25, rank rank", "qid query, docid doc, rel one", PADDED, 10
    ),
    "MS MARCO passages": Clean(
        "query_id query, passage_id passage, query_text query_words, passage_text text, "
        "score logit, label relevant"
    ),
    "MS MARCO documents": Clean(
        "qid query, docid doc, score score, relevant grade, url url, title title, body text",
        options=GRADED,
    ),
    "TREC run": Clean(
        "qid query, Q0 Q0, docno doc, rank rank, score bm25, tag tag",
        "qid query, iter zero, docno doc, rel grade",
        {"min_relevance": 1, **PADDED},
        10,
    ),
    "TREC product search": Clean(
        "qid query, docid item_text, score score, rel grade, title title, brand brand, "
        "price price, description text",
        options=GRADED,
    ),
    "PyTerrier": Clean(
        "qid query_text, docid item0, docno doc, rank rank, score bm25, query query_words",
        "qid query_text, docno doc, label one",
        {"user": "qid", "item": "docno", **PADDED},
        10,
    ),
    "BEIR": Clean(
        "query-id query_text, corpus-id doc, score cosine",
        "query-id query_text, corpus-id doc, score one",
        {"relevant": "score", **PADDED},
        10,
    ),
    "BEIR reranker": Clean(
        "query_id query_text, corpus_id doc, bm25_score bm25, ce_score logit, relevance relevant, "
        "title title, text text"
    ),
    "LightGBM": Clean(
        "qid query, f0 feature, f1 feature, f2 count, f3 binary, f4 missing, label grade, "
        "pred score",
        options=GRADED,
    ),
    "LightGBM, documents": Clean(
        "query_id query, doc_id doc, label grade, score logit, lgb_leaf count, fold fold",
        options=GRADED,
    ),
    "XGBoost": Clean(
        "qid query, doc item, y relevant, y_pred logit, weight missing, f1 share, f2 share",
        options={"relevant": "y"},
    ),
    "MSLR-WEB30K": Clean(
        "qid query, relevance grade, score score, covered_query_terms count, "
        "stream_length count, is_spam binary, pagerank share, url_clicks popularity",
        options=GRADED,
    ),
    "Istella": Clean(
        "query query, document item, label grade, score score, feature_1 feature, "
        "feature_2 hour, feature_3 boolean",
        options=GRADED,
    ),
    "Kaggle Expedia": Clean(
        "srch_id query, prop_id item, score score, booking_bool relevant, click_bool binary, "
        "position rank, price_usd bid, prop_starrating stars, promotion_flag binary, "
        "visitor_location_country_id country, date_time user_day, srch_length_of_stay fold",
        options={"user": "srch_id", "item": "prop_id", "relevant": "booking_bool"},
    ),
    "Kaggle Santander": Clean(
        "ncodpers user, product item, score score, added flag, renta age, sexo gender, "
        "pais_residencia country, canal_entrada device, fecha_dato day",
        options={"user": "ncodpers", "relevant": "added"},
    ),
    "Kaggle Instacart": Clean(
        "user_id user, product_id item, score score, reordered relevant, aisle_id category, "
        "department genre, add_to_cart_order rank, order_hour_of_day hour, order_dow hour",
        options={"relevant": "reordered"},
    ),
    "Kaggle KKBox": Clean(
        "msno user_hash, song_id item_text, score score, target relevant, "
        "source_system_tab channel, source_type channel, language language, bd age, city city",
        options={"user": "msno"},
    ),
    "Kaggle Home Depot": Clean(
        "id row, search_term query_words, product_uid item, product_title title, "
        "relevance grade, score score",
        options={"user": "search_term", "item": "product_uid", **GRADED},
    ),
    "Amazon reviews": Clean(
        "reviewerID user_text, asin item_text, score score, overall stars, summary snippet, "
        "verified boolean, unixReviewTime unix, brand brand, price price",
        options={"relevant": "overall", **RATED},
    ),
    "Amazon, two models": Clean(
        "user_id user_text, parent_asin item_text, als_score score, bpr_score score2, "
        "relevant relevant, main_category genre, store brand, helpful_vote count",
        options={"item": "parent_asin"},
    ),
    "Last.fm": Clean(
        "user_id user_text, track_id item_text, score score, liked flag, artist_name brand, "
        "listen_count count, country country, signup released, age age"
    ),
    "Steam": Clean(
        "user_id user, game_id item, score score, purchased flag, hours_played seconds, "
        "tags genre, release_date released, price price, early_access boolean"
    ),
    "RetailRocket": Clean(
        "visitorid user, itemid item, score score, purchase relevant, timestamp millis, "
        "categoryid category, available binary, transactionid event",
        options={"relevant": "purchase"},
    ),
    "A/B test": Clean(
        "user_id user, item_id item, score score, clicked relevant, variant arm, "
        "country country, device device, shown_at time, price price"
    ),
    "RAG log": Clean(
        "question_id query_text, chunk_id passage, similarity cosine, is_relevant flag, "
        "question query_words, chunk_text text, source url, lang language, latency_ms seconds"
    ),
    "Click log": Clean(
        "event_id event, request_id query, item_id item, score score, clicked relevant, "
        "position rank, device channel, price bid, event_time time, referrer hashed"
    ),
}


def make_frames(name):
    """Return the frame of a description's rows, and the frame of truth or None."""
    described = CLEAN[name]
    frames = []
    seed = list(CLEAN).index(name)
    of_each = described.rows, described.truth
    for columns, rows in zip(of_each, make_rows(seed, described.length), strict=True):
        named = [one.rsplit(" ", 1) for one in columns.split(", ") if columns]
        made = {label: GENERATORS[generator](rows) for label, generator in named}
        frames.append(pd.DataFrame(made) if columns else None)
    return frames
