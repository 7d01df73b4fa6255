"""A table to sit at: the game, its page's server, and the terminal."""

import http.client
import io
import json
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from black_maria import Rules, make_bot, record
from black_maria.cards import card_names, parse_cards
from black_maria_agents.console import PlainConsole
from black_maria_agents.loading import load_agent
from black_maria_agents.play import Game, PlayServer, RefusedError, StaleError, terminal
from black_maria_agents.play.__main__ import PlayConfig, Recorder, set_up
from black_maria_agents.play.game import NEXT, OVER, PASS, PLAY, WAIT
from black_maria_agents.play.reviews import review_of, words_of
from black_maria_agents.play.view import view_of
from helpers import wait_until

THREE = Rules.profile("three_player")
START = 2
"""The number at which seat 0 is to pass in seed 4: the cards were dealt, and seat 2 has passed."""


def game_of(rules=THREE, **options):
    """A game against ``duck``, seed 4 unless told; duck gives advice, too."""
    options = {"seed": 4, "advisor": make_bot("duck", rules)} | options
    return Game(rules, [make_bot("duck", rules)], **options)


def play_on(game, stop=(NEXT, OVER)):
    """Take the advisor's advice until one of these tasks is due."""
    while game.task not in stop:
        game.choose(game.advice(game.number).cards, game.number)


def held(game):
    return set(game.frames[-1].places[game.seat].holding.known)


# --- the game -----------------------------------------------------------------------------------


def test_game__a_hand_by_its_record():
    hands = []
    game = game_of(on_hand=hands.append)
    assert (game.task, game.to_pass, game.passes_to()) == (PASS, 3, 2)
    before = held(game)
    play_on(game)
    (hand,) = hands
    assert set(hand.deal[0]) == before
    assert hand.agents == ("you", "duck", "duck")
    assert game.sheet.hands == [list(hand.penalties)]
    assert game.sheet.totals == list(hand.penalties)
    assert sum(hand.penalties) == 43
    assert game.frames[-1].places[0].penalties == hand.penalties[0]
    assert record.Hand.from_json(hand.to_json()) == hand


def test_game__cards_received_are_told_once_all_have_passed():
    game = game_of()
    assert game.received() is None
    before = held(game)
    passed = parse_cards("AS QS QD")
    game.choose(passed, game.number)
    giver, cards = game.received()
    assert giver == 1
    assert held(game) <= (before - set(passed)) | set(cards)


def test_game__what_it_shows_depends_on_no_card_that_the_seat_cannot_know():
    shown = game_of().frames[0]
    assert shown.viewer == 0
    assert [place.holding.known for place in shown.places[1:]] == [(), ()]
    assert all(place.picked.known == () for place in shown.places)


@pytest.mark.parametrize(
    ("name", "seats", "seat"),
    [("three_player", 3, 2), ("american_hearts", 4, 0), ("traditional", 5, 3),
     ("cancellation", 7, 1), ("dirty_lady", 4, 3)],
)  # fmt: skip
def test_game__matches_of_any_rules_and_seat(name, seats, seat):
    rules = Rules.profile(name, seats)
    hands = []
    game = game_of(rules, seat=seat, on_hand=hands.append)
    while game.task != OVER:
        play_on(game)
        if game.task == NEXT:
            game.go_on(game.number)
    winners = [k for k in range(seats) if game.frames[-1].places[k].winner]
    assert winners == [k for k, total in enumerate(game.sheet.totals) if total == min(
        game.sheet.totals)]  # fmt: skip
    assert [list(hand.penalties) for hand in hands] == game.sheet.hands
    assert [hand.match_hand for hand in hands] == list(range(len(hands)))
    game.go_on(game.number)
    assert game.sheet.totals == [0] * seats


def refused(game, cards, words, number=None, kind=RefusedError):
    """A wish is refused with these words, and nothing has changed."""
    before = game.number, game.state.tobytes(), game.task
    with pytest.raises(kind, match=words):
        game.choose(parse_cards(cards), game.number if number is None else number)
    assert (game.number, game.state.tobytes(), game.task) == before


def test_refused__passes():
    game = game_of()
    assert {*parse_cards("AS QS 3C 6C")} <= held(game)
    refused(game, "AS QS", "choose 3 cards to pass, not 2")
    refused(game, "AS QS 3C 6C", "choose 3 cards to pass, not 4")
    refused(game, "AS QS AS", "you may not pass A♠: you hold")
    refused(game, "AS QS KS", "you may not pass K♠: you hold")
    refused(game, "KS AS QS", "you may not pass K♠: you hold")
    refused(game, "AS QS 3C", "moved on", game.number - 1, StaleError)
    with pytest.raises(RefusedError, match="it is for you to pass"):
        game.go_on(game.number)


def test_refused__plays():
    game = game_of()
    play_on(game, (PLAY,))
    while len(game.legal()) == len(held(game)):  # until it must follow suit
        game.choose(game.legal()[:1], game.number)
    (wrong, *_) = held(game) - set(game.legal())
    number = game.number
    refused(game, [wrong], "you must follow suit, .* and you hold")
    refused(game, game.legal()[:1] * 2, "choose 1 card, not 2")
    game.choose(game.legal()[:1], number)
    refused(game, game.legal()[:1], "moved on", number, StaleError)  # a double click
    play_on(game)
    refused(game, "AS", "the hand is over: go on")
    with pytest.raises(RefusedError, match="the hand is over"):
        game.advice(game.number)


@pytest.mark.parametrize("card", [-1, 52, 10**30])
def test_refused__numbers_that_are_no_cards(card):
    game = game_of()
    with pytest.raises(RefusedError, match="is not a card"):
        game.choose([card, card, card], game.number)
    assert game.task == PASS


def test_opponent__one_that_fails_may_be_asked_again():
    duck, broken = make_bot("duck"), []

    class Moody:
        name = identity = "moody"

        def act(self, obs, keys):
            if broken:
                raise OSError("no mood")
            return duck.act(obs, keys)

    game = Game(THREE, [duck, Moody()], seed=4, advisor=duck)
    play_on(game, (PLAY,))
    broken.append(True)
    with pytest.raises(RuntimeError, match=r"opponent moody at seat 2.*no mood"):
        play_on(game)
    assert game.task == WAIT
    broken.clear()
    game.go_on(game.number)
    assert game.task == PLAY


def test_advice__by_policy_with_chances_and_nothing_moves():
    game = game_of(advisor=load_agent("champion"))
    before = game.state.tobytes()
    advice = game.advice(game.number)
    assert game.state.tobytes() == before
    assert len(set(advice.cards)) == 3
    assert set(advice.chances) == held(game)
    assert sum(advice.chances.values()) == pytest.approx(1, abs=1e-5)
    assert advice.cards[0] == max(advice.chances, key=advice.chances.get)
    assert game_of().advice(START).chances == {}
    with pytest.raises(RefusedError, match="nobody is here"):
        game_of(advisor=None).advice(START)


def test_advice__by_a_search_that_needs_the_history():
    game = game_of(advisor=load_agent("search:policy=champion,worlds=2"))
    play_on(game, (PLAY,))
    assert game.advice(game.number).cards[0] in game.legal()


@pytest.mark.parametrize(
    ("options", "words"),
    [({"seat": 3}, "seat=3: there are seats 0 … 2"), ({"opponents": ("duck",) * 3}, "3 opponents"),
     ({"opponents": ("nobody",)}, "no agent 'nobody'"), ({"rules": "whist"}, "no profile"),
     ({"opponents": ("champion",), "rules": "cancellation"}, "no champion"),
     ({"seed": -1}, "seed")],
)  # fmt: skip
def test_set_up__what_cannot_be_is_refused_in_words(options, words):
    with pytest.raises(ValueError, match=words):
        set_up(PlayConfig(**options), lambda hand: None)


def test_set_up__opponents_from_the_left_neighbour_on():
    game = set_up(PlayConfig(("duck", "random"), seat=1, seed=1), lambda hand: None)
    assert game.names == ("random", "you", "duck")
    assert game.advisor.name == "champion"


def test_recorder__a_file_that_cannot_be_written_ends_nothing(tmp_path):
    recorder = Recorder(tmp_path / "none" / "hands.jsonl")
    game = game_of(on_hand=recorder)
    play_on(game)
    assert game.task == NEXT
    assert "the hand wasn't recorded: No such file" in recorder.trouble


# --- the server ---------------------------------------------------------------------------------


@contextmanager
def serving(game, **options):
    with PlayServer(game, **options) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def ask(server, name, wish=None, *, token=None, host=None, **headers):
    """The status and what was answered, JSON read; ``wish`` is sent as JSON, bytes as they are."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    path = f"/{server.token if token is None else token}/{name}"
    headers = {"Host": host or server.hosts[0]} | {
        key.replace("_", "-"): value for key, value in headers.items()
    }
    if wish is None:
        connection.request("GET", path, headers=headers)
    else:
        body = wish if isinstance(wish, bytes) else json.dumps(wish).encode()
        connection.request("POST", path, body, {"Content-Type": "application/json"} | headers)
    answer = connection.getresponse()
    content = answer.read()
    kind = answer.headers["Content-Type"]
    connection.close()
    return answer.status, json.loads(content) if kind == "application/json" else content.decode()


@pytest.fixture
def server():
    with serving(game_of()) as found:
        yield found


def test_server__listens_on_this_machine_alone(server):
    assert server.socket.getsockname()[0] == "127.0.0.1"
    assert server.address == f"http://127.0.0.1:{server.server_port}/{server.token}/"
    assert len(server.token) >= 20
    with serving(game_of()) as other:
        assert other.token != server.token


@pytest.mark.parametrize("name", ["", "play.js", "play.css", "table.js", "table.css"])
def test_server__page_and_its_parts_ask_for_nothing_elsewhere(server, name):
    status, text = ask(server, name)
    assert status == 200
    assert "http:" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https:" not in text


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:{port}",
     "127.0.0.1:{port}.evil.example"],
)  # fmt: skip
def test_server__other_names_get_nothing(server, host):
    status, said = ask(server, "view", host=host.format(port=server.server_port))
    assert (status, set(said)) == (403, {"error"})


@pytest.mark.parametrize("token", ["", "x", "view", "%C3%A4"])
def test_server__without_the_token_nothing_is_answered(server, token):
    for name, wish in (("", None), ("view", None), ("choose", {"cards": [1], "number": START})):
        status, said = ask(server, name, wish, token=token)
        assert (status, set(said)) == (403, {"error"})
    assert server.game.number == START


def test_server__pages_of_other_sites_get_nothing(server):
    for origin in ("https://evil.example", "null", f"http://127.0.0.1:{server.server_port}0"):
        assert ask(server, "next", {"number": START}, Origin=origin)[0] == 403
    own = f"http://{server.hosts[0]}"
    assert ask(server, "view", Origin=own)[0] == 200


@pytest.mark.parametrize(
    ("wish", "headers"),
    [(b"", {}), (b"{", {}), (b"[]", {}), (b"[" * 5000, {}), (b'{"cards": "AS"}', {}),
     (b'{"cards": [1.5, 2, 3]}', {}), (b'{"cards": [true]}', {}),
     (b'{"cards": [1], "number": "1"}', {}),
     (b"\xff\xfe", {}), (b"x" * 20000, {}), (b'{"cards": [1]}', {"Content_Type": "text/plain"})],
)  # fmt: skip
def test_server__what_is_no_wish_is_refused(server, wish, headers):
    status, said = ask(server, "choose", wish, **headers)
    assert (status, set(said)) == (400, {"error"})
    assert server.game.number == START


def test_server__a_hand_with_wrong_and_double_wishes_between(server):
    game = server.game
    status, view = ask(server, "view")
    assert (status, view["task"], view["toPass"], len(view["frames"])) == (200, PASS, 3, START)
    status, said = ask(server, "choose", {"cards": [0, 1, 2], "number": START, "since": START})
    assert status == 422
    assert "you may not pass" in said["error"]
    assert (said["number"], said["frames"]) == (START, [])
    while (view := ask(server, "view")[1])["task"] != NEXT:
        wish = {"cards": game.advice(game.number).cards, "number": view["number"]}
        answers = [ask(server, "choose", wish | {"since": view["number"]}) for _ in range(2)]
        assert [status for status, _ in answers] == [200, 409]
        assert "moved on" in answers[1][1]["error"]
        assert answers[0][1]["first"] == view["number"] + 1
        assert answers[0][1]["number"] == answers[1][1]["number"]
    assert view["hands"] == [list(game.hand.penalties)]
    assert ask(server, "next", {"number": view["number"]})[1]["earliest"] == view["number"] + 1


def test_server__wishes_at_the_same_time_come_one_after_another(server):
    play_on(server.game, (PLAY,))
    wish = {"cards": server.game.legal()[:1], "number": server.game.number}
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(ask(server, "choose", wish)[0]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200] + [409] * 7


def test_server__who_comes_back_sees_how_things_stand(server):
    play_on(server.game, (PLAY,))
    _, view = ask(server, "view?since=0")
    assert view == ask(server, "view?since=abc")[1]
    assert view["number"] == view["first"] + len(view["frames"]) - 1
    assert view["frames"][-1]["places"][0]["holding"] == sorted(held(server.game))
    assert ask(server, f"view?since={view['number']}")[1]["frames"] == []


def test_server__advice_and_review():
    pages = []

    def review(hand):
        pages.append(hand)
        return "<p>a review"

    with serving(game_of(advisor=load_agent("champion")), review=review) as server:
        assert ask(server, "review")[0] == 404
        status, advice = ask(server, f"advice?number={START}")
        assert (status, advice["name"], len(advice["cards"])) == (200, "champion", 3)
        chances = [chance for _, chance in advice["chances"]]
        assert chances == sorted(chances, reverse=True)
        assert ask(server, "advice?number=0")[0] == 409
        play_on(server.game)
        assert ask(server, "review") == ask(server, "review") == (200, "<p>a review")
        assert pages == [server.game.hand]  # made once


def test_review__by_the_advisor_if_its_policy_plays_by_these_rules():
    game = game_of(advisor=load_agent("champion"))
    play_on(game)
    page = review_of(game, worlds=1)(game.hand)
    assert page.startswith("<!doctype html>")
    assert '"you"' in page
    phases = ("passing", "leading", "following", "discarding", "trick")
    lines = words_of(game, worlds=1)(game.hand)
    assert lines
    assert all(line.startswith(phases) and line.endswith(("away", "points")) for line in lines)
    assert review_of(game_of()) is not None  # duck has no policy: the champion reviews
    assert review_of(game_of(Rules.profile("cancellation"))) is None


def test_view__is_json_and_has_names_as_they_are():
    duck = make_bot("duck")

    class Marked:
        name = identity = "</script><b>&"
        act = staticmethod(duck.act)

    view = view_of(Game(THREE, [Marked()], seed=4))
    assert json.loads(json.dumps(view))["names"] == ["you", "</script><b>&", "</script><b>&"]


@pytest.mark.skipif(
    sys.platform == "win32" or signal.getsignal(signal.SIGINT) == signal.SIG_IGN,
    reason="sends SIGINT, which a process in the background may ignore",
)
def test_command__serves_until_ctrl_c(tmp_path):
    command = [sys.executable, "-m", "black_maria_agents.play", "--no-browser"]
    command += ["--opponents", "duck", "--advice", "duck", "--record", str(tmp_path / "h.jsonl")]
    log = tmp_path / "log"
    with log.open("w") as file, subprocess.Popen(command, stdout=file, stderr=file) as process:
        wait_until(lambda: "Ctrl-C closes it" in log.read_text(), process)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    said = log.read_text()
    assert said.startswith("Your table: http://127.0.0.1:")
    assert said.endswith("The table is closed.\n")


# --- the terminal -------------------------------------------------------------------------------


def typed(game, lines, review=None):
    """Play on the terminal with these lines; what was printed."""
    lines, console = iter(lines), PlainConsole()
    console.file = io.StringIO()

    def answer(prompt):
        console.file.write(prompt)
        try:
            line = next(lines)
        except StopIteration:
            raise EOFError from None
        console.file.write(f"{line}\n")
        return line

    terminal.play(game, console, answer, review)
    return console.file.getvalue()


def test_terminal__a_hand_typed_in():
    game = game_of()

    def lines():
        yield "AS QS"
        yield "nonsense"
        yield "?"
        while game.task != NEXT:
            yield card_names(game.advice(game.number).cards)
        yield "r"
        yield ""
        yield "r"
        yield "q"

    said = typed(game, lines(), lambda hand: [f"a review of {sum(hand.penalties)} points"])
    assert said.count("a review of 43 points") == 1
    assert "choose 3 cards to pass, not 2" in said
    assert "'nonsense' is not a card" in said
    assert "duck would pass" in said
    assert said.count("took it") == 17
    assert "This hand: you " in said
    assert game.sheet.hands != []
    assert said.count("passing to the right") == 2  # the next hand has begun


@pytest.mark.parametrize("lines", [[], ["q"], ["?", "", "h", "t", "QS QS QS", "\x00", "é", "quit"]])
def test_terminal__leaves_when_asked_or_at_the_end_of_the_input(lines):
    game = game_of()
    typed(game, lines)
    assert (game.task, game.number) == (PASS, START)


def test_command__on_the_terminal_records_its_hands(tmp_path):
    path = tmp_path / "hands.jsonl"
    game = set_up(PlayConfig(("duck",), seed=4, advice="duck"), Recorder(path))
    play_on(game)
    game.go_on(game.number)
    play_on(game)
    hands, damages = record.read(path)
    assert damages == []
    assert [list(hand.penalties) for hand in hands] == game.sheet.hands
