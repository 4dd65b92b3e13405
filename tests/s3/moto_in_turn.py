"""moto as an S3 server that does one request after the other: `moto_in_turn.py PORT`.

Its own command serves every request in a thread, and between looking at a condition and storing the
object another thread may store one: of two writers that both hold the same ETag, both win.
"""

import sys
import threading

from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import run_simple

app = DomainDispatcherApplication(create_backend_app)
turn = threading.Lock()


def in_turn(environ, start_response):
    with turn:
        return list(app(environ, start_response))


run_simple(
    "127.0.0.1",
    int(sys.argv[1]),
    in_turn,
    threaded=True,
    request_handler=MotoRequestHandler,
)
