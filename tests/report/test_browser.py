"""A report in a browser, as its readers meet it."""

import shutil

import numpy as np
import polars as pl
import pytest

from forebay import load
from forebay.report import write
from report.conftest import comparison
from report.test_pages import CURVE, compiled, forebay, saved, study, swept  # noqa: F401 - fixtures

pytestmark = pytest.mark.full

CHROMIUM = shutil.which("chromium")
READY = "document.documentElement.dataset.ready === 'yes'"
PLACE = """([job, place]) => {
  const box = forebay.schedule.shown[place]["box-job"].indexOf(job);
  const view = Bokeh.index.find_one(forebay.model(`nodes-${place}`)), edge = view.el.getBoundingClientRect();
  const { left, right, top, bottom } = forebay.model(`boxes-${place}`).data;
  const x = view.frame.x_scale.compute((left[box] + right[box]) / 2);
  return [edge.left + x, edge.top + view.frame.y_scale.compute((top[box] + bottom[box]) / 2)];
}"""
"""Where on the screen a job lies."""
MIDDLE = """(() => {
  const view = Bokeh.index.find_one(forebay.model("lane-queue"));
  view.el.scrollIntoView({ block: "center", behavior: "instant" });
  const box = view.el.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + 40];
})()"""
"""Somewhere in the queue's lane, after it has been moved onto the screen."""
QUEUE = """(() => {
  const { x, y } = forebay.model(`steps-${forebay.schedule.told.lanes.length - 1}-0`).data;
  return [[...x], [...y]];
})()"""
LANES = "['nodes-0', 'nodes-1', 'lane-queue', 'differences']"


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("chromium is not installed; scripts/install-chromium does it")
    playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--enable-unsafe-swiftshader"])
        yield found
        found.close()


@pytest.fixture
def opened(browser):
    """Open a page; whatever its console complains of is an error."""
    complaints, contexts = [], []

    def open_page(path, width=1400, **more):
        contexts.append(browser.new_context(viewport={"width": width, "height": 1000}, **more))
        page = contexts[-1].new_page()
        page.set_default_timeout(120_000)  # a busy machine without a graphics card takes its time
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path.resolve().as_uri())
        page.wait_for_function(READY)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="module")
def report(small, tmp_path_factory):
    return write(small, tmp_path_factory.mktemp("report") / "report.html")


def ranges(page):
    return page.evaluate(f"{LANES}.map((name) => forebay.model(name).x_range.start)")


def test_panning_one_lane_moves_all(opened, report):
    page = opened(report)
    before = ranges(page)
    lane = page.evaluate(MIDDLE)
    page.mouse.move(*lane)
    page.mouse.down()
    page.mouse.move(lane[0] - 100, lane[1], steps=4)
    page.mouse.up()
    after = ranges(page)
    assert len(set(before)) == len(set(after)) == 1
    assert after[0] > before[0]
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(200)
    assert len(set(ranges(page))) == 1


@pytest.mark.parametrize(("place", "policy"), [(0, "fcfs-easy"), (1, "fcfs-bb")])
def test_pointing_at_a_job_tells_of_it(opened, report, small, place, policy):
    page = opened(report)
    page.evaluate(f"Bokeh.index.find_one(forebay.model('nodes-{place}')).el.scrollIntoView({{behavior: 'instant'}})")
    jobs = load(small / policy).jobs
    for row in (2, 5):
        job = jobs.row(row, named=True)
        page.mouse.move(*page.evaluate(PLACE, [row, place]))
        page.wait_for_selector("#facts:not([hidden])")
        words = page.eval_on_selector_all("#facts dt, #facts dd", "all => all.map((one) => one.textContent)")
        told = dict(zip(words[::2], words[1::2], strict=True))
        assert told["job"] == str(job["job_id"])
        assert told["nodes"] == str(job["requested_number_of_resources"])
        assert told["wait"] == page.evaluate("(s) => forebay.duration(s)", job["waiting_time"])


def test_colours_can_be_chosen(opened, report):
    page = opened(report)
    keys = set()
    for way in ("wait", "size", "user"):
        page.select_option("#colour", way)
        keys.add(page.inner_text("#key"))
        shades = page.evaluate("[...forebay.model('boxes-0').data.shade]")
        colours = page.evaluate("forebay.model('shades-0').palette.length")
        assert all(0 <= shade < colours for shade in shades)
    assert len(keys) == 3


def test_another_policy_below_and_what_differs(opened, report, small):
    page = opened(report)
    page.select_option("#second", label="fcfs")
    page.wait_for_function("document.getElementById('shifted').textContent.includes('Under fcfs rather')")
    starts = [load(small / policy).jobs["starting_time"].to_numpy() for policy in ("fcfs-easy", "fcfs")]
    shift = starts[1] - starts[0]
    told = page.inner_text("#shifted")
    assert f"{(shift < 0).sum()} jobs start earlier, {(shift > 0).sum()} later, and {(shift == 0).sum()} at" in told
    assert page.evaluate("forebay.model('shift').data.y") == pytest.approx(list(np.arcsinh(shift / 60)), abs=1e-4)
    page.select_option("#second", value="")
    page.wait_for_function("!forebay.model('nodes-1').visible && !forebay.model('differences').visible")


def test_light_and_dark(opened, report):
    for scheme, other in (("light", "dark"), ("dark", "light")):
        page = opened(report, color_scheme=scheme)
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        ink = "[...Bokeh.documents[0].all_models].find((one) => one.type === 'LinearAxis').major_label_text_color"
        before = page.evaluate(ink)
        page.click("#theme")
        assert page.evaluate("document.documentElement.dataset.theme") == other
        assert page.evaluate(ink) != before


@pytest.mark.parametrize("width", [400, 1400])
def test_contents_stay_in_sight_and_follow(opened, report, width):
    page = opened(report, width)
    links = page.locator("nav a")
    for place in (3, links.count() - 1, 0):
        title = links.nth(place).inner_text()
        page.evaluate(
            "(k) => document.querySelectorAll('main > section')[k].scrollIntoView({behavior: 'instant'})", place
        )
        page.wait_for_function(f"document.querySelector('nav [aria-current]').textContent === {title!r}")
        box = page.locator("nav").bounding_box()
        assert 0 <= box["y"] < 300
        assert links.nth(place).is_visible()


def test_paper_is_light_and_has_every_figure(opened, report):
    """Figures are drawn for the width of paper, and are back when it is over."""
    page = opened(report, color_scheme="dark")
    before = page.evaluate("document.querySelectorAll('.plot').length")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    pictures = page.evaluate("[...document.querySelectorAll('.printed')].map((one) => one.src)")
    assert len(pictures) >= before
    assert all("fcfs" in one or "path" in one for one in pictures)
    assert page.evaluate("[...document.querySelectorAll('.plot')].every((one) => one.offsetHeight === 0)")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.locator(".printed").count() == 0
    assert page.evaluate("[...document.querySelectorAll('.plot')].every((one) => one.offsetWidth > 400)")


def test_a_page_prints(opened, report):
    assert opened(report).pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_is_wider_than_the_screen(opened, report, width):
    page = opened(report, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_a_graphics_card_the_canvas_draws(opened, report):
    """A program that stands in for a card takes seconds to hand over each picture."""
    page = opened(report)
    card = """(() => {
      const gl = document.createElement("canvas").getContext("webgl");
      return gl && gl.getParameter(gl.getExtension("WEBGL_debug_renderer_info").UNMASKED_RENDERER_WEBGL);
    })()"""
    if "swiftshader" not in (page.evaluate(card) or "swiftshader").lower():
        pytest.skip("this machine has a graphics card")
    backends = page.evaluate(f"{LANES}.map((name) => forebay.model(name).output_backend)")
    assert set(backends) == {"canvas"}


def test_every_figure_is_drawn_and_keeps_no_empty_place(opened, report):
    page = opened(report)
    assert page.evaluate(
        "[...forebay.figures.values()].every(({ shown, element }) => shown && element.children.length)"
    )
    assert page.evaluate("[...document.querySelectorAll('.plot')].every((one) => one.style.minHeight === '')")


def test_a_lane_that_is_zoomed_out_shows_means(opened, default, tmp_path):
    """The area under the queue is what jobs waited, however few points draw it."""
    page = opened(write(default, tmp_path / "report.html"), 400)
    x, y = map(np.array, page.evaluate(QUEUE))
    waited = load(default / "fcfs-bb").jobs.select(pl.col("waiting_time").sum()).item()
    assert x.size < 1000
    assert (y[:-1] * np.diff(x)).sum() == pytest.approx(waited, rel=1e-3)


def test_words_of_a_trace_are_not_run(opened, tmp_path):
    hostile = "<img src=x onerror=\"document.title='run'\"></script><script>document.title='run'</script>"
    folder = comparison(tmp_path / "out", ("fcfs", "fcfs-bb"), workload=hostile)
    page = opened(write(folder))
    assert page.title() == f"{hostile} under 2 policies"


@pytest.mark.parametrize("kind", ["capacity", "study", "sweep"])
@pytest.mark.parametrize("width", [400, 1400])
def test_other_pages_open_without_complaints(opened, request, tmp_path, kind, width):
    if kind == "capacity":
        folder = saved(tmp_path / "out", "capacity.json", CURVE)
    else:
        folder = request.getfixturevalue({"study": "study", "sweep": "swept"}[kind])
    page = opened(write(folder), width, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    figures = {"capacity": 1, "study": 0, "sweep": 2}[kind]
    assert page.locator(".plot canvas").count() >= figures
