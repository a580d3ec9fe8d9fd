"""A person with an account, signed in with the cookie of the client that goes to both hosts."""

from auth_server.accounts.accounts import create_account
from mcp_server.toolkit.context import Caller
from shared.db.base import transaction
from shared.domain.plans import Plan
from tests.auth_server.in_process_browser import PASSWORD, hidden
from tests.mcp_server.rest.conftest import World


def sign_up(world: World, email: str, plan: str = "free") -> Caller:
    """The account, as the tools see its owner."""
    with transaction() as session:
        row = create_account(session, email, PASSWORD, plan=plan)
        caller = Caller(row.id, row.public_id, Plan.of(plan), False, "client-of-tests", "Tests")
    fields = {"csrf": hidden(world.get("/signin").text, "csrf"), "return_to": "", "email": email}
    assert world.http.post(f"{world.url}/signin", data=fields | {"password": PASSWORD}).status_code == 303
    return caller
