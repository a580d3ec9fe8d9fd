"""Pages that show why a tool did not do its work."""

from collections.abc import Callable
from functools import partial

import pytest

from auth_server.pages import booking_forms, delay_alerts, inbound_mail, trips, watch_forms
from auth_server.pages.tool_calls import NO_ANSWER, Answer, read_faults
from auth_server.web.outcomes import Page

REFUSE = (booking_forms.refuse, inbound_mail.refuse, trips.refuse, partial(watch_forms.show_refusal, delay_alerts.KIND))


@pytest.mark.parametrize("refuse", REFUSE)
def test_the_heading_over_a_crash_does_not_say_that_nothing_was_done(refuse: Callable[[Answer], Page]) -> None:
    page = refuse(Answer(status="internal_error", message="It is not certain that the change was stored."))
    assert page.context["title"] == "That did not work"
    assert page.context["text"] == "It is not certain that the change was stored."


def test_an_answer_without_words_promises_nothing() -> None:
    assert read_faults(Answer(status="internal_error")) == {"": NO_ANSWER}
