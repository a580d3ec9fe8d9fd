"""The parts of pages that repeat: a field points at its fault, a table names its cells, and all of it is escaped."""

from auth_server.web.rendering import _environment


def render(source: str) -> str:
    return " ".join(_environment().from_string('{% import "parts.html" as parts %}' + source).render().split())


def test_a_field_with_a_fault_points_at_it_and_keeps_what_was_typed() -> None:
    page = render('{{ parts.field("name", "Name", "<b>", "Too <long>.", "Help.", maxlength=9, required=true) }}')
    assert '<label for="name">Name</label>' in page
    assert 'value="&lt;b&gt;" aria-describedby="name-help name-fault" aria-invalid="true"' in page
    assert ' maxlength="9" required>' in page
    assert '<p class="fault" id="name-fault" role="alert">Too &lt;long&gt;.</p>' in page
    assert '<p class="small" id="name-help">Help.</p>' in page


def test_a_field_without_a_fault_points_at_nothing() -> None:
    page = render('{{ parts.field("name", "Name", required=false) }}')
    assert 'name="name" type="text" value="">' in page
    assert "aria-" not in page


def test_a_password_is_never_sent_back() -> None:
    assert "secret" not in render('{{ parts.field("password", "Password", "secret", "Wrong.", type="password") }}')


def test_what_was_typed_on_lines_is_kept_whole() -> None:
    page = _environment().from_string(
        '{% import "parts.html" as parts %}{{ parts.field("uris", "URIs", "\\nb", type="textarea") }}'
    )
    assert ">\n\nb</textarea>" in page.render()  # a parser drops the first line break


def test_a_choice_keeps_what_was_chosen() -> None:
    page = render('{{ parts.choice("card", "Card", [("1", "One"), ("2", "Two")], "2", "Not yours.") }}')
    assert '<option value="1">One</option> <option value="2" selected>Two</option>' in page
    assert 'aria-describedby="card-fault" aria-invalid="true"' in page


def test_a_table_names_each_cell_and_its_row() -> None:
    page = render('{{ parts.table([("Program", ""), ("Points", "num")], [["ANA", "<1>"]], "Balances") }}')
    assert '<caption class="vh">Balances</caption>' in page
    assert '<th role="rowheader" scope="row" class="w">ANA</th>' in page
    assert '<td role="cell" data-h="Points" class="num">&lt;1&gt;</td>' in page


def test_a_link_that_asks_carries_what_it_asks_about() -> None:
    page = render('{{ parts.ask("/keys/revoke", "Revoke", {"key_id": "a&b"}, "Revoke laptop") }}')
    assert page == '<a class="button" href="/keys/revoke?key_id=a%26b" aria-label="Revoke laptop">Revoke…</a>'


def test_a_meter_stays_within_its_bar() -> None:
    assert ['width="100"' in render("{{ parts.meter(150) }}"), 'width="0"' in render("{{ parts.meter(-1) }}")] == [
        True,
        True,
    ]


def test_a_button_that_asks_shows_its_question_before_the_one_that_acts() -> None:
    source = '{{ parts.sure(csrf, "/keys/revoke", "Revoke", "It stops <at once>.", {"key_id": 7}, "laptop") }}'
    template = _environment().from_string('{% import "parts.html" as parts %}' + source)
    page = " ".join(template.render(csrf=lambda path: f"token of {path}").split())
    assert page.startswith('<details class="sure"> <summary>Revoke<span class="vh"> laptop</span>…</summary>')
    assert "<p>It stops &lt;at once&gt;.</p>" in page
    assert 'value="token of /keys/revoke"' in page
    assert 'name="key_id" value="7"' in page
    assert '<button type="submit" class="danger" aria-label="Revoke laptop">Revoke</button>' in page
