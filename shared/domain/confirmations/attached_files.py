"""Attached files of a mail: PDFs and pictures are read in a child process with limits, wallet passes here."""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from time import monotonic
from typing import Any

from shared.domain.confirmations import wallet_pass
from shared.domain.confirmations.mail_parts import AttachedFile
from shared.domain.confirmations.model import UnreadFile

DEADLINE_SECONDS = 10.0  # for all files of one letter
_CHILD = Path(__file__).with_name("file_child.py")


@dataclass
class FileContent:
    """What a file holds: one or more accounts of the same text, the texts of its barcodes, data as schema.org would
    write them, and the day it is for."""

    name: str
    texts: list[str] = field(default_factory=list)
    barcodes: list[str] = field(default_factory=list)
    documents: list[dict[str, Any]] = field(default_factory=list)
    day: date | None = None


def read_files(files: list[AttachedFile]) -> tuple[list[FileContent], list[UnreadFile]]:
    """What the files hold, and which were not read and why."""
    contents: list[FileContent] = []
    unread: list[UnreadFile] = []
    deadline = monotonic() + DEADLINE_SECONDS
    for file in files:
        result = _read_file(file, deadline - monotonic())
        if isinstance(result, str):
            unread.append(UnreadFile(file.name, result))
        else:
            contents.append(result)
    return contents, unread


def _read_file(file: AttachedFile, seconds: float) -> FileContent | str:
    """The content, or why it was not read."""
    if file.kind == "pkpass":
        try:
            wallet = wallet_pass.read_pass(file.content)
            return FileContent(file.name, [wallet.text], wallet.barcodes, wallet.documents, wallet.day)
        except wallet_pass.PassUnread as unread:
            return str(unread)
    return _run_child(file, seconds) if seconds > 0 else "the time for attached files had run out"


def _run_child(file: AttachedFile, seconds: float) -> FileContent | str:
    """Starts a program rather than forking: the worker has threads, and a fork would inherit its locks."""
    try:
        done = subprocess.run(  # noqa: S603 - our own program; the file goes to its standard input
            [sys.executable, "-I", str(_CHILD), file.kind],
            input=file.content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
            env={},
        )
    except subprocess.TimeoutExpired:
        return "reading it takes too long"
    except OSError:
        return "no process could be started to read it"
    try:
        result = json.loads(done.stdout)
    except ValueError:
        return "reading it takes too much time or memory"
    return result["reason"] or FileContent(file.name, result["texts"], result["barcodes"])
