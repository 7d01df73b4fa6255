"""A table of cards for web pages: its script and style, and what they draw, as JSON.

``table.js`` says at its top what a state holds, what is called back and how it is drawn.
"""

from black_maria_agents.page.assets import SCRIPT, STYLE, embedded, state_of

__all__ = ["SCRIPT", "STYLE", "embedded", "state_of"]
