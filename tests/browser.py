"""A page in a real browser: clicks, keys, what overflows, what it asked for and complained of."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

WIDTHS = (390, 900, 1440)
"""Of a telephone, a tablet, a desk."""

_OVERFLOWING = """
return [...document.querySelectorAll("body *")].filter(element => {
  const box = element.getBoundingClientRect();
  const hidden = element.closest(".scroll, .bm-said") || !box.width || !box.height;
  return !hidden && (box.right > innerWidth + 1 || box.left < -1);
}).map(element => element.tagName + "." + element.className + "#" + element.id);
"""


class Browser:
    """Chromium, driven by selenium."""

    def __init__(self, driver: Any) -> None:
        """Take a running one."""
        self.driver = driver

    def open(self, address: str, width: int = 900, height: int = 900) -> None:
        self.resize(width, height)
        self.driver.get(address)

    def resize(self, width: int, height: int = 900) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def all(self, css: str) -> list[Any]:
        return self.driver.find_elements("css selector", css)

    def text(self, css: str) -> str:
        return self.driver.find_element("css selector", css).text

    def keys(self, *pressed: str) -> None:
        self.driver.switch_to.active_element.send_keys(*pressed)

    def script(self, code: str, *arguments: Any) -> Any:
        return self.driver.execute_script(code, *arguments)

    def wait(self, happened: Callable[[], Any], seconds: float = 60) -> None:
        """Wait for something that the page does."""
        end = time.monotonic() + seconds
        while not happened():
            assert time.monotonic() < end, self.text("body") + "\n".join(self.errors())
            time.sleep(0.02)

    def overflowing(self, width: int) -> list[str]:
        """What is wider than the page at a width, or reaches out of it."""
        self.resize(width)
        wide = self.script("return document.documentElement.scrollWidth > innerWidth")
        return [*["the page"] * wide, *self.script(_OVERFLOWING)]

    def errors(self) -> list[str]:
        """What has been written to the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def asked(self) -> list[str]:
        """The addresses asked for since the last call, those of data left out."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return [address for address in found if not address.startswith("data:")]


@contextmanager
def started() -> Iterator[Browser]:
    """A browser; skips the test where there is none."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("needs a browser: apt-get install chromium chromium-driver")
    webdriver = pytest.importorskip("selenium.webdriver", reason="pip install selenium")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for option in (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--hide-scrollbars", "--disable-background-networking", "--no-first-run",
    ):  # fmt: skip
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = webdriver.Chrome(options, webdriver.ChromeService(driver))
    try:
        yield Browser(found)
    finally:
        found.quit()
