"""The running programs in live mode, as a person uses them: TripIt, the FAA, FlightAware and Twilio on loopback."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from tests.e2e.test_connections import call, sign_in
from tests.mcp_server.tools.test_connections_tripit import air, page, travel_day
from tests.shared.providers.fakes import SECRET, fakes
from tests.shared.providers.fakes.server import World as Sources
from tests.shared.providers.fakes.server import fake_world
from tests.support.fake_accounts import Outside, came_back, serving
from tests.support.fake_sms import Carrier, carrier
from tests.support.oauth_browser import tokens
from tests.support.service import PASSWORD, Service, folder_for_homes, start, stop, wait_for

__all__ = ["fake_world", "serving"]
SENDERS = {"TWILIO_SMS_FROM": "+15005550006", "TWILIO_WHATSAPP_FROM": "+14155550199"}
ACCOUNT = "AC" + "0" * 32


@dataclass
class Live:
    service: Service
    outside: Outside
    sources: Sources
    phones: Carrier
    email: str
    got: dict[str, Any]

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        return call(self.service, self.got, name, **arguments)


@pytest.fixture(scope="module")
def live(serving: tuple[Outside, str], fake_world: Sources) -> Iterator[Live]:
    """A second service: what it may ask is set when it starts."""
    outside, base = serving
    outside.__dict__.update(Outside(base=base).__dict__)
    for name in ("faa_nas", "flightaware"):
        fake_world.serving[name] = next(f for f in fakes() if f.provider == name)
    with folder_for_homes() as folder, carrier() as phones:
        told = {
            "AWARD_BACKEND": "live",
            "SEATS_AERO_API_KEY": SECRET,
            "FAA_NAS_BASE_URL": fake_world.address("faa_nas"),
            "FLIGHTAWARE_BASE_URL": fake_world.address("flightaware"),
            "FLIGHTAWARE_API_KEY": SECRET,
            "TRIPIT_BASE_URL": f"{base}/tripit",
            "TRIPIT_WEB_URL": f"{base}/tripitweb",
            "TRIPIT_CONSUMER_KEY": "our-client",
            "TRIPIT_CONSUMER_SECRET": "secret-of-our-client",
            "TWILIO_BASE_URL": phones.address,
            "TWILIO_ACCOUNT_SID": ACCOUNT,
            "TWILIO_AUTH_TOKEN": "token-of-twilio",
            "TWILIO_WHATSAPP_CONTENT_SID": "HX1",
            "DELAY_CHECK_INTERVAL_SECONDS": "1",
            **SENDERS,
        }
        service = start(folder, **told)
        email = service.person("live", "premium")
        yield Live(service, outside, fake_world, phones, email, tokens(service.mcp_url, email, PASSWORD))
        stop(service)


def test_tripit_is_connected_through_the_pages_and_its_trips_become_bookings(live: Live) -> None:
    live.outside.trips = [page(AirObject=air())]
    url = live.call("connect_integration", provider="tripit")["authorize_url"]
    link = dict(parse_qsl(urlsplit(url).query))["link"]
    with httpx.Client(base_url=live.service.web_url, trust_env=False) as browser:
        signed_in = sign_in(browser, live.email, browser.get(browser.get(url).headers["location"]))
        assert "Connect TripIt" in browser.get(signed_in.headers["location"]).text
        sent, origin = {"link": link, "way": "page"}, {"Origin": live.service.web_url}
        away = browser.post("/integrations/tripit/connect", data=sent, headers=origin).headers["location"]
        assert away.startswith(f"{live.outside.base}/tripitweb/oauth/authorize?")
        back = urlsplit(came_back(away, "tripit"))
        assert "is connected" in browser.get(f"{back.path}?{back.query}").text
    assert live.call("sync_integration", provider="tripit")["pulled"]["bookings"] == 1
    (flight,) = live.call("list_flight_bookings")["bookings"]
    assert (flight["flight_number"], flight["departure_date"]) == ("VS4", travel_day().isoformat())
    assert live.call("disconnect_integration", provider="tripit")["status"] == "ok"


def posted(live: Live, to: str) -> list[dict[str, str]]:
    return [message for message in live.phones.posted if message["To"] == to]


def prove(live: Live, number: str) -> None:
    """As its owner does: the code of the text message is entered on the page of the settings."""
    page = "/dashboard/settings/phones"

    def submit(action: str, **fields: str) -> httpx.Response:
        form = re.search(rf'action="{action}".*?name="csrf" value="([^"]*)"', browser.get(page).text, re.DOTALL)
        assert form is not None, action
        return browser.post(action, data={"csrf": form[1]} | fields, headers={"Origin": live.service.web_url})

    with httpx.Client(base_url=live.service.web_url, trust_env=False) as browser:
        sign_in(browser, live.email, browser.get(browser.get(page).headers["location"]))
        submit(page, number=number, channel="sms")
        (message,) = wait_for("a code", lambda: posted(live, number))
        code = re.match(r"\d{6}", message["Body"])
        phone_id = re.search(r'/prove".*?name="phone_id" value="(\d+)"', browser.get(page).text, re.DOTALL)
        assert code is not None, message
        assert phone_id is not None
        assert submit(f"{page}/prove", phone_id=phone_id[1], code=code[0]).headers["location"].endswith("phone_added")


def test_delays_abroad_reach_a_phone_through_flightaware_and_twilio(live: Live) -> None:
    terms = {"airport": "LHR", "channels": ["sms"], "phone_number": "+14155550100", "min_delay_minutes": 30}
    prove(live, "+14155550100")
    made = live.call("create_delay_alert", **terms)
    assert (made["status"], made["alert"]["phone_number"]) == ("ok", "100"), made
    _, message = wait_for("a message", lambda: len(posted(live, "+14155550100")) > 1 and posted(live, "+14155550100"))
    assert message["From"] == SENDERS["TWILIO_SMS_FROM"]
    assert re.search(r"LHR.*45 min", message["Body"], re.DOTALL)
    assert "SANDBOX" not in message["Body"]
    assert live.phones.paths[0] == f"/2010-04-01/Accounts/{ACCOUNT}/Messages.json"
    asked = [a for a in live.sources.asked if a.provider == "flightaware"]
    assert {(a.path, a.headers["x-apikey"]) for a in asked} == {("/airports/EGLL/delays", SECRET)}
    told = live.call("list_notifications")["notifications"]
    assert [n for n in told if n["kind"] == "delay_alert" and "LHR" in n["title"]]


def test_delays_at_home_come_from_the_faa_by_mail_and_whatsapp(live: Live) -> None:
    terms = {"airport": "BOS", "channels": ["email", "whatsapp"], "phone_number": "+447700900456"}
    prove(live, "+447700900456")
    assert live.call("create_delay_alert", **terms)["status"] == "ok"
    (message,) = wait_for("a message", lambda: posted(live, "whatsapp:+447700900456"))
    assert (message["From"], message["ContentSid"]) == (f"whatsapp:{SENDERS['TWILIO_WHATSAPP_FROM']}", "HX1")
    assert '"BOS"' in message["ContentVariables"]
    outbox = Path(live.service.facts["outbox_dir"])

    def mailed() -> list[str]:
        mails = [message_from_bytes(f.read_bytes()) for f in outbox.glob("*.eml")]
        return [str(m["Subject"]) for m in mails if m["To"] == live.email]

    (subject,) = wait_for("a mail", lambda: [s for s in mailed() if "BOS" in s])
    assert "SANDBOX" not in subject
    assert not [a for a in live.sources.asked if a.provider == "flightaware" and "BOS" in a.path]
