"""The context of a tool call: caller, moment, reference data, the caller's own rows, and the providers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from mcp_server.toolkit.thread_limiter import run_for_account
from shared.db.base import open_own, transaction
from shared.db.profile import Profile
from shared.domain import time_zones
from shared.domain.plans import LIMITS, Limits, Plan
from shared.domain.preferences import AirlineTaste
from shared.reference.load import Reference, reference
from shared.reference.rows import Program
from shared.services.own_programs import add_own_programs
from shared.settings import DataMode, Settings, settings

if TYPE_CHECKING:
    from shared.providers.ask import Ask

T = TypeVar("T")


@dataclass(frozen=True)
class Caller:
    """The account behind a call, read when its token was first seen and kept at most 30 seconds."""

    account_id: int
    public_id: str
    plan: Plan
    is_admin: bool
    client_id: str
    client_name: str
    api_calls_per_month: int | None = None
    read_only: bool = False  # tools that change anything are refused: a standing order, a person's choice, the address
    on_page: bool = False  # a page of the web host calls for the person who is signed in there
    has_person: bool = True  # False: an agent that no one has claimed
    may_administer: bool = True  # of an administrator; applications need it said when they are allowed

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
        """The facts as they were when the call first asked."""
        return reference()

    @property
    def settings(self) -> Settings:
        return settings()

    @property
    def data_mode(self) -> DataMode:
        return settings().data_mode

    def sandbox_timestamp(self, at: datetime) -> datetime | None:
        """The moment rows shown were generated; None of real ones."""
        return at if self.data_mode == "sandbox" else None

    @property
    def upgrade_url(self) -> str:
        return f"{settings().web_url}/plans"


class RowsNeeded(LookupError):
    """Rows were asked for on the event loop."""


@dataclass
class Call(CallBase):
    """For `def` tools: they run on a worker thread and may read and write the caller's own rows through `db`."""

    _session: Session | None = None
    reads: bool = False  # nothing is stored: each statement is its own transaction
    static: bool = False  # it runs on the event loop, where nothing may wait for the database

    @property
    def db(self) -> Session:
        """Opened at first use, restricted to the caller's rows; the edge commits or rolls back.

        Raises RowsNeeded on the event loop.
        """
        if self.static:
            raise RowsNeeded("a static tool has no rows to read")
        if self._session is None:
            self._session = open_own(self.account_id, reads=self.reads)
        return self._session

    def add_own_programs(self, held: Iterable[str] | None = None) -> None:
        """The facts of this call hold the account's own programmes from here on; with `held`, where it names one."""
        self.reference = add_own_programs(self.db, self.reference, held)

    def find_program(self, name: str) -> Program:
        """The programme a name means; the account's own are asked for where it means none or several of those known.

        Raises NotFound, NotCovered and Candidates.
        """
        if len(self.reference.find_programs(name)) != 1:
            self.add_own_programs()
        return self.reference.program(name)

    @cached_property
    def own_day(self) -> date:
        """The day it is where the person lives: by it ends what they keep. Asked of the profile once it is needed."""
        return time_zones.find_local_day(self.now, self.db.scalar(select(Profile.timezone)) or time_zones.UTC)

    def finish(self, *, commit: bool) -> None:
        if self._session is not None:
            try:
                if commit and self.reads:
                    self._session.flush()  # says so where a row was changed; a commit of nothing takes 13 us more
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
        """This call, as parts made of stored rows want it; within `rows` only."""
        return Call(self.caller, self.via, self.now, self.searches_left, self.taste, session)

    @cached_property
    def ask(self) -> "Ask":
        """The one door to the providers, with the caller's credentials."""
        from shared.providers.ask import Ask
        from shared.services.connections.credentials import Credentials

        return Ask(account_id=self.account_id, connections=Credentials(self.account_id))
