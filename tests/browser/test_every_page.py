"""Every address that answers with a page, from the route tables of both servers: no rule of axe is broken."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import re
from pathlib import Path
from typing import Any

import pytest

from auth_server.accounts.accounts import create_account
from auth_server.accounts.forwarding_addresses import add_address
from auth_server.app import ROUTES
from auth_server.web import rendering
from auth_server.web.static_files import TEMPLATES
from auth_server.web.unit_of_work import UnitOfWork
from mcp_server.pages import (
    calendar_feed,
    connect_account,
    fact_reports,
    shared_documents,
    shared_trips,
    status,
    tool_reference,
)
from shared.db.base import transaction
from shared.http import sync_client
from tests.auth_server.in_process_browser import PASSWORD
from tests.auth_server.mailbox import Mails, link
from tests.browser.axe import list_violations
from tests.browser.test_pages import judged, signed_in
from tests.browser.test_security_pages import fill_account
from tests.mcp_server.rest.conftest import World, running, world  # noqa: F401 - fixtures
from tests.support.browser import Tab

pytestmark = [pytest.mark.axe, pytest.mark.slow]  # starts a browser

# Pages that only a form, a mail or another program leads to, and the test that looks at each.
ELSEWHERE = {
    "account_address_sent.html": "test_a_new_address_from_the_form_to_both_mailboxes",
    "agent_claim.html": "test_the_claim_of_an_agent_fits_and_can_be_read",
    "alert.html": "test_the_pages_of_watches_fit_and_can_be_read",
    "api_apps_paid.html": "test_pages_of_the_dashboard_fit_and_can_be_read",
    "api_apps_secret.html": "test_keys_applications_logo_and_deletion_work_with_a_browsers_own_forms",
    "application_refused.html": "test_the_consent_page_fits_and_can_be_read",
    "booking_delete.html": "test_bookings_and_trips_fit_and_can_be_read",
    "flight.html": "test_bookings_and_trips_fit_and_can_be_read",
    "itinerary_form.html": "test_bookings_and_trips_fit_and_can_be_read",
    "itinerary_remove.html": "test_bookings_and_trips_fit_and_can_be_read",
    "stay.html": "test_bookings_and_trips_fit_and_can_be_read",
    "trip.html": "test_bookings_and_trips_fit_and_can_be_read",
    "trip_delete.html": "test_bookings_and_trips_fit_and_can_be_read",
    "balance_delete.html": "test_balances_by_hand_fit_and_can_be_read",
    "card_credits.html": "test_cards_by_hand_fit_and_can_be_read",
    "card_delete.html": "test_cards_by_hand_fit_and_can_be_read",
    "client.html": "test_clients_by_hand_fit_and_can_be_read",
    "client_delete.html": "test_clients_by_hand_fit_and_can_be_read",
    "client_document_revoke.html": "test_clients_by_hand_fit_and_can_be_read",
    "clients_plan.html": "test_clients_by_hand_fit_and_can_be_read",
    "code.html": "test_the_codes_an_application_shows_to_be_copied",
    "confirm.html": "test_a_new_person_comes_from_an_application_signs_up_and_arrives_there",
    "confirm_address.html": "test_a_new_address_from_the_form_to_both_mailboxes",
    "confirm_forwarding.html": "test_the_page_that_confirms_a_forwarding_address",
    "connection_end.html": "test_integrations_by_hand_fit_and_can_be_read",
    "connection_synced.html": "test_integrations_by_hand_fit_and_can_be_read",
    "consent.html": "test_the_consent_page_fits_and_can_be_read",
    "inbox_address.html": "test_forwarded_mails_fit_and_can_be_read",
    "inbox_discard.html": "test_forwarded_mails_fit_and_can_be_read",
    "inbox_mail.html": "test_forwarded_mails_fit_and_can_be_read",
    "invitation.html": "test_an_invited_person_arrives_and_everybody_else_reads_why_not",
    "link_by_mail.html": "test_the_pages_on_the_way_fit_and_can_be_read",
    "link_identity.html": "test_the_pages_on_the_way_fit_and_can_be_read",
    "message_channel.html": "test_a_channel_is_proved_adjusted_and_removed_by_hand",
    "message_channel_delete.html": "test_a_channel_is_proved_adjusted_and_removed_by_hand",
    "message_channel_form.html": "test_a_channel_is_proved_adjusted_and_removed_by_hand",
    "not-me.html": "test_a_new_address_from_the_form_to_both_mailboxes",
    "notice_delete.html": "test_notices_fit_and_are_marked_and_deleted",
    "operate_action.html": "test_the_pages_of_the_trail_fit",
    "operate_ask.html": "test_the_pages_of_users_fit_and_act",
    "operate_facts.html": "test_the_pages_of_facts_fit_and_act",
    "operate_figures.html": "test_the_page_of_figures_fits",
    "operate_jobs.html": "test_the_pages_of_jobs_and_mail_fit_and_act",
    "operate_mail.html": "test_the_pages_of_jobs_and_mail_fit_and_act",
    "operate_providers.html": "test_the_pages_of_providers_fit_and_act",
    "operate_settings.html": "test_the_page_of_settings_fits",
    "operate_start.html": "test_the_pages_of_jobs_and_mail_fit_and_act",
    "operate_trail.html": "test_the_pages_of_the_trail_fit",
    "operate_user.html": "test_the_pages_of_users_fit_and_act",
    "operate_users.html": "test_the_pages_of_users_fit_and_act",
    "provider_problem.html": "test_the_pages_on_the_way_fit_and_can_be_read",
    "recovery_codes.html": "test_the_pages_of_sign_in_methods_fit_and_can_be_read",
    "reset.html": "test_a_new_password_by_mail_with_something_to_keep",
    "search_day.html": "test_from_a_month_to_a_day_to_a_watch",
    "search_waiting.html": "test_a_search_that_takes_long_is_waited_for_without_a_script",
    "route_watch.html": "test_the_pages_of_watches_fit_and_can_be_read",
    "second_factor.html": "test_the_pages_of_sign_in_methods_fit_and_can_be_read",
    "standing_order.html": "test_the_pages_of_watches_fit_and_can_be_read",
    "status_away.html": "test_the_page_of_states_without_the_tool_server",
    "sent.html": "test_a_new_person_comes_from_an_application_signs_up_and_arrives_there",
    "status_delete.html": "test_statuses_by_hand_fit_and_can_be_read",
    "unsubscribe.html": "test_pages_with_much_on_them_fit_and_can_be_read",
    "voucher_apply.html": "test_vouchers_by_hand_fit_and_can_be_read",
    "voucher_delete.html": "test_vouchers_by_hand_fit_and_can_be_read",
    "watch_pause.html": "test_pages_with_much_on_them_fit_and_can_be_read",
    "watch_stop.html": "test_the_pages_of_watches_fit_and_can_be_read",
}
TOOL_ROUTES = [
    r
    for room in (calendar_feed, connect_account, fact_reports, shared_documents, shared_trips, tool_reference)
    for r in room.routes()
] + status.StatusPage().routes()


def list_pages(base: str, cookie: str = "") -> list[str]:
    """The addresses of both servers that answer a browser with a page, with no one's names and tokens in them."""
    routes = [route for route in [*ROUTES, *TOOL_ROUTES] if "GET" in (route.methods or ())]
    paths = sorted(
        {
            re.sub(r"{\w+}", "acme", route.path)
            .replace("/integrations/acme", "/integrations/tripit")
            .replace("/tools/acme", "/tools/search")
            .replace("/connect/waiting", "/connect/waiting?look=0")  # which does not load itself again in the meantime
            for route in routes
        }
        | {"/mcp", "/mcp/x/nothing"}  # answered before any route
    )
    with sync_client(base) as client:
        answers = {path: client.get(path, headers={"cookie": cookie, "accept": "text/html"}) for path in paths}
    return [path for path, answer in answers.items() if "text/html" in answer.headers.get("content-type", "")]


def test_axe_refuses_what_is_wrong(tab: Tab) -> None:
    tab.go("data:text/html,<title>x</title><h1 style='color:silver;background:white'>Pale</h1><input><img src=x>")
    tab.wait("document.querySelector('h1')")
    found = " ".join(list_violations(tab))
    for rule in ("color-contrast", "label", "image-alt", "html-has-lang", "good practice"):
        assert rule in found


def test_every_page_of_both_servers(tab: Tab, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signed out, and signed in with much in the account."""
    names, environment = set[str](), rendering._environment()
    load = environment.get_template

    def record(name: str, *more: Any) -> Any:
        names.add(name)
        return load(name, *more)

    monkeypatch.setattr(environment, "get_template", record)
    seen = [fault for path in list_pages(world.url) for fault in judged(tab, world.url + path)]
    signed_in(tab, world.url, "pro")
    fill_account()
    cookies = tab._ask("Network.getCookies", urls=[world.url])["cookies"]
    inside = list_pages(world.url, "; ".join(f"{c['name']}={c['value']}" for c in cookies))
    assert {"/dashboard", "/dashboard/security", "/dashboard/sign-in-methods", fact_reports.PAGE_PATH} <= {*inside}
    seen += [fault for path in inside for fault in judged(tab, world.url + path)]
    assert seen == [], "\n".join(seen)
    parts = {
        name for page in TEMPLATES.glob("*.html") for name in re.findall(r'"(\w+\.html)"', page.read_text("utf-8"))
    }
    unseen = {page.name for page in TEMPLATES.glob("*.html")} - names - parts - set(ELSEWHERE)
    assert unseen == set(), "let a test of tests/browser look at this page, and name it above"


def test_the_page_that_confirms_a_forwarding_address(tab: Tab, places: tuple[str, str], mails: Mails) -> None:
    with transaction() as session:
        account = create_account(session, "ann@example.test", PASSWORD)
        add_address(UnitOfWork(session), account, f"{'w' * 64}@{'w' * 63}.test")
    assert judged(tab, places[0] + link(mails(1)[-1])) == []
    assert "to be filed in an account of Award Travel" in tab.text()


def test_each_test_named_here_exists() -> None:
    texts = "".join(file.read_text("utf-8") for file in Path(__file__).parent.glob("test_*.py"))
    assert [name for name in set(ELSEWHERE.values()) if f"def {name}(" not in texts] == []
