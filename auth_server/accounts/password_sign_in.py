"""Passwords switched off by the operator: pages that take a password then say so."""

from auth_server.web.flows import Flow
from auth_server.web.outcomes import FlowResult, show_problem
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared.settings import settings

NO_PASSWORDS = show_problem(
    "Passwords are not used here", "Please go to the sign-in page and choose one of the ways it offers.", 403
)


def require_passwords(flow: Flow[FlowResult]) -> Flow[FlowResult]:
    def guarded_flow(uow: UnitOfWork, data: RequestData) -> FlowResult:
        return flow(uow, data) if settings().password_sign_in else NO_PASSWORDS

    return guarded_flow
