"""Routes of all pages and forms: public pages, sign-in and sign-up, dashboard."""

from starlette.routing import Route

from auth_server.accounts import password_reset, signin, signup
from auth_server.pages import account, api_keys, dashboard, landing, logo, oauth_apps, settings, spending, unsubscribe
from auth_server.pages.member import MemberFlow, form_for_member, page_for_member
from auth_server.pages.uploads import handle_tool_upload
from auth_server.web.handlers import Handler, handle_form, handle_page, handle_upload


def _get(path: str, endpoint: Handler) -> Route:
    return Route(path, endpoint, methods=["GET"])


def _post(path: str, endpoint: Handler) -> Route:
    return Route(path, endpoint, methods=["POST"])


def _get_for_member(path: str, flow: MemberFlow) -> Route:
    return _get(path, handle_page(page_for_member(flow)))


def _post_for_member(path: str, flow: MemberFlow, *, hashes: bool = False) -> Route:
    return _post(path, handle_form(form_for_member(flow), hashes=hashes))


PUBLIC = [
    _get("/", landing.serve_landing),
    _get("/plans", landing.serve_plans),
    _get("/problems", landing.serve_problems),
    _get("/privacy", landing.serve_legal_page("privacy.html")),
    _get("/terms", landing.serve_legal_page("terms.html")),
    _get("/support", landing.serve_legal_page("support.html")),
    _get("/static/icon.svg", landing.serve_picture("icon.svg", "image/svg+xml")),
    _get("/static/icon.png", landing.serve_picture("icon.png", "image/png")),
    _get("/favicon.ico", landing.serve_picture("icon.png", "image/png")),
    _get("/.well-known/openai-apps-challenge", landing.serve_challenge),
]

SIGN_IN = [
    _get("/signin", handle_page(signin.show_form)),
    _post("/signin", handle_form(signin.submit, hashes=True)),
    _post("/signout", handle_form(signin.sign_out)),
    _get("/signup", handle_page(signup.show_form)),
    _post("/signup", handle_form(signup.submit)),
    _get("/confirm", handle_page(signup.show_confirm_form)),
    _post("/confirm", handle_form(signup.confirm, hashes=True)),
    _get("/recover", handle_page(password_reset.show_form)),
    _post("/recover", handle_form(password_reset.submit)),
    _get("/reset", handle_page(password_reset.show_reset_form)),
    _post("/reset", handle_form(password_reset.reset, hashes=True)),
    _get(unsubscribe.PATH, handle_page(unsubscribe.show_form)),
    _post(unsubscribe.PATH, handle_page(unsubscribe.unsubscribe, method="POST")),
]

DASHBOARD = [
    _get_for_member("/dashboard", dashboard.show),
    _post_for_member("/dashboard/disconnect", dashboard.disconnect),
    _post_for_member("/dashboard/claim", dashboard.claim),
    _get_for_member("/dashboard/keys", api_keys.show),
    _post_for_member("/dashboard/keys", api_keys.create),
    _post_for_member("/dashboard/keys/revoke", api_keys.revoke),
    _get_for_member("/dashboard/api-apps", oauth_apps.show),
    _get_for_member("/dashboard/api-apps/new", oauth_apps.show_new),
    _post_for_member("/dashboard/api-apps/new", oauth_apps.create),
    _post_for_member("/dashboard/api-apps/rotate", oauth_apps.rotate),
    _post_for_member("/dashboard/api-apps/delete", oauth_apps.delete),
    _get_for_member("/dashboard/spending", spending.show),
    _post(
        "/dashboard/spending",
        handle_tool_upload(form_for_member(spending.prepare_import), spending.MAX_FILE_BYTES, spending.show_import),
    ),
    _get_for_member("/dashboard/settings", settings.show),
    _post_for_member("/dashboard/settings", settings.save),
    _get_for_member("/dashboard/logo", settings.serve_logo),
    _post("/dashboard/logo", handle_upload(form_for_member(settings.save_logo), logo.MAX_BYTES)),
    _post_for_member("/dashboard/logo/remove", settings.delete_logo),
    _post_for_member("/dashboard/documents/revoke", settings.revoke_document),
    _get_for_member("/dashboard/account", account.show),
    _post_for_member("/dashboard/account/password", account.save_password, hashes=True),
    _post_for_member("/dashboard/account/session", account.end_session),
    _post_for_member("/dashboard/account/sessions", account.end_sessions),
    _post_for_member("/dashboard/account/export", account.export),
    _get_for_member("/dashboard/account/delete", account.show_delete),
    _post_for_member("/dashboard/account/delete", account.delete, hashes=True),
]

SITE = [*PUBLIC, *SIGN_IN, *DASHBOARD]
