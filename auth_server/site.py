"""The site people see: every page and form of it, from its path to the flow behind it."""

from starlette.routing import Route

from auth_server import (
    account_pages,
    api_apps,
    dashboard,
    key_pages,
    landing,
    logo,
    recovery,
    settings_pages,
    signin,
    signup,
    spending_pages,
    unsubscribe,
)
from auth_server.doors import Handler, form, page, upload, upload_for_tool
from auth_server.member import Inside, seen, sent


def _get(path: str, endpoint: Handler) -> Route:
    return Route(path, endpoint, methods=["GET"])


def _post(path: str, endpoint: Handler) -> Route:
    return Route(path, endpoint, methods=["POST"])


def _member(path: str, shown: Inside) -> Route:
    return _get(path, page(seen(shown)))


def _change(path: str, flow: Inside, *, hashes: bool = False) -> Route:
    return _post(path, form(sent(flow), hashes=hashes))


PUBLIC = [
    _get("/", landing.landing),
    _get("/plans", landing.plans),
    _get("/problems", landing.problems),
    _get("/privacy", landing.legal("privacy.html")),
    _get("/terms", landing.legal("terms.html")),
    _get("/support", landing.legal("support.html")),
    _get("/static/icon.svg", landing.picture("icon.svg", "image/svg+xml")),
    _get("/static/icon.png", landing.picture("icon.png", "image/png")),
    _get("/favicon.ico", landing.picture("icon.png", "image/png")),
    _get("/.well-known/openai-apps-challenge", landing.challenge),
]

DOORS = [
    _get("/signin", page(signin.form)),
    _post("/signin", form(signin.submit, hashes=True)),
    _post("/signout", form(signin.leave)),
    _get("/signup", page(signup.form)),
    _post("/signup", form(signup.submit)),
    _get("/confirm", page(signup.confirm_form)),
    _post("/confirm", form(signup.confirm, hashes=True)),
    _get("/recover", page(recovery.form)),
    _post("/recover", form(recovery.submit)),
    _get("/reset", page(recovery.reset_form)),
    _post("/reset", form(recovery.reset, hashes=True)),
    _get(unsubscribe.PATH, page(unsubscribe.form)),
    _post(unsubscribe.PATH, page(unsubscribe.leave, method="POST")),
]

DASHBOARD = [
    _member("/dashboard", dashboard.page),
    _change("/dashboard/disconnect", dashboard.disconnect),
    _change("/dashboard/claim", dashboard.claim),
    _member("/dashboard/keys", key_pages.page),
    _change("/dashboard/keys", key_pages.create),
    _change("/dashboard/keys/revoke", key_pages.revoke),
    _member("/dashboard/api-apps", api_apps.page),
    _member("/dashboard/api-apps/new", api_apps.new),
    _change("/dashboard/api-apps/new", api_apps.create),
    _change("/dashboard/api-apps/rotate", api_apps.rotate),
    _change("/dashboard/api-apps/delete", api_apps.delete),
    _member("/dashboard/spending", spending_pages.page),
    _post(
        "/dashboard/spending",
        upload_for_tool(sent(spending_pages.begin), spending_pages.MOST_BYTES, spending_pages.after),
    ),
    _member("/dashboard/settings", settings_pages.page),
    _change("/dashboard/settings", settings_pages.save),
    _member("/dashboard/logo", settings_pages.picture),
    _post("/dashboard/logo", upload(sent(settings_pages.upload), logo.MAX_BYTES)),
    _change("/dashboard/logo/remove", settings_pages.remove),
    _change("/dashboard/documents/revoke", settings_pages.revoke),
    _member("/dashboard/account", account_pages.page),
    _change("/dashboard/account/password", account_pages.password, hashes=True),
    _change("/dashboard/account/session", account_pages.end_session),
    _change("/dashboard/account/sessions", account_pages.end_sessions),
    _change("/dashboard/account/export", account_pages.copy),
    _member("/dashboard/account/delete", account_pages.leaving),
    _change("/dashboard/account/delete", account_pages.leave, hashes=True),
]

SITE = [*PUBLIC, *DOORS, *DASHBOARD]
