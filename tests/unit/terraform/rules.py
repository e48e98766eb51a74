"""The rules for every file in ``terraform/``: a function for each, which names its violations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from tests.unit.terraform.configuration import Block, plain, policies, statements, within

Rule = Callable[[Sequence[Block]], list[str]]
_UNSET: Final = (None, False, [], "")

#: Arguments that must be given, and not be false: type of resource => names of arguments.
ENCRYPTED: Final = {
    "aws_neptune_cluster": ("storage_encrypted", "kms_key_arn"),
    "aws_rds_cluster": ("storage_encrypted", "kms_key_id", "master_user_secret_kms_key_id"),
    "aws_rds_cluster_instance": ("performance_insights_kms_key_id",),
    "aws_cloudwatch_log_group": ("kms_key_id", "retention_in_days"),
    "aws_secretsmanager_secret": ("kms_key_id",),
    "aws_sns_topic": ("kms_master_key_id",),
    "aws_sqs_queue": ("kms_master_key_id",),
    "aws_ecr_repository": ("kms_key",),
    "aws_ecs_cluster": ("fargate_ephemeral_storage_kms_key_id",),
    "aws_glue_job": ("security_configuration",),
    "aws_emrserverless_application": ("encryption_key_arn",),
    "aws_lambda_function": ("kms_key_arn",),
    "aws_scheduler_schedule": ("kms_key_arn",),
    "aws_db_instance": ("storage_encrypted", "kms_key_id", "master_user_secret_kms_key_id"),
    "aws_redshiftserverless_namespace": ("kms_key_id", "admin_password_secret_kms_key_id"),
    "aws_mwaa_environment": ("kms_key",),
    "aws_sagemaker_notebook_instance": ("kms_key_id",),
    "aws_kms_key": ("enable_key_rotation",),
}
#: Arguments that must say no explicitly: a default may change.
PRIVATE: Final = {
    "aws_neptune_cluster_instance": ("publicly_accessible",),
    "aws_rds_cluster_instance": ("publicly_accessible",),
    "aws_subnet": ("map_public_ip_on_launch",),
    "aws_ecs_service": ("assign_public_ip", "enable_execute_command"),
    "aws_db_instance": ("publicly_accessible",),
    "aws_redshiftserverless_workgroup": ("publicly_accessible",),
}
#: Arguments that must have this value: type of resource => argument => value.
CLOSED: Final = {
    "aws_sagemaker_notebook_instance": {
        "direct_internet_access": "Disabled",
        "root_access": "Disabled",
    },
    "aws_mwaa_environment": {"webserver_access_mode": "PRIVATE_ONLY"},
}
#: Resources that open a network to the internet. CloudFront wants to see an internet gateway beside
#: a private origin; without a route, which would be a door, nothing goes through it.
DOORS: Final = (
    "aws_route",
    "aws_internet_gateway",
    "aws_egress_only_internet_gateway",
    "aws_nat_gateway",
    "aws_eip",
    "aws_s3_bucket_acl",
    "aws_s3_bucket_website_configuration",
    "aws_lambda_function_url",
)
WITHOUT_ROUTE: Final = ("modules/page", "aws_internet_gateway")
#: Actions that know no resource: a statement that allows them alone may name every resource.
UNBOUND: Final = re.compile(
    r"ecr:GetAuthorizationToken|ec2:Describe(?!VpcAttribute)\w+|cloudwatch:PutMetricData|logs:DescribeLogGroups"
    r"|s3:GetAccountPublicAccessBlock"
)
#: Roles that use the key directly: jobs of Glue encrypt bookmarks, the clock opens its schedule.
WITHOUT_SERVICE: Final = {
    ("modules/lake", "aws_iam_role_policy", "this"),
    ("modules/functions", "aws_iam_role_policy", "clock"),
}
#: The resources that each bucket has beside it, in its module.
OF_BUCKETS: Final = (
    "aws_s3_bucket_public_access_block",
    "aws_s3_bucket_server_side_encryption_configuration",
    "aws_s3_bucket_versioning",
    "aws_s3_bucket_lifecycle_configuration",
    "aws_s3_bucket_ownership_controls",
    "aws_s3_bucket_policy",
)
PUBLIC_ACCESS: Final = (
    "block_public_acls",
    "block_public_policy",
    "ignore_public_acls",
    "restrict_public_buckets",
)
#: The one wildcard: AWS wants an administrator of a key, the account itself.
KEY_POLICIES: Final = ("aws_kms_key_policy",)


def described(blocks: Sequence[Block]) -> list[str]:
    """Variables have a type and a description that is a sentence, outputs a description."""
    faults = []
    for block in blocks:
        if block.kind not in {"variable", "output"}:
            continue
        text = plain(block.body.get("description", ""))
        if not isinstance(text, str) or len(text) < 10 or not text.endswith("."):
            faults.append(f"{block.place} has no description that ends in a full stop")
        if block.kind == "variable" and plain(block.body.get("type")) in {None, "any", "${any}"}:
            faults.append(f"{block.place} has no type")
    return faults


def encrypted(blocks: Sequence[Block]) -> list[str]:
    return [
        f"{block.place} does not say {name}"
        for block in _resources(blocks)
        for name in ENCRYPTED.get(block.type, ())
        if not any(plain(value) not in _UNSET for value in within(block.body, name))
    ]


def private(blocks: Sequence[Block]) -> list[str]:
    faults = [
        f"{block.place} does not say that {name} is false"
        for block in _resources(blocks)
        for name in PRIVATE.get(block.type, ())
        if within(block.body, name) != [False]
    ]
    faults += [
        f"{block.place} does not say that {name} is {value}"
        for block in _resources(blocks)
        for name, value in CLOSED.get(block.type, {}).items()
        if plain(block.body.get(name)) != value
    ]
    faults += [
        f"{block.place} opens the network"
        for block in _resources(blocks)
        if (block.type in DOORS and (block.module, block.type) != WITHOUT_ROUTE)
        or (block.type.endswith("route_table") and "route" in block.body)
    ]
    faults += [
        f"{block.place} is not internal"
        for block in _resources(blocks)
        if block.type == "aws_lb" and block.body.get("internal") is not True
    ]
    faults += [
        f"{block.place} is open to everyone"
        for block in _resources(blocks)
        if block.type.startswith(("aws_security_group", "aws_vpc_security_group"))
        and ("0.0.0.0/0" in str(block.body) or "::/0" in str(block.body))
    ]
    return faults


def signed_and_with_tls(blocks: Sequence[Block]) -> list[str]:
    """Neptune asks for signatures, listeners speak TLS, Aurora refuses connections without TLS."""
    faults = []
    for block in _resources(blocks):
        if block.type == "aws_neptune_cluster":
            if block.body.get("iam_database_authentication_enabled") is not True:
                faults.append(f"{block.place} takes requests that are not signed")
        elif block.type == "aws_lb_listener":
            if plain(block.body.get("protocol")) not in {"HTTPS", "TLS", "TCP"}:
                faults.append(f"{block.place} speaks without TLS")
        elif block.type == "aws_rds_cluster_parameter_group":
            if _parameters(block, "parameter", "name", "value").get("rds.force_ssl") != "1":
                faults.append(f"{block.place} takes connections without TLS")
        elif block.type == "aws_db_parameter_group":
            given = _parameters(block, "parameter", "name", "value")
            if given.get("require_secure_transport") != "1":
                faults.append(f"{block.place} takes connections without TLS")
        elif block.type == "aws_redshiftserverless_workgroup":
            given = _parameters(block, "config_parameter", "parameter_key", "parameter_value")
            if given.get("require_ssl") != "true":
                faults.append(f"{block.place} takes connections without TLS")
    return faults


def guarded_doors(blocks: Sequence[Block]) -> list[str]:
    """Public on purpose: gateways ask, are throttled and logged; CloudFront has a firewall."""
    faults = []
    for block in _resources(blocks):
        if block.type == "aws_apigatewayv2_route":
            if plain(block.body.get("authorization_type")) in {None, "NONE"}:
                faults.append(f"{block.place} asks nobody")
        elif block.type == "aws_apigatewayv2_stage":
            wanted = ("throttling_rate_limit", "throttling_burst_limit", "destination_arn")
            faults += [
                f"{block.place} has no {name}" for name in wanted if not within(block.body, name)
            ]
        elif block.type == "aws_cloudfront_distribution":
            if not block.body.get("web_acl_id"):
                faults.append(f"{block.place} has no firewall")
            if {plain(item) for item in within(block.body, "viewer_protocol_policy")} != {
                "https-only"
            }:
                faults.append(f"{block.place} speaks without TLS")
    return faults


def closed_queues(blocks: Sequence[Block]) -> list[str]:
    """Each queue wants TLS; each but a dead-letter queue has one, for untakable messages."""
    faults = []
    for queue in _resources(blocks):
        if queue.type != "aws_sqs_queue":
            continue
        address = f"aws_sqs_queue.{queue.name}"
        beside = {
            block.type: block
            for block in _resources(blocks)
            if block.module == queue.module and address in str(block.body.get("queue_url", ""))
        }
        policy = beside.get("aws_sqs_queue_policy")
        if policy is None or "aws:SecureTransport" not in str(policy.body):
            faults.append(f"{queue.place} takes messages without TLS")
        if queue.name != "dead" and "aws_sqs_queue_redrive_policy" not in beside:
            faults.append(f"{queue.place} has no dead-letter queue")
    return faults


def closed_buckets(blocks: Sequence[Block]) -> list[str]:
    """Each bucket is blocked for the public, encrypted, versioned, cleaned up, and wants TLS."""
    faults = []
    for bucket in _resources(blocks):
        if bucket.type != "aws_s3_bucket":
            continue
        beside = {
            block.type: block
            for block in _resources(blocks)
            if block.module == bucket.module and _is_of(block, bucket)
        }
        faults += [f"{bucket.place} has no {name}" for name in OF_BUCKETS if name not in beside]
        block = beside.get("aws_s3_bucket_public_access_block")
        if block and any(block.body.get(name) is not True for name in PUBLIC_ACCESS):
            faults.append(f"{block.place} leaves something open")
        policy = beside.get("aws_s3_bucket_policy")
        if policy and "aws:SecureTransport" not in str(policy.body):
            faults.append(f"{policy.place} takes requests without TLS")
    return faults


def named_actions(blocks: Sequence[Block]) -> list[str]:
    """A policy names its actions: no ``*`` in an action, no NotAction, no managed policy."""
    faults = []
    for block in _resources(blocks):
        for policy in policies(block):
            faults += [
                f"{block.place} allows {action}"
                for statement in statements(policy)
                for action in statement.actions
                if statement.effect == "Allow"
                and "*" in action
                and not _is_administration(block, action)
                and not _is_bound_to_account(block, policy)
            ]
            if re.search(r"\b(NotAction|NotPrincipal|NotResource)\b", policy):
                faults.append(f"{block.place} allows actions that it does not name")
        if block.type in {"aws_iam_role_policy_attachment", "aws_iam_policy_attachment"}:
            faults.append(f"{block.place} takes a policy that is not written here")
    return faults


def named_resources(blocks: Sequence[Block]) -> list[str]:
    """A policy allows an action on a resource, to a principal."""
    faults = []
    for block in _resources(blocks):
        of_itself = block.type in KEY_POLICIES  # in a key's policy * is the key
        of_network = block.type == "aws_vpc_endpoint"  # its conditions are the bound
        for statement in (item for policy in policies(block) for item in statements(policy)):
            if statement.effect != "Allow" or (of_network and statement.has_condition):
                continue
            bound = [action for action in statement.actions if not UNBOUND.fullmatch(action)]
            if "*" in statement.resources and bound and not of_itself:
                faults.append(f"{block.place} allows {bound[0]} on everything")
            if statement.everyone and not of_network:
                faults.append(f"{block.place} allows everyone {statement.actions[0]}")
    return faults


def bounded_keys(blocks: Sequence[Block]) -> list[str]:
    """One key encrypts everything: a role uses it by the service that holds the role's data."""
    return [
        f"{block.place} uses a key for anything"
        for block in _resources(blocks)
        if block.type == "aws_iam_role_policy"
        and (block.module, block.type, block.name) not in WITHOUT_SERVICE
        for policy in policies(block)
        for statement in statements(policy)
        if statement.effect == "Allow"
        and any(action.startswith("kms:") for action in statement.actions)
        and not statement.has_condition
    ]


def bounded_roles(blocks: Sequence[Block]) -> list[str]:
    """Where an account lets roles be made with a boundary only, each one takes it."""
    return [
        f"{block.place} takes no boundary"
        for block in _resources(blocks)
        if block.type == "aws_iam_role"
        and block.body.get("permissions_boundary") != "${var.permissions_boundary}"
    ]


def no_secrets(blocks: Sequence[Block]) -> list[str]:
    """No value of a secret passes through a state: none is written, none is read."""
    faults = [
        f"{block.place} has a secret in the state"
        for block in blocks
        if block.type
        in {"aws_secretsmanager_secret_version", "random_password", "aws_iam_access_key"}
    ]
    faults += [
        f"{block.place} has a {name}"
        for block in _resources(blocks)
        for name in ("master_password", "password", "admin_user_password", "secret_string")
        if within(block.body, name)
    ]
    return faults


RULES: Final[tuple[Rule, ...]] = (
    described,
    encrypted,
    private,
    signed_and_with_tls,
    guarded_doors,
    closed_buckets,
    closed_queues,
    named_actions,
    named_resources,
    bounded_keys,
    bounded_roles,
    no_secrets,
)


def _resources(blocks: Iterable[Block]) -> list[Block]:
    return [block for block in blocks if block.kind == "resource"]


def _parameters(block: Block, kind: str, name: str, value: str) -> dict[str, str]:
    return {plain(item[name]): plain(item[value]) for item in block.body.get(kind, ())}


def _is_of(block: Block, bucket: Block) -> bool:
    target: Any = block.body.get("bucket", "")
    return f"aws_s3_bucket.{bucket.name}" in str(target) or (
        "for_each" in block.body and f"aws_s3_bucket.{bucket.name}" in str(block.body["for_each"])
    )


def _is_bound_to_account(block: Block, policy: str) -> bool:
    """The policy of an endpoint grants nothing: it bounds the callers that roles let in."""
    return block.type == "aws_vpc_endpoint" and "aws:PrincipalAccount" in policy


def _is_administration(block: Block, action: str) -> bool:
    return action == "kms:*" and block.type in KEY_POLICIES
