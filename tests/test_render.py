"""Text, pictures, HTML, the window: what they show, and what a seat's view hides."""

import copy
import pickle
import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import gymnasium
import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from pettingzoo.test import render_test

from black_maria import PROFILES, Rules, black_maria_v0, engine
from black_maria.render import Html, Play, Scene, draw, hand_html, table_html, table_text
from helpers import Hand, ids, playing
from test_no_leak import play_out, random_game, redeal

EVERY_PROFILE = [(name, seats) for name, (choices, _) in PROFILES.items() for seats in choices]


@pytest.fixture(autouse=True)
def headless(monkeypatch):
    """No screen, and no waiting between pictures."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setitem(black_maria_v0.raw_env.metadata, "render_fps", 10**6)


def hands(rules: Rules, seed: int = 0, episode: str = "hand", every: int = 1):
    """A state after every few cards of random play, to the end of the hand or the match."""
    env = black_maria_v0.raw_env(rules=rules, episode=episode)
    env.reset(seed=seed)
    generator = np.random.default_rng(seed)
    for ply in range(10**4):
        if ply % every == 0 or not env._mask.any():
            yield env._states[0].copy()
        mask = env.last()[0]["action_mask"]
        if not mask.any():
            return
        env.step(int(generator.choice(np.flatnonzero(mask))))


def middle(plays: str = "AC 3C QH 4C") -> Hand:
    """Three seats that hold clubs, diamonds and low hearts, spades; some cards are played."""
    after_the_pass = [
        "4C 5C 6C 7C 8C 9C 10C JC QC KC AC 2D 3D 4D 5D 6D 7D",
        "3C 8D 9D 10D JD QD KD AD 2H 3H 4H 5H 6H 7H 8H 9H 10H",
        "JH QH KH AH 2S 3S 4S 5S 6S 7S 8S 9S 10S JS QS KS AS",
    ]
    return playing(after_the_pass, totals=[61, 7, 0]).do(plays)


# --- the scene --------------------------------------------------------------------------------


def test_scene__shows_what_lies_where():
    hand = middle()
    scene = Scene.of(hand.state, hand.rules)
    assert scene.stage == "trick 2 of 17"
    assert scene.trick == (Play(0, ids("4C")[0]),)
    assert scene.last == ()
    me, left, right = scene.places
    assert me.captured == tuple(ids("QH"))
    assert (me.penalties, me.total) == (1, 61)
    assert (me.to_move, left.to_move, right.to_move) == (False, True, False)
    assert (me.dealer, left.dealer, right.dealer) == (False, False, True)
    assert right.holding.known == tuple(
        sorted(ids("JH KH AH 2S 3S 4S 5S 6S 7S 8S 9S 10S JS QS KS AS"))
    )


def test_scene__the_last_trick_stays_until_the_next_is_led_to():
    hand = middle("AC 3C QH")
    scene = Scene.of(hand.state, hand.rules)
    assert (scene.trick, scene.taker) == ((), 0)
    assert [card for _, card in scene.last] == ids("AC 3C QH")
    assert Scene.of(hand.do("4C").state, hand.rules).last == ()


def test_scene__a_seat_knows_its_own_and_what_it_passed_until_that_is_played():
    hand = middle("")
    assert engine.cards_of(hand.state.given[2]) == ids("3C 8D 9D")
    mine, right, left = (Scene.of(hand.state, hand.rules, 2).places[k] for k in (2, 1, 0))
    assert right.holding == (tuple(ids("3C 8D 9D")), 14)
    assert left.holding == ((), 17)
    assert mine.holding == (tuple(engine.cards_of(hand.state.holding[2])), 0)
    hand.do("AC 3C")
    assert Scene.of(hand.state, hand.rules, 2).places[1].holding == (tuple(ids("8D 9D")), 14)


def test_scene__what_others_picked_to_pass_lies_face_down():
    rules = Rules()
    for state in hands(rules):
        if state.num_passed == 4:
            break
    first, second = (int(state.dealer) + 1) % 3, (int(state.dealer) + 2) % 3
    picked = [place.picked for place in Scene.of(state, rules, first).places]
    assert picked[first] == (tuple(engine.cards_of(state.given[first])), 0)
    assert picked[second] == ((), 1)


@pytest.mark.parametrize(("steps", "words"), [("left", "to the left"), ("across", "across")])
def test_scene__says_where_cards_are_passed(steps, words):
    rules = Rules.profile("four_player").replace(pass_cycle=(steps,))
    assert Scene.of(next(hands(rules)), rules).stage == f"passing {words}"


@pytest.mark.parametrize(("profile", "seats"), EVERY_PROFILE)
def test_scene__every_card_of_every_profile_is_in_one_place(profile, seats):
    rules = Rules.profile(profile, seats)
    for state in hands(rules):
        scene = Scene.of(state, rules)
        cards = [card for _, card in scene.trick + scene.cancelled]
        for seat, place in enumerate(scene.places):
            cards += place.holding.known + place.picked.known
            cards += engine.cards_of(state.captured[seat])
        assert sorted(cards + list(scene.kitty.known)) == list(rules.deck)


def scrambled(state, rules: Rules, viewer: int, generator):
    """The same game to the viewer, everything that it can't know dealt anew."""
    scene, other = Scene.of(state, rules, viewer), state.copy()
    passing = state.phase == engine.PASSING
    sets = [other.kitty] if state.last_taker < 0 else []
    for seat in range(rules.seats):
        if seat != viewer:
            sets += [other.holding[seat]] + ([other.given[seat]] if passing else [])
    known = {id(planes): [] for planes in sets}
    for seat, place in enumerate(scene.places):
        for planes in sets:
            if planes is not other.kitty and np.shares_memory(planes, other.holding[seat]):
                known[id(planes)] = list(place.holding.known)
    sizes, pool = [], []
    for planes in sets:
        cards = engine.cards_of(planes)
        for card in known[id(planes)]:
            cards.remove(card)
        sizes.append(len(cards))
        pool += cards
    generator.shuffle(pool)
    for planes, size in zip(sets, sizes, strict=True):
        planes[:] = 0
        for card in known[id(planes)] + pool[:size]:
            engine.put(planes, card)
        pool = pool[size:]
    for seat in range(rules.seats):
        if seat != viewer and not passing:
            other.given[seat] = generator.integers(0, 2**51, 2)
    other.legal = generator.integers(0, 2**51)
    return other


@pytest.mark.parametrize(("profile", "seats"), EVERY_PROFILE)
def test_view__hides_what_a_seat_cannot_know_in_every_profile(profile, seats):
    rules, generator = Rules.profile(profile, seats), np.random.default_rng(seats)
    differ = 0
    for ply, state in enumerate(hands(rules, seed=seats, every=5)):
        viewer = ply % seats
        other = scrambled(state, rules, viewer, generator)
        assert Scene.of(other, rules, viewer) == Scene.of(state, rules, viewer)
        differ += Scene.of(other, rules) != Scene.of(state, rules)
    assert differ > 5


@pytest.mark.parametrize("observer", [0, 1, 2])
@pytest.mark.parametrize("plies", [0, 2, 5, 8, 9, 12, 25, 40, 60])
def test_view__text_picture_and_html_hide_what_a_seat_cannot_know(observer, plies):
    deal, dealer, actions = random_game(plies, plies)
    generator = np.random.default_rng(plies)
    hand = play_out(deal, dealer, actions)
    for _ in range(3):
        new, again = redeal(deal, dealer, actions, observer, generator)
        other = play_out(new, dealer, again)
        for write in (table_text, table_html, draw):
            one, two = (write(each.state, each.rules, observer) for each in (hand, other))
            assert np.array_equal(one, two)


def test_view__of_twins_the_passed_one_may_have_been_played():
    rules = Rules.profile("cancellation", 6)
    card = 20
    for state in hands(rules):
        if state.phase == engine.PLAYING:
            break
    viewer, receiver = 3, 2
    state.given[viewer], state.holding[receiver] = 0, 0
    engine.put(state.given[viewer], card)
    engine.put(state.holding[receiver], card)
    engine.put(state.holding[receiver], card)
    assert Scene.of(state, rules, viewer).places[receiver].holding == ((card,), 1)
    engine.drop(state.holding[receiver], card)
    state.cards[0], state.seats[0], state.num_played, state.in_trick = card, receiver, 1, 1
    assert Scene.of(state, rules, viewer).places[receiver].holding == ((), 1)


def test_view__is_an_argument_of_the_environment():
    env = black_maria_v0.env(render_mode="ansi", view=1)
    env.reset(seed=0)
    raw = env.unwrapped
    assert env.render() == table_text(raw._states[0], raw.rules, 1)
    assert "17 unseen" in env.render()
    assert "unseen" in raw._repr_html_()
    for view in (3, -1, "north", None, "1"):
        with pytest.raises(ValueError, match=r"seats are 0 … 2, or 'all'"):
            black_maria_v0.env(view=view)
    with pytest.raises(ValueError, match="seats are 0 … 2"):
        draw(raw._states[0], raw.rules, 3)


def test_match_over__the_winner_is_marked():
    rules = Rules(match_points=30)
    *_, state = hands(rules, episode="match")
    scene = Scene.of(state, rules)
    assert scene.stage == "match over"
    totals = [place.total for place in scene.places]
    assert [place.winner for place in scene.places] == [t == min(totals) for t in totals]
    assert "wins" in table_text(state, rules)


# --- text -------------------------------------------------------------------------------------


def test_ansi__colours_red_suits_and_the_mover_on_a_terminal_only(monkeypatch):
    env = black_maria_v0.raw_env(render_mode="ansi")
    env.reset(seed=0)
    plain = env.render()
    assert "\x1b" not in plain
    terminal = SimpleNamespace(isatty=lambda: True)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal)
        coloured = env.render()
        patch.setenv("NO_COLOR", "1")
        assert env.render() == plain
    assert "\x1b[31m♥ " in coloured
    assert "\x1b[1m> player" in coloured
    assert "\x1b[31m♣" not in coloured
    for code in ("\x1b[31m", "\x1b[39m", "\x1b[1m", "\x1b[22m"):
        coloured = coloured.replace(code, "")
    assert coloured == plain


def test_ansi__tells_a_picked_card():
    env = black_maria_v0.raw_env(render_mode="ansi")
    env.reset(seed=0)
    env.step(int(env._mask.argmax()))
    assert "passes" in env.render()


# --- pictures ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("profile", "seats"), EVERY_PROFILE)
def test_picture__of_every_profile_from_the_deal_to_the_end(profile, seats):
    rules = Rules.profile(profile, seats)
    frames = [draw(state, rules) for state in hands(rules, every=11)]
    assert {(frame.shape, frame.dtype) for frame in frames} == {((450, 600, 3), np.dtype("u1"))}
    assert len({frame.tobytes() for frame in frames}) == len(frames)


def test_picture__a_play_off():
    rules = Rules.profile("traditional", 4).replace(hands=4)
    for seed in range(400):
        for state in hands(rules, seed, "match"):
            if state.playoff and state.phase != engine.OVER:
                scene = Scene.of(state, rules)
                assert [place.absent for place in scene.places].count(True) == 4 - state.num_playing
                assert scene.stage.startswith("play-off, ")
                assert "sits out" in table_text(state, rules)
                assert draw(state, rules).any()
                return
    pytest.fail("no tie found")


def test_picture__is_a_function_of_scene_and_size():
    hand = middle()
    before = hand.states.copy()
    first = draw(hand.state, hand.rules)
    kept = first.copy()
    draw(hand.state, hand.rules, 1)
    draw(hand.state, hand.rules, None, (300, 225))
    assert np.array_equal(first, kept)
    first[:] = 0
    assert np.array_equal(draw(hand.state, hand.rules), kept)
    assert np.array_equal(hand.states, before)


@pytest.mark.parametrize("size", [(60, 60), (240, 180), (333, 777), (1280, 720)])
def test_picture__of_any_size(size):
    hand = middle()
    picture = draw(hand.state, hand.rules, size=size)
    assert picture.shape == (size[1], size[0], 3)
    assert picture.flags.c_contiguous
    assert picture.flags.writeable
    assert np.ptp(picture) > 150


def test_picture__a_size_too_small_is_refused():
    hand = middle()
    with pytest.raises(ValueError, match="at least 60 pixels"):
        draw(hand.state, hand.rules, size=(59, 100))


def test_picture__outlives_pygames_quit():
    pygame = pytest.importorskip("pygame")
    hand = middle()
    first = draw(hand.state, hand.rules)
    pygame.quit()
    assert np.array_equal(draw(hand.state, hand.rules), first)


def test_picture__many_captures_still_fit():
    rules = Rules.profile("cancellation", 10)
    state = next(hands(rules))
    for card in rules.deck:
        engine.put(state.captured[3], card)
    assert not np.array_equal(draw(state, rules), draw(next(hands(rules)), rules))


# --- HTML -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", [None, 0])
@pytest.mark.parametrize(("profile", "seats"), [("three_player", 3), ("cancellation", 7)])
def test_html__is_well_formed_and_needs_nothing_from_outside(profile, seats, seat):
    rules = Rules.profile(profile, seats)
    for state in hands(rules, every=10):
        page = table_html(state, rules, seat)
        ElementTree.fromstring(page)
        assert isinstance(page, Html)
        assert page._repr_html_() == page
        for word in ("http", "src=", "<script", "url(", "class="):
            assert word not in page


def test_html__names_are_escaped():
    rules = Rules(name="<script>&")
    page = table_html(next(hands(rules)), rules)
    assert "&lt;script&gt;&amp;" in page
    assert "<script>" not in page
    assert "&lt;b&gt;" in hand_html("QS", "<b>")


def test_html__a_hand_of_cards():
    page = hand_html("QS 4H 2H", "mine")
    assert page.index("2♥") < page.index("4♥") < page.index("Q♠")
    ElementTree.fromstring(page)
    with pytest.raises(ValueError, match="not a card"):
        hand_html("1X")


def test_html__of_the_environment():
    env = black_maria_v0.env()
    assert env.unwrapped._repr_html_() is None, "nothing dealt: a notebook shows repr"
    env.reset(seed=0)
    raw = env.unwrapped
    assert raw._repr_html_() == table_html(raw._states[0], raw.rules)


# --- the environment's modes ------------------------------------------------------------------


def test_modes__conform_to_pettingzoo(capsys):
    assert black_maria_v0.env().metadata["render_modes"] == ["human", "ansi", "rgb_array"]
    render_test(black_maria_v0.env)
    assert capsys.readouterr().out == ""


def test_modes__rgb_array_is_the_picture():
    env = black_maria_v0.env(render_mode="rgb_array")
    env.reset(seed=0)
    raw = env.unwrapped
    assert np.array_equal(env.render(), draw(raw._states[0], raw.rules))


def test_modes__nothing_is_drawn_before_the_first_reset():
    for mode in ("ansi", "rgb_array", "human"):
        with pytest.raises(ValueError, match="no hand has been dealt"):
            black_maria_v0.raw_env(render_mode=mode).render()


def test_modes__without_one_render_says_which_there_are():
    env = black_maria_v0.raw_env()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="'human', 'ansi', 'rgb_array'"):
        assert env.render() is None


def test_modes__an_unknown_one_is_refused():
    with pytest.raises(ValueError, match=r"'hologram'.* 'human', 'ansi', 'rgb_array'"):
        black_maria_v0.env(render_mode="hologram")


def test_modes__without_pygame_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(DependencyNotInstalled, match=r"pip install 'black-maria\[render\]'"):
        black_maria_v0.env(render_mode="human")
    # a picture only when it is asked for: some learners set the mode and never look
    env = black_maria_v0.env(render_mode="rgb_array")
    env.reset(seed=0)
    with pytest.raises(DependencyNotInstalled, match=r"pip install 'black-maria\[render\]'"):
        env.render()
    env = black_maria_v0.env(render_mode="ansi")
    env.reset(seed=0)
    assert "player_0" in env.render()
    assert "player_0" in env.unwrapped._repr_html_()


def test_human__shows_every_step_in_a_window():
    pygame = pytest.importorskip("pygame")
    env = black_maria_v0.env(render_mode="human")
    raw = env.unwrapped
    env.reset(seed=0)
    for _ in range(15):
        shown = pygame.surfarray.array3d(pygame.display.get_surface()).transpose(1, 0, 2)
        assert np.array_equal(shown, draw(raw._states[0], raw.rules))
        assert env.render() is None
        env.step(int(env.last()[0]["action_mask"].argmax()))
    env.close()
    assert not pygame.display.get_init()
    env.close()
    env.reset()
    assert pygame.display.get_init()
    env.close()


def test_human__a_window_closed_by_hand_stays_closed_and_the_game_goes_on():
    pygame = pytest.importorskip("pygame")
    env = black_maria_v0.env(render_mode="human")
    env.reset(seed=0)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    for _ in range(3):
        env.step(int(env.last()[0]["action_mask"].argmax()))
        assert not pygame.display.get_init()


def test_human__survives_pygames_quit_copies_and_pickles():
    pygame = pytest.importorskip("pygame")
    env = black_maria_v0.env(render_mode="human")
    env.reset(seed=0)
    pygame.quit()
    for twin in (env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        twin.step(int(twin.last()[0]["action_mask"].argmax()))
        assert pygame.display.get_init()
        twin.close()


def test_record_video__films_a_hand(tmp_path):
    pytest.importorskip("moviepy")
    env = gymnasium.make("black_maria:BlackMaria-v0", opponents="duck", render_mode="rgb_array")
    env = gymnasium.wrappers.RecordVideo(env, str(tmp_path / "videos"), disable_logger=True)
    _, info = env.reset(seed=1)
    terminated = False
    while not terminated:
        _, _, terminated, _, info = env.step(int(info["action_mask"].argmax()))
    env.close()
    (video,) = tmp_path.glob("videos/*.mp4")
    assert video.stat().st_size > 10_000
