"""Reviews: what each decision of recorded hands gave away, as a table and as a page.

    python -m black_maria_agents.review hands.jsonl --agent champion -o review.html

``review`` and ``review_file`` give the rows, ``page_of`` the page; docs/review.md says how the
numbers are made.
"""

from black_maria_agents.review.explain import comparison, explained
from black_maria_agents.review.page import page_of
from black_maria_agents.review.reviewing import HANDS, WORLDS, Review, review, review_file
from black_maria_agents.review.rows import PHASES, Decision, Option
from black_maria_agents.review.totals import Loss, dearest, losses

__all__ = [
    "HANDS", "PHASES", "WORLDS", "Decision", "Loss", "Option", "Review", "comparison", "dearest",
    "explained", "losses", "page_of", "review", "review_file",
]  # fmt: skip
