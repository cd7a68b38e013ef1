"""A small world for the generator: few words, small sizes."""

from hashnews.generate.batch import Example, Numberer
from hashnews.generate.config import GeneratorConfig
from hashnews.generate.vocabulary import HASHTAG_SIGNS, SOURCE_SIGNS, Vocabulary

SIZES = {"embedding": 6, "hidden": 8, "beam": 4, "hashtag_words": 4}
SOURCE = "eid mubarak to all my friends covid rules goals bayern stands game again park".split()
HASHTAG = "eid covid 19 bayern bundesliga friends".split()

EXAMPLES = [
    Example(tuple("eid mubarak to all my friends".split()), ("eid", "covid"), (3.0, 1.0),
            (("eid",), ("eid", "friends"))),
    Example(tuple("goals again bayern".split()), tuple("bayern game stands goals park".split()),
            (5.0, 4.0, 2.0, 1.0, 0.5), (("bayern",), ("bundesliga",))),
    Example(("rules",), ("covid",), (2.0,), (("covid", "19"),)),
    Example(("zzz", "yyy", "friends", "zzz"), ("xxx", "covid"), (1.0, 1.0), (("friends",),)),
]  # fmt: skip
ODD = [
    Example((), ("covid",), (1.0,)),
    Example(("rules",), (), ()),
    Example((), (), ()),
    Example(("qqq", "rrr"), ("sss",), (1.0,)),
    Example(("rules",), ("covid", "game"), (0.0, 0.0)),
]


def small_config(variant="hashnews", **changes):
    return GeneratorConfig(variant=variant, **(SIZES | changes))


def small_numberer(config):
    return Numberer(
        config,
        Vocabulary(SOURCE_SIGNS, SOURCE, [1] * len(SOURCE)),
        Vocabulary(HASHTAG_SIGNS, HASHTAG, [1] * len(HASHTAG)),
    )
