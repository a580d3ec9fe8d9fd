"""The environment as settings read it, whichever program wrote it there from a file."""

from collections.abc import Mapping

from pydantic_settings import EnvSettingsSource

from shared.quotes import unquote


class UnquotedEnvironment(EnvSettingsSource):
    """The variables of the environment, without quotes around their values."""

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name: value and unquote(value) for name, value in super()._load_env_vars().items()}
