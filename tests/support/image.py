"""The image of deploy/Containerfile without daemon or registry: built by buildah, its programs started in its root."""

import json
import os
import platform
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.support.wheel import ROOT, build, copy_tree

NAME, BASE = "award-travel", "award-base"
SOURCES = ("sources.list", "sources.list.d/*.list", "sources.list.d/*.sources")
# What a container gets as well: a root that cannot be written, memory for what may be, and nothing else of ours.
ENTER = """
set -e
root=$1 user=$2 folder=$3; shift 3
mount --bind "$root" "$root"
mount -o remount,ro,bind "$root"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o "mode=0700,uid=${user%:*},gid=${user#*:}" tmpfs "$root$folder"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
exec chroot --userspec="$user" --groups= "$root" /usr/bin/env --ignore-environment --chdir="$folder" "$@"
"""


def run(*words: str | Path, **more: Any) -> str:
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False, **more)
    assert done.returncode == 0, f"{words[0]}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout.strip()


@dataclass
class Image:
    """`folder` holds the images and, once `build` has ended, the root of one container."""

    folder: Path
    root: str = ""

    def buildah(self, *words: str | Path) -> str:
        """Layers as plain folders and processes in a chroot: neither needs more than the rights to mount."""
        places = ["--root", self.folder / "store", "--runroot", self.folder / "run", "--storage-driver", "vfs"]
        return run("buildah", *places, *words, env=os.environ | {"BUILDAH_ISOLATION": "chroot"})

    def build(self) -> None:
        """As deploy/docs/containers.md says it for a build that may fetch nothing."""
        container = self.buildah("from", "scratch")
        self.buildah("add", "--quiet", container, self._find_base(), "/")
        self.buildah("commit", "--quiet", container, BASE)
        self.buildah("rm", container)
        arguments = [f"--build-arg=BASE=localhost/{BASE}", "--build-arg=PIP_OPTIONS=--no-index"]
        self.buildah("build", "--pull-never", *arguments, f"--tag={NAME}", self._gather())
        self.root = self.buildah("mount", self.buildah("from", "--pull-never", f"localhost/{NAME}"))

    def close(self) -> None:
        self.buildah("umount", "--all")
        shutil.rmtree(self.folder)

    @cached_property
    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = json.loads(self.buildah("inspect", "--type=image", NAME))["OCIv1"]["config"]
        return config

    def measure(self) -> int:
        """Bytes of what is in it."""
        words = ["du", "--summarize", "--block-size=1", "--one-file-system", self.root]
        return int(run(*words).split()[0])

    def command(self, *words: str, **settings: str) -> list[str]:
        """What starts a program in a container of the image, without rights and on a root it cannot write."""
        environment = self.config["Env"] + [f"{name}={value}" for name, value in settings.items()]
        places = [self.root, self.config["User"], self.config["WorkingDir"]]
        return ["unshare", "--mount", "sh", "-c", ENTER, "enter", *places, *environment, *words]

    def _find_base(self) -> Path:
        """A root with Python: the archive that AWARD_IMAGE_BASE names, or a new one of this machine's own release."""
        if ready := os.environ.get("AWARD_IMAGE_BASE"):
            return Path(ready)
        release, archive = platform.freedesktop_os_release()["VERSION_CODENAME"], self.folder / "base.tar"
        sources = [file for pattern in SOURCES for file in Path("/etc/apt").glob(pattern)]
        # without what slim bases do not have either
        without = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "man", "locale")]
        words = ["--variant=minbase", "--include=python3-venv,ca-certificates", *without]
        run("mmdebstrap", *words, release, archive, *sources)
        return archive

    def _gather(self) -> Path:
        """The folder of the image, with the wheel of this tree and those of everything it needs."""
        context, deploy = self.folder / "context", ROOT / "deploy"
        build("wheel", copy_tree(self.folder), context)
        for name in ("Containerfile", "requirements.txt"):
            shutil.copy(deploy / name, context)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", context]
        run(*pip, "--require-hashes", "--requirement", deploy / "requirements.txt")
        # By Python before 3.11.3 alone, which may be that of the base.
        run(*pip, "--constraint", deploy / "constraints.txt", "async-timeout")
        return context


def find_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])
