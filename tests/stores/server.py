"""A server on this machine answers like S3 and like the web, with a delay and a rate.

It serves the files of a folder. S3 has a bucket for each folder inside it, by its name.
"""

import argparse
import email.utils
import os
import re
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

CHUNK = 256 << 10


class StoreServer(ThreadingHTTPServer):
    """A server of a folder's files, `delay` seconds a request, `rate` bytes a second in all."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, folder, delay=0.0, rate=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder, self.delay, self.rate = Path(folder), delay, rate
        # Each entry is (method, path, range).
        self.requests = []
        # All requests get this status, unless it is None.
        self.status = None
        # The server dies after this many bytes.
        self.n_left = None
        self.has_ranges, self.has_sizes = True, True
        self._lock, self._free_at = threading.Lock(), 0.0

    @property
    def port(self):
        """The port of the server."""
        return self.server_address[1]

    @property
    def query(self):
        """The query that an S3 URI needs to reach the server."""
        return f"endpoint_override=127.0.0.1:{self.port}&scheme=http&region=us-east-1"

    def wait_for(self, n_bytes):
        """Wait as long as the transfer of so many bytes takes."""
        if self.rate:
            with self._lock:
                begin = max(self._free_at, time.monotonic())
                self._free_at = begin + n_bytes / self.rate
            time.sleep(max(0.0, self._free_at - time.monotonic()))


class Handler(BaseHTTPRequestHandler):
    """A handler of one connection."""

    protocol_version = "HTTP/1.1"
    # Headers and body are written at once.
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *_):
        """Say nothing."""

    def do_HEAD(self):
        """Answer with the headers of a file."""
        self._answer(has_body=False)

    def do_GET(self):
        """Answer with a file, a part of one, or a list of them."""
        self._answer(has_body=True)

    def _answer(self, *, has_body):
        server = self.server
        server.requests.append((self.command, self.path, self.headers.get("Range")))
        time.sleep(server.delay)
        url = urlsplit(self.path)
        path = server.folder / unquote(url.path).strip("/")
        if server.status is not None:
            self._send(server.status, b"", has_body)
        elif "list-type" in url.query:
            self._send(
                200, list_objects(path, parse_qs(url.query, keep_blank_values=True)), has_body
            )
        elif path.is_dir() and url.path.endswith("/"):
            names = [f"{one.name}/" if one.is_dir() else one.name for one in path.iterdir()]
            links = "".join(f'<a href="{escape(name)}">{escape(name)}</a>\n' for name in names)
            self._send(200, links.encode(), has_body, "text/html")
        elif path.is_file():
            self._send_file(path, has_body)
        else:
            is_bucket = path.is_dir() and path.parent == server.folder
            self._send(200 if is_bucket else 404, b"", has_body)

    def _send(self, status, body, has_body, kind="application/xml"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if has_body:
            self.wfile.write(body)
        self.wfile.flush()

    def _send_file(self, path, has_body):
        size = path.stat().st_size
        start, stop = 0, size
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if asked and self.server.has_ranges:
            start = int(asked[1])
            stop = min(size, int(asked[2]) + 1) if asked[2] else size
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{size}")
        else:
            self.send_response(200)
        if self.server.has_ranges:
            self.send_header("Accept-Ranges", "bytes")
        if self.server.has_sizes:
            self.send_header("Content-Length", str(stop - start))
        # The end of the connection is the end of the file.
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.send_header("ETag", f'"{size}"')
        self.send_header("Last-Modified", email.utils.formatdate(path.stat().st_mtime, usegmt=True))
        self.end_headers()
        with path.open("rb") as file:
            file.seek(start)
            server = self.server
            # A slow file is sent in small steps.
            step = min(CHUNK, int(server.rate or CHUNK))
            for at in range(start, stop if has_body else start, step):
                chunk = file.read(min(step, stop - at))
                server.wait_for(len(chunk))
                if server.n_left is not None:
                    server.n_left -= len(chunk)
                    if server.n_left < 0:
                        server.status = 503
                        self.close_connection = True
                        self.wfile.flush()
                        self.connection.close()
                        return
                self.wfile.write(chunk)
                self.wfile.flush()


def list_objects(bucket, asked):
    """Return S3's answer to ListObjectsV2."""
    prefix = asked.get("prefix", [""])[0]
    is_deep = not asked.get("delimiter", [""])[0]
    if not bucket.is_dir():
        return b"<Error><Code>NoSuchBucket</Code></Error>"
    files, folders = [], set()
    for path in bucket.rglob("*"):
        key = path.relative_to(bucket).as_posix()
        if path.is_dir() or not key.startswith(prefix):
            continue
        rest = key[len(prefix) :]
        if not is_deep and "/" in rest:
            folders.add(prefix + rest.partition("/")[0] + "/")
        else:
            found = path.stat()
            changed = datetime.fromtimestamp(found.st_mtime, UTC).isoformat(timespec="milliseconds")
            files.append((key, found.st_size, changed.replace("+00:00", "Z")))
    contents = "".join(
        f"<Contents><Key>{escape(key)}</Key><Size>{size}</Size>"
        f'<LastModified>{changed}</LastModified><ETag>"0"</ETag></Contents>'
        for key, size, changed in sorted(files)
    )
    common = "".join(
        f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>"
        for folder in sorted(folders)
    )
    return (
        f"<?xml version='1.0'?><ListBucketResult><Name>{bucket.name}</Name>"
        f"<Prefix>{escape(prefix)}</Prefix><KeyCount>{len(files) + len(folders)}</KeyCount>"
        f"<IsTruncated>false</IsTruncated>{contents}{common}</ListBucketResult>"
    ).encode()


@contextmanager
def serving(folder, delay=0.0, rate=None):
    """Yield a server of a folder, in a thread."""
    server = StoreServer(folder, delay, rate)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def main():
    """Serve a folder, and print the port."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--rate", type=float)
    asked = parser.parse_args()
    server = StoreServer(asked.folder, asked.delay, asked.rate)
    print(server.port, flush=True)  # noqa: T201
    server.serve_forever()
    os._exit(0)


if __name__ == "__main__":
    main()
