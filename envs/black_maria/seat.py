"""One seat at the table for Gymnasium, the others played by given opponents.

``BlackMaria`` is a PettingZoo table at which the opponents move by themselves; its docstring is
the manual page. Many at once: ``vector.py``.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, SupportsIndex

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from black_maria import engine
from black_maria.aec import raw_env
from black_maria.cards import NUM_CARDS
from black_maria.given import choice, given_seat, truth, whole
from black_maria.mixed import Mixed, RulesToDraw, flattened
from black_maria.opponents import Opponent, Opponents, learner_seats
from black_maria.rules import Rules
from black_maria.spaces import flattened_space

ILLEGAL: Final = ("raise", "lose")
"""What an illegal card does: a ``ValueError``, or it costs all points of the hand."""


class BlackMaria(gymnasium.Env[Any, Any]):
    """One seat at Black Maria, against given opponents.

    ## Description
    Black Maria is the British three-player Hearts: 51 cards, three of them passed to the
    right, 17 tricks without trumps, and 43 penalty points in every hand, which nobody wants: a
    heart counts 1, the queen of spades 13, the king 10, the ace 7. The learner sits at one
    seat; between two of its decisions the opponents move.

    ```python
    import gymnasium

    env = gymnasium.make("black_maria:BlackMaria-v0", opponents="heuristic")
    observation, info = env.reset(seed=42)
    terminated = False
    while not terminated:
        action = env.action_space.sample(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
    ```

    ## Action Space
    `Discrete(52)`, a card: 13 · suit + rank, with suits ♣ 0, ♦ 1, ♥ 2, ♠ 3 and ranks 2 → 0 …
    A → 12. First come the three cards to pass, one action each, then the cards to play.

    ## Observation Space
    A dictionary. `"observation"` is an int8 vector of named blocks, (656,) with three seats;
    the learner's own seat comes first, then its left neighbour. `black_maria.describe(vector)`
    says one in words; docs/observation.md has the table *index → meaning*. `"action_mask"`,
    (52,) int8, has 1 for every legal card, and zeros once the episode is over. `history=True`
    adds `"history"`, the hand's events that the seat knows, in order, as in `black_maria_v0`.
    With `flatten=True` the observation is the vector alone, a `Box`.

    Where every episode draws its rules, `"rules"`, (348,) float32, says which are played:
    `black_maria.rules_vector`, docs/generalisation.md. With `flatten=True` it stands behind the
    vector, and all of it is float32: (656 + 348,) with three seats. `"history"` has room for the
    longest hand.

    The mask is also in `info["action_mask"]`, and `action_masks()` gives it as bool for
    MaskablePPO of sb3-contrib; through wrappers, `env.get_wrapper_attr("action_masks")()`.

    ## Rewards
    | `reward=`    | the seat receives                                                     |
    |--------------|-----------------------------------------------------------------------|
    | `"trick"`    | minus the penalty points of a trick that it takes                     |
    | `"hand"`     | minus its penalty points of the hand, when the hand is over           |
    | `"relative"` | as tricks fall, minus its points plus the others' mean                |
    | `"match"`    | 1 split among the winners when the match is over                      |

    A step's reward is the sum of all that falls to the seat until its next decision. After an
    illegal card with `illegal="lose"` that is also what takes back what the hand had given.

    ## Starting State
    `reset(seed)` deals `black_maria.deal(seed, 0, 0)`, and `reset()` without a seed the next
    hand. `options` may start any hand: `"deal"`, the cards of each seat before passing, by
    name or id; `"dealer"`, a seat; `"totals"`, points by seat; `"actions"`, cards to pass and
    play first, earning no reward. A value that can't be is refused with a `ValueError`, and
    nothing changes; keys that aren't ours are ignored. Opponents move up to the seat's first
    decision.

    ## Episode End
    An episode terminates after the hand, or with `episode="match"` after the match, also when
    others play a tie off among themselves; it is never truncated. An illegal card raises a
    `ValueError` that names seat, card and clause, with nothing changed. With `illegal="lose"`
    it is a revoke, noticed too late, as in `black_maria_v0.env()`: all 43 points of the hand are
    the seat's, so over the hand its rewards add up to −43 (each other seat's to 0, which counts
    where `reward="relative"`). A single hand ends there; a match goes on with the next one. A
    number that is no card costs the same.

    An opponent that fails or chooses an illegal card is named in a `RuntimeError`; `reset`
    before going on.

    ## Information
    `"action_mask"`; `"seat"`, where the learner sits; `"dealer"`, a seat; `"totals"`, (seats,)
    int32, the exact match totals by seat; where every episode draws its rules, `"rules"`, their
    name, and `env.unwrapped.rules` is what is played.

    ## Arguments
    * `opponents`: a name (`"random"`, `"duck"`, `"heuristic"`), an agent, or any callable like
      an agent's `act(obs, keys)`; one for all other seats, or a list, left neighbour first.
      They get the observations of their own seats, never flattened, with a leading batch axis.
      By name they play by each episode's rules.
    * `seat`: 0, 1, 2; None: drawn anew for each episode, as a function of seed and hand.
    * `rules`: a profile's name, a `Rules` object, or clauses by name as `spec.to_json()` writes
      them; docs/rules.md lists them. A list of such, of equal seats, or `"mixed"`, house rules of
      three seats (`"mixed:seats=4"` of four): every episode draws its own by its seed and hand.
    * `reward`: see Rewards.
    * `episode`: `"hand"`, one deal, or `"match"`: dealer moves left and totals carry on.
    * `illegal`: `"raise"` or `"lose"`; see Episode End.
    * `flatten`, `history`: see Observation Space; opponents get the history as well.
    * `render_mode`: as in `black_maria_v0`.

    ## Vectorized environment
    `gymnasium.make_vec("black_maria:BlackMaria-v0", num_envs=1024,
    vectorization_mode="vector_entry_point")` plays many at once, with the same arguments and
    game for game what single environments seeded seed, seed + 1, … play. See
    `BlackMariaVectorEnv`, and for Stable-Baselines3 `black_maria.sb3.BlackMariaVecEnv`.

    ## Version History
    * v0: Initial version

    Raises:
        ValueError: An unknown name or an impossible number; the message says what fits.
        TypeError: An opponent that can't act.
    """

    metadata = {  # noqa: RUF012 - Gymnasium declares it as it is
        "render_modes": raw_env.metadata["render_modes"],
        "render_fps": raw_env.metadata["render_fps"],
    }

    def __init__(
        self,
        opponents: Opponent | Sequence[Opponent] = "heuristic",
        seat: int | None = None,
        *,
        rules: RulesToDraw = "three_player",
        reward: str = "trick",
        episode: str = "hand",
        illegal: str = "raise",
        flatten: bool = False,
        history: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """Set the table up; ``reset`` deals."""
        self._table = _Table(
            render_mode, rules=rules, reward=reward, episode=episode, history=history
        )
        self.render_mode = render_mode
        if seat is not None:
            seat = given_seat(seat, "seat", self.rules.seats, "None")
        illegal = choice(illegal, "illegal", ILLEGAL)
        if truth(flatten, "flatten") and history:
            raise ValueError("flatten=True leaves the vector alone: history=True has no place")
        self.opponents = Opponents(opponents, self._table.mixed or self.rules)
        self.seat = seat
        self.illegal = illegal
        self.flatten, self.history = flatten, history

        agent = self._table.possible_agents[0]
        self.observation_space = space = self._table.observation_space(agent)
        if flatten:
            self.observation_space = flattened_space(space)
        self.action_space = self._table.action_space(agent)
        self._seat = 0
        self._over = True

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Deal a hand and let the opponents move up to the seat's first decision.

        Raises:
            ValueError: An impossible seed or option; nothing has changed.
        """
        self._table.reset(seed=seed, options=options)
        super().reset(seed=None if seed is None else int(seed))
        self._seat = int(learner_seats(self._table.states, self.rules, self.seat)[0])
        self._over = False
        self._others_move()
        return self._observe(), self._info()

    def step(self, action: SupportsIndex) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Pass or play a card, and let the opponents move up to the seat's next decision.

        Raises:
            ValueError: An illegal card, with ``illegal="raise"``, or no whole number; nothing has
                changed.
            RuntimeError: An opponent failed.
        """
        table, agent = self._table, self._agent
        if self._over or table.agent_selection != agent:
            raise ResetNeeded("no card is due here: call reset()")
        card = whole(action, "action")
        if self.illegal == "lose" and not table.is_legal(card):
            table.revoke()
        else:
            table.step(card)
        reward = table.rewards[agent] + self._others_move()
        self._over = table.terminations[agent]
        return self._observe(), reward, self._over, False, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """The cards that may be chosen now, (52,) bool."""
        if self._over:
            return np.zeros(NUM_CARDS, np.bool_)
        return self._table.observe(self._agent)["action_mask"].astype(np.bool_)

    def render(self) -> Any:
        """The table, all cards shown, as the render mode says."""
        return self._table.render()

    def close(self) -> None:
        """Let go of what rendering holds open."""
        self._table.close()

    @property
    def mixed(self) -> Mixed | None:
        """What episodes draw their rules of, where each draws its own."""
        return self._table.mixed

    @property
    def rules(self) -> Rules:
        """The rules; where every episode draws its own, the present one's."""
        return self._table.rules

    @property
    def _agent(self) -> str:
        return self._table.possible_agents[self._seat]

    def _others_move(self) -> float:
        """Play on to the seat's next decision or its end; return what falls to the seat."""
        table, agent, reward, card = self._table, self._agent, 0.0, np.zeros(1, np.int64)
        while not table.terminations[agent] and table.agent_selection != agent:
            mover = table.agent_selection
            if table.terminations[mover]:  # has no part in a play-off
                table.step(None)
                continue
            obs = {name: array[None] for name, array in table.observe(mover).items()}
            seat = np.array([self._seat])
            self.opponents.choose(
                card, obs, table.keys(), table.states, seat, np.arange(1), table.rules
            )
            table.step(int(card[0]))
            reward += table.rewards[agent]
        return reward

    def _observe(self) -> Any:
        observation = self._table.observe(self._agent)
        observation["action_mask"] *= not self._over
        return flattened(observation) if self.flatten else observation

    def _info(self) -> dict[str, Any]:
        info = self._table.infos[self._agent]
        told = {
            "action_mask": self.action_masks().astype(np.int8),
            "seat": self._seat,
            "dealer": info["dealer"],
            "totals": np.array(info["totals"], np.int32),
        }
        return told | {"rules": info["rules"]} if self._table.mixed else told


class _Table(raw_env):
    """A PettingZoo table that also tells what an environment of one seat must know."""

    @property
    def mixed(self) -> Mixed | None:
        """What episodes draw their rules of, where they do."""
        return self._mixed

    @property
    def states(self) -> NDArray[Any]:
        """The engine's record of the table, (1,)."""
        return self._states

    def keys(self) -> NDArray[np.uint64]:
        """The acting seat's own randomness, (1,) uint64."""
        keys = np.empty(1, np.uint64)
        engine.choice_keys(self._states, keys)
        return keys
