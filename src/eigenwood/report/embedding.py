"""How word vectors are told: the terminal's lines and tables."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from eigenwood.report.reducing import verdict
from eigenwood.runs.embed_record import EmbedRecord


def embed_summary(record: EmbedRecord) -> Group:
    """Return what was learnt, and the loss of each epoch."""
    title = (
        f"{record.text}: {record.n_components} numbers for each of {record.n_vocabulary:,} words, by {record.method}"
    )
    speed = record.n_words * max(len(record.losses), 1) / max(record.seconds, 1e-9)
    times = f"{record.n_words:,} words of text in {record.seconds:.1f} s ({speed:,.0f} words/s)"
    stopped = [] if record.stop_reason == "finished" else [Text(f"Note: the fit was stopped: {record.stop_reason}.")]
    losses = [losses_table(record.losses)] if record.losses else []
    return Group(Text(title), Text(times), *losses, Text(verdict(record.certificate)), *stopped)


def losses_table(losses: list[float]) -> Table:
    """Return the mean loss of the examples of each epoch."""
    table = Table(title="loss, each example before it was learnt")
    table.add_column("epoch", justify="right")
    table.add_column("mean loss", justify="right")
    for epoch, loss in enumerate(losses, start=1):
        table.add_row(str(epoch), f"{loss:.4f}")
    return table


def neighbours_table(question: list[str], answers: list[tuple[str, float]]) -> Table:
    """Return the words nearest to a question."""
    table = Table(title=Text(" ".join(question)))
    table.add_column("word")
    table.add_column("cosine", justify="right")
    for word, cosine in answers:
        table.add_row(Text(word), f"{cosine:.3f}")
    return table
