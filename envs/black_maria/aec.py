"""Black Maria for PettingZoo.

# Black Maria

| Creation           | `black_maria_v0.env()`                       |
|--------------------|----------------------------------------------|
| Actions            | Discrete                                     |
| Parallel API       | Yes, one agent acting at a time              |
| Manual Control     | No                                           |
| Agents             | `agents= ['player_0', 'player_1', 'player_2']` |
| Agents             | 3                                            |
| Action Shape       | (1,)                                         |
| Action Values      | Discrete(52)                                 |
| Observation Shape  | (656,)                                       |
| Observation Values | counts 0 and 1; match totals [-128, 127]     |

Black Maria is the British three-player Hearts: 51 cards, three of them passed to the right,
17 tricks without trumps, and 43 penalty points in every hand, which nobody wants: a heart
counts 1, the queen of spades 13, the king 10, the ace 7. It is a small, hard, constant-sum
game of imperfect information. That is the default; `rules=` has the rest of the family, for 3
to 10 seats, and then agents and sizes follow the rules.

```python
from black_maria import black_maria_v0

env = black_maria_v0.env(render_mode="human")
env.reset(seed=42)
for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    if termination or truncation:
        action = None
    else:
        action = env.action_space(agent).sample(observation["action_mask"])
    env.step(action)
env.close()
```

### Arguments

* `render_mode`: see Rendering.
* `view`: whose cards are drawn, `"all"` or a seat: that seat's own, those it passed that aren't
  played yet, and what lies open; the rest face down.
* `rules`: a profile's name, a `Rules` object, or a mapping of its clauses (docs/rules.md); or
  several in a list, or `"mixed"`: see docs/generalisation.md.
* `reward`: see Rewards.
* `episode`: `"hand"`, one deal, or `"match"`: the dealer moves left, totals carry on, and
  the match ends after a hand in which a total reaches 100; the lowest total wins, equal
  lowest totals share. Where the rules play ties off, the agents that aren't tied end first.
* `history`: adds `"history"` to the observation.

### Observation Space

A dictionary. `"observation"` is an int8 vector of named blocks, seen from the observer's
chair: it is 0, its left neighbour 1, and so on. `black_maria.describe(vector)` says one in
words, `black_maria.layout_of(rules)` gives the blocks' slices, and docs/observation.md the
table *index → meaning*. `"action_mask"` is described below. With `history=True`, `"history"`
(57, 3) int8 holds the hand's events that the observer knows, in order, as rows (kind,
relative seat, card): kind 0 a card given and to whom, 1 a card received and from whom (both
sorted), 2 a card played and by whom; unused rows are −1. Where every episode draws its rules,
`"rules"` (348,) float32 says what is played, and `env.unwrapped.rules` is it.

No entry depends on a card that the seat can't know: a pass is seen by its receiver alone, and
only when all have committed theirs.

#### Legal Actions Mask

`"action_mask"`, (52,) int8, has 1 for every card that the agent may choose now: any card it
holds to pass or to lead, cards of the suit led to follow, any card where it has none. It is
all zeros for an agent that is not to move. An illegal card makes `raw_env` raise a
`ValueError` that says why, with nothing changed. In `env` it is a revoke, noticed too late, and
costs what it costs by the book: all 43 points of that hand are the offender's, the others have
none. What the hand had given before is taken back with that step's rewards, so over the hand the
offender's rewards add up to −43 and the others' to 0. A single hand ends there; a match goes on
with the next one. A number that is no card at all is an `AssertionError`.

### Action Space

A card: 13 · suit + rank, with suits ♣ 0, ♦ 1, ♥ 2, ♠ 3 and ranks 2 → 0 … A → 12. First each
seat, from the dealer's left, picks its three cards to pass, one action each; then they play.

### Rewards

| `reward=`    | an agent receives                                                   |
|--------------|---------------------------------------------------------------------|
| `"trick"`    | minus the penalty points of a trick that it takes, as the trick falls |
| `"hand"`     | minus its penalty points of the hand, when the hand is over         |
| `"relative"` | as the trick falls, minus its points plus the others' mean: zero-sum |
| `"match"`    | 1 split among the winners when the match is over                    |

### Info

`"dealer"`, a seat (`possible_agents[seat]`); `"totals"`, the exact match totals by seat; where
every episode draws its rules, `"rules"`, their name.

### Reset

`reset(seed)` deals hand 0 of a seed, and without a seed the next hand. `options` may start
any hand: `"deal"`, the cards of each seat before passing, by name or id; `"dealer"`, a seat;
`"totals"`, points by seat; `"number"`, which hand of the seed, or of the match, it is, from 0:
that decides where the pass goes; `"actions"`, cards to pass and play first. What these cards
cost is in the hand's penalties, but earns no reward. A value that can't be is refused with a
`ValueError`, and nothing changes; keys that aren't ours are ignored.
`black_maria.record.Hand.options()` has them for a recorded hand.

`state()` is the whole truth for central critics: the vectors of all seats, one after another.

### Rendering

| `render_mode=` | `render()`                                                             |
|----------------|------------------------------------------------------------------------|
| `"human"`      | draws in a window; `reset` and `step` do so too, `render_fps` a second |
| `"rgb_array"`  | returns a picture, (450, 600, 3) uint8                                 |
| `"ansi"`       | returns text (colour only on a terminal, and not with `NO_COLOR` set)  |

`"human"` and `"rgb_array"` need pygame: `pip install 'black-maria[render]'`. In a notebook,
`env.unwrapped` as a cell's last line shows the table, whatever the mode (PettingZoo's wrappers
hide `_repr_html_`). `black_maria.render` has the functions behind all of them.

### Version History

* v0: Initial version
"""

from collections.abc import Mapping
from typing import Any, ClassVar, SupportsIndex

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from black_maria import engine
from black_maria.cards import NUM_CARDS
from black_maria.desk import AgentsAtDesk
from black_maria.given import choice, given_seat, truth, whole, whole_or_none
from black_maria.mixed import RulesToDraw, as_mixed, history_shape, vector_of
from black_maria.render import Html, Scene, html, shown
from black_maria.render.window import Window
from black_maria.revoke import RevokeWrapper
from black_maria.rules import as_rules
from black_maria.turns import Turns

__all__ = ["env", "parallel_env", "raw_env"]


def env(**kwargs: Any) -> AECEnv[str, Any, Any]:
    """The environment as one plays with it: order is enforced, and an illegal card is a revoke.

    Args:
        **kwargs: The arguments of ``raw_env``.
    """
    return RevokeWrapper(raw_env(**kwargs))


def parallel_env(**kwargs: Any) -> Any:
    """The same game through PettingZoo's parallel API: only the acting agent's action counts.

    Args:
        **kwargs: The arguments of ``raw_env``.
    """
    return turn_based_aec_to_parallel(env(**kwargs))


class raw_env(AgentsAtDesk):
    """Black Maria without wrappers; this module's docstring is its manual.

    Args:
        render_mode: None, ``"human"``, ``"ansi"`` or ``"rgb_array"``.
        rules: A profile's name, rules, a mapping of clauses; several in a list, or ``"mixed"``.
        reward: ``"trick"``, ``"hand"``, ``"relative"`` or ``"match"``.
        episode: ``"hand"`` or ``"match"``.
        history: Whether observations hold ``"history"``.
        view: ``"all"``, or the seat whose knowledge is drawn.

    Raises:
        ValueError: An unknown name; the message lists those that exist.
        gymnasium.error.DependencyNotInstalled: The render mode needs pygame, which is missing.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": ["human", "ansi", "rgb_array"],
        "name": "black_maria_v0",
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        render_mode: str | None = None,
        *,
        rules: RulesToDraw = "three_player",
        reward: str = "trick",
        episode: str = "hand",
        history: bool = False,
        view: str | int = "all",
    ) -> None:
        """Set the spaces up; ``reset`` deals."""
        super().__init__()
        modes = self.metadata["render_modes"]
        self.render_mode = (
            None if render_mode is None else choice(render_mode, "render_mode", modes)
        )
        mixed = as_mixed(rules)
        rules = mixed.widest if mixed else as_rules(rules)  # type: ignore[arg-type]
        everybody = isinstance(view, str) and view == "all"
        self._viewer = None if everybody else given_seat(view, "view", rules.seats, "'all'")
        self._with_history = truth(history, "history")
        self._set_spaces_up(rules, self._with_history, mixed)
        self._set_desk_up(rules, mixed, (reward, episode))
        self._window = Window("Black Maria") if render_mode == "human" else None
        self.agents: list[str] = []

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal a hand; see Reset in the module's docstring.

        Raises:
            ValueError: An impossible seed or option; nothing has changed.
        """
        if seed is not None:
            first_hand = engine.check_seed(seed), 0
        elif self._seed is not None:
            first_hand = self._seed, self._hand + 1
        else:
            first_hand = int(np.random.SeedSequence().generate_state(1, np.uint64)[0]), 0
        self._deal(*first_hand, engine.check_options(options))

        self.agents = self.possible_agents[:]
        self._scored = False
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.agent_selection = self.possible_agents[self._turn]
        self._skip_agent_selection = None
        self._inform()
        if self.render_mode == "human":
            self.render()

    def step(self, action: SupportsIndex | None) -> None:
        """Pass or play a card for the agent to move; None for one that is done.

        Raises:
            ValueError: An illegal card: the message names seat, card and clause. Nothing has
                changed.
            gymnasium.error.ResetNeeded: Nobody is to move.
        """
        if not self.agents:
            raise ResetNeeded("no agent is to move: call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        card = action if type(action) is int else whole(action, "action")
        if not 0 <= card < NUM_CARDS or not self._legal[card]:
            raise ValueError(engine.illegal_reason(self._states[0], self.rules, card))
        # as in revoke; written out, since a call would be 100 of a step's 2,600 ns
        turn, over, hand_over, scored = self._step(self._desk, card, -1, self._observation)
        self._cumulative_rewards[agent] = 0.0
        self._turn, self.agent_selection = turn, self.possible_agents[turn]
        written_into = len(self.infos[agent]) != len(self._told)
        if scored or self._scored or hand_over or written_into or self.render_mode:
            self._tell(over, hand_over, scored, written_into)

    def is_legal(self, action: Any) -> bool | None:
        """Whether the agent to move may choose an action; None: it is no card at all."""
        card = action if type(action) is int else whole_or_none(action)
        return bool(self._legal[card]) if card is not None and 0 <= card < NUM_CARDS else None

    def revoke(self) -> None:
        """Charge all points of the hand to the agent to move: it has revoked.

        What the hand had given before is taken back with this step's rewards. A single hand
        ends here; a match goes on with the next hand. 3–6 player book, "Renonce".

        Raises:
            ValueError: No agent is to move.
        """
        agent = self.agent_selection if self.agents else None
        if agent is None or self.terminations[agent]:
            raise ValueError("no agent is to move: nobody can revoke")
        turn, *happened = self._step(self._desk, engine.REVOKE, -1, self._observation)
        self._cumulative_rewards[agent] = 0.0
        self._turn, self.agent_selection = turn, self.possible_agents[turn]
        self._tell(*happened)

    def _tell(self, over: bool, hand_over: bool, scored: bool, written_into: bool = False) -> None:
        """Tell what not every step brings; ``written_into``: a wrapper has changed an info."""
        if scored:
            self._reward(self._step_rewards.tolist())
        elif self._scored:
            self.rewards = dict.fromkeys(self.agents, 0.0)
        self._scored = scored
        if hand_over or written_into:
            self._inform()
        if over:
            self.terminations = dict.fromkeys(self.agents, True)
        elif hand_over and self._states["playoff"][0]:
            self._retire()
        if self.render_mode == "human":
            self.render()

    def _reward(self, by_seat: list[float]) -> None:
        """Give those who are there what the step brought them."""
        received, self.rewards = self._cumulative_rewards, {}
        for agent, reward in zip(self.possible_agents, by_seat, strict=True):
            if agent in received:
                self.rewards[agent] = reward
                received[agent] += reward

    def _retire(self) -> None:
        """End the agents that have no part in a play-off; they take their dead steps first."""
        playing = int(self._states["playing"][0])
        for agent in self.agents:
            self.terminations[agent] = not playing >> self._seats[agent] & 1
        self._deads_step_first()

    def _inform(self) -> None:
        states = self._states
        self._hand = int(states["hand"][0])
        dealer, totals = int(states["dealer"][0]), states["totals"][0, : self.rules.seats].tolist()
        values = dealer, tuple(totals), self.rules.name
        info = dict(zip(self._told, values, strict=False))
        self.infos = {agent: info.copy() for agent in self.agents}

    def agent_iter(self, max_iter: int = 2**63) -> Turns:
        """The agent to move, again and again, until there is none or so many have moved."""
        return Turns(self, max_iter)

    def last(
        self, observe: bool = True
    ) -> tuple[dict[str, NDArray[np.int8]] | None, float, bool, bool, dict[str, Any]]:
        """Observation, rewards since its last action, termination, truncation, info.

        Raises:
            gymnasium.error.ResetNeeded: Nobody is to move.
        """
        if not self.agents:
            raise ResetNeeded("no agent is to move: call reset()")
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def observe(self, agent: str) -> dict[str, NDArray[np.int8]]:
        """What an agent sees now; fresh arrays.

        Returns:
            ``"observation"`` (F,) int8, ``"action_mask"`` (52,) int8, all zeros unless the
            agent is to move; where asked for ``"history"`` (rows, 3) int8, ``"rules"`` float32.

        Raises:
            ValueError: There is no such agent.
            gymnasium.error.ResetNeeded: No hand has been dealt yet.
        """
        try:  # as _seat_of: a call would be 60 of a step's 2,600 ns
            seat = self._seats[agent]
        except Exception:
            seat = self._seat_of(agent)
        # not agent_selection: that may be an agent who still owes its dead step
        if seat == self._turn and not (
            self.terminations.get(agent, True) or self.truncations[agent]
        ):
            view, mask = self._observation.copy(), self._mask.copy()
        else:
            if self._hand < 0:
                raise ResetNeeded("no hand has been dealt: call reset()")
            view, mask = self._view(seat), np.zeros(NUM_CARDS, np.int8)
        observation = {"observation": view, "action_mask": mask}
        if self._with_history:
            history = np.empty(history_shape(self.rules, self._mixed), np.int8)
            engine.write_history(self._states[0], self._args[0][0], seat, history)
            observation["history"] = history
        if self._mixed:
            observation["rules"] = vector_of(self.rules).copy()
        return observation

    def state(self) -> NDArray[np.int8]:
        """The whole truth: every seat's observation vector, seat 0 first; (seats · F,) int8.

        Raises:
            gymnasium.error.ResetNeeded: No hand has been dealt yet.
        """
        if self._hand < 0:
            raise ResetNeeded("no hand has been dealt: call reset()")
        return np.concatenate([self._view(seat) for seat in range(self.rules.seats)])

    def render(self) -> str | NDArray[np.uint8] | None:
        """Draw the table, or return it as text or as a picture, as the render mode says.

        Raises:
            ValueError: No hand has been dealt yet.
        """
        if self.render_mode is None:
            modes = ", ".join(map(repr, self.metadata["render_modes"]))
            gymnasium.logger.warn(f"render() needs a render_mode, one of {modes}")
            return None
        scene = Scene.of(self._states[0], self.rules, self._viewer)
        if self._window is None:
            return shown(scene, self.render_mode)
        self._window.show(scene, self.metadata["render_fps"])
        return None

    def _repr_html_(self) -> Html | None:
        """The table for a notebook; None, which makes it show ``repr``, before the first reset."""
        if self._hand < 0:
            return None
        return html(Scene.of(self._states[0], self.rules, self._viewer))

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
