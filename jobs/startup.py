"""The start of a background program: settings, data mode and logging."""

import sys

from shared.providers import registry
from shared.redis import refuse_cluster
from shared.services.operations.data_mode import hold_data_mode
from shared.settings import SettingsError, settings
from shared.telemetry.logs import configure_logging


def start() -> None:
    """Ends the process with status 1 and one message when the settings do not describe a service."""
    try:
        s = settings()
        if s.mail_backend == "outbox" and s.outbox_dir is None:
            raise SettingsError("The settings are incomplete:\n  OUTBOX_DIR: is not set, and MAIL_BACKEND is outbox")
        registry.providers()
        refuse_cluster()
        hold_data_mode()
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
    configure_logging()
