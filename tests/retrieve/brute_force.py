"""The paper's retriever over real news: plain loops that remember which names matched.

The formulas of Section 2.1 and Appendix B, with what the paper leaves open decided as in
tests/world/README.md. It shares no code with HashNews: it is here to disagree with it. Over
thousands of articles the loops of tests/world/by_hand.py would take minutes a post; these take
a fraction of a second, because what a name or a token matches is found once and kept.

    force = BruteForce(news, reference, t=0.8)      # news: rows of (id, microseconds, entities)
    force.retrieve(entities, microseconds)          # [(id, score, window), ...]
"""

import bisect
import math

K = 5  # windows
Q = 0.65  # share of an entity's tokens that a strict match needs
A, B = 1.2, 0.75
CAP = 10.0
DAY = 24 * 60 * 60 * 1_000_000


def smith_waterman(x, y):
    """The best local alignment of two tokens: match +2, mismatch -1, gap -1."""
    above, best = [0] * (len(y) + 1), 0
    for a in x:
        row = [0]
        for j, b in enumerate(y):
            cell = max(0, above[j] + (2 if a == b else -1), above[j + 1] - 1, row[j] - 1)
            row.append(cell)
            best = max(best, cell)
        above = row
    return best


def aligns(x, y, t):
    """Whether align(x, y) = SW(x, y) / (2 max(|x|, |y|)) >= t.

    Each matched letter gives 2 and nothing else gives anything, so SW is at most twice the letters
    of x that y has at all: pairs that fail this are not worth a table.
    """
    longer = max(len(x), len(y))
    if min(len(x), len(y)) / longer < t or sum(map(y.__contains__, x)) / longer < t:
        return False
    return smith_waterman(x, y) / (2 * longer) >= t


def tokens_of(name):
    return tuple(name.lower().split())


class BruteForce:
    """Retrieval for posts, in any order, over articles kept in order of time."""

    def __init__(self, news, reference, t, ranking="tp"):
        self.t = t
        self.ranking = ranking
        self.news = sorted(
            (moment, identity, self._mentions(entities)) for identity, moment, entities in news
        )
        self.times = [moment for moment, _, _ in self.news]
        self.reference = [self._mentions(entities) for _, _, entities in reference]
        everything = [*(mentions for _, _, mentions in self.news), *self.reference]
        self.naming = {}  # token -> the names that hold it
        for name in {name for mentions in everything for name in mentions}:
            for token in set(name):
                self.naming.setdefault(token, []).append(name)
        self.of_length = {}  # tokens of one length
        for token in self.naming:
            self.of_length.setdefault(len(token), []).append(token)
        self._aligned, self._matches, self._pairs = {}, {}, {}
        self._soft, self._holding = {}, {}

    @staticmethod
    def _mentions(entities):
        return [tokens for tokens in map(tokens_of, entities) if tokens]

    # Appendix B: entities that match

    def aligned(self, x):
        """The tokens of all names that align with a token."""
        if x not in self._aligned:
            near = [n for n in self.of_length if min(n, len(x)) / max(n, len(x)) >= self.t]
            self._aligned[x] = {y for n in near for y in self.of_length[n] if aligns(x, y, self.t)}
        return self._aligned[x]

    def strict(self, e, other):
        """Definition 1: at least q of the tokens of `e` align with a token of `other`."""
        found = [x for x in e if not self.aligned(x).isdisjoint(other)]
        return len(found) / len(e) >= Q

    def matches(self, e):
        """All names that an entity strictly matches."""
        if e not in self._matches:
            any_token = {name for x in e for y in self.aligned(x) for name in self.naming[y]}
            self._matches[e] = {name for name in any_token if self.strict(e, name)}
        return self._matches[e]

    def soft(self, e, at):
        """|M^soft|: mentions that strictly match a mention in M^strict, itself included."""
        if (e, at) not in self._soft:
            mentions = self.news[at][2]
            full = [mention for mention in mentions if mention in self.matches(e)]
            part = [m for m in mentions if any(self._strict_pair(m, f) for f in full)]
            self._soft[e, at] = len(part)
        return self._soft[e, at]

    def _strict_pair(self, e, other):
        """`strict` again, of two names of the news: their tokens alone are compared."""
        if (e, other) not in self._pairs:
            found = [x for x in e if any(aligns(x, y, self.t) for y in other)]
            self._pairs[e, other] = len(found) / len(e) >= Q
        return self._pairs[e, other]

    # Section 2.1: windows, temporal popularity, ranking

    def holding(self, e):
        """Articles of R with a strict match; absent from R counts as once there."""
        if e not in self._holding:
            matches = self.matches(e)
            n = sum(1 for mentions in self.reference if not matches.isdisjoint(mentions))
            self._holding[e] = max(1, n)
        return self._holding[e]

    def weight(self, e, size, n):
        """TP(e, D_i) = IDF(e, R) / IDF(e, D_i), at most 10; or IDF(e, D_i) for plain BM25."""
        rarity = math.log((size + 1) / (n + 0.5))
        if self.ranking != "tp":
            return rarity
        usual = math.log((len(self.reference) + 1) / (self.holding(e) + 0.5))
        return min(CAP, usual / rarity)

    def retrieve(self, entities, moment):
        """The best article of each window that no smaller window took, if any matches."""
        asked = list(dict.fromkeys(self._mentions(entities)))
        end = bisect.bisect_left(self.times, moment)
        begins = [
            bisect.bisect_left(self.times, (moment // DAY - i) * DAY) for i in range(1, K + 1)
        ]
        matched = {}  # article -> for each entity |M^soft|, over the largest window
        for e in asked:
            matches = self.matches(e)
            for at in range(begins[-1], end):
                if not matches.isdisjoint(self.news[at][2]):
                    matched.setdefault(at, {})[e] = self.soft(e, at)
        picks, taken = [], set()
        for i, begin in enumerate(begins, 1):
            inside = {at: f for at, f in matched.items() if at >= begin}
            size = end - begin
            lengths = [len(self.news[at][2]) for at in range(begin, end)]
            mean = sum(lengths) / size if size else 0.0
            weights = {}
            for e in asked:
                n = sum(1 for f in inside.values() if e in f)
                weights[e] = self.weight(e, size, n) if n else 0.0
            rows = []
            for at, f in inside.items():
                published, identity, mentions = self.news[at]
                score = 0.0
                for e in asked:
                    if e in f:
                        length = len(mentions) / mean
                        score += weights[e] * f[e] * (A + 1) / (f[e] + A * (1 - B + B * length))
                if identity not in taken:
                    rows.append((-score, -published, identity))
            if rows:  # by score, then the later one, then the smaller id
                score, _, identity = min(rows)
                taken.add(identity)
                picks.append((identity, -score, i))
        return picks
