"""Records of the comparison as Markdown: scores with ranks, seconds and memory, the losses of ours."""

from __future__ import annotations

from statistics import mean

from benchmarks.learn_scores import DIGITS, METRICS, ranks
from benchmarks.learn_systems import OURS, SYSTEMS
from benchmarks.tables import markdown

GRACE = 1.0  # seconds beyond the limit that are not late


def comparison(records: list[dict]) -> str:
    """Return everything there is to say about these records."""
    if not records:
        return "Nothing is stored for these tables, seconds and seeds."
    systems = [name for name in SYSTEMS if any(name in record["systems"] for record in records)]
    lines = [
        *score_lines(records, systems),
        "",
        *mean_rank_lines(records, systems),
        "",
        *cost_lines(records, systems),
        "",
        *loss_lines(records),
    ]
    return "\n".join(lines)


def score_lines(records: list[dict], systems: list[str]) -> list[str]:
    """Return the table of scores, each with its rank, and the mean ranks under it."""
    body = []
    for record in records:
        place = ranks_of(record, record["metric"])
        data = record["data"]
        cells = [score_cell(record, name, place) for name in systems]
        body.append([f"{record['table']} ({data['rows']:,} x {data['columns']})", METRICS[record["metric"]], *cells])
    found = [ranks_of(record, record["metric"]) for record in records]
    body.append([f"**mean rank of {len(records)}**", "", *(mean_rank(found, name) for name in systems)])
    return markdown(["table", "score", *systems], body)


def ranks_of(record: dict, metric: str) -> dict[str, float]:
    """Return the rank of each system that had a turn."""
    names = list(record["systems"])
    return dict(zip(names, ranks([record["systems"][name]["means"].get(metric) for name in names]), strict=True))


def score_cell(record: dict, name: str, place: dict[str, float]) -> str:
    """Return a score with its rank, or why there is none."""
    if name not in place:
        return ""
    found = record["systems"][name]
    score = f"{found['means'][record['metric']]:.{DIGITS}f}" if found["means"] else "failed"
    return f"{score} ({place[name]:g})"


def mean_rank(found: list[dict[str, float]], name: str) -> str:
    """Return the mean rank of a system, with the number of tables where it had no turn on all of them."""
    places = [place[name] for place in found if name in place]
    words = "" if len(places) == len(found) else f" over {len(places)}"
    return f"**{mean(places):.2f}**{words}" if places else ""


def mean_rank_lines(records: list[dict], systems: list[str]) -> list[str]:
    """Return the mean ranks by each score, on the tables that have it."""
    lines = []
    for metric, words in METRICS.items():
        having = [record for record in records if any(metric in found["means"] for found in record["systems"].values())]
        if having:
            places = [ranks_of(record, metric) for record in having]
            told = ", ".join(f"{name} {rank}" for name in systems if (rank := mean_rank(places, name)))
            lines.append(f"Mean rank by {words} where there is one (tables: {len(having)}): {told.replace('**', '')}.")
    return lines


def cost_lines(records: list[dict], systems: list[str]) -> list[str]:
    """Return the table of seconds (the longest run) and peak megabytes; who is late is marked."""
    body = [
        [f"{record['table']}, {record['limit']} s", *(cost_cell(record, name) for name in systems)]
        for record in records
    ]
    return markdown(["seconds and peak MB", *systems], body)


def cost_cell(record: dict, name: str) -> str:
    found = record["systems"].get(name)
    if found is None:
        return ""
    seconds = max(found["learn_seconds" if is_ours(name) else "seconds"])
    late = " late" if seconds > record["limit"] + GRACE else ""
    beside = f" + {max(found['seconds']) - seconds:.1f}" if is_ours(name) else ""
    return f"{seconds:.1f}{beside}{late}, {max(found['peak_mb']):.0f}"


def is_ours(name: str) -> bool:
    """Return whether ``learn`` and ``predict`` were two processes: their seconds are shown apart."""
    return name.startswith(OURS)


def loss_lines(records: list[dict]) -> list[str]:
    """Return where a rival was before ours, and every failure."""
    lost = [line for record in records for line in losses(record)]
    failures = [
        f"- {record['table']}: {name} failed: {reason}"
        for record in records
        for name, found in record["systems"].items()
        for reason in found["failures"]
    ]
    return [
        f"A rival was before ours {len(lost)} times" + (":" if lost else "."),
        *lost,
        *(["", "Failed:", *failures] if failures else []),
    ]


def losses(record: dict) -> list[str]:
    """Return one line for each rival that was better than ours on a table."""
    metric, place = record["metric"], ranks_of(record, record["metric"])
    if OURS not in place:
        return []
    ours, blind = record["systems"][OURS]["means"].get(metric), record["data"]["blind_rows"]
    return [
        f"- {record['table']}: {name} {record['systems'][name]['means'][metric]:.{DIGITS}f}, ours "
        + ("failed" if ours is None else f"{ours:.{DIGITS}f}")
        + f" ({METRICS[metric]} of {blind:,} blind rows)"
        for name in sorted(place, key=place.__getitem__)
        if not is_ours(name) and place[name] < place[OURS]
    ]
