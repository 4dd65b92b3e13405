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
from .backends import CompositeBackend, CustomBackend, StateBackend, with_policy, with_shell
from .disk import FilesystemBackend, LocalShellBackend
from .errors import ErrorCode, KitbagError
from .policy import Permission, Quota, RateLimit
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

__all__ = [
    "Backend",
    "Capability",
    "CompositeBackend",
    "Condition",
    "CustomBackend",
    "DeleteResult",
    "DownloadResult",
    "EditResult",
    "Entry",
    "ErrorCode",
    "ExecuteResult",
    "FileData",
    "FileInfo",
    "FileToStore",
    "FileTools",
    "FilesystemBackend",
    "GlobResult",
    "GrepMatch",
    "GrepResult",
    "Instance",
    "KitbagError",
    "LocalShellBackend",
    "LsResult",
    "MediaBlock",
    "Metadata",
    "Page",
    "Permission",
    "Quota",
    "RateLimit",
    "RawResult",
    "ReadResult",
    "StateBackend",
    "Storage",
    "StorageCapability",
    "StoredFile",
    "TextBlock",
    "ToolAnswer",
    "ToolDefinition",
    "UploadResult",
    "WriteResult",
    "create_file_tools",
    "with_policy",
    "with_shell",
]
