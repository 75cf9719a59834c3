"""The state of EM on disk, so that a fit that was killed goes on from there.

A checkpoint says of which fit it is, by a fingerprint of the data and of the parameters; a fit of
anything else refuses it. Files are written all at once, and hold nothing that can run.

To write the state of a large mixture takes time: after a round it is written if the last time is at
least ``EVERY`` seconds ago, and ``SHARE`` times as long as writing took. So a fit that is killed
loses no more than that, and writing takes no more than about a tenth of the time.
"""

from __future__ import annotations

import os
import re
import time
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from setwise import storage
from setwise.data.formats.files import StrPath
from setwise.errors import FormatError, StorageError
from setwise.models.cbm.em import Round, State
from setwise.storage import storable

EVERY = 5.0  # seconds
SHARE = 10.0
REMEDY = "delete it to begin anew, or choose another path"
#: What a fit appends to the path: nothing, or the search for the rounds, or a member's number.
_PARTS = re.compile(r"(\.search|\.\d+)?")
_ATTRIBUTES = ("learners_", "responsibilities_", "history_", "basis_")


@storable
class SavedRounds:
    """EM after some rounds, as it is stored."""

    learners_: list[Any]
    responsibilities_: sparse.csr_array  # (K, n)
    history_: list[dict[str, Any]]
    basis_: np.ndarray | None  # (d, r), of the coordinates that the learners know

    def __init__(self, fingerprint: str = "") -> None:
        self.fingerprint = fingerprint

    @classmethod
    def of(cls, state: State, basis: np.ndarray | None, fingerprint: str) -> SavedRounds:
        """What is to be stored."""
        saved = cls(fingerprint)
        saved.learners_ = state.learners
        saved.responsibilities_ = sparse.csr_array(state.responsibilities)
        saved.history_ = [asdict(done) for done in state.history]
        saved.basis_ = basis
        return saved

    def state(self) -> State:
        """The state of EM to go on from."""
        history = [Round(**done) for done in self.history_]
        return State(self.learners_, self.responsibilities_.toarray(), history)


class Checkpoint:
    """One file for one run of EM."""

    def __init__(
        self, path: Path, fingerprint: str, saved: SavedRounds | None, is_only_one: bool
    ) -> None:
        self.path, self.saved = path, saved
        self._fingerprint, self._is_only_one = fingerprint, is_only_one
        self._rounds = 0 if saved is None else len(saved.history_)
        self._next = time.monotonic() + EVERY

    def write_if_due(self, state: State, basis: np.ndarray | None) -> None:
        """Write the state, unless that was done not long ago."""
        if time.monotonic() >= self._next:
            self.write(state, basis)

    def end(self, state: State, basis: np.ndarray | None, *, was_interrupted: bool) -> None:
        """Write the last state, if a later fit may ask for it: one of several, or interrupted."""
        if was_interrupted or not self._is_only_one:
            self.write(state, basis)

    def write(self, state: State, basis: np.ndarray | None) -> None:
        """Write the state, unless the file has it already."""
        if len(state.history) == self._rounds:
            return
        start = time.monotonic()
        try:
            storage.save(SavedRounds.of(state, basis, self._fingerprint), self.path)
            self._rounds = len(state.history)
        except OSError as error:  # a full disk, say: no reason to lose the fit itself
            warnings.warn(
                f"{self.path}: the checkpoint could not be written ({error}); the fit goes on, and "
                "will try again",
                RuntimeWarning,
                stacklevel=2,
            )
        end = time.monotonic()
        self._next = end + max(EVERY, SHARE * (end - start))


class Checkpoints:
    """The files of one fit, at ``path`` or beside it; all of them are read at once.

    A file that is damaged, or of another fit, is refused before anything is learnt.
    """

    def __init__(self, path: StrPath, fingerprint: str) -> None:
        self._path, self._fingerprint = Path(os.fspath(path)), fingerprint
        folder, name = self._path.parent, self._path.name
        if not folder.is_dir():
            raise FormatError(path, "there is no such folder to write to", remedy="create it first")
        storage.check_target(path)
        there = [file for file in folder.iterdir() if file.name.startswith(name)]
        files = [file for file in there if _PARTS.fullmatch(file.name.removeprefix(name))]
        self._saved = {file: self._read(file) for file in files}
        self._used: set[Path] = set()

    def part(self, name: str = "") -> Checkpoint:
        """The file of one run of EM: "" for the only one, "search", or the number of a member."""
        path = Path(f"{self._path}.{name}") if name else self._path
        self._used.add(path)
        saved = self._saved.pop(path, None)
        return Checkpoint(path, self._fingerprint, saved, is_only_one=not name)

    def remove(self) -> None:
        """Delete them: the fit is finished."""
        for path in self._used:
            path.unlink(missing_ok=True)

    def _read(self, path: Path) -> SavedRounds:
        try:
            saved = storage.load(path)
        except (FormatError, StorageError) as error:
            problem = getattr(error, "problem", str(error))
            raise FormatError(
                path, f"no checkpoint to go on from: {problem}", remedy=REMEDY
            ) from error
        if not isinstance(saved, SavedRounds):
            raise FormatError(
                path, f"holds a {type(saved).__name__}, not a checkpoint of a fit",
                remedy="choose another path",
            )  # fmt: skip
        if saved.fingerprint != self._fingerprint:
            raise FormatError(
                path, "this checkpoint is of a fit of other data or with other settings",
                remedy=REMEDY,
            )  # fmt: skip
        if not all(hasattr(saved, name) for name in _ATTRIBUTES):
            raise FormatError(path, "a part of this checkpoint is missing", remedy=REMEDY)
        return saved
