"""The operator's own command that takes a backup elsewhere, run without a shell and within a time."""

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path

from deploy.errors import CommandError
from deploy.local.service import SETTINGS_OF_A_SERVICE

PLACE = "{}"  # stands for the file in the command, as in find -exec
_WORDS_QUOTED = 300  # characters of what the command said


class UploadFailed(CommandError):
    """The backup is made and lies in its folder; it is nowhere else."""

    code = 5


def upload(file: Path, command: str, seconds: float) -> None:
    """Raises UploadFailed. The command gets the environment without the secrets of the service."""
    words = [word.replace(PLACE, str(file)) for word in shlex.split(command)]
    words += [] if PLACE in command else [str(file)]
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS_OF_A_SERVICE}
    with tempfile.TemporaryFile() as errors:
        try:
            program = subprocess.Popen(
                words,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as fault:
            raise UploadFailed(f"{file} is made, but {words[0]} could not be run ({fault.strerror}).") from None
        _await_end(program, file, seconds)
        if program.returncode:
            errors.seek(-min(_WORDS_QUOTED, errors.seek(0, os.SEEK_END)), os.SEEK_END)
            last = errors.read().decode("utf-8", "replace").strip().splitlines()[-1:]
            raise UploadFailed(
                f"{file} is made, but {words[0]} ended with status {program.returncode}: {' '.join(last) or 'no words'}"
            )


def _await_end(program: "subprocess.Popen[bytes]", file: Path, seconds: float) -> None:
    """Ends the command with all it started when its time is over."""
    try:
        program.wait(seconds)
    except subprocess.TimeoutExpired:
        raise UploadFailed(f"{file} is made, but its upload took over {seconds:g} s and was ended.") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()
