"""The manifests: their schema, and the demands of a platform on every pod."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.settings import ROWS

FOLDER = Path(__file__).resolve().parents[3] / "deploy" / "kubernetes"
MANIFESTS = sorted(path for path in FOLDER.rglob("*.yaml") if path.name != "kustomization.yaml")
WORKLOADS = ("embedded/stateful-set.yaml", "shared/deployment.yaml")
KUBECTL = shutil.which("kubectl")
VERSION = "1.34"


def parsed(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load((FOLDER / name).read_text("utf-8")))


@pytest.fixture(params=WORKLOADS)
def pod(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(parsed(request.param)["spec"]["template"]["spec"])


def containers(pod: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from pod["initContainers"]
    yield from pod["containers"]


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_a_manifest_follows_the_schema(path: Path) -> None:
    validate = pytest.importorskip("kubernetes_validate")
    validate.validate(yaml.safe_load(path.read_text("utf-8")), VERSION, strict=True)


def test_a_pod_is_restricted(pod: dict[str, Any]) -> None:
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 10001
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert not pod.get("hostNetwork")


def test_every_container_is_restricted_and_bounded(pod: dict[str, Any]) -> None:
    for container in containers(pod):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        limits, requests = (container["resources"][name] for name in ("limits", "requests"))
        assert limits["memory"] == requests["memory"]
        assert set(requests) == {"cpu", "memory"}
        assert [mount["mountPath"] for mount in container["volumeMounts"]] == ["/data"]


def test_a_service_has_its_three_probes(pod: dict[str, Any]) -> None:
    [container] = pod["containers"]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"] == {"path": "/health/live", "port": "http"}


def test_variables_of_services_do_not_look_like_settings(pod: dict[str, Any]) -> None:
    """A Service of the name headwater would be HEADWATER_PORT=tcp://..., which stops the start."""
    assert pod["enableServiceLinks"] is False


@pytest.mark.parametrize("variant", ["embedded", "shared"])
def test_images_have_a_version(variant: str) -> None:
    [image] = parsed(f"{variant}/kustomization.yaml")["images"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", image["newTag"])


@pytest.mark.parametrize("name", ["base", "shared"])
def test_configured_names_are_settings(name: str) -> None:
    [configured] = parsed(f"{name}/kustomization.yaml")["configMapGenerator"]
    names = {literal.partition("=")[0] for literal in configured["literals"]}
    assert names <= {row.variable for row in ROWS}


def test_only_the_targets_of_a_variant_are_reached() -> None:
    assert parsed("base/network-policy.yaml")["spec"]["egress"] == []
    ports = [
        port["port"]
        for rule in parsed("shared/network-policy.yaml")["spec"]["egress"]
        for port in rule["ports"]
    ]
    assert sorted(set(ports)) == [53, 5432, 8182]


@pytest.mark.skipif(KUBECTL is None, reason="no kubectl on this machine")
@pytest.mark.parametrize("variant", ["embedded", "shared"])
def test_kustomize_puts_a_variant_together(variant: str) -> None:
    assert KUBECTL is not None
    done = subprocess.run(
        [KUBECTL, "kustomize", str(FOLDER / variant)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    made = [dict(each) for each in yaml.safe_load_all(done.stdout)]
    kinds = {each["kind"] for each in made}
    workload = "StatefulSet" if variant == "embedded" else "Deployment"
    assert kinds == {
        "ConfigMap", "NetworkPolicy", "PodDisruptionBudget", "Service", "ServiceAccount", workload,
    }  # fmt: skip
    selectors = [each["spec"]["selector"] for each in made if each["kind"] == "Service"]
    assert selectors == [{"app.kubernetes.io/name": "headwater"}]
