"""The queue's part of the metrics: living workers, the dispatcher, and the use of each quota."""

from collections.abc import Iterator, Mapping

from redis.exceptions import RedisError

from shared.limits import peek
from shared.providers import registry
from shared.services.operations.workers import list_programs
from shared.settings import settings
from shared.telemetry.readings import Readings, Series

DAY_SECONDS = 86_400
QUEUES = ("deliveries", "checks", "mail")
_GAUGES: dict[str, tuple[str, list[str]]] = {
    "award_workers": ("Workers that gave a sign of life, by queue.", ["queue"]),
    "award_dispatchers": ("Dispatchers that gave a sign of life.", []),
    "award_quota_spent": ("Spent of a quota in its present day, as far as the limit goes.", ["quota"]),
    "award_quota_left": ("Left of a quota in its present day.", ["quota"]),
}


def collect_queue() -> Readings:
    return Readings("award_queue_up", _GAUGES, _read, (RedisError, OSError))


def _read() -> Mapping[str, Series]:
    living = [program for program in list_programs() if program.is_living]
    spent = {name: (min(peek(key, limit, DAY_SECONDS).count, limit), limit) for name, key, limit in _list_quotas()}
    return {
        "award_workers": {(queue,): sum(queue in program.queues for program in living) for queue in QUEUES},
        "award_dispatchers": {(): sum(program.kind == "dispatcher" for program in living)},
        "award_quota_spent": {(name,): count for name, (count, _) in spent.items()},
        "award_quota_left": {(name,): limit - count for name, (count, limit) in spent.items()},
    }


def _list_quotas() -> Iterator[tuple[str, str, int]]:
    """Name, counter and limit of each: providers asked with the operator's key, and the codes sent to phones."""
    for provider in registry.providers().values():
        scope = registry.scope(provider, None)
        if provider.calls_a_day is not None and provider.data_mode == settings().data_mode and scope == "operator":
            yield f"provider:{provider.name}", f"calls:{provider.name}:{scope}", provider.calls_a_day
    yield "phone_codes", "phone:codes", settings().phone_codes_per_day
