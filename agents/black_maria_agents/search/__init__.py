"""Agents that look ahead in sampled worlds: by tree search, or with a policy.

``pimc`` is determinised UCT with ``rollouts`` by rules of thumb; ``policy_search`` plays a
policy's likely cards out.
"""

from black_maria_agents.search.pimc import SearchAgent
from black_maria_agents.search.policy_search import PolicySearch

__all__ = ["PolicySearch", "SearchAgent"]
