"""The review page in a real browser: stepped through by keys, at three widths."""

import pytest

from black_maria.render import Scene
from black_maria_agents.page import state_of
from black_maria_agents.review import page_of, review
from browser import WIDTHS, started
from test_review import MARKUP, marked, played

RIGHT, LEFT, DOWN = "\ue014", "\ue012", "\ue015"
HOME, END, PAGE_UP, PAGE_DOWN = "\ue011", "\ue010", "\ue00e", "\ue00f"


@pytest.fixture(scope="module")
def browser():
    with started() as found:
        yield found


@pytest.fixture(scope="module")
def found():
    return review(played(("champion", "duck", "heuristic"), 2, seed=9), worlds=1)


@pytest.fixture
def address(browser, found, tmp_path):
    """The review's address; it is opened."""
    path = tmp_path / "review.html"
    path.write_text(page_of(found, "hands.jsonl"), encoding="utf-8")
    browser.errors(), browser.asked()
    browser.open("about:blank")
    browser.open(path.as_uri(), 1440)
    return path.as_uri()


def place(browser):
    """The hand and the ply that are shown."""
    data = browser.script("return {...document.body.dataset}")
    return int(data["hand"]), int(data["ply"])


def texts(browser, css):
    return browser.script(
        "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)", css
    )


def test_page__to_the_end_by_keys_its_totals_are_the_records(browser, address, found):
    for number, reviewed in enumerate(found.hands):
        plies = len(reviewed.hand.actions())
        assert place(browser) == (number, 0)
        browser.keys(RIGHT * (plies - 1))
        assert place(browser) == (number, plies - 1)
        browser.keys(RIGHT * 2)  # no further than the end
        assert place(browser) == (number, plies)
        assert texts(browser, ".points .final") == [str(p) for p in reviewed.hand.penalties]
        browser.keys(PAGE_DOWN)
    browser.keys(HOME, PAGE_UP, LEFT)
    assert place(browser) == (0, 0)
    browser.keys(END, LEFT)
    assert place(browser) == (0, plies - 1)
    assert browser.errors() == []
    assert {asked.partition("#")[0] for asked in browser.asked()} <= {address, "about:blank"}


def test_page__goes_from_one_dear_decision_to_the_next(browser, address, found):
    dear = [(row.hand, row.ply) for row in found.decisions if row.dear]
    for where in [*dear[:2], dear[2]]:
        browser.keys("d")
        assert place(browser) == where
    browser.all(".top .dearest")[0].click()
    most = max((row for row in found.decisions if row.dear), key=lambda row: row.regret)
    assert place(browser) == (most.hand, most.ply)
    assert texts(browser, ".top .price")[0] == f"{most.regret:.1f}"
    assert len(browser.all(".panel .options .best")) == 1


def test_page__nothing_overflows(browser, address):
    for pressed in ("", DOWN * 6, "d", END):
        browser.keys(pressed)
        for width in WIDTHS:
            assert browser.overflowing(width) == [], (pressed, width)


def test_page__a_seat_sees_what_the_environment_shows_it(browser, address, found):
    hand = found.hands[0].hand
    seen = browser.script(
        "const all = [];"
        "for (let k = 0; k <= arguments[0]; k++) for (let seat = 0; seat < 3; seat++)"
        "    all.push(blackMariaReview.seenBy(k, seat));"
        "return all;",
        len(hand.actions()),
    )
    wanted = [
        state_of(Scene.of(state, hand.rules, seat), hand.agents)
        for state in (each.copy() for each in hand.steps())
        for seat in range(3)
    ]
    for one, other in zip(seen, wanted, strict=True):
        assert {key: one[key] for key in other} == other
    row, other = (next(r for r in found.decisions if r.trick and r.seat == k) for k in (1, 2))
    browser.script(
        "const views = document.querySelectorAll('.tools select')[1];"
        "views.value = 1; views.dispatchEvent(new Event('change'));"
    )
    for decision, options in ((row, 1), (other, 0)):
        browser.script("location.hash = `#1.${arguments[0]}`", decision.ply)
        browser.wait(lambda: place(browser) == (0, decision.ply))  # noqa: B023
        assert len(browser.all(".panel .options")) == options


def test_page__shows_markup_as_the_text_that_it_is(browser, found, tmp_path):
    path = tmp_path / "review.html"
    path.write_text(page_of(marked(found), MARKUP), encoding="utf-8")
    browser.open(path.as_uri())
    browser.errors()
    browser.keys(RIGHT, "d", END)
    assert browser.all("img") == []
    assert browser.driver.title == f"Review of {MARKUP}"
    assert MARKUP in texts(browser, ".bm-name")
    assert f"line 1: {MARKUP}" in texts(browser, ".damages li")
    assert browser.errors() == []
    browser.script("document.body.insertAdjacentHTML('beforeend', arguments[0])", MARKUP)
    assert any("Content Security Policy" in said for said in browser.errors()), "nor could it run"
