"""Routes of pages and forms for signed-in members; each page module lists its own as `ROUTES`."""

from functools import partial

from starlette.routing import Route

from auth_server.pages.member import MemberHandler, begin, form_for_member, page_for_member
from auth_server.web.handlers import handle_form, handle_page
from auth_server.web.request_data import MAX_BODY_BYTES


def get_for_member(path: str, flow: MemberHandler, *, fresh: bool = False) -> Route:
    """With `fresh` anyone who signed in more than ten minutes ago signs in again first.

    The query may name things in any language, as people name them.
    """
    return Route(path, handle_page(page_for_member(flow, fresh=fresh), text=True), methods=["GET"])


def post_for_member(
    path: str,
    flow: MemberHandler,
    *,
    hashes: bool = False,
    fresh: bool = False,
    page: str | None = None,
    max_bytes: int = MAX_BODY_BYTES,
) -> Route:
    """`page` is where the form stands, when its address is another than the form's."""
    guarded_flow = form_for_member(partial(begin, flow), fresh=fresh, page=page)
    return Route(path, handle_form(guarded_flow, hashes=hashes, max_bytes=max_bytes), methods=["POST"])
