"""An AWS account on loopback: moto, with real Lambda workers, real SQS delivery, permissions and faults beside it.

    from helpers.cloud import Cloud

    with Cloud() as cloud:
        queue = cloud.client("sqs").create_queue(QueueName="jobs")

It knows nothing of lessons, languages or notebooks.
"""

from .account import AccountOpen, Cloud, opened
from .server import PortInUse
from .work import Busy, NotAtRest

__all__ = ["AccountOpen", "Busy", "Cloud", "NotAtRest", "PortInUse", "opened"]
