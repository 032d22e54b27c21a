"""A provider of embeddings that fails in every way there is: no document is lost, and the import goes on by itself when it can."""

import subprocess
import sys
import urllib.request

import msgspec
import pytest

from scripts.citebound.commands.doctor import examine
from shared.types.imports import ImportRequest
from tests.doubles.provider import Fault, Hang, Plan, Reply, Reset, Route, Rule, State, Vectors
from tests.faults.library import BATCH
from tests.faults.processes import BOUND_S, ROOT
from tests.faults.site import plain_environment
from tests.faults.world import Row, World
from tests.promises import promise

pytestmark = [pytest.mark.slow, pytest.mark.beside, pytest.mark.timeout(1200)]

EMBEDDINGS: Route = "embeddings"
GIVEN_UP_AFTER_S = "5"  # what hangs; what does not answers sooner, also on a machine that is busy
FAULTS: dict[str, Reply] = {
    "429 Retry-After 1": Fault(status=429, headers={"retry-after": "1"}),
    "500": Fault(status=500),
    "hang": Hang(),
    "hang after the headers": Hang(headers_first=True),
    "reset": Reset(),
    "half an answer": Vectors(wrong="half"),
    "body that is no JSON": Fault(status=200, body="<html>网关错误</html>"),
}


@promise("P9")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_passes_is_waited_out_in_the_middle_of_a_document(world: World, fault: str) -> None:
    with world.bench() as bench:
        # one batch in the middle fails three times: the embedder's own second try and the stage's come after one another
        bench.provider.rule(Rule(route=EMBEDDINGS, reply=FAULTS[fault], containing="P-1042", times=3))
        import_id = bench.site.ask()
        worker = bench.site.worker(CITEBOUND_EMBEDDING_TIMEOUT_S=GIVEN_UP_AFTER_S)
        bench.site.await_state(import_id, "completed")
        assert worker.ask_to_stop() == 0
        paid_for_nothing = 3 if fault == "half an answer" else 0
        world.conclude(bench, import_id, fault=f"provider: {fault} x3", where="embed", batches=paid_for_nothing)


@promise("P9")
@pytest.mark.patient
@pytest.mark.parametrize("fault", ["500", "hang"])
def test_an_outage_pauses_the_import_with_its_reason_and_the_import_goes_on_by_itself(world: World, fault: str) -> None:
    with world.bench() as bench:
        bench.provider.rule(Rule(route=EMBEDDINGS, reply=FAULTS[fault], containing="P-1042"))
        import_id = bench.site.ask()
        worker = bench.site.worker(CITEBOUND_EMBEDDING_TIMEOUT_S=GIVEN_UP_AFTER_S)
        paused = bench.site.await_state(import_id, "paused")
        assert "127.0.0.1" in (paused.pause_reason or "")
        assert paused.failed_documents[0].key == "空.txt"
        assert len(paused.failed_documents) == 1
        bench.provider.plan(Plan())
        bench.site.await_state(import_id, "completed")
        assert worker.ask_to_stop() == 0
        world.conclude(
            bench, import_id, fault=f"provider: {fault} for long", where="embed", result="paused, equal", batches=0
        )


@promise("P9")
@pytest.mark.patient
def test_a_long_retry_after_is_respected_to_the_second(world: World) -> None:
    with world.bench() as bench:
        bench.provider.script_embeddings(Fault(status=429, headers={"retry-after": "31"}))
        import_id = bench.site.ask()
        worker = bench.site.worker()
        bench.site.await_state(import_id, "paused")
        wakes_in_s = bench.site.wakes_in_s(import_id)
        assert wakes_in_s is not None
        assert wakes_in_s <= 31
        requests = len(bench.provider.requests)
        bench.site.await_state(import_id, "running", "completed")
        assert bench.site.look(import_id).updated_at_ms >= bench.site.look(import_id).created_at_ms + 31_000
        bench.site.await_state(import_id, "completed")
        assert requests == 1
        assert worker.ask_to_stop() == 0
        world.conclude(
            bench, import_id, fault="provider: 429 Retry-After 31", where="embed", result="paused, equal", batches=0
        )


@promise("P9")
def test_a_wrong_key_pauses_the_import_until_it_is_mended_and_resumed(world: World) -> None:
    with world.bench() as bench:
        bench.provider.rule(Rule(route=EMBEDDINGS, reply=Fault(status=401, code="invalid_api_key")))
        import_id = bench.site.ask()
        worker = bench.site.worker()
        paused = bench.site.await_state(import_id, "paused")
        assert "API key" in (paused.pause_reason or "")
        assert bench.site.wakes_in_s(import_id) is None
        assert len(bench.provider.requests) == 1  # nobody goes on knocking with a wrong key
        advice = [check.remedy for check in examine(bench.site.env, online=False) if check.name == "import"]
        assert advice == [f"./scripts/run resume {import_id}"]
        bench.provider.plan(Plan())
        bench.site.resume(import_id)
        bench.site.await_state(import_id, "completed")
        assert worker.ask_to_stop() == 0
        world.conclude(bench, import_id, fault="provider: wrong key", where="embed", result="paused, equal", batches=0)


@promise("P9")
def test_a_worker_is_stopped_in_time_though_the_provider_hangs(world: World) -> None:
    with world.bench() as bench:
        bench.provider.rule(Rule(route=EMBEDDINGS, reply=Hang(), containing="P-1042"))
        import_id = bench.site.ask()
        first = bench.site.worker()  # with the time-out that people have: 60 s
        asked = bench.provider.wait(
            lambda provider: any("P-1042" in str(one.body) for one in provider.requests), seconds=BOUND_S
        )
        assert asked
        assert first.ask_to_stop() == 0
        bench.provider.plan(Plan())
        second = bench.site.worker()
        bench.site.await_state(import_id, "completed")
        assert second.ask_to_stop() == 0
        world.conclude(bench, import_id, fault="worker SIGTERM", where="embed, provider hangs")


def test_a_short_import_does_not_wait_for_one_that_takes_all_night(world: World) -> None:
    with world.bench() as bench:
        bench.provider.rule(Rule(route=EMBEDDINGS, reply=Hang(), containing="P-1042"))
        long = bench.site.ask()
        worker = bench.site.worker()  # with the time-out that people have: 60 s
        asked = bench.provider.wait(
            lambda provider: any("P-1042" in str(one.body) for one in provider.requests), seconds=BOUND_S
        )
        assert asked
        short = bench.site.ask(ImportRequest(paths=(str(world.addition),)))
        bench.site.await_state(short, "completed")
        assert (bench.site.look(long).state, bench.site.look(long).stage) == ("running", "embed")
        worker.kill()


@promise("P9")
@pytest.mark.patient
def test_a_provider_that_is_gone_and_comes_back_is_found_again(world: World) -> None:
    provider = Double()
    with world.site(provider.base_url) as site:
        import_id = site.ask()
        worker = site.worker(fault="embed:stored@2")
        worker.await_stopped()
        before = provider.state()
        provider.kill()
        worker.go_on()
        paused = site.await_state(import_id, "paused")
        assert "could not be reached" in (paused.pause_reason or "")
        provider.start()
        site.await_state(import_id, "completed")
        assert worker.ask_to_stop() == 0
        site.check_sound(import_id, world.undisturbed)
        after = provider.state()
        assert (before.embedded, before.embedded + after.embedded) == (2 * BATCH, len(world.texts))
        world.table.append(
            Row(fault="provider SIGKILL", where="embed:stored@2", result="paused, equal", bought_twice=0)
        )
    provider.kill()


class Double:
    """The provider as a process of its own; started again, it listens at the same address and remembers nothing."""

    def __init__(self) -> None:
        self._process = self._started(0)
        assert self._process.stdout is not None
        self.base_url = self._process.stdout.readline().strip()

    def start(self) -> None:
        port = int(self.base_url.split(":")[2].split("/")[0])
        self._process = self._started(port)
        assert self._process.stdout is not None
        assert self._process.stdout.readline().strip() == self.base_url

    def kill(self) -> None:
        with self._process:
            self._process.kill()

    def state(self) -> State:
        with urllib.request.urlopen(self.base_url.replace("/v1", "/control/state"), timeout=BOUND_S) as answer:
            return msgspec.json.decode(answer.read(), type=State)

    def _started(self, port: int) -> subprocess.Popen[str]:
        argv = [sys.executable, "-m", "tests.doubles.provider", "--port", str(port)]
        return subprocess.Popen(argv, cwd=ROOT, env=plain_environment(), stdout=subprocess.PIPE, text=True)
