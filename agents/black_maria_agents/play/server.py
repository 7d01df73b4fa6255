"""The table as a page, served to this machine alone.

It listens on 127.0.0.1. Its address holds a random token, without which it answers nothing, and it
answers only where it is asked for by its own name: a page of another site, also one whose name
has been pointed at this machine (DNS rebinding), gets nothing from it.
"""

import json
import secrets
import socketserver
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from black_maria.record import Hand
from black_maria_agents.page.assets import SCRIPT, STYLE
from black_maria_agents.play.game import Game, RefusedError, StaleError
from black_maria_agents.play.view import advice_of, view_of

HERE: Final = "127.0.0.1"
_FOLDER: Final = Path(__file__).parent
_LONGEST: Final = 10_000
"""Bytes of a request's body; a wish has a hundred."""
_SECONDS: Final = 60
"""A connection that says nothing for so long is closed."""

_TEXT, _STYLE = "text/html; charset=utf-8", "text/css; charset=utf-8"
_SCRIPT, _JSON = "text/javascript; charset=utf-8", "application/json"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_REVIEW_POLICY: Final = (  # one file with everything in it
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class PlayServer(ThreadingHTTPServer):
    """Serves one game.

    Args:
        game: The game.
        port: Where to listen on 127.0.0.1; 0: the system chooses.
        review: Makes a review page of a hand; None: there is none.
        note: Gives a line for the page's foot, such as why hands couldn't be recorded.

    Attributes:
        address: What to open, the token in it.

    Raises:
        OSError: The port is taken.
    """

    daemon_threads = True

    def __init__(
        self,
        game: Game,
        port: int = 0,
        *,
        review: Callable[[Hand], str] | None = None,
        note: Callable[[], str] = lambda: "",
    ) -> None:
        """Listen."""
        super().__init__((HERE, port), _Handler)
        self.game, self.review, self.note = game, review, note
        self.token = secrets.token_urlsafe(16)
        self.hosts = tuple(f"{name}:{self.server_port}" for name in (HERE, "localhost"))
        self.address = f"http://{HERE}:{self.server_port}/{self.token}/"
        self.lock = threading.Lock()  # one wish after another
        self.reviewing = threading.Lock()
        self.reviewed: tuple[Hand, str] | None = None
        self.files = {
            "": (_TEXT, (_FOLDER / "play.html").read_text(encoding="utf-8")),
            "play.css": (_STYLE, (_FOLDER / "play.css").read_text(encoding="utf-8")),
            "play.js": (_SCRIPT, (_FOLDER / "play.js").read_text(encoding="utf-8")),
            "table.css": (_STYLE, STYLE),
            "table.js": (_SCRIPT, SCRIPT),
        }

    def server_bind(self) -> None:
        """Bind; the machine's name isn't looked up, which may take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HERE, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say what is our own mistake; a page that has been closed meanwhile is none."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def view(self, since: int = 0) -> dict[str, Any]:
        """What the page gets to see; the lock is held."""
        more = {"note": self.note(), "reviewable": self.review is not None}
        return view_of(self.game, since) | more


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: PlayServer
    timeout = _SECONDS
    server_version, sys_version = "BlackMaria", ""

    def do_GET(self) -> None:
        """The page and its parts, the view, advice, a review."""
        name, query = self._asked()
        if name is None:
            return
        if name in self.server.files:
            kind, text = self.server.files[name]
            self._answer(200, text, kind)
        elif name == "view":
            with self.server.lock:
                view = self.server.view(_number(query.get("since", ["0"])[0]))
            self._answer(200, view)
        elif name == "advice":
            self._advise(_number(query.get("number", ["0"])[0]))
        elif name == "review":
            self._review()
        else:
            self._answer(404, {"error": "there is nothing of that name here"})

    def do_POST(self) -> None:
        """A wish: cards to pass or to play, or to go on."""
        name, _ = self._asked()
        if name is None:
            return
        if name not in ("choose", "next"):
            self._answer(404, {"error": "there is nothing of that name here"})
            return
        try:
            wish = self._wish()
            number, since = _whole(wish, "number"), _whole(wish, "since")
            cards = _cards(wish) if name == "choose" else []
        except ValueError as error:
            self._answer(400, {"error": str(error)})
            return
        with self.server.lock:
            game, status, words = self.server.game, 200, {}
            try:
                game.choose(cards, number) if name == "choose" else game.go_on(number)
            except RefusedError as error:
                status = 409 if isinstance(error, StaleError) else 422
                words = {"error": str(error)}
            except RuntimeError as error:  # an opponent failed; it may be asked again
                status, words = 500, {"error": str(error)}
            view = self.server.view(since)
        self._answer(status, view | words)

    def _advise(self, number: int) -> None:
        with self.server.lock:
            try:
                found = advice_of(self.server.game.advice(number))
            except RefusedError as error:
                self._answer(409, {"error": str(error)})
                return
        self._answer(200, found)

    def _review(self) -> None:
        """The review of the hand played last; it may take seconds, in which play goes on."""
        with self.server.lock:
            hand = self.server.game.hand
        if hand is None or self.server.review is None:
            self._answer(404, {"error": "no hand is over that could be reviewed"})
            return
        with self.server.reviewing:
            if self.server.reviewed is None or self.server.reviewed[0] is not hand:
                self.server.reviewed = hand, self.server.review(hand)
            page = self.server.reviewed[1]
        self._answer(200, page, _TEXT, _REVIEW_POLICY)

    def _asked(self) -> tuple[str | None, dict[str, list[str]]]:
        """What is asked for, below the token; None: it has been refused."""
        address = urlsplit(self.path)
        _, token, *rest = [*address.path.split("/", 2), ""]
        origin = self.headers.get("Origin")
        hosts = self.server.hosts
        if self.headers.get("Host") not in hosts:
            self._answer(403, {"error": f"this is {hosts[0]}, and answers to no other name"})
        elif origin is not None and origin not in [f"http://{host}" for host in hosts]:
            self._answer(403, {"error": "pages of other sites get nothing here"})
        elif not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self._answer(403, {"error": "open the address that was printed, with its token"})
        else:
            return rest[0], parse_qs(address.query)
        return None, {}

    def _wish(self) -> dict[str, Any]:
        """The body of a request.

        Raises:
            ValueError: It isn't a JSON object, or too long.
        """
        if self.headers.get_content_type() != _JSON:
            raise ValueError(f"a wish is sent as {_JSON}")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()) or int(length[:9]) > _LONGEST:
            raise ValueError(f"a wish has at most {_LONGEST:,} bytes, and says how many")
        try:
            wish = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            wish = None
        if not isinstance(wish, dict):
            raise ValueError("a wish is a JSON object")
        return wish

    def _answer(self, status: int, content: Any, kind: str = _JSON, policy: str = _POLICY) -> None:
        text = content if isinstance(content, str) else json.dumps(content)
        body = text.encode()
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", policy),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Connection", "close"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing: the token is in every line."""


def _number(text: str) -> int:
    """The number in an address, 0 if it is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


def _whole(wish: dict[str, Any], name: str) -> int:
    value = wish.get(name, 0)
    if type(value) is not int:
        raise ValueError(f"{name} is a whole number")
    return value


def _cards(wish: dict[str, Any]) -> list[int]:
    cards = wish.get("cards")
    if not isinstance(cards, list) or not all(type(card) is int for card in cards):
        raise ValueError("cards is a list of card ids, 0 … 51")
    return cards
