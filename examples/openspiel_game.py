"""Black Maria as a Python game of OpenSpiel, so that its algorithms run on our engine.

    pip install "black-maria[agents]" -r examples/requirements/openspiel.txt
    python examples/openspiel_game.py

Importing this registers `python_black_maria` with pyspiel: then
`pyspiel.load_game("python_black_maria")` is a game as any other. Here OpenSpiel's MCTS, which sees
all hands, plays some of them against two random players, and its PPO learns a seat through
`rl_environment`. An observation is our vector; an information state has also when each card
fell, so that nothing is forgotten. The deal is one chance move, a seed among 10,000: the engine
deals whole hands. Points are paid when the hand is over, for OpenSpiel's learners drop what falls
at another player's move.
"""

import random
import time
from typing import Any

import numpy as np
import pyspiel
import torch
from numpy.typing import NDArray
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import mcts
from open_spiel.python.pytorch.ppo import PPO, PPOAgent
from open_spiel.python.vector_env import SyncVectorEnv

from black_maria import Rules, Tables, card_name, describe, layout_of, make_bot
from black_maria_agents.measuring import Estimate, play_deals

DEALS, PASSES, SIZE = 10_000, 9, layout_of().size
GAMES, SIMULATIONS = 8, 30
STEPS, ROWS, ROLLOUT = 25_600, 16, 40

_TYPE = pyspiel.GameType(
    short_name="python_black_maria",
    long_name="Black Maria",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.CONSTANT_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=3,
    min_num_players=3,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
)
_INFO = pyspiel.GameInfo(
    num_distinct_actions=52,
    max_chance_outcomes=DEALS,
    num_players=3,
    min_utility=-43.0,
    max_utility=0.0,
    utility_sum=-43.0,
    max_game_length=60,
)


class Game(pyspiel.Game):
    """The game, three players, one hand."""

    def __init__(self, params: dict[str, object] | None = None) -> None:
        """As pyspiel makes it."""
        super().__init__(_TYPE, _INFO, params or {})

    def new_initial_state(self) -> "State":
        """Before the deal."""
        return State(self)

    def make_py_observer(self, kind: Any = None, params: Any = None) -> "Observer":
        """What a seat sees; an information state remembers the order of the cards as well."""
        return Observer(kind is not None and kind.perfect_recall)


class State(pyspiel.State):
    """A table of the engine, or the chance node before it is dealt."""

    def __init__(self, game: Game) -> None:
        """Nothing is dealt yet."""
        super().__init__(game)
        self.table: Tables | None = None
        self.points, self.moves, self.over = np.zeros(3), 0, False
        self.fell = np.zeros(52, np.float32)
        """When each card was played, 1 ... 51; 0 for those that are still to fall."""

    def current_player(self) -> int:
        """A seat, chance or the end."""
        if self.table is None:
            return pyspiel.PlayerId.CHANCE
        return pyspiel.PlayerId.TERMINAL if self.over else int(self.table.observe()[1][0])

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The deals, equally likely."""
        return [(seed, 1 / DEALS) for seed in range(DEALS)]

    def _legal_actions(self, player: int) -> list[int]:
        return np.flatnonzero(self.table.observe()[0]["action_mask"][0]).tolist()

    def _apply_action(self, action: int) -> None:
        if self.table is None:
            self.table = Tables(1, seed=action, deal_on=False)
            return
        self.moves += 1
        if self.moves > PASSES:
            self.fell[action] = self.moves - PASSES
        rewards, done = self.table.step(np.array([action]))
        self.points, self.over = self.points - rewards[0], bool(done[0])

    def _action_to_string(self, player: int, action: int) -> str:
        return f"deal {action}" if player == pyspiel.PlayerId.CHANCE else card_name(action)

    def is_terminal(self) -> bool:
        """Whether the hand is over."""
        return self.over

    def returns(self) -> list[float]:
        """Minus the points of the hand, once it is over."""
        return (-self.points * self.over).tolist()

    def __str__(self) -> str:
        return " ".join(map(str, self.history()))


class Observer:
    """What a seat sees."""

    def __init__(self, in_order: bool) -> None:
        """An empty tensor, and its parts by name; when each card fell, or not."""
        self.tensor = np.zeros(SIZE + 52 * in_order, np.float32)
        self.dict = {"observation": self.tensor[:SIZE]}
        if in_order:
            self.dict["fell"] = self.tensor[SIZE:]

    def set_from(self, state: State, player: int) -> None:
        """Fill the tensor for a seat."""
        self.tensor.fill(0)
        if state.table is not None:
            self.dict["observation"][:] = state.table.views()[0, player]
            if "fell" in self.dict:
                self.dict["fell"][:] = state.fell / 51

    def string_from(self, state: State, player: int) -> str:
        """The same in words."""
        if state.table is None:
            return "undealt"
        words, fell = [describe(state.table.views()[0, player])], state.fell
        if "fell" in self.dict:
            order = np.argsort(fell)[52 - np.count_nonzero(fell) :]
            words += ["in order " + " ".join(map(card_name, order))]
        return "\n".join(words)


pyspiel.register_game(_TYPE, Game)


class AgainstRandom(rl_environment.Environment):
    """A seat's environment: two random players move by themselves."""

    def reset(self) -> Any:
        """A new hand, up to the seat's first card."""
        return self._others_move(super().reset())

    def step(self, actions: list[int]) -> Any:
        """A card, and those of the others."""
        return self._others_move(super().step(actions))

    def _others_move(self, now: Any) -> Any:
        while not now.last() and (player := now.current_player()):
            now = super().step([random.choice(now.observations["legal_actions"][player])])
        return now


class OpenSpielAgent:
    """A trained network as an agent of the arena."""

    name = identity = "openspiel_ppo"

    def __init__(self, network: PPOAgent) -> None:
        """Take the network over for play."""
        self.network = network

    @torch.inference_mode()
    def act(self, obs: Any, keys: Any) -> NDArray[np.int64]:
        """The likeliest legal card of every row."""
        vectors = torch.from_numpy(obs["observation"]).float()
        legal = torch.from_numpy(obs["action_mask"]).bool()
        return self.network.actor(vectors).where(legal, -torch.inf).argmax(-1).numpy()


def play_mcts(games: int, simulations: int) -> Estimate:
    """Points a hand of OpenSpiel's MCTS in seat 0 against two random players."""
    game, points = pyspiel.load_game("python_black_maria"), []
    draws = np.random.RandomState(1)
    rollouts = mcts.RandomRolloutEvaluator(1, draws)
    bot = mcts.MCTSBot(game, 20, simulations, rollouts, random_state=draws)
    for seed in range(games):
        state = game.new_initial_state()
        state.apply_action(seed)
        while not state.is_terminal():
            mine = state.current_player() == 0 and len(state.legal_actions()) > 1
            state.apply_action(bot.step(state) if mine else draws.choice(state.legal_actions()))
        points.append(-state.returns()[0])
    return Estimate.of(np.array(points))


def train() -> PPOAgent:
    """OpenSpiel's PPO in seat 0."""
    kind = rl_environment.ObservationType.OBSERVATION
    envs = SyncVectorEnv(
        [AgainstRandom("python_black_maria", observation_type=kind) for _ in range(ROWS)]
    )
    agent = PPO(
        (SIZE,),
        52,
        3,
        player_id=0,
        num_envs=ROWS,
        steps_per_batch=ROLLOUT,
        num_minibatches=2,
        update_epochs=6,
        learning_rate=1e-3,
        gamma=1.0,
        clip_vloss=False,
        agent_fn=PPOAgent,
    )
    now = envs.reset()
    updates = STEPS // (ROWS * ROLLOUT)
    for update in range(updates):
        agent.anneal_learning_rate(update, updates)
        for _ in range(ROLLOUT):
            now, rewards, done, _ = envs.step(agent.step(now), reset_if_done=True)
            agent.post_step([own / 10 for own, *_ in rewards], done)
        agent.learn(now)
    return agent.network


def main() -> float:
    """Search, learn, and measure alone against two random players; the points a hand."""
    torch.set_num_threads(1)  # batches are small: two threads wait for each other
    searched = play_mcts(GAMES, SIMULATIONS)
    print(f"MCTS in seat 0 against two random: {searched.text()} points a hand")
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - OpenSpiel draws from the global generators
    torch.manual_seed(1)
    start = time.process_time()
    network = train()
    print(f"learnt from {STEPS:,} decisions in {time.process_time() - start:.1f} s")
    agent, rules = OpenSpielAgent(network), Rules.profile("three_player")
    score = Estimate.of(
        play_deals(agent, make_bot("random"), range(500), seed=1, rules=rules).mean(axis=1)
    )
    print(f"alone against two random: {score.text()} points a hand, par {rules.par:.2f}")
    return score.mean


if __name__ == "__main__":
    assert main() < 10, "clearly better than random"
