"""``python -m tests.copies.rebuild SOURCE DESTINATION``: the Spark job with the toy format."""

from __future__ import annotations

import sys

from pipeline.journal import open_session, open_source
from pipeline.rebuild import Request, rebuild
from tests.copies.producer import FORMATS

LOCAL = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}

if __name__ == "__main__":
    source, destination = sys.argv[1:]
    request = Request(open_source([source], None), destination, 1_000, 1_000_000, 2, False, FORMATS)
    spark = open_session("local[1]", LOCAL)
    try:
        rebuild(spark, request, print)
    finally:
        spark.stop()
