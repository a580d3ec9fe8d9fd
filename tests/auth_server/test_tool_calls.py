"""Pages that show why a tool did not do its work."""

from auth_server.pages.tool_calls import NO_ANSWER, Answer, Subject, read_faults

THINGS = Subject("thing", "/dashboard/things", "Your things")


def test_the_heading_over_a_crash_does_not_say_that_nothing_was_done() -> None:
    page = THINGS.refuse(Answer(status="internal_error", message="It is not certain that the change was stored."))
    assert page.context["title"] == "That did not work"
    assert page.context["text"] == "It is not certain that the change was stored."


def test_an_answer_without_words_promises_nothing() -> None:
    assert read_faults(Answer(status="internal_error")) == {"": NO_ANSWER}
