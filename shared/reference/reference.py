"""The frozen reference data, with methods for lookups by name, route and day."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any

from shared import clock
from shared.domain import award_charts as chart_rules
from shared.domain import names, offer_posts, transfers
from shared.domain.airports import Airport, Zone, find_zone, name_places
from shared.domain.award_charts import Chart, ChartRoute, DistanceBand, Points, RoutePrice, Season
from shared.domain.flown_routes import NO_FLIGHTS, Ends, KnownFlights, RouteFinding, judge_route
from shared.domain.plans import CABINS
from shared.domain.possible_flights import Route
from shared.domain.transfers import Bonus, Edge, pick_rates
from shared.errors import Ambiguity, Candidates, Choice, NotCovered, NotFound
from shared.reference import ages, airports, flights
from shared.reference.airlines import Airline, build_airlines
from shared.reference.flights import HomeAreas
from shared.reference.rows.award_charts import AwardExample, CancellationFee, ReleaseWindow
from shared.reference.rows.fact import build_from
from shared.reference.rows.programmes import PointsExpiry, PointsPooling, Program
from shared.reference.rows.transfers import TransferPartner
from shared.reference.rows.travel import CatalogCard, ClimateNormal, VoucherType

# Indexes built from the rows: award charts with prices, zones, transfer edges of a day, and names.

Tables = dict[str, list[Any]]


def _read_season(text: str) -> Season:
    return "standard" if text == "any" else text  # type: ignore[return-value]


def build_charts(tables: Tables) -> dict[str, tuple[Chart, ...]]:
    """Every chart with its bands and zone prices, by programme."""
    bands: dict[str, dict[str, list[DistanceBand]]] = defaultdict(lambda: defaultdict(list))
    for row in tables["award_chart_bands.csv"]:
        band = DistanceBand(row.min_miles, row.max_miles, _read_season(row.season), row.points)
        bands[row.chart_id][row.cabin].append(band)
    zones: dict[str, dict[str, dict[tuple[str, str], Points]]] = defaultdict(lambda: defaultdict(dict))
    for row in tables["award_chart_zones.csv"]:
        prices = zones[row.chart_id][row.cabin].setdefault((row.from_zone, row.to_zone), {})
        prices[_read_season(row.season)] = row.points
    out: dict[str, list[Chart]] = defaultdict(list)
    for row in tables["award_charts.csv"]:
        out[row.program].append(_build_chart(row, bands[row.chart_id], zones[row.chart_id]))
    return {program: tuple(group) for program, group in out.items()}


def _build_chart(row: Any, bands: Any, zones: Any) -> Chart:
    starts, _, ends = (row.route_scope or "").partition(" to ")
    return build_from(
        Chart,
        row,
        carriers=frozenset(row.carriers),
        kind=row.chart_type,
        overrides=row.overrides_general,
        from_zones=frozenset(starts.split("+")) if starts else frozenset(),
        to_zones=frozenset(ends.split("+")) if ends else frozenset(),
        bands={cabin: tuple(group) for cabin, group in bands.items()},
        zones={cabin: dict(group) for cabin, group in zones.items()},
    )


def build_zones(tables: Tables) -> dict[str, tuple[Zone, ...]]:
    """The zones of each zone system."""
    out: dict[str, list[Zone]] = defaultdict(list)
    for row in tables["award_zone_members.csv"]:
        out[row.zone_system].append(
            Zone(
                row.zone,
                frozenset(row.airports),
                frozenset(row.airports_exclude),
                frozenset(row.regions),
                frozenset(row.regions_exclude),
                frozenset(row.countries),
                frozenset(row.countries_exclude),
                frozenset(row.continents),
            )
        )
    return {system: tuple(group) for system, group in out.items()}


def build_edges(tables: Tables, on: date) -> Iterable[Edge]:
    """The transfer routes open on a day, each with the best bonus that runs on it; one edge for each ratio by card."""
    running: dict[tuple[str, str], Bonus] = {}
    for row in tables["transfer_bonuses.csv"]:
        if row.is_valid(on):
            bonus = Bonus(row.bonus_percent, row.valid_from, row.valid_to, row.targeted)
            running_bonus = running.get((row.from_program, row.to_program))
            # A targeted bonus reaches only some members, so it never sets the price when an open one exists.
            if running_bonus is None or (running_bonus.targeted, -running_bonus.percent) > (
                bonus.targeted,
                -bonus.percent,
            ):
                running[row.from_program, row.to_program] = bonus
    for row in tables["transfer_partners.csv"]:
        if row.is_valid(on) and (row.status == "active" or (row.status == "ended" and row.valid_to is not None)):
            yield _build_edge(row, running.get((row.from_program, row.to_program)))


def _build_edge(row: Any, bonus: Bonus | None) -> Edge:
    return build_from(
        Edge,
        row,
        source=row.from_program,
        target=row.to_program,
        ratio_from=Fraction(row.ratio_from),
        ratio_to=Fraction(row.ratio_to),
        minimum=row.min_points,
        posting=row.posting_class,
        posting_text=row.posting_typical,
        fee=row.fee_or_tax,
        step=row.step_points,
        step_bonus=row.step_bonus or 0,
        block_source=row.min_increment_basis,
        bonus=bonus,
    )


def _index_names(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Normalized names, and what each means; words of the slug or code first make them unique."""
    index: dict[str, dict[str, None]] = defaultdict(dict)
    for name, thing in pairs:
        if spelled := names.normalize_name(name):
            index[spelled][thing] = None
    return {name: tuple(things) for name, things in index.items()}


def _split_names(*texts: str) -> list[str]:
    return names.normalize_name(" ".join(texts)).split()


def index_programs(tables: Tables) -> dict[str, tuple[str, ...]]:
    """Indexes names; aliases override them: a shared one lists all its meanings, any other one programme."""
    index = _index_names((p.name, p.slug) for p in tables["programs.csv"])
    index |= {names.normalize_name(a.alias): (a.program,) for a in tables["program_aliases.csv"]}
    index |= {names.normalize_name(a.alias): tuple(a.candidates) for a in tables["ambiguous_aliases.csv"]}
    return index


def index_airlines(airlines: Iterable[Airline]) -> dict[str, tuple[str, ...]]:
    return _index_names((name, a.iata) for a in airlines for name in (a.name, a.slug or "", a.iata, a.icao))


Groups = tuple[tuple[chart_rules.Chart, ...], ...]  # best first; charts in one group have equal rank


def index_outside_names(tables: Tables) -> dict[str, tuple[str, ...]]:
    """Names of programmes and banks that are unknown here."""
    return _index_names((name, row.name) for row in tables["outside_names.csv"] for name in (row.name, *row.aliases))


class Reference:
    """All facts of one load, immutable and in memory."""

    def __init__(self, tables: dict[str, list[Any]]) -> None:
        self._tables = tables
        self.programs: Mapping[str, Program] = MappingProxyType({p.slug: p for p in tables["programs.csv"]})
        self._every_airline = build_airlines(tables)
        self.airlines: Mapping[str, Airline] = MappingProxyType({a.iata: a for a in self._every_airline if a.slug})
        # Includes airlines sold by no known programme, with only names and codes.
        self.carriers: Mapping[str, Airline] = MappingProxyType(
            {a.iata: a for a in self._every_airline} | dict(self.airlines)
        )
        self.cards: Mapping[str, CatalogCard] = MappingProxyType({c.slug: c for c in tables["cards.csv"]})
        self.voucher_types: Mapping[str, VoucherType] = MappingProxyType(
            {v.slug: v for v in tables["voucher_types.csv"]}
        )
        self.airports: Mapping[str, Airport] = MappingProxyType(airports.build_airports(tables))
        self.metros = airports.load_metros()
        self._charts = build_charts(tables)
        self._zones = build_zones(tables)
        self._places: dict[tuple[str, str], str | None] = {}
        self._program_names = index_programs(tables)
        self._outside_names = index_outside_names(tables)
        # Other bearers of the name: carriers too, if no programme here is theirs.
        carriers = (names.normalize_name(a.name) for a in self.carriers.values() if not a.program)
        self._other_names = frozenset((*self._outside_names, *carriers))
        self._airline_names = index_airlines(self.airlines.values())
        self._carrier_names = index_airlines(self.carriers.values())
        self.route_price = lru_cache(maxsize=16_384)(self._route_price)
        self._price = lru_cache(maxsize=16_384)(self._price_of)
        self._standing = lru_cache(maxsize=16_384)(self._charts_for)
        self.pricing = lru_cache(maxsize=1_024)(self._pricing)
        self.fresh_rows = lru_cache(maxsize=64)(self._fresh_rows)
        self._edges = lru_cache(maxsize=8)(self._list_edges)
        self._network = lru_cache(maxsize=256)(self._build_network)

    def rows(self, file: str) -> Sequence[Any]:
        """The rows of one file, of its row type in `rows`."""
        return self._tables[file]

    def _fresh_rows(self, file: str, on: date) -> Sequence[Any]:
        """The rows of a file recent enough to be shown."""
        return [row for row in self._tables[file] if not ages.is_outdated(file, row, on)]

    # rules of programmes

    def expiry(self, program: str) -> PointsExpiry | None:
        """The rule by which points of a programme end; None if unknown."""
        row: PointsExpiry | None = self._find_own("points_expiry.csv", program)
        return row

    def pooling(self, program: str) -> PointsPooling | None:
        row: PointsPooling | None = self._find_own("points_pooling.csv", program)
        return row

    def find_booking_pages(self, programs: Iterable[str]) -> dict[str, str]:
        """The known addresses of these programmes' award sites."""
        pages = {row.program: row.booking_url for row in self._tables["program_sites.csv"]}
        return {program: pages[program] for program in dict.fromkeys(programs) if program in pages}

    def _find_own(self, file: str, program: str) -> Any:
        return next((row for row in self.fresh_rows(file, clock.today()) if row.program == program), None)

    # names

    def program(self, text: str) -> Program:
        """The programme a loose name means.

        Raises NotFound with the nearest names, NotCovered for one without data, or Candidates when several fit.
        """
        slugs = self.find_programs(text)
        if len(slugs) == 1:
            return self.programs[slugs[0]]
        if slugs:
            candidates = [{"program": s, "name": self.programs[s].name} for s in slugs]
            which = Ambiguity("programme", text, [Choice(s, self.programs[s].name) for s in slugs])
            raise Candidates(
                f"{text} can mean {len(slugs)} programmes; call again with one of them.", candidates, which
            )
        if outside := self.find_outside_names(text):
            raise NotCovered("programme", text, outside)
        raise NotFound("programme", text, self._near_programs(text))

    def find_programs(self, text: str) -> tuple[str, ...]:
        """The programmes a loose name can mean; without a search for similar names, which takes 2 ms."""
        if text in self.programs:
            return (text,)
        meanings = names.find_meanings(text, self._program_names, self._other_names)
        form = names.normalize_name(text)
        own, _, unit = form.rpartition(" ")
        if meanings or self.find_outside_names(text) or self.find_outside_names(own):
            return meanings
        if unit in self._units:
            meanings = names.find_meanings(own, self._program_names, self._other_names)  # "Alaska miles"
        return meanings or self._names_by_words.get(frozenset(form.split()) - self._units, ())

    @cached_property
    def _names_by_words(self) -> Mapping[frozenset[str], tuple[str, ...]]:
        """Programmes by the words of a name in any order, without units: "HSBC India reward points"."""
        index: dict[frozenset[str], dict[str, None]] = defaultdict(dict)
        for name, programs in self._program_names.items():
            if len(own := frozenset(name.split()) - self._units) > 1:  # a single word is no bank of a country
                index[own] |= dict.fromkeys(programs)
        return {own: tuple(programs) for own, programs in index.items()}

    def find_outside_names(self, text: str) -> tuple[str, ...]:
        """The programmes and banks without data that a name means, also with common words: "UOB points"."""
        form = names.normalize_name(text)
        own = " ".join(word for word in form.split() if word not in self._common_words)
        return self._outside_names.get(form) or self._outside_names.get(own) or ()

    @cached_property
    def _common_words(self) -> frozenset[str]:
        """Words in the names of three programmes or more, which distinguish none."""
        words = Counter(word for p in self.programs.values() for word in set(_split_names(p.name, p.currency)))
        return frozenset(word for word, count in words.items() if count > 2)

    @cached_property
    def _units(self) -> frozenset[str]:
        """What points are called in three currencies or more: points, miles."""
        words = Counter(word for c in {p.currency for p in self.programs.values()} for word in set(_split_names(c)))
        return frozenset(word for word, count in words.items() if count > 2)

    def _near_programs(self, text: str) -> list[str]:
        """The programmes with the closest names, each once."""
        close = names.find_nearest(text, self._program_names, 40)
        meant = (slug for name in close for slug in self._program_names[name])
        return list(dict.fromkeys((*names.find_meanings(text, self._program_names), *meant)))[:3]

    def mentions(self, text: str) -> list[frozenset[str]]:
        """Programmes named in a longer text, each with all its meanings."""
        return offer_posts.find_programs(text, self._program_names)

    def airline(self, text: str) -> Airline:
        """The airline a code, slug or name means. Raises NotFound or Candidates."""
        codes = self.find_airlines(text)
        if len(codes) == 1:
            return self.airlines[codes[0]]
        if codes:
            candidates = [{"airline": c, "name": self.airlines[c].name} for c in codes]
            which = Ambiguity("airline", text, [Choice(c, f"{self.airlines[c].name} ({c})") for c in codes])
            raise Candidates(f"{text} can mean {len(codes)} airlines; call again with one code.", candidates, which)
        names_by_form = {names.normalize_name(a.name): a.name for a in self.airlines.values()}
        raise NotFound("airline", text, [names_by_form[n] for n in names.find_nearest(text, names_by_form)])

    def find_airlines(self, text: str) -> tuple[str, ...]:
        """The codes of the airlines a code, slug or name can mean; without similar names."""
        code = text.strip().upper()
        if code in self.airlines:
            return (code,)
        others = self._carrier_names.keys() - self._airline_names.keys()
        return names.find_meanings(text, self._airline_names, others)

    def list_countries(self, program: str) -> dict[str, str]:
        """The slug of each country's own programme, where one name is a separate programme in several countries."""
        base = program if (stem := program.rpartition("-")[0]) not in self.programs else stem
        family = [p for p in self.programs.values() if base in (p.slug, p.slug.rpartition("-")[0])]
        return {p.home_country: p.slug for p in family if p.home_country} if len(family) > 1 else {}

    def airlines_of(self, program: Program) -> list[Airline]:
        """The airlines whose own programme it is."""
        return [self.airlines[code] for code in program.iata if code in self.airlines]

    def alliance_of(self, program: Program, on: date) -> str | None:
        """The alliance its airlines are in on a day; "none" for an airline programme outside the three."""
        alliances = [alliance for airline in self.airlines_of(program) if (alliance := airline.find_alliance(on))]
        return next(iter(alliances), "none" if program.kind == "airline" else None)

    def carrier(self, text: str) -> Airline:
        """The same among all carriers; a name of an airline above means only that."""
        if (code := text.strip().upper()) in self.carriers:
            return self.carriers[code]
        codes = self.find_airlines(text) or names.find_meanings(text, self._carrier_names, ())
        return self.carriers[codes[0]] if len(codes) == 1 else self.airline(text)

    @cached_property
    def one_cabin(self) -> Mapping[str, str]:
        """The cabin of each carrier with only one."""
        return {a.iata: a.only_cabin for a in self._every_airline if a.only_cabin}

    @cached_property
    def by_icao(self) -> Mapping[str, str]:
        """The two-character code of each three-letter one."""
        return {a.icao: a.iata for a in self._every_airline}

    def airport(self, code: str) -> Airport:
        """An airport, or for a city code (LON, NYC, TYO) the airport with most routes here. Raises NotFound."""
        code = code.strip().upper()
        if code in self.airports:
            return self.airports[code]
        if members := [m for m in self.metros.get(code, ()) if m in self.airports]:
            main = [m for m in members if m not in airports.ALSO_OF_CITY.get(code, ())] or members
            return self.airports[max(main, key=lambda m: (self._traffic.get(m, 0), m))]
        raise NotFound("airport", code, self._near(code))

    def city(self, code: str) -> tuple[str, ...]:
        """The airports of a code: itself, or those of a city (LON, NYC, TYO). Raises NotFound."""
        members = tuple(m for m in self.metros.get(code.strip().upper(), ()) if m in self.airports)
        return members or (self.airport(code).code,)

    def is_one_city(self, one: str, other: str) -> bool:
        """Whether two airports are the same or serve one city."""
        return one == other or any({one, other} <= set(members) for members in self.metros.values())

    @cached_property
    def flights(self) -> Mapping[str, KnownFlights]:
        """Known non-stop flights by airline, counted both ways, and where it may well have others."""
        return flights.build_known_flights(self._tables, self._home_areas, self._every_airline)

    @cached_property
    def _home_areas(self) -> HomeAreas:
        return flights.build_home_areas(self._tables)

    def find_flight(self, airline: str, origin: str, destination: str, *, seen: bool = False) -> RouteFinding:
        """Whether an airline is known to fly between two airports without a stop. Raises NotFound."""
        start, end = self.airport(origin), self.airport(destination)
        countries = frozenset(self._home_areas.country_of.get(a.country, a.country) for a in (start, end))
        continents = frozenset(f"continent-{a.continent}" for a in (start, end))
        ends = Ends(start.code, end.code, countries, continents)
        return judge_route(self.flights.get(airline, NO_FLIGHTS), ends, seen=seen)

    def _near(self, code: str) -> list[str]:
        """Three airports one letter off, else with the same first letter; the busiest of the known routes first."""

        def order(candidate: str) -> tuple[bool, int, str]:
            one_off = len(code) == len(candidate) and sum(a != b for a, b in zip(code, candidate, strict=True)) == 1
            return (not one_off, -self._traffic.get(candidate, 0), candidate)

        return sorted((k for k in self.airports if k[0] == code[:1] or k[1:] == code[1:]), key=order)[:3]

    @cached_property
    def _traffic(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for row in self._tables["routes.csv"]:
            for code in (row.origin, row.destination):
                counts[code] = counts.get(code, 0) + 1
        return counts

    @cached_property
    def airports_with_flights(self) -> frozenset[str]:
        """The airports with scheduled flights: far more than those with a known route."""
        listed = (code for row in self._tables["scheduled_airports.csv"] for code in row.airports)
        return frozenset(code for code in (*self._traffic, *listed) if code in self.airports)

    def count_flights(self, code: str) -> int:
        """How busy an airport is, from known routes and hubs: only for comparing airports."""
        return self._traffic.get(code, 0) + self._hubs.get(code, 0)

    def mean_celsius(self, airport: str, month: int) -> Decimal | None:
        """The usual temperature of a month, counted from 1; None without a station nearby."""
        normal = self._normals.get(airport)
        return normal.find_mean(month) if normal else None

    @cached_property
    def _normals(self) -> Mapping[str, ClimateNormal]:
        return {row.airport: row for row in self._tables["climate_normals.csv"]}

    @cached_property
    def nonstop_routes(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """By airport, its non-stop destinations, each with the airlines sold by programmes here."""
        routes: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for airline in sorted(self.airlines):
            for origin, ends in self.flights[airline].pairs.items():
                for end in ends:
                    routes[origin][end].append(airline)
        return {origin: {end: tuple(codes) for end, codes in ends.items()} for origin, ends in routes.items()}

    @cached_property
    def _hubs(self) -> Mapping[str, int]:
        return Counter(hub for airline in self.airlines.values() for hub in airline.hubs)

    def miles(self, origin: str, destination: str) -> int:
        """Great-circle statute miles between two airports or city codes. Raises NotFound."""
        start, end = self.airport(origin), self.airport(destination)
        return airports.measure_miles((start.lat, start.lon), (end.lat, end.lon))

    def route(self, origin: str, destination: str) -> Route | None:
        """Two airports, or the main ones of cities, with their clocks and the miles between; None for unknown codes."""
        try:
            start, end = self.airport(origin), self.airport(destination)
        except NotFound:
            return None
        return Route(start.code, end.code, start.tz, end.tz, self.miles(start.code, end.code))

    def kilometres(self, origin: str, destination: str) -> int:
        """The same in whole kilometres, rounded separately. Raises NotFound."""
        start, end = self.airport(origin), self.airport(destination)
        return round(airports.measure_metres((start.lat, start.lon), (end.lat, end.lon)) / 1_000)

    # transfers

    def routes(self, on: date, cards: Collection[str] = ()) -> transfers.Network:
        """The transfer routes open on a day, with that day's bonuses, by source programme.

        `cards` are those a person has. Where they decide no ratio, a route has its lowest.
        """
        return self._network(on, self.deciding_cards.intersection(cards))

    @cached_property
    def deciding_cards(self) -> frozenset[str]:
        """The cards with their own transfer ratio."""
        return frozenset(card for row in self._tables["transfer_partners.csv"] for card in row.cards)

    def _list_edges(self, on: date) -> Sequence[transfers.Edge]:
        return tuple(build_edges(self._tables, on))

    def list_doubtful_routes(self, on: date) -> list[TransferPartner]:
        """The doubtful transfer routes: shown, never counted."""
        rows = self._tables["transfer_partners.csv"]
        return [row for row in rows if row.status == "doubtful" and row.is_valid(on)]

    def _build_network(self, on: date, cards: frozenset[str]) -> transfers.Network:
        return transfers.build_network(pick_rates(self._edges(on), cards))

    # awards

    def _zone(self, system: str, code: str) -> str | None:
        key = (system, code)
        if key not in self._places:
            self._places[key] = find_zone(self.airports[code], self._zones[system])
        return self._places[key]

    def _trip(self, system: str | None, start: Airport, end: Airport) -> ChartRoute:
        zones = (self._zone(system, start.code), self._zone(system, end.code)) if system else (None, None)
        return ChartRoute(self.miles(start.code, end.code), (start.country, end.country), zones)

    def partner(self, program: str, airline: str, on: date | None = None) -> bool:
        """Whether the programme's awards can be used on the airline, by the list of partners.

        An alliance partner counts only while the airline is in the alliance on the day (default today).
        """
        via = self._partners.get((program, airline))
        if via != "alliance" or airline not in self.airlines:
            return via is not None
        return self.airlines[airline].find_alliance(on or clock.today()) is not None

    @cached_property
    def _partners(self) -> Mapping[tuple[str, str], str]:
        rows = self._tables["program_partners.csv"]
        return {(row.program, row.airline): row.via for row in rows if row.redeemable}

    def _charts_for(self, program: str, airline: str, on: date) -> Groups:
        """The charts that cover an airline, the same for every route."""
        quoted = [(row.cabin, row.points) for row in self._quotes.get((program, airline), ()) if row.is_valid(on)]
        charts = [c for c in self._charts.get(program, ()) if not chart_rules.is_refuted(c, quoted)]
        return tuple(map(tuple, chart_rules.group_charts(charts, airline, self.partner(program, airline, on), on)))

    @cached_property
    def _quotes(self) -> Mapping[tuple[str, str], list[AwardExample]]:
        """The dated one-way prices that name an airline, by programme and airline."""
        out: dict[tuple[str, str], list[AwardExample]] = defaultdict(list)
        for row in self._tables["award_examples.csv"]:
            for airline in row.airline.split("|") if row.direction == "one_way" and row.airline != "*" else ():
                out[row.program, airline].append(row)
        return dict(out)

    def charts_of(self, program: str, airline: str, on: date) -> list[chart_rules.Chart]:
        """The charts that price an airline's flights, the best first."""
        return [chart for group in self._standing(program, airline, on) for chart in group]

    def _pricing(self, airline: str, on: date) -> tuple[str, ...]:
        """The programmes whose charts cover an airline, on any route."""
        return tuple(slug for slug in sorted(self._charts) if self._standing(slug, airline, on))

    def _route_price(
        self, program: str, airline: str, origin: str, destination: str, on: date | None = None
    ) -> RoutePrice | None:
        """The price of a programme's charts for an airline on a route, by cabin and season.

        None if no chart covers the airline; a RoutePrice without cabins when the chart is dynamic or silent.
        `on` is the day of booking (it decides which charts are in force); today when absent. Raises NotFound.
        """
        start, end = self.airport(origin), self.airport(destination)
        return self._price(self._standing(program, airline, on or clock.today()), start.code, end.code)

    def _price_of(self, groups: Groups, origin: str, destination: str) -> RoutePrice | None:
        """The price by chart groups; cached, because most airlines of a programme share the same charts."""
        start, end = self.airports[origin], self.airports[destination]
        systems = {c.zone_system for group in groups for c in group}
        return chart_rules.find_route_price(groups, {s: self._trip(s, start, end) for s in systems}, CABINS)

    def charts(self, program: str, on: date) -> list[chart_rules.Chart]:
        """Every chart of a programme in force on a day."""
        return [c for c in self._charts.get(program, ()) if c.is_valid(on)]

    def last_chart_day(self, program: str) -> date | None:
        """The day the last of a programme's charts ended; None while one is in force, or if none is known."""
        ends = [c.valid_to for c in self._charts.get(program, ())]
        return max((d for d in ends if d), default=None) if None not in ends else None

    def zones(self, system: str) -> Sequence[Zone]:
        return self._zones.get(system, ())

    def examples(self, program: str) -> list[AwardExample]:
        """Dated single prices that have not ended, quoted where a programme has no chart."""
        return self._list_examples(row for row in self._tables["award_examples.csv"] if row.program == program)

    def _list_examples(self, rows: Iterable[AwardExample]) -> list[AwardExample]:
        today = clock.today()
        return [row for row in rows if row.valid_to is None or today <= row.valid_to]

    def find_examples(self, origin: str, destination: str, cabin: str | None = None) -> list[AwardExample]:
        """The dated prices of every programme that cover two airports, in either direction. Raises NotFound."""
        start, end = self._places_of(origin), self._places_of(destination)
        return [
            row
            for row in self._list_examples(self._tables["award_examples.csv"])
            if cabin in (None, row.cabin)
            and ((row.origin in start and row.destination in end) or (row.origin in end and row.destination in start))
        ]

    def _places_of(self, code: str) -> set[str]:
        """What examples can call an airport: its code, its cities', its country, region, coast or continent."""
        airport = self.airport(code)
        return name_places(airport) | {metro for metro, members in self.metros.items() if airport.code in members}

    def release_window(self, airline: str) -> ReleaseWindow | None:
        return self._windows.get(airline)

    @cached_property
    def _windows(self) -> dict[str, ReleaseWindow]:
        return {code: row for row in self._tables["release_windows.csv"] for code in row.airline}

    def cancellation_fee(self, program: str) -> CancellationFee | None:
        return next((row for row in self._tables["cancellation_fees.csv"] if row.program == program), None)
