"""The report of learn: one page that opens offline, and the same facts on the terminal and in a notebook."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from rich.console import Console
from sklearn.pipeline import Pipeline

from eigenwood import SVC, DecisionTreeClassifier, DecisionTreeRegressor, Perceptron
from eigenwood.estimators.blending import ScaledTargetRegressor, WeightedEnsembleClassifier
from eigenwood.proofs.claim import Certificate, at_most, measured, not_claimed
from eigenwood.report.certificate_words import certificate_line, claim_line, claim_lines, member_lines
from eigenwood.report.columns import MOST_SHOWN, column_lines, dropped_words, kinds_words
from eigenwood.report.figures import run_figures
from eigenwood.report.html import MOST_CANDIDATES, drawn_figure, run_page
from eigenwood.report.leaderboard import CHOSEN, CUT_WORDS, leaderboard
from eigenwood.report.model import model_summary
from eigenwood.report.notebook import run_view
from eigenwood.report.task_report import OTHERS, measure_lines, most_frequent
from eigenwood.report.terminal import run_details, run_summary
from eigenwood.report.winner import facts_words, member_views
from eigenwood.report.words import cut_words, result_words, winner_words
from eigenwood.runs.record import CUT, MemberRecord, Run
from tests.report import samples

LARGEST = 5_000_000  # bytes of a page
EVIL = "<script>alert(1)</script>"


@pytest.fixture(params=samples.RUNS)
def run(request) -> Run:
    return samples.RUNS[request.param]()


def printed(thing, width: int = 160) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(thing)
    return capture.get()


def markup(page: str) -> str:
    return re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


# --- the page -------------------------------------------------------------------------------------


def test_the_page_needs_nothing_from_outside_and_is_not_too_large(run):
    page = run_page(run)
    assert "http" not in markup(page)
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=", page)
    assert len(page.encode()) < LARGEST


def test_a_run_that_was_saved_has_the_same_page(run, tmp_path):
    assert run_page(Run.load(run.save(tmp_path / "run.json"))) == run_page(run)


def test_every_figure_of_a_run_stands_in_its_page(run):
    page = run_page(run)
    names = list(run_figures(run)) + [
        f"member_{place}_{name}" for place, one in enumerate(member_views(run)) for name in one.figures
    ]
    assert sorted(re.findall(r'<figure id="([^"]+)">', page)) == sorted(names)
    assert page.count('<script type="application/json">') == len(names)
    for content in re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL):
        assert set(json.loads(content)) >= {"data", "layout"}


def test_the_page_tells_what_was_measured():
    run = samples.fraud()
    page = markup(run_page(run)).replace("&#39;", "'")
    assert run.assessment.headline in page
    assert result_words(run) in page
    for line in measure_lines(run):
        assert all(f">{words}</td>" in page for words in line)
    for finding in run.findings:
        assert finding.sentence in page
    assert page.index("This looks like a leak") < page.index("The data</h2>")
    assert "There was no time for 2 trials (svm, kernel-logistic)." in page
    assert "eigenwood replay run.json" in page
    assert "4,711" in page


def test_a_fit_that_was_cut_says_so_and_has_no_rank():
    page = markup(run_page(samples.fraud()))
    rows = [row for row in re.findall(r"<tr.*?</tr>", page, re.DOTALL) if CUT_WORDS in row]
    assert len(rows) == 2
    assert all('class="cut"' in row and '<td class="number"></td>' in row and 'data-value=""' in row for row in rows)
    heart = samples.heart()
    for told in (markup(run_page(heart)), run_view(heart), printed(run_summary(heart), 400)):
        assert "The final model learnt from 182 of the 227 training rows: the time limit did not allow more." in told


def test_a_model_that_only_guesses_says_so():
    run = samples.wide()
    for told in (markup(run_page(run)), run_view(run), printed(run_summary(run), 400)):
        assert "no better than guessing: do not rely on it" in told
        assert "Guessing means" in told or "guessing, always saying" in told


def test_many_columns_are_cut_to_the_most_telling_ones():
    run = samples.wide()
    lines = column_lines(run)
    assert (len(lines.shown), lines.n_others) == (MOST_SHOWN, 5001 - MOST_SHOWN)
    n_dropped = sum(column.use != "feature" for column in run.columns) - 1
    assert [line.is_dropped for line in lines.shown] == [True] * n_dropped + [False] * (MOST_SHOWN - n_dropped)
    assert lines.shown[n_dropped].use == "target"
    assert [line.name for line in lines.shown[n_dropped + 1 :]] == [
        name for name, *_ in run.explanation.importances[: MOST_SHOWN - n_dropped - 1]
    ]
    assert "and 4,801 other columns" in run_page(run)
    assert dropped_words(run).endswith("and 44 more (always the same)")


def test_kinds_and_dropped_columns_are_words():
    run = samples.fraud()
    assert kinds_words(run) == "5 numbers, 4 categories and 1 date"
    assert dropped_words(run) == (
        "transaction (looks like an ID); currency (always the same); checked_by (dropped, as asked)"
    )
    assert dropped_words(samples.heart()) == ""


@pytest.mark.parametrize("make", [run_page, run_view])
def test_names_from_the_table_cannot_run_in_the_page(make):
    run = samples.fraud()
    columns = [replace(run.columns[0], name=EVIL), *run.columns[1:]]
    dependence = [replace(run.explanation.dependence[1], column=EVIL, values=[EVIL, *"abcd"])]
    explanation = replace(
        run.explanation, importances=[(EVIL, 0.1, 0.0, 0.2)], dependence=dependence, details={"members": []}
    )
    assessment = replace(run.assessment, labels=["fine", EVIL], baseline_label=EVIL, positive_label=EVIL, headline=EVIL)
    page = make(replace(run, table=EVIL, target=EVIL, columns=columns, assessment=assessment, explanation=explanation))
    assert EVIL not in page


def test_figures_hold_no_character_that_could_end_their_script():
    content = drawn_figure("answer", run_figures(samples.fraud())["answer"]).content
    assert not set(content) & set("<>&")


def test_a_run_without_explanation_and_candidates_has_a_page():
    run = samples.glyphs()
    bare = replace(
        run,
        candidates=[],
        recipe=replace(run.recipe, members=[]),
        explanation=replace(run.explanation, importances=[], dependence=[], details={}),
    )
    assert "There was no time to measure it." in run_page(bare)


# --- the leaderboard ------------------------------------------------------------------------------


def test_the_leaderboard_ranks_only_what_is_compared():
    run = samples.fraud()
    lines = leaderboard(run)
    ranked = [line for line in lines if line.rank]
    assert [line.rank for line in ranked] == [str(number) for number in range(1, len(ranked) + 1)]
    assert lines[: len(ranked)] == ranked
    scores = [line.value for line in ranked]
    assert scores == sorted(scores, reverse=True)
    assert {line.place for line in lines if line.is_chosen} == {member.candidate for member in run.recipe.members}
    assert [line.status for line in lines if line.is_cut] == [CUT_WORDS] * 2
    assert all(line.score == "–" for line in lines if line.is_cut)


def test_a_candidate_stands_once_with_its_last_trial():
    run = samples.fraud()
    names = [(line.method, line.params) for line in leaderboard(run)]
    assert len(set(names)) == len(names)
    assert len(names) == len({(c.method, str(c.params)) for c in run.candidates})


def test_a_trial_on_a_sample_that_was_chosen_stays_when_the_one_on_all_rows_was_cut():
    run = samples.fraud()
    first = run.candidates[0]
    cut = replace(first, n_rows=6000, fold_scores=[], mean_score=0.0, status=CUT)
    recipe = replace(run.recipe, members=[MemberRecord(0, first.method, first.params, 1.0)])
    lines = leaderboard(replace(run, candidates=[first, cut], recipe=recipe))
    assert [(line.place, line.is_chosen, line.is_cut) for line in lines] == [(0, True, False), (1, False, True)]
    assert lines[0].status == CHOSEN


def test_errors_are_shown_without_the_minus_of_the_record():
    run = samples.houses()
    lines = leaderboard(run)
    assert not any("-" in line.score + line.folds for line in lines)
    low, high = lines[0].folds.replace(",", "").split(" – ")
    assert float(low) < float(lines[0].score.replace(",", "")) < float(high)
    figure = run_figures(run)["candidates"].figure
    best = next(trace for trace in figure.data if trace.name == "best so far")
    assert list(best.y) == sorted(best.y, reverse=True)


def test_a_long_leaderboard_is_cut():
    run = samples.fraud()
    more = [replace(run.candidates[-3], params={"C": float(i)}) for i in range(MOST_CANDIDATES)]
    page = run_page(replace(run, candidates=run.candidates + more))
    assert page.count('<td class="long roomy small">') == MOST_CANDIDATES
    assert "other trials that did worse" in page


# --- words ----------------------------------------------------------------------------------------


def test_the_winner_in_words():
    def recipe(*members):
        return replace(
            samples.fraud().recipe,
            members=[MemberRecord(i, method, {}, weight) for i, (method, weight) in enumerate(members)],
        )

    assert winner_words(recipe(("random-forest", 1.0))) == "a random forest"
    assert winner_words(recipe(("svm", 0.4), ("gradient-boosting", 0.6))) == (
        "a weighted mean of gradient boosting (60 %) and SVM (40 %)"
    )
    assert winner_words(recipe(("svm", 0.3), ("svm", 0.3), ("adaboost", 0.4))) == (
        "a weighted mean of AdaBoost (40 %) and 2 fits of SVM (60 %)"
    )


def test_a_forest_with_fewer_trees_says_so():
    run = samples.fraud()
    members = [MemberRecord(0, "random-forest", {}, 1.0, n_rounds=40)]
    assert cut_words(replace(run, recipe=replace(run.recipe, members=members))) == [
        "There was time for 40 trees of the random forest."
    ]
    assert cut_words(run) == []


def test_a_member_that_was_stopped_says_so():
    run = samples.fraud()
    details = {"members": [{"name": "svm 1", "numbers": {"stopped": "time_limit"}}]}
    stopped = replace(run, explanation=replace(run.explanation, details=details))
    assert cut_words(stopped) == ["The fit of svm 1 was stopped before its end."]
    assert "cut by the time limit" in facts_words(details["members"][0])


def test_the_headline_is_not_told_twice():
    run = samples.fraud()
    assert result_words(run).startswith("Balanced accuracy is ")
    score = f"{100 * run.assessment.score:.1f} %"
    told = replace(run, assessment=replace(run.assessment, headline=f"Right on {score} of the rows."))
    assert result_words(told) == "Guessing means always saying “fine”, the most frequent class."


def test_classes_that_are_rare_are_put_together_in_a_large_confusion_matrix():
    run = samples.glyphs()
    labels, cells = most_frequent(run.assessment.labels, run.assessment.confusion)
    assert labels[-1] == OTHERS
    assert len(labels) == len(cells) == 20
    assert sum(map(sum, cells)) == sum(map(sum, run.assessment.confusion))


# --- the certificate ------------------------------------------------------------------------------


def test_claims_are_sentences():
    line = claim_line(at_most("svm 1: gap", "primal - dual: …", 0.0064, 0.3))
    assert (line.member, line.status) == ("svm 1", "proved")
    assert line.sentence == "No other model of this kind fits better by more than 0.0064 (primal less dual objective)."
    of_pair = claim_line(measured("margin of yes, no", "2/‖w‖", 0.25))
    assert of_pair.sentence == "yes, no: The margin between the classes is 0.25 wide."
    unknown = claim_line(at_most("brand new", "what nobody knows", 2.0, 3.0)).sentence
    assert unknown == "Brand new: what nobody knows is 2, at the bound 3."
    assert claim_line(not_claimed("leaves", "leaves; the fit was stopped", 3)).sentence == (
        "Not claimed: leaves; the fit was stopped."
    )
    forest, machine = (measured("left out", statement, 0.5) for statement in ("share of", "leave-one-out error ≤ this"))
    assert claim_line(forest).sentence != claim_line(machine).sentence


def test_what_fails_comes_first_and_members_stand_apart():
    claims = Certificate(
        (
            measured("svm 1: margin", "", 1.0),
            at_most("svm 1: gap", "", 0.1, 1.0),
            at_most("adaboost 2: edges", "", 2.0, 1.0),
        )
    )
    lines = claim_lines(claims)
    assert [line.status for line in lines] == ["FAILS", "proved", "measured"]
    assert list(member_lines(lines)) == ["adaboost 2: 1 FAILS", "svm 1: 1 proved, 1 measured"]
    assert list(member_lines(lines[:1])) == [""]
    assert certificate_line(claims) == "Certificate: 1 claim proved, 1 number measured; NOT all claims hold."


@pytest.mark.parametrize("make", [samples.fraud, samples.heart])
def test_every_claim_of_a_candidate_has_a_sentence_of_its_own(make):
    for claim in Certificate.from_dict(make().certificate):
        assert not claim_line(claim).sentence.startswith(claim.statement[:12]), claim.name


# --- terminal and notebook ------------------------------------------------------------------------


def test_the_terminal_tells_leaderboard_result_dropped_columns_and_certificate(run):
    text = printed(run_summary(run), 400)
    parts = [f"candidates, {run.validation.how}", run.assessment.headline, "The model: ", "Certificate: "]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "→ " in text
    if dropped_words(run):
        assert f"Not used: {dropped_words(run)}." in text
    assert text.count("Certificate: ") == 1
    assert "primal" not in text


def test_details_have_every_measure_finding_and_claim():
    run = samples.fraud()
    text = printed(run_details(run), 400)
    for measure in run.assessment.measures:
        assert measure.name in text
    for finding in run.findings:
        assert finding.sentence in text
    for claim in run.certificate["claims"]:
        assert claim["name"] in text


def test_a_label_with_square_brackets_is_no_markup_on_the_terminal():
    run = samples.fraud()
    headline = "Finds 3 '[red]' rows."
    assert headline in printed(run_summary(replace(run, assessment=replace(run.assessment, headline=headline))))


def test_the_notebook_view_is_small_and_has_no_script(run):
    view = run_view(run)
    assert "<script" not in view
    assert "<style" not in view
    assert len(view) < 20_000
    assert "Certificate: " in view


def test_a_model_shows_its_parameters_and_certificate():
    text = printed(model_summary(Perceptron(eta0=0.5).fit([[0.0], [1.0]], [0, 1])))
    assert re.search(r"eta0\s+│ 0.5\s+│ default: 1.0", text)
    assert "training errors" in text


def test_an_ensemble_shows_its_members_and_their_parameters():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    ensemble = WeightedEnsembleClassifier(
        [("margin", Pipeline([("model", SVC(C=3.0))])), ("tree", DecisionTreeClassifier())], weights=[0.75, 0.25]
    )
    text = printed(model_summary(Pipeline([("model", ensemble.fit(X, y))])))
    assert re.search(r"estimators\s+│ margin, tree\s+│ default: None", text)
    assert re.search(r"weights\s+│ \[0.75, 0.25\]", text)
    assert re.search(r"margin: SVC *\n(.*\n){3}(.*\n)*?.* C\s+│ 3.0\s+│ default: 1.0", text)
    assert "tree: DecisionTreeClassifier" in text


def test_a_method_within_a_step_is_a_value_of_it():
    model = ScaledTargetRegressor(DecisionTreeRegressor(max_depth=2), scale="log")
    text = printed(model_summary(model.fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 5.0])))
    assert re.search(r"regressor\s+│ DecisionTreeRegressor\(max_depth=2\)", text)
