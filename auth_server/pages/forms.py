"""Forms whose fields are the arguments of a tool: built and read by the tool's own JSON Schema."""

import re
from asyncio import gather
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from auth_server.pages.member import Member
from auth_server.pages.tool_calls import Answer, read_faults
from auth_server.web.outcomes import Page
from auth_server.web.request_data import MAX_NUMBER_DIGITS
from auth_server.web.tool_server import Schema
from shared.secrets import digest

BEFORE = "was_"  # prefix of a hidden field with the visible one's value when the page was made
_MAX_MARK = 60  # characters; a longer value is recognised by its digest, so that the form does not double in length
_LONG_TEXT = 1000  # characters from which a text gets several lines
_LIST_LENGTH, _NUMBER_LENGTH = 300, 16  # characters of a field whose schema has no limit
# Patterns of schemas: letters of a code, which are typed in either case, and a time of day.
_CODE = re.compile(r"^\^\(?\[A-Z(?:a-z)?\]\{(\d)\}")
_CLOCK = r"^\d{2}:\d{2}$"
_KINDS = {"boolean": "flag", "array": "list", "integer": "number", "number": "number"}
Choices = Sequence[tuple[str, str]]


def read_number(text: str | None) -> int | None:
    """The number of a row; None for what cannot be one."""
    is_number = text is not None and text.isascii() and text.isdecimal() and len(text) <= MAX_NUMBER_DIGITS
    return int(text) if is_number and text else None


def read_page(member: Member) -> int:
    """The page of a list that the query names, else the first."""
    return read_number(member.data.query_value("page")) or 1


def write_value(value: Any) -> str:
    """A value as a field shows it: a whole amount without `.00`."""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return f"{value:.2f}".removesuffix(".00")
    return "" if value is None else str(value)


def mark_values(values: Mapping[str, str]) -> dict[str, str]:
    """The hidden fields for a form's initial values."""
    return {name: _mark(value) for name, value in values.items()}


def _mark(value: str) -> str:
    return value if len(value) <= _MAX_MARK and "\n" not in value else digest(value)[:32]


@dataclass(frozen=True)
class Field:
    """A page's words for one argument; the schema has its type, length, choices and whether it is required.

    `words` are those of its choices, where the values themselves do not say it; with `none` one may choose nothing.
    `section` is the heading over consecutive fields that share it; a `folded` section opens when pressed.
    """

    name: str
    label: str = ""
    help: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    none: str = ""
    type: str = ""  # of the input, where the schema knows none: email, tel, textarea
    rows: int = 3
    half: bool = False
    section: str = ""
    folded: bool = False
    only_new: bool = False  # cannot be changed later
    secret: bool = False  # what is stored is not shown


_AGAIN = Field("again", "Save it a second time")
_ALREADY_SAVED = "The same is already saved, so nothing was added. Tick the last box if you want it twice."


@dataclass(frozen=True)
class Input:
    """One field of the form: `kind` is text, number, flag, list or several."""

    field: Field
    kind: str
    type: str
    choices: Choices
    is_required: bool
    is_clearable: bool
    default: str
    attributes: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.field.name

    @property
    def label(self) -> str:
        return self.field.label or self.name.replace("_", " ").capitalize()

    def read(self, member: Member, before: str = "") -> str:
        """The field's value; several ticks as one text."""
        read = member.data.form_value
        if self.kind == "several" and not before:
            return ",".join(value for value, _ in self.choices if read(f"{self.name}_{value}"))
        return read(before + self.name).strip()

    def write(self, value: Any) -> str:
        """A stored value as the field shows it."""
        if isinstance(value, list):
            return ("," if self.kind == "several" else ", ").join(map(str, value))
        return write_value(value)

    def to_argument(self, text: str) -> Any:
        """The typed text as an argument; the tool itself reads numbers in any notation."""
        if self.kind == "flag":
            return bool(text)
        if self.kind in ("list", "several"):
            return [part for name in text.split(",") if (part := name.strip())]
        return text.upper() if "autocapitalize" in self.attributes else text


def build_input(field: Field, schema: Schema, *, is_required: bool, is_clearable: bool) -> Input:
    """Builds an argument's input from its schema. Without one the text is sent, and the tool judges it."""
    holds_objects = schema.get("items", {}).get("type") == "object"  # the page reads their lines itself
    kind, input_type, pattern = (
        "text" if holds_objects else _KINDS.get(schema.get("type", ""), "text"),
        field.type or "text",
        schema.get("pattern", ""),
    )
    values, length = schema.get("enum", ()), schema.get("maxLength", 0)
    attributes: dict[str, Any] = {"autocomplete": "off"}
    if kind == "list":
        values, length = schema["items"].get("enum", ()), _LIST_LENGTH
        kind = "several" if values else "list"
    elif kind == "number":
        length = len(f"{schema['maximum']:,}") if "maximum" in schema else _NUMBER_LENGTH
        attributes["inputmode"] = "numeric" if schema["type"] == "integer" else "decimal"
        length += 3 if schema["type"] == "number" and "maximum" in schema else 0  # cents
    elif schema.get("format") == "date":
        input_type = "date"
    elif pattern == _CLOCK:
        input_type = "time"
    elif code := _CODE.search(pattern):
        length, attributes["autocapitalize"] = int(code[1]), "characters"
    elif length >= _LONG_TEXT:
        input_type = "textarea"
    if set(values) <= field.words.keys():  # in the order of the page
        values = [word for word in field.words if not values or word in values]
    choices = [(str(v), field.words.get(str(v), str(v).replace("_", " ").capitalize())) for v in values]
    if choices and field.none:
        choices = [("", field.none), *choices]
    if length and not choices:
        attributes["maxlength"] = length
    has_default = "default" in schema and (kind != "text" or bool(values))
    input = Input(
        field,
        kind,
        input_type,
        choices,
        is_required or (kind == "number" and has_default),  # which a person cannot leave empty
        is_clearable,
        "",
        attributes,
    )
    return replace(input, default=input.write(schema["default"])) if has_default else input


class Form:
    """One view of a tool's form, to enter something new or change something stored."""

    def __init__(self, inputs: Iterable[Input], *, is_new: bool) -> None:
        self.is_new, self.is_repeat = is_new, False  # is_repeat: the same was saved before
        self.inputs = {input.name: input for input in inputs}

    def __iter__(self) -> Iterator[Input]:
        return iter(self.inputs.values())

    def offer(self, name: str, choices: Choices, chosen: str = "") -> None:
        """Sets the choices of a field. A value already chosen stays, although it is not offered."""
        if name in self.inputs:
            more = [(chosen, chosen)] if chosen and chosen not in dict(choices) else []
            self.inputs[name] = replace(self.inputs[name], choices=[*choices, *more])

    def begin(self, **values: str) -> dict[str, str]:
        """Fills the fields of something new."""
        return {input.name: values.get(input.name, "") or input.default for input in self}

    def read(self, member: Member) -> dict[str, str]:
        return {input.name: input.read(member) for input in self}

    def read_before(self, member: Member) -> dict[str, str]:
        """The values of the fields when the page was made."""
        return {input.name: input.read(member, BEFORE) for input in self}

    def write(self, row: Mapping[str, Any]) -> dict[str, str]:
        return {input.name: "" if input.field.secret else input.write(row.get(input.name)) for input in self}

    def list_filled(self, typed: Mapping[str, str]) -> dict[str, Any]:
        """The arguments of something new: everything typed."""
        return {name: self.inputs[name].to_argument(text) for name, text in typed.items() if text}

    def list_changes(self, typed: Mapping[str, str], before: Mapping[str, str]) -> dict[str, Any]:
        """The arguments that change something: what differs from the marks of the form's initial values.

        Emptied fields go into `clear` if the tool accepts them there, else they are sent as empty text.
        """
        changed = [name for name, text in typed.items() if _mark(text) != before.get(name, "")]
        cleared = [name for name in changed if not typed[name] and self.inputs[name].is_clearable]
        values = {name: self.inputs[name].to_argument(typed[name]) for name in changed if name not in cleared}
        return values | ({"clear": cleared} if cleared else {})

    def read_faults(self, answer: Answer) -> dict[str, str]:
        """The faults by field; other fields they mention have the form's names.

        A fault in one entry of a list is shown at the list.
        """
        faults: dict[str, str] = {}
        for at, text in read_faults(answer).items():
            for input in self:
                text = text.replace(input.name, f"“{input.label}”") if "_" in input.name else text
            faults.setdefault(re.split(r"[.\[]", at)[0], text)
        return faults

    @property
    def sections(self) -> list[tuple[Field, list[list[Input]]]]:
        """The fields by section, with those that share a row together."""
        drawn_inputs = [input for input in self if input.field is not _AGAIN or self.is_repeat]
        by_section = groupby(drawn_inputs, key=lambda input: input.field.section)
        parts = [list(part) for _, part in by_section]
        return [
            (part[0].field, [list(row) for _, row in groupby(part, key=lambda input: input.field.half)])
            for part in parts
        ]


@dataclass(frozen=True)
class ToolForm:
    """The fields of a form, the tool that stores something new, and the one that changes it."""

    fields: tuple[Field, ...]
    add: str
    change: str

    async def load(self, member: Member, *, is_new: bool) -> Form:
        """Loads only arguments of the tool in use: one it lacks cannot be changed."""
        assert member.tools is not None  # of a handler that is a coroutine function
        add, change = await gather(member.tools.schemas.read(self.add), member.tools.schemas.read(self.change))
        arguments, changeable = add.get("properties", {}), change.get("properties", {})
        clearable = changeable.get("clear", {}).get("items", {}).get("enum", ())
        fields = [
            each
            for each in (*self.fields, *([_AGAIN] if is_new and "again" in arguments else []))
            if is_new or not (each.only_new or (changeable and each.name not in changeable))
        ]
        required = add.get("required", ())
        return Form(
            [
                build_input(
                    each,
                    arguments.get(each.name, {}),
                    is_required=each.name in required,
                    is_clearable=each.name in clearable,
                )
                for each in fields
            ],
            is_new=is_new,
        )


def show_form(
    member: Member,
    form: Form,
    typed: Mapping[str, str],
    before: Mapping[str, str] | None = None,
    *,
    title: str,
    heading: str,
    back: tuple[str, str],
    template: str = "form.html",
    answer: Answer | None = None,
    faults: Mapping[str, str] | None = None,
    hidden: Mapping[str, Any] | None = None,
    **context: Any,
) -> Page:
    """The page of a form; `back` is where the person came from, `answer` the tool's refusal."""
    faults = faults or (form.read_faults(answer) if answer is not None else {})
    if answer is not None and answer.get("already_saved"):
        form.is_repeat, faults = True, {"": _ALREADY_SAVED}
    return member.show(
        template,
        422 if faults else 200,
        form=form,
        typed=typed,
        before=before or {},
        title=title,
        heading=heading,
        back=back,
        faults=faults,
        hidden=hidden or {},
        needs_plan=answer is not None and answer.status in ("paywall", "limit_reached"),
        **{"action": member.data.path, "button": "Save", "note": "", "delete": ""} | context,
    )
