"""The paper's retriever in plain loops, over the tiny world beside this file.

    python by_hand.py            says whether expected.json agrees with the inputs
    python by_hand.py --write    writes expected.json anew

Every function is one formula of Section 2.1, Eq. 1 or Appendix B, with what the paper leaves open
decided as in README.md. It shares no code with HashNews: it is here to disagree with it.
"""

import json
import math
import re
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path

HERE = Path(__file__).parent
K = 5  # windows
Q = 0.65  # share of an entity's tokens that a strict match needs
A, B = 1.2, 0.75
CAP = 10.0
RUNS = {"tp": ("tp", 1.0), "bm25": ("bm25", 1.0), "tp_0.8": ("tp", 0.8)}  # ranking and t


def read(name):
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


def published(article):
    """The time of an article; a bare day counts as its last microsecond."""
    written = article["published_at"]
    if len(written) == len("2031-03-11"):
        written += "T23:59:59.999999Z"
    return datetime.fromisoformat(written)


# Appendix B: entities that match


def smith_waterman(x, y):
    """The best local alignment of two tokens: match +2, mismatch -1, gap -1."""
    table = [[0] * (len(y) + 1) for _ in range(len(x) + 1)]
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            table[i][j] = max(
                0,
                table[i - 1][j - 1] + (2 if x[i - 1] == y[j - 1] else -1),
                table[i - 1][j] - 1,
                table[i][j - 1] - 1,
            )
    return max(max(row) for row in table)


def align(x, y):
    return smith_waterman(x, y) / (2 * max(len(x), len(y)))


def strict(e, other, t):
    """Definition 1: at least q of the tokens of `e` align with a token of `other`."""
    tokens = e.lower().split()
    found = [x for x in tokens if any(align(x, y) >= t for y in other.lower().split())]
    return len(found) / len(tokens) >= Q


def m_strict(e, d, t):
    return [mention for mention in d["entities"] if strict(e, mention, t)]


def m_soft(e, d, t):
    """Definition 2: the mentions that strictly match a mention in M^strict, itself included."""
    full = m_strict(e, d, t)
    return [mention for mention in d["entities"] if any(strict(mention, f, t) for f in full)]


# Section 2.1: windows, temporal popularity, ranking


def window(post, news, i):
    """D_i: from 00:00 UTC of day t-i up to the post's own time, which is left out."""
    now = datetime.fromisoformat(post["created_at"]).astimezone(UTC)
    start = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=i)
    return [d for d in news if start <= published(d) < now]


def holding(e, corpus, t):
    """n: how many articles hold a strict match of the entity."""
    return sum(1 for d in corpus if m_strict(e, d, t))


def idf(size, n):
    return math.log((size + 1) / (n + 0.5))


def popularity(e, corpus, reference, t):
    """TP(e, D_i) = IDF(e, R) / IDF(e, D_i), at most 10; absent from R counts as once there."""
    usual = idf(len(reference), max(1, holding(e, reference, t)))
    return min(CAP, usual / idf(len(corpus), holding(e, corpus, t)))


def mean_length(corpus):
    return sum(len(d["entities"]) for d in corpus) / len(corpus) if corpus else 0.0


def distinct(post):
    return list(dict.fromkeys(e.lower() for e in post["entities"]))


def score(post, d, corpus, weights, t):
    """s(p, d | D_i), with one weight an entity: TP, or IDF for plain BM25."""
    total = 0.0
    for e in distinct(post):
        f = len(m_soft(e, d, t))
        if f > 0:
            length = len(d["entities"]) / mean_length(corpus)
            total += weights[e] * f * (A + 1) / (f + A * (1 - B + B * length))
    return total


def scored(post, news, reference, ranking, t):
    """The articles of each window with their scores."""
    for i in range(1, K + 1):
        corpus = window(post, news, i)
        weights = {
            e: popularity(e, corpus, reference, t)
            if ranking == "tp"
            else idf(len(corpus), holding(e, corpus, t))
            for e in distinct(post)
        }
        yield [(score(post, d, corpus, weights, t), d) for d in corpus]


def retrieve(post, news, reference, ranking, t):
    """The best article of each window that no smaller window took, if any matches."""
    picks, taken = [], set()
    for i, articles in enumerate(scored(post, news, reference, ranking, t), 1):
        best = None
        for s, d in articles:
            if s > 0 and d["id"] not in taken and (best is None or before(s, d, *best)):
                best = (s, d)
        if best:
            taken.add(best[1]["id"])
            picks.append({"id": best[1]["id"], "score": best[0], "window": i})
    return picks


def is_close(post, news, reference, ranking, t):
    """Whether two articles that differ in what is counted have the same score but for rounding.

    Three mentions of five score like one of one where the mean is three: which of them goes first
    depends on the order of the operations.
    """

    def counted(d):
        return [len(m_soft(e, d, t)) for e in distinct(post)], len(d["entities"])

    return any(
        abs(s - other_s) < 1e-9 and counted(d) != counted(other)
        for articles in scored(post, news, reference, ranking, t)
        for (s, d), (other_s, other) in combinations([row for row in articles if row[0] > 0], 2)
    )


def before(s, d, other_s, other):
    """Whether an article goes first: by score, then the later one, then the smaller id."""
    if s != other_s:
        return s > other_s
    if published(d) != published(other):
        return published(d) > published(other)
    return d["id"] < other["id"]


def context(picks, news):
    """Eq. 1: w_t = sum over i of s(p, h_i | D_i) freq(t, h_i), for all words, stop words too.

    The texts of this world are so plain that a word is a run of letters.
    """
    weights = {}
    for pick in picks:
        d = next(d for d in news if d["id"] == pick["id"])
        counts = Counter(re.findall("[a-z]+", (d["title"] + "\n" + d["text"]).lower()))
        for word, frequency in counts.items():
            weights[word] = weights.get(word, 0.0) + pick["score"] * frequency
    return dict(sorted(weights.items(), key=lambda item: (-item[1], item[0])))


def expected():
    news, reference = read("news.jsonl"), read("reference.jsonl")
    posts = {}
    for post in read("posts.jsonl"):
        windows = [window(post, news, i) for i in range(1, K + 1)]
        result = {"N": [len(w) for w in windows], "mean_length": [mean_length(w) for w in windows]}
        for name, (ranking, t) in RUNS.items():
            picks = retrieve(post, news, reference, ranking, t)
            result[name] = {"picks": picks, "words": context(picks, news)}
            if ranking == "tp":
                for e in distinct(post):
                    result[name].setdefault("entities", {})[e] = {
                        "n_reference": holding(e, reference, t),
                        "n": [holding(e, w, t) for w in windows],
                        "popularity": [popularity(e, w, reference, t) for w in windows],
                    }
        posts[post["id"]] = result
    return posts


def leaves(value, path=()):
    """All numbers and names of nested lists and dicts, each under the way to it."""
    if not isinstance(value, dict | list):
        return {path: value}
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    found = {path: len(value)}
    for key, item in pairs:
        found |= leaves(item, (*path, key))
    return found


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return round(value, 12) if isinstance(value, float) else value


def main():
    file = HERE / "expected.json"
    if "--write" in sys.argv:
        file.write_text(json.dumps(rounded(expected()), indent=1) + "\n", "utf-8")
    ours, theirs = leaves(expected()), leaves(json.loads(file.read_text("utf-8")))
    wrong = []
    for path in sorted(ours.keys() | theirs.keys(), key=str):
        x, y = ours.get(path), theirs.get(path)
        close = isinstance(x, float) and isinstance(y, float) and abs(x - y) <= 1e-11
        if x != y and not close:
            wrong.append(f"{' > '.join(map(str, path))}: the file says {y}, the formulas {x}")
    sys.stdout.write("\n".join(wrong or ["expected.json agrees"]) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
