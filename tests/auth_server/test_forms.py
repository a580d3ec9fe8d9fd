"""Forms drawn and read by the JSON Schema of a tool's arguments, and what they send of what was typed."""

from typing import Any

from auth_server.pages.forms import Field, Form, build_input, mark_values
from auth_server.pages.tool_calls import Answer
from auth_server.web.rendering import _environment

PROPERTIES: dict[str, dict[str, Any]] = {
    "origin": {"pattern": "^[A-Z]{3}$", "type": "string"},
    "leaves_on": {"format": "date", "type": "string"},
    "leaves_at": {"pattern": r"^\d{2}:\d{2}$", "type": "string"},
    "cabin": {"enum": ["premium_economy", "first"], "type": "string"},
    "passengers": {"default": 1, "maximum": 9, "minimum": 1, "type": "integer"},
    "taxes": {"minimum": 0, "type": "number"},
    "weekdays": {"items": {"enum": ["mon", "tue"], "type": "string"}, "type": "array"},
    "airlines": {"items": {"type": "string"}, "type": "array"},
    "nonstop_only": {"default": False, "type": "boolean"},
    "label": {"maxLength": 80, "type": "string"},
    "notes": {"maxLength": 2000, "type": "string"},
}


def build(*, clearable: tuple[str, ...] = (), required: tuple[str, ...] = (), **fields: Any) -> Form:
    return Form(
        [
            build_input(
                Field(name, **fields.get(name, {})),
                schema,
                is_required=name in required,
                is_clearable=name in clearable,
            )
            for name, schema in PROPERTIES.items()
        ],
        is_new=True,
    )


def test_the_schema_says_type_length_and_choices() -> None:
    inputs = build().inputs
    types = {name: inputs[name].type for name in ("origin", "leaves_on", "leaves_at", "label", "notes")}
    assert types == {
        "origin": "text", "leaves_on": "date", "leaves_at": "time", "label": "text", "notes": "textarea"}  # fmt: skip
    lengths = [inputs[name].attributes.get("maxlength") for name in ("origin", "leaves_on", "passengers", "label")]
    assert lengths == [3, None, 1, 80]
    assert inputs["cabin"].choices == [("premium_economy", "Premium economy"), ("first", "First")]
    assert [inputs[name].attributes["inputmode"] for name in ("passengers", "taxes")] == ["numeric", "decimal"]
    kinds = [inputs[name].kind for name in ("passengers", "weekdays", "airlines", "nonstop_only")]
    assert kinds == ["number", "several", "list", "flag"]


def test_what_has_a_default_begins_with_it_and_cannot_be_left_empty() -> None:
    form = build(required=("origin",))
    assert form.begin(label="Work") == dict.fromkeys(PROPERTIES, "") | {"passengers": "1", "label": "Work"}
    assert [name for name, input in form.inputs.items() if input.is_required] == ["origin", "passengers"]


def test_what_was_typed_is_sent_as_the_tool_takes_it() -> None:
    typed = {"origin": "lhr", "taxes": "1,140.50", "weekdays": "mon,tue", "airlines": "BA, Virgin", "passengers": "2"}
    assert build().list_filled(typed | {"nonstop_only": "yes", "label": ""}) == {
        "origin": "LHR",
        "taxes": "1,140.50",
        "weekdays": ["mon", "tue"],
        "airlines": ["BA", "Virgin"],
        "passengers": "2",
        "nonstop_only": True,
    }


def test_what_did_not_change_is_not_sent_and_what_is_emptied_is_cleared() -> None:
    form = build(clearable=("notes", "cabin"))
    row = {"label": "Work", "notes": "One\nTwo", "cabin": "first", "taxes": 12.0, "nonstop_only": True}
    stored = form.write(row)
    assert stored["taxes"] == "12"
    before = mark_values(stored)
    assert before["notes"] != stored["notes"]  # a digest, so that a form is not sent twice as long
    assert form.list_changes(stored, before) == {}
    typed = stored | {"notes": "", "label": "", "nonstop_only": ""}
    assert form.list_changes(typed, before) == {"label": "", "nonstop_only": False, "clear": ["notes"]}


def test_a_fault_of_an_entry_stands_at_its_list_and_names_other_fields_as_the_form_does() -> None:
    form = build(leaves_on={"label": "First day"})
    errors = [
        {"field": "airlines[1]", "problem": "is no airline", "expected": "a name"},
        {"field": "label", "problem": "is before leaves_on", "expected": "a later day"},
    ]
    assert form.read_faults(Answer(status="invalid_request", errors=errors)) == {
        "airlines": "This is no airline. Expected: a name.",
        "label": "This is before “First day”. Expected: a later day.",
    }


def test_without_a_schema_there_are_plain_fields_that_keep_what_was_typed() -> None:
    form = Form([build_input(Field("balance"), {}, is_required=False, is_clearable=False)], is_new=True)
    assert form.list_filled({"balance": "62,340"}) == {"balance": "62,340"}
    source = '{% import "form_parts.html" as parts %}{{ parts.draw_form(csrf, "/to", form, typed, {}, {}) }}'
    page = _environment().from_string(source).render(csrf=lambda path: path, form=form, typed={"balance": "<b>"})
    assert '<input id="balance" name="balance" type="text" value="&lt;b&gt;" autocomplete="off">' in page


def test_a_form_points_from_each_field_at_its_fault_and_opens_what_holds_one() -> None:
    form = build(
        notes={"section": "More", "folded": True}, cabin={"none": "Any cabin", "half": True}, required=("cabin",)
    )
    source = '{% import "form_parts.html" as parts %}{{ parts.draw_form(csrf, "/to", form, typed, faults, before) }}'
    typed, faults = form.begin() | {"weekdays": "tue"}, {"cabin": "Choose one.", "notes": "Too long."}
    template = _environment().from_string(source)
    page = template.render(csrf=lambda path: path, form=form, typed=typed, faults=faults, before={"label": "Work"})
    assert '<input type="hidden" name="was_label" value="Work">' in page
    assert '<select id="cabin" name="cabin" aria-describedby="cabin-fault" aria-invalid="true" required>' in page
    assert 'name="weekdays_tue" value="yes" checked' in page
    assert "<details open><summary>More</summary>" in page
