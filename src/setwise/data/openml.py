"""Multi-label data sets from OpenML, fetched once and cached.

``$SETWISE_OPENML`` is the server (``off`` means never ask), ``$SETWISE_CACHE`` the folder of the
cache. A file is checked against the checksum that the server declares, and appears in the cache
whole or not at all.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

from setwise.data.dataset import Dataset
from setwise.data.formats.files import MAX_BYTES, write_atomically
from setwise.data.formats.read import read
from setwise.errors import DownloadError, SetwiseError

SERVER_VARIABLE, CACHE_VARIABLE = "SETWISE_OPENML", "SETWISE_CACHE"
DEFAULT_SERVER = "https://www.openml.org"
TIMEOUT_SECONDS = 30


class NotOnOpenML(SetwiseError, LookupError):
    """The server has no such data set, cannot be reached, or must not be asked."""


def load(name: str) -> Dataset:
    """The data set of that name, from the cache or from the server; all rows are train."""
    folder = _cache_folder() / name
    if not (folder / "data.arff").is_file():
        _fetch(name, folder)
    try:
        facts = json.loads((folder / "labels.json").read_text("utf-8"))
        labels, number = facts["labels"], facts["id"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise DownloadError(
            f"the cache of {name} is damaged ({error!r}); delete {folder} and try again"
        ) from error
    dataset = read(folder / "data.arff", labels=labels)
    return replace(dataset, name=name, description=f"OpenML data set {number}")


def cached_names() -> list[str]:
    """The data sets in the cache."""
    return sorted(path.parent.name for path in _cache_folder().glob("*/data.arff"))


def _fetch(name: str, folder: Path) -> None:
    """Ask the server for the newest active version of ``name`` and store it in ``folder``."""
    server = os.environ.get(SERVER_VARIABLE, DEFAULT_SERVER).rstrip("/")
    if server.lower() == "off":
        raise NotOnOpenML(f"not asked, because ${SERVER_VARIABLE} is off")
    facts = _facts(name, server)
    labels = [label.strip() for label in (facts.get("default_target_attribute") or "").split(",")]
    if len(labels) < 2:
        raise DownloadError(
            f"OpenML's {name!r} has {len(labels)} target, so it is not a multi-label data set; "
            "read the file with setwise.read and say which columns are labels"
        )
    contents = _get(_same_or_secure(facts["url"], server))
    expected = facts.get("md5_checksum")
    found = hashlib.md5(contents, usedforsecurity=False).hexdigest()
    if expected and found != expected:
        raise DownloadError(
            f"{name} arrived damaged (MD5 {found}, expected {expected}); try again later"
        )
    folder.mkdir(parents=True, exist_ok=True)
    # The labels first: the data file's presence says that everything is there.
    with write_atomically(folder / "labels.json") as stream:
        stream.write(json.dumps({"id": facts["id"], "labels": labels}).encode())
    with write_atomically(folder / "data.arff") as stream:
        stream.write(contents)


def _facts(name: str, server: str) -> dict[str, Any]:
    """What the server says of the newest active version of ``name``."""
    quoted = urllib.parse.quote(name)
    listed = _get_json(f"{server}/api/v1/json/data/list/data_name/{quoted}/status/active")
    try:
        newest = max(listed["data"]["dataset"], key=lambda version: int(version["version"]))
        described = _get_json(f"{server}/api/v1/json/data/{newest['did']}")
        facts: dict[str, Any] = described["data_set_description"]
        return {"url": facts["url"], "id": facts["id"], **facts}
    except (LookupError, TypeError) as error:
        raise DownloadError(
            f"{server} does not answer as OpenML does ({error!r}); check ${SERVER_VARIABLE}"
        ) from error


def _same_or_secure(url: str, server: str) -> str:
    """The download's address, if it is on the server asked or goes over https."""
    if url.startswith("https://") or url.startswith(f"{server}/"):
        return url
    raise DownloadError(f"OpenML names the insecure address {url}; it is not fetched")


def _get_json(url: str) -> Any:
    try:
        return json.loads(_get(url))
    except ValueError as error:
        raise DownloadError(f"{url} did not answer with JSON ({error})") from error


def _get(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as response:
            contents = _read_all(response, url)
            declared = response.headers.get("Content-Length")
    except urllib.error.HTTPError as error:
        if error.code in (404, 412):  # OpenML answers 412 where a search has no result
            raise NotOnOpenML("it has no data set of that name") from error
        raise DownloadError(
            f"{url} answered {error.code} {error.reason}; try again later"
        ) from error
    except http.client.IncompleteRead as error:
        raise DownloadError(f"{url} broke off ({error}); try again") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        if isinstance(error, DownloadError):
            raise
        raise NotOnOpenML(f"it could not be reached: {error}") from error
    if declared is not None and str(len(contents)) != declared.strip():
        raise DownloadError(f"{url} broke off after {len(contents)} of {declared} bytes; try again")
    return contents


def _read_all(response: Any, url: str) -> bytes:
    contents = io.BytesIO()
    while chunk := response.read(2**20):
        contents.write(chunk)
        if contents.tell() > MAX_BYTES:
            raise DownloadError(f"{url} sends more than {MAX_BYTES / 2**30:g} GiB; it is not kept")
    return contents.getvalue()


def _cache_folder() -> Path:
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given).expanduser() / "openml"
    system = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(system).expanduser() / "setwise" / "openml"
