"""Words of security events: the title of each kind, and the sentence of its mail and notice."""

from collections.abc import Mapping
from typing import Any

# The title in the subject of the mail and on the security page, and a sentence with the subject in it.
EVENT_WORDS: dict[str, tuple[str, str]] = {
    "new_browser": ("A new browser signed in", "Someone signed in to your account with {browser}."),
    "application_allowed": ("An application was allowed", "{subject} may now use your account."),
    "application_created": ("An application was registered", "The application {subject} was registered by hand."),
    "application_secret": ("The secret of an application was changed", "{subject} has a new client secret."),
    "key_created": ("An API key was made", "The API key {subject} was made. It opens your whole account."),
    "password_changed": ("Your password was changed", "The password was changed. Other browsers were signed out."),
    "password_reset": (
        "Your password was reset",
        "A new password was chosen with a link from a mail to you. All browsers were signed out, and all applications"
        " and keys that were not ticked to stay.",
    ),
    "password_locked": (
        "Your password is locked",
        "A wrong password was entered 100 times in a row, so your password no longer opens the account."
        " Sign in with a passkey, or choose a new password.",
    ),
    "address_asked": (
        "A new email address was asked for",
        "Someone asked to change the address of your account to {subject}. Nothing has changed yet.",
    ),
    "address_changed": ("Your email address was changed", "The address of your account is now {subject}."),
    "forwarding_added": (
        "An address to forward from was added",
        "Bookings forwarded from {subject} are filed in your account from now on.",
    ),
    "factor_added": ("A sign-in method was added", "{subject} can now be used to sign in."),
    "factor_removed": ("A sign-in method was removed", "{subject} can no longer be used to sign in."),
    "phone_added": ("A phone number was added", "Alerts can now be sent to {subject}."),
    "phone_removed": ("A phone number was removed", "Nothing more is sent to {subject}."),
    "channel_added": ("A channel was added", "What you choose is now sent to {subject}."),
    "channel_removed": ("A channel was removed", "Nothing more is sent to {subject}."),
    "code_guesses": (
        "Wrong codes were entered",
        "Your password was entered, followed by ten wrong codes. If it was not you, someone knows your password.",
    ),
    "recovery_codes": ("New recovery codes were made", "The recovery codes made before no longer work."),
    "recovery_code_used": ("A recovery code was used", "Someone signed in with one of your recovery codes."),
    "agent_claimed": ("An agent was claimed", "What the agent {subject} kept became yours, and its key has ended."),
    "agent_claimed_with_key": (
        "An agent was claimed with its key",
        "What the agent {subject} kept became yours, and its key opens your whole account.",
    ),
    "data_exported": ("A copy of your data was made", "Someone downloaded everything your account holds."),
    "account_suspended": (
        "Your account was suspended",
        "The operator of this service suspended your account. No one can use it until then, and nothing was deleted.",
    ),
    "account_restored": ("Your account was restored", "Your account can be used again."),
    "access_ended": ("Access to your account was ended", "The operator of this service ended {subject}."),
    "everything_ended": (
        "Every access was ended",
        "All browsers, applications and keys were signed out, because you said that it was not you.",
    ),
}

BY_OPERATOR = frozenset({"account_suspended", "account_restored", "access_ended"})  # no thief can have done these


def title(facts: Mapping[str, Any]) -> str:
    return EVENT_WORDS[facts["kind"]][0]


def sentence(facts: Mapping[str, Any]) -> str:
    """What happened, with the names in it."""
    browser = (facts["browser"] or "a program").replace("A browser", "a browser")
    names = {"subject": facts["subject"] or "It", "browser": browser}
    return EVENT_WORDS[facts["kind"]][1].format(**names)
