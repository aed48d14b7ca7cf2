"""The report of a reduction: one page that opens offline, and the same facts on the terminal."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console

from eigenwood.data import datasets
from eigenwood.report.html import reduce_page
from eigenwood.report.reducing import (
    back_caption,
    back_lines,
    caption,
    contours_of,
    left_out_words,
    scores_of,
    treatment,
)
from eigenwood.report.terminal import MOST_LINES, reduce_summary
from eigenwood.report.words import percent
from eigenwood.runs.reduce import choose_columns, reduce
from eigenwood.runs.reducers import ReduceSettings


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the record of a reduction of the foods, or of another table."""
    folder = tmp_path_factory.mktemp("reduced")
    foods = datasets.load("uk_foods").table()

    def record(source=foods, keep=("country",), **settings):
        columns = choose_columns(source, (), keep, None)
        return reduce(source, "uk_foods", columns, folder / "t.csv", ReduceSettings(**settings)).record

    return record


@pytest.fixture(scope="module")
def foods(made):
    return made()


def printed(thing) -> str:
    console = Console(width=140, record=True, color_system=None)
    with console.capture() as capture:
        console.print(thing)
    return capture.get()


def without_scripts(page: str) -> str:
    return re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_the_page_needs_nothing_from_outside(foods):
    page = reduce_page(foods)
    assert "http" not in without_scripts(page)
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=", page)


def test_page_and_terminal_tell_the_same(foods):
    page, text = without_scripts(reduce_page(foods)), printed(reduce_summary(foods))
    for told in (page, text):
        assert "uk_foods: 17 columns to 2 by pca" in told
        assert "Columns keep their units." in told
        for component in foods.principal:
            assert f"{component.variance:.6g}" in told
            assert f"{100 * component.share:.2f} %" in told
    assert f'<div class="big">{percent(sum(component.share for component in foods.principal))}</div>' in page
    assert "Certificate: all claims hold." in text
    for claim in foods.certificate["claims"]:
        assert f">{claim['name']}</td>" in page


def test_a_method_without_components_has_no_scree_and_no_certificate(made):
    record = made(method="ica")
    page, text = reduce_page(record), printed(reduce_summary(record))
    assert '<figure id="scores">' in page
    assert '<figure id="scree">' not in page
    assert "What was proved" not in page
    assert "Certificate" not in text
    figure = scores_of(record)
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("fastica0", "fastica1")
    assert "fastica0 %{x" in figure.data[0].hovertemplate


def test_one_component_has_no_plane(made):
    page = reduce_page(made(components=1))
    assert "of the variance in 1 component<" in page
    assert "Each dot is a row" not in page


def test_one_random_number_for_each_row_has_no_figure(made):
    assert "<figure" not in reduce_page(made(components=1, method="random"))


def test_many_components_are_cut_on_the_terminal(made):
    rng = np.random.default_rng(0)
    record = made(pa.table(list(rng.normal(size=(30, 50))), names=[f"f{j}" for j in range(30)]), (), components=30)
    text, page = printed(reduce_summary(record)), reduce_page(record)
    assert f"components, the first {MOST_LINES} of 30" in text
    assert f"pca{MOST_LINES - 1} " in text
    assert f"pca{MOST_LINES} " not in text
    assert "<td>pca29</td>" in page


def test_notes_are_told(foods):
    record = replace(foods, notes=["not settled after 7 iterations"])
    assert "<b>Note:</b> not settled after 7 iterations." in reduce_page(record)
    assert "Note: not settled after 7 iterations." in printed(reduce_summary(record))


def test_kept_columns_name_or_colour_the_rows(foods):
    figure = scores_of(foods)
    assert [note.text for note in figure.layout.annotations] == foods.shown["country"]
    coloured = replace(foods, kept=["sea"], shown={**foods.shown, "sea": ["west", "west", "north", "west"]})
    assert sorted(trace.name for trace in scores_of(coloured).data) == ["north", "west"]
    amounts = replace(foods, kept=["price"], shown={**foods.shown, "price": [1.5, None, 2.5, 3.0]})
    assert [len(trace.x) for trace in scores_of(amounts).data] == [1, 3]


def test_rows_without_names_have_their_numbers_where_some_are_left_out(foods):
    assert scores_of(replace(foods, kept=[])).data[0].hovertemplate.startswith("row %{customdata}")
    some = replace(foods, kept=[], n_rows=40, shown_every=10)
    assert list(scores_of(some).data[0].customdata) == ["row 0", "row 10", "row 20", "row 30"]
    assert caption(foods) == "Each dot is a row (all 4): pca0 across, pca1 up."
    assert caption(some) == "Each dot is a row (4 of 40, evenly spaced): pca0 across, pca1 up."


def test_what_was_done_to_the_columns(foods):
    both = replace(foods, scale="deviation", missing="mean")
    assert treatment(both) == (
        "Each column is divided by its standard deviation; what is missing is the mean of its column."
    )


def test_many_columns_that_are_left_out_are_counted():
    words = left_out_words({f"c{i}": "text" for i in range(12)})
    assert words.startswith("c0 (text), c1 (text)")
    assert words.endswith("c7 (text) … (12 in all)")


def test_names_from_the_table_cannot_run_in_the_page(foods):
    evil = "<script>alert(1)</script>"
    record = replace(
        foods,
        table=evil,
        columns=[evil],
        left_out={evil: "text"},
        kept=[evil],
        shown={**foods.shown, evil: [evil, evil, "a", "b"]},
    )
    assert evil not in reduce_page(record)


# --- kernel PCA -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rings(made):
    """Two columns: rows on two rings."""
    angle = np.linspace(0.0, 6.2, 60)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    x, y = np.vstack([ring, 3.0 * ring]).T
    return made(pa.table({"x": x, "y": y}), keep=(), method="kernel-pca", components=3)


def test_the_page_of_a_kernel_pca_has_contours_scores_intervals_and_pre_images(rings):
    page = without_scripts(reduce_page(rings))
    told = ("What the components say everywhere", "Back to rows", "an eigenvalue lies within", "Each dot is a row")
    assert all(words in page for words in told)
    assert reduce_page(rings).count('<script type="application/json">') == 3  # shares, scores, contours
    titles = [title.text for title in contours_of(rings).layout.annotations]
    assert titles == [f"PC{i + 1} ({percent(part.share)})" for i, part in enumerate(rings.principal)]
    assert all(cell in page for line in back_lines(rings) for cell in line)


def test_pre_images_of_many_columns_are_told_in_those_that_move(made):
    foods = made(method="kernel-pca")
    view = foods.kernel_view
    assert view.points == view.surface == []
    assert len(view.columns) == 8
    assert len(view.rows) == len(view.back) == len(view.distances) == 4
    assert "in the 8 columns of 17 that move most" in back_caption(foods)
    page = without_scripts(reduce_page(foods))
    assert "What the components say everywhere" not in page
    assert "Back to rows" in page


def test_other_methods_have_no_way_back(foods):
    assert foods.kernel_view is None
    assert "Back to rows" not in reduce_page(foods)
