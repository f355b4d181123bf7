"""A server that answers every search with one document and keeps what is posted: `python
http_engine.py PORT_FILE [KEPT_FILE]`.
"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ANSWER = b'{"hits": {"hits": [{"_id": "a", "_score": 2.0}, {"_id": "b", "_score": 1.0}]}}'


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        posted = self.rfile.read(int(self.headers["Content-Length"]))
        for path in sys.argv[2:]:
            with Path(path).open("ab") as kept:
                kept.write(posted)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, *_: object) -> None:
        """No line for each request."""


with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
    Path(sys.argv[1]).write_text(str(server.server_port), encoding="utf-8")
    server.serve_forever()
