"""The way to OpenML, walked with a stand-in server on this machine."""

import hashlib
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import setwise as sw
from setwise.errors import DatasetNotFound, DownloadError

ARFF = b"""@RELATION birds
@ATTRIBUTE pitch NUMERIC
@ATTRIBUTE owl {FALSE, TRUE}
@ATTRIBUTE wren {TRUE, FALSE}
@DATA
0.5,TRUE,FALSE
1.5,FALSE,TRUE
"""


class StandIn(ThreadingHTTPServer):
    """Answers as OpenML's API does; ``damage`` makes it misbehave."""

    damage = ""
    requests = 0

    def answer(self, path: str) -> tuple[int, bytes]:
        self.requests += 1
        base = f"http://127.0.0.1:{self.server_port}"
        if path.startswith("/api/v1/json/data/list/data_name/birds/"):
            versions = [{"did": 4, "version": 1}, {"did": 5, "version": 2}]
            if self.damage == "shape":
                return 200, b'{"data": []}'
            return 200, json.dumps({"data": {"dataset": versions}}).encode()
        if path == "/api/v1/json/data/5":
            facts = {
                "id": "5",
                "default_target_attribute": "owl" if self.damage == "one" else "owl,wren",
                "url": "http://example.invalid/x" if self.damage == "url" else f"{base}/x.arff",
                "md5_checksum": hashlib.md5(ARFF).hexdigest(),
            }
            return 200, json.dumps({"data_set_description": facts}).encode()
        if path == "/x.arff":
            return 200, ARFF[:-5] if self.damage == "checksum" else ARFF
        if self.damage == "down":
            return 500, b""
        return 412, b'{"error": {"code": "372", "message": "No results"}}'


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        status, body = self.server.answer(self.path)
        self.send_response(status)
        short = self.server.damage == "short" and self.path == "/x.arff"
        self.send_header("Content-Length", str(len(body) + 10 * short))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.delenv("SETWISE_DATA", raising=False)
    with StandIn(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("SETWISE_OPENML", f"http://127.0.0.1:{server.server_port}")
        yield server
        server.shutdown()
        thread.join()


def test_a_name_not_found_locally_is_fetched_and_cached(server, monkeypatch):
    birds = sw.load_dataset("birds")
    assert birds.label_names == ("owl", "wren")
    np.testing.assert_array_equal(birds.Y_train, [[1, 0], [0, 1]])
    np.testing.assert_array_equal(birds.X_train, [[0.5], [1.5]])
    asked = server.requests
    monkeypatch.setenv("SETWISE_OPENML", "off")
    np.testing.assert_array_equal(sw.load_dataset("birds").Y_train, birds.Y_train)
    assert server.requests == asked == 3
    assert "birds" in sw.list_datasets()


def test_an_unknown_name_is_not_found(server):
    with pytest.raises(DatasetNotFound, match="it has no data set of that name"):
        sw.load_dataset("fishes")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("checksum", "arrived damaged"),
        ("short", "broke off after"),
        ("one", "not a multi-label data set"),
        ("url", "insecure address"),
        ("shape", r"does not answer as OpenML does .*; check \$SETWISE_OPENML"),
    ],
)
def test_what_arrives_damaged_is_refused_and_not_cached(server, damage, sentence):
    server.damage = damage
    with pytest.raises(DownloadError, match=sentence):
        sw.load_dataset("birds")
    server.damage = ""
    assert sw.load_dataset("birds").Y_train.shape == (2, 2)


def test_a_server_in_trouble_is_told_from_a_missing_name(server):
    server.damage = "down"
    with pytest.raises(DownloadError, match="answered 500 .*; try again later"):
        sw.load_dataset("fishes")


def test_a_server_that_cannot_be_reached_is_no_crash(server, monkeypatch):
    monkeypatch.setenv("SETWISE_OPENML", "http://127.0.0.1:9")
    with pytest.raises(DatasetNotFound, match="could not be reached"):
        sw.load_dataset("birds")


@pytest.mark.parametrize("address", ["no address", "http://127.0.0.1:port"])
def test_an_address_that_is_none_is_no_crash(monkeypatch, address):
    monkeypatch.setenv("SETWISE_OPENML", address)
    with pytest.raises(DatasetNotFound, match="could not be reached"):
        sw.load_dataset("birds")


def test_a_damaged_cache_says_what_to_delete(server):
    sw.load_dataset("birds")
    cache = Path(os.environ["SETWISE_CACHE"], "openml", "birds")
    (cache / "labels.json").write_text("{")
    with pytest.raises(DownloadError, match="the cache of birds is damaged .*; delete .*birds and"):
        sw.load_dataset("birds")
