"""The page in a real browser: its script runs, sorts and searches; nothing is fetched."""

import json
import os
import re
import shutil
import struct
import subprocess

import pytest

from setwise.report import page_of

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--no-first-run", "--disable-extensions", "--disable-background-networking",
)  # fmt: skip
BEFORE = """<script>
window.problems = [];
window.addEventListener("error", (event) => window.problems.push(String(event.message)));
</script>"""
# What a reader does, one thing after another, and what the page then shows.
AFTER = """<script>
window.addEventListener("load", () => {
  const told = { problems: window.problems };
  const table = document.getElementById("labels");
  const search = document.querySelector("input[type=search]");
  const seen = () => [...table.tBodies[0].rows]
    .filter((row) => row.offsetParent !== null).map((row) => row.cells[0].textContent);
  const ground = () => getComputedStyle(document.body).backgroundColor;
  told.at_first = seen();
  for (const name of ["label", "rows", "F1"]) {
    const button = [...table.querySelectorAll("th button")].find((b) => b.textContent === name);
    told[name] = [0, 1].map(() => {
      button.click();
      return [seen(), button.closest("th").getAttribute("aria-sort")];
    });
  }
  told.sorted_heads = table.querySelectorAll("th[aria-sort]").length;
  const find = (text) => {
    search.value = text;
    search.dispatchEvent(new Event("input"));
    return [seen().sort(), document.getElementById("labels-count").textContent];
  };
  told.found = find(" BILL");
  told.nothing = find("no such label");
  told.all_again = find("");
  const first = ground();
  document.querySelector(".theme").click();
  told.grounds = [first, ground()];
  document.querySelector(".theme").click();
  told.grounds.push(ground());
  told.fetched = performance.getEntriesByType("resource").map((entry) => entry.name);
  const phone = document.createElement("iframe");
  phone.style = "width: 390px; height: 800px; border: 0";
  phone.addEventListener("load", () => {
    const inside = phone.contentDocument;
    told.phone_width = inside.documentElement.scrollWidth;
    told.phone_sections = [...inside.querySelectorAll("section")].map((s) => s.offsetWidth);
    const report = document.createElement("pre");
    report.id = "told";
    report.textContent = JSON.stringify(told);
    document.body.append(report);
  });
  phone.srcdoc = PAGE;
  document.body.append(phone);
});
</script>"""


@pytest.fixture(scope="module")
def browse(tmp_path_factory):
    """Run the browser with options on a file; what it prints."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"no browser on the PATH ({', '.join(BROWSERS)})")
    profile = tmp_path_factory.mktemp("profile")
    environment = os.environ | {"HOME": str(profile)}

    def run(path, *options):
        # A home and a profile of its own: no settings of a user, no lock of another browser.
        command = [program, *OPTIONS, f"--user-data-dir={profile}", *options, path.as_uri()]
        done = subprocess.run(command, capture_output=True, timeout=120, env=environment)
        return done.stdout.decode()

    empty = profile / "empty.html"
    empty.write_text("<p>ready</p>")
    if "ready" not in run(empty, "--dump-dom"):
        pytest.skip(f"{program} does not start here")
    return run


@pytest.fixture(scope="module")
def page(facts):
    return page_of(facts)


@pytest.fixture(scope="module")
def told(browse, page, tmp_path_factory):
    """What the page showed after each thing that a reader does."""
    inside = json.dumps(page).replace("</", "<\\/")
    tried = page.replace("<body>", f"<body>{BEFORE}", 1).replace(
        "</body>", AFTER.replace("PAGE", inside) + "</body>"
    )
    path = tmp_path_factory.mktemp("page") / "tried.html"
    path.write_text(tried, encoding="utf-8")
    shown = browse(path, "--virtual-time-budget=10000", "--dump-dom")
    found = re.search(r'<pre id="told">(.*?)</pre>', shown, re.DOTALL)
    assert found, shown[-2000:]
    text = found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return json.loads(text)


def test_the_script_runs_without_errors(told, facts):
    assert told["problems"] == []
    assert len(told["at_first"]) == len(facts["labels"])


def test_nothing_is_fetched(told, page):
    assert told["fetched"] == []
    assert not re.search(r"https?:|//\w|@import|url\(", page)


@pytest.mark.parametrize(("column", "key"), [("rows", "rows"), ("F1", "f1")])
def test_a_click_sorts_by_a_number_the_largest_first(told, facts, column, key):
    value = {one["label"]: -1 if one[key] is None else one[key] for one in facts["labels"]}
    for (labels, direction), expected in zip(told[column], ("descending", "ascending")):
        values = [value[label.removesuffix(" (never seen)")] for label in labels]
        assert direction == expected
        assert values == sorted(values, reverse=expected == "descending")
    assert told["sorted_heads"] == 1


def test_a_click_sorts_by_name(told):
    (up, first), (down, second) = told["label"]
    assert (first, second) == ("ascending", "descending")
    assert up == sorted(told["at_first"], key=str.lower)
    assert down == up[::-1]


def test_a_search_shows_what_holds_the_words(told, facts):
    n = len(facts["labels"])
    assert told["found"] == [["billing"], f"1 of {n}"]
    assert told["nothing"] == [[], f"0 of {n}"]
    assert told["all_again"] == [sorted(told["at_first"]), f"{n} of {n}"]


def test_dark_and_light_can_be_had(told):
    first, other, again = told["grounds"]
    assert first == again != other


def test_a_phone_need_not_scroll_sideways(told):
    assert told["phone_width"] <= 390
    assert all(0 < width <= 390 for width in told["phone_sections"])


def test_a_picture_of_it_has_many_colours(browse, page, tmp_path):
    path, picture = tmp_path / "page.html", tmp_path / "page.png"
    path.write_text(page, encoding="utf-8")
    browse(path, "--window-size=900,1200", f"--screenshot={picture}")
    written = picture.read_bytes()
    assert written.startswith(b"\x89PNG")
    assert struct.unpack(">II", written[16:24]) == (900, 1200)
    assert len(written) > 40_000  # a page of one colour packs into a few thousand bytes
