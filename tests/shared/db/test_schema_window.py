"""The compatibility window: an older release on the tables of a newer one."""

import ast
import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command

from deploy.errors import user_message
from shared.db import health, schema, schema_version
from shared.db.schema_window import Step, find_oldest, read_window

NEXT = """
from alembic import op
import sqlalchemy as sa

revision = "next"
down_revision = "{head}"
runs_with = {runs_with!r}

def upgrade():
    op.add_column("accounts", sa.Column("shoe_size", sa.Integer(), nullable=True))
"""


@pytest.mark.parametrize(
    ("marks", "oldest"),
    [
        ((None,), "a"),
        ((None, "a"), "a"),
        ((None, "a", None), "c"),
        ((None, "a", "b"), "b"),
        ((None, None, "a"), "b"),  # the second step closed the window, the third cannot open it again
    ],
)
def test_the_oldest_release_that_runs_follows_the_marks_of_all_migrations(
    marks: tuple[str | None, ...], oldest: str
) -> None:
    assert find_oldest(Step(name, mark) for name, mark in zip("abc", marks, strict=False)) == oldest


def test_a_mark_that_names_no_earlier_migration_is_refused() -> None:
    with pytest.raises(ValueError, match="b runs with c"):
        find_oldest([Step("a", None), Step("b", "c")])


def apply_next_migration(url: str, folder: Path, runs_with: str | None) -> None:
    """As the next release would: its own migration next to all of ours."""
    folder.joinpath("next.py").write_text(NEXT.format(head=schema_version.revisions()[-1], runs_with=runs_with))
    config = schema._config(url)
    ours = Path(schema.__file__).parent / "migrations" / "versions"
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", f"{ours}:{folder}")
    command.upgrade(config, "head")


@pytest.fixture
def url(fresh_database: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    url = fresh_database.replace("postgresql:", "postgresql+psycopg:")
    monkeypatch.setattr(health, "settings", lambda: type("S", (), {"database_url": url, "data_mode": "sandbox"}))
    health._check_schema.cache_clear()
    yield url
    health._check_schema.cache_clear()


def test_this_release_stays_ready_on_the_next_schema_that_says_so(url: str, tmp_path: Path) -> None:
    apply_next_migration(url, tmp_path, runs_with=schema_version.revisions()[-1])
    assert schema_version.read_schema(url) == ("next", schema_version.revisions()[-1], schema_version.revisions()[-1])
    assert health.check_readiness().status == 200
    schema.upgrade(url)  # `award-travel up` of this release starts, and leaves the tables alone
    assert schema_version.versions(url)[0] == "next"


def test_a_next_schema_that_says_nothing_is_a_sentence_and_not_ready(url: str, tmp_path: Path) -> None:
    apply_next_migration(url, tmp_path, runs_with=None)
    readiness = health.check_readiness()
    assert (readiness.status, readiness.document["checks"]["schema"]) == (503, False)
    assert "start that release" in readiness.document["reason"]
    with pytest.raises(schema.SchemaError) as fault:
        schema.upgrade(url)
    sentence = user_message(fault.value) or ""
    assert "version next" in sentence
    assert "restore a backup" in sentence


def test_tables_without_a_note_are_taken_for_their_own_release_alone(url: str) -> None:
    newest = schema_version.revisions()[-1]
    with sa.create_engine(url, poolclass=sa.NullPool).begin() as connection:
        assert find_oldest(schema.list_steps()) == read_window(connection, newest)
        connection.exec_driver_sql("comment on table alembic_version is null")
    assert schema_version.read_schema(url) == (newest, newest, newest)


def test_the_marks_of_our_own_migrations_name_earlier_ones() -> None:
    assert find_oldest(schema.list_steps()) in schema_version.revisions()


def _takes_away(source: str) -> bool:
    """Whether a migration does something that programs of before may trip over; raw SQL is not read."""
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
        name = getattr(call.func, "attr", "")
        words = {word.arg: ast.unparse(word.value) for word in call.keywords}
        if name in ("drop_table", "drop_column", "rename_table") or "new_column_name" in words:
            return True
        if name == "alter_column" and words.get("nullable") == "False":
            return True
        if name == "add_column" and any(_must_be_filled(node) for node in ast.walk(call)):
            return True
    return False


def _must_be_filled(node: ast.AST) -> bool:
    words = {word.arg: ast.unparse(word.value) for word in getattr(node, "keywords", ())}
    return words.get("nullable") == "False" and "server_default" not in words


@pytest.mark.parametrize(
    ("step", "takes_away"),
    [
        ("op.drop_table('a')", True),
        ("op.drop_column('a', 'b')", True),
        ("op.alter_column('a', 'b', new_column_name='c')", True),
        ("op.alter_column('a', 'b', nullable=False)", True),
        ("op.add_column('a', sa.Column('b', sa.Text(), nullable=False))", True),
        ("op.add_column('a', sa.Column('b', sa.Text(), nullable=False, server_default=''))", False),
        ("op.add_column('a', sa.Column('b', sa.Text(), nullable=True))", False),
        ("op.create_table('a', sa.Column('b', sa.Text(), nullable=False))", False),
        ("op.create_index('a', 'b', ['c'])", False),
    ],
)
def test_a_migration_that_takes_something_away_is_known(step: str, takes_away: bool) -> None:
    assert _takes_away(step) is takes_away


def test_every_migration_after_the_first_release_says_which_release_still_runs_on_it() -> None:
    """`runs_with` names the tables of the release before; where it does not, or takes something away, the text has a
    second paragraph that says why: deploy/docs/upgrade.md."""
    scripts = schema.walk_scripts()
    for before, script in itertools.pairwise(scripts):
        mark = vars(script.module)["runs_with"]
        takes_away = _takes_away(Path(script.path).read_text(encoding="utf-8"))
        if mark != before.revision or takes_away:
            assert "\n\n" in script.longdoc.strip(), f"{script.revision} does not say what programs of before trip over"
    assert len(scripts) > 1


def test_names_of_the_migrations_begin_with_their_revisions() -> None:
    assert schema_version.revisions() == [script.revision for script in schema.walk_scripts()]


def test_readiness_loads_no_migrations(url: str) -> None:
    look = f"""
import sys
from types import SimpleNamespace
from shared.db import health
health.settings = lambda: SimpleNamespace(database_url={url!r}, data_mode="sandbox")
health._check_schema()
print([name for name in sys.modules if name.startswith("alembic")])
"""
    assert subprocess.run([sys.executable, "-c", look], check=True, text=True, capture_output=True).stdout == "[]\n"
