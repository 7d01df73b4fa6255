"""Why an observation is impossible: the numbers that ``reading.read`` returns, and their words."""

from typing import Final

from black_maria.cards import NUM_CARDS, card_name

(
    FINE, COUNTS, OVER, TURN, TWICE, SIZE, TRICKS, CAPTURED, PASSED, DIRECTION, NO_DEAL, BROKEN,
    HISTORY, FLAGS,
) = range(14)  # fmt: skip

REFUSALS: Final = {
    COUNTS: "a card or flag is counted {number} times",
    OVER: "the hand is over: nothing is to be done",
    TURN: "the observer isn't to move",
    TWICE: "{card} is seen more often than it is in the pack",
    SIZE: "{number} cards dealt to a seat isn't what these rules deal",
    TRICKS: "the cards played don't make tricks",
    CAPTURED: "the cards captured aren't the ones played",
    PASSED: "the cards passed and received don't fit the rules",
    DIRECTION: "who passes to whom doesn't fit the rules",
    NO_DEAL: "no deal fits the shown voids and the cards passed",
    BROKEN: "hearts_broken doesn't fit the cards played",
    HISTORY: "the history doesn't tell this observation",
    FLAGS: "dealer, position, suit led or phase are contradictory",
}


def refusal_words(refusal: int, what: int, row: int | None = None) -> str:
    """What ``reading.read`` returned, in words.

    Args:
        refusal: One of the numbers above, not ``FINE``.
        what: The card or number that it is about, where there is one.
        row: Which observation of a batch it is.
    """
    card = card_name(what) if 0 <= what < NUM_CARDS else ""
    reason = REFUSALS[refusal].format(card=card, number=what)
    return f"{'' if row is None else f'row {row}: '}impossible observation: {reason}"
