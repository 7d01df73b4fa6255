"""Policies for other programs: ONNX, PyTorch's exported program, safetensors."""

import json
import os

import numpy as np
import pytest
import torch

from black_maria import Rules, Tables, layout_of
from black_maria.extras import MissingExtraError, need
from black_maria_agents import CheckpointError, load_agent
from black_maria_agents.export import ExportConfig, export, main
from black_maria_agents.network import ObservationPolicy, Policy, PolicyAgent
from test_files import outcomes, posix, refused, small_disk

RULES = Rules.profile("three_player")
DECISIONS = 1000


def tiny(blocks=("holding", "phase"), rules=RULES):
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return PolicyAgent(Policy(layout_of(rules), 4, blocks), rules, name="tiny")


def decisions(agent, count):
    """Observations and masks of hands that an agent plays in all seats, and its cards."""
    tables = Tables(60, agent.rules, seed=5)
    rows = []
    while 60 * len(rows) < count:
        obs, _ = tables.observe()
        cards = agent.act(obs, tables.keys())
        rows.append((obs["observation"].copy(), obs["action_mask"].copy(), cards))
        tables.step(cards)
    return [np.concatenate(part)[:count] for part in zip(*rows, strict=True)]


# --- the form that takes observations ------------------------------------------------------------


@pytest.mark.parametrize("rules", ["three_player", "american_hearts"])
def test_policy_of_observations__gives_the_bits_that_the_agent_has(rules):
    agent = load_agent("champion", rules)
    observation, mask, _ = decisions(agent, 24)  # a size of pass that the agent has
    policy = ObservationPolicy(agent.policy, layout_of(rules))
    with torch.inference_mode():
        found = policy(torch.from_numpy(observation), torch.from_numpy(mask))
    assert torch.equal(found, agent.log_probs(observation, mask))


def test_policy_of_observations__shares_the_weights_and_adds_none():
    policy = tiny().policy
    state = ObservationPolicy(policy, layout_of(RULES)).state_dict()
    assert state.keys() == {f"policy.{name}" for name in policy.state_dict()}


# --- files that run by themselves ----------------------------------------------------------------


def test_onnx__plays_the_cards_that_the_agent_plays_in_a_thousand_decisions(tmp_path):
    for module in ("onnx", "onnxscript"):
        pytest.importorskip(module)
    runtime = pytest.importorskip("onnxruntime")
    agent = load_agent("champion")
    export(agent, tmp_path / "champion.onnx")
    session = runtime.InferenceSession(tmp_path / "champion.onnx")
    observation, mask, cards = decisions(agent, DECISIONS)
    assert (mask.sum(axis=1) > 1).mean() > 0.5
    for size in (1, 7, DECISIONS):  # any batch
        rows = {"observation": observation[:size], "action_mask": mask[:size]}
        (log_probs,) = session.run(["log_probs"], rows)
        assert log_probs.shape == (size, 52)
        assert np.array_equal(log_probs.argmax(axis=1), cards[:size])
    assert np.array_equal(np.isfinite(log_probs), mask == 1)
    assert [shown.shape for shown in session.get_inputs()] == [["batch", 656], ["batch", 52]]
    about = json.loads(session.get_modelmeta().custom_metadata_map["black_maria"])
    assert Rules(**about["rules"]) == RULES
    assert about["made_from"] == agent.identity


def test_exported_program__plays_the_same_cards_in_any_batch(tmp_path):
    agent = tiny()
    export(agent, tmp_path / "tiny.pt2")
    policy = torch.export.load(tmp_path / "tiny.pt2").module()
    observation, mask, cards = decisions(agent, 60)
    for size in (1, 60):
        log_probs = policy(torch.from_numpy(observation[:size]), torch.from_numpy(mask[:size]))
        assert torch.equal(log_probs.argmax(-1), torch.from_numpy(cards[:size]))


@pytest.mark.parametrize(
    ("agent", "out", "words"),
    [
        ("duck", "duck.onnx", "duck isn't a trained policy: give champion or a checkpoint"),
        ("champion", "champion.h5", "give a name that ends in .onnx or .safetensors or .pt2"),
        ("champion", "none/champion.onnx", "can't be written: there is no folder"),
    ],
)
def test_export__another_agent_another_suffix_and_no_folder_are_refused(
    agent, out, words, tmp_path
):
    refused(lambda: main(ExportConfig(agent, tmp_path / out)), words)
    assert not list(tmp_path.iterdir())


def test_need__names_the_extra():
    with pytest.raises(MissingExtraError, match=r"needs nothing_here: .*'black-maria\[export\]'"):
        need("nothing_here.torch", "export")


# --- safetensors ---------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path):
    pytest.importorskip("safetensors")
    export(tiny(), tmp_path / "tiny.safetensors")
    return tmp_path / "tiny.safetensors"


def test_safetensors__loads_as_the_agent_that_it_was_made_from(tmp_path, capsys):
    pytest.importorskip("safetensors")
    path = tmp_path / "hearts.safetensors"
    main(ExportConfig("champion", path, rules="american_hearts"))
    assert "american_hearts" in capsys.readouterr().out
    agent, before = (load_agent(n, "american_hearts") for n in (str(path), "champion"))
    observation, mask, _ = decisions(before, 50)
    assert torch.equal(agent.log_probs(observation, mask), before.log_probs(observation, mask))
    assert agent.name == str(path)
    assert len(agent.identity.removeprefix(f"{path} ")) == 16
    main(ExportConfig(str(path), tmp_path / "again.safetensors"))  # which rules: the file says
    assert Rules(**json.loads(_header(tmp_path / "again.safetensors"))["rules"]) == agent.rules


def _header(path):
    safetensors = pytest.importorskip("safetensors")
    with safetensors.safe_open(path, "pt") as opened:
        return opened.metadata()["black_maria"]


def test_safetensors__other_readers_open_it(file):
    torch_file = pytest.importorskip("safetensors.torch")
    weights = torch_file.load_file(file)
    assert all(torch.equal(weights[k], v) for k, v in tiny().policy.state_dict().items())
    assert json.loads(_header(file))["blocks"] == {"holding": [52], "phase": [2]}


def test_safetensors__the_same_policy_gives_the_same_bytes(file):
    before = file.read_bytes()
    for _ in range(5):
        export(tiny(), file)
        assert file.read_bytes() == before


@posix
def test_safetensors__every_byte_with_a_bit_flipped_and_every_cut_is_refused(file):
    found = list(outcomes(file, lambda: load_agent(str(file)), lambda i: (i % 8,), every=3))
    assert {type(words) for words in found} == {str}
    assert all("tiny.safetensors can't be read as a policy: it " in words for words in found)


def test_safetensors__foreign_and_missing_files_are_refused_in_words(tmp_path, file):
    torch_file = pytest.importorskip("safetensors.torch")
    path = tmp_path / "a.safetensors"
    contents = {
        b"": "it is empty",
        b"hello, world" * 9: "it isn't a safetensors file",
        torch_file.save({"w": torch.zeros(1)}): "but not of a Black Maria policy",
        torch_file.save({}, {"black_maria": "{}"}): "its checksum is missing",
    }
    for content, words in contents.items():
        path.write_bytes(content)
        refused(
            lambda: load_agent(str(path)), f"a.safetensors can't be read as a policy: .*{words}"
        )
    refused(lambda: load_agent("no.safetensors"), "there is no file no.safetensors")
    refused(lambda: load_agent(str(file), "four_player"), "trained for 'three_player'; these rules")
    (tmp_path / "folder.safetensors").mkdir()
    refused(lambda: load_agent(str(tmp_path / "folder.safetensors")), "it isn't a file")


def test_safetensors__weights_that_are_not_finite_are_not_written(file):
    agent, before = tiny(), file.read_bytes()
    agent.policy.cards.weight.data[0, 0] = torch.nan
    refused(lambda: export(agent, file), "isn't written: its policy: cards.weight isn't finite")
    assert file.read_bytes() == before


@posix
def test_safetensors__a_full_disk_keeps_what_was_there(file):
    before = file.read_bytes()
    full = pytest.raises(OSError, match=r"tiny\.safetensors")
    with full, small_disk(100):
        export(tiny(), file)
    assert file.read_bytes() == before
    assert os.listdir(file.parent) == [file.name]


def test_safetensors__is_a_checkpoint_error_like_any_other(file):
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(CheckpointError):
        load_agent(str(file))
