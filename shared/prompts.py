"""Prompt bundles: versioned folders of templates whose every byte is vouched for by a manifest.

<folder>/<id>/<version>/manifest.json and <lang>/<name>.j2 beside it. A bundle is read once and kept in memory; rendering is
pure. Where bundles lie and how new ones come about: shared/bundles.py. jinja2 lives here and in prompt_language.py.
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal
from uuid import uuid4

import jinja2
import msgspec
from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from shared.errors import InvalidArgument, SettingsError
from shared.prompt_language import TooLong, environment, problems, render

Lang = Literal["zh", "en"]
Origin = Literal["release", "local"]
BundleState = Literal["draft", "frozen"]

_FAULTS = (jinja2.TemplateError, TooLong, TypeError, ValueError, LookupError)
NAME = re.compile(r"[a-z][a-z0-9-]{0,39}/[1-9][0-9]{0,5}")


class BundleManifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """`parent`: the bundle this one was copied from, as id/version. `contracts`: versions the templates were written for."""

    id: str
    version: str
    parent: str | None
    contracts: dict[str, str]
    files: dict[str, str]  # relative path with forward slashes -> sha256; of a draft as it was when last looked at
    state: BundleState = "frozen"


class Bundle:
    """One bundle, complete and verified. Safe to share between runs."""

    def __init__(self, manifest: BundleManifest, *, sources: dict[str, str], origin: Origin = "release") -> None:
        """`sources`: path -> template text, as `manifest.files` has them."""
        self.manifest = manifest
        self.sources = sources
        self.origin: Origin = origin
        self.sha256 = _identity(manifest)
        self._environment = environment(sources)
        self._templates: dict[tuple[Lang, str], jinja2.Template] = {}  # those asked for: jinja2 looks each up anew

    @property
    def name(self) -> str:
        return f"{self.manifest.id}/{self.manifest.version}"

    def render(self, template: str, *, lang: Lang, **values: object) -> str:
        """Render `<lang>/<template>.j2`. A released template that can't be rendered is a bug and raises whatever it is.

        Raises: InvalidArgument (prompt_bundle) for one of an experiment.
        """
        try:
            return self._rendered(template, lang, values)
        except _FAULTS as error:
            if self.origin == "release":
                raise
            raise InvalidArgument(
                f"The prompt bundle {self.name} can't be used: {lang}/{template}.j2 can't be rendered ({error})."
                " Mend the template, or name another bundle.",
                field="prompt_bundle",
                ids=(self.name,),
            ) from error

    def _rendered(self, template: str, lang: Lang, values: Mapping[str, object]) -> str:
        compiled = self._templates.get((lang, template))
        if compiled is None:
            compiled = self._environment.get_template(f"{lang}/{template}.j2")
            self._templates[lang, template] = compiled
        return render(compiled, values).strip()

    def fault(self, template: str, lang: Lang, values: Mapping[str, object]) -> str | None:
        """Why these values can't be rendered, if so; a text that says nothing is a fault as well."""
        try:
            said = self._rendered(template, lang, values)
        except jinja2.TemplateNotFound as error:
            return f"{error.name} is missing"
        except _FAULTS as error:
            return f"can't be rendered with {dict(values)}: {error}"
        return None if said else f"says nothing for {dict(values)}"


_decoder = Decoder(BundleManifest)


def load_bundle(folder: Path, name: str, *, origin: Origin = "release") -> Bundle:
    """Read and verify the bundle `name` ("id/version") below `folder`. A draft's files are taken as they are. Blocking.

    Raises: SettingsError naming the file that is missing, unlisted, not what its manifest says, or no usable template.
    """
    root = folder / name
    manifest = read_manifest(root)
    if f"{manifest.id}/{manifest.version}" != name:
        raise _broken(root / "manifest.json", f"says it is {manifest.id}/{manifest.version}")
    contents = _contents(root)
    hashes = _hashes(contents)
    if manifest.state == "draft":
        manifest = msgspec.structs.replace(manifest, files=hashes)
    for path in manifest.files:
        if path not in hashes:
            raise _broken(root / path, "is missing")
    for path, sha256 in hashes.items():
        if path not in manifest.files:
            raise _broken(root / path, "is not in the manifest")
        if sha256 != manifest.files[path]:
            raise _broken(root / path, "was changed after its manifest was written")
    sources = {path: _text(root / path, data) for path, data in contents.items()}
    if found := problems(sources):
        raise _broken(root, f"has templates that can't be used: {'; '.join(found[:5])}")
    return Bundle(manifest, sources=sources, origin=origin)


def read_manifest(root: Path) -> BundleManifest:
    """Blocking. Raises: SettingsError."""
    path = root / "manifest.json"
    try:
        return _decoder.decode(path.read_bytes())
    except (OSError, DecodeError) as error:
        raise _broken(path, f"can't be read ({error})") from error


def write_manifest(root: Path, manifest: BundleManifest) -> None:
    """In one step: whoever reads meanwhile has the old one or the new one. Blocking. Raises: OSError."""
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    replace_file(root / "manifest.json", text + b"\n")


def replace_file(path: Path, data: bytes) -> None:
    """Blocking. Raises: OSError."""
    beside = path.with_name(f".{path.name}-{uuid4().hex}")
    beside.write_bytes(data)
    beside.replace(path)


def file_hashes(root: Path) -> dict[str, str]:
    """Every template below a bundle's folder, as a manifest lists it. Blocking. Raises: SettingsError."""
    return _hashes(_contents(root))


def _hashes(contents: Mapping[str, bytes]) -> dict[str, str]:
    return {path: hashlib.sha256(data).hexdigest() for path, data in contents.items()}


def _contents(root: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    try:
        for path in sorted(root.rglob("*.j2")):
            if path.is_symlink() or not path.is_file():
                raise _broken(path, "is no plain file")
            found[path.relative_to(root).as_posix()] = path.read_bytes()
    except OSError as error:
        raise _broken(root, f"can't be read ({error})") from error
    return found


def _identity(manifest: BundleManifest) -> str:
    """Of everything that is said in a bundle's name, whether it is frozen yet or not."""
    said = {
        "id": manifest.id,
        "version": manifest.version,
        "parent": manifest.parent,
        "contracts": manifest.contracts,
        "files": manifest.files,
    }
    return hashlib.sha256(msgspec.json.encode(said, order="deterministic")).hexdigest()


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _broken(path, f"can't be read ({error})") from error


def _broken(path: Path, what: str) -> SettingsError:
    return SettingsError(
        f"prompt bundle: {path} {what}. Bundles that are released or frozen are read-only: restore the file;"
        " to try other wording, make an experiment: ./scripts/run prompts create NAME.",
        field="prompt_bundle",
        ids=(str(path),),
    )
