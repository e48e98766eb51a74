"""Both images without a container engine: every RUN step in an empty root, then the service.

    python -m deploy.container.proof               makes the base with debootstrap, some minutes
    python -m deploy.container.proof --base ROOT   a folder with such a root

The stand-in for Python's image is a minimal Debian of the same release with Debian's own Python of
the same version. Linux, root, debootstrap, util-linux and iproute2 are needed. The work of a
container engine alone (layers, ADD from the network, volumes, limits) is not proved.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from deploy.container.empty_root import Builder, Image
from deploy.container.instructions import Stage, read_stages

ROOT: Final = Path(__file__).resolve().parents[2]
_BASE_IMAGE: Final = re.compile(r"python:(?P<version>\d+\.\d+)-slim-(?P<release>\w+)")
_PACKAGES: Final = "python3,python3-venv,python3-pip,ca-certificates"
_PATH: Final = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
_DOWNLOADS: Final = re.compile(r"(?i)(https?|no)_proxy|ssl_cert_file|requests_ca_bundle|pip_cert")
_LIMIT_SECONDS: Final = 90

#: Inside a network of its own, on a read-only root, without capabilities after the change of user.
_SERVE: Final = """\
set -eu
ip link set lo up
mount --bind "$root" "$root"
mount -t tmpfs -o uid=$owner,gid=$owner,mode=0750 data "$root/data"
mount --bind /proc "$root/proc"
mount -o remount,bind,ro "$root"
inside="setpriv --bounding-set=-all,+sys_chroot,+setuid,+setgid --no-new-privs \
    chroot --userspec=$owner:$owner $root"
if $inside touch /opt/headwater/new 2>/dev/null; then echo "the root can be written"; exit 1; fi
$inside headwater keys create me --role admin >/dev/null
$inside headwater serve &
service=$!
waited=0
until $inside sh -c "$check" 2>/dev/null; do
    waited=$((waited + 1))
    test $waited -lt $limit || { echo "not healthy after $limit s"; exit 1; }
    sleep 1
done
echo "healthy after $waited s"
kill -TERM $service
wait $service
echo "stopped with $?"
"""


_OF_THE_SERVICE: Final = """\
headwater fetch --help >/dev/null
python -c "import confluent_kafka, psycopg"
du -sh /opt/headwater
"""
#: Lambda runs images as a user of its own.
_ANOTHER_USER: Final = "20002:20002"
_OF_AWS: Final = """\
headwater fetch --help >/dev/null
python -c "import awslambdaric, psycopg, aws.accept, aws.enqueue, aws.project, aws.take"
test -z "$(find / -xdev -name 'java' -type f 2>/dev/null)"
du -sh /opt/headwater
"""


def make_base(folder: Path, image: str) -> Path:
    """A root like that of Python's image: Debian of its release, ``python`` and ``pip``."""
    match = _BASE_IMAGE.fullmatch(image)
    if match is None:
        raise ValueError(f"no stand-in is known for {image}")
    bootstrap = ("debootstrap", "--variant=minbase", f"--include={_PACKAGES}", match["release"])
    _run(*bootstrap, str(folder))
    return folder


def complete_base(root: Path) -> Image:
    """The names that Python's image has in /usr/local/bin."""
    for name in ("python", "python3"):
        link = root / "usr" / "local" / "bin" / name
        link.unlink(missing_ok=True)
        link.symlink_to("/usr/bin/python3")
    return Image(root, {"PATH": _PATH, "HOME": "/root", "LANG": "C.UTF-8"})


def build_all(stages: Sequence[Stage], base: Image, builder: Builder) -> dict[str, Image]:
    images: dict[str, Image] = {}
    for stage in stages:
        images[stage.name] = builder.build(stage, images.get(stage.base, base), images)
    return images


def serve(image: Image) -> None:
    """Start the service as its user on a read-only root, until its health check passes; stop it."""
    _, _, check = image.records("HEALTHCHECK").partition("CMD ")
    environment = {
        **image.environment,
        "root": str(image.root),
        "owner": image.records("USER").partition(":")[0],
        "check": shlex.join(json.loads(check)),
        "limit": str(_LIMIT_SECONDS),
    }
    isolated = ("unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc")
    _run(*isolated, "sh", "-c", _SERVE, environment=environment)


def look_into(image: Image, command: str, owner: str | None = None) -> None:
    """A command in the image, as its user or another one."""
    owner = owner or image.records("USER")
    _run(
        *("chroot", f"--userspec={owner}", str(image.root), "sh", "-e", "-c", command),
        environment=image.environment,
    )


def _run(*command: str, environment: Mapping[str, str] | None = None) -> None:
    subprocess.run(command, env=environment, check=True)


def _downloads(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, value) for name, value in environment.items() if _DOWNLOADS.fullmatch(name))


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m deploy.container.proof", description="Prove the images' build and start."
    )
    parser.add_argument("--base", type=Path, help="a root of the base image's release")
    parser.add_argument("--work", type=Path, help="an empty folder with 3 GB of room")
    options = parser.parse_args(arguments)
    stages = read_stages(ROOT / "Dockerfile")
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        work = Path(folder)
        base = complete_base(options.base or make_base(work / "python", stages[0].base))
        builder = Builder(ROOT, work, dict(_downloads(environment)), _say)
        images = build_all(stages, base, builder)
        serve(images["service"])
        look_into(images["service"], _OF_THE_SERVICE)
        look_into(images["aws"], _OF_AWS, owner=_ANOTHER_USER)
        for image in images.values():
            for step in image.skipped:
                _say(f"not executed: {step}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
