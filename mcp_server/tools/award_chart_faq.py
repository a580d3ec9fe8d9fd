"""The usual questions about a programme's award chart, answered from reviewed facts."""

from collections.abc import Iterator, Sequence
from typing import Any

from mcp_server.toolkit import Call, Effect, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import LooseName
from mcp_server.toolkit.provenance import Audited, Verified, describe_audited, describe_verified
from mcp_server.views.award_charts import Scope, describe_categories, describe_values, find_chart_gap
from mcp_server.views.program_rules import TOPICS, Rule, describe_example, list_rule_rows, list_rules
from shared.domain.award_charts import Chart
from shared.domain.plurals import pluralize
from shared.reference.ages import describe_left_out
from shared.reference.hotel_awards import list_point_values, list_prices
from shared.reference.rows.earning import StatusEarningRule
from shared.reference.rows.programmes import Program

# How flights, cards and awards count for status and points, in sentences by programme.

# The question each kind of rule answers; the facts have no other kinds (a test checks).
STATUS_QUESTIONS = {
    "avios_per_currency": "How many Avios do tickets earn?",
    "basic_economy_earning": "Does basic economy earn?",
    "bonus_per_segment": "Which extra points does each flight count towards status?",
    "card_spend": "Does card spending count towards status?",
    "earning_track": "Which ways of earning can be chosen?",
    "elite_bonus": "How much more do elite members earn?",
    "elite_points_per_currency": "What do tickets count towards status?",
    "extra_elite_points_on_ba": "Which extra points do British Airways flights count towards status?",
    "loyalty_points_per_mile": "Which miles count towards status?",
    "miles_per_currency": "How many miles do tickets earn?",
    "milestone_bonus": "Which bonuses come on the way to the next tier?",
    "partner_formula": "What do flights of partners earn?",
    "points_per_flight": "What do flights count towards status?",
    "revenue": "What do tickets count towards status?",
    "status_credits_per_currency": "What do tickets count towards status?",
    "status_points_on_awards": "Do award flights count towards status?",
    "tier_points_on_holidays": "Do package holidays count towards status?",
}
_TRUST = ("missing", "low", "medium", "high")


def explain_status_rules(call: Call, program: str) -> Iterator[tuple[str, str, StatusEarningRule]]:
    """Question, answer and the row to cite: the least certain of its kind."""
    facts: Sequence[StatusEarningRule] = call.reference.fresh_rows("status_earning_rules.csv", call.today)
    for rule, question in STATUS_QUESTIONS.items():
        rows = [r for r in facts if (r.program, r.rule) == (program, rule)]
        if rows:
            answer = "; ".join(_describe_rule(r) for r in rows)
            yield question, f"{answer}.", min(rows, key=lambda r: (_TRUST.index(r.confidence), r.as_of or ""))


def _describe_rule(row: StatusEarningRule) -> str:
    """`Gold: 7 miles per EUR`, or `long-haul, business: 400 extra tier points`."""
    cabin = None if row.cabin == "any" else row.cabin
    of = ", ".join(word for word in (row.key, cabin) if word)
    value = f"{row.value} {row.unit}".strip()
    return f"{of}: {value}" if of else value


RULE_QUESTIONS = {
    "expiry": "When do points expire?",
    "holds": "Can an award seat be held?",
    "waitlist": "Are there waitlists for awards?",
    "stopovers": "Are stopovers and open jaws allowed?",
    "pooling": "Can balances be pooled?",
    "changes": "What do changes and cancellations cost?",
    "mixed_cabin": "Can cabins be mixed?",
    "infants": "What do infants and children pay?",
    "gifting": "Can points be given away, or used for others?",
}
# Questions about facts that RULE_QUESTIONS does not cover.
FACT_QUESTIONS = {
    "booking_fee": "Is there a booking fee?",
    "chart": "Which flights have a chart?",
    "connections": "How are connections priced?",
    "distance_rule": "Which distance counts?",
    "issue_fee": "Is there a fee to issue an award?",
    "one_way": "Are one-way awards possible?",
    "partner_end": "Do any partner awards end?",
    "partner_pricing": "How are partner flights priced?",
    "partner_release": "When do partners get award seats?",
    "pricing": "How are flights priced?",
    "rent_day": "When is Rent Day?",
    "segments": "How many flights may an award have?",
}
KIND_WORDS = {
    "distance_bands": "by distance",
    "zones": "by zones",
    "zones_then_distance": "by zones, and by distance where no zones are listed",
    "distance_then_zones": "by distance on short routes, else by zones",
    "domestic_fixed": "at fixed domestic prices",
    "dynamic": "dynamically, without a chart",
}
SCOPE_WORDS = {"own": " of own flights"}  # else of partner flights
BASIS_WORDS = {"segment": "Each flight is priced on its own.", "itinerary": "The whole itinerary has one price."}


class FaqEntry(Verified):
    question: str
    answer: str


class CheapestAward(Part):
    route_or_band: str
    cabin: str
    points: int
    chart_id: str


class ChartFaq(Result, Audited):
    program: str
    entries: list[FaqEntry]
    cheapest_award: CheapestAward | None
    sweet_spots: list[str]


def _to_entry(question: str, answer: str, fact: Any) -> FaqEntry:
    return FaqEntry(question=question, answer=answer, **describe_verified(fact))


def _find_charts(call: Call, program: Program) -> list[Chart]:
    charts = call.reference.charts(program.slug, call.today)
    return sorted((c for c in charts if c.kind != "not_captured"), key=lambda c: (c.scope != "own", c.overrides))


def _explain_pricing(call: Call, program: Program, charts: list[Chart]) -> Iterator[FaqEntry]:
    own = [c for c in charts if c.scope == "own"]
    partner = [c for c in charts if c.scope != "own"]
    scopes: tuple[tuple[Scope, list[Chart]], ...] = (("own", own), ("partner", partner))
    for scope, charts_of_kind in scopes:
        words = f"{scope} flights"
        if charts_of_kind:
            kinds = list(dict.fromkeys(KIND_WORDS[c.kind] for c in charts_of_kind))
            yield _to_entry(f"How are {words} priced?", f"{'; '.join(kinds).capitalize()}.", charts_of_kind[0])
        elif gap := find_chart_gap(call.reference, program.slug, scope):
            yield _to_entry(f"How are {words} priced?", gap.reason, gap)
    if charts:
        basis = {r.chart_id: r.pricing_basis for r in call.reference.rows("award_charts.csv")}
        bases = dict.fromkeys(BASIS_WORDS[basis[c.chart_id]] for c in charts[:1] if basis[c.chart_id] in BASIS_WORDS)
        if bases:
            yield _to_entry("Is each flight priced, or the whole journey?", " ".join(bases), charts[0])
    if charts and not all(c.dynamic for c in charts):
        seasonal = next((c for c in charts if _find_seasons(c) - {"standard", "lowest"}), None)
        answer = "Yes, but no calendar of peak days was found." if seasonal else "No: one price the whole year."
        yield _to_entry("Are there peak and off-peak prices?", answer, seasonal or charts[0])


def _find_seasons(chart: Chart) -> set[str]:
    bands = {band.season for bands_of_cabin in chart.bands.values() for band in bands_of_cabin}
    return bands | {season for pairs in chart.zones.values() for points in pairs.values() for season in points}


def _explain_rules(rules: list[Rule]) -> Iterator[FaqEntry]:
    for rule in rules:
        if question := RULE_QUESTIONS.get(rule.topic):
            source_fields = rule.model_dump(include=set(Verified.model_fields))
            yield FaqEntry(question=question, answer=rule.summary, **source_fields)


def _explain_facts(call: Call, program: Program) -> Iterator[FaqEntry]:
    for row in call.reference.fresh_rows("program_facts.csv", call.today):
        if row.program == program.slug and (question := FACT_QUESTIONS.get(row.topic)):
            yield _to_entry(question, row.answer, row)
    for code in program.iata:
        if window := call.reference.release_window(code):
            answer = f"{window.days_before_departure} days before departure."
            yield _to_entry(f"When does {code} open award seats?", answer, window)


def _explain_nights(call: Call, program: Program) -> Iterator[FaqEntry]:
    for row in call.reference.rows("hotel_programmes.csv"):
        if row.program == program.slug:
            yield _to_entry("How are nights priced?", row.award_pricing, row)
            if values := list_point_values(call.reference, program.slug):
                worth = describe_values(values)
                yield _to_entry("What are points worth?", f"{worth[:1].upper()}{worth[1:]}.", values[0])
            if prices := list_prices(call.reference, program.slug, call.today):
                yield _to_entry("What does a night cost?", describe_categories(prices), prices[0])
            yield _to_entry("Is a night of a longer award stay free?", row.nth_night_free, row)
            yield _to_entry("Are resort fees charged on award nights?", row.mandatory_fees_on_award, row)
            yield _to_entry("Until when can an award stay be cancelled?", row.award_cancellation, row)


def _list_chart_prices(charts: list[Chart]) -> Iterator[CheapestAward]:
    for chart in charts:
        for cabin, bands in chart.bands.items():
            for band in bands:
                yield CheapestAward(route_or_band=band.label, cabin=cabin, points=band.points, chart_id=chart.chart_id)
        for cabin, pairs in chart.zones.items():
            for (start, end), points in pairs.items():
                place = f"{start} - {end}"
                least = min(points.values())
                yield CheapestAward(route_or_band=place, cabin=cabin, points=least, chart_id=chart.chart_id)


def _list_night_prices(call: Call, program: Program) -> Iterator[CheapestAward]:
    for row in list_prices(call.reference, program.slug, call.today):
        if row.points is not None:
            place = f"category {row.category}, {row.level} level, a night"
            yield CheapestAward(route_or_band=place, cabin=row.room, points=row.points, chart_id=row.chart)


def _find_cheapest(call: Call, program: Program, charts: list[Chart]) -> CheapestAward | None:
    """The cheapest price of own flights if they have a chart, else of partner flights, else of a hotel night."""
    own = [c for c in charts if c.scope == "own"]
    for cells in (_list_chart_prices(own), _list_chart_prices(charts), _list_night_prices(call, program)):
        if cheapest := min(cells, key=lambda c: c.points, default=None):
            return cheapest
    return None


def _pick_source(call: Call, program: Program, charts: list[Chart]) -> Any:
    """The fact whose source is cited for the whole answer: the first chart, a hotel price or the programme."""
    nights = list_prices(call.reference, program.slug, call.today)
    return next(iter([*charts, *(r for r in nights if r.points), program]))


@tool("pricing", Tier.FREE, Effect.READS, "Explain a programme's award prices", anonymous=True, static=True)
def get_award_chart_faq(call: Call, program: LooseName) -> ChartFaq:
    """Explains in simple words how a programme prices awards: zones, distance, dynamic, peak dates, sweet spots.

    For "Why is it so expensive in peak, how does it price?" Other rules: get_program_rules. Free.
    """
    resolved = call.reference.program(program)
    charts = _find_charts(call, resolved)
    rules = _explain_rules(list_rules(call, resolved))
    entries = [
        *_explain_pricing(call, resolved, charts),
        *_explain_nights(call, resolved),
        *rules,
        *_explain_facts(call, resolved),
        *(_to_entry(*entry) for entry in explain_status_rules(call, resolved.slug)),
    ]
    least = _find_cheapest(call, resolved, charts)
    source = _pick_source(call, resolved, charts)
    message = f"{resolved.name}:"
    if least:
        of = next((SCOPE_WORDS.get(c.scope, " of partner flights") for c in charts if c.chart_id == least.chart_id), "")
        what = f"{least.cabin.replace('_', ' ')}, {least.route_or_band}"
        message += f" The cheapest chart price{of} is {least.points:,} ({what})."
    elif charts:
        message += " Its prices are dynamic: no chart is known."
    message += f" {pluralize(len(entries), 'answer')}." if entries else " Nothing is known here."
    facts = [row for row in call.reference.rows("program_facts.csv") if row.topic in FACT_QUESTIONS]
    facts += call.reference.rows("status_earning_rules.csv")
    rows = [*list_rule_rows(call, resolved, TOPICS), *(row for row in facts if row.program == resolved.slug)]
    message += describe_left_out("program_facts.csv", rows, call.today)
    return ChartFaq(
        message=message,
        program=resolved.slug,
        entries=entries,
        cheapest_award=least,
        sweet_spots=[
            f"{describe_example(r)}; {r.source_url}, {r.as_of}" for r in call.reference.examples(resolved.slug)
        ],
        **describe_audited(source),
    )
