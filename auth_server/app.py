"""The web host as an ASGI application: routes of pages and OAuth endpoints, and locally a proxy to the tool server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ExceptionHandler

from auth_server.accounts import (
    address_change,
    agents,
    billing_events,
    forwarding_addresses,
    identity_linking,
    invited_sign_up,
    not_me,
    password_reset,
    second_factor,
    signin,
    signup,
)
from auth_server.accounts.password_sign_in import require_passwords
from auth_server.accounts.provider_sign_in import finish, handle_start, start_sign_in
from auth_server.oauth import authorize, client_metadata, consent, internal_api, openid, revocation, token_endpoint
from auth_server.oauth.consent import name_application
from auth_server.oauth.handlers import handle_bearer_request, handle_client_form, register
from auth_server.oauth.introspection import introspect
from auth_server.oauth.metadata import build_metadata
from auth_server.pages import (
    account,
    activity,
    agent_claim,
    api_keys,
    balances,
    bookings,
    calendar_feed,
    card_credits,
    card_search,
    cards,
    client_documents,
    clients,
    connected_applications,
    connecting,
    connections,
    deadlines,
    discovery,
    flight_bookings,
    hotel_bookings,
    inbound_mail,
    itinerary,
    landing,
    linked_identities,
    logo,
    message_channels,
    notices,
    oauth_apps,
    payment,
    phones,
    plans,
    portfolio,
    profile,
    search,
    search_day,
    security,
    sheets,
    sign_in_methods,
    spending,
    statuses,
    trips,
    unsubscribe,
    vouchers,
    watch_list,
    watch_pause,
    web_push,
)
from auth_server.pages import forwarding_addresses as forwarding_page
from auth_server.pages import settings as settings_page
from auth_server.pages.member import begin, form_for_member, get_for_member, page_for_member, post_for_member
from auth_server.pages.operate import (
    facts,
    figures,
    providers,
    settings_in_force,
    start,
    trail,
    unfinished_work,
    user_changes,
    users,
)
from auth_server.sweep import keep_sweeping
from auth_server.web import error_handlers
from auth_server.web.handlers import Handler, handle_form, handle_page, handle_upload
from auth_server.web.health import healthz, readyz
from auth_server.web.middleware import EdgeMiddleware
from auth_server.web.rate_limit import RateLimited
from auth_server.web.reverse_proxy import ReverseProxy
from auth_server.web.static_files import STYLESHEET_PATH, serve_stylesheet
from auth_server.web.tool_server import ToolServer
from shared.asgi import BodyIncomplete, BodyTooLarge
from shared.db.base import engine, statements
from shared.db.maintenance import WATCH
from shared.db.metrics import count_connections, count_statement_connections
from shared.db.outages import OUTAGE_ERRORS
from shared.db.traces import trace_statements
from shared.errors import Busy
from shared.outbox import phone_codes
from shared.processes.garbage_collection import freeze_startup_objects
from shared.settings import settings
from shared.telemetry.logs import configure_logging
from shared.telemetry.traces import start_tracing


def _get(path: str, endpoint: Handler) -> Route:
    return Route(path, endpoint, methods=["GET"])


def _post(path: str, endpoint: Handler) -> Route:
    return Route(path, endpoint, methods=["POST"])


# Routes of all pages and forms: public pages, sign-in and sign-up, dashboard, operators' pages.

PUBLIC = [
    _get("/", landing.serve_landing),
    _get(connecting.PATH, connecting.serve_hosts),
    _get("/plans", plans.serve_plans),
    _get("/problems", landing.serve_problems),
    _get("/privacy", landing.serve_legal_page("privacy.html")),
    _get("/terms", landing.serve_legal_page("terms.html")),
    _get("/support", landing.serve_legal_page("support.html")),
    _get("/static/routes.svg", landing.serve_picture("routes.svg", "image/svg+xml")),
    _get("/static/icon.svg", landing.serve_picture("icon.svg", "image/svg+xml")),
    _get("/static/icon.png", landing.serve_picture("icon.png", "image/png")),
    _get("/static/preview.png", landing.serve_picture("preview.png", "image/png")),
    _get("/static/passkeys.js", landing.serve_picture("passkeys.js", "text/javascript")),
    _get("/static/push.js", landing.serve_picture("push.js", "text/javascript")),
    _get("/static/push-worker.js", landing.serve_picture("push-worker.js", "text/javascript")),
    _get("/favicon.ico", landing.serve_picture("icon.png", "image/png")),
    _get("/.well-known/openai-apps-challenge", landing.serve_challenge),
    _get("/.well-known/security.txt", landing.serve_security_contact),
    _get("/robots.txt", discovery.serve_robots),
    _get("/sitemap.xml", discovery.serve_sitemap),
    _get("/llms.txt", discovery.serve_llms_text),
]

SIGN_IN = [
    _get("/signin", handle_page(name_application(signin.show_form))),
    _post("/signin", handle_form(name_application(require_passwords(signin.submit)), hashes=True)),
    _post("/signin/with/{name}", handle_start(start_sign_in)),
    _get("/signin/callback/{name}", finish),
    _get(identity_linking.PATH, handle_page(name_application(identity_linking.show_form))),
    _post(identity_linking.PATH, handle_form(name_application(identity_linking.submit_password), hashes=True)),
    _post(f"{identity_linking.PATH}/mail", handle_form(identity_linking.send_mail)),
    _get(identity_linking.MAIL_PATH, handle_page(identity_linking.show_mail_form)),
    _post(identity_linking.MAIL_PATH, handle_form(identity_linking.submit_mail)),
    _get(signin.SECOND_FACTOR_PAGE, handle_page(name_application(second_factor.show_form))),
    _post("/signin/second/code", handle_form(name_application(second_factor.submit_code))),
    _post("/signin/second/recovery", handle_form(name_application(second_factor.submit_recovery_code))),
    _post("/signin/passkey/options", handle_form(second_factor.make_passkey_options)),
    _post("/signin/passkey", handle_form(name_application(second_factor.submit_passkey))),
    _post("/signout", handle_form(signin.sign_out)),
    _get("/signup", handle_page(name_application(signup.show_form))),
    _post("/signup", handle_form(name_application(require_passwords(signup.submit)))),
    _get("/confirm", handle_page(require_passwords(signup.show_confirm_form))),
    _post("/confirm", handle_form(require_passwords(signup.confirm), hashes=True)),
    _get("/recover", handle_page(name_application(require_passwords(password_reset.show_form)))),
    _post("/recover", handle_form(name_application(require_passwords(password_reset.submit)))),
    _get("/reset", handle_page(require_passwords(password_reset.show_reset_form))),
    _post("/reset", handle_form(require_passwords(password_reset.reset), hashes=True)),
    _get("/new-address", handle_page(partial(address_change.show_form, action="new-address"))),
    _post("/new-address", handle_form(partial(address_change.confirm, action="new-address"))),
    _get("/old-address", handle_page(partial(address_change.show_form, action="old-address"))),
    _post("/old-address", handle_form(partial(address_change.confirm, action="old-address"))),
    _get("/forwarding-address", handle_page(forwarding_addresses.show_form)),
    _post("/forwarding-address", handle_form(forwarding_addresses.confirm)),
    _get("/invitation", handle_page(require_passwords(invited_sign_up.show_form))),
    _post("/invitation", handle_form(require_passwords(invited_sign_up.accept), hashes=True)),
    _get("/not-me", handle_page(not_me.show_form)),
    _post("/not-me", handle_form(not_me.submit)),
    _get(unsubscribe.PATH, handle_page(unsubscribe.show_form)),
    _post(unsubscribe.PATH, handle_page(unsubscribe.unsubscribe, method="POST")),
    _post(unsubscribe.UNDO_PATH, handle_page(unsubscribe.subscribe_again, method="POST")),
    _get(watch_pause.PATH, handle_page(watch_pause.show_form)),
    _post(watch_pause.PATH, handle_page(watch_pause.pause, method="POST")),
    _post(watch_pause.RESUME_PATH, handle_page(watch_pause.resume, method="POST")),
]

DASHBOARD = [
    get_for_member("/dashboard", portfolio.show),
    *watch_list.ROUTES,
    *notices.ROUTES,
    *activity.ROUTES,
    *balances.ROUTES,
    *cards.ROUTES,
    *card_search.ROUTES,
    *card_credits.ROUTES,
    *statuses.ROUTES,
    *deadlines.ROUTES,
    *profile.ROUTES,
    *vouchers.ROUTES,
    *connections.ROUTES,
    *bookings.ROUTES,
    *flight_bookings.ROUTES,
    *hotel_bookings.ROUTES,
    *itinerary.ROUTES,
    *trips.ROUTES,
    *inbound_mail.ROUTES,
    *calendar_feed.ROUTES,
    *search.ROUTES,
    *search_day.ROUTES,
    *client_documents.ROUTES,
    *clients.ROUTES,
    get_for_member(connecting.WAITING, connecting.show_waiting),
    post_for_member("/dashboard/disconnect", connected_applications.disconnect),
    get_for_member(agent_claim.LINK, agent_claim.open_link, fresh=True),
    post_for_member(agent_claim.PATH, agent_claim.ask, fresh=True, page=account.PATH),
    post_for_member(f"{agent_claim.PATH}/confirm", agent_claim.claim, fresh=True, page=account.PATH),
    get_for_member("/dashboard/keys", api_keys.show),
    post_for_member("/dashboard/keys", api_keys.create, fresh=True),
    post_for_member("/dashboard/keys/revoke", api_keys.revoke),
    get_for_member("/dashboard/api-apps", oauth_apps.show),
    get_for_member("/dashboard/api-apps/new", oauth_apps.show_new),
    post_for_member("/dashboard/api-apps/new", oauth_apps.create, fresh=True),
    post_for_member("/dashboard/api-apps/rotate", oauth_apps.rotate, fresh=True, page=oauth_apps.PATH),
    post_for_member("/dashboard/api-apps/delete", oauth_apps.delete),
    get_for_member("/dashboard/spending", spending.show),
    post_for_member("/dashboard/spending/delete", spending.delete),
    post_for_member("/dashboard/spending/shops", spending.sort_shops),
    _post(
        "/dashboard/spending",
        handle_upload(
            form_for_member(partial(begin, spending.import_statement)),
            spending.MAX_FILE_BYTES,
            page_for_member(spending.show_too_large),
        ),
    ),
    *sheets.ROUTES,
    _post(
        sheets.UPLOAD,
        handle_upload(
            form_for_member(sheets.UPLOAD_FLOW), sheets.MAX_FILE_BYTES, page_for_member(sheets.show_too_large)
        ),
    ),
    get_for_member("/dashboard/settings", settings_page.show),
    post_for_member("/dashboard/settings", settings_page.save),
    get_for_member(forwarding_page.PATH, forwarding_page.show),
    post_for_member(forwarding_page.PATH, forwarding_page.add, fresh=True),
    post_for_member(f"{forwarding_page.PATH}/remove", forwarding_page.remove),
    get_for_member(phone_codes.PAGE, phones.show),
    post_for_member(phone_codes.PAGE, phones.send_code),
    post_for_member(f"{phone_codes.PAGE}/code", phones.send_another_code),
    post_for_member(f"{phone_codes.PAGE}/prove", phones.prove),
    post_for_member(f"{phone_codes.PAGE}/remove", phones.remove),
    *message_channels.ROUTES,
    *web_push.ROUTES,
    get_for_member("/dashboard/logo", settings_page.serve_logo),
    _post(
        "/dashboard/logo",
        handle_upload(
            form_for_member(settings_page.save_logo), logo.MAX_BYTES, page_for_member(settings_page.show_too_large)
        ),
    ),
    post_for_member("/dashboard/logo/remove", settings_page.delete_logo),
    get_for_member("/dashboard/security", security.show),
    post_for_member("/dashboard/security/browser", security.end_browser),
    post_for_member("/dashboard/security/application", security.end_application),
    post_for_member("/dashboard/security/key", security.end_key),
    post_for_member("/dashboard/security/everywhere", security.end_everywhere),
    *payment.ROUTES,
    get_for_member("/dashboard/account", account.show),
    _post(
        "/dashboard/account/password",
        handle_form(require_passwords(form_for_member(account.save_password)), hashes=True),
    ),
    get_for_member("/dashboard/account/address", account.show_address, fresh=True),
    post_for_member("/dashboard/account/address", account.request_address, fresh=True),
    post_for_member("/dashboard/account/address/withdraw", account.withdraw_address),
    post_for_member("/dashboard/account/export", account.export, fresh=True, page=account.PATH),
    get_for_member("/dashboard/account/delete", account.show_delete, fresh=True),
    post_for_member("/dashboard/account/delete", account.delete, hashes=True, fresh=True),
    get_for_member(sign_in_methods.PATH, sign_in_methods.show),
    get_for_member(sign_in_methods.NEW_PASSKEY, sign_in_methods.show_new_passkey, fresh=True),
    post_for_member(sign_in_methods.NEW_PASSKEY, sign_in_methods.add_passkey, fresh=True),
    post_for_member(
        f"{sign_in_methods.NEW_PASSKEY}/options",
        sign_in_methods.make_passkey_options,
        fresh=True,
        page=sign_in_methods.NEW_PASSKEY,
    ),
    post_for_member(
        f"{sign_in_methods.NEW_PASSKEY}/remove", sign_in_methods.remove_passkey, fresh=True, page=sign_in_methods.PATH
    ),
    _post(f"{sign_in_methods.PATH}/with/{{name}}", handle_start(linked_identities.start_connecting)),
    post_for_member(
        f"{sign_in_methods.PATH}/identity/remove", linked_identities.remove, fresh=True, page=sign_in_methods.PATH
    ),
    get_for_member(sign_in_methods.NEW_APP, sign_in_methods.show_new_app, fresh=True),
    post_for_member(sign_in_methods.NEW_APP, sign_in_methods.add_app, fresh=True),
    post_for_member(
        f"{sign_in_methods.NEW_APP}/remove", sign_in_methods.remove_app, fresh=True, page=sign_in_methods.PATH
    ),
    post_for_member(
        f"{sign_in_methods.PATH}/recovery-codes",
        sign_in_methods.renew_recovery_codes,
        fresh=True,
        page=sign_in_methods.PATH,
    ),
]

OPERATE = [
    *start.ROUTES,
    *users.ROUTES,
    *user_changes.ROUTES,
    *unfinished_work.ROUTES,
    *providers.ROUTES,
    *facts.ROUTES,
    *figures.ROUTES,
    *settings_in_force.ROUTES,
    *trail.ROUTES,
]

SITE = [*PUBLIC, *SIGN_IN, *DASHBOARD, *OPERATE]


_CACHE_HEADERS = {"Cache-Control": "public, max-age=300"}


async def serve_metadata(request: Request) -> Response:  # noqa: ARG001 - an endpoint's signature
    return JSONResponse(build_metadata(), headers=_CACHE_HEADERS)


_HANDLERS: dict[type[Exception] | int, ExceptionHandler] = {
    BodyTooLarge: error_handlers.respond_too_large,
    BodyIncomplete: error_handlers.respond_too_slow,
    RateLimited: error_handlers.respond_rate_limited,
    Busy: error_handlers.respond_busy,
    **dict.fromkeys(OUTAGE_ERRORS, error_handlers.respond_database_unavailable),
    HTTPException: error_handlers.respond_no_route,
    Exception: error_handlers.respond_internal_error,
}

ROUTES = [
    Route("/oauth/introspect", introspect, methods=["POST"]),  # first: called far more often than all others together
    Route("/oauth/token", token_endpoint.exchange, methods=["POST"]),
    Route("/internal/api-key", internal_api.handle_service_request(internal_api.describe_api_key), methods=["POST"]),
    Route("/internal/session", internal_api.handle_service_request(internal_api.describe_session), methods=["POST"]),
    Route("/internal/run-token", internal_api.handle_service_request(internal_api.issue_run_token), methods=["POST"]),
    Route("/internal/run-end", internal_api.handle_service_request(internal_api.end_run), methods=["POST"]),
    Route(agents.PATH, agents.register, methods=["POST"]),
    Route(billing_events.PATH, billing_events.take_event, methods=["POST"]),
    Route("/.well-known/agent.json", agents.serve_document, methods=["GET"]),
    Route(STYLESHEET_PATH, serve_stylesheet, methods=["GET"]),
    Route("/healthz", healthz, methods=["GET"]),
    Route("/readyz", readyz, methods=["GET"]),
    Route("/.well-known/oauth-authorization-server", serve_metadata, methods=["GET"]),
    Route("/.well-known/openid-configuration", serve_metadata, methods=["GET"]),
    Route("/oauth/register", register, methods=["POST"]),
    Route(
        "/oauth/authorize",
        handle_page(authorize.authorize, client_metadata.ensure_document, text=True),
        methods=["GET"],
    ),
    Route("/oauth/consent", handle_form(consent.decide), methods=["POST"]),
    Route("/oauth/revoke", handle_client_form(revocation.revoke), methods=["POST"]),
    Route("/oauth/userinfo", handle_bearer_request(openid.serve_userinfo), methods=["GET", "POST"]),
    Route("/oauth/jwks", handle_bearer_request(openid.serve_jwks), methods=["GET"]),
    *SITE,
]


def create_app() -> EdgeMiddleware:
    configure_logging()
    count_connections("auth_server")
    count_statement_connections("auth_server")
    start_tracing("auth_server")
    trace_statements(engine())
    trace_statements(statements())
    upstream = settings().mcp_upstream_url
    proxy, tool_server = ReverseProxy(upstream) if upstream else None, ToolServer()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001
        freeze_startup_objects()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep_sweeping)
            tasks.start_soon(WATCH.keep_reading)
            yield
            tasks.cancel_scope.cancel()
        await tool_server.close()
        if proxy is not None:
            await proxy.close()

    app = Starlette(routes=ROUTES, exception_handlers=_HANDLERS, lifespan=lifespan)
    app.router.redirect_slashes = False
    app.state.tool_server = tool_server
    return EdgeMiddleware(app, proxy)
