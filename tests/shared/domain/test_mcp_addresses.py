"""The table of addresses of the tool endpoint, and which one covers which."""

import pytest

from shared.domain.mcp_addresses import (
    ADDRESSES,
    READONLY,
    WHOLE,
    McpAddress,
    describe_fault,
    find_address,
    find_resource,
    is_covered,
)
from shared.domain.tool_profiles import MAX_TOOLS, PROFILES


@pytest.mark.parametrize("path", ["/mcp/readonly", "/mcp/readonly/", "/mcp", "/mcp/"])
def test_a_slash_at_the_end_makes_no_difference(path: str) -> None:
    assert find_address(path) is (READONLY if "readonly" in path else WHOLE)


@pytest.mark.parametrize("path", ["", "/", "/mcp//", "/mcp/readonly/x", "/MCP", "/mcp/Readonly", "mcp"])
def test_other_paths_are_no_address(path: str) -> None:
    assert find_address(path) is None


def test_the_whole_covers_the_narrow_and_never_the_other_way_round() -> None:
    assert [is_covered(asked, granted) for asked in (WHOLE, READONLY) for granted in (WHOLE, READONLY, None)] == [
        True,
        False,
        False,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("path", "normal", "tools"),
    [
        ("/mcp/x/cards", "/mcp/x/cards", 6),
        ("/mcp/x/vouchers,cards", "/mcp/x/cards,vouchers", 12),
        ("/mcp/x/cards,vouchers/", "/mcp/x/cards,vouchers", 12),
        ("/mcp/x/cards,cards", "/mcp/x/cards", 6),
        ("/mcp/x/search,trips,status,transfers", "/mcp/x/search,status,transfers,trips", 40),
    ],
)
def test_areas_make_an_address_whose_normal_form_has_them_from_a_to_z(path: str, normal: str, tools: int) -> None:
    address = find_address(path)
    assert address is not None
    assert (address.path, address is find_address(normal)) == (normal, True)
    assert f" {tools} tools" in address.about


@pytest.mark.parametrize(
    "path",
    [
        *("/mcp/x", "/mcp/x/", "/mcp/x/,", "/mcp/x/cards,", "/mcp/x/Cards", "/mcp/x/cards, vouchers", "/mcp/x/card"),
        *("/mcp/x/cards/vouchers", "/mcp/x/traveller,cards", "/mcp/x/search,trips,alerts", "/mcp/x/" + "cards," * 99),
    ],
)
def test_what_is_no_address_below_x_is_told_what_is_one(path: str) -> None:
    assert find_address(path) is None
    fault = describe_fault(path)
    assert fault is not None
    assert "Profiles: traveller, keeper, hotels, advisor, operator. Areas and their tools: account (4)," in fault
    assert len(fault) < 800


def test_too_many_tools_are_answered_with_what_fits() -> None:
    fault = describe_fault("/mcp/x/search,trips,alerts,cards") or ""
    assert "These areas have 49 tools and an address has at most 40; /mcp/x/cards,search,trips fits." in fault


@pytest.mark.parametrize("path", ["/mcp", "/mcp/readonly", "/mcp/x/cards", "/mcp/x/hotels", "/dashboard", "/mcp/xy"])
def test_there_is_no_fault_in_an_address_nor_elsewhere(path: str) -> None:
    assert describe_fault(path) is None


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_has_no_more_tools_than_an_address_may_have(name: str) -> None:
    address = find_address(f"/mcp/x/{name}")
    assert address is not None
    assert 30 <= len(address.tools) <= MAX_TOOLS
    assert len(address.tools) == int(address.about.split()[0])


def test_a_part_covers_no_other_part() -> None:
    cards, both = find_address("/mcp/x/cards"), find_address("/mcp/x/cards,vouchers")
    assert cards is not None
    assert both is not None
    assert [is_covered(cards, granted) for granted in (cards, both, READONLY, WHOLE)] == [True, False, False, True]
    assert [is_covered(asked, cards) for asked in (cards, both, READONLY, WHOLE)] == [True, False, False, False]


@pytest.mark.parametrize("address", [*ADDRESSES.values(), find_address("/mcp/x/cards,vouchers")], ids=lambda a: a.path)
def test_each_host_has_a_resource_for_each_address(address: McpAddress) -> None:
    wholes = ("https://a.example/mcp", "http://127.0.0.1:8001/mcp")
    for whole in wholes:
        assert find_resource(whole.removesuffix("/mcp") + address.path, wholes) is address


@pytest.mark.parametrize(
    "identifier",
    [
        *("https://b.example/mcp", "https://a.example", "https://a.example/mcp/", "/mcp", "https://a.example.b/mcp"),
        *("https://a.example/mcp/x/vouchers,cards", "https://a.example/mcp/x/nothing", "https://a.examplehttps/mcp"),
    ],
)
def test_other_identifiers_are_no_resource_of_ours(identifier: str) -> None:
    assert find_resource(identifier, ["https://a.example/mcp"]) is None
