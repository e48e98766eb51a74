"""The script that runs when the notebook instance starts, filled in as Terraform does it."""

from __future__ import annotations

import re
import subprocess

from tests.unit.terraform.configuration import FOLDER

VALUES = {
    "wheels": "s3://code/notebook/wheels",
    "notebooks": "s3://code/notebook/notebooks",
    "version": "5.3.0",
    "region": "eu-west-1",
    "configuration": '{"auth_mode":"IAM"}',
}


def script() -> str:
    text = (FOLDER / "modules/notebook/start.sh").read_text("utf-8")
    return re.sub(r"\$\{(\w+)\}", lambda found: VALUES[found[1]], text)


def test_the_script_is_filled_in_and_a_shell_reads_it() -> None:
    done = subprocess.run(
        ["/bin/bash", "-n"], input=script(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_packages_come_from_the_bucket_alone() -> None:
    installs = re.findall(r".*pip install.*", script())
    assert installs
    assert all("--no-index" in line for line in installs)
