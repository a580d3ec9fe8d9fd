"""Tools about vouchers: the kinds that can be held, from the reviewed list."""

from typing import Annotated, Literal

from pydantic import Field

from mcp_server.call import Call
from mcp_server.fields import AnyName, Page, PerPage
from mcp_server.provenance import Verified, verified
from mcp_server.results import Paging, Result
from mcp_server.toolbox import Effect, Tier, tool
from shared.domain import names
from shared.reference.rows.travel import VoucherType as Row

Kind = Literal["companion", "upgrade", "free_night", "credit", "lounge"]


class VoucherType(Verified):
    voucher_slug: str
    name: str
    program: str | None
    kind: Kind
    applies_to: list[str]
    summary: str
    usual_validity_months: int | None
    validity_rule: str
    how_earned: str
    limits: str | None


class VoucherTypes(Result):
    voucher_types: list[VoucherType]
    paging: Paging


def _type(row: Row) -> VoucherType:
    return VoucherType(
        voucher_slug=row.slug,
        name=row.name,
        program=row.program,
        kind=row.kind,
        applies_to=list(row.applies_to),
        summary=row.what_it_does,
        usual_validity_months=row.validity_months,
        validity_rule=row.validity_rule,
        how_earned=row.how_earned,
        limits=row.limits,
        **verified(row),
    )


def _fits(row: Row, words: list[str]) -> bool:
    text = names.plain(f"{row.slug} {row.name} {row.program or ''} {row.what_it_does} {row.how_earned}")
    return all(w in text for w in words)


@tool(area="vouchers", tier=Tier.FREE, effect=Effect.READS)
def list_voucher_types(
    call: Call,
    query: Annotated[str | None, Field(max_length=80)] = None,
    program: AnyName | None = None,
    booking_type: Literal["flight", "hotel"] | None = None,
    page: Page = 1,
    per_page: PerPage = 20,
) -> VoucherTypes:
    """Lists the kinds of voucher that can be held, with slug, programme and what each applies to.

    A validity of null follows validity_rule. Free.
    """
    only = call.reference.program(program).slug if program else None
    words = names.plain(query or "").split()
    found = [
        r
        for r in call.reference.rows("voucher_types.csv")
        if only in (None, r.program) and booking_type in (None, *r.applies_to) and _fits(r, words)
    ]
    shown = found[(page - 1) * per_page : page * per_page]
    return VoucherTypes(
        message=f"{len(found)} kind{'s' * (len(found) != 1)} of voucher; terms as of each source, none of them ours.",
        voucher_types=[_type(r) for r in shown],
        paging=Paging.of(page, per_page, len(found)),
    )
