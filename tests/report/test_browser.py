"""The report in a real browser: drawn without a network and without complaints, sorted, narrow, dark and on paper."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eigenwood.report.html import reduce_page, run_page
from tests.report import samples
from tests.report.test_reducing import foods, made  # noqa: F401 (fixtures)

sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt-get install chromium"),
]
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync"]  # fmt: skip
PHONE, DESK = 400, 1200  # pixels
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as play:
        found = play.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    """Return the files of all sample runs."""
    folder = tmp_path_factory.mktemp("pages")
    paths = {name: folder / f"{name}.html" for name in samples.RUNS}
    for name, make in samples.RUNS.items():
        paths[name].write_text(run_page(make()), encoding="utf-8")
    return paths


class Opened:
    """A page that was opened from a file, with all that the browser complained about and asked the network for."""

    def __init__(self, browser: Any, path: Path, width: int = DESK, scheme: str = "light") -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.complaints, self.requests = list[str](), list[str]()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_function("document.documentElement.dataset.drawn === 'yes'")

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def column(self, table: str, place: int) -> list[str]:
        """Return the values of a column of a table, as they stand there now."""
        return self.page.eval_on_selector_all(
            f"#{table} tbody tr",
            f"rows => rows.map(row => row.cells[{place}].dataset.value ?? row.cells[{place}].textContent.trim())",
        )


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [(name, DESK, "light") for name in samples.RUNS] + [(name, PHONE, "dark") for name in ("fraud", "heart", "wide")],
)
def test_figures_are_drawn_without_a_network_and_without_complaints(browser, pages, name, width, scheme):
    with Opened(browser, pages[name], width, scheme) as opened:
        assert opened.complaints == []
        assert opened.requests == [pages[name].as_uri()]
        n_places = opened.page.locator(".drawn").count()
        assert n_places >= 5
        assert opened.page.locator(".drawn svg.main-svg:first-child").count() >= n_places
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


def test_figures_follow_the_theme(browser, pages):
    def ink(opened: Opened) -> str:
        return opened.page.eval_on_selector("#candidates .xtick text", "text => getComputedStyle(text).fill")

    with Opened(browser, pages["fraud"], scheme="light") as opened:
        light = ink(opened), opened.page.evaluate(BACKGROUND)
        opened.page.emulate_media(color_scheme="dark")
        opened.page.wait_for_function(f"{BACKGROUND} !== '{light[1]}'")
        dark = ink(opened), opened.page.evaluate(BACKGROUND)
    brightness = [[sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in one] for one in (light, dark)]
    assert brightness[0][0] < 200 < 600 < brightness[0][1]
    assert brightness[1][1] < 200 < 500 < brightness[1][0]


@pytest.mark.parametrize(("table", "place"), [("leaderboard", 3), ("columns-table", 0)])
def test_a_click_on_a_heading_sorts_the_table(browser, pages, table, place):
    with Opened(browser, pages["fraud"]) as opened:
        button = opened.page.locator(f"#{table} th").nth(place).locator("button")
        orders = []
        for _ in range(2):
            button.click()
            values = [value for value in opened.column(table, place) if value]
            orders.append([float(value) for value in values] if place == 3 else values)
        first, second = orders
        assert sorted(first, reverse=place == 3) == first
        assert second == first[::-1]
        assert opened.page.locator(f"#{table} th[aria-sort]").count() == 1
        unknown = [value == "" for value in opened.column(table, place)]
        assert unknown == sorted(unknown)  # what was cut comes last in both orders


def test_a_table_is_sorted_with_the_keyboard(browser, pages):
    with Opened(browser, pages["fraud"]) as opened:
        opened.page.locator("#classes th button").nth(1).focus()
        opened.page.keyboard.press("Enter")
        assert opened.column("classes", 0) == ["fine", "fraud"]
        opened.page.keyboard.press("Enter")
        assert opened.column("classes", 0) == ["fraud", "fine"]


def test_on_paper_the_page_is_light_and_nothing_is_cut_off(browser, pages):
    with Opened(browser, pages["heart"], scheme="dark") as opened:
        opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        widths = opened.page.eval_on_selector_all(
            ".drawn", "all => all.map(one => one.querySelector('svg').clientWidth)"
        )
        assert max(widths) <= 660
        fill = opened.page.eval_on_selector("#candidates .xtick text", "text => getComputedStyle(text).fill")
        assert fill == "rgb(29, 35, 39)"
        opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert opened.page.eval_on_selector("#candidates .xtick text", "text => getComputedStyle(text).fill") != fill
        assert len(opened.page.pdf(format="A4")) > 10_000
        assert opened.complaints == []


def test_the_page_of_a_reduction_is_drawn(browser, foods, tmp_path):  # noqa: F811
    path = tmp_path / "reduced.html"
    path.write_text(reduce_page(foods), encoding="utf-8")
    with Opened(browser, path, PHONE) as opened:
        assert opened.complaints == []
        assert opened.page.locator(".drawn svg.main-svg:first-child").count() >= 2
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= PHONE
