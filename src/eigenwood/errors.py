"""The errors a user can meet. Each carries one sentence: who, what, allowed, got.

    EigenwoodError
    ├── InputError (also a ValueError)    the caller gave something the method cannot use
    │   ├── TableError                    a file, a table or a column of it
    │   ├── TextError (a UnicodeDecodeError)  bytes that are no text
    │   └── ModelFileError                a model file
    └── MissingExtraError                 an optional package is not installed

The command turns ``InputError`` and ``MissingExtraError`` into exit status 2 and everything else into 1.
"""


class EigenwoodError(Exception):
    """The root of all errors that Eigenwood raises on purpose."""


class InputError(EigenwoodError, ValueError):
    """The caller gave something the method cannot use."""


class TableError(InputError):
    """A file, a table or a column of it cannot be used."""


class ModelFileError(InputError):
    """A model file cannot be read as a model, or a model cannot be written as a file."""


class ClusterError(EigenwoodError, RuntimeError):
    """The workers of a cluster, or the way to them, cannot be used."""


class MissingExtraError(EigenwoodError, ImportError):
    """An optional package is needed and not installed."""


class TextError(InputError, UnicodeDecodeError):
    """Bytes cannot be read as text."""

    def __init__(self, sentence: str, problem: UnicodeDecodeError) -> None:
        UnicodeDecodeError.__init__(self, problem.encoding, problem.object, problem.start, problem.end, problem.reason)
        self.sentence = sentence

    def __str__(self) -> str:
        return self.sentence
