"""One network for many rules: seats that aren't there, rows of several rules, files, training."""

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
import torch

from black_maria import PROFILES, Rules, Tables, layout_of
from black_maria.rules_vector import HAND_CLAUSES
from black_maria.rulesets import draw
from black_maria_agents import CheckpointError, checkpoint, load_agent
from black_maria_agents.adopting import adopt
from black_maria_agents.features import hidden_labels, hidden_size
from black_maria_agents.network import OracleCritic, Policy, PolicyAgent, UnderRules
from black_maria_agents.training import PPO, PPOConfig, TrainConfig, Training
from black_maria_agents.training.batch import Batch
from black_maria_agents.training.mixed import MixedPlay
from black_maria_agents.training.selfplay import SelfPlay
from black_maria_agents.universal import RulesRows
from helpers import play
from test_training import same, steps

SEATS = (3, 4, 5, 6)
MIXED = TrainConfig(
    rules="mixed", decisions=16 * 20 * 60, tables=16, rule_sets=4, width=16, precision="float32",
    ppo=PPOConfig(minibatch=200),
)  # fmt: skip


def profile(seats):
    """Rules whose moon makes all blocks matter."""
    return Rules.profile("dirty_lady", seats)


def policy(width=16, seed=1):
    torch.manual_seed(seed)
    made = Policy(layout_of("three_player"), width, clauses=HAND_CLAUSES)
    for parameter in made.parameters():  # else all cards are nearly alike at first
        parameter.data.mul_(1.5)
    return made


def seen(rules, plies=9, tables=40):
    """Observations and masks within a hand."""
    made = Tables(tables, rules, seed=3)
    play(made, plies)
    obs, _ = made.observe()
    return obs["observation"].copy(), obs["action_mask"].copy()


@pytest.mark.parametrize("seats", SEATS)
def test_seats__weights_of_absent_ones_are_not_used(seats):
    network, rules = policy(), profile(seats)
    observation, mask = seen(rules)
    before = PolicyAgent(network, rules).log_probs(observation, mask)
    here = {label[1] for label in network.under(rules).features.suit_labels if len(label) > 2}
    absent = torch.tensor([
        len(label) > 1 and label[1] in {"left", "right", "seat +2", "seat +3", "seat +4"} - here
        for label in network.features.suit_labels
    ])  # fmt: skip
    assert absent.any() == (seats < 6)
    with torch.no_grad():
        network.body.suit_in.weight[:, absent] = torch.nan
    assert torch.equal(PolicyAgent(network, rules).log_probs(observation, mask), before)
    with torch.no_grad():
        network.body.suit_in.weight[:, ~absent] += 0.1
    assert not torch.equal(PolicyAgent(network, rules).log_probs(observation, mask), before)


def test_seats__the_right_neighbour_has_the_same_weights_at_every_table():
    columns = [
        [place for place, label in enumerate(network.features.suit_labels) if "right" in label]
        for network in (policy(), policy())
    ]
    assert columns[0] == columns[1]
    for seats in SEATS:
        labels = policy().under(profile(seats)).features.suit_labels
        assert {("played", "me", "Q"), ("played", "left", "Q"), ("played", "right", "Q")} < set(
            labels
        )
    four = policy().under(profile(4)).features.suit_labels
    assert ("played", "seat +2", "Q") in four  # who sits across
    assert not any("across" in label for label in four)


@pytest.mark.parametrize("seats", SEATS)
def test_hidden__has_a_label_for_every_input_of_a_suit(seats):
    assert len(hidden_labels(seats)) * 4 == hidden_size(layout_of(profile(seats)))
    assert hidden_labels(3)[0] == ("hidden", "left", "held", "2")
    assert hidden_labels(3)[-1] == ("hidden", "right", "passed", "A")


def test_prices__change_what_is_played_and_the_name_does_not():
    network = policy()
    observation, mask = seen(Rules())
    before = PolicyAgent(network, Rules()).log_probs(observation, mask)
    named = Rules().replace(name="ours", match_points=50)  # which no hand can feel
    assert torch.equal(PolicyAgent(network, named).log_probs(observation, mask), before)
    dearer = Rules().replace(penalties=(*Rules().penalties[:51], 20))
    assert not torch.equal(PolicyAgent(network, dearer).log_probs(observation, mask), before)


def test_clauses__of_cards_are_read_suit_by_suit():
    network = policy()
    observation, mask = seen(Rules())
    before = PolicyAgent(network, Rules()).log_probs(observation, mask)
    for clause in ({"first_trick_ban": "QS"}, {"kept": "QS"}):
        other = PolicyAgent(network, Rules(**clause)).log_probs(observation, mask)
        assert not torch.equal(other, before)


@pytest.mark.parametrize("deaf", ["told_out", "whole"])
def test_clauses__of_no_card_are_read_by_the_suits_and_by_the_whole(deaf):
    network = policy()
    with torch.no_grad():
        getattr(network.body.rules, deaf).weight.zero_()
    observation, mask = seen(Rules())
    one, other = (
        PolicyAgent(network, rules).log_probs(observation, mask)
        for rules in (Rules(), Rules(break_hearts=True))
    )
    assert not torch.equal(one, other)


def test_captured__is_read_where_a_moon_may_be_shot_alone():
    blocks = [policy().under(rules).features.blocks for rules in (Rules(), profile(3))]
    assert [("captured" in names) for names in blocks] == [False, True]


def test_batch__rows_of_several_rules_are_as_each_alone():
    network = policy()
    rules = [draw(seed, 3) for seed in range(40)]
    rules = [each for each in rules if each.moon == "none"][:5]
    parts, alone = [], []
    for each in rules:
        under = network.under(each)
        observation, mask = seen(each, tables=7)
        features = torch.from_numpy(under.features.of(observation))
        parts.append((features, torch.from_numpy(mask), under.rows(7, torch.device("cpu"))))
        alone.append(under(*parts[-1][:2]))
    features, mask, rows = zip(*parts, strict=True)
    together = network(torch.cat(features), torch.cat(mask), RulesRows.joined(rows))
    assert torch.allclose(together, torch.cat(alone), atol=1e-5)
    order = torch.randperm(35, generator=torch.Generator().manual_seed(0))
    mixed = network(
        torch.cat(features)[order], torch.cat(mask)[order], RulesRows.joined(rows).rows(order)
    )
    assert torch.allclose(mixed, torch.cat(alone)[order], atol=1e-5)


@pytest.mark.parametrize("seats", SEATS)
@pytest.mark.parametrize("network", [0, 1], ids=["policy", "critic"])
def test_read__is_made_once_for_both_networks_and_by_a_kernel_to_the_last_bit(seats, network):
    made, rules = reader(), [profile(seats), profile(seats).replace(pass_count=2)]
    dearer = rules[1].replace(penalties=(*rules[1].penalties[:51], 21))
    under = [made[0].under(each) for each in (rules[0], dearer)]
    observation, mask = seen(rules[0])
    observation[:, layout_of(rules[0]).blocks["totals"].start] = np.arange(40) - 7
    features = torch.from_numpy(under[0].features.of(observation))
    cpu = torch.device("cpu")
    rows = RulesRows.joined([each.rows(20, cpu) for each in under]).rows(torch.randperm(40))
    read, plain = made[0].read(features, rows), made[0].body._read(features, rows)
    assert all(map(torch.equal, read, plain))
    hidden = torch.randint(2, (40, hidden_size(layout_of(rules[0]))), dtype=torch.int8)
    other = torch.from_numpy(mask) if network == 0 else hidden
    assert torch.equal(made[network](read, other, rows), made[network](features, other, rows))


@pytest.mark.parametrize("seats", SEATS)
def test_agent__its_cards_do_not_depend_on_who_shares_its_batch(seats):
    rules = profile(seats)
    agent = PolicyAgent(policy(), rules)
    observation, mask = seen(rules)
    together = agent.log_probs(observation, mask)
    for row in (0, 17, 39):
        assert torch.equal(agent.log_probs(observation[row : row + 1], mask[row : row + 1])[0],
                           together[row])  # fmt: skip


def test_agent__refuses_two_packs_in_words():
    with pytest.raises(ValueError, match="3 to 6 seats and one pack; 'cancellation' has 6 seats"):
        PolicyAgent(policy(), Rules.profile("cancellation"))


@pytest.mark.parametrize(
    ("name", "seats"), [(n, s) for n, (each, _) in PROFILES.items() for s in each]
)
def test_champion__there_is_one_for_every_profile_of_one_pack(name, seats):
    rules = Rules.profile(name, seats)
    if rules.packs == 2:
        with pytest.raises(ValueError, match=f"no champion of '{name}'.* one pack"):
            load_agent("champion", rules)
        return
    agent = load_agent("champion", rules)
    tables = Tables(10, rules, seed=1)
    while not (done := tables.step(agent.act(tables.observe()[0], tables.keys()))[1]).all():
        assert not done.any()


def test_champion__a_profiles_own_comes_first_and_changed_rules_have_the_universal_one():
    own = {name: load_agent("champion", name) for name in ("three_player", "american_hearts")}
    assert not any(agent.policy.clauses for agent in own.values())
    for rules in ("omnibus", Rules(pass_count=4), Rules.profile("american_hearts", moon="none")):
        agent, universal = (load_agent(name, rules) for name in ("champion", "champion:universal"))
        assert agent.policy.clauses
        assert agent.fingerprint == universal.fingerprint
    assert load_agent("champion:universal").policy.clauses == HAND_CLAUSES


# --- files ----------------------------------------------------------------------------------------


def written(path, change=lambda content: None):
    made = policy()
    torch.manual_seed(2)
    checkpoint.save(
        path, policy=made, critic=OracleCritic(layout_of("three_player"), 16, clauses=HAND_CLAUSES),
        rules=Rules(), config={}, decisions=1,
    )  # fmt: skip
    content = checkpoint.load(path)
    change(content)
    checkpoint.write(path, content)
    return made


def test_file__plays_the_same_cards_under_all_rules(tmp_path):
    made = written(tmp_path / "agent.pt")
    for seats in SEATS:
        rules = profile(seats)
        loaded = checkpoint.load_policy(tmp_path / "agent.pt", rules)
        observation, mask = seen(rules)
        assert torch.equal(loaded.log_probs(observation, mask),
                           PolicyAgent(made, rules).log_probs(observation, mask))  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update(clauses=("seats", "weather")), "'weather', which this"),
        (lambda content: content.update(clauses=("seats",)), "clauses are too few"),
        (lambda content: content.update(clauses="penalties"), "its 'clauses' is 'penalties'"),
        (lambda content: content.update(clauses=()), "reads the block 'played' as 6"),
        (lambda content: content.update(clauses=HAND_CLAUSES[1:]), "too few: seats"),
        (lambda content: content["policy"]["body.rules.whole.bias"].fill_(torch.inf), "finite"),
    ],
)
def test_file__clauses_that_cannot_be_are_refused(tmp_path, change, message):
    path = tmp_path / "agent.pt"
    written(path, change)
    with pytest.raises(CheckpointError, match=message):
        checkpoint.load_policy(path, Rules())


# --- training -------------------------------------------------------------------------------------


def test_mixed__rules_are_drawn_anew_and_follow_from_the_seed():
    def played(seed, hand=0, first_table=0):
        games = MixedPlay(sets=4, tables=8, hands=1, seed=seed, first_table=first_table)
        games.seek(hand)
        return games.collect(policy())

    first, again, other = played(1), played(1), played(1, hand=1)
    assert [each.rules for each in first] == [each.rules for each in again]
    assert all(map(torch.equal, (x.action for x in first), (x.action for x in again)))
    assert [each.rules for each in first] != [each.rules for each in other]
    assert [r.rules for r in first] == [Rules(), *(draw((1, 0, number)) for number in (1, 2, 3))]
    elsewhere = played(1, first_table=8)  # another process: the same rules, other deals
    assert [each.rules for each in elsewhere] == [each.rules for each in first]
    assert not torch.equal(elsewhere[0].features, first[0].features)


def test_mixed__every_set_has_deals_of_its_own_and_every_rollout_others():
    games = MixedPlay(sets=8, tables=8, hands=2, seed=1, seats=3)
    first, again = games.collect(policy()), games.collect(policy())
    assert first[0].rules == first[4].rules == again[0].rules == Rules()
    assert not torch.equal(first[0].features[0], first[4].features[0])
    assert not torch.equal(first[0].features[0], again[0].features[0])
    assert [each.rules for each in again[1:4]] == [draw((1, 2, number), 3) for number in (1, 2, 3)]


def test_mixed__tables_of_all_rules_that_move_together_move_as_each_set_alone():
    made = policy()
    together = MixedPlay(sets=8, tables=16, hands=2, seed=3).collect(made)
    assert len({len(rollout.seat) for rollout in together}) > 1, "some are at their end before"
    for number, rollout in enumerate(together):
        here = made.under(rollout.rules)
        alone = SelfPlay(
            rollout.rules, features=here.features, tables=2, hands=2, seed=3, first_table=2 * number
        )
        expected = alone.collect(here)
        for name in ("features", "hidden", "mask", "action"):
            assert torch.equal(getattr(rollout, name), getattr(expected, name)), name
        assert torch.allclose(rollout.log_prob, expected.log_prob, atol=1e-5)
        assert np.array_equal(rollout.choice, expected.choice)
        assert np.array_equal(rollout.done, expected.done)


def test_mixed__learns_in_bfloat16():
    run = Training(replace(MIXED, precision="bfloat16"))
    run.step()  # which refuses what isn't finite
    before = Training(MIXED)
    before.step()
    for name in ("entropy", "value_loss"):
        assert run.figures[name] == pytest.approx(before.figures[name], rel=0.05), name


def test_mixed__hands_of_all_rules_count_alike():
    games, stakes = MixedPlay(sets=6, tables=12, hands=1, seed=4, seats=4), set()
    for rollout in games.collect(policy()):
        if rollout.rules.moon == "none":
            dealt = -rollout.rewards.sum(axis=(0, 2))
            points = rollout.rules.hand_points
            stake = sum(abs(rollout.rules.penalties[card]) for card in rollout.rules.deck)
            assert np.allclose(dealt, 43 * points / stake, atol=1e-3)
            stakes.add(stake)
    assert len(stakes - {43}) > 2


def test_mixed__every_choice_is_in_the_batch_of_its_kind_with_its_rules():
    games = MixedPlay(sets=6, tables=12, hands=1, seed=3)
    made = policy()
    torch.manual_seed(2)
    critic = OracleCritic(layout_of("three_player"), 16, clauses=HAND_CLAUSES)
    ppo = PPO(made, critic, PPOConfig(minibatch=64))
    rollouts = games.collect(made)
    batches = ppo.batches(rollouts)
    assert sum(len(batch.action) for batch in batches) == sum(r.choice.sum() for r in rollouts)
    advantages = torch.cat([batch.advantage for batch in batches])
    assert abs(float(advantages.mean())) < 1e-4
    assert abs(float(advantages.std()) - 1) < 1e-2
    for batch in batches:  # the policy hasn't moved: its probabilities are those it played by
        probabilities = made(batch.features, batch.mask, batch.rules)
        chosen = probabilities.gather(-1, batch.action[:, None]).squeeze(-1)
        assert torch.allclose(chosen, batch.log_prob, atol=1e-4)


def test_step__parts_weigh_as_their_rows():
    """A gradient step on two parts of a batch is the step on the whole."""
    games = MixedPlay(sets=1, tables=4, hands=1, seed=3, seats=3)

    def after(split):
        made = policy()
        torch.manual_seed(2)
        critic = OracleCritic(layout_of("three_player"), 16, clauses=HAND_CLAUSES)
        ppo = PPO(made, critic, PPOConfig(minibatch=64))
        games.seek(0)
        (batch,) = ppo.batches(games.collect(made))
        rows = torch.arange(len(batch.action))
        parts = [batch.rows(part) for part in rows.split([10, len(rows) - 10])] if split else batch
        figures = ppo.step(parts, 0.0)
        return figures, made.body.suit_in.weight.detach().clone()

    (whole, weights), (parts, by_parts) = after(False), after(True)
    assert torch.allclose(weights, by_parts, atol=1e-5)
    assert float(whole["entropy"]) == pytest.approx(float(parts["entropy"]), rel=1e-4)
    assert isinstance(games, MixedPlay)


def test_mixed__a_run_goes_on_bit_for_bit(tmp_path):
    straight = steps(Training(MIXED), 4)
    straight.save(tmp_path / "straight.pt")
    steps(Training(MIXED), 2).save(tmp_path / "half.pt")
    resumed = steps(Training.resume(tmp_path / "half.pt"), 2)
    resumed.save(tmp_path / "resumed.pt")
    contents = [checkpoint.load(tmp_path / f"{name}.pt") for name in ("straight", "resumed")]
    assert same(*contents)
    assert contents[0]["clauses"] == HAND_CLAUSES
    assert load_agent(str(tmp_path / "straight.pt"), "omnibus").policy.clauses == HAND_CLAUSES


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"opponents": ("duck",), "opponent_share": 0.5}, "by self-play alone"),
        ({"teachers": ("champion",)}, "by self-play alone"),
        ({"best_response_to": "duck"}, "by self-play alone"),
        ({"rule_sets": 0}, "rule_sets=0: must be at least 1"),
        ({"episode": "match"}, "one profile"),
        ({"episode": "year"}, "episode"),
    ],
)
def test_mixed__settings_that_do_not_go_with_it_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(MIXED, **change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rule_sets": 5}, "tables=16 can't be shared evenly by 5"),
        ({"seats": 7}, "seats"),
        ({"init_from": "champion"}, "width=16: must be 192"),
        (
            {"init_from": "champion:universal", "rules": "three_player", "width": 128},
            "give a network of one profile",
        ),
    ],
)
def test_mixed__a_run_that_cannot_be_is_refused_when_it_is_made(change, message):
    with pytest.raises(ValueError, match=message):
        Training(replace(MIXED, **change))


def specialist(rules, width=16, seed=4):
    """Policy and critic that know nothing but these rules."""
    torch.manual_seed(seed)
    made = Policy(layout_of(rules), width), OracleCritic(layout_of(rules), width)
    for parameter in (*made[0].parameters(), *made[1].parameters()):
        parameter.data.mul_(2).add_(0.1 * torch.randn_like(parameter))
    return made


def reader(width=16):
    """Policy and critic that read the rules."""
    layout = layout_of("three_player")
    return Policy(layout, width, clauses=HAND_CLAUSES), OracleCritic(
        layout, width, clauses=HAND_CLAUSES
    )


@pytest.mark.parametrize(
    "rules", [Rules(), *map(profile, SEATS)], ids=lambda rules: f"{rules.name} {rules.seats}"
)
def test_adopt__at_its_own_table_it_is_what_the_specialist_is(rules):
    known, made = specialist(rules), reader()
    for network, other in zip(made, known, strict=True):
        adopt(network, other.state_dict(), other.features)
    observation, mask = seen(rules)
    theirs = PolicyAgent(known[0], rules).log_probs(observation, mask)
    ours = PolicyAgent(made[0], rules).log_probs(observation, mask)
    legal = mask != 0
    assert theirs[legal].std() > 0.3
    np.testing.assert_allclose(ours[legal], theirs[legal], atol=1e-5)
    rng = np.random.default_rng(1)
    hidden = torch.from_numpy(rng.integers(2, size=(40, hidden_size(layout_of(rules)))))
    values = known[1](torch.from_numpy(known[1].features.of(observation)), hidden)
    here = made[0].under(rules)
    features = torch.from_numpy(here.features.of(observation))
    got = made[1](features, hidden, here.rows(40, torch.device("cpu")))
    assert values.std() > 0.1
    np.testing.assert_allclose(got.detach(), values.detach(), atol=1e-5)


def test_adopt__a_further_seat_starts_as_the_left_neighbour():
    known, (made, _) = specialist(Rules())[0], reader()
    adopt(made, known.state_dict(), known.features)
    labels = made.features.suit_labels
    columns = {
        seat: [place for place, label in enumerate(labels) if label[:2] == ("played", seat)]
        for seat in ("left", "seat +2", "right")
    }
    weight = made.body.suit_in.weight
    assert torch.equal(weight[:, columns["seat +2"]], weight[:, columns["left"]])
    assert not torch.equal(weight[:, columns["right"]], weight[:, columns["left"]])


def test_adopt__what_the_network_has_no_place_for_is_refused():
    rules = Rules.profile("cancellation", 8)
    known, (made, _) = specialist(rules)[0], reader()
    before = {name: weight.clone() for name, weight in made.state_dict().items()}
    with pytest.raises(ValueError, match=r"reads dealer seat \+5"):
        adopt(made, known.state_dict(), known.features)
    assert same(dict(made.state_dict()), before)


def test_adopt__a_training_starts_from_a_specialist_and_learns_to_read(tmp_path):
    policy, critic = specialist(Rules())
    checkpoint.save(
        tmp_path / "agent.pt", policy=policy, critic=critic, rules=Rules(), config={}, decisions=0
    )
    run = Training(replace(MIXED, init_from=str(tmp_path / "agent.pt")))
    assert not run.ppo.policy.body.rules.told_out.weight.any()
    run.step()
    assert run.ppo.policy.body.rules.told_out.weight.any()
    run.save(tmp_path / "mixed.pt")
    again = Training.resume(tmp_path / "mixed.pt")
    assert again.step() == run.step()
    assert again.figures == run.figures


def test_under__a_policy_of_one_profile_is_itself():
    plain = Policy(layout_of("three_player"), 16)
    assert plain.under(Rules()) is plain
    assert isinstance(policy().under(Rules()), UnderRules)
    assert dataclasses.is_dataclass(Batch)
