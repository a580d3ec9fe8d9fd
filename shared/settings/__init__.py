"""The settings of the service, read once from the environment; all that is missing or wrong is reported at once.

`checks` says what a value may be; `identity_providers` reads the settings of providers of OpenID Connect.
"""

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from shared.settings.checks import (
    check_level,
    check_networks,
    check_new_secrets,
    check_numbers,
    check_origins,
    check_outside_base,
    check_own_password,
    check_server,
    check_web_address,
    driver_url,
)
from shared.settings.identity_providers import EnterpriseIssuers, OidcProviders
from shared.tls import check_bundle
from shared.variables import SettingsError as SettingsError
from shared.variables import name_file, read_variable

# The environment as settings read it, whichever program wrote it there from a file.


class Environment(EnvSettingsSource):
    """The variables of the environment, without quotes around their values; NAME_FILE is a file with NAME."""

    def _load_env_vars(self) -> Mapping[str, str | None]:
        variables, values, faults = super()._load_env_vars(), dict[str, str | None](), []
        for name in self.settings_cls.model_fields:
            if name in variables or name_file(name) in variables:
                try:
                    values[name] = read_variable(name, variables)
                except SettingsError as fault:
                    faults.append(str(fault))
        if faults:
            raise SettingsError("\n".join(faults))
        return values


# The settings of providers: keys of the operator, applications registered with them, and their addresses.

Numbers = Annotated[str, AfterValidator(check_numbers)]
Origins = Annotated[str, AfterValidator(check_origins)]
Networks = Annotated[str, AfterValidator(check_networks)]
WebAddress = Annotated[str, AfterValidator(check_web_address)]
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
        return init_settings, Environment(settings_cls)


# The settings of log lines, metrics and traces.


class TelemetrySettings(BaseModel):
    """The part of the settings by which programs tell how they are."""

    log_level: Annotated[str, AfterValidator(check_level)] = "WARNING"
    log_format: Literal["text", "json"] = "text"  # of the lines on standard error, in all programs
    # metrics for Prometheus; each program listens at its own port: auth_server, mcp_server, dispatcher, worker, inbox
    metrics_host: str = "127.0.0.1"
    # of the first program; absent = none of them listens; 0 = under `award-travel up` a free one, else as absent
    metrics_port: int | None = Field(None, ge=0, le=65531)
    metrics_token: SecretStr | None = None  # the bearer token a scraper must send; absent = none is asked for
    metrics_dir: Path | None = None  # where the processes of a program count; absent = its own temporary folder
    # traces for OpenTelemetry, by the names its documentation uses
    otel_exporter_otlp_endpoint: str | None = Field(None, pattern=r"https?://\S+")  # absent = there are none
    otel_exporter_otlp_headers: SecretStr | None = None  # comma list of NAME=VALUE, such as the collector's key
    otel_traces_sampler_arg: float = Field(1.0, ge=0, le=1)  # the share of traces that is kept


# The settings of plans: how they change hands, and what they cost.

_PRICE = re.compile(r"(premium|pro|enterprise)=([A-Za-z0-9_]{1,100})")


class BillingSettings(BaseModel):
    """The part of the settings by which people pay for plans, or the operator gives them."""

    premium_price: float = 9.99
    pro_price: float | None = None  # as the pages say it; absent = on request, or said where people pay
    enterprise_price: float | None = None
    plan_change_text: str | None = None  # how people change their plan; absent = by writing to the operator
    plan_change_url: str | None = None
    billing: Literal["manual", "stripe"] = "manual"  # manual = the operator sets plans by command
    billing_grace_days: int = Field(7, ge=0, le=60)  # for which a plan is kept while its payment fails
    billing_trial_days: int = Field(0, ge=0, le=365)  # before the first payment of an account's first subscription
    stripe_secret_key: SecretStr | None = None
    stripe_webhook_secrets: SecretStr | None = None  # comma list: all are taken
    stripe_prices: str = ""  # comma list of plan=price id: the first of a plan is sold, all are recognised
    stripe_base_url: Annotated[str, AfterValidator(check_outside_base)] = "https://api.stripe.com"

    @field_validator("stripe_prices")
    @classmethod
    def _check_prices(cls, value: str) -> str:
        names = [_PRICE.fullmatch(part.strip()) for part in value.split(",") if part.strip()]
        if None in names:
            raise ValueError("must be a list such as premium=price_123,pro=price_456")
        ids = [name[2] for name in names if name]
        if len(ids) != len(set(ids)):
            raise ValueError("names one price twice")
        return value

    @model_validator(mode="after")
    def _check_stripe_is_whole(self) -> "BillingSettings":
        needs = {
            "STRIPE_SECRET_KEY": self.stripe_secret_key and self.stripe_secret_key.get_secret_value(),
            "STRIPE_WEBHOOK_SECRETS": self.stripe_webhook_secrets and self.stripe_webhook_secrets.get_secret_value(),
            "STRIPE_PRICES": self.stripe_prices,
        }
        missing = [name for name, value in needs.items() if not value]
        if self.billing == "stripe" and missing:
            raise ValueError(f"BILLING=stripe needs {', '.join(missing)}")
        return self

    @cached_property
    def prices(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a plan and a price id at Stripe, as they stand in the setting."""
        return tuple((plan, price) for plan, price in _PRICE.findall(self.stripe_prices))


# The settings of backups.


class BackupSettings(BaseModel):
    """The part of the settings by which `award-travel backup` runs unattended."""

    backup_folder: Path | None = None  # where `award-travel backup` writes when no file is named
    backup_keep_days: PositiveInt = 7  # the newest backup of each of so many days stays
    backup_keep_weeks: NonNegativeInt = 5  # and of each of so many weeks
    backup_recipients: str = ""  # comma list of public keys of age; empty = not encrypted
    backup_upload: str | None = None  # a command that takes the file elsewhere; {} stands for it
    backup_upload_seconds: PositiveInt = 3600
    backup_max_age_hours: PositiveInt = 26  # of the last good one, before doctor calls it a fault


VERSION = "0.4.0"
STATUS = "Online"
SCOPE = "mcp:read"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
# What the web host hands to the MCP server, Host unchanged; the sample proxy file is tested against this list.
PASSED_PATHS = (
    "/mcp",
    "/api/v1/tools",
    "/api/v1/facts",
    "/facts/",
    "/.well-known/openapi.yaml",
    "/.well-known/ai-catalog.json",
    "/skills/",
    "/tools",
    "/status",
    "/integrations/",
    "/feeds/",
    "/shared/",
    "/hooks/mail",
)

DataMode = Literal["sandbox", "live"]


class Settings(BackupSettings, TelemetrySettings, BillingSettings, ProviderSettings):
    """One line per setting; deploy/env.example is compared with this class by a test."""

    # what the service is
    app_env: Literal["development", "production"] = "development"
    service_name: str = Field("Award Travel", min_length=1, max_length=60)  # as pages and what they link to call it
    web_url: WebAddress = "http://127.0.0.1:8000"  # public web address: OAuth issuer, pages, REST
    mcp_url: WebAddress = "http://127.0.0.1:8001/mcp"  # dedicated tool address, ending in /mcp
    mcp_upstream_url: WebAddress | None = None  # where the web host finds the MCP server; absent = a proxy does it
    auth_internal_url: WebAddress | None = None  # where tools and jobs find the auth server; absent = at WEB_URL
    # where state lives
    database_url: str
    database_pooling: Literal["session", "transaction"] = "session"  # transaction = PgBouncer lends connections so
    database_direct_url: str | None = None  # past the pooler, for tables and backups; absent = DATABASE_URL
    redis_url: Annotated[str, AfterValidator(lambda url: check_server(url, "redis", "rediss", "unix"))]
    secret_keys: SecretStr  # comma list, newest first: seals tokens at rest and derives one-time links
    service_client_id: str = "award-travel-services"
    service_client_secret: SecretStr  # comma list: our own confidential client shows the first, all are taken
    ca_bundle: Path | None = None  # PEM file of authorities to trust besides the public ones and this machine's
    # data
    award_backend: Literal["sandbox", "live"] | None = None
    sandbox_fault: str | None = None  # down | quota | empty | slow:SECONDS, to show outage wording
    # mail
    mail_backend: Literal["outbox", "smtp"] = "outbox"
    mail_from: str = "noreply@localhost"  # without a name of its own it is sent under that of the service
    outbox_dir: Path | None = None  # where the outbox backend writes .eml files
    smtp_host: str = "127.0.0.1"
    smtp_port: int = 587
    smtp_username: str | None = None
    smtp_password: SecretStr | None = None
    smtp_security: Literal["starttls", "tls", "none"] = "starttls"
    inbound_mail_domain: str | None = None  # of the addresses booking confirmations are forwarded to
    inbound_smtp_host: str = "127.0.0.1"  # where `python -m jobs inbox` listens
    inbound_smtp_port: int | None = None  # absent = no listener
    inbound_smtp_tls_cert: Path | None = None  # PEM files; with both the listener offers STARTTLS
    inbound_smtp_tls_key: Path | None = None
    inbound_hook_secret: SecretStr | None = None  # what X-Hook-Secret must be at POST /hooks/mail; absent = no hook
    mail_signatures: bool = True  # false = none is checked, where there is no DNS to look keys up in
    booking_inbox_trial_days: int = 14  # once per Free account, from its first get_booking_inbox; 0 = none
    # messages to phones, for delay alerts
    twilio_account_sid: str | None = None
    twilio_auth_token: SecretStr | None = None
    twilio_sms_from: str | None = None  # a number, or the MG... id of a messaging service
    twilio_whatsapp_from: str | None = None
    twilio_whatsapp_content_sid: str | None = None  # an approved template with three blanks
    twilio_whatsapp_code_content_sid: str | None = None  # an authentication template, whose one blank is the code
    twilio_base_url: OutsideUrl = "https://api.twilio.com/2010-04-01"
    phone_codes_per_day: PositiveInt = 200  # that prove phone numbers, of all accounts together
    sandbox_allow_messages: bool = False  # true = invented data is sent to phones and people's channels too
    channel_networks: Networks = ""  # comma list of networks that people's channels may reach besides public addresses
    operator_email: str | None = None
    operator_name: str = "the operator of this installation"  # as the terms and the privacy page call them
    # the language model that carries out standing orders; without a name there are none
    standing_order_model: str | None = None
    standing_order_model_kind: Literal["anthropic", "openai"] = "anthropic"  # or any endpoint that speaks like it
    standing_order_model_url: OutsideUrl = "https://api.anthropic.com/v1"
    standing_order_model_key: SecretStr | None = None  # a model on this machine needs none
    standing_order_model_auth: Literal["bearer", "x-api-key"] = "bearer"
    standing_order_model_version: str = "2026-10-21"  # of the Anthropic API
    standing_order_areas: str = ""  # comma list of the areas whose tools it is offered; empty = all that read
    standing_order_steps: int = Field(8, ge=1, le=30)  # answers of the model in one run
    standing_order_calls: int = Field(12, ge=1, le=100)  # of tools in one run
    standing_order_tokens: PositiveInt = 400_000  # read and written in one run
    standing_order_answer_tokens: PositiveInt = 2_000  # of one answer
    standing_order_seconds: float = Field(55, gt=0, le=55)  # of one run: it has to end before its worker is stopped
    # authorization
    oauth_dcr_redirect_host_allowlist: str = ""  # comma list of further redirect hosts
    client_document_fetch: bool = True  # false = applications known by a document are those whose copy is shipped
    # known = of hosts in the shipped list and in oauth_dcr_redirect_host_allowlist alone
    client_document_hosts: Literal["any", "known"] = "any"
    dcr: bool = True  # false = applications do not register themselves
    dcr_per_hour: int = 20
    dcr_trusted_ranges: Networks = "160.79.104.0/21"  # comma list of networks with the higher limit
    dcr_trusted_per_hour: int = 5000
    agents_per_hour: int = 20  # accounts one address may make for agents
    agent_registration: bool | None = None  # false = programs make no accounts; absent = as long as sign-up is open
    # who may make an account; absent = open where WEB_URL is loopback, else invite
    signup: Literal["open", "invite", "domains", "closed"] | None = None
    signup_domains: str = ""  # comma list of mail domains, for SIGNUP=domains
    # sign-in by others
    oidc_providers: OidcProviders = {}  # JSON: Google, GitHub, or any issuer of OpenID Connect, by name
    password_sign_in: bool = True  # false = by these providers and passkeys alone
    enterprise_issuers: EnterpriseIssuers = {}  # JSON: whose assertions are exchanged for tokens (ID-JAG), by issuer
    # limits and pace
    tool_calls_per_day: int | None = None  # overrides every plan's daily ceiling
    tool_calls_per_minute: PositiveInt = 240  # of one account over MCP and REST together, in each process
    anonymous_calls_per_hour: int = 60  # REST calls without a key, of one address
    pdf_link_days: PositiveInt = 90  # how long the public link of a branded PDF opens
    route_monitor_interval_seconds: PositiveInt = 6 * 3600
    flight_alert_interval_seconds: PositiveInt = 6 * 3600
    delay_check_interval_seconds: PositiveInt = 300
    dispatcher_interval_seconds: PositiveFloat = 0.5
    gather_seconds: NonNegativeFloat = 5  # how long checks that fell due wait for others, to be done by one process
    job_lease_seconds: PositiveFloat = 150  # how long a worker may hold a run or a message before another takes over
    wake_up_seconds: PositiveFloat = 60  # how long a wake-up call in the queue is believed before it is made again
    database_threads: int = 10  # size of the connection pool and of the thread limiter next to it
    # how many days the service keeps what it writes about itself; what people store stays until they remove it
    keep_usage_days: int = Field(120, ge=91)  # tool calls and past counters; statistics go back 90 days
    keep_runs_days: PositiveInt = 30
    keep_checks_days: PositiveInt = 90  # the log of a route monitor; it goes by the week
    keep_deliveries_days: PositiveInt = 90
    keep_observations_days: PositiveInt = 365  # prices seen, and what points were worth by day
    keep_security_days: PositiveInt = 365  # security events of accounts
    keep_trail_days: PositiveInt = 730  # what operators did to accounts and applications
    # the rest
    cors_origins: Origins = ""  # comma list of origins whose pages may call /mcp and REST, besides those on loopback
    openai_apps_challenge: str | None = None  # what the plugin portal asks a host to show
    forwarded_allow_ips: str = "127.0.0.1"  # proxies whose forwarding headers are believed

    @field_validator("sandbox_fault")
    @classmethod
    def _fault(cls, value: str | None) -> str | None:
        if value and not re.fullmatch(r"down|quota|empty|slow:\d{1,3}(\.\d+)?s?", value):
            raise ValueError("must be down, quota, empty or slow:SECONDS")
        return value or None

    @field_validator("mcp_url")
    @classmethod
    def _mcp_path(cls, value: str) -> str:
        if not value.endswith("/mcp"):
            raise ValueError("must end in /mcp")
        return value

    @field_validator("ca_bundle", mode="before")
    @classmethod
    def _readable_bundle(cls, value: str | None) -> str | None:
        if value:
            check_bundle(value)
        return value or None

    @field_validator("database_url", "database_direct_url")
    @classmethod
    def _driver(cls, value: str | None) -> str | None:
        return driver_url(value) if value else None

    @field_validator("database_url", "database_direct_url", "redis_url")
    @classmethod
    def _own_password(cls, value: str | None, info: ValidationInfo) -> str | None:
        return check_own_password(value) if value and info.data.get("app_env") == "production" else value

    @field_validator("secret_keys", "service_client_secret")
    @classmethod
    def _new_secrets(cls, value: SecretStr, info: ValidationInfo) -> SecretStr:
        return check_new_secrets(value) if info.data.get("app_env") == "production" else value

    @model_validator(mode="after")
    def _one_data_mode(self) -> "Settings":
        live = self.live_backends
        if self.award_backend == "sandbox" and live:
            raise ValueError(f"AWARD_BACKEND=sandbox refuses to run next to {', '.join(live)}; unset one of them")
        return self

    @model_validator(mode="after")
    def _way_past_the_pooler(self) -> "Settings":
        if self.database_pooling == "transaction" and not self.database_direct_url:
            raise ValueError("DATABASE_POOLING=transaction needs DATABASE_DIRECT_URL, the address of PostgreSQL itself")
        return self

    @model_validator(mode="after")
    def _one_way_in(self) -> "Settings":
        if not self.password_sign_in and not self.oidc_providers:
            raise ValueError("PASSWORD_SIGN_IN=false needs a provider in OIDC_PROVIDERS, or no one could sign up")
        return self

    @model_validator(mode="after")
    def _domains_for_sign_up(self) -> "Settings":
        if self.signup == "domains" and not self.allowed_mail_domains:
            raise ValueError("SIGNUP=domains needs SIGNUP_DOMAINS, such as example.com,example.org")
        return self

    @cached_property
    def direct_url(self) -> str:
        """The database's address past any pooler."""
        return self.database_direct_url or self.database_url

    @cached_property
    def signup_rule(self) -> str:
        """Who may sign up: at a public address only people the operator admits, unless a setting says otherwise."""
        is_local = urlsplit(self.web_url).hostname in ("127.0.0.1", "localhost", "::1")
        return self.signup or ("open" if is_local else "invite")

    @cached_property
    def allowed_mail_domains(self) -> frozenset[str]:
        names = (name.strip().lower() for name in self.signup_domains.split(","))
        return frozenset(name for name in names if name)

    @cached_property
    def allowed_endings(self) -> str:
        """The allowed endings of addresses, in words."""
        return " or ".join(f"@{name}" for name in sorted(self.allowed_mail_domains))

    @cached_property
    def takes_signup_forms(self) -> bool:
        """Whether the sign-up form is open; invitations have their own page."""
        return self.signup_rule in ("open", "domains")

    @cached_property
    def agents_may_register(self) -> bool:
        return self.signup_rule == "open" if self.agent_registration is None else self.agent_registration

    @cached_property
    def live_backends(self) -> tuple[str, ...]:
        keys = {
            "SEATS_AERO_API_KEY": self.seats_aero_api_key,
            "DUFFEL_API_KEY": self.duffel_api_key,
            "SERPAPI_API_KEY": self.serpapi_api_key,
            "TRAVELPAYOUTS_TOKEN": self.travelpayouts_token,
            "LITEAPI_KEY": self.liteapi_key,
            "ROOMS_AERO_API_KEY": self.rooms_aero_api_key,
            "SEATS_AERO_CLIENT_SECRET": self.seats_aero_client_secret,
        }
        return tuple(name for name, value in keys.items() if value and value.get_secret_value())

    @cached_property
    def data_mode(self) -> DataMode:
        """Sandbox only when asked for, or in development with no live backend; never a silent fallback."""
        if self.award_backend:
            return self.award_backend
        return "sandbox" if self.app_env == "development" and not self.live_backends else "live"

    @cached_property
    def encryption_keys(self) -> list[str]:
        return [k.strip() for k in self.secret_keys.get_secret_value().split(",") if k.strip()]

    @cached_property
    def inbox_domain(self) -> str | None:
        """Where booking confirmations are sent; in development one that exists on this machine alone."""
        return self.inbound_mail_domain or ("inbox.localhost" if self.app_env == "development" else None)

    @cached_property
    def secure(self) -> bool:
        return self.web_url.startswith("https://")

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """The addresses tokens are good for: /mcp on both hosts, and on each loopback name in the local set-up."""
        bases = dict.fromkeys((self.mcp_url, f"{self.web_url}/mcp"))
        for url in tuple(bases):
            parts = urlsplit(url)
            if parts.hostname in ("127.0.0.1", "localhost"):
                for name in ("127.0.0.1", "localhost"):
                    bases.setdefault(parts._replace(netloc=f"{name}:{parts.port or 80}").geturl())
        return tuple(bases)

    @cached_property
    def page_origins(self) -> frozenset[bytes]:
        """The origins whose pages may call /mcp and REST: this service's own, and what the operator names."""
        own = {f"{parts.scheme}://{parts.netloc}" for parts in map(urlsplit, self.resources)}
        return frozenset(origin.strip().encode() for origin in (*own, *self.cors_origins.split(",")) if origin.strip())

    @cached_property
    def hosts(self) -> frozenset[str]:
        """The accepted Host values."""
        return frozenset(urlsplit(r).netloc for r in self.resources)


def _describe_faults(error: ValidationError) -> str:
    lines = []
    for e in error.errors():
        name, rest = (str(e["loc"][0]).upper(), e["loc"][1:]) if e["loc"] else ("settings", ())
        name += f" ({'.'.join(map(str, rest))})" if rest else ""
        text = "is not set" if e["type"] == "missing" else e["msg"].removeprefix("Value error, ")
        lines.append(f"  {name}: {text}")
    return "The settings are incomplete:\n" + "\n".join(lines) + "\nSee deploy/env.example for what each one means."


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this process; raises SettingsError naming everything missing."""
    try:
        return Settings()
    except ValidationError as error:
        raise SettingsError(_describe_faults(error)) from None
