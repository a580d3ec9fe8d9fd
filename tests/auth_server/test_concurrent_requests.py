"""Many at once against the real database: one code gives tokens once, one refresh token has one successor."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select

from shared.db.base import transaction
from shared.db.oauth import Client, Consent, RefreshToken
from tests.auth_server.in_process_browser import Browser, back


def test_eight_redemptions_of_one_code_succeed_once_and_then_nothing_lives(ann: Browser) -> None:
    client_id = ann.register()
    for _ in range(3):
        codes = [ann.code(client_id)] * 8
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda code: ann.redeem(client_id, code), codes))
        assert sorted(a.status_code for a in answers) == [200] + [400] * 7
        assert {a.json()["error"] for a in answers if a.status_code == 400} == {"invalid_grant"}
        won = next(a.json() for a in answers if a.status_code == 200)
        assert not ann.alive(won["access_token"])
        assert ann.refresh(client_id, won["refresh_token"]).status_code == 400


def test_six_refreshes_of_one_token_converge_on_one_successor(ann: Browser) -> None:
    first = ann.tokens()
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: ann.refresh(first["client_id"], first["refresh_token"]), range(6)))
    assert [a.status_code for a in answers] == [200] * 6
    assert len({a.json()["refresh_token"] for a in answers}) == 1
    assert len({a.json()["access_token"] for a in answers}) == 6
    assert all(ann.alive(a.json()["access_token"]) for a in answers)
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(RefreshToken)) == 2


def test_late_programs_of_one_installation_do_not_end_its_line_while_another_refreshes(
    ann: Browser, later: Any
) -> None:
    """Whoever comes late is refused, whichever is first; the line ends only if it had gone on before one of them."""
    for _ in range(6):
        first = ann.tokens()
        client_id = first["client_id"]
        second = ann.refresh(client_id, first["refresh_token"]).json()
        later(timedelta(seconds=61))
        shown = [(client_id, tokens["refresh_token"]) for tokens in (first, first, second, first)]
        with ThreadPoolExecutor(4) as pool:
            late_1, late_2, fresh, late_3 = pool.map(lambda each: ann.refresh(*each), shown)
        assert [a.json().get("error") for a in (late_1, late_2, late_3)] == ["invalid_grant"] * 3
        assert fresh.status_code == 200  # the line cannot have ended before its successor was used
        assert ann.refresh(client_id, first["refresh_token"]).status_code == 400  # and now it has gone on
        assert not ann.alive(fresh.json()["access_token"])


def test_a_button_pressed_eight_times_allows_once(ann: Browser) -> None:
    ann.sign_in()
    for n in range(3):
        client_id = ann.register(client_name=f"Application {n}")
        page = ann.authorize(client_id)
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda page: ann.answer(page), [page] * 8))
        assert [a.status_code for a in answers] == [303] * 8
        assert len({back(a)["code"] for a in answers}) == 8
        assert ann.redeem(client_id, back(answers[-1])["code"]).status_code == 200
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(Consent)) == 3


def test_identical_registrations_at_once_make_one_client(ann: Browser) -> None:
    body = {"client_name": "Twice", "redirect_uris": ["http://localhost/cb"]}

    def register(_: int) -> Any:
        return ann.host.post("/oauth/register", json=body).json()["client_id"]

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(register, range(6)))) == 1
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(Client)) == 1


def test_wrong_passwords_by_the_dozen_do_not_hold_up_tokens(ann: Browser) -> None:
    first = ann.tokens()
    guessers = [Browser(ann.host, f"n{n}@example.test") for n in range(24)]
    with ThreadPoolExecutor(26) as pool:
        guesses = [pool.submit(g.sign_in, "wrong password") for g in guessers]
        answer = pool.submit(ann.refresh, first["client_id"], first["refresh_token"]).result()
        codes = {g.result().status_code for g in guesses}
    assert answer.status_code == 200
    assert codes <= {401, 429}


def test_browsers_of_one_application_do_not_share_cookies(ann: Browser) -> None:
    ann.sign_in()
    assert ann.cookie is not None
    assert len(ann.host.cookies) == 0
