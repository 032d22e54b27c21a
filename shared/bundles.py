"""Where prompt bundles lie, and how a new one comes about: create from a parent, edit, freeze.

The release baseline lies beside the program and is read-only. Experiments lie in the data folder, `prompts/<id>/<version>/`: a
draft may be edited by any editor; once frozen, by a person or because an evaluation used it, its every byte is vouched for like a
release's. Blocking throughout. Source: spec/06 "Prompt bundles"; decision 0077.
"""

import difflib
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from shared.bundle_files import next_version, one_writer, put_bundle
from shared.errors import Conflict, InvalidArgument, NotFound, SettingsError
from shared.prompt_language import MAX_TEMPLATE_BYTES, problems
from shared.prompts import (
    NAME,
    Bundle,
    BundleState,
    Origin,
    file_hashes,
    load_bundle,
    read_manifest,
    replace_file,
    write_manifest,
)

RELEASED = Path(__file__).resolve().parents[1] / "prompts"

Check = Callable[[Bundle], tuple[str, ...]]  # what is wrong with a bundle's texts; () = nothing


class BundleInfo(Struct, frozen=True, kw_only=True):
    """`sha256` None: it can't be read. `problems`: why no run may use it; () = it may be named."""

    name: str
    origin: Origin
    state: BundleState
    parent: str | None
    sha256: str | None
    is_default: bool
    problems: tuple[str, ...]


class TemplateDiff(Struct, frozen=True, kw_only=True):
    """`diff`: unified, of the texts."""

    path: str
    change: str  # added | removed | changed
    diff: str


class Shelf:
    """All bundles of one installation. Safe between threads."""

    def __init__(self, *, release: Path, local: Path, default: str, check: Check) -> None:
        """`release`, `local`: folders of bundles. `default`: the bundle of a run that names none."""
        self.local = local
        self.release = release
        self.default = default
        self._check = check
        self._default: Bundle | None = None  # read once: the release is read-only
        self._checked: dict[str, tuple[str, ...]] = {}  # by sha256: a text that was found sound stays so
        self._lock = threading.Lock()

    def usable(self, name: str | None, *, experiments: bool = True) -> Bundle:
        """The bundle that a run named, verified and checked; None: the default.

        experiments: whether this caller may know of the local ones; else there are the release's and the default.
        Raises: InvalidArgument (field prompt_bundle) with the reason.
        """
        wanted = self.default if name is None else name
        if not experiments and wanted != self.default and wanted not in self._names("release"):
            raise InvalidArgument(
                f"There is no prompt bundle {wanted!r} for this key. Leave prompt_bundle out to use the default one.",
                field="prompt_bundle",
                ids=(wanted,),
            )
        if wanted == self.default and self._default is not None:
            return self._default
        try:
            bundle = self.load(wanted)
        except (NotFound, SettingsError) as error:
            raise InvalidArgument(error.message, field="prompt_bundle", ids=error.ids) from error
        if found := self._problems(bundle):
            raise InvalidArgument(
                f"The prompt bundle {wanted} can't be used: {'; '.join(found[:3])}. Mend its templates,"
                " or name another bundle.",
                field="prompt_bundle",
                ids=(wanted,),
            )
        if wanted == self.default and bundle.origin == "release":
            self._default = bundle
        return bundle

    def at_hand(self, name: str | None) -> Bundle | None:
        """The default one, which anybody may name, if it was read and can't change. Doesn't block."""
        return self._default if name is None or name == self.default else None

    def load(self, name: str) -> Bundle:
        """Raises: NotFound, SettingsError when it is damaged or was changed after it was frozen."""
        origin, folder = self._place(name)
        return load_bundle(folder, name, origin=origin)

    def folder(self, name: str) -> Path:
        """Raises: NotFound."""
        return self._place(name)[1] / name

    def every(self) -> list[BundleInfo]:
        """Releases first, each origin in the order of names and versions."""
        return [self.info(name) for name in (*self._names("release"), *self._names("local"))]

    def info(self, name: str) -> BundleInfo:
        """Raises: NotFound."""
        origin, folder = self._place(name)
        parent, state, sha256 = None, "frozen", None
        try:
            manifest = read_manifest(folder / name)
            parent, state = manifest.parent, manifest.state
            bundle = load_bundle(folder, name, origin=origin)
            sha256, found = bundle.sha256, self._problems(bundle)
        except SettingsError as error:
            found = (error.message,)
        return BundleInfo(
            name=name,
            origin=origin,
            state="draft" if state == "draft" else "frozen",
            parent=parent,
            sha256=sha256,
            is_default=name == self.default,
            problems=found,
        )

    def create(self, bundle_id: str, *, parent: str | None) -> Bundle:
        """A draft `<bundle_id>/<next version>`, a copy of `parent` (None: the default).

        Raises: InvalidArgument for a name that is none or belongs to the release, NotFound, SettingsError, StorageError.
        """
        source = self.load(self.default if parent is None else parent)
        if not NAME.fullmatch(f"{bundle_id}/1"):
            raise InvalidArgument(
                f"{bundle_id!r} can't be a bundle's name: use small letters, digits and hyphens, e.g. short-answers.",
                field="name",
            )
        if (self.release / bundle_id).exists():
            raise InvalidArgument(
                f"{bundle_id!r} is a bundle of the release. Choose another name; `promote` makes a release version of it.",
                field="name",
            )
        with self.changing():
            version = str(next_version(self.local / bundle_id))
            manifest = replace(source.manifest, id=bundle_id, version=version, parent=source.name, state="draft")
            put_bundle(self.local / bundle_id / version, manifest, source.sources)
        return self.load(f"{bundle_id}/{version}")

    def write(self, name: str, path: str, text: str, *, before: str | None = None) -> BundleInfo:
        """Replace one template of a draft. Its texts may still be wrong afterwards: `problems` says how.

        before: the text that was edited; None = whatever is there is replaced.
        Raises: NotFound; Conflict when the bundle is frozen, or the text is not `before` any more; InvalidArgument for an unknown
        template or one outside the language.
        """
        with self.changing():
            self._draft(name)
            bundle = self.load(name)
            if path not in bundle.sources:
                raise InvalidArgument(
                    f"{name} has no template {path!r}; it has {', '.join(sorted(bundle.sources))}.", field="template"
                )
            if before is not None and _lines(before) != _lines(bundle.sources[path]):
                raise Conflict(
                    f"{path} of {name} was changed by somebody else meanwhile. Read it again first.", ids=[name]
                )
            if len(text.encode()) > MAX_TEMPLATE_BYTES:
                raise InvalidArgument(f"A template has at most {MAX_TEMPLATE_BYTES} bytes.", field="text")
            if found := problems({**bundle.sources, path: text}):
                raise InvalidArgument(f"{'; '.join(found[:3])}.", field="text")
            replace_file(self.local / name / path, text.encode())
        return self.info(name)

    def freeze(self, name: str) -> BundleInfo:
        """From now on no byte of it may change; freezing twice is fine. An evaluation calls this for the bundle it uses.

        Raises: NotFound, InvalidArgument when it can't be used as it is.
        """
        with self.changing():
            bundle = self.usable(name)
            if bundle.manifest.state == "draft":
                root = self.local / name
                frozen = replace(bundle.manifest, state="frozen")
                if file_hashes(root) != frozen.files:  # by an editor, which knows no lock
                    raise Conflict(f"{name} was being edited; freeze it again.", ids=[name])
                write_manifest(root, frozen)
        return self.info(name)

    def diff(self, name: str, other: str | None = None) -> list[TemplateDiff]:
        """From `other` (None: its parent) to `name`. Raises: NotFound, SettingsError, InvalidArgument without a parent."""
        bundle = self.load(name)
        before = other if other is not None else bundle.manifest.parent
        if before is None:
            raise InvalidArgument(f"{name} has no parent. Name the bundle to compare it with.", field="other")
        return differences(self.load(before), bundle)

    @contextmanager
    def changing(self) -> Generator[None]:
        """One writer at a time, the command line's process included. Raises: StorageError."""
        with self._lock, one_writer(self.local):
            yield

    def _draft(self, name: str) -> None:
        origin, folder = self._place(name)
        if origin == "release" or read_manifest(folder / name).state == "frozen":
            what = "part of the release" if origin == "release" else "frozen"
            raise Conflict(
                f"{name} is {what} and can't be changed. Make an experiment from it: ./scripts/run prompts create NAME --from {name}.",
                ids=[name],
            )

    def _problems(self, bundle: Bundle) -> tuple[str, ...]:
        if bundle.sha256 not in self._checked:
            self._checked[bundle.sha256] = self._check(bundle)
        return self._checked[bundle.sha256]

    def _place(self, name: str) -> tuple[Origin, Path]:
        if NAME.fullmatch(name):
            if (self.release / name).is_dir():
                return "release", self.release
            if (self.local / name).is_dir():
                return "local", self.local
        raise NotFound(
            f"There is no prompt bundle {name!r}. There are: {', '.join((*self._names('release'), *self._names('local')))}.",
            field="prompt_bundle",
            ids=[name],
        )

    def _names(self, origin: Origin) -> list[str]:
        folder = self.release if origin == "release" else self.local
        found = [path.relative_to(folder).as_posix() for path in folder.glob("*/*") if path.is_dir()]
        return sorted((name for name in found if NAME.fullmatch(name)), key=_order)


def _lines(text: str) -> list[str]:
    """Without regard to how lines end: forms send them in a way of their own."""
    return text.splitlines()


def _order(name: str) -> tuple[str, int]:
    bundle_id, _, version = name.partition("/")
    return bundle_id, int(version)


def differences(before: Bundle, after: Bundle) -> list[TemplateDiff]:
    """Templates that are not the same in both, by path."""
    found: list[TemplateDiff] = []
    for path in sorted({*before.sources, *after.sources}):
        old, new = before.sources.get(path), after.sources.get(path)
        if old == new:
            continue
        change = "added" if old is None else "removed" if new is None else "changed"
        lines = difflib.unified_diff(
            (old or "").splitlines(), (new or "").splitlines(), before.name, after.name, lineterm=""
        )
        found.append(TemplateDiff(path=path, change=change, diff="\n".join(lines)))
    return found
