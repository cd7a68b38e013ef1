"""Good hashtags: nothing blocked, no slip, no half, nobody's private label, nothing invented."""

import pytest
from harbour import at, past_of, remember, town

from hashnews.errors import ConfigError
from hashnews.suggest.filters import (
    Blocked,
    is_private,
    is_slip,
    is_supported,
    shipped_blocked,
)
from hashnews.suggest.memory import Memory
from hashnews.text.segment import shipped_segmenter

COMMON = [(n / 10, f"u{n % 7}", f"note {n}.\n#Coronavirus #Juneteenth #Police") for n in range(40)]
RARE = [
    (10, "ann", "note.\n#Coronavius"),
    (11, "bob", "note.\n#Juneteen"),
    (12, "cyd", "note.\n#Policy"),
    *[(13 + n, "dan", "note.\n#DanWrites") for n in range(6)],
    *[(13 + n, f"u{n}", "note.\n#PoliceBrutality") for n in range(40)],
]


@pytest.fixture(scope="module")
def past():
    return past_of(Memory(remember(town(COMMON + RARE))), at(100), "ann", "note")


def slips(past, key):
    words = shipped_segmenter().segment(key)
    return is_slip(past, key, words, shipped_segmenter().counts)


def test_a_misspelling_of_a_common_hashtag_is_a_slip(past):
    assert slips(past, "coronavius")
    assert not slips(past, "coronavirus")


def test_another_word_one_letter_off_is_not(past):
    assert not slips(past, "policy")


def test_half_a_word_is_a_slip_and_a_whole_word_is_not(past):
    assert slips(past, "juneteen")
    assert not slips(past, "police")


def test_a_label_of_one_author_is_private_to_others_only(past):
    number = past.memory.tags.get("danwrites")
    assert is_private(past, number)
    assert not is_private(past_of(past.memory, at(100), "dan", "note"), number)
    assert not is_private(past, past.memory.tags.get("police"))


def test_what_is_generated_is_said_or_known_and_likely():
    said, known = {"storm", "harbour"}, {"harbourday"}
    assert is_supported(("harbour", "storm"), -9.0, said, ())
    assert not is_supported(("harbour", "day"), -1.0, said, ())
    assert is_supported(("harbour", "day"), -1.0, said, known)
    assert not is_supported(("harbour", "day"), -4.0, said, known)


def test_blocked_words_block_hashtags_that_hold_them():
    blocked = Blocked(["# why", "ugly", "*vile"])
    assert blocked.holds("uglyday", ("ugly", "day"))
    assert not blocked.holds("snugly", ("snugly",))
    assert blocked.holds("soviletoday", ("so", "vile", "today"))
    assert blocked.holds("xvilex", ("xvilex",))
    assert not blocked.holds("why", ("why",))


def test_the_shipped_list_leaves_plain_words_alone():
    blocked, segment = shipped_blocked(), shipped_segmenter().segment
    for tag in ["Sussex", "Essex", "Assembly", "Classic", "Scunthorpe", "Dickens", "Cockpit",
                "PassTheBill", "Manchester", "LGBTQ", "Pride2020", "SexualAssaultAwarenessMonth",
                "BlackLivesMatter", "Niger", "Nigeria", "Therapist", "Analysis"]:  # fmt: skip
        words = segment(tag)
        assert not blocked.holds("".join(words), words), tag


def test_a_block_list_that_cannot_be_read(tmp_path):
    with pytest.raises(ConfigError, match="block list"):
        Blocked.read(tmp_path / "none.txt")
