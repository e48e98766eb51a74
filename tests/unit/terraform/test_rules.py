"""The deployment keeps its rules: nothing public, everything encrypted, actions named."""

from __future__ import annotations

import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("hcl2", reason="python-hcl2 is not installed: make test installs it")

from tests.unit.terraform import rules
from tests.unit.terraform.configuration import FOLDER, Block, blocks, files, read

MODULES = sorted(path.parent for path in FOLDER.rglob("main.tf"))

FAULTS = {
    "a variable without a type": (
        rules.described,
        'variable "x" {\n  description = "A long sentence."\n}',
    ),
    "a variable of any type": (
        rules.described,
        'variable "x" {\n  type = any\n  description = "A long sentence."\n}',
    ),
    "an output without words": (rules.described, 'output "x" {\n  value = 1\n}'),
    "a log group without a key": (
        rules.encrypted,
        'resource "aws_cloudwatch_log_group" "x" {\n  retention_in_days = 7\n}',
    ),
    "a cluster that is not encrypted": (
        rules.encrypted,
        'resource "aws_neptune_cluster" "x" {\n  storage_encrypted = false\n  kms_key_arn = "k"\n}',
    ),
    "a public instance": (
        rules.private,
        'resource "aws_rds_cluster_instance" "x" {\n  publicly_accessible = true\n}',
    ),
    "an instance that does not say": (
        rules.private,
        'resource "aws_neptune_cluster_instance" "x" {\n  engine = "neptune"\n}',
    ),
    "a way to the internet": (
        rules.private,
        'resource "aws_internet_gateway" "x" {\n  vpc_id = "v"\n}',
    ),
    "a public load balancer": (rules.private, 'resource "aws_lb" "x" {\n  internal = false\n}'),
    "a rule for everyone": (
        rules.private,
        'resource "aws_vpc_security_group_ingress_rule" "x" {\n  cidr_ipv4 = "0.0.0.0/0"\n}',
    ),
    "a graph without signatures": (
        rules.signed_and_with_tls,
        'resource "aws_neptune_cluster" "x" {\n  engine = "neptune"\n}',
    ),
    "a listener without TLS": (
        rules.signed_and_with_tls,
        'resource "aws_lb_listener" "x" {\n  protocol = "HTTP"\n}',
    ),
    "a database without TLS": (
        rules.signed_and_with_tls,
        """
        resource "aws_rds_cluster_parameter_group" "x" {
          parameter {
            name  = "rds.force_ssl"
            value = "0"
          }
        }
        """,
    ),
    "a bare bucket": (rules.closed_buckets, 'resource "aws_s3_bucket" "x" {\n  bucket = "b"\n}'),
    "every action on the data": (
        rules.named_actions,
        """
        resource "aws_iam_role_policy" "x" {
          policy = jsonencode({
            Statement = [{ Effect = "Allow", Action = ["s3:ListBucket", "s3:*"], Resource = "*" }]
          })
        }
        """,
    ),
    "half of the actions": (
        rules.named_actions,
        """
        resource "aws_iam_role_policy" "x" {
          policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "glue:Get*" }] })
        }
        """,
    ),
    "somebody else's policy": (
        rules.named_actions,
        'resource "aws_iam_role_policy_attachment" "x" {\n  policy_arn = "AmazonS3FullAccess"\n}',
    ),
    "every resource": (
        rules.named_resources,
        """
        resource "aws_iam_role_policy" "x" {
          policy = jsonencode({
            Statement = [{ Effect = "Allow", Action = "s3:GetObject", Resource = "*" }]
          })
        }
        """,
    ),
    "everyone": (
        rules.named_resources,
        """
        resource "aws_sqs_queue_policy" "x" {
          policy = jsonencode({
            Statement = [{ Effect = "Allow", Principal = "*", Action = "sqs:SendMessage" }]
          })
        }
        """,
    ),
    "a role without a boundary": (
        rules.bounded_roles,
        'resource "aws_iam_role" "x" {\n  name = "x"\n}',
    ),
    "a key for anything": (
        rules.bounded_keys,
        """
        resource "aws_iam_role_policy" "x" {
          policy = jsonencode({
            Statement = [{ Effect = "Allow", Action = "kms:Decrypt", Resource = var.key_arn }]
          })
        }
        """,
    ),
    "a queue without a policy": (
        rules.closed_queues,
        'resource "aws_sqs_queue" "x" {\n  kms_master_key_id = "k"\n}',
    ),
    "a queue that drops messages that it cannot give": (
        rules.closed_queues,
        """
        resource "aws_sqs_queue" "x" {}
        resource "aws_sqs_queue_policy" "x" {
          queue_url = aws_sqs_queue.x.url
          policy    = jsonencode({ Condition = { Bool = { "aws:SecureTransport" = "false" } } })
        }
        """,
    ),
    "a route that asks nobody": (
        rules.guarded_doors,
        'resource "aws_apigatewayv2_route" "x" {\n  authorization_type = "NONE"\n}',
    ),
    "a gateway without a bound": (
        rules.guarded_doors,
        'resource "aws_apigatewayv2_stage" "x" {\n  name = "$default"\n}',
    ),
    "a distribution without a firewall": (
        rules.guarded_doors,
        """
        resource "aws_cloudfront_distribution" "x" {
          default_cache_behavior {
            viewer_protocol_policy = "https-only"
          }
        }
        """,
    ),
    "a distribution without TLS": (
        rules.guarded_doors,
        """
        resource "aws_cloudfront_distribution" "x" {
          web_acl_id = "w"
          default_cache_behavior {
            viewer_protocol_policy = "allow-all"
          }
        }
        """,
    ),
    "a notebook that reaches the internet": (
        rules.private,
        'resource "aws_sagemaker_notebook_instance" "x" {\n  root_access = "Disabled"\n}',
    ),
    "a public warehouse": (
        rules.private,
        'resource "aws_redshiftserverless_workgroup" "x" {\n  publicly_accessible = true\n}',
    ),
    "a warehouse without TLS": (
        rules.signed_and_with_tls,
        'resource "aws_redshiftserverless_workgroup" "x" {\n  workgroup_name = "w"\n}',
    ),
    "a route to the internet": (
        rules.private,
        'resource "aws_route" "x" {\n  gateway_id = "igw-1"\n}',
    ),
    "a function whose variables are open": (
        rules.encrypted,
        'resource "aws_lambda_function" "x" {\n  function_name = "f"\n}',
    ),
    "a secret in the state": (
        rules.no_secrets,
        'resource "aws_secretsmanager_secret_version" "x" {\n  secret_string = "hw_1"\n}',
    ),
}


@pytest.fixture(scope="module")
def deployment() -> list[Block]:
    """Every file, parsed once: that takes a while."""
    return read()


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_the_deployment_keeps_the_rule(rule: rules.Rule, deployment: list[Block]) -> None:
    assert rule(deployment) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_rule_finds_its_violation(fault: str) -> None:
    rule, text = FAULTS[fault]
    assert rule(blocks(textwrap.dedent(text).strip() + "\n")) != []


def test_a_refusal_may_name_all_actions() -> None:
    text = """
    resource "aws_s3_bucket_policy" "x" {
      policy = jsonencode({ Statement = [{ Effect = "Deny", Action = "s3:*", Resource = "*" }] })
    }
    """
    assert rules.named_actions(blocks(textwrap.dedent(text))) == []


@pytest.mark.parametrize("action", ["ecr:GetAuthorizationToken", "ec2:DescribeSubnets"])
def test_an_action_that_knows_no_resource_may_name_all(action: str) -> None:
    text = f"""
    resource "aws_iam_role_policy" "x" {{
      policy = jsonencode({{
        Statement = [{{ Effect = "Allow", Action = "{action}", Resource = "*" }}]
      }})
    }}
    """
    assert rules.named_resources(blocks(textwrap.dedent(text))) == []


def test_no_action_with_a_star_hides_outside_of_a_policy() -> None:
    """Actions may stand in a local, too, where no policy is read."""
    result = {
        literal
        for path in files()
        for literal in re.findall(r'"([a-z0-9-]+:[A-Za-z]*\*)"', path.read_text("utf-8"))
    }
    # Refusals of requests without TLS, the administrator of a key, and an event of S3.
    assert result == {"s3:*", "sqs:*", "kms:*"}


def test_no_task_starts_open_to_everyone() -> None:
    assert not [path for path in files() if "HEADWATER_INSECURE" in path.read_text("utf-8")]


@pytest.mark.parametrize("folder", MODULES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_module_says_which_versions_it_needs(folder: Path) -> None:
    text = "".join(path.read_text("utf-8") for path in folder.glob("*.tf"))
    assert re.search(r'required_version\s*=\s*">= 1\.9"', text)
    assert re.search(r'source\s*=\s*"hashicorp/aws"\s*\n\s*version\s*=\s*"~> 6\.25"', text)


def test_the_longest_name_of_a_deployment_fits_every_bucket() -> None:
    """S3 takes 63 characters: 20 of the name, 12 of the account, 14 of the region, and its own."""
    text = "".join(path.read_text("utf-8") for path in files())
    pattern = r'bucket\s*= "\$\{var\.name\}-(.+)-\$\{local\.account\}-\$\{local\.region\}"'
    own = [re.sub(r"\$\{each\.key\}", "aggregated", item) for item in re.findall(pattern, text)]
    assert len(own) == 3
    assert [item for item in own if 20 + 12 + 14 + 3 + len(item) > 63] == []


def test_an_exception_for_a_scanner_has_its_reason() -> None:
    skips = [
        line.strip()
        for path in files()
        for line in path.read_text("utf-8").splitlines()
        if "checkov:skip" in line
    ]
    assert [line for line in skips if not re.search(r"skip=CKV2?_AWS_\d+:\S.{15,}\.$", line)] == []


def test_the_files_are_formatted() -> None:
    if shutil.which("terraform") is None:
        pytest.skip("no terraform on this machine: `make terraform` formats where there is one")
    command = ["terraform", f"-chdir={FOLDER}", "fmt", "-check", "-recursive", "-list=true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
