"""Posts about offers, for administrators: whether a new post repeats a recent one."""

from typing import Annotated

from pydantic import Field

from mcp_server.toolkit import Call, Effect, Part, Result, Tier, tool
from shared.domain import offer_posts
from shared.domain.offer_posts import OfferPost, Verdict


class ReadPost(Part):
    """What was understood of a post; programmes by slug, several where a name can mean several."""

    programs: list[str]
    offer_kind: str | None
    percents: list[int]


class OfferDuplicate(Result):
    verdict: Verdict
    match_index: int | None
    match: str | None
    program: str | None
    offer_kind: str | None
    confidence: float
    understood: ReadPost


def _find_program(call: Call, offer: OfferPost) -> str | None:
    """The programme of an offer: for a transfer the one that receives the points, if named."""
    exact = [next(iter(m)) for m in offer.programs if len(m) == 1]
    goals = [p for p in exact if call.reference.programs[p].kind != "bank"]
    return next(iter(goals or exact), None)


@tool("admin", Tier.ADMIN, Effect.READS, "Check a repeated offer (administrator)")
def admin_check_offer_duplicate(
    call: Call,
    candidate: Annotated[str, Field(min_length=1, max_length=4000)],
    recent: Annotated[list[str], Field(max_length=50)],
) -> OfferDuplicate:
    """Checks whether a new offer repeats one already posted, as its duplicate, for an administrator who publishes them.

    For "Did we post this bonus before?" The same programmes and kind, with no other percentage or last day. Admin-only.
    """
    new, *old = (offer_posts.read_post(text, call.reference.mentions(text)) for text in (candidate, *recent))
    match = offer_posts.judge_post(new, old)
    at = "" if match.index is None else f": post {match.index + 1} of {len(recent)}"
    words = {
        "duplicate": "It repeats a recent post",
        "new": "No recent post says this",
        "unsure": "One may be the same",
    }
    return OfferDuplicate(
        message=f"{words[match.verdict]}{at}.",
        verdict=match.verdict,
        match_index=match.index,
        match=None if match.index is None else recent[match.index],
        program=_find_program(call, new),
        offer_kind=new.kind,
        confidence=match.confidence,
        understood=ReadPost(
            programs=sorted(slug for m in new.programs for slug in m),
            offer_kind=new.kind,
            percents=sorted(new.percents),
        ),
    )
