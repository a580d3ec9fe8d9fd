"""The settings of providers: keys of the operator, applications registered with them, and their addresses."""

from typing import Annotated

from pydantic import AfterValidator, SecretStr
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from shared.environment import UnquotedEnvironment
from shared.setting_checks import check_numbers, check_outside_base

Numbers = Annotated[str, AfterValidator(check_numbers)]
OutsideUrl = Annotated[str, AfterValidator(check_outside_base)]


class ProviderSettings(BaseSettings):
    """The part of the settings that providers read."""

    model_config = SettingsConfigDict(env_prefix="", extra="ignore", frozen=True)

    seats_aero_api_key: SecretStr | None = None
    duffel_api_key: SecretStr | None = None
    serpapi_api_key: SecretStr | None = None
    travelpayouts_token: SecretStr | None = None
    liteapi_key: SecretStr | None = None
    rooms_aero_api_key: SecretStr | None = None
    flightaware_api_key: SecretStr | None = None  # delays only: neither prices nor seats, so it changes no data mode
    # what a contract with a source allows, where it is not what its card says: comma lists of NAME=NUMBER
    provider_concurrency: Numbers = ""  # requests at once, of all programs together
    provider_calls_a_day: Numbers = ""  # with one credential, in a UTC day
    # where the sources are: others only for tests and for proxies of your own
    seats_aero_base_url: OutsideUrl = "https://seats.aero/partnerapi"
    rooms_aero_base_url: OutsideUrl = "https://rooms.aero/partnerapi"
    duffel_base_url: OutsideUrl = "https://api.duffel.com"
    liteapi_base_url: OutsideUrl = "https://api.liteapi.travel/v3.0"
    serpapi_base_url: OutsideUrl = "https://serpapi.com"
    travelpayouts_base_url: OutsideUrl = "https://api.travelpayouts.com"
    faa_nas_base_url: OutsideUrl = "https://nasstatus.faa.gov/api"
    flightaware_base_url: OutsideUrl = "https://aeroapi.flightaware.com/aeroapi"
    ecb_base_url: OutsideUrl = "https://www.ecb.europa.eu/stats/eurofxref"
    frankfurter_base_url: OutsideUrl = "https://api.frankfurter.dev"
    watch_sources: bool = True  # false = no public file is read to compare our facts with
    # people's own accounts elsewhere; TripIt can be connected by a private calendar address without a key
    seats_aero_client_id: str | None = None
    seats_aero_client_secret: SecretStr | None = None
    seats_aero_oauth_url: OutsideUrl = "https://seats.aero/oauth2"
    awardwallet_api_key: SecretStr | None = None
    awardwallet_base_url: OutsideUrl = "https://business.awardwallet.com/api/export/v1"
    google_client_id: str | None = None
    google_client_secret: SecretStr | None = None
    google_authorize_url: OutsideUrl = "https://accounts.google.com/o/oauth2/v2/auth"
    google_oauth_url: OutsideUrl = "https://oauth2.googleapis.com"
    google_sheets_base_url: OutsideUrl = "https://sheets.googleapis.com"
    tripit_consumer_key: str | None = None
    tripit_consumer_secret: SecretStr | None = None
    tripit_base_url: OutsideUrl = "https://api.tripit.com"
    tripit_web_url: OutsideUrl = "https://www.tripit.com"  # also the only host of private calendars
    autopilot_client_id: str | None = None
    autopilot_client_secret: SecretStr | None = None  # also signs what is sent
    autopilot_authorize_url: OutsideUrl | None = None
    autopilot_token_url: OutsideUrl | None = None
    autopilot_revoke_url: OutsideUrl | None = None  # RFC 7009; absent = there is none
    autopilot_api_base: OutsideUrl | None = None
    autopilot_scope: str | None = None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - replaced
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as is usual, no file is read
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, UnquotedEnvironment(settings_cls)
