"""A plugin of the AWS CLI 1: every command goes to the address in `AWS_ENDPOINT_URL`, also those of SQS.

For SQS (and RDS, Neptune, …) the AWS CLI 1 has a list of addresses by region, which it prefers to `AWS_ENDPOINT_URL`
and to `AWS_ENDPOINT_URL_SQS`; only `--endpoint-url` is stronger (awscli/customizations/overridesslcommonname.py;
aws/aws-cli#8737). No variable and no setting turns that off, so this plugin gives the option for the reader. The AWS
CLI 2 has no such list.

The file `config` beside this module names the plugin; `AWS_CONFIG_FILE` leads the AWS CLI to it. The module imports
next to nothing, because each command of the AWS CLI loads it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

CONFIG = Path(__file__).with_name("config")
"""A config file of the AWS CLI without a profile: it only names this plugin."""


def awscli_initialize(events: Any) -> None:
    """What the AWS CLI calls when it loads the plugin."""
    events.register("top-level-args-parsed", _choose_endpoint)


def _choose_endpoint(parsed_args: Any, **_others: Any) -> None:
    if parsed_args.endpoint_url is None:
        parsed_args.endpoint_url = os.environ.get("AWS_ENDPOINT_URL")
