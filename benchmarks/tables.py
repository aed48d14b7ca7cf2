"""A stored record as a Markdown table: what is printed is what is stored."""

from __future__ import annotations

from benchmarks.case import OURS


def case_table(name: str, record: dict) -> str:
    """Return the heading, the table and the lines under it."""
    quality = f"{record['quality']['name']} ({record['quality']['better']} is better)"
    header = ["contender", "seconds (median)", "spread", "ratio to ours", quality, "peak MB"]
    sized = any(row["n"] is not None for row in record["rows"])
    body = [row_cells(row, seconds_of_ours(record, row["n"])) for row in record["rows"]]
    if sized:
        header = ["n", *header]
        body = [[str(row["n"]), *cells] for row, cells in zip(record["rows"], body, strict=True)]
    return "\n".join([f"### {name}", "", *data_lines(record), "", *markdown(header, body), *lines_under(record)])


def row_cells(row: dict, ours: float | None) -> list[str]:
    """Return the cells of one contender; one without times says why."""
    if row["status"] != "ok":
        verb = "skipped" if row["status"] == "missing" else "failed"
        return [row["contender"], f"{verb}: {in_cell(row['reason'])}", "", "", "", ""]
    seconds = row["median_seconds"]
    return [
        row["contender"],
        number(seconds),
        f"{number(min(row['seconds']))} - {number(max(row['seconds']))}",
        f"{seconds / ours:.2f}" if ours else "",
        number(row["quality"]),
        number(row["peak_mb"]),
    ]


def seconds_of_ours(record: dict, n: int | None) -> float | None:
    """Return our median at size n, if there is one."""
    for row in record["rows"]:
        if row["contender"] == OURS and row["n"] == n:
            return row["median_seconds"]
    return None


def number(value: float | None) -> str:
    """Return four significant digits; a dash where nothing was measured."""
    return "-" if value is None else f"{value:.4g}"


def in_cell(text: str) -> str:
    """Return the text without what would end a cell."""
    return text.replace("|", "/").replace("\n", " ")


def data_lines(record: dict) -> list[str]:
    """Return one line about the data and the machine."""
    data = ", ".join(f"{name}: {what}" for name, what in record["data"].items())
    machine = record["machine"]
    return [f"{data}; {machine['cpu']}, {machine['threads']} threads of {machine['cores']} cores"]


def lines_under(record: dict) -> list[str]:
    """Return the target and how the times grow."""
    lines = [f"Target: {record['target']}."] if record["target"] else []
    lines += [f"{name}: time grows as n^{power:.2f}." for name, power in record["exponents"].items()]
    return ["", *lines] if lines else []


def markdown(header: list[str], body: list[list[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    return [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *body)]
