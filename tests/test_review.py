"""Reviews: honest prices, the same every time, words that the numbers bear, a page that is safe."""

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from black_maria import Rules, Tables, record
from black_maria.cards import NUM_RANKS, SPADES, card_name, parse_card, parse_cards, suit_of
from black_maria.engine import cards_of
from black_maria.render import Scene
from black_maria_agents import load_agent
from black_maria_agents.page import embedded, state_of
from black_maria_agents.review import (
    comparison,
    dearest,
    explained,
    losses,
    page_of,
    pricing,
    review,
    review_file,
)
from black_maria_agents.review import evaluating as evaluating_module
from black_maria_agents.review.__main__ import main as command
from black_maria_agents.review.page import data_of
from black_maria_agents.review.positions import positions_of
from black_maria_agents.review.pricing import price
from black_maria_agents.review.reviewing import reviewer
from black_maria_agents.review.rows import PHASES, Option, rows_of
from black_maria_agents.review.words import LEAST, STRICT, sentence_of
from black_maria_agents.search.playouts import PlayedOut
from test_evaluate import evaluate

QUEEN = parse_card("QS")
NAMES = ("regret", "flattered")
MARKUP = "</script><img src=x onerror=alert(1)>&amp;$title"


def played(names, count=1, seed=5, rules="three_player", change=None):
    """Hands of agents; ``change(state)`` may give another card to the seat to move, once a hand."""
    rules = Rules.profile(rules)
    tables = Tables(count, rules, seed=seed)
    agents = [load_agent(name, rules) for name in names]
    changed = np.zeros(count, bool)
    for _ in range(rules.plies()):
        states = tables.states()
        if (states["num_played"] + 1 == states["to_play"]).all():
            return record.of_states(states.copy(), rules, [list(names)] * count)
        obs, seats = tables.observe()
        keys, cards = tables.keys(), np.zeros(count, np.int64)
        for seat in np.unique(seats):
            rows = np.flatnonzero(seats == seat)
            seen = {name: array[rows] for name, array in obs.items()}
            cards[rows] = agents[seat].act(seen, keys[rows])
        for row in np.flatnonzero(~changed) if change else ():
            card = change(states[row])
            if card is not None:
                cards[row], changed[row] = card, True
        tables.step(cards)
    raise AssertionError("the hand has no end")


@pytest.fixture(scope="module")
def hands():
    return played(("champion", "duck", "heuristic"), 2)


@pytest.fixture(scope="module")
def found(hands):
    return review(hands, worlds=3)


# --- the rows ---------------------------------------------------------------------------------


def test_rows__one_for_every_decision_in_which_there_was_a_choice(hands, found):
    champion = load_agent("champion")
    for hand, reviewed in zip(hands, found.hands, strict=True):
        choices = [int(state.legal).bit_count() > 1 for state in hand.steps()][:-1]
        assert [row.ply for row in reviewed.decisions] == list(np.flatnonzero(choices))
        assert set(positions_of(hand, champion).cards) <= {row.card for row in reviewed.decisions}
    table = found.table()
    assert len(table["regret"]) == len(found.decisions) > 80
    assert set(table["phase"]) == set(PHASES)
    assert set(table["agent"]) == {"champion", "duck", "heuristic"}


def test_rows__phases_are_what_the_seat_had_to_do(hands, found):
    for row in found.decisions:
        state = found.hands[row.hand].found.states
        state = state[[r.ply for r in found.hands[row.hand].decisions].index(row.ply)]
        suits = {suit_of(card) for card in cards_of(state.holding[row.seat])}
        if row.phase == "passing":
            assert row.trick == 0
        elif row.phase == "leading":
            assert not state.in_trick
        else:
            assert (state.led in suits) == (row.phase == "following")
        assert row.spades == sum(
            card // NUM_RANKS == SPADES and card != QUEEN
            for card in cards_of(state.holding[row.seat])
        )


def test_rows__options_are_the_legal_cards_and_agree_with_the_row(found):
    for row in found.decisions:
        options = {option.card: option for option in row.options}
        assert len(options) == row.legal
        assert np.isclose(sum(option.policy for option in row.options), 1, atol=1e-5)
        assert row.chosen.difference == row.chosen.error == 0
        assert row.chosen.policy == row.policy
        assert options[row.best].difference == pytest.approx(-row.regret)
        assert (row.regret == 0) or row.best != row.card
        assert [o.difference for o in row.options] == sorted(o.difference for o in row.options)


def test_rows__who_holds_what_adds_up_to_the_cards_that_are_unseen(hands, found):
    for row in found.decisions:
        reviewed = found.hands[row.hand]
        state = reviewed.found.states[reviewed.decisions.index(row)]
        own = np.zeros(52)
        own[cards_of(state.holding[row.seat])] = 1
        if row.phase == "passing":
            own[cards_of(state.given[row.seat])] = 1
        assert np.allclose(row.holds[row.seat], own)
        there = np.ones(52)
        there[[0, *state.cards[: state.num_played]]] = 0  # no 2♣ in this pack
        assert np.allclose(row.holds.sum(axis=0), there)
        if row.phase != "passing":
            receiver = (row.seat + 2) % 3
            kept = set(reviewed.hand.passes[row.seat]) - set(state.cards[: state.num_played])
            assert all(row.holds[receiver, card] == pytest.approx(1) for card in kept)


def test_pass__its_cards_are_taken_in_the_order_in_which_the_policy_likes_them(hands):
    agent = load_agent("champion")
    found = positions_of(hands[0], agent)
    for seat in range(3):
        rows = np.flatnonzero(found.passing & (found.seats == seat))
        liking = found.log_probs[rows[0], found.cards[rows]]
        assert (np.diff(liking) <= 0).all()
        assert set(found.cards[rows]) == set(hands[0].passes[seat])


# --- honest prices ----------------------------------------------------------------------------


def test_regret__of_the_champion_by_itself_is_within_noise_of_nothing():
    """The worlds that find a better card flatter it: by those the champion would lose a lot."""
    rows = review(played(("champion",) * 3, 4, seed=2), worlds=3).decisions
    regret, flattered = (np.array([getattr(row, name) for row in rows]) for name in NAMES)
    error = regret.std() / len(rows) ** 0.5
    assert abs(regret.mean()) < 2 * error
    assert flattered.mean() > regret.mean() + 3 * error
    assert (flattered[regret != 0] > 0).all()
    assert (flattered >= 0).all()


def test_regret__is_not_above_nothing_where_all_cards_are_as_good(hands, monkeypatch):
    """By construction: play-outs that are pure luck flatter the best card, and price it at 0."""
    draw = np.random.default_rng(4)

    def luck(agent, states, first):
        return PlayedOut(draw.normal(14, 8, (len(states), 3)), np.zeros(len(states)))

    monkeypatch.setattr(pricing, "play_out", luck)
    agent = load_agent("champion")
    found = positions_of(hands[0], agent).only(np.arange(9, 40))
    prices = [price(agent, found, worlds=2, seed=seed) for seed in range(3)]
    regret, flattered = (np.concatenate([getattr(p, n) for p in prices]) for n in NAMES)
    error = regret.std() / len(regret) ** 0.5
    assert abs(regret.mean()) < 2 * error
    assert flattered.mean() > 5 * error


def lead_the_guarded_queen(state):
    """Q♠, where it is held with three lower spades or more and can be led."""
    spades = [card for card in cards_of(state.holding[state.turn]) if suit_of(card) == SPADES]
    guarded = QUEEN in spades and sum(card < QUEEN for card in spades) >= 3
    playing = state.phase == 1 and not state.in_trick and state.num_played > 8
    return QUEEN if playing and guarded else None


def test_regret__a_guarded_queen_that_is_led_is_found_with_its_price():
    agent = load_agent("champion")
    for hand in played(("champion",) * 3, 12, seed=3, change=lead_the_guarded_queen):
        every = positions_of(hand, agent)
        planted = np.flatnonzero(
            (every.cards == QUEEN) & [lead_the_guarded_queen(s) is not None for s in every.states]
        )
        if len(planted):
            break
    found = every.only(planted[:1])
    (row,) = rows_of(0, found, price(agent, found, worlds=12, seed=1))
    assert row.dear
    assert row.best != QUEEN
    assert row.regret > 3, "a thirteen that mostly comes home"
    again = price(agent, found, worlds=48, seed=7)
    apart = np.hypot(row.error, again.difference_error[0, row.best])
    assert abs(row.regret + again.difference[0, row.best]) < 3 * apart
    assert sentence_of(row, found.states[0], Rules().penalties).text.startswith("Leads Q♠; ")


def test_price__is_the_same_alone_and_with_other_seeds_another(hands, found):
    agent = load_agent("champion")
    some, rows = np.array([2, 12, 30]), found.hands[1].decisions
    few = positions_of(hands[1], agent).only(some)
    for one, place in zip(rows_of(1, few, price(agent, few, worlds=3, seed=0)), some, strict=True):
        assert str(one) == str(rows[place])  # as text, since NaN isn't equal to itself
    one, other = (price(agent, few, worlds=4, seed=seed).cost for seed in (0, 1))
    assert not np.array_equal(one, other)


def test_price__where_a_moon_may_be_shot_it_is_the_own_less_the_others():
    hand = played(("duck",) * 4, 1, rules="american_hearts")[0]
    agent = reviewer("champion", hand.rules)
    every = positions_of(hand, agent)
    prices = price(agent, every.only(np.arange(len(every.plies))[-3:]), worlds=2, seed=0)
    assert np.isfinite(prices.regret).all()
    assert (np.abs(prices.cost) <= 26 + 26 / 3).all()


# --- who reviews ------------------------------------------------------------------------------


def test_reviewer__is_the_agents_policy_or_the_champions():
    champion = load_agent("champion")
    for name in ("champion", "duck", "pimc:worlds=1,sims=1", "search:policy=champion,worlds=1"):
        assert reviewer(name, Rules()).fingerprint == champion.fingerprint
    assert reviewer(champion, Rules()) is champion
    assert reviewer("duck", Rules.profile("traditional")).policy.clauses  # the one for all rules
    with pytest.raises(ValueError, match="no champion of 'cancellation'"):
        reviewer("duck", Rules.profile("cancellation"))
    with pytest.raises(ValueError, match="doesn't play by the rules of this hand, face_value"):
        reviewer(champion, Rules.profile("face_value"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"worlds": 0}, "worlds=0: must be a whole number from 1"),
        ({"most": 0}, "hands=0: there must be at least one hand"),
        ({"agent": "nobody"}, "no hand can be reviewed: no agent 'nobody'"),
    ],
)
def test_review__refuses_in_words(hands, options, said):
    with pytest.raises(ValueError, match=said):
        review(hands, **options)


# --- words ------------------------------------------------------------------------------------


def row_of(found, options, card, best, **changes):
    """A decision made up from (card, policy, difference, error)."""
    listed = tuple(Option(parse_card(c), p, d, e, 0.1) for c, p, d, e in options)
    return replace(
        found.decisions[0], options=listed, card=parse_card(card), best=parse_card(best), **changes
    )


def table_with(holding, in_trick=1, led=0, best_card="9C"):
    """A table of three at which seat 0, with these cards, is to move."""
    state = Tables(1).states()[0].copy()
    state.phase, state.turn, state.in_trick, state.led = 1, 0, in_trick, led
    state.best_card = parse_card(best_card)
    state.holding[0, 0] = sum(1 << card for card in parse_cards(holding))
    return state


def test_sentence__keeps_the_queen_guarded(found):
    options = [("KH", 0.6, 0, 0), ("QS", 0.3, 2.1, 0.5), ("3S", 0.1, 0.2, 0.5)]
    row = row_of(found, options, "KH", "KH", phase="discarding", seat=0, regret=0.0, error=0.0)
    state = table_with("KH QS 3S 5S 7S 9S AS")
    said = sentence_of(row, state, Rules().penalties)
    assert said.text == "Keeps Q♠ guarded by four spades: 2.1 points better than throwing it."
    assert (said.better, said.worse, said.points) == (parse_card("KH"), QUEEN, 2.1)


def test_sentence__throws_the_queen_where_it_should_be_kept(found):
    options = [("KH", 0.6, -2.1, 0.5), ("QS", 0.3, 0, 0)]
    row = row_of(found, options, "QS", "KH", phase="discarding", seat=0, regret=2.1, error=0.5)
    said = sentence_of(row, table_with("KH QS 3S 5S"), Rules().penalties)
    assert said.text == "Throws Q♠; keeping Q♠ guarded by two spades is 2.1 points better."


@pytest.mark.parametrize(
    ("phase", "in_trick", "card", "text"),
    [
        ("leading", 0, "5C", "Leads 5♣: 1.5 points better than leading J♣."),
        ("following", 1, "5C", "Ducks with 5♣: 1.5 points better than going over with J♣."),
        ("following", 2, "5C", "Ducks with 5♣: 1.5 points better than taking the trick with J♣."),
        ("passing", 0, "5C", "Passes 5♣: 1.5 points better than passing J♣."),
    ],
)
def test_sentence__says_what_is_done(found, phase, in_trick, card, text):
    options = [(card, 0.6, 0, 0), ("JC", 0.3, 1.5, 0.3)]
    row = row_of(found, options, card, card, phase=phase, seat=0, regret=0.0, error=0.0)
    state = table_with("5C JC", in_trick=in_trick)
    assert sentence_of(row, state, Rules().penalties).text == text


@pytest.mark.parametrize(
    ("policy", "difference", "error"), [(0.3, 0.4, 0.01), (0.3, 2.0, 0.9), (0.01, 5.0, 0.1)]
)
def test_sentence__none_where_the_numbers_bear_none(found, policy, difference, error):
    """Too little, too uncertain, or a card that nobody would think of."""
    options = [("5C", 0.6, 0, 0), ("JC", policy, difference, error)]
    row = row_of(found, options, "5C", "5C", phase="leading", seat=0, regret=0.0, error=0.0)
    assert sentence_of(row, table_with("5C JC", in_trick=0), Rules().penalties) is None


def test_sentence__every_one_of_a_review_is_borne_by_its_numbers(found):
    said = 0
    for reviewed in found.hands:
        for row, state in zip(reviewed.decisions, reviewed.found.states, strict=True):
            sentence = sentence_of(row, state, Rules().penalties)
            if sentence is None:
                continue
            said += 1
            options = {option.card: option for option in row.options}
            better, worse = options[sentence.better], options[sentence.worse]
            gap, error = worse.difference - better.difference, max(better.error, worse.error)
            assert gap == pytest.approx(sentence.points)
            assert gap >= LEAST
            assert gap > STRICT * error
            assert row.card in (sentence.better, sentence.worse)
            assert re.findall(r"\d+\.\d", sentence.text) == [f"{gap:.1f}"]
            for name in re.findall(r"(?:10|[2-9JQKA])[♣♦♥♠]", sentence.text):
                assert name in (card_name(better.card), card_name(worse.card))
            if guards := re.search(r"by (\w+) spades", sentence.text):
                held = [c for c in cards_of(state.holding[row.seat]) if 39 <= c < QUEEN]
                number = ["two", "three", "four", "five", "six", "seven"].index(guards[1]) + 2
                assert number == len(set(held) - {better.card})
    assert said > 3


# --- totals and comparisons ---------------------------------------------------------------------


def test_losses__add_up_and_the_dearest_come_first(found):
    by_phase = losses(found.decisions)
    assert list(by_phase) == [phase for phase in PHASES if phase in by_phase]
    assert sum(loss.decisions for loss in by_phase.values()) == len(found.decisions)
    whole = losses(found.decisions, lambda row: "all")["all"]
    assert whole.points == pytest.approx(sum(row.regret for row in found.decisions))
    assert whole.error == pytest.approx(sum(row.error**2 for row in found.decisions) ** 0.5)
    dear = dearest(found.decisions)
    assert len(dear) == 3
    assert dear[0].regret == max(row.regret for row in found.decisions if row.dear)
    assert [row.regret for row in dear] == sorted((row.regret for row in dear), reverse=True)


def test_comparison__phases_add_up_to_all_and_kinds_to_their_phase(found):
    lines = comparison(found.decisions, "duck", "champion")
    assert lines[-1][:2] == ("in all", "in all")
    phases = {line.phase: line for line in lines[:-1] if line.kind == "in all"}
    assert tuple(phases) == PHASES
    for name in ("often", "first", "second", "gap"):
        whole = getattr(lines[-1], name)
        assert sum(getattr(line, name) for line in phases.values()) == pytest.approx(whole)
        for phase, line in phases.items():
            kinds = [other for other in lines if other.phase == phase and other.kind != "in all"]
            assert sum(getattr(o, name) for o in kinds) == pytest.approx(getattr(line, name))
    ducks = [row for row in found.decisions if row.agent == "duck"]
    assert lines[-1].first == pytest.approx(sum(row.regret for row in ducks) / 2)
    assert lines[-1].gap == pytest.approx(lines[-1].first - lines[-1].second)
    with pytest.raises(ValueError, match="random has no decision"):
        comparison(found.decisions, "random", "duck")
    assert explained(found.decisions, "duck", "champion", "x").row_count == len(lines)


@pytest.mark.parametrize("games", [{"deals": 1}, {"matches": 1}], ids=["deals", "matches"])
def test_evaluate__explains_the_first_two_agents_and_writes_a_review(
    games, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(evaluating_module, "review", partial(review, worlds=1))
    monkeypatch.setattr(evaluating_module, "HANDS", 1)
    monkeypatch.setattr(evaluating_module, "EXPLAINED", 1)
    page = tmp_path / "r.html"
    config = evaluate.EvaluateConfig(("duck", "heuristic"), **games, review=page, explain=True)
    evaluate.main(config)
    said = capsys.readouterr().out
    assert "points that duck and heuristic give away in a hand, 2 hands" in said
    for phase in PHASES:
        assert phase in said
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_evaluate__says_at_once_that_nobody_can_review(tmp_path):
    config = evaluate.EvaluateConfig(("duck", "random"), rules="cancellation", explain=True)
    with pytest.raises(ValueError, match="no champion of 'cancellation'"):
        evaluate.main(config)


# --- files and the page -------------------------------------------------------------------------


def test_file__a_damaged_line_is_named_and_the_rest_shown(tmp_path, hands, capsys):
    path, page = tmp_path / "h.jsonl", tmp_path / "r.html"
    record.write(path, hands[:1])
    path.write_text(path.read_text() + '{"version": 1}\n' + path.read_text())
    command([str(path), "-o", str(page), "--worlds", "1", "--hands", "1"])
    said = capsys.readouterr()
    assert f"{path}, line 2: there is no entry 'rules'" in said.err
    assert f"{page}: 1 hands" in said.out
    found = review_file(path, worlds=1, most=1)
    assert [damage.line for damage in found.damages] == [2]
    assert found.left_out == 1
    assert page_of(found, "h.jsonl") == page.read_text(encoding="utf-8"), "the same, byte for byte"
    data = data_of(found)
    assert data["damages"] == [[2, "there is no entry 'rules'"]]
    assert data["leftOut"] == 1


def test_file__without_a_hand_that_can_be_reviewed(tmp_path, capsys):
    path = tmp_path / "h.jsonl"
    path.write_text("nothing\n")
    command([str(path), "-o", str(tmp_path / "r.html")])
    assert "line 1: not JSON" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command([str(path), "-o", str(tmp_path / "r.txt")])
    assert "give a name that ends in .html" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command([str(tmp_path / "none"), "-o", str(tmp_path / "r.html")])
    assert "none: No such file" in capsys.readouterr().err


def marked(found):
    """A review in which every text is markup."""
    first = found.hands[0]
    rules = first.hand.rules.replace(name=MARKUP)
    hand = replace(first.hand, agents=(MARKUP,) * 3, rules=rules)
    rows = [replace(row, agent=MARKUP, kind=MARKUP) for row in first.decisions]
    hands = [replace(first, found=replace(first.found, hand=hand), decisions=rows)]
    return replace(found, agent=MARKUP, hands=hands, damages=[record.Damage(1, MARKUP)])


def test_page__no_text_can_become_markup(found):
    page = page_of(marked(found), MARKUP)
    assert "<img" not in page
    assert len(re.findall("<script", page)) == len(re.findall("</script", page)) == 2
    assert "onerror" in page, "it is shown"
    assert embedded({"a": "<!-- </script>&\u2029"}) == (
        '{"a":"\\u003c!-- \\u003c/script\\u003e\\u0026\\u2029"}'
    )


def test_page__asks_for_nothing_from_outside(found):
    page = page_of(found)
    assert "default-src 'none'" in page
    assert re.findall(r"(?:src|href)=[\"'](?!data:)", page) == []
    assert set(re.findall(r"https?://[^\"'\s]*", page)) == {"http://www.w3.org/2000/svg"}


def test_page__twenty_hands_are_under_a_megabyte(found):
    one = len(embedded(data_of(replace(found, hands=found.hands[:1]))).encode())
    both = len(page_of(found).encode())
    assert both + 18 * one < 1_000_000


def test_page__its_steps_lead_through_the_tables_and_its_totals_are_the_records(found):
    for reviewed, entry in zip(found.hands, data_of(found)["hands"], strict=True):
        hand, seen = reviewed.hand, [entry["start"]]
        for changes in entry["steps"]:
            state = {**seen[-1], "places": [dict(place) for place in seen[-1]["places"]]}
            for path, value in changes.items():
                *keys, last = path.split(".")
                at = state
                for key in keys:
                    at = at[int(key)] if isinstance(at, list) else at[key]
                at[last] = value
            seen.append(state)
        tables = hand.steps()
        assert seen == [state_of(Scene.of(state, hand.rules), hand.agents) for state in tables]
        assert entry["penalties"] == list(hand.penalties)
        assert [place["penalties"] for place in seen[-1]["places"]] == list(hand.penalties)
        assert len(entry["moves"]) == len(entry["steps"])


def test_page__a_decision_has_its_numbers_rounded(found):
    row = found.decisions[0]
    shown = data_of(found)["hands"][0]["decisions"][row.ply]
    assert shown["regret"] == pytest.approx(row.regret, abs=0.005)
    assert [option[0] for option in shown["options"]] == [option.card for option in row.options]
