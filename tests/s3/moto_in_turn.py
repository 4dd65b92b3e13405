"""moto as an S3 server that does one request after the other: `moto_in_turn.py PORT`.

Its own command serves every request in a thread, and between looking at a condition and storing the
object another thread may store one: of two writers that both hold the same ETag, both win.
It also exposes the headers of its answers to HEAD to pages, as it does those of the others.
"""

import functools
import sys
import threading

from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import run_simple

app = DomainDispatcherApplication(create_backend_app)
# It looks at some hundred folders and patterns for the service of a host, at every request.
app.get_backend_for_host = functools.cache(app.get_backend_for_host)
turn = threading.Lock()


EXPOSED = "ETag, Last-Modified, Content-Range, Retry-After, x-amz-meta-kitbag"


def in_turn(environ, start_response):
    def start(status, headers, *more):
        exposed = ("Access-Control-Expose-Headers", EXPOSED)
        if environ["REQUEST_METHOD"] == "HEAD" and "HTTP_ORIGIN" in environ:
            headers = [*headers, exposed]
        return start_response(status, headers, *more)

    with turn:
        return list(app(environ, start))


run_simple(
    "127.0.0.1",
    int(sys.argv[1]),
    in_turn,
    threaded=True,
    request_handler=MotoRequestHandler,
)
