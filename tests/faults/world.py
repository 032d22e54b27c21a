"""What all fault tests share, and the table of what they found."""

from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from msgspec import Struct

from shared.ids import ImportId
from shared.types.imports import ImportRequest
from tests.doubles.provider import Provider, provider_double
from tests.faults.library import BATCH, write_addition, write_library
from tests.faults.picture import Picture
from tests.faults.processes import Lifeline
from tests.faults.site import Broker, Site


class Row(Struct, frozen=True, kw_only=True):
    fault: str
    where: str
    result: str
    bought_twice: int


class Bench(Struct, frozen=True):
    """A site and the provider that it buys from."""

    site: Site
    provider: Provider

    def bought_twice(self) -> int:
        """Texts for which the provider made vectors more often than once, each time above the first."""
        return sum(number - 1 for number in self.provider.state().embedded_twice.values())


class World:
    """One library of files, one undisturbed import of it, one broker with a database for each site."""

    def __init__(self, folder: Path) -> None:
        self.library = write_library(folder / "library")
        self.addition = write_addition(folder / "addition")
        self.table: list[Row] = []
        self._folder = folder
        self._numbers = count(1)
        self._lifeline = Lifeline()
        self._broker = Broker(folder / "broker", self._lifeline)
        try:
            self.undisturbed, self.texts, self.grown = self._import_undisturbed()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def bench(self, *, folder: Path | None = None, broker: Broker | None = None) -> Generator[Bench]:
        """folder: for the data, else a new one. broker: of the test's own, to be killed."""
        with provider_double() as provider, self.site(provider.base_url, folder=folder, broker=broker) as site:
            yield Bench(site, provider)

    @contextmanager
    def site(self, base_url: str, *, folder: Path | None = None, broker: Broker | None = None) -> Generator[Site]:
        number = next(self._numbers)
        site = Site(
            folder or self.new_folder(),
            logs=self._folder / f"logs-{number}",  # not on the disk that a test fills
            library=self.library,
            base_url=base_url,
            broker_url=(broker or self._broker).url(number),
        )
        try:
            yield site
        finally:
            site.close()

    def new_folder(self) -> Path:
        return self._folder / f"资料-{next(self._numbers)}"

    def conclude(
        self, bench: Bench, import_id: ImportId, *, fault: str, where: str, result: str = "", batches: int = 1
    ) -> None:
        """Everything is as if nothing had happened, and at most `batches` were bought twice; entered in the table."""
        bench.site.check_sound(import_id, self.undisturbed)
        twice = bench.bought_twice()
        assert set(bench.provider.embedded) == self.texts
        assert twice <= batches * BATCH, bench.provider.state()
        self.table.append(Row(fault=fault, where=where, result=result or "equal", bought_twice=twice))

    def close(self) -> None:
        self._broker.close()
        self._lifeline.close()

    def _import_undisturbed(self) -> tuple[Picture, frozenset[str], Picture]:
        """What the library gives, every text of it, and what the library with the addition gives."""
        with self.bench() as bench:
            import_id = bench.site.ask()
            worker = bench.site.worker()
            first = bench.site.await_state(import_id, "completed").snapshot_id
            seen, texts = bench.site.picture(), frozenset(bench.provider.embedded)
            bench.site.check_sound(import_id, seen)
            added = bench.site.ask(ImportRequest(paths=(str(self.addition),)))
            bench.site.await_state(added, "completed")
            assert worker.ask_to_stop() == 0, worker.log.read_text()
            grown = bench.site.picture()
            bench.site.check_sound(added, grown, after=first)
            assert bench.bought_twice() == 0
            return seen, texts, grown
