"""The site people see: every page and form of it, from its path to the flow behind it."""

from starlette.routing import Route

from auth_server.accounts import password_reset, signin, signup
from auth_server.pages import account, api_keys, dashboard, landing, logo, oauth_apps, settings, spending, unsubscribe
from auth_server.pages.member import MemberFlow, form_for_member, page_for_member
from auth_server.web.handlers import Handler, form, page, upload, upload_for_tool


def _get(path: str, endpoint: Handler) -> Route:
    return Route(path, endpoint, methods=["GET"])


def _post(path: str, endpoint: Handler) -> Route:
    return Route(path, endpoint, methods=["POST"])


def _member(path: str, shown: MemberFlow) -> Route:
    return _get(path, page(page_for_member(shown)))


def _change(path: str, flow: MemberFlow, *, hashes: bool = False) -> Route:
    return _post(path, form(form_for_member(flow), hashes=hashes))


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
    _get("/recover", page(password_reset.form)),
    _post("/recover", form(password_reset.submit)),
    _get("/reset", page(password_reset.reset_form)),
    _post("/reset", form(password_reset.reset, hashes=True)),
    _get(unsubscribe.PATH, page(unsubscribe.form)),
    _post(unsubscribe.PATH, page(unsubscribe.leave, method="POST")),
]

DASHBOARD = [
    _member("/dashboard", dashboard.page),
    _change("/dashboard/disconnect", dashboard.disconnect),
    _change("/dashboard/claim", dashboard.claim),
    _member("/dashboard/keys", api_keys.page),
    _change("/dashboard/keys", api_keys.create),
    _change("/dashboard/keys/revoke", api_keys.revoke),
    _member("/dashboard/api-apps", oauth_apps.page),
    _member("/dashboard/api-apps/new", oauth_apps.new),
    _change("/dashboard/api-apps/new", oauth_apps.create),
    _change("/dashboard/api-apps/rotate", oauth_apps.rotate),
    _change("/dashboard/api-apps/delete", oauth_apps.delete),
    _member("/dashboard/spending", spending.page),
    _post(
        "/dashboard/spending",
        upload_for_tool(form_for_member(spending.begin), spending.MOST_BYTES, spending.after),
    ),
    _member("/dashboard/settings", settings.page),
    _change("/dashboard/settings", settings.save),
    _member("/dashboard/logo", settings.picture),
    _post("/dashboard/logo", upload(form_for_member(settings.upload), logo.MAX_BYTES)),
    _change("/dashboard/logo/remove", settings.remove),
    _change("/dashboard/documents/revoke", settings.revoke),
    _member("/dashboard/account", account.page),
    _change("/dashboard/account/password", account.password, hashes=True),
    _change("/dashboard/account/session", account.end_session),
    _change("/dashboard/account/sessions", account.end_sessions),
    _change("/dashboard/account/export", account.copy),
    _member("/dashboard/account/delete", account.leaving),
    _change("/dashboard/account/delete", account.leave, hashes=True),
]

SITE = [*PUBLIC, *DOORS, *DASHBOARD]
