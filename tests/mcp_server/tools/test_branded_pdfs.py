"""Documents of advisors through the gate: made from search rows, in the brand, behind links that end."""

import io
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import anyio
import pytest
from PIL import Image
from pypdf import PdfReader
from sqlalchemy import select

from mcp_server.calls.dispatch import dispatch
from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.registry import TOOLS, Tier
from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.tools import branded_pdfs
from shared import clock
from shared.db.base import transaction, unscoped
from shared.db.clients import BrandedPdf
from shared.db.observations import FareObservation
from shared.db.profile import AdvisorLogo, Profile
from shared.documents import pictures
from shared.domain.dates import format_day
from shared.domain.plans import Plan
from shared.domain.short_ids import read_uuid
from shared.errors import Invalid
from shared.services.proposals.flight_rows import read_flights
from shared.settings import settings
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People, account
from tests.support.settings_and_clock import StandingClock

MAKE, LIST, REVOKE = "generate_branded_pdf", "list_branded_pdfs", "revoke_branded_pdf"
FLIGHT: dict[str, Any] = {
    "trip_id": "ours",
    "airline": "VS",
    "program": "flying-blue",
    "origin": "LHR",
    "destination": "JFK",
    "date": "2027-05-12",
    "cabin": "premium_economy",
    "points": 50_000,
    "taxes": 250.5,
    "taxes_currency": "USD",
    "seats": 2,
    "stops": 0,
    "flight_numbers": ["VS3"],
    "departs_at": "2027-05-12T08:15:00",
    "arrives_at": "2027-05-12T11:05:00",
    "bookable_with": [],
    "source": "sandbox",
    "mode": "sandbox",
    "synthetic": True,
    "provider_checked_at": "2026-11-20T10:00:00Z",
    "age_seconds": 5,
    "a_field_of_tomorrow": {"x": [1]},
}


def png(colour: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (60, 30), colour).save(out, "PNG")
    return out.getvalue()


def read_stored_pdf(pdf_id: str) -> bytes:
    with transaction() as session:
        return unscoped(session).scalars(select(BrandedPdf.content).where(BrandedPdf.id == read_uuid(pdf_id))).one()


def reader(made: dict[str, Any]) -> PdfReader:
    return PdfReader(io.BytesIO(read_stored_pdf(made["pdf"]["pdf_id"])), strict=True)


def words(made: dict[str, Any]) -> str:
    return " ".join(" ".join(p.extract_text() for p in reader(made).pages).split())


def keep_logo(who: Caller, content: bytes) -> None:
    with transaction(who.account_id) as session:
        session.add(AdvisorLogo(media_type="image/png", width=60, height=30, content=content))


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes | str], None]:
    """web(x): logo_url answers with these bytes, or fails with this reason."""

    def answering(what: bytes | str) -> None:
        async def fetch(url: str) -> bytes:
            if isinstance(what, str):
                raise pictures.NoPicture(what)
            return what

        monkeypatch.setattr(pictures, "fetch_picture", fetch)

    return answering


@pytest.mark.spec("s4.4.generate_branded_pdf.pro", "s4.4.generate_branded_pdf.public_url")
def test_generate_branded_pdf_gives_advisors_a_link_that_cannot_be_guessed(people: People, use: Use) -> None:
    first, second = (use(people.paula, MAKE, summary="Dear Ana") for _ in range(2))
    secret = first["url"].removeprefix(f"{settings().web_url}/shared/")
    assert len(secret) == 40
    assert int(secret, 16) > 0
    assert first["url"] != second["url"]
    assert first["url"] == first["pdf"]["url"]
    assert (first["pages"], first["warnings"], first["pdf"]["views"]) == (1, [], 0)
    with transaction() as session:
        rows = unscoped(session).scalars(select(BrandedPdf)).all()
        assert secret not in str([(r.nonce, r.key, r.token_hash) for r in rows])
    assert TOOLS[MAKE].tier is Tier.PRO
    assert use(people.alice, MAKE, summary="x")["required_tier"] == "pro"


@pytest.mark.spec("s4.4.generate_branded_pdf.title_default")
@pytest.mark.parametrize("arguments", [{"summary": "x"}, {"title": "  ", "summary": "x"}])
def test_generate_branded_pdf_has_a_title_of_its_own(people: People, use: Use, arguments: dict[str, Any]) -> None:
    answer = use(people.paula, MAKE, **arguments)
    assert answer["pdf"]["title"] == "Award Travel Recommendation"
    assert "Award Travel Recommendation" in words(answer)


def test_generate_branded_pdf_is_named_after_the_service(people: People, use: Use, configure: Any) -> None:
    configure(SERVICE_NAME="Horizon")
    titles = [
        use(people.paula, MAKE, summary="x", title=title)["pdf"]["title"]
        for title in (branded_pdfs.DEFAULT_TITLE, "Rome")
    ]
    assert titles == ["Horizon Recommendation", "Rome"]


@pytest.mark.parametrize("empty", [{}, {"title": "T"}, {"summary": " \n"}, {"summary": "🛫 \u200b"}, {"flights": []}])
def test_generate_branded_pdf_refuses_a_document_without_contents(
    people: People, use: Use, empty: dict[str, Any]
) -> None:
    answer = use(people.paula, MAKE, **empty)
    assert answer["status"] == "invalid"
    assert answer["message"] == (
        "Invalid: summary is empty, and there are no flights"
        " (expected a text for the client, or rows of a search in flights)."
    )
    assert [e["field"] for e in answer["errors"]] == ["summary"]
    assert use(people.paula, LIST)["paging"]["total"] == 0


@pytest.mark.spec("s4.4.generate_branded_pdf.flights")
def test_generate_branded_pdf_shows_rows_of_a_search_and_what_the_client_pays(people: People, use: Use) -> None:
    client = use(
        people.paula,
        "create_client_portfolio",
        client_name="Ana Ivanović",
        balances={"chase-ultimate-rewards": 120_000, "Village Miles": 5},
    )["portfolio"]["portfolio_id"]
    answer = use(people.paula, MAKE, flights=[FLIGHT], client_portfolio_id=client)
    told = words(answer)
    for text in ("Prepared for Ana Ivanović", "LHR 08:15", "JFK 11:05", "Wed 12 May 2027", "Virgin Atlantic"):
        assert text in told
    for text in ("Premium economy · nonstop · VS3", "50,000 points for one", "taxes per person 2 seats", "SANDBOX"):
        assert text in told
    assert "checked 20 Nov 2026 10:00 UTC" in told
    assert "50,000 Ultimate Rewards points become 50,000 Flying Blue miles." in told
    assert "Chase Ultimate Rewards: 1 point gives 1 mile; arrives at once." in told
    assert "by published valuations" in told
    assert answer["pdf"]["client_portfolio_id"] == client
    assert [p["pdf_id"] for p in use(people.paula, "get_client_portfolio", portfolio_id=client)["pdfs"]] == [
        answer["pdf"]["pdf_id"]
    ]


def test_generate_branded_pdf_shows_prices_for_each_and_for_the_family_and_the_day_of_arrival(
    people: People, use: Use
) -> None:
    night = FLIGHT | {"departs_at": "2027-05-12T22:10:00", "arrives_at": "2027-05-13T02:00:00"}
    family = night | {"per": "person", "party_points": 200_000, "party_taxes": 1_002}
    words_of_all = words(use(people.paula, MAKE, flights=[family]))
    for text in ("200,000 points for four", "50,000 each", "taxes each, $1,002 in all", "22:10", "02:00 +1"):
        assert text in words_of_all
    assert "for four Worth about" in words_of_all


@pytest.mark.parametrize(
    ("balances", "told"),
    [
        ({"flying-blue": 60_000}, "50,000 of the 60,000 points already with Flying Blue; no transfer is needed."),
        ({"chase-ultimate-rewards": 30_000, "flying-blue": 25_000}, "From several balances together:"),
        ({"chase-ultimate-rewards": 30_000}, "20,000 points stay missing even when every balance"),
        ({"southwest-rapid-rewards": 90_000}, "None of the balances known to us can become points of Flying Blue."),
        ({}, "None of the balances known to us can become points of Flying Blue."),
        ({"citi-thankyou-rewards": 120_000}, "72,000 ThankYou points become 50,400 Flying Blue miles."),
        (
            {"citi-thankyou-rewards": 120_000},
            "1 point gives 1 mile with Citi Strata Elite or Citi Strata Premier, 10 points give 7 miles",
        ),
    ],
)
def test_generate_branded_pdf_says_how_the_client_comes_by_the_points(
    people: People, use: Use, balances: dict[str, int], told: str
) -> None:
    client = use(people.paula, "create_client_portfolio", client_name="Ana", balances=balances)["portfolio"]
    answer = use(people.paula, MAKE, flights=[FLIGHT], client_portfolio_id=client["portfolio_id"])
    assert told in words(answer)


def test_generate_branded_pdf_without_a_client_names_the_banks_that_feed_a_programme(people: People, use: Use) -> None:
    told = words(use(people.paula, MAKE, flights=[FLIGHT]))
    assert "Points can be transferred in from" in told
    assert ", where 1 point gives 1 mile" in told
    assert "Transfer ratios:" in told


def test_generate_branded_pdf_names_its_sources_as_people_know_them(people: People, use: Use) -> None:
    sources = words(use(people.paula, MAKE, flights=[FLIGHT])).rpartition("Sources")[2]
    assert "The Points Guy" in sources
    assert "Valuations: One Mile at a Time (21 Mar 2026)" in sources
    assert "invented data" in sources
    assert "(Jan 2026)" in sources
    assert not re.search(r"github|https?:|sandbox\.|\w\.com", sources)


def test_generate_branded_pdf_says_that_a_way_is_dear(people: People, use: Use) -> None:
    for balances, is_dear in (({"marriott-bonvoy": 200_000}, True), ({"chase-ultimate-rewards": 200_000}, False)):
        client = use(people.paula, "create_client_portfolio", client_name="Ana", balances=balances, again=True)[
            "portfolio"
        ]
        answer = words(use(people.paula, MAKE, flights=[FLIGHT], client_portfolio_id=client["portfolio_id"]))
        assert ("This way is dear: the points sent are worth about" in answer) is is_dear
        step = "Marriott Bonvoy: 3 points give 1 mile; 5,000 more for each 60,000 sent at once; arrives in most cases"
        assert (step in answer) is is_dear


def test_generate_branded_pdf_shows_cash_beside_points(people: People, use: Use) -> None:
    family = FLIGHT | {"party_points": 100_000, "party_taxes": 501}
    sent = words(use(people.paula, MAKE, flights=[family | {"price": 1_840, "currency": "usd"}]))
    assert "or $1,840 in cash for two" in sent
    assert "in cash" not in words(use(people.paula, MAKE, flights=[family]))
    for price, day, passengers, city_wide in (
        (990, 3, 1, False),
        (920, 1, 1, False),
        (5, 1, 2, False),
        (6, 1, 1, True),
    ):
        keep_fare(price, clock.now() - timedelta(days=day), passengers=passengers, city_wide=city_wide)
    keep_fare(7, clock.now(), asker_id=people.alice.account_id)
    seen = words(use(people.paula, MAKE, flights=[family]))
    day = format_day(clock.today() - timedelta(days=1))
    assert f"or $920 in cash each, $1,840 in all, seen {day}" in seen
    assert "Cash prices next to points: invented data." in seen


def keep_fare(price: int, seen_at: datetime, **more: Any) -> None:
    terms = {
        "source": "sandbox",
        "origin": "LHR",
        "destination": "JFK",
        "date": date(2027, 5, 12),
        "cabin": "premium_economy",
        "passengers": 1,
        "currency": "USD",
        "carriers": ["VS"],
    }
    with transaction() as session:
        session.add(FareObservation(**terms | more, price=price, seen_at=seen_at))


def test_generate_branded_pdf_says_how_to_reach_the_advisor(people: People, use: Use) -> None:
    brand = {
        "contact": "Ana Reyes",
        "phone": "+44 20 7946 0000",
        "email": "ana@x.example",
        "web": "www.x.example/trips",
    }
    answer = use(people.paula, MAKE, summary="x", advisor_brand=brand)
    text = "Your advisor Ana Reyes Phone: +44 20 7946 0000 Email: ana@x.example Web: www.x.example/trips"
    assert text in words(answer)
    links = [a.get_object()["/A"]["/URI"] for a in reader(answer).pages[0]["/Annots"]]
    assert links == ["tel:+442079460000", "mailto:ana@x.example", "https://www.x.example/trips"]
    assert "Your advisor" not in words(use(people.paula, MAKE, summary="x"))


@pytest.mark.parametrize(
    ("profile", "brand", "size"),
    [
        ({}, {}, (595, 842)),
        ({"country": "US"}, {}, (612, 792)),
        ({"home_airport": "SFO"}, {}, (612, 792)),
        ({"country": "FR", "home_airport": "SFO"}, {}, (595, 842)),
        ({"country": "US"}, {"paper": "a4"}, (595, 842)),
        ({}, {"paper": "Letter"}, (612, 792)),
    ],
)
def test_generate_branded_pdf_fits_the_paper_of_the_country_or_the_brand(
    people: People, use: Use, profile: dict[str, str], brand: dict[str, str], size: tuple[int, int]
) -> None:
    if profile:
        with transaction(people.paula.account_id) as session:
            session.add(Profile(**profile))
    pages = reader(use(people.paula, MAKE, flights=[FLIGHT] * 30, advisor_brand=brand)).pages
    assert len(pages) > 1
    assert {(round(page.mediabox.width), round(page.mediabox.height)) for page in pages} == {size}


def test_generate_branded_pdf_takes_cash_fares_and_gaps(people: People, use: Use) -> None:
    fare = {"price": 412, "currency": "gbp", "carriers": ["BA"], "flight_numbers": ["BA117"], "departs_at": "08:15"}
    gaps = {"origin": "LHR", "destination": "JFK", "points": "no_data", "taxes": None, "program": "No one's Miles"}
    told = words(use(people.paula, MAKE, flights=[fare, gaps]))
    for text in ("412 GBP", "British Airways", "BA117", "price not known", "No one's Miles"):
        assert text in told


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"points": "many"}, "flights[1].points"),
        ({"points": -1}, "flights[1].points"),
        ({"points": True}, "flights[1].points"),
        ({"points": 10**12}, "flights[1].points"),
        ({"taxes": float("inf")}, "flights[1].taxes"),
        ({"taxes_currency": "dollars"}, "flights[1].taxes_currency"),
        ({"date": "2027-02-30"}, "flights[1].date"),
        ({"airline": "x" * 121}, "flights[1].airline"),
        ({"airline": {"code": "VS"}}, "flights[1].airline"),
        ({"flight_numbers": ["x"] * 13}, "flights[1].flight_numbers"),
        ({"provider_checked_at": "yesterday"}, "flights[1].provider_checked_at"),
        ({"origin": None, "airline": None, "flight_numbers": []}, "flights[1]"),
    ],
)
def test_generate_branded_pdf_names_the_row_that_is_wrong(
    people: People, use: Use, wrong: dict[str, Any], field: str
) -> None:
    answer = use(people.paula, MAKE, flights=[FLIGHT, FLIGHT | wrong])
    assert answer["status"] == "invalid"
    assert answer["errors"][0]["field"] == field
    assert use(people.paula, LIST)["paging"]["total"] == 0


@pytest.mark.parametrize("flights", [[FLIGHT] * 51, ["LHR-JFK"], "LHR-JFK", [[FLIGHT]]])
def test_generate_branded_pdf_takes_fifty_rows_and_rows_only(people: People, use: Use, flights: Any) -> None:
    assert use(people.paula, MAKE, flights=flights)["errors"][0]["field"].startswith("flights")


def test_generate_branded_pdf_of_old_rows_asks_to_search_again(people: People, use: Use) -> None:
    fresh = FLIGHT | {"provider_checked_at": clock.now().isoformat()}
    old = FLIGHT | {"provider_checked_at": (clock.now() - timedelta(days=3)).isoformat()}
    (told,) = use(people.paula, MAKE, flights=[fresh, old])["warnings"]
    assert told.endswith(": flights[1].")


@pytest.mark.spec("s4.4.generate_branded_pdf.brand")
def test_generate_branded_pdf_bears_the_brand(people: People, use: Use, web: Any) -> None:
    web(png("red"))
    brand = {
        "name": "Horizon",
        "tagline": "With care",
        "logo_url": "https://x.example/a.png",
        "accent_color": "#ff8800",
    }
    answer = use(people.paula, MAKE, summary="x", advisor_brand=brand)
    assert answer["warnings"] == []
    assert "Horizon With care" in words(answer)
    assert reader(answer).pages[0].images[0].image.convert("RGB").getpixel((5, 5)) == (255, 0, 0)
    assert b"1 0.5333 0 rg" in reader(answer).pages[0].get_contents().get_data()


def test_generate_branded_pdf_takes_the_uploaded_logo(people: People, use: Use) -> None:
    keep_logo(people.paula, png("blue"))
    keep_logo(people.alice, png("red"))
    answer = use(people.paula, MAKE, summary="x")
    assert reader(answer).pages[0].images[0].image.convert("RGB").getpixel((5, 5)) == (0, 0, 255)


@pytest.mark.parametrize("answered", ["its address could not be reached", b"<html>"])
def test_generate_branded_pdf_without_its_logo_is_made_and_says_so(
    people: People, use: Use, web: Any, answered: bytes | str
) -> None:
    web(answered)
    brand = {"logo_url": "https://x.example/a.png"}
    answer = use(people.paula, MAKE, summary="x", advisor_brand=brand)
    assert len(answer["warnings"]) == 1
    assert answer["warnings"][0].startswith("The logo at logo_url is left out: ")
    assert len(reader(answer).pages[0].images) == 0
    keep_logo(people.paula, png("blue"))
    answer = use(people.paula, MAKE, summary="x", advisor_brand=brand)
    assert answer["warnings"][1] == "The logo uploaded on the dashboard is used instead."
    assert len(reader(answer).pages[0].images) == 1


def test_generate_branded_pdf_decodes_no_logo_of_before_that_takes_minutes(people: People, use: Use) -> None:
    content = io.BytesIO()
    Image.new("L", (4000, 4000), 128).save(content, "JPEG", progressive=True)
    file = content.getvalue()
    keep_logo(people.paula, file[:-2] + file[file.rindex(b"\xff\xda") : -2] * 14_000 + file[-2:])
    answer = use(people.paula, MAKE, summary="x")
    assert answer["warnings"] == [
        "The uploaded logo is left out: it is drawn in more than 20 passes."
        " Upload another on the settings page of the dashboard."
    ]
    assert len(reader(answer).pages[0].images) == 0


@pytest.mark.parametrize("url", ["https://127.0.0.1/a.png", "https://localhost/a.png", "http://brand.example/a.png"])
def test_generate_branded_pdf_reaches_no_address_inside(people: People, use: Use, url: str) -> None:
    (told,) = use(people.paula, MAKE, summary="x", advisor_brand={"logo_url": url})["warnings"]
    assert told.startswith("The logo at logo_url is left out")


@pytest.mark.parametrize(
    ("brand", "field"),
    [
        ({"accent_color": "red"}, "advisor_brand.accent_color"),
        ({"accent_color": 7}, "advisor_brand.accent_color"),
        ({"name": "x" * 81}, "advisor_brand.name"),
        ({"colour": "#fff"}, "advisor_brand.colour"),
        ({"logo_url": ["https://x.example"]}, "advisor_brand.logo_url"),
        ({"phone": "call me"}, "advisor_brand.phone"),
        ({"email": "ana at x.example"}, "advisor_brand.email"),
        ({"email": "a@b.example?bcc=c@d.example"}, "advisor_brand.email"),
        ({"web": "javascript:alert(1)"}, "advisor_brand.web"),
        ({"web": "file:///etc/passwd"}, "advisor_brand.web"),
        ({"paper": "A5"}, "advisor_brand.paper"),
    ],
)
def test_generate_branded_pdf_refuses_a_brand_it_cannot_draw(
    people: People, use: Use, brand: dict[str, Any], field: str
) -> None:
    answer = use(people.paula, MAKE, advisor_brand=brand)
    assert answer["status"] == "invalid"
    assert answer["errors"][0]["field"] == field


def test_generate_branded_pdf_for_a_client_of_somebody_else_makes_nothing(people: People, use: Use) -> None:
    rival = account("rival", Plan.PRO)
    client = use(people.paula, "create_client_portfolio", client_name="Ana")["portfolio"]["portfolio_id"]
    assert use(rival, MAKE, summary="x", client_portfolio_id=client)["status"] == "not_found"
    assert use(rival, LIST, client_portfolio_id=client)["status"] == "not_found"
    assert use(rival, LIST)["paging"]["total"] == 0


def test_generate_branded_pdf_stops_at_the_most_links(
    people: People, use: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branded_pdfs, "MAX_LINKS", 1)
    first = use(people.paula, MAKE, summary="x")["pdf"]["pdf_id"]
    full = use(people.paula, MAKE, summary="x")
    assert (full["status"], full["limit"], full["cap"]) == ("limit_reached", "branded_pdfs", 1)
    use(people.paula, REVOKE, pdf_id=first)
    assert use(people.paula, MAKE, summary="x")["status"] == "ok"


def test_two_documents_at_once_do_not_pass_the_most_links(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branded_pdfs, "MAX_LINKS", 1)
    limiter.cache_clear()

    async def both() -> list[str]:
        got: list[str] = []

        async def one() -> None:
            got.append((await dispatch(MAKE, {"summary": "x"}, people.paula, "mcp")).status)

        async with anyio.create_task_group() as group:
            group.start_soon(one)
            group.start_soon(one)
        return sorted(got)

    assert anyio.run(both) == ["limit_reached", "ok"]


def test_generate_branded_pdf_holds_no_more_than_six_statements_with_everything(
    people: People, use: Use, queries: list[str]
) -> None:
    client = use(people.paula, "create_client_portfolio", client_name="Ana")["portfolio"]["portfolio_id"]
    keep_logo(people.paula, png("blue"))
    queries.clear()
    use(people.paula, MAKE, flights=[FLIGHT] * 50, client_portfolio_id=client)
    assert len(queries) <= 6, "\n".join(queries)


def test_list_branded_pdfs_shows_newest_first_and_revoked_ones_when_asked(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    client = use(people.paula, "create_client_portfolio", client_name="Ana")["portfolio"]["portfolio_id"]
    ids = []
    for title, more in (("One", {}), ("Two", {}), ("Three", {"client_portfolio_id": client})):
        standing_clock.advance(timedelta(minutes=1))
        ids.append(use(people.paula, MAKE, title=title, summary="x", **more)["pdf"]["pdf_id"])
    use(people.paula, REVOKE, pdf_id=ids[0])
    assert [p["title"] for p in use(people.paula, LIST)["pdfs"]] == ["Three", "Two"]
    assert [p["title"] for p in use(people.paula, LIST, include_revoked=True)["pdfs"]] == ["Three", "Two", "One"]
    assert [p["title"] for p in use(people.paula, LIST, client_portfolio_id=client)["pdfs"]] == ["Three"]
    assert [p["title"] for p in use(people.paula, LIST, page=2, per_page=1)["pdfs"]] == ["Two"]


def test_revoke_branded_pdf_closes_the_link_for_good_and_forgets_what_it_showed(people: People, use: Use) -> None:
    pdf = use(people.paula, MAKE, summary="x")["pdf"]
    first, again = (use(people.paula, REVOKE, pdf_id=pdf["pdf_id"])["pdf"] for _ in range(2))
    assert first["url"] is None
    assert first["revoked_at"] == again["revoked_at"] is not None
    assert read_stored_pdf(pdf["pdf_id"]) == b""
    for nobodys in ("00000000-0000-4000-8000-000000000000", "nonsense", "", "1"):
        assert use(people.paula, REVOKE, pdf_id=nobodys)["status"] == "not_found"


def test_links_end_after_the_days_of_the_settings_and_then_hold_nothing(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    pdf = use(people.paula, MAKE, summary="x")["pdf"]
    assert pdf["expires_at"][:10] == (clock.today() + timedelta(days=settings().pdf_link_days)).isoformat()
    later = clock.now() + timedelta(days=settings().pdf_link_days, seconds=5)
    standing_clock.set(later)
    assert use(people.paula, LIST)["pdfs"][0]["url"] is None
    use(people.paula, MAKE, summary="y")
    assert read_stored_pdf(pdf["pdf_id"]) == b""


def test_real_documents_take_no_invented_rows() -> None:
    with pytest.raises(Invalid) as no:
        read_flights([FLIGHT | {"mode": "live"}], sandbox=False)
    assert no.value.facts["errors"][0]["field"] == "flights[0].mode"
    real = FLIGHT | {"mode": "live", "synthetic": False}
    assert len(read_flights([real], sandbox=False)) == 1
