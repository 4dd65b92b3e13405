"""Files for agents: backends in memory, in a folder or in a storage of your own, with a router, rules and
tools. `kitbag.deepagents` has the same as backends of deepagents.

```python
from kitbag import StateBackend

files = StateBackend()
files.write("/notes.md", "hello")
print(files.read("/notes.md").file_data["content"])  # hello
```
"""

from ._instance import Instance
from .backend import Backend
from .backends import (
    CompositeBackend,
    CustomBackend,
    StateBackend,
    with_ignore,
    with_policy,
    with_shell,
)
from .disk import FilesystemBackend, LocalShellBackend
from .errors import ErrorCode, KitbagError
from .policy import (
    AuditRecord,
    Deny,
    Inspected,
    Permission,
    Question,
    Quota,
    RateLimit,
    Replace,
)
from .results import (
    Capability,
    DeleteResult,
    DownloadResult,
    EditResult,
    ExecuteResult,
    FileData,
    FileInfo,
    GlobResult,
    GrepMatch,
    GrepResult,
    LsResult,
    RawResult,
    ReadResult,
    UploadResult,
    WriteResult,
)
from .storage import (
    Condition,
    Entry,
    FileToStore,
    Metadata,
    Page,
    Storage,
    StorageCapability,
    StoredFile,
)
from .tools import FileTools, MediaBlock, TextBlock, ToolAnswer, ToolDefinition, create_file_tools
from .turns import (
    CommitResult,
    Conflict,
    DiffResult,
    FileChange,
    Hunk,
    PathsResult,
    RebaseResult,
    Receipt,
    Replacement,
    Turn,
    Unmerged,
    aundo,
    begin,
    undo,
)

__all__ = [
    "AuditRecord",
    "Backend",
    "Capability",
    "CommitResult",
    "CompositeBackend",
    "Condition",
    "Conflict",
    "CustomBackend",
    "DeleteResult",
    "Deny",
    "DiffResult",
    "DownloadResult",
    "EditResult",
    "Entry",
    "ErrorCode",
    "ExecuteResult",
    "FileChange",
    "FileData",
    "FileInfo",
    "FileToStore",
    "FileTools",
    "FilesystemBackend",
    "GlobResult",
    "GrepMatch",
    "GrepResult",
    "Hunk",
    "Inspected",
    "Instance",
    "KitbagError",
    "LocalShellBackend",
    "LsResult",
    "MediaBlock",
    "Metadata",
    "Page",
    "PathsResult",
    "Permission",
    "Question",
    "Quota",
    "RateLimit",
    "RawResult",
    "ReadResult",
    "RebaseResult",
    "Receipt",
    "Replace",
    "Replacement",
    "StateBackend",
    "Storage",
    "StorageCapability",
    "StoredFile",
    "TextBlock",
    "ToolAnswer",
    "ToolDefinition",
    "Turn",
    "Unmerged",
    "UploadResult",
    "WriteResult",
    "aundo",
    "begin",
    "create_file_tools",
    "undo",
    "with_ignore",
    "with_policy",
    "with_shell",
]
