"""The context of a tool call: caller, time, reference data, the caller's own rows, and the providers."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from sqlalchemy import select
from sqlalchemy.orm import Session

from mcp_server.toolkit.thread_limiter import run_for_account
from shared.db.balances import PointsBalance
from shared.db.base import open_own, transaction
from shared.db.profile import Profile
from shared.domain import time_zones
from shared.domain.plans import LIMITS, Limits, Plan
from shared.domain.preferences import AirlineTaste
from shared.reference.load import Reference, reference
from shared.reference.rows.programmes import Program
from shared.services.own_programs import add_own_programs
from shared.settings import DataMode, Settings, settings

if TYPE_CHECKING:
    from shared.providers.ask import Ask

T = TypeVar("T")


@dataclass(frozen=True)
class Caller:
    """The account behind a call, read when its token is first seen and cached for at most 30 seconds."""

    account_id: int
    public_id: str
    plan: Plan
    is_admin: bool
    client_id: str
    client_name: str
    api_calls_per_month: int | None = None
    read_only: bool = False  # changes are refused: a standing order, the person's choice, or the address
    on_page: bool = False  # a page of the web host calls for the person who is signed in there
    has_person: bool = True  # False: an agent that no one has claimed
    may_administer: bool = True  # for an administrator; an application has it only if the consent says so

    @property
    def limits(self) -> Limits:
        return LIMITS[self.plan]

    @property
    def api_tier_limit(self) -> int:
        """REST calls a calendar month: the number agreed for this account, else the plan's."""
        agreed = self.api_calls_per_month
        return self.limits.api_calls_per_month if agreed is None else agreed

    @property
    def anonymous(self) -> bool:
        return self.account_id == 0


ANONYMOUS = Caller(0, "", Plan.FREE, False, "", "Anonymous")  # over REST, for tools that need no account


@dataclass
class CallBase:
    caller: Caller
    via: Literal["mcp", "rest"]
    now: datetime
    searches_left: int | None = None  # of today, after this one; None = without limit
    taste: AirlineTaste = field(default_factory=AirlineTaste)  # of the person, where the call names no airline

    @property
    def account_id(self) -> int:
        return self.caller.account_id

    @property
    def plan(self) -> Plan:
        return self.caller.plan

    @property
    def limits(self) -> Limits:
        return self.caller.limits

    @property
    def today(self) -> date:
        """The UTC day of the call."""
        return self.now.date()

    @cached_property
    def reference(self) -> Reference:
        """The facts at the moment the call first asked."""
        return reference()

    @property
    def settings(self) -> Settings:
        return settings()

    @property
    def data_mode(self) -> DataMode:
        return settings().data_mode

    def sandbox_timestamp(self, at: datetime) -> datetime | None:
        """When the rows shown were generated; None for real ones."""
        return at if self.data_mode == "sandbox" else None

    @property
    def upgrade_url(self) -> str:
        return f"{settings().web_url}/plans"


class RowsNeeded(LookupError):
    """Raised when rows are needed on the event loop."""


class ApartNeeded(LookupError):
    """A `def` tool needs what `work` returns, which takes the processor for too long for a database thread."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__()
        self.work = work


@dataclass
class Call(CallBase):
    """For `def` tools: they run on a worker thread and may read and write the caller's own rows through `db`."""

    _session: Session | None = None
    reads: bool = False  # nothing is stored: each statement is its own transaction
    static: bool = False  # it runs on the event loop, where nothing may wait for the database
    computed: Any = None

    def compute_apart(self, work: Callable[[], T]) -> T:
        """Once for a tool: it ends here, and begins again when `work`, which reads no rows, has been done elsewhere.

        Raises ApartNeeded.
        """
        if self.computed is None:
            raise ApartNeeded(work)
        return cast("T", self.computed)

    @property
    def db(self) -> Session:
        """The session, opened at first use and restricted to the caller's rows; the edge commits or rolls back.

        Raises RowsNeeded on the event loop.
        """
        if self.static:
            raise RowsNeeded("a static tool has no rows to read")
        if self._session is None:
            self._session = open_own(self.account_id, reads=self.reads)
        return self._session

    def add_own_programs(self, held: Iterable[str] | None = None) -> None:
        """Adds the account's own programmes to the facts of this call; with `held`, only if it names one."""
        self.reference = add_own_programs(self.db, self.reference, held)

    def find_program(self, name: str) -> Program:
        """The programme a name means; the account's own are loaded if it matches none or several known ones.

        Raises NotFound, NotCovered and Candidates.
        """
        if len(self.reference.find_programs(name)) != 1:
            self.add_own_programs()
        return self.reference.program(name)

    def find_own_bank(self, name: str) -> Program:
        """Like find_program; where a name that states no country fits one in several: the one held, else that of home.

        Those of two countries go to other partners at other ratios. Raises NotFound, NotCovered and Candidates.
        """
        named = self.find_program(name)
        countries = self.reference.list_countries(named.slug)
        says_country = named.home_country.casefold() in re.split(r"\W+", name.casefold())
        if says_country or named.slug != min(countries.values(), key=len, default=""):
            return named
        is_one = PointsBalance.program.in_(countries.values())
        saved_slugs = set(self.db.scalars(select(PointsBalance.program).where(is_one)))
        home = self.db.scalar(select(Profile.country)) or ""
        own = saved_slugs or {countries.get(home, named.slug)}
        return named if named.slug in own or len(own) > 1 else self.reference.programs[own.pop()]

    @cached_property
    def own_day(self) -> date:
        """Today where the person lives, which decides what has ended. Read from the profile when first needed."""
        return time_zones.find_local_day(self.now, self.db.scalar(select(Profile.timezone)) or time_zones.UTC)

    def finish(self, *, commit: bool) -> None:
        if self._session is not None:
            try:
                if commit and self.reads:
                    self._session.flush()  # raises NotStored for a changed row; an empty commit takes 13 us more
                elif commit:
                    self._session.commit()
            finally:
                self._session.close()


@dataclass
class LiveCall(CallBase):
    """For `async` tools: they wait for providers and never see a session."""

    async def in_session(self, work: Callable[[Session], T]) -> T:
        """Runs `work` on a database thread, in its own transaction over the caller's rows; returns plain data."""

        def run() -> T:
            with transaction(self.account_id) as session:
                return work(session)

        return await run_for_account(self.account_id, run)

    def with_session(self, session: Session) -> Call:
        """This call with a session, for parts built from stored rows; only within `rows`."""
        return Call(self.caller, self.via, self.now, self.searches_left, self.taste, session)

    @cached_property
    def ask(self) -> "Ask":
        """The one way to the providers, with the caller's credentials."""
        from shared.providers.ask import Ask
        from shared.services.connections.credentials import Credentials

        return Ask(account_id=self.account_id, connections=Credentials(self.account_id))
