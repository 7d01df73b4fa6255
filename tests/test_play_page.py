"""A hand played in a real browser, by clicks and keys."""

import os
import re
import threading
from pathlib import Path

import pytest

from black_maria import Rules, make_bot, record
from black_maria_agents.loading import load_agent
from black_maria_agents.play import Game, PlayServer
from black_maria_agents.play.__main__ import Recorder
from black_maria_agents.play.game import NEXT, PASS, PLAY
from browser import WIDTHS, started

SHOTS = os.environ.get("SCREENSHOTS")
"""A folder for pictures of the page; docs/play.png is one."""


@pytest.fixture(scope="module")
def browser():
    with started() as found:
        yield found


@pytest.fixture
def table(browser, tmp_path):
    """A function that opens a page of a game; gives the game and its server."""
    servers = []

    def opened(name="three_player", seats=None, **options):
        rules = Rules.profile(name, seats)
        duck = make_bot("duck", rules)
        options = {
            "seed": 4,
            "advisor": duck,
            "on_hand": Recorder(tmp_path / "hands.jsonl"),
        } | options
        game = Game(rules, options.pop("opponents", [duck]), **options)
        server = PlayServer(game, review=lambda hand: "<p>a review")
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        browser.errors(), browser.asked()
        browser.open(server.address)
        ready(browser, game)
        return game, server

    yield opened
    for server in servers:
        server.shutdown()
        server.server_close()
    assert browser.errors() == []
    addresses = browser.asked()
    assert addresses
    assert [each for each in addresses if not each.startswith(servers[-1].address)] == []


LEGAL, ACT = "#table button.bm-legal", "#act"


def ready(browser, game):
    """Wait until the page shows what is to be done now; a click on the table hurries it.

    While a wish is under way the page shows the decision before, and takes neither clicks nor keys.
    """

    def done():
        if browser.script("return document.body.classList.contains('busy')"):
            return False
        browser.script("document.getElementById('table').click()")
        task = "legal" if game.task in (PASS, PLAY) else "act"
        return (
            len(browser.all(LEGAL)) > 0 if task == "legal" else browser.all(ACT)[0].is_displayed()
        )

    browser.wait(done)


def click(browser, css, place=0):
    browser.script("arguments[0].click()", browser.all(css)[place])


def choose(browser, game, place=0):
    """Click a card, or three and the button, and wait for the others."""
    number = game.number
    for k in range(game.to_pass or 1):
        click(browser, LEGAL, place + k)
    if game.task == PASS:
        click(browser, ACT)
    browser.wait(lambda: game.number > number)
    ready(browser, game)


def look(browser, name):
    """See that nothing overflows at any width; keep pictures where that is asked for."""
    for width in WIDTHS:
        assert browser.overflowing(width) == [], f"{name} at {width} pixels"
        if SHOTS:
            browser.driver.save_screenshot(str(Path(SHOTS) / f"{name}-{width}.png"))


def test_page__a_whole_hand_by_clicks_has_the_points_of_its_record(browser, table, tmp_path):
    game, _ = table(opponents=[load_agent("champion")], advisor=load_agent("champion"))
    assert "Choose 3 cards for champion (seat 2)" in browser.text("#message")
    click(browser, "#ask")
    browser.wait(lambda: browser.all("#advice .chance"))
    look(browser, "pass")
    choose(browser, game, 3)
    assert "you have" in browser.text("#message")
    for trick in range(17):
        if trick == 8:
            click(browser, "#ask")
            browser.wait(lambda: browser.all("#advice .chance"))
            look(browser, "trick")
        choose(browser, game)
    (hand,), damages = record.read(tmp_path / "hands.jsonl")
    assert damages == []
    plates = [int(place.text) for place in browser.all(".bm-points b")]
    assert sorted(plates) == sorted(hand.penalties)
    row = [cell.text for cell in browser.all("#sheet tbody td")]
    assert row == ["1", *map(str, hand.penalties)]
    points = [int(each) for each in re.findall(r" (\d+)[,.]", browser.text("#message"))]
    assert points == list(hand.penalties)
    look(browser, "over")
    assert browser.all("#review")[0].get_attribute("href").endswith("/review")
    click(browser, ACT)
    browser.wait(lambda: game.task != NEXT)
    ready(browser, game)
    assert "hand 2" in browser.text("#about")


def test_page__wrong_and_double_clicks_change_nothing(browser, table):
    game, _ = table()
    for place in (0, 1, 2, 3):  # a fourth card, and one taken back
        click(browser, LEGAL, place)
    assert "That would be 4" in browser.text("#message")
    assert browser.all(ACT)[0].is_enabled()
    click(browser, LEGAL, 1)
    assert not browser.all(ACT)[0].is_enabled()
    assert game.task == PASS
    click(browser, LEGAL, 1)
    browser.script(
        "const act = document.querySelector('#act'); act.click(); act.click(); act.click()"
    )
    browser.wait(lambda: game.task == PLAY)
    ready(browser, game)
    while not browser.all("#table button.bm-illegal"):
        choose(browser, game)
    number = game.number
    click(browser, "#table button.bm-illegal")
    browser.wait(lambda: "you must follow suit" in browser.text("#message"))
    assert game.number == number
    held = len(game.frames[-1].places[0].holding.known)
    browser.script(
        "const cards = [...document.querySelectorAll('#table button.bm-legal')];"
        "cards.concat(cards).forEach(card => card.click())"
    )
    browser.wait(lambda: game.number > number)
    ready(browser, game)
    assert len(game.frames[-1].places[0].holding.known) == held - 1
    # the refused wishes are seen by the console as failed requests: that is what they are
    assert all("422" in message for message in browser.errors())


def test_page__an_old_page_is_told_that_the_table_has_moved_on(browser, table):
    game, _ = table()
    choose(browser, game)
    game.choose(game.legal()[:1], game.number)  # in another window
    click(browser, LEGAL)
    browser.wait(lambda: "moved on" in browser.text("#message"))
    ready(browser, game)
    shown = [int(card.get_attribute("data-card")) for card in browser.all(LEGAL)]
    assert shown == game.legal()
    assert all("409" in message for message in browser.errors())


def test_page__closed_and_opened_again_it_goes_on(browser, table):
    game, server = table()
    choose(browser, game)
    choose(browser, game)
    shown = browser.text("#table")
    browser.open("about:blank")
    browser.open(server.address)
    ready(browser, game)
    assert browser.text("#table") == shown
    choose(browser, game)


def test_page__keys_alone_are_enough_and_others_do_nothing(browser, table):
    game, _ = table()
    browser.keys("x", "7", "\ue00c", "\ue004", "\ue00d")  # and escape, tab, space
    for _ in range(game.to_pass):
        browser.keys("\ue014", " ")  # right
    browser.wait(lambda: browser.all(ACT)[0].is_enabled())
    browser.keys("\ue007")  # enter
    browser.wait(lambda: game.task == PLAY)
    ready(browser, game)
    number = game.number
    browser.keys("a")
    browser.wait(lambda: browser.all("#advice h2"))
    browser.keys("\ue012", "\ue007")  # left, enter
    browser.wait(lambda: game.number > number)


@pytest.mark.parametrize(("name", "seats"), [("traditional", 5), ("cancellation", 10)])
def test_page__tables_of_any_size_fit(browser, table, name, seats):
    game, _ = table(name, seats)
    look(browser, f"{name}-pass")
    choose(browser, game)
    choose(browser, game)
    look(browser, f"{name}-trick")


def test_page__names_are_never_read_as_markup(browser, table):
    duck = make_bot("duck")

    class Marked:
        name = identity = (
            "<img src=x onerror=document.title='run'></script><script>document.title='run'</script>"
        )
        act = staticmethod(duck.act)

    game, _ = table(opponents=[Marked()], advisor=Marked())
    browser.keys("a")
    browser.wait(lambda: browser.all("#advice h2"))
    choose(browser, game)
    while game.task != NEXT:
        game.choose(game.legal()[:1], game.number)
    browser.driver.refresh()
    ready(browser, game)
    assert "<img src=x" in browser.text("#message")
    assert browser.driver.title == "Black Maria"
    assert browser.all("#table img, aside img, header img") == []
    look(browser, "names")
