"""Places in Amazon S3, as a setting names them.

Apart from ``bodies``: a command that reads its settings need not load the library of AWS, which
takes longer than all the rest of its start.
"""

from __future__ import annotations

from urllib.parse import urlsplit


def split_place(place: str) -> tuple[str, str]:
    """``s3://bucket/a/b/`` => (bucket, ``a/b/``). Raises ValueError with the expected form."""
    parts = urlsplit(place)
    if parts.scheme != "s3" or not parts.netloc or parts.query or parts.fragment:
        raise ValueError("s3://bucket/prefix")
    prefix = parts.path.strip("/")
    return parts.netloc, f"{prefix}/" if prefix else ""
