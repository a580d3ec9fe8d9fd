"""What a worker tells the controller of a case: its call, and what went wrong before or after it.

That a case begins, that its fixtures are made and that they are gone is three more messages of each of thousands of
cases. The controller counts none of them, and was busy with them for half of its processor time.
"""

import pytest
from _pytest.runner import runtestprotocol


def _tells_everything(config: pytest.Config) -> bool:
    """Asked for lines of each case, for durations or for a file of results, the controller wants every report."""
    option = config.option
    return option.verbose > 0 or option.durations is not None or bool(option.xmlpath)


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    if not hasattr(item.config, "workerinput") or _tells_everything(item.config):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
