"""How a run is scored: now and then, and with a table at its end."""

from black_maria_agents.base import Agent
from black_maria_agents.console import PlainConsole
from black_maria_agents.loading import load_agent
from black_maria_agents.measuring.arena import measure
from black_maria_agents.measuring.duplicate import play_deals
from black_maria_agents.measuring.report import gains, result_table
from black_maria_agents.measuring.results import Result
from black_maria_agents.seeds import VALIDATION_SEED
from black_maria_agents.training.run import Training


def score(run: Training, others: Agent) -> float:
    """The agent's mean penalty alone against others, on deals that nobody trains or measures on."""
    deals = range(run.config.score_deals)
    scores = play_deals(run.agent, others, deals, seed=VALIDATION_SEED, rules=run.rules)
    return float(scores.mean())


def final_table(run: Training, name: str, console: PlainConsole) -> list[Result]:
    """Measure the agent and print how it does.

    Args:
        run: The training; its agent plays bots both ways, or alone against whom it responds to.
        name: What the table calls it.
        console: Where to.
    """
    rules, target = run.rules, run.config.best_response_to
    rivals = (target,) if target else ("duck", "heuristic")
    agents = {name: run.agent} | {rival: load_agent(rival, rules) for rival in rivals}
    pairs = [pair for rival in rivals for pair in ((name, rival), (rival, name))]
    pairs = pairs[:1] if target else pairs
    results = measure(agents, pairs, run.config.final_deals, seed=0, rules=rules)
    console.print(result_table(results, rules))
    if target:
        console.print(gains(results, rules))
    return results
