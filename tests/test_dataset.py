"""Data sets of decisions: what is in them, the same bytes twice, believed only when verified."""

import hashlib
import importlib.util
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from black_maria import Rules, Tables, make_bot
from black_maria_agents import dataset, load_agents
from black_maria_agents.dataset.__main__ import DatasetConfig, main
from black_maria_agents.dataset.making import make
from black_maria_agents.dataset.playing import play, seating
from test_files import posix, refused, small_disk

pytest.importorskip("pyarrow")

ROOT = Path(__file__).parent.parent
RULES = Rules.profile("three_player")
NAMES = ["champion", "heuristic"]
HANDS = 16
BOTS = {name: make_bot(name) for name in ("duck", "random")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Sixteen hands of the champion and heuristic, in three shards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("black_maria_agents.dataset.making.SHARD", 6)
        made = tmp_path_factory.mktemp("sets") / "data"
        rows = make(made, load_agents(NAMES), HANDS, rules=RULES, seed=3, tables=4)
    assert rows == HANDS * RULES.plies()
    return made


def all_rows(data):
    batches = list(data)
    return {name: torch.cat([batch[name] for batch in batches]).numpy() for name in batches[0]}


@pytest.fixture(scope="module")
def rows(folder):
    return all_rows(dataset.load(folder))


# --- what is in it --------------------------------------------------------------------------------


def test_rows__are_what_the_environment_shows_when_the_cards_are_played_again(rows):
    tables = Tables(HANDS, RULES, seed=3, deal_on=False)
    by_ply = {name: array.reshape(HANDS, RULES.plies(), -1) for name, array in rows.items()}
    left = np.zeros((HANDS, 3))
    told = np.full((HANDS, 3), np.nan)
    for ply in range(RULES.plies()):
        obs, seat = tables.observe()
        row = {name: array[:, ply] for name, array in by_ply.items()}
        assert np.array_equal(row["hand"][:, 0], np.arange(HANDS))
        assert (row["ply"] == ply).all()
        assert np.array_equal(row["seat"][:, 0], seat)
        assert np.array_equal(row["observation"], obs["observation"])
        assert np.array_equal(row["action_mask"], obs["action_mask"])
        holding = row["holding"].reshape(HANDS, 3, 52)
        assert np.array_equal(holding[:, 0], obs["observation"][:, tables.layout["holding"]])
        for hand in range(HANDS):
            held = tables.states()["holding"][hand, (seat[hand] + 1) % 3, 0]
            assert np.array_equal(holding[hand, 1], held >> np.arange(52) & 1)
        every = np.arange(HANDS)
        first = np.isnan(told[every, seat])
        told[every[first], seat[first]] = row["reward_to_come"][first, 0]
        assert np.allclose(told[every, seat] - left[every, seat], row["reward_to_come"][:, 0])
        rewards, _ = tables.step(row["card"][:, 0])
        left += rewards
    assert np.array_equal(told, left)
    assert (told.sum(axis=1) == -43).all()


def test_probabilities__are_the_policys_and_nothing_where_there_is_none(rows):
    champion = rows["agent"] == 0
    of_champion = rows["probabilities"][champion]
    assert np.allclose(of_champion.sum(axis=1), 1, atol=1e-5)
    assert np.array_equal(of_champion.argmax(axis=1), rows["card"][champion])
    assert not of_champion[rows["action_mask"][champion] == 0].any()
    assert (of_champion.max(axis=1) < 0.9).mean() > 0.1
    assert not rows["probabilities"][~champion].any()


def test_cards__are_those_that_the_agents_play_from_the_rows_keys(rows):
    """Sixteen hands side by side give what four by four did."""
    agents = [*load_agents(NAMES).values()]
    again = play(agents, range(HANDS), rules=RULES, seed=3, tables=HANDS)
    for name, column in again.items():
        assert np.array_equal(column, rows[name]), name


def test_seating__every_mix_of_seats_comes_up_as_often():
    places = seating(np.arange(24), 2, 3)
    found, counts = np.unique(places, axis=0, return_counts=True)
    assert len(found) == 8
    assert set(counts) == {3}


def test_rows__of_hands_of_different_lengths_and_of_a_moon():
    """Every fourth hand of American Hearts has no pass; rewards are own less others' mean."""
    rules = Rules.profile("american_hearts")
    rows = play([make_bot("random", rules)], range(8), rules=rules, seed=1, tables=3)
    assert [(rows["hand"] == hand).sum() for hand in range(8)] == [64, 64, 64, 52] * 2
    assert all(b == a + 1 or b == 0 for a, b in pairwise(rows["ply"]))
    for hand in range(8):
        mine = [(rows["hand"] == hand) & (rows["seat"] == seat) for seat in range(4)]
        told = [rows["reward_to_come"][rows_of][0] for rows_of in mine]
        assert abs(sum(told)) < 1e-4
        assert max(map(abs, told)) > 1


# --- the folder -----------------------------------------------------------------------------------


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_make__the_same_bytes_twice_whatever_is_played_side_by_side(tmp_path):
    for name, tables in (("a", 3), ("b", 40)):
        make(tmp_path / name, BOTS, 10, rules=RULES, seed=9, tables=tables)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    make(tmp_path / "c", BOTS, 10, rules=RULES, seed=8)
    assert contents(tmp_path / "a") != contents(tmp_path / "c")


def test_make__writes_the_checksum_of_every_file(folder):
    files = contents(folder)
    lines = files.pop("SHA256SUMS").decode().splitlines()
    assert lines == [f"{hashlib.sha256(files[name]).hexdigest()}  {name}" for name in sorted(files)]
    assert sorted(files) == ["README.md", *(f"decisions-0000{k}.parquet" for k in range(3))]


def test_sheet__says_what_is_in_it_and_how_to_read_it_without_this_package(folder, rows):
    sheet = (folder / "README.md").read_text(encoding="utf-8")
    assert "dataset champion heuristic --hands 16 --seed 3 --rules three_player" in sheet
    assert f"{len(rows['card']):,} decisions of champion, heuristic" in sheet
    assert all(f"| `{name}` | " in sheet for name in rows)
    choices = (rows["action_mask"][rows["agent"] == 0].sum(axis=1) > 1).sum()
    assert re.search(rf"\| `champion` \| champion \w+ \| [\d,]+ \| {choices:,} \|", sheet)
    (code,) = re.findall(r"((?:^    .*\n|^\n)+)\n`sha256sum", sheet, re.MULTILINE)
    code = re.sub("^    ", "", code, flags=re.MULTILINE) + "print(observation.sum())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == rows["observation"][: 6 * RULES.plies()].sum()


def test_main__makes_it_and_says_so(tmp_path, capsys):
    main(DatasetConfig(("duck", "random"), tmp_path / "data", hands=2))
    assert "data: 120 decisions of 2 hands" in " ".join(capsys.readouterr().out.split())
    assert dataset.load(tmp_path / "data").agents == ["duck", "random"]


def test_make__a_folder_that_holds_something_and_other_nonsense_are_refused(tmp_path):
    (tmp_path / "file").touch()

    def given(name="data", agents=BOTS, hands=2, **options):
        return lambda: make(tmp_path / name, agents, hands, rules=RULES, **options)

    refused(given(""), "holds 'file' already: give a folder, new or empty")
    refused(given("file"), "file is a file: give a folder, new or empty")
    refused(given("none/data"), "can't be made: there is no folder .*none")
    refused(given(hands=0), "hands=0: there must be at least one hand")
    refused(given(agents={}), "give 1 to 100 agents, not 0")
    refused(given(seed=2**63), "seeds of data are 0")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@posix
def test_make__a_full_disk_leaves_no_shard_that_is_not_whole(tmp_path):
    full = pytest.raises(OSError, match=r"decisions-00000\.parquet")
    with full, small_disk(1000):
        make(tmp_path / "data", BOTS, 2, rules=RULES)
    assert contents(tmp_path / "data") == {}
    refused(lambda: dataset.load(tmp_path / "data"), "is no data set: a SHA256SUMS is missing")


# --- the loader -----------------------------------------------------------------------------------


def copied(folder, tmp_path):
    target = tmp_path / "data"
    target.mkdir()
    for name, content in contents(folder).items():
        (target / name).write_bytes(content)
    return target


@pytest.mark.parametrize("name", ["README.md", "decisions-00001.parquet"])
def test_load__a_flipped_bit_a_cut_and_a_missing_file_are_refused(name, folder, tmp_path):
    data = copied(folder, tmp_path)
    content = bytearray((data / name).read_bytes())
    for place in (0, len(content) // 2, len(content) - 1):
        content[place] ^= 4
        (data / name).write_bytes(content)
        refused(lambda: dataset.load(data), f"{name} is damaged: it doesn't match its checksum")
        content[place] ^= 4
    (data / name).write_bytes(content[:-1])
    refused(lambda: dataset.load(data), f"{name} is damaged")
    (data / name).unlink()
    refused(lambda: dataset.load(data), f"data isn't whole: {name}: No such file")


def test_load__checksums_that_are_damaged_or_missing_are_refused(folder, tmp_path):
    data = copied(folder, tmp_path)
    lines = (data / "SHA256SUMS").read_text().splitlines(keepends=True)
    for text, words in {
        "": "is no data set of this package",
        "nonsense\n": "SHA256SUMS is damaged: 'nonsense' isn't a checksum's line",
        "".join(lines).replace("README.md", "../x.md"): "isn't a checksum's line",
        "".join([*lines[:-1]]): "isn't whole: it has 2 of 3 shards",
    }.items():
        (data / "SHA256SUMS").write_text(text)
        refused(lambda: dataset.load(data), words)
    (data / "SHA256SUMS").unlink()
    refused(lambda: dataset.load(data), "isn't whole: its SHA256SUMS is missing")
    refused(lambda: dataset.load(tmp_path / "none"), "none is no data set: a SHA256SUMS is missing")


def test_load__only_some_agents_and_only_choices(folder, rows):
    data = dataset.load(folder, agents=["heuristic"], choices=True, batch=100)
    found = all_rows(data)
    several = rows["action_mask"].sum(axis=1) > 1
    wanted = (rows["agent"] == 1) & several
    for name in rows:
        assert np.array_equal(found[name], rows[name][wanted]), name
    assert max(len(batch["card"]) for batch in data) == 100
    assert (data.rules, data.agents, data.hands, data.seed) == (RULES, NAMES, HANDS, 3)
    refused(lambda: dataset.load(folder, agents=["duck"]), "duck isn't in .*: there are champion")
    refused(lambda: dataset.load(folder, batch=0), "batch=0")


def order(data):
    found = all_rows(data)
    return found["hand"] * 100 + found["ply"]


def test_load__shuffled_rows_are_all_there_in_an_order_of_the_seed_and_the_epoch(folder):
    in_turn = order(dataset.load(folder))
    data = dataset.load(folder, shuffle=1)
    first, second = order(data), order(data)
    for each in (first, second):
        assert np.array_equal(np.sort(each), in_turn)
    assert not np.array_equal(first, second)
    assert np.array_equal(order(dataset.load(folder, shuffle=1)), first)
    data.epoch = 1
    assert np.array_equal(order(data), second)
    assert not np.array_equal(order(dataset.load(folder, shuffle=2)), first)


def test_load__workers_share_the_shards(folder, monkeypatch):
    data = dataset.load(folder, shuffle=1)
    found = []
    for worker in range(2):
        info = SimpleNamespace(id=worker, num_workers=2)
        monkeypatch.setattr("black_maria_agents.dataset.reading.get_worker_info", lambda i=info: i)
        data.epoch = 0
        found.append(order(data))
    assert len(found[0]) > len(found[1]) > 0
    monkeypatch.undo()
    assert np.array_equal(np.sort(np.concatenate(found)), order(dataset.load(folder)))
    loader = DataLoader(data, batch_size=None)
    assert sum(len(batch["card"]) for batch in loader) == HANDS * RULES.plies()


# --- what is made of it ---------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::UserWarning:minari")
def test_to_minari__a_seats_hands_are_episodes(folder, rows, tmp_path, monkeypatch):
    pytest.importorskip("minari")
    pytest.importorskip("h5py")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    made = dataset.to_minari(folder, "black-maria/test-v0", seat=1, agent="champion")
    mine = (rows["seat"] == 1) & (rows["agent"] == 0)
    assert made.total_episodes == HANDS / 2
    assert made.total_steps == mine.sum()
    episode, first = made[0], rows["hand"][mine][0]
    of_hand = mine & (rows["hand"] == first)
    assert np.array_equal(episode.actions, rows["card"][of_hand])
    assert np.array_equal(episode.observations["observation"][:-1], rows["observation"][of_hand])
    assert episode.rewards.sum() == rows["reward_to_come"][of_hand][0]
    assert np.flatnonzero(episode.terminations).tolist() == [len(episode.actions) - 1]
    refused(lambda: dataset.to_minari(folder, "a-v0", seat=3), "seat=3: seats are 0 … 2")


def test_example__imitates(folder, capsys):
    """Of 16 hands little can be learnt: but that the losses fall."""
    spec = importlib.util.spec_from_file_location("imitate", ROOT / "examples" / "imitate.py")
    imitate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(imitate)
    data = dataset.load(folder, agents=["champion"], choices=True, shuffle=1, batch=8)
    policy, losses = imitate.learn(data, epochs=4, width=32)
    assert losses[-1] < losses[0] - 0.1
    assert "epoch 4: " in capsys.readouterr().out
    assert policy.width == 32
