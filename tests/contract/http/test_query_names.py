"""What an address doesn't know is refused by name, not passed over."""

from tests.contract.http.site import Site
from tests.contract.http.test_problems import problem_of


def test_a_typo_is_refused_with_its_name_and_those_that_exist(site: Site) -> None:
    with site.client() as client:
        refused = client.get("/api/imports?limt=5")
        none = client.get("/api/keys?limit=5")
    assert problem_of(refused) == (400, "invalid_argument", "limt")
    assert "it takes limit" in refused.json()["detail"]
    assert problem_of(none) == (400, "invalid_argument", "limit")
    assert "it takes none" in none.json()["detail"]


def test_every_address_of_the_api_refuses_what_it_does_not_describe_and_names_what_it_does(site: Site) -> None:
    with site.client() as client:
        paths = client.get("/openapi/openapi.json").json()["paths"]
        found = 0
        for path, methods in paths.items():
            for method, told in methods.items() if path.startswith("/api/") else ():
                address = path.replace("{", "").replace("}", "")
                refused = client.request(method, address, params={"colour": "1"})
                assert problem_of(refused) == (400, "invalid_argument", "colour"), (method, path)
                described = {one["name"] for one in told.get("parameters", []) if one["in"] == "query"}
                assert all(name in refused.json()["detail"] for name in described), (method, path)
                found += 1
    assert found > 40


def test_what_is_left_empty_or_sent_twice_is_seen_too(site: Site) -> None:
    with site.client() as client:
        assert problem_of(client.get("/api/imports?limt"))[2] == "limt"
        assert problem_of(client.get("/api/imports?limit=1&limit=2&%E9%99%90=3"))[2] == "限"
        assert client.get("/api/runs?text=年假&limit=3").status_code == 200


def test_who_may_not_come_in_is_told_nothing_of_an_address(site: Site) -> None:
    site.with_api(api_key="k")
    with site.client() as client:
        assert client.get("/api/imports?limt=5").status_code == 401


def test_clients_of_v1_may_send_what_other_servers_read(site: Site) -> None:
    with site.client() as client:
        assert client.get("/v1/models?api-version=2024-10-21").status_code == 200


def test_a_page_opens_by_a_link_to_which_a_messenger_appended_something(site: Site) -> None:
    block = site.publish().blocks()[0].block_id.replace("#", "%23")
    with site.client() as client:
        address = f"/api/blocks/{block}?lang=zh&from=singlemessage"
        assert client.get(address, headers={"Accept": "text/html"}).status_code == 200
        assert problem_of(client.get(address))[2] == "from"


def test_a_link_that_is_signed_is_known(site: Site) -> None:
    block = site.publish().blocks()[0].block_id.replace("#", "%23")
    with site.client() as client:
        assert client.get(f"/api/blocks/{block}?until=1&signature=x&key=key_a").status_code == 200


def test_a_block_s_id_that_was_cut_at_its_sign_is_told_how_to_write_it(site: Site) -> None:
    block = site.publish().blocks()[0].block_id
    with site.client() as client:
        cut = client.get(f"/api/blocks/{block.split('#')[0]}")
        missing = client.get(f"/api/blocks/{block.split('#')[0]}%23999")
    assert cut.status_code == missing.status_code == 404
    assert "%23" in cut.json()["remedy"]
    assert "%23" not in missing.json()["remedy"]
