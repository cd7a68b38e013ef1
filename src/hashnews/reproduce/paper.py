"""What the paper prints and claims, to stand beside what we measure."""

from __future__ import annotations

from typing import NamedTuple

COLUMNS = ("F1@1", "F1@5", "F1@10", "ACC", "MAP", "RG-1")
TABLE_1 = {
    "Tweets2018": (35966, 19635, 2.70, 1.78, 40.48, 21.43, 9.49),
    "Tweets2020": (27418, 14687, 2.24, 1.02, 47.47, 18.81, 11.79),
}
TABLE_2 = {
    "Tweets2018": {
        "seq2seq": (7.17, 9.95, 8.14, 13.13, 6.41, 8.33),
        "seq2seq-copy": (7.97, 11.13, 8.92, 14.51, 7.21, 9.18),
        "lstm-top": (10.18, 14.03, 11.36, 18.65, 8.36, 8.92),
        "hashnews": (11.51, 15.16, 12.08, 21.11, 10.96, 13.36),
        "hashnews-norank": (10.93, 14.50, 11.65, 20.02, 10.20, 12.69),
        "hashnews-norank-nolocal": (10.50, 14.21, 11.68, 19.24, 9.52, 12.21),
    },
    "Tweets2020": {
        "seq2seq": (6.18, 6.82, 5.23, 9.92, 5.25, 9.33),
        "seq2seq-copy": (6.81, 7.45, 5.69, 10.73, 5.64, 9.67),
        "lstm-top": (9.65, 10.95, 8.39, 15.51, 8.99, 10.51),
        "hashnews": (10.59, 10.90, 8.08, 17.00, 9.84, 14.77),
        "hashnews-norank": (9.26, 9.82, 7.49, 14.92, 8.48, 13.05),
        "hashnews-norank-nolocal": (9.20, 9.47, 7.27, 14.78, 8.40, 12.98),
    },
}
LABELS = {
    "seq2seq": "Seq2Seq",
    "seq2seq-copy": "Seq2Seq+Copy",
    "lstm-top": "LSTM-TOP",
    "hashnews": "HashNews",
    "hashnews-norank": "HashNews-NoRank",
    "hashnews-norank-nolocal": "HashNews-NoRankNoLocal",
}


class Claim(NamedTuple):
    """One model is better than another."""

    says: str
    first: str
    second: str


CLAIMS = (
    Claim("news helps", "hashnews", "seq2seq"),
    Claim("news helps more than copying", "hashnews", "seq2seq-copy"),
    Claim("the time-aware ranking helps", "hashnews", "hashnews-norank"),
    Claim("the local weights help", "hashnews-norank", "hashnews-norank-nolocal"),
    Claim("generating is better than choosing by topic", "hashnews", "lstm-top"),
)
# What mends it: contexts of a retriever that finds more.
MENDS = (
    Claim("the better retriever helps", "hashnews@best", "hashnews"),
    Claim("and then news helps", "hashnews@best", "seq2seq"),
    Claim("and news helps what copies", "hashnews-copy@best", "seq2seq-copy"),
)
# The paper compares with none of these; a real gain must.
BEYOND = (
    Claim("better than the most frequent hashtags", "hashnews", "most-frequent"),
    Claim("better than the hashtags of late", "hashnews", "recent"),
    Claim("better than the hashtags of similar posts", "hashnews", "neighbours"),
    Claim("better than the author's own hashtags", "hashnews", "author"),
    Claim("better than similar posts and author", "hashnews", "neighbours-author"),
    *MENDS,
)
