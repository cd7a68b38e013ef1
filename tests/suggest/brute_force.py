"""What the memory says to a post, computed the plain way from lists of posts: an oracle."""

import math
from collections import Counter, defaultdict

from hashnews.text.terms import terms

DAY = 86_400_000_000
SOON = DAY // 288  # five minutes


def half(age, half_life):
    return 2.0 ** (-age / half_life)


def uses_of(post):
    """The hashtags of a post, each with whether it is inline."""
    return [*((tag.key, False) for tag in post.hashtags), *((tag.key, True) for tag in post.inline)]


class World:
    """Posts as one post sees them; ids break no ties, so moments should differ."""

    def __init__(self, posts, moment, user, text, until=None, days=None):
        closed = moment if until is None else min(moment, until)
        ordered = sorted(posts, key=lambda post: post.posted)
        known = user is not None and any(p.user == user for p in ordered)
        if days is not None:
            past = [p.posted for p in ordered if p.posted < min(moment - SOON + 1, closed)]
            own = [p.posted for p in ordered if known and p.user == user and p.posted < closed]
            newest = min([moment, *(max(times) for times in (past, own) if times)])
            ordered = [p for p in ordered if p.posted >= newest - int(days * DAY)]
        self.moment, self.user = moment, user
        self.past = [p for p in ordered if p.posted < min(moment - SOON + 1, closed)]
        self.own = [p for p in ordered if p.user == user and p.posted < closed] if known else []
        self.seen = [p for p in ordered if p in self.past or p in self.own]
        self.similar = self._similarities(set(terms(text).tolist()))

    def age(self, post):
        return (self.moment - post.posted) / DAY

    def idf(self, count):
        return math.log((len(self.past) + 1) / (count + 0.5))

    def _similarities(self, asked):
        said = {post.id: set(terms(post.body).tolist()) for post in self.seen}
        counts = Counter(term for post in self.past for term in said[post.id])
        weight = {term: self.idf(counts[term]) ** 2 for term in asked if counts[term]}
        total = sum(weight.values())
        similar = {}
        for post in self.seen:
            shared = sum(value for term, value in weight.items() if term in said[post.id])
            if shared:
                length = math.sqrt(len(weight) / max(1, len(said[post.id])))
                similar[post.id] = shared * length / total
        return similar

    def neighbours(self):
        near = [post for post in self.seen if post.id in self.similar]
        near.sort(key=lambda p: (-self.similar[p.id] * half(self.age(p), 60), -p.posted))
        columns = defaultdict(lambda: dict.fromkeys(
            ("neighbours", "neighbours_inline", "nearest", "neighbour_rank", "neighbour_count",
             "fresh", "lately"), 0.0))  # fmt: skip
        for rank, post in enumerate(near[:100]):
            likeness, age = self.similar[post.id], self.age(post)
            for key, inline in uses_of(post):
                row = columns[key]
                row["neighbours_inline" if inline else "neighbours"] += likeness**2 * half(age, 14)
                row["nearest"] = max(row["nearest"], likeness)
                row["neighbour_rank"] = max(row["neighbour_rank"], 1 / (1 + rank))
                if post not in self.own:
                    row["neighbour_count"] += 1
                    row["fresh"] = max(row["fresh"], likeness * half(age, 2))
                    row["lately"] += likeness**2 * half(age, 0.125)
        return columns

    def author(self):
        columns = defaultdict(lambda: dict.fromkeys(
            ("own", "own_inline", "own_week", "own_season", "own_latest", "own_last_five",
             "own_nearest", "own_similar", "own_last"), 0.0))  # fmt: skip
        for at, post in enumerate(self.own):
            age, likeness = self.age(post), self.similar.get(post.id, 0.0)
            for key, inline in uses_of(post):
                row = columns[key]
                row["own_inline" if inline else "own"] += 1
                row["own_week"] += half(age, 4)
                row["own_season"] += half(age, 40)
                row["own_latest"] = 1 / (1 + 24 * age)
                row["own_last_five"] += at >= len(self.own) - 5
                row["own_last"] = max(row["own_last"], float(at == len(self.own) - 1))
                row["own_nearest"] = max(row["own_nearest"], likeness)
                row["own_similar"] += likeness**2
        return columns

    def recent(self):
        spans = {
            "hour": 1 / 24, "six_hours": 0.25, "day": 1, "three_days": 3, "week": 7, "month": 28,
        }  # fmt: skip
        columns = defaultdict(lambda: dict.fromkeys((*spans, "week_inline", "hour_share"), 0.0))
        for post in self.past:
            for key, inline in uses_of(post):
                if self.age(post) > 28:
                    continue
                if inline:
                    columns[key]["week_inline"] += self.age(post) <= 7
                else:
                    for name, days in spans.items():
                        columns[key][name] += self.age(post) <= days
        all_uses = sum(row["hour"] for row in columns.values())
        for row in columns.values():
            row["hour_share"] = row["hour"] / max(1, all_uses)
        return columns

    def statistics(self, key):
        uses = [(p, inline) for p in self.past for used, inline in uses_of(p) if used == key]
        if not uses:
            return {"uses": 0, "last_use": 1000.0, "first_use": 1000.0}
        ages = [self.age(post) for post, _ in uses]
        near = sorted((self.similar.get(post.id, 0.0) for post, _ in uses), reverse=True)
        same = [abs((age + 3.5) % 7 - 3.5) < 0.5 for age in ages]
        return {
            "uses": len(uses),
            "trailing_share": sum(not inline for _, inline in uses) / len(uses),
            "users": len({post.user for post, _ in uses}),
            "users_share": len({post.user for post, _ in uses}) / len(uses),
            "last_use": min(ages),
            "first_use": max(ages),
            "weekly": sum(same) / len(uses),
            "weeks_ago": sum(hit and age > 1 for hit, age in zip(same, ages, strict=True)),
            "centre": sum(near) / len(uses),
            "nearest_three": sum(near[:3]) / 3,
            "own_share": sum(p.user == self.user is not None for p, _ in uses) / len(uses)
            if self.own
            else 0.0,
        }
