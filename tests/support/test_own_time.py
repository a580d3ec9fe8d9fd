"""Which cases need the mark `slow`: judged by their processor time."""

import time

from tests.support.own_time import YARDSTICK_SECONDS, judge, read_processor_time


def test_a_case_over_its_second_needs_the_mark() -> None:
    assert judge(1.9, slow=False) is None
    assert judge(2.1, slow=True) is None
    assert "mark it slow" in (judge(2.1, slow=False) or "")
    assert judge(2.1, slow=False, yardstick=1.5 * YARDSTICK_SECONDS) is None
    assert judge(2.1, slow=False, yardstick=0.5 * YARDSTICK_SECONDS), "a quicker machine allows no less"


def test_only_work_counts() -> None:
    began = read_processor_time()
    end = time.thread_time() + 0.05
    while time.thread_time() < end:
        pass
    assert read_processor_time() - began >= 0.05
