"""Is a post in English? Lexicon, segmenter and finder know no other language.

English has its small words everywhere (the, of, to), other languages have theirs. A text of a few
words may go without, so it is also asked whether its words are known: names mostly are not.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

FEWEST = 4  # words: of less there is no telling
SMALL = 0.15  # the share of small words from which on a text is English, whatever the others are
HALF, MOST = 0.5, 0.8  # shares of known words: without small words, beside one of another language
# Small words that other languages hardly write the same way.
ENGLISH = frozenset(
    """
    the and of to for with that this you my are have it at we not your from but they what just our
    is be been has had i'm it's i how who why when where their them she his her will would could
    should about there can get out up than then if or by a in on as so was me an all now new one
    today day happy good back
    """.split()
)
OTHERS = frozenset(
    """
    der das und ist nicht ich ein eine auf mit für von zu den dem wir auch noch aber wie sich bei
    le la les des et est une dans pour pas je vous nous qui sur avec au du mais c'est ce sont
    el los las una por con para es pero como más muy que del al lo se su mi te ya
    os da dos um uma não em com mais foi ele na eu você
    il che di per sono della nel gli anche più questo è non
    het een van ik niet zijn dat voor maar met naar ook wat
    och att det jag inte som på är av till men
    ve bir bu için çok ne yang dan ini itu ada tidak untuk aku ang ng mga ko hai ka ki ke nahi aur
    """.split()
)


def is_english(said: Sequence[str], known: Collection[str]) -> bool:
    """Whether the words of a text are English; `known` are English words."""
    strange = sum(not word.isascii() and any(map(str.isalpha, word)) for word in said)
    if 2 * strange > len(said) > 0:  # another script
        return False
    letters = [word for word in said if word.isalpha()]
    if len(letters) < FEWEST:
        return True
    small, others = (len(some.intersection(letters)) for some in (ENGLISH, OTHERS))
    share = sum(word in known for word in letters) / len(letters)
    if others > small:
        return others == 1 and share >= MOST
    return share >= HALF or small >= SMALL * len(letters)
