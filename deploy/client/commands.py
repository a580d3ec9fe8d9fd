"""`award-travel login`, `tools` and `call`: the tools of a service over REST, with a stored address and API key."""

import argparse
import getpass
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from deploy.client.tables import build_tool_table, print_answer, sanitize
from deploy.errors import CommandError
from deploy.local.home import login_folder, write_private
from deploy.terminal import open_console
from shared.documents.text_decoding import MAX_FILE_BYTES, NoText, decode_text
from shared.domain.parsing.numbers import UnreadNumber, read_number
from shared.domain.plurals import pluralize
from shared.http import Refused, check_url, sync_client
from shared.tls import explain_tls_fault

# Options of `award-travel call TOOL`, built from the JSON Schema of the tool.

Schema = dict[str, Any]
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def build_tool_parser(tool: dict[str, Any]) -> argparse.ArgumentParser:
    """Options not given are absent from its result, so that the tool's own defaults apply."""
    schema = tool["arguments"]
    parser = argparse.ArgumentParser(
        prog=f"award-travel call {tool['name']}",
        description=tool["description"],
        epilog="@FILE reads a text from a file, @- from stdin; a text that begins with @ is written with @@.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    for name, node in schema["properties"].items():
        flags = list(dict.fromkeys((f"--{name.replace('_', '-')}", f"--{name}")))
        required = name in schema.get("required", ())
        parser.add_argument(*flags, dest=name, required=required, help=_help(node), **_parser_options(node))
    return parser


def json_types(node: Schema) -> list[str]:
    kind = node.get("type", "string")
    return [kind] if isinstance(kind, str) else list(kind)


def _parser_options(node: Schema) -> dict[str, Any]:
    """Parser options for the words after the option."""
    kind = json_types(node)
    if kind == ["boolean"]:
        return {"type": read_boolean, "nargs": "?", "const": True, "metavar": "true|false"}
    if kind == ["array"]:
        items = node.get("items", {})
        return {"type": build_reader(json_types(items)), "nargs": "*", "action": "extend", "metavar": _metavar(items)}
    return {"type": build_reader(kind, node.get("maxLength")), "metavar": _metavar(node)}


def _values(node: Schema) -> list[str]:
    """Its values, each once: a number may also be listed as text."""
    return list(dict.fromkeys(str(value) for value in node.get("enum", ()) if value != ""))


def _metavar(node: Schema) -> str:
    values = _values(node)
    return "|".join(values) if 0 < len(values) <= 6 else "|".join(json_types(node)).upper()


def _help(node: Schema) -> str:
    values = _values(node)
    sentences = [str(node.get("description", ""))]
    if len(values) > 6:
        sentences.append(f"One of {', '.join(values)}.")
    if "default" in node:
        sentences.append(f"Default: {node['default']}.")
    return " ".join(word for word in sentences if word).replace("%", "%%")


def read_boolean(text: str) -> bool:
    if text.lower() not in _WORDS:
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return _WORDS[text.lower()]


def build_reader(kind: list[str], max_length: int | None = None) -> Callable[[str], Any]:
    """Reads a word as the narrowest kind it fits; a text has at most that many characters."""

    def read(word: str) -> Any:
        if not word:
            return word  # it empties a field of any kind, and the service refuses it where it cannot
        problem = f"is not {' or '.join(_TYPE_NAMES[name] for name in kind)}"
        for name in ("integer", "number", "boolean", "object", "array"):
            try:
                if name in kind and (value := _READERS[name](word)) is not None:
                    return value
            except UnreadNumber as fault:
                problem = f"{fault}; write {fault.expected}" if fault.expected else problem
        if "string" in kind:
            text = read_text(word)
            if max_length is not None and len(text) > max_length:
                raise argparse.ArgumentTypeError(
                    f"the text has {len(text):,} characters; at most {max_length:,} can be sent"
                )
            return text
        raise argparse.ArgumentTypeError(f"{word!r} {problem}")

    return read


def read_text(word: str) -> str:
    """The word itself, or the content of @FILE in any usual encoding."""
    if not word.startswith("@") or word.startswith("@@"):
        return word.removeprefix("@") if word.startswith("@@") else word
    try:
        return decode_text(_read_bytes(word[1:]))
    except OSError as fault:
        raise argparse.ArgumentTypeError(f"{word[1:]} cannot be read: {fault.strerror}") from None
    except NoText as no:
        raise argparse.ArgumentTypeError(f"{word[1:]} cannot be read as text: it is {no}") from None


def _read_bytes(name: str) -> bytes:
    """Reads at most one byte more than is allowed."""
    if name == "-":
        return sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    with Path(name).open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)


def _build_json_reader(kind: type) -> Callable[[str], Any]:
    def read(word: str) -> Any:
        try:
            value = json.loads(read_text(word))
        except ValueError:
            return None
        return value if isinstance(value, kind) and (kind is bool) == isinstance(value, bool) else None

    return read


def _read_amount(word: str) -> int | float:
    number = read_number(word, is_whole=False)
    return float(number) if number % 1 else int(number)


_READERS: dict[str, Callable[[str], Any]] = {
    "integer": partial(read_number, is_whole=True),
    "number": _read_amount,
    "boolean": _build_json_reader(bool),
    "object": _build_json_reader(dict),
    "array": _build_json_reader(list),
}
_TYPE_NAMES = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "a JSON object",
    "array": "a JSON list",
    "string": "text",
}


OK, BAD_USE, REFUSED, UNREACHABLE = 0, 2, 3, 4
TIMEOUT = httpx.Timeout(130, connect=5)
TOOLS = "/api/v1/tools"
_FAULTS_OF_USE = {"invalid", "unreadable", "unknown_tool", "too_large", "unsupported_media_type"}
_AWAY = {"internal_error", "temporarily_unavailable", "busy", "too_slow"}


class CommandEnded(CommandError):
    """The command ends with this status; `document` is the service's problem document."""

    def __init__(self, code: int, text: str, document: Any = None) -> None:
        super().__init__(text)
        self.code, self.document = code, document


@dataclass(frozen=True)
class Login:
    """The service's address and the API key."""

    url: str
    key: str

    def keep(self) -> Path:
        path = login_folder() / "login.json"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(path, json.dumps(asdict(self)))
        return path


def load_login() -> Login:
    try:
        stored = json.loads((login_folder() / "login.json").read_text(encoding="utf-8"))
        return Login(check_url(stored["url"]), _printable(stored["key"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, Refused):  # none, or not as it was written
        raise CommandEnded(BAD_USE, "Not logged in: award-travel login --url URL --key") from None


def _printable(key: str) -> str:
    """Raises ValueError for text that no header can have."""
    if not key or not key.isascii() or not key.isprintable():
        raise ValueError
    return key


def request(login: Login, method: str, path: str, body: Any = None) -> tuple[Any, httpx.Headers]:
    """The answer's document. Raises CommandEnded."""
    try:
        with sync_client(login.url, timeout=TIMEOUT) as http:
            answer = http.request(method, path, json=body, headers={"X-API-Key": login.key})
        document = answer.json()
    except httpx.TransportError as error:
        fault = explain_tls_fault(error)
        words = f"answers, but {fault}" if fault else "does not answer: see whether the address is right"
        raise CommandEnded(UNREACHABLE, f"{login.url} {words}.") from None
    except ValueError:
        raise CommandEnded(UNREACHABLE, f"What answers at {login.url} is not this service.") from None
    if answer.status_code == 200:
        return document, answer.headers
    raise _end_from_problem(login, document)


def _end_from_problem(login: Login, document: Any) -> CommandEnded:
    """A problem document as the end of the command."""
    outcome = document.get("outcome") if isinstance(document, dict) else None
    if outcome is None:
        return CommandEnded(UNREACHABLE, f"What answers at {login.url} is not this service.")
    words = sanitize(document.get("detail"))
    if near := document.get("nearest"):
        words += f" Nearest: {sanitize(', '.join(map(str, near)))}."
    if where := document.get("upgrade_url"):
        words += f" See {sanitize(where)}"
    code = BAD_USE if outcome in _FAULTS_OF_USE else UNREACHABLE if outcome in _AWAY else REFUSED
    return CommandEnded(code, words, document)


def run_login(arguments: argparse.Namespace) -> None:
    """Prompts for a key missing from the command, or reads it from a pipe: that keeps it out of the history."""
    try:
        url = check_url(arguments.url.rstrip("/").removesuffix("/mcp"))
    except (Refused, ValueError):
        raise CommandEnded(
            BAD_USE, "--url is the https address of the service, such as https://travel.example.com"
        ) from None
    key = arguments.key or (getpass.getpass("API key: ") if sys.stdin.isatty() else sys.stdin.readline()).strip()
    try:
        login = Login(url, _printable(key))
    except ValueError:
        words = "No API key came: make one on the dashboard, then give it to --key or on stdin."
        raise CommandEnded(BAD_USE, words) from None
    _store_tools(request(login, "GET", TOOLS)[0])
    print(f"Logged in to {url}. The key is kept in {login.keep()}.")


def run_tools(arguments: argparse.Namespace) -> None:
    tools = request(load_login(), "GET", TOOLS)[0]["tools"]
    _store_tools({"tools": tools})
    words = arguments.text.lower().split()
    matches = [t for t in tools if all(w in f"{t['name']} {t['title']} {t['description']}".lower() for w in words)]
    exact_match = [tool for tool in matches if tool["name"] == arguments.text]
    if exact_match:
        build_tool_parser(exact_match[0]).print_help()
        return
    if not matches:
        raise CommandEnded(REFUSED, f"No tool has {sanitize(arguments.text)!r} in its name or description.")
    rows = [tuple(map(sanitize, (t["name"], t["tier"], _first_sentence(t["description"])))) for t in matches]
    console = open_console()
    if not console.is_terminal:  # one line each, for programs
        width = max(len(tool["name"]) for tool in matches)
        for name, tier, summary in rows:
            print(f"{name:<{width}}  {tier:<10}  {summary}")
        return
    console.print(build_tool_table(rows))
    example = rows[0][0]
    console.print(
        f"\n{pluralize(len(rows), 'tool')}. Next: award-travel tools {example}, then award-travel call {example}"
    )


def _first_sentence(description: str) -> str:
    return " ".join(description.split()).split(". ")[0].removesuffix(".") + "."


def run_call(options: argparse.Namespace) -> None:
    login, words = load_login(), list(options.arguments)
    as_json = options.json or "--json" in words
    try:
        tool, _ = request(login, "GET", f"{TOOLS}/{options.tool}")
        arguments = vars(build_tool_parser(tool).parse_args([word for word in words if word != "--json"]))
        answer, headers = request(login, "POST", f"{TOOLS}/{tool['name']}", arguments)
    except CommandEnded as end:
        if as_json and end.document is not None:
            print(_dump_json(end.document))
        raise
    if as_json:
        print(_dump_json(answer))
        return
    print_answer(open_console(), answer)
    if remaining := headers.get("ratelimit-remaining"):
        print(
            f"{sanitize(remaining)} of {sanitize(headers['ratelimit-limit'])} API calls are left this month.",
            file=sys.stderr,
        )


def _dump_json(document: Any) -> str:
    """Keeps every letter where the reader can show all of them."""
    takes_all = (sys.stdout.encoding or "utf-8").lower() in ("utf-8", "utf8")
    return json.dumps(document, ensure_ascii=not takes_all, indent=2)


def _store_tools(document: dict[str, Any]) -> None:
    """The tools as last seen, so that completion needs no network."""
    path = login_folder() / "tools.json"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(path, json.dumps(document))
