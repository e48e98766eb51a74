"""A stage of the Dockerfile, executed in a root of its own with chroot.

No network namespace: RUN steps fetch packages. Needs the rights of root.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from deploy.container.instructions import Stage, context_files, expand

Say = Callable[[str], None]

#: Two files that a build takes from its computer, so that downloads find their way.
_AUTHORITIES: Final = Path("etc/ssl/certs/ca-certificates.crt")
_RESOLVER: Final = Path("etc/resolv.conf")
_TO_RECORD: Final = frozenset(
    ("CMD", "ENTRYPOINT", "EXPOSE", "HEALTHCHECK", "STOPSIGNAL", "USER", "VOLUME")
)


@dataclass(frozen=True, slots=True)
class Image:
    """A root, and the environment of its later steps and containers."""

    root: Path
    environment: Mapping[str, str]
    folder: str = "/"
    recorded: Mapping[str, str] | None = None
    skipped: tuple[str, ...] = ()

    def records(self, name: str) -> str:
        """``records("USER")`` => ``10001:10001``."""
        return (self.recorded or {})[name]


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds stages of the Dockerfile of ``context`` below ``work``."""

    context: Path
    work: Path
    downloads: Mapping[str, str]
    """Variables of RUN steps that say where packages come from: proxies, authorities."""
    say: Say

    def build(self, stage: Stage, base: Image, images: Mapping[str, Image]) -> Image:
        """Copy the base and execute the stage's instructions on the copy."""
        self.say(f"FROM {stage.base} AS {stage.name}")
        root = self.work / stage.name
        _run("cp", "--archive", "--reflink=auto", base.root, root)
        image = replace(base, root=root)
        for step in stage.instructions:
            image = self._execute(step.name, step.value, image, images)
        return image

    def _execute(self, name: str, value: str, image: Image, images: Mapping[str, Image]) -> Image:
        self.say(f"  {name} {value}")
        match name:
            case "RUN":
                self._run_step(value, image)
                return image
            case "COPY":
                self._copy(shlex.split(value), image, images)
                return image
            case "ADD":
                return replace(image, skipped=(*image.skipped, f"ADD {value}"))
            case "ENV":
                return replace(image, environment=_with(image.environment, value))
            case "WORKDIR":
                (image.root / value.lstrip("/")).mkdir(parents=True, exist_ok=True)
                return replace(image, folder=value)
            case _ if name in _TO_RECORD:
                return replace(image, recorded={**(image.recorded or {}), name: value})
        raise ValueError(f"{name} is not known here")

    def _run_step(self, command: str, image: Image) -> None:
        for file in (_AUTHORITIES, _RESOLVER):
            shutil.copyfile(Path("/") / file, image.root / file)
        _run(
            *("unshare", "--mount", "--pid", "--fork", "--mount-proc"),
            *(f"--root={image.root}", f"--wd={image.folder}", "--"),
            *("/bin/sh", "-e", "-c", command),
            environment={**self.downloads, **image.environment},
        )

    def _copy(self, words: list[str], image: Image, images: Mapping[str, Image]) -> None:
        if words[0].startswith("--from="):
            other = images[words[0].removeprefix("--from=")]
            (source, target) = words[1:]
            _run(
                *("cp", "--archive", other.root / source.lstrip("/")),
                image.root / target.lstrip("/"),
            )
            return
        *sources, target = words
        into = image.root / image.folder.lstrip("/") / target
        for path in context_files(self.context):
            if path.as_posix() in sources or sources == ["."]:
                place = into / (path if sources == ["."] else path.name)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.context / path, place, follow_symlinks=False)


def _with(environment: Mapping[str, str], assignments: str) -> dict[str, str]:
    pairs = (word.partition("=") for word in shlex.split(assignments))
    return {**environment, **{name: expand(value, environment) for name, _, value in pairs}}


def _run(*command: str | Path, environment: Mapping[str, str] | None = None) -> None:
    subprocess.run([*map(str, command)], env=environment, check=True)
