"""Prompt bundles: versioned folders of templates whose every byte is vouched for by a manifest.

<folder>/<id>/<version>/manifest.json and <lang>/<name>.j2 beside it. A bundle is read once and kept in memory; rendering is
pure. Where bundles lie and how new ones come about: shared/bundles.py. jinja2 lives here and in prompt_language.py.
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import jinja2
import msgspec
from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from shared.errors import SettingsError
from shared.prompt_language import TooLong, environment, problems, render

Lang = Literal["zh", "en"]
Origin = Literal["release", "local"]
BundleState = Literal["draft", "frozen"]

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

    @property
    def name(self) -> str:
        return f"{self.manifest.id}/{self.manifest.version}"

    def render(self, template: str, *, lang: Lang, **values: object) -> str:
        """Render `<lang>/<template>.j2`. A value that the template wants and nobody gave is a bug and raises."""
        return render(self._environment.get_template(f"{lang}/{template}.j2"), values).strip()

    def fault(self, template: str, lang: Lang, values: Mapping[str, object]) -> str | None:
        """Why these values can't be rendered, if so; a text that says nothing is a fault as well."""
        try:
            said = self.render(template, lang=lang, **values)
        except jinja2.TemplateNotFound as error:
            return f"{error.name} is missing"
        except (jinja2.TemplateError, TooLong, TypeError, ValueError, LookupError) as error:
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
    hashes = file_hashes(root)
    if manifest.state == "draft":
        manifest = msgspec.structs.replace(manifest, files=hashes)
    sources = {path: _read(root / path) for path in sorted(manifest.files)}
    for path, sha256 in hashes.items():
        if path not in manifest.files:
            raise _broken(root / path, "is not in the manifest")
        if sha256 != manifest.files[path]:
            raise _broken(root / path, "was changed after its manifest was written")
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
    """Blocking. Raises: OSError."""
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    (root / "manifest.json").write_bytes(text + b"\n")


def file_hashes(root: Path) -> dict[str, str]:
    """Every template below a bundle's folder, as a manifest lists it. Blocking. Raises: SettingsError."""
    found: dict[str, str] = {}
    try:
        for path in sorted(root.rglob("*.j2")):
            if path.is_symlink() or not path.is_file():
                raise _broken(path, "is no plain file")
            found[path.relative_to(root).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
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


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise _broken(path, f"can't be read ({error})") from error


def _broken(path: Path, what: str) -> SettingsError:
    return SettingsError(
        f"prompt bundle: {path} {what}. Bundles that are released or frozen are read-only: restore the file;"
        " to try other wording, make an experiment: citebound prompts create NAME.",
        field="prompt_bundle",
        ids=(str(path),),
    )
