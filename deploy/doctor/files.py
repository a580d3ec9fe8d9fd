"""What came with the program: facts, the files they were read from, and the wheels of the private servers."""

from deploy.errors import CommandError


def check_reference() -> str:
    from shared.reference.load import reference

    facts = reference()
    return f"{len(facts.programs)} programmes, {len(facts.airlines)} airlines, {len(facts.airports)} airports"


def check_source_watch() -> str:
    """What another's file does is no fault of this service: it is shown, and the audit lists it."""
    from shared.db.base import transaction
    from shared.services.operations.source_watch import describe_watch

    with transaction() as session:
        return describe_watch(session)


def check_wheels() -> str:
    from deploy.local.wheel_audit import REPLACED_BY_SETTING, check_wheel

    findings = [check_wheel(name) for name in REPLACED_BY_SETTING]
    if changed := [f.text for f in findings if f.state == "changed"]:
        raise CommandError("; ".join(changed))
    return "; ".join(f.text for f in findings)
