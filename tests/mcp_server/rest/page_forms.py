"""Forms of pages as a browser reads and sends them: every field with what stands in it, but for what is typed."""

from html.parser import HTMLParser

import httpx

from tests.mcp_server.rest.conftest import World


class _FormReader(HTMLParser):
    """The fields of each form that is sent to one address."""

    def __init__(self, action: str) -> None:
        super().__init__()
        self.action = action
        self.fields: dict[str, str] = {}
        self.forms: list[dict[str, str]] = []
        self._is_inside = False
        self._select = self._textarea = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._is_inside = values.get("action") == self.action
            self.fields = {}
        elif not self._is_inside:
            return
        elif tag == "input" and values.get("name"):
            if values["type"] in ("checkbox", "radio") and "checked" not in values:
                return
            self.fields[values["name"]] = values.get("value", "on")
        elif tag == "textarea":
            self._textarea = values["name"]
            self.fields[self._textarea] = ""
        elif tag == "select":
            self._select = values["name"]
        elif tag == "option" and (self._select not in self.fields or "selected" in values):
            self.fields[self._select] = values["value"]

    def handle_data(self, data: str) -> None:
        if self._textarea:
            self.fields[self._textarea] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self.fields[self._textarea] = self.fields[self._textarea].removeprefix("\n").replace("\n", "\r\n")
            self._textarea = ""
        elif tag == "form" and self._is_inside:
            self.forms.append(self.fields)
            self._is_inside = False


def read_form(text: str, action: str, holding: tuple[str, str] | None = None) -> dict[str, str]:
    """What a browser would send for the form, `holding` one of its fields with its value."""
    reader = _FormReader(action)
    reader.feed(text)
    forms = [form for form in reader.forms if holding is None or form.get(holding[0]) == holding[1]]
    assert forms, f"no form for {action}: {text[-3000:]}"
    return forms[0]


def send_form(
    world: World, page: str, action: str, holding: tuple[str, str] | None = None, /, **typed: str
) -> httpx.Response:
    """Opens a page, types into its form for `action`, and sends it."""
    opened = world.get(page)
    assert opened.status_code == 200, opened.text[-2000:]
    fields = read_form(opened.text, action, holding) | typed
    return world.http.post(f"{world.url}{action}", data=fields)
