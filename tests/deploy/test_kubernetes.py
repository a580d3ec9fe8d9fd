"""deploy/kubernetes: Kubernetes takes the manifests, and the programs, settings, ports and metrics in them exist."""

import re
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from deploy.cli import list_files
from shared.db.metrics import _GAUGES
from shared.settings import VERSION, Settings, settings
from shared.telemetry.metrics_address import PROGRAMS

DEPLOY = Path(__file__).parents[2] / "deploy"
VERSIONS = ("1.30", "1.37")  # the oldest that takes a preStop of sleep, and the newest that is known here
IMAGE = f"award-travel:{VERSION}"  # with a tag, so that there is a way back
FILES = {file.name: list(yaml.load_all(file.read_text("utf-8"), yaml.CSafeLoader)) for file in list_files("kubernetes")}
OBJECTS: list[dict[str, Any]] = [thing for things in FILES.values() for thing in things]
COMPOSE = yaml.load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)["services"]


def _list_kind(kind: str) -> dict[str, dict[str, Any]]:
    """By name, without what all names begin with."""
    names = [thing["metadata"]["name"] for thing in OBJECTS if thing["kind"] == kind]
    assert all(name.startswith("award-travel") for name in names)
    return {
        thing["metadata"]["name"].removeprefix("award-travel-"): thing for thing in OBJECTS if thing["kind"] == kind
    }


DEPLOYMENTS = _list_kind("Deployment")
PODS = {name: thing["spec"]["template"] for name, thing in (DEPLOYMENTS | _list_kind("Job")).items()}
PODS |= {name: thing["spec"]["jobTemplate"]["spec"]["template"] for name, thing in _list_kind("CronJob").items()}
CONTAINERS = {name: pod["spec"]["containers"][0] for name, pod in PODS.items()}
CHECKS = {one["name"]: one for pod in PODS.values() for one in pod["spec"].get("initContainers", ())}
VALUES: dict[str, str] = _list_kind("ConfigMap")["award-travel"]["data"]


SECRETS = "/run/secrets/award-travel"


@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_takes_every_object(version: str) -> None:
    for thing in OBJECTS:
        kubernetes_validate.validate(thing, version, strict=True)
    assert {file.suffix for file in list_files("kubernetes")} == {".yaml"}


def test_a_field_that_kubernetes_does_not_know_is_refused() -> None:
    """So that the test before can fail."""
    web = DEPLOYMENTS["web"]
    spoiled = web | {"spec": web["spec"] | {"replica": 2}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(spoiled, VERSIONS[1], strict=True)


def test_the_programs_are_started_as_compose_starts_them() -> None:
    ours = {name: service for name, service in COMPOSE.items() if service["image"] == IMAGE}
    assert {name: one["command"] for name, one in (CONTAINERS | CHECKS).items()} == {
        name: service["command"] for name, service in ours.items()
    }
    assert {one["image"] for one in (CONTAINERS | CHECKS).values()} == {IMAGE}


def test_nothing_is_migrated_before_the_new_image_was_asked_what_is_to_be_done_first() -> None:
    """And one that has something to say is not asked again, so that the Job has failed when it is waited for."""
    job = _list_kind("Job")["migrate"]["spec"]
    (check,) = job["template"]["spec"]["initContainers"]
    migrate = CONTAINERS["migrate"]
    assert check == migrate | {"name": "check", "command": ["award-travel", "upgrade", "--check"]}
    (rule,) = job["podFailurePolicy"]["rules"]
    assert (rule["action"], rule["onExitCodes"]) == (
        "FailJob",
        {"containerName": "check", "operator": "In", "values": [1]},
    )


def test_every_pod_has_no_rights_and_time_to_stop() -> None:
    user = re.findall(r"^USER (\d+):", (DEPLOY / "Containerfile").read_text(encoding="utf-8"), re.M)
    for name, pod in PODS.items():
        spec, container = pod["spec"], CONTAINERS[name]
        assert spec["securityContext"]["runAsNonRoot"]
        assert [str(spec["securityContext"]["runAsUser"])] == user
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert not spec["automountServiceAccountToken"]
        assert spec["terminationGracePeriodSeconds"] == settings().job_lease_seconds
        mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
        assert set(mounts) == {"/tmp", "/var/lib/award-travel", SECRETS}
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        assert set(mounts.values()) == set(volumes)
        # Of the group of the pod, which may read it.
        assert volumes[mounts[SECRETS]]["secret"] == {"secretName": "award-travel", "defaultMode": 0o440}
        assert spec["securityContext"]["fsGroup"] == spec["securityContext"]["runAsGroup"]


def test_secrets_are_named_and_never_written() -> None:
    assert _list_kind("Secret") == {}
    for container in CONTAINERS.values():
        sources = [list(source.items()) for source in container["envFrom"]]
        assert sources == [[("configMapRef", {"name": "award-travel"})]]
    files = {name: path for name, path in VALUES.items() if name.endswith("_FILE")}
    assert files == {name: f"{SECRETS}/{name.removesuffix('_FILE')}" for name in files}
    assert {name.removesuffix("_FILE") for name in files} >= {
        "DATABASE_URL",
        "REDIS_URL",
        "SECRET_KEYS",
        "METRICS_TOKEN",
    }
    written = (set(VALUES) - set(files)) | {row["name"] for one in CONTAINERS.values() for row in one.get("env", ())}
    secret = {name.upper() for name, field in Settings.model_fields.items() if "Secret" in str(field.annotation)}
    assert {"SECRET_KEYS", "METRICS_TOKEN"} <= secret
    assert written <= {name.upper() for name in Settings.model_fields}
    assert written & (secret | {"DATABASE_URL", "REDIS_URL"}) == set()


def test_every_program_that_stays_is_probed_at_a_port_it_has() -> None:
    for name, container in ((name, CONTAINERS[name]) for name in DEPLOYMENTS):
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        probes = {key: probe for key, probe in container.items() if key.endswith("Probe")}
        assert {"startupProbe", "livenessProbe"} <= set(probes)
        aims = [aim for probe in probes.values() if (aim := probe.get("httpGet") or probe.get("tcpSocket"))]
        assert {aim["port"] for aim in aims} <= set(ports), name
        if "http" in ports:
            assert container["command"][container["command"].index("--port") + 1] == str(ports["http"])
            assert [aim["path"] for aim in aims] == ["/healthz", "/readyz", "/healthz"]
        else:
            program = container["command"][3]
            assert probes["livenessProbe"]["exec"]["command"] == ["award-travel", "alive", program]


def test_each_program_shows_its_metrics_at_its_port() -> None:
    first, offsets = int(VALUES["METRICS_PORT"]), {program: number for number, program in enumerate(PROGRAMS)}
    for name in DEPLOYMENTS:
        (program,) = [word for word in CONTAINERS[name]["command"] if word in offsets]
        ports = {port["name"]: port["containerPort"] for port in CONTAINERS[name]["ports"]}
        assert ports["metrics"] == first + offsets[program]


def test_two_of_each_program_run_and_one_at_most_is_taken_away() -> None:
    scales, budgets = _list_kind("HorizontalPodAutoscaler"), _list_kind("PodDisruptionBudget")
    assert set(scales) == {"web", "tools", "worker"}
    assert set(budgets) == set(DEPLOYMENTS)
    for name, deployment in DEPLOYMENTS.items():
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        assert budgets[name]["spec"] == {"maxUnavailable": 1, "selector": {"matchLabels": labels}}
        assert deployment["spec"]["selector"]["matchLabels"] == labels
        least = scales[name]["spec"]["minReplicas"] if name in scales else deployment["spec"]["replicas"]
        assert ("replicas" in deployment["spec"]) == (name not in scales)  # which would undo the scale at each change
        assert least == 2


def test_servers_grow_by_their_cpu_and_workers_by_metrics_that_exist() -> None:
    scales = _list_kind("HorizontalPodAutoscaler")
    for name in ("web", "tools"):
        assert [metric["resource"]["name"] for metric in scales[name]["spec"]["metrics"]] == ["cpu"]
        assert "cpu" in CONTAINERS[name]["resources"]["requests"]
    lags = [metric["external"]["metric"] for metric in scales["worker"]["spec"]["metrics"]]
    seen = {(lag["name"], tuple(lag.get("selector", {}).get("matchLabels", {}).items())) for lag in lags}
    assert seen == {
        ("award_oldest_due_run_seconds", (("queue", "checks"),)),
        ("award_oldest_due_run_seconds", (("queue", "mail"),)),
        ("award_oldest_due_delivery_seconds", ()),
    }
    for name, labels in seen:
        assert [label for label, _ in labels] == _GAUGES[name][1]
    page = (DEPLOY / "docs" / "kubernetes.md").read_text(encoding="utf-8")
    pattern = re.search(r'__name__=~"([^"]+)"', page)
    assert pattern is not None
    assert all(re.fullmatch(pattern[1], name) for name, _ in seen)


def test_services_lead_to_pods_and_the_proxy_to_services() -> None:
    services = _list_kind("Service")
    for name, service in services.items():
        assert service["spec"]["selector"] == DEPLOYMENTS[name]["spec"]["template"]["metadata"]["labels"]
        ports = {port["name"] for port in CONTAINERS[name]["ports"]}
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
    (port,) = services["web"]["spec"]["ports"]
    assert VALUES["AUTH_INTERNAL_URL"] == f"http://award-travel-web:{port['port']}"


def test_the_ingress_has_the_hosts_and_paths_of_the_proxy() -> None:
    ingress = _list_kind("Ingress")["award-travel"]["spec"]
    hosts = {rule["host"]: rule["http"]["paths"] for rule in ingress["rules"]}
    web, tools = (VALUES[name].split("/")[2] for name in ("WEB_URL", "MCP_URL"))
    assert set(hosts) == {web, tools} == set(ingress["tls"][0]["hosts"])
    led = {row["path"]: row["backend"]["service"]["name"] for row in hosts[web]}
    text = (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
    paths = {word.removesuffix("/*") for line in re.findall(r"^\t\tpath (.+)$", text, re.M) for word in line.split()}
    assert led == dict.fromkeys([*paths, "/internal"], "award-travel-tools") | {"/": "award-travel-web"}
    assert [row["backend"]["service"]["name"] for row in hosts[tools]] == ["award-travel-tools"]


def test_the_page_counts_the_connections_of_all_pods_at_most() -> None:
    page, threads = (DEPLOY / "docs" / "kubernetes.md").read_text(encoding="utf-8"), settings().database_threads
    most = {name: scale["spec"]["maxReplicas"] for name, scale in _list_kind("HorizontalPodAutoscaler").items()}
    each = {"web": 2 * (threads + 2), "tools": 2 * (threads + 1) + 1}
    for name, count in each.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| {name} | 2, {most[name]} |"))
        assert row.endswith(f"| {count} | {2 * count} | {most[name] * count} |")


def test_no_pod_takes_what_no_policy_lets_in() -> None:
    """One policy closes all pods but their metrics; those with other ports have one that names its port."""
    policies = {name: thing["spec"] for name, thing in _list_kind("NetworkPolicy").items()}
    (everywhere,) = policies.pop("award-travel")["ingress"]
    assert everywhere["ports"] == [{"port": "metrics"}]
    for name, deployment in DEPLOYMENTS.items():
        ports = {port["name"] for port in CONTAINERS[name]["ports"]} - {"metrics"}
        assert ports == {port["port"] for rule in policies.get(name, {}).get("ingress", ()) for port in rule["ports"]}
        if ports:
            assert policies[name]["podSelector"]["matchLabels"] == deployment["spec"]["template"]["metadata"]["labels"]
    assert "from" not in policies["inbox"]["ingress"][0]  # senders of mail are anywhere
    assert set(policies) < set(DEPLOYMENTS)


def test_the_monitor_scrapes_a_port_that_every_pod_has_with_the_token_of_the_secret() -> None:
    monitor = yaml.safe_load((DEPLOY / "observability" / "podmonitor.yaml").read_text(encoding="utf-8"))["spec"]
    (end,) = monitor["podMetricsEndpoints"]
    for deployment in DEPLOYMENTS.values():
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        assert monitor["selector"]["matchLabels"].items() <= labels.items()
    assert all(end["port"] in {port["name"] for port in CONTAINERS[name]["ports"]} for name in DEPLOYMENTS)
    token = end["authorization"]["credentials"]
    assert f"{token['key']}_FILE" in VALUES
    scraped = yaml.safe_load((DEPLOY / "observability" / "prometheus.yaml").read_text(encoding="utf-8"))
    assert end["relabelings"] == [{"targetLabel": "job", "replacement": scraped["scrape_configs"][0]["job_name"]}]


def test_the_page_names_every_file() -> None:
    page = (DEPLOY / "docs" / "kubernetes.md").read_text(encoding="utf-8")
    assert [name for name in FILES if f"`{name}`" not in page] == []
