"""Commands -> submissions to the journal."""

from __future__ import annotations

from dataclasses import replace

from graph_model.producers.commands.documents import COMMAND_KIND, VERSION, Command, write_command
from graph_model.stores.protocols import Submission
from graph_model.stores.submissions import compact_json, content_hash, make_submission
from spark_agent_config.masking import mask_text


def submit(command: Command) -> Submission:
    """The journal submission of a command, with secrets in its free texts masked."""
    masked = replace(
        command,
        note=mask_text(command.note),
        target=mask_text(command.target),
    )
    body = compact_json(write_command(masked))
    key = command.key_prefix + content_hash(COMMAND_KIND, VERSION, body)[:32]
    return make_submission(COMMAND_KIND, VERSION, key, "", body)
