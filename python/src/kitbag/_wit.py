"""The types and functions of `wit/kitbag.wit`, in its order. A test compares them with the component."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ._abi import (
    BOOL,
    BORROW,
    BYTES,
    MAX_FLAT_PARAMS,
    MAX_FLAT_RESULTS,
    OWN,
    S32,
    S64,
    STRING,
    U32,
    U64,
    Enum,
    Flags,
    List,
    Option,
    Record,
    Result,
    Type,
    Variant,
)

PACKAGE = "kitbag:files"
VERSION = "0.1.0"


def interface(name: str) -> str:
    return f"{PACKAGE}/{name}@{VERSION}"


@dataclass(frozen=True)
class Func:
    """A function: what it takes and returns."""

    interface: str
    name: str
    params: tuple[tuple[str, Type], ...]
    result: Type | None = None

    @cached_property
    def takes(self) -> Record | None:
        return Record(*self.params) if self.params else None

    @cached_property
    def flat_params(self) -> tuple[str, ...]:
        return self.takes.flat if self.takes else ()

    @property
    def is_spilled(self) -> bool:
        """Whether the parameters go through memory."""
        return len(self.flat_params) > MAX_FLAT_PARAMS

    @property
    def is_returned_in_memory(self) -> bool:
        return self.result is not None and len(self.result.flat) > MAX_FLAT_RESULTS


# types

ERROR_CODE = Enum(
    "not-found",
    "already-exists",
    "ambiguous-edit",
    "no-match",
    "conflict",
    "invalid-path",
    "invalid-pattern",
    "invalid-argument",
    "permission-denied",
    "is-directory",
    "too-large",
    "quota-exceeded",
    "rate-limited",
    "unsupported",
    "timeout",
    "unavailable",
    "internal",
)
ERROR = Record(
    ("code", ERROR_CODE), ("message", STRING), ("retry-after-ms", Option(U64))
)
CONTENT = Variant(("text", STRING), ("bytes", BYTES))
FILE_FORMAT = Enum("v2", "v1")
REACH = Enum("storage", "instance", "never")
DIRECTORIES = Enum("implied", "real")
PROMISES = Flags(
    "writable",
    "keeps-binary",
    "keeps-created",
    "keeps-mime-type",
    "keeps-format",
    "keeps-modes",
    "overwrites",
    "folds-case",
    "folds-composition",
)
CAPABILITY = Record(
    ("create", REACH),
    ("update", REACH),
    ("directories", DIRECTORIES),
    ("promises", PROMISES),
    ("max-file-bytes", Option(U64)),
    ("notes", List(STRING)),
)
EXECUTION = Record(("output", STRING), ("exit-code", Option(S32)), ("truncated", BOOL))

# rules

LABELLED_READ = Record(("label", STRING), ("path", STRING), ("operation", STRING))
QUESTION = Record(
    ("operation", STRING),
    ("called", Option(STRING)),
    ("path", STRING),
    ("preview", STRING),
    ("rule", Option(STRING)),
    ("labels", List(STRING)),
    ("reads", List(LABELLED_READ)),
)
INSPECTED = Record(
    ("operation", STRING), ("path", STRING), ("body", BYTES), ("is-text", BOOL)
)
VERDICT = Variant(("pass", None), ("deny", STRING), ("replace", CONTENT))
AUDIT_RECORD = Record(
    ("at", S64),
    ("operation", STRING),
    ("called", Option(STRING)),
    ("path", Option(STRING)),
    ("paths", List(STRING)),
    ("bytes", U64),
    ("code", STRING),
    ("rule", Option(STRING)),
    ("duration-us", U64),
)

# storage

METADATA = Record(
    ("size", Option(U64)),
    ("created", Option(S64)),
    ("modified", Option(S64)),
    ("mime-type", Option(STRING)),
    ("format", Option(FILE_FORMAT)),
    ("mode", Option(U32)),
    ("version", Option(STRING)),
)
FILE = Record(("metadata", METADATA), ("body", BYTES))
NEW_FILE = Record(
    ("body", BYTES),
    ("created", S64),
    ("modified", S64),
    ("mime-type", STRING),
    ("format", FILE_FORMAT),
    ("mode", Option(U32)),
)
CONDITION = Variant(("create", None), ("overwrite", None), ("update", STRING))
ENTRY = Record(("path", STRING), ("metadata", METADATA))
LISTING = Record(("entries", List(ENTRY)), ("next", Option(STRING)))

# backends

WRITE_MODE = Enum("create", "overwrite")
STATE_OPTIONS = Record(
    ("write-mode", WRITE_MODE), ("file-format", FILE_FORMAT), ("max-bytes", Option(U64))
)
VOLUME_OPTIONS = Record(
    ("write-mode", WRITE_MODE), ("file-format", FILE_FORMAT), ("max-file-bytes", Option(U64))
)
MOUNT = Record(("prefix", STRING), ("backend", BORROW))
PLACE = Record(("backend", BORROW), ("path", Option(STRING)), ("key", Option(BYTES)))
RULE = Record(
    ("name", Option(STRING)),
    ("operations", Flags("read", "write")),
    ("paths", List(STRING)),
    ("mode", Enum("allow", "deny", "ask")),
)
RATE = Record(
    ("kind", Enum("all", "reads", "writes")), ("operations", U32), ("per-ms", U64)
)
QUOTA = Record(
    ("max-bytes", Option(U64)), ("max-files", Option(U64)), ("max-file-bytes", Option(U64))
)
POLICY = Record(
    (
        "switches",
        Flags(
            "read-only",
            "deny-by-default",
            "allow-execute",
            "allow-hidden-characters",
            "inspects",
            "audits",
        ),
    ),
    ("read-only-prefixes", List(STRING)),
    ("permissions", List(RULE)),
    ("rates", List(RATE)),
    ("quota", Option(QUOTA)),
    ("host", Option(STRING)),
)
FILE_INFO = Record(
    ("path", STRING),
    ("is-directory", BOOL),
    ("size", Option(U64)),
    ("modified", Option(S64)),
)
POSITION = Record(
    ("start-line", U32),
    ("end-line", U32),
    ("total-lines", Option(U32)),
    ("next-offset", Option(U32)),
)
PAGE = Record(
    ("content", CONTENT), ("mime-type", Option(STRING)), ("position", Option(POSITION))
)
RAW_FILE = Record(
    ("content", CONTENT),
    ("mime-type", STRING),
    ("format", FILE_FORMAT),
    ("created", Option(S64)),
    ("modified", Option(S64)),
)
GREP_QUERY = Record(
    ("pattern", STRING),
    ("path", Option(STRING)),
    ("glob", Option(STRING)),
    ("max-count", Option(U32)),
    ("max-per-file", Option(U32)),
    ("before", U32),
    ("after", U32),
    ("switches", Flags("regex", "ignore-case")),
)
FILE_MATCHES = Record(
    ("path", STRING),
    ("text", STRING),
    ("numbers", List(U32)),
    ("kinds", List(Enum("match", "before", "after"))),
)
GREP_RESULT = Record(
    ("files", List(FILE_MATCHES)), ("truncated", BOOL), ("ignored", U32)
)
GLOB_RESULT = Record(("files", List(FILE_INFO)), ("truncated", BOOL), ("ignored", U32))
EDITED = Record(("path", STRING), ("occurrences", U32), ("crlf", BOOL))
UPLOADED = Record(("path", STRING), ("error", Option(ERROR)))
DOWNLOADED = Record(("path", STRING), ("body", Result(BYTES, ERROR)))

# tools

TOKEN_LIMIT = Variant(("usual", None), ("unlimited", None), ("at-most", U32))
TOOL_OPTIONS = Record(
    ("tools", Option(List(STRING))),
    ("descriptions", List(Record(("0", STRING), ("1", STRING)))),
    ("system-prompt", Option(STRING)),
    ("result-tokens", TOKEN_LIMIT),
    ("max-execute-timeout", Option(U32)),
    ("edits-unread", BOOL),
)
DEFINITION = Record(("name", STRING), ("description", STRING), ("input-schema", STRING))
MEDIA = Record(("kind", STRING), ("mime-type", STRING), ("body", BYTES))
ANSWER = Record(
    ("blocks", List(Variant(("text", STRING), ("media", MEDIA)))), ("is-error", BOOL)
)

# turns

_BODY = Option(BYTES)
COMMIT_KIND = Enum("transaction", "together", "journal", "one-by-one")
REPLACEMENT = Record(
    ("path", STRING), ("before", _BODY), ("after", _BODY), ("mode", Option(U32))
)
RECEIPT = Record(("id", STRING), ("by", STRING), ("at", S64), ("files", List(REPLACEMENT)))
CONFLICT = Record(
    ("path", STRING), ("operation", STRING), ("before", _BODY), ("now", _BODY)
)
OUTCOME = Variant(("done", RECEIPT), ("conflicts", List(CONFLICT)))
LINE_RANGE = Record(("first", U32), ("count", U32))
HUNK = Record(("id", STRING), ("before", LINE_RANGE), ("after", LINE_RANGE))
CHANGE = Record(
    ("path", STRING),
    (
        "kind",
        Variant(("created", None), ("changed", None), ("deleted", None), ("moved", STRING)),
    ),
    ("before", _BODY),
    ("after", _BODY),
    ("hunks", List(HUNK)),
)
UNMERGED = Record(("path", STRING), ("before", _BODY), ("now", _BODY), ("ours", _BODY))
REBASED = Record(
    ("merged", List(STRING)), ("read", List(STRING)), ("conflicts", List(UNMERGED))
)

# history

RETENTION = Record(("count", Option(U32)), ("age-ms", Option(U64)), ("bytes", Option(U64)))
HISTORY_OPTIONS = Record(
    ("keep-in", PLACE), ("by", STRING), ("keep", RETENTION), ("write-mode", WRITE_MODE)
)
NOTED = Record(("path", STRING), ("before", Option(STRING)), ("after", Option(STRING)))
HISTORY_ENTRY = Record(
    ("id", STRING),
    ("by", STRING),
    ("call", STRING),
    ("operation", STRING),
    ("at", S64),
    ("files", List(NOTED)),
)
MOMENT = Variant(("named", STRING), ("at", S64))
REASONS = Record(("entries", List(HISTORY_ENTRY)), ("known", BOOL))
PRUNED = Record(("dropped", U64), ("entries", U64), ("bytes", U64))
PINNED = Record(("pin", STRING), ("at", S64))
LOSS = Record(("path", STRING), ("is-list", BOOL), ("is-missing", BOOL), ("digest", STRING))
VERIFIED = Record(("lost", List(LOSS)), ("drifted", List(STRING)))

# provenance

LABEL_RULE = Record(("paths", List(STRING)), ("label", STRING))
FLOW = Record(("label", STRING), ("to", List(STRING)), ("mode", Enum("refuse", "ask")))
LABEL_OPTIONS = Record(
    ("labels", List(LABEL_RULE)),
    ("flows", List(FLOW)),
    ("host", Option(STRING)),
    ("keep-in", Option(PLACE)),
)


def _or_error(ok: Type | None) -> Result:
    return Result(ok, ERROR)


def _rule(name: str, *params: tuple[str, Type], result: Type | None) -> Func:
    return Func("rules", name, (("policy", STRING), *params), _or_error(result))


def _volume(name: str, *params: tuple[str, Type], result: Type) -> Func:
    return Func("storage", f"[method]volume.{name}", (("self", BORROW), *params), result)


IMPORTS = (
    Func("clock", "now", (), S64),
    Func("random", "bits", (), U64),
    Func(
        "shell",
        "execute",
        (("id", STRING), ("command", STRING), ("timeout-ms", Option(U64))),
        _or_error(EXECUTION),
    ),
    _rule("decide", ("question", QUESTION), result=BOOL),
    _rule("inspect", ("inspected", INSPECTED), result=VERDICT),
    _rule("audit", ("record", AUDIT_RECORD), result=None),
    _volume("capability", result=CAPABILITY),
    _volume("stat", ("path", STRING), result=_or_error(Option(METADATA))),
    _volume("get", ("path", STRING), result=_or_error(Option(FILE))),
    _volume(
        "put",
        ("path", STRING),
        ("file", NEW_FILE),
        ("condition", CONDITION),
        result=_or_error(Option(STRING)),
    ),
    _volume(
        "delete", ("path", STRING), ("version", Option(STRING)), result=_or_error(BOOL)
    ),
    _volume("list", ("prefix", STRING), ("from", Option(STRING)), result=_or_error(LISTING)),
)


def _method(name: str, *params: tuple[str, Type], result: Type) -> Func:
    return Func("backends", f"[method]backend.{name}", (("self", BORROW), *params), result)


def _static(name: str, *params: tuple[str, Type]) -> Func:
    return Func("backends", f"[static]backend.{name}", params, _or_error(OWN))


def _path_of(name: str, *params: tuple[str, Type]) -> Func:
    return _method(name, *params, result=_or_error(STRING))


_SET = "[method]tool-set."


def _turn(name: str, *params: tuple[str, Type], result: Type) -> Func:
    return Func("turns", f"[method]turn.{name}", (("self", BORROW), *params), result)


def _history(name: str, *params: tuple[str, Type], ok: Type | None) -> Func:
    method = f"[method]history.{name}"
    return Func("history", method, (("self", BORROW), *params), _or_error(ok))


def _conversation(
    name: str, *params: tuple[str, Type], result: Type | None = None
) -> Func:
    method = f"[method]conversation.{name}"
    return Func("provenance", method, (("self", BORROW), *params), result)


EXPORTS = {
    func.name: func
    for func in (
        _static("state", ("options", STATE_OPTIONS)),
        _static("lent", ("volume", OWN), ("options", VOLUME_OPTIONS)),
        _static("composite", ("default", BORROW), ("mounts", List(MOUNT))),
        _method("with-policy", ("policy", POLICY), result=_or_error(OWN)),
        _method(
            "with-ignore",
            ("files", List(STRING)),
            ("patterns", List(STRING)),
            result=_or_error(OWN),
        ),
        _method("with-shell", ("id", STRING), result=_or_error(OWN)),
        _method("capability", result=CAPABILITY),
        _method("shell-id", result=Option(STRING)),
        _method("ls", ("path", STRING), result=_or_error(List(FILE_INFO))),
        _method(
            "read",
            ("path", STRING),
            ("offset", Option(U32)),
            ("limit", Option(U32)),
            result=_or_error(PAGE),
        ),
        _method("read-raw", ("path", STRING), result=_or_error(RAW_FILE)),
        _method("grep", ("query", GREP_QUERY), result=_or_error(GREP_RESULT)),
        _method(
            "glob",
            ("pattern", STRING),
            ("path", Option(STRING)),
            result=_or_error(GLOB_RESULT),
        ),
        _path_of("write", ("path", STRING), ("content", CONTENT)),
        _method(
            "edit",
            ("path", STRING),
            ("old", STRING),
            ("new", STRING),
            ("replace-all", BOOL),
            result=_or_error(EDITED),
        ),
        _path_of("append", ("path", STRING), ("text", STRING)),
        _path_of("delete", ("path", STRING)),
        _path_of("move", ("from", STRING), ("to", STRING), ("overwrite", BOOL)),
        _path_of("copy", ("from", STRING), ("to", STRING), ("overwrite", BOOL)),
        _method(
            "upload",
            ("files", List(Record(("0", STRING), ("1", BYTES)))),
            result=List(UPLOADED),
        ),
        _method("download", ("paths", List(STRING)), result=List(DOWNLOADED)),
        _method(
            "execute",
            ("command", STRING),
            ("timeout-ms", Option(U64)),
            result=_or_error(EXECUTION),
        ),
        Func("tools", "[static]tool-set.create", (("options", TOOL_OPTIONS),), _or_error(OWN)),
        Func(
            "tools",
            _SET + "system-prompt",
            (("self", BORROW), ("backend", BORROW)),
            STRING,
        ),
        Func(
            "tools",
            _SET + "definitions",
            (("self", BORROW), ("backend", BORROW)),
            List(DEFINITION),
        ),
        Func(
            "tools",
            _SET + "call",
            (
                ("self", BORROW),
                ("backend", BORROW),
                ("name", STRING),
                ("arguments", STRING),
                ("id", STRING),
            ),
            ANSWER,
        ),
        Func(
            "turns",
            "[static]turn.begin",
            (("base", BORROW), ("by", STRING), ("write-mode", WRITE_MODE)),
            _or_error(OWN),
        ),
        _turn("files", result=OWN),
        _turn("commits", result=COMMIT_KIND),
        _turn("diff", result=_or_error(List(CHANGE))),
        _turn("commit", result=_or_error(OUTCOME)),
        _turn("accept", ("hunks", List(STRING)), result=_or_error(List(STRING))),
        _turn("discard", ("patterns", List(STRING)), result=_or_error(List(STRING))),
        _turn("rebase", ("keep", List(STRING)), result=_or_error(REBASED)),
        Func(
            "turns",
            "undo",
            (("base", BORROW), ("receipt", RECEIPT), ("by", STRING)),
            _or_error(OUTCOME),
        ),
        Func(
            "history",
            "[static]history.open",
            (("base", BORROW), ("options", HISTORY_OPTIONS)),
            _or_error(OWN),
        ),
        _history("for-author", ("by", STRING), ("call", STRING), ok=OWN),
        Func("history", "[method]history.files", (("self", BORROW),), OWN),
        _history("log", ("path", STRING), ("limit", U32), ok=List(HISTORY_ENTRY)),
        _history("why", ("path", STRING), ok=REASONS),
        _history("diff", ("from", MOMENT), ("to", Option(MOMENT)), ok=List(CHANGE)),
        _history("restore", ("path", STRING), ("moment", MOMENT), ok=List(STRING)),
        _history("prune", ok=PRUNED),
        _history("pin", ok=PINNED),
        _history("pins", ok=List(PINNED)),
        _history("unpin", ("pin", STRING), ok=None),
        _history("label", ("label", STRING), ("pin", STRING), ok=None),
        _history("labelled", ("label", STRING), ok=STRING),
        _history("verify", ("pin", Option(STRING)), ok=VERIFIED),
        _history("open-pin", ("pin", STRING), ok=OWN),
        Func(
            "provenance",
            "[static]conversation.begin",
            (("base", BORROW), ("options", LABEL_OPTIONS)),
            _or_error(OWN),
        ),
        _conversation("another", ("reads", List(LABELLED_READ)), result=_or_error(OWN)),
        _conversation("files", result=OWN),
        _conversation("reads", result=List(LABELLED_READ)),
        _conversation("clear"),
        _conversation("labels", ("path", STRING), result=_or_error(List(STRING))),
        _conversation("trust", ("path", STRING), result=_or_error(None)),
    )
}
