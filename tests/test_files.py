"""Files: whole or not at all, believed only when verified, one writer."""

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch

from black_maria import Rules, layout_of, make_bot
from black_maria_agents import archives, checkpoint, files, load_agent
from black_maria_agents.files import InUseError, locked, replacing
from black_maria_agents.measuring import Arena, both_ways, measure, plot, report
from black_maria_agents.network import OracleCritic, Policy
from test_training import same

DATA = Path(__file__).parent / "data"
RULES = Rules.profile("three_player")
BOTS = {name: make_bot(name) for name in ("duck", "random")}
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits, pipes and signals")


def python(code, *arguments, **options):
    """A process that runs a piece of Python."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


# --- whole or not at all ------------------------------------------------------------------------


@contextmanager
def small_disk(size):
    """Let files grow to so many bytes: what then fails, fails as a full disk.

    No longer than the write takes: what the tests say may go to a file as well.
    """
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("mode", ["wb", "w"])
def test_replacing__the_file_is_there_only_once_it_is_whole(mode, tmp_path):
    path = tmp_path / "a.txt"
    for content in ("♠\n", "♥\r\n"):
        with replacing(path, mode) as file:
            file.write(content.encode() if mode == "wb" else content)
            assert not path.exists() or path.read_bytes() == "♠\n".encode()
        assert path.read_bytes() == content.encode()
    with pytest.raises(KeyError), replacing(path, mode) as file:
        raise KeyError
    assert path.read_bytes() == "♥\r\n".encode()
    assert names(tmp_path) == ["a.txt"]


def test_replacing__two_writers_of_one_path_dont_meet(tmp_path):
    with replacing(tmp_path / "a") as first, replacing(tmp_path / "a") as second:
        first.write(b"first" * 1000)
        second.write(b"second")
    assert (tmp_path / "a").read_bytes() == b"first" * 1000


@posix
@pytest.mark.parametrize("size", [0, 1, 5000])
def test_replacing__a_full_disk_keeps_what_was_there_and_names_it(size, tmp_path):
    path = tmp_path / "a.pt"
    path.write_bytes(b"before")
    full = pytest.raises(OSError, match=r"a\.pt")
    with full as caught, small_disk(size), replacing(path) as file:
        file.write(bytes(20_000))
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"before"
    assert names(tmp_path) == ["a.pt"]


def test_replacing__a_link_stays_and_what_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "a")
    for content in (b"1", b"2"):
        with replacing(tmp_path / "link") as file:
            file.write(content)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "folder" / "a").read_bytes() == content


@posix
def test_replacing__a_folder_a_device_and_no_folder_are_refused(tmp_path):
    for path in (tmp_path, Path(os.devnull), tmp_path / "none" / "a", tmp_path / ("a" * 300)):
        with pytest.raises(OSError) as caught, replacing(path):  # noqa: PT011
            pass
        assert caught.value.filename == str(path)
    assert not names(tmp_path)
    assert not Path(os.devnull).is_file()


def test_replacing__a_long_name_has_room_for_its_temporary_one(tmp_path):
    with replacing(tmp_path / ("♠" * 80 + ".json"), "w") as file:
        file.write("{}")


def test_sweep__takes_what_killed_writers_left_and_nothing_else(tmp_path):
    for name in ("agent.pt", "notes.tmp", "agent.pt.tmp"):
        (tmp_path / name).touch()
    writer = replacing(tmp_path / "agent.pt")
    writer.__enter__()
    assert len(names(tmp_path)) == 4
    files.sweep(tmp_path)
    assert names(tmp_path) == ["agent.pt", "agent.pt.tmp", "notes.tmp"]
    with pytest.raises(FileNotFoundError):
        writer.__exit__(None, None, None)


# --- results ------------------------------------------------------------------------------------


@posix
def test_results__tables_and_pictures_appear_whole_or_not_at_all(tmp_path):
    results = measure(BOTS, both_ways(BOTS), 3, seed=0, rules=RULES)
    write = {
        "r.json": lambda: report.write_files(tmp_path / "r.json", results, {}),
        "p.png": lambda: plot(tmp_path / "p.png", results, RULES),
    }
    for make in write.values():
        make()
    before = {name: (tmp_path / name).read_bytes() for name in ("p.png", "r.csv", "r.json")}
    for name, make in write.items():
        with pytest.raises(OSError, match=name), small_disk(300):
            make()
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


# --- the lock -----------------------------------------------------------------------------------

HOLD = """
import sys, time
from pathlib import Path
from black_maria_agents.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def hold():
    """A function that starts a process which holds a lock until it is told a line."""
    with ExitStack() as stack:

        def start(path):
            process = stack.enter_context(python(HOLD, path))
            stack.callback(process.kill)
            assert process.stdout.readline() == "held\n", process.stderr.read()
            return process

        yield start


def test_lock__another_process_is_named_until_it_gives_it_back(hold, tmp_path):
    path = tmp_path / "lock"
    process = hold(path)
    words = rf"lock is held by another process \(pid {process.pid}\)"
    with pytest.raises(InUseError, match=words), locked(path, wait=0.1):
        pass
    process.stdin.write("go\n")
    process.stdin.flush()
    with locked(path, wait=60):
        assert int(path.read_bytes()) == os.getpid()
    assert not names(tmp_path)


@posix
def test_lock__a_dead_process_holds_none(hold, tmp_path):
    process = hold(tmp_path / "lock")
    process.kill()
    process.communicate()
    assert names(tmp_path) == ["lock"]
    with locked(tmp_path / "lock"):
        assert int((tmp_path / "lock").read_bytes()) == os.getpid()


TURNS = """
import sys
from pathlib import Path
from black_maria_agents.files import locked
folder = Path(sys.argv[1])
for _ in range(100):
    with locked(folder / "lock", wait=60):
        number = int((folder / "number").read_text())
        (folder / "number").write_text(str(number + 1))
"""


def test_lock__one_at_a_time_also_while_it_is_made_and_removed(tmp_path):
    (tmp_path / "number").write_text("0")
    processes = [python(TURNS, tmp_path) for _ in range(3)]
    for process in processes:
        _, errors = process.communicate(timeout=600)
        assert not process.returncode, errors
    assert (tmp_path / "number").read_text() == "300"


# --- checkpoints --------------------------------------------------------------------------------


def networks(rules=RULES, blocks=("holding", "phase")):
    return [kind(layout_of(rules), 4, blocks) for kind in (Policy, OracleCritic)]


def write(path, **changes):
    """A tiny checkpoint."""
    policy, critic = networks()
    checkpoint.save(path, policy=policy, critic=critic, rules=RULES, config={"seed": 1},
                    decisions=7)  # fmt: skip
    if changes:
        content = checkpoint.load(path) | changes
        checkpoint.write(path, {name: value for name, value in content.items() if value != "gone"})
    return path


@pytest.fixture
def tiny(tmp_path):
    return write(tmp_path / "agent.pt")


def outcomes(path, load, bits, every=1):
    """What a load gives of a file with each bit flipped, and cut at each length: content or words.

    Args:
        path: The file; it is empty at the end.
        load: What gives its content, or refuses with a ``ValueError``.
        bits: Of byte ``i``, the bits to flip.
        every: Of how many bytes one is damaged.
    """

    def outcome():
        try:
            return load()
        except ValueError as error:
            return str(error)

    content = path.read_bytes()
    with path.open("r+b", buffering=0) as file:
        for i in range(0, len(content), every):
            for bit in bits(i):
                os.pwrite(file.fileno(), bytes([content[i] ^ 1 << bit]), i)
                yield outcome()
            os.pwrite(file.fileno(), content[i : i + 1], i)
        assert path.read_bytes() == content
        for size in range(len(content) - 1, -1, -every):
            file.truncate(size)
            yield outcome()


def refused(load, words):
    with pytest.raises(ValueError, match=words) as caught:
        load()
    text = str(caught.value)
    assert "\n" not in text
    for foreign in ("pickle", "Traceback", "weights_only", "numpy", "allowlist", "zip file"):
        assert foreign not in text
    return text


@posix
def test_checkpoint__every_byte_with_a_bit_flipped_and_every_cut_is_refused(tiny):
    size = tiny.stat().st_size
    found = list(outcomes(tiny, lambda: checkpoint.load(tiny), lambda i: (i % 8, (i * 5 + 3) % 8)))
    assert {type(words) for words in found} == {str}
    assert all("agent.pt can't be read as a checkpoint: it is" in words for words in found)
    assert len(found) == 3 * size > 20_000


@posix
def test_checkpoint__an_older_file_that_is_damaged_is_refused_or_the_same(tmp_path):
    """The archive's sums cover its entries; of its frame not every bit means something."""
    path = tmp_path / "agent.pt"
    path.write_bytes((DATA / "old_stripped.pt").read_bytes())
    before = checkpoint.load(path)
    refusals = 0
    for found in outcomes(path, lambda: checkpoint.load(path), lambda i: (i // 37 % 8,), every=37):
        if isinstance(found, str):
            assert re.search("agent.pt (can't be|has format|is a PyTorch file)", found)
            refusals += 1
        else:
            assert same(found, before)
    assert refusals > 1000


def test_checkpoint__plain_pytorch_reads_it_and_other_tools_see_the_checksum(tiny):
    for mmap in (False, True):
        content = torch.load(tiny, weights_only=True, mmap=mmap)
        assert content["decisions"] == 7
    with zipfile.ZipFile(tiny) as archive:
        assert archive.testzip() is None
        assert archive.comment.startswith(b"sha256 ")


def test_checkpoint__one_without_its_checksum_is_refused(tiny):
    torch.save(torch.load(tiny), tiny)
    refused(lambda: checkpoint.load(tiny), "it lacks its checksum, so another program")


class Trap:
    """Content that runs code when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, ("trap",)


def archive(save):
    """The bytes that something writes to a file."""
    buffer = io.BytesIO()
    save(buffer)
    return buffer.getvalue()


def zipped(entries, compression=zipfile.ZIP_STORED):
    def save(buffer):
        with zipfile.ZipFile(buffer, "w", compression) as made:
            for name, content in entries.items():
                made.writestr(name, content)

    return archive(save)


NOTHING: bytes = archive(lambda file: torch.save({}, file))
FOREIGN = {
    "empty": (b"", "it is empty"),
    "text": (b"hello, world", "it isn't a PyTorch file"),
    "long text": (b"hello, world\n" * 10_000, "it isn't a PyTorch file"),
    "half": (NOTHING[:300], "it is damaged, or not all of it is there"),
    "another archive": (zipped({"a": "b"}), "it isn't a PyTorch file of tensors"),
    "arrays": (archive(lambda file: np.savez(file, a=np.zeros(3))), "it isn't a PyTorch file of t"),
    "an empty archive": (zipped({}), "isn't a PyTorch file"),
    "older PyTorch": (
        archive(lambda f: torch.save({}, f, _use_new_zipfile_serialization=False)),
        "it isn't a PyTorch file",
    ),
    "code": (archive(lambda file: torch.save({"a": Trap()}, file)), "which might run code"),
    "sealed code": (
        archives.seal(archive(lambda file: torch.save({"a": Trap()}, file))),
        "which might run code",
    ),
    "no pickle": (zipped({"a/data.pkl": "hello", "a/version": "3"}), "can't be read as a ch"),
    "a list": (archive(lambda file: torch.save([1], file)), "not a Black Maria checkpoint"),
    "weights": (
        archive(lambda file: torch.save({"format": torch.zeros(3)}, file)),
        "not a Black Maria checkpoint",
    ),
    "a bomb": (
        zipped({"a/data.pkl": bytes(1 << 24), "a/version": "3"}, zipfile.ZIP_DEFLATED),
        "it unpacks to 16,777,217 bytes",
    ),
    "a sealed bomb": (
        archives.seal(zipped({"a/data.pkl": bytes(1 << 24)}, zipfile.ZIP_DEFLATED)),
        "it unpacks to 16,777,216 bytes",
    ),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_checkpoint__foreign_files_are_refused_in_our_words(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content, words = FOREIGN[kind]
    Path("agent.pt").write_bytes(content)
    refused(lambda: load_agent("agent.pt"), words)
    assert names(tmp_path) == ["agent.pt"]


@posix
def test_checkpoint__what_is_no_file_is_refused_in_our_words(tmp_path):
    (tmp_path / "link.pt").symlink_to("none.pt")
    os.mkfifo(tmp_path / "pipe.pt")
    for path, words in {
        tmp_path: "it is a folder",
        tmp_path / "link.pt": "it is a link to nothing",
        tmp_path / "pipe.pt": "it isn't a file",
        Path("/dev/zero"): "it isn't a file",
        tmp_path / "none.pt": "there is no checkpoint",
        tmp_path / ("a" * 300 + ".pt"): "it can't be opened",
    }.items():
        refused(lambda path=path: checkpoint.load(path), words)


NAN = torch.full((4,), torch.nan)
ENTRIES = {
    "no rules": ({"rules": "gone"}, "its 'rules' is missing"),
    "rules of another kind": ({"rules": [1]}, "its 'rules' is a list, not a dictionary"),
    "rules that can't be": ({"rules": {"seats": 99}}, "its rules can't be: three_player: seats"),
    "rules of tensors": ({"rules": {"seats": NAN, "name": "x"}}, "its rules can't be: x: seats"),
    "another clause": ({"rules": {"colour": 1}}, "a clause that this version hasn't: 'colour'"),
    "a strange clause": ({"rules": {NAN: 1}}, "a clause that this version hasn't: a Tensor"),
    "no blocks": ({"blocks": "gone"}, "its 'blocks' is missing"),
    "empty blocks": ({"blocks": {}}, "its blocks are too few"),
    "one block": ({"blocks": {"holding": (52,)}}, "its blocks are too few: holding"),
    "blocks of numbers": ({"blocks": {1: (52,)}}, "its blocks: 1 is a tuple, not a shape"),
    "a block without shape": ({"blocks": {"led": None}}, "its blocks: 'led' is None, not a sh"),
    "an unknown block": ({"blocks": {"mood": (3,)}}, "it reads the block 'mood', which"),
    "another block": ({"blocks": {"led": (5,)}}, "it reads the block 'led' as 5; in the obs"),
    "no width": ({"width": "gone"}, "its 'width' is missing"),
    "a wide width": ({"width": 10**12}, "its width is 1000000000000, not a multiple of 4"),
    "an odd width": ({"width": 6}, "its width is 6, not a multiple of 4"),
    "another width": ({"width": 8}, "its policy: body.suit_in.weight is 2 × .*, not 4 × "),
    "a true width": ({"width": True}, "its 'width' is True, not a whole number from 0"),
    "a long width": ({"width": "x" * 99}, r"its 'width' is 'x+…, not a whole number"),
    "no policy": ({"policy": "gone"}, "its 'policy' is missing"),
    "an empty policy": ({"policy": {}}, "its policy has other tensors: 'body.suit_in.bias'"),
    "an odd policy": ({"policy": {NAN: 1}}, "its policy has other tensors: "),
    "a policy of lists": ({"policy": [1]}, "its 'policy' is a list, not a dictionary"),
    "an empty critic": ({"critic": {}}, "its critic has other tensors: 'body.hidden_in.weight'"),
    "no config": ({"config": None}, "its 'config' is None, not a dictionary"),
    "no decisions": ({"decisions": None}, "its 'decisions' is None, not a whole number from 0"),
    "decisions below 0": ({"decisions": -1}, "its 'decisions' is -1, not a whole number from 0"),
    "a training of words": ({"training": "x"}, "its 'training' is 'x', not a dictionary"),
    "an empty training": ({"training": {}}, "training: its 'optimizer' is missing"),
    "a version of words": ({"version": "five"}, "has format version 'five'; this package reads"),
    "a version of numbers": ({"version": NAN}, "has format version .*; this package reads"),
    "a true version": ({"version": True}, "has format version True; this package reads"),
}


@pytest.mark.parametrize("kind", ENTRIES)
def test_checkpoint__an_entry_of_another_kind_is_named(kind, tmp_path):
    changes, words = ENTRIES[kind]
    refused(lambda: load_agent(str(write(tmp_path / "agent.pt", **changes))), words)


WEIGHTS = {
    "NaN": (lambda t: t.fill_(torch.nan), "isn't finite: the training went wrong before"),
    "infinite": (lambda t: t.clone().index_fill_(0, torch.tensor([1]), torch.inf), "isn't finite"),
    "doubles": (lambda t: t.double(), "isn't of float32 numbers"),
    "longer": (lambda t: torch.cat([t, t]), "is 26, not 13"),
    "words": (lambda t: "x", "isn't a tensor"),
    "sparse": (lambda t: t.to_sparse(), "isn't a tensor"),
    "one number for all": (lambda t: t[:1].clone().expand(13), "has fewer numbers than it claims"),
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_checkpoint__a_tensor_that_cannot_be_is_named(kind, tiny):
    change, words = WEIGHTS[kind]
    content = checkpoint.load(tiny)
    content["policy"]["cards.bias"] = change(content["policy"]["cards.bias"])
    checkpoint.write(tiny, content)
    refused(lambda: load_agent(str(tiny)), f"its policy: cards.bias {words}")


def test_checkpoint__what_would_not_load_is_not_saved(tiny):
    before = tiny.read_bytes()
    policy, critic = networks()
    with torch.no_grad():
        critic.value.bias.fill_(torch.nan)
    with pytest.raises(
        ValueError, match=r"agent\.pt isn't written: its critic: value\.bias isn't f"
    ):
        checkpoint.save(tiny, policy=policy, critic=critic, rules=RULES, config={}, decisions=8)
    assert tiny.read_bytes() == before


SAVE = """
import sys
from test_files import write
for _ in range(30):
    write(sys.argv[1])
"""


def test_checkpoint__two_processes_save_one_path_and_no_reader_finds_half(tiny, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    writers = [python(SAVE, tiny) for _ in range(2)]
    reads = 0
    while any(writer.poll() is None for writer in writers):
        checkpoint.load(tiny)
        reads += 1
    for writer in writers:
        _, errors = writer.communicate()
        assert not writer.returncode, errors
    assert reads > 10
    assert names(tiny.parent) == ["agent.pt"]


# --- kept scores --------------------------------------------------------------------------------


def arena(path, agents=BOTS, **options):
    return Arena(agents, RULES, keep=path, **options)


@pytest.fixture
def kept(tmp_path):
    """Scores of three deals."""
    path = tmp_path / "scores.npz"
    arena(path).play(both_ways(BOTS), 3)
    return path


@posix
def test_scores__every_byte_with_a_bit_flipped_and_every_cut_is_refused(kept):
    size = kept.stat().st_size
    found = list(outcomes(kept, lambda: arena(kept), lambda i: (i % 8, (i * 5 + 3) % 8)))
    assert {type(words) for words in found} == {str}
    assert all("can't be read as an arena's scores: it is" in words for words in found)
    assert len(found) == 3 * size


@posix
def test_scores__an_older_file_that_is_damaged_is_refused_or_the_same(tmp_path):
    path = tmp_path / "scores.npz"
    path.write_bytes((DATA / "old_scores.npz").read_bytes())
    before = arena(path, seed=5).results(both_ways(BOTS))
    assert before
    refusals = 0
    for found in outcomes(path, lambda: arena(path, seed=5), lambda i: (i % 8,), every=3):
        if isinstance(found, str):
            assert "can't be read as an arena's scores: it" in found
            refusals += 1
        else:
            assert found.results(both_ways(BOTS)) == before
    assert refusals > 1000


def test_scores__plain_numpy_reads_them(kept):
    with np.load(kept) as content:
        assert content['["scores", "duck", "random"]'].shape == (3, 3)


def claiming(shape):
    """An array's file that claims a shape and has three numbers."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": shape}
    )
    return header.getvalue() + bytes(24)


SCORES, SUMS = (f'["{what}", "duck", "random"]' for what in ("scores", "sums"))
ABOUT = {"format": 2, "unit": "penalty", "seed": 0, "rules": {"name": "three_player"}}
KEPT = {
    "no about": ({"about": None}, "it doesn't say what scores it keeps"),
    "about numbers": ({"about": np.zeros(3)}, "it doesn't say what scores it keeps"),
    "about a list": ({"about": np.array("[]")}, "what it says about its scores isn't"),
    "about no JSON": ({"about": np.array("{")}, "what it says about its scores isn't"),
    "about deep JSON": ({"about": np.array("[" * 99_999)}, "what it says about its scores isn't"),
    "about too little": ({"about": np.array("{}")}, "what it says about its scores isn't"),
    "about a seed of words": (
        {"about": np.array(json.dumps(ABOUT | {"seed": "x"}))},
        "what it says about its scores has another 'seed'",
    ),
    "about rules of words": (
        {"about": np.array(json.dumps(ABOUT | {"rules": "x"}))},
        "what it says about its scores has another 'rules'",
    ),
    "about tomorrow": (
        {"about": np.array(json.dumps(ABOUT | {"format": 3}))},
        "it has format 3; this package reads 1 to 2",
    ),
    "no sums": ({SUMS: None}, "its entry '.*sums.*' is missing"),
    "no scores": ({SCORES: None}, "it has sums without scores"),
    "another entry": ({"x": np.zeros(3)}, "its entry 'x' isn't a pair's"),
    "another list": ({'["scores", 1, 2]': np.zeros(3)}, "isn't a pair's"),
    "flat scores": ({SCORES: np.zeros(9)}, "the scores of 'duck' against 'random' have another"),
    "four seats": ({SCORES: np.zeros((3, 4))}, "the scores of 'duck' against 'random' have anoth"),
    "few sums": ({SUMS: np.zeros(2)}, "the sums of 'duck' against 'random' have another form"),
    "no numbers": ({SCORES: np.array(1.0)}, "the scores of 'duck' against 'random' have another"),
    "whole scores": ({SCORES: np.zeros((3, 3), int)}, "scores of 'duck' .* have another form"),
    "NaN scores": ({SCORES: np.full((3, 3), np.nan)}, "scores of 'duck' .* aren't all finite"),
    "infinite sums": ({SUMS: np.full(7, np.inf)}, "sums of 'duck' .* aren't all finite"),
    "a giant shape": ({SCORES: claiming((1 << 40, 3))}, "its entry '.*scores.*' isn't an array"),
    "a shape below 0": ({SCORES: claiming((-1, -3))}, "its entry '.*scores.*' isn't an array"),
    "a short array": ({SCORES: claiming((1, 4))}, "its entry '.*scores.*' isn't an array"),
    "text": ({SCORES: b"hello"}, "its entry '.*scores.*' isn't an array"),
    "objects": ({SCORES: np.array([{}])}, "its entry '.*scores.*' isn't an array"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KEPT)
def test_scores__an_entry_of_another_kind_is_named_and_the_file_stays(kind, kept):
    changes, words = KEPT[kind]
    with zipfile.ZipFile(kept) as content:
        entries = {name: content.read(name) for name in content.namelist()}
    for name, value in changes.items():
        entries.pop(f"{name}.npy", None)
        if isinstance(value, np.ndarray):
            value = archive(lambda file, value=value: np.save(file, value))
        if value is not None:
            entries[f"{name}.npy"] = value
    kept.write_bytes(spoilt := archives.seal(zipped(entries)))
    refused(lambda: arena(kept).play(both_ways(BOTS), 1), words)
    assert kept.read_bytes() == spoilt
    assert names(kept.parent) == ["scores.npz"]


@pytest.mark.parametrize("sealed", [False, True])
def test_scores__a_small_file_that_unpacks_to_much_is_refused_before_it_is_unpacked(sealed, kept):
    content = zipped({"x.npy": bytes(1 << 26)}, zipfile.ZIP_DEFLATED)
    assert len(content) < 1 << 17
    kept.write_bytes(archives.seal(content) if sealed else content)
    refused(lambda: arena(kept), "it isn't a NumPy file as we write it: it unpacks to 67,108,864")


def test_scores__without_their_checksum_or_of_another_tool_are_refused(kept):
    with np.load(kept) as content:
        np.savez(kept, **content)
    refused(lambda: arena(kept), "it lacks its checksum, so another program has written it")
    kept.write_bytes(NOTHING)
    refused(lambda: arena(kept), "can't be read as an arena's scores: its entry")


def test_scores__other_rules_are_named_by_the_clauses_that_differ(kept):
    words = r"with seed 0; that doesn't fit \(its rules differ in match_points\): give another"
    refused(lambda: Arena(BOTS, RULES.replace(match_points=50), keep=kept), words)


@posix
def test_scores__a_full_disk_keeps_what_was_kept(kept):
    before = kept.read_bytes()
    played = arena(kept)
    with pytest.raises(OSError, match=r"scores\.npz"), small_disk(100):
        played.play(both_ways(BOTS), 4)
    assert kept.read_bytes() == before
    assert names(kept.parent) == ["scores.npz"]


def test_scores__two_arenas_add_to_one_file_and_neither_loses_what_it_played(tmp_path):
    path = tmp_path / "scores.npz"
    every = BOTS | {"heuristic": make_bot("heuristic")}
    first, second = arena(path), arena(path, every)  # neither has seen anything of the other
    first.play(both_ways(BOTS), 5)
    second.play(both_ways(["duck", "heuristic"]), 4)
    second.play(both_ways(BOTS), 2)
    first.play(both_ways(BOTS), 6)
    games = {(r.agent, r.others): r.games for r in arena(path, every).results(both_ways(every))}
    assert games == dict.fromkeys(both_ways(BOTS), 6) | dict.fromkeys(
        both_ways(["duck", "heuristic"]), 4
    )


def test_scores__that_another_process_is_writing_are_waited_for(hold, kept, monkeypatch):
    monkeypatch.setattr("black_maria_agents.measuring.kept.LOCK_SECONDS", 0.1)
    process = hold(kept.with_name("scores.npz.lock"))
    words = rf"scores\.npz is being written by another process \(pid {process.pid}\)"
    refused(lambda: arena(kept).play(both_ways(BOTS), 4), words)
    process.communicate("go\n")
    arena(kept).play(both_ways(BOTS), 4)
