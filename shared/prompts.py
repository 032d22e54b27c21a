"""Prompt bundles: versioned folders of templates whose every byte is vouched for by a manifest.

prompts/<id>/<version>/manifest.json and <lang>/<name>.j2 beside it. A bundle is read once at start and kept in memory;
rendering is pure. jinja2 lives here.
"""

import hashlib
from pathlib import Path
from typing import Literal

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment
from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from shared.errors import SettingsError

Lang = Literal["zh", "en"]


class BundleManifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`parent`: the bundle this one was copied from, as id/version. `contracts`: versions the templates were written for."""

    id: str
    version: str
    parent: str | None
    contracts: dict[str, str]
    files: dict[str, str]  # relative path with forward slashes -> sha256


class Bundle:
    """One bundle, complete and verified. Safe to share between runs."""

    def __init__(self, manifest: BundleManifest, *, sha256: str, sources: dict[str, str]) -> None:
        """`sha256`: of the manifest's bytes, which name every file's hash. `sources`: path -> template text."""
        self.manifest = manifest
        self.sha256 = sha256
        self._environment = ImmutableSandboxedEnvironment(
            loader=jinja2.DictLoader(sources),
            undefined=jinja2.StrictUndefined,
            autoescape=False,  # plain text for a model, not markup
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
        )

    @property
    def name(self) -> str:
        return f"{self.manifest.id}/{self.manifest.version}"

    def render(self, template: str, *, lang: Lang, **values: object) -> str:
        """Render `<lang>/<template>.j2`. A value that the template wants and nobody gave is a bug and raises."""
        return self._environment.get_template(f"{lang}/{template}.j2").render(**values).strip()


_decoder = Decoder(BundleManifest)


def load_bundle(folder: Path, name: str) -> Bundle:
    """Read and verify the bundle `name` ("id/version") below `folder`.

    Raises: SettingsError naming the file that is missing, unlisted or not what its manifest says.
    """
    root = folder / name
    try:
        raw = (root / "manifest.json").read_bytes()
        manifest = _decoder.decode(raw)
    except (OSError, DecodeError) as error:
        raise _broken(root / "manifest.json", f"can't be read ({error})") from error
    if f"{manifest.id}/{manifest.version}" != name:
        raise _broken(root / "manifest.json", f"says it is {manifest.id}/{manifest.version}")
    sources = {path: _read(root / path) for path in sorted(manifest.files)}
    for path, sha256 in file_hashes(root).items():
        if path not in manifest.files:
            raise _broken(root / path, "is not in the manifest")
        if sha256 != manifest.files[path]:
            raise _broken(root / path, "was changed after its manifest was written")
    return Bundle(manifest, sha256=hashlib.sha256(raw).hexdigest(), sources=sources)


def file_hashes(root: Path) -> dict[str, str]:
    """Every template below a bundle's folder, as a manifest lists it. Raises: OSError."""
    paths = sorted(root.rglob("*.j2"))
    return {path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise _broken(path, f"can't be read ({error})") from error


def _broken(path: Path, what: str) -> SettingsError:
    return SettingsError(
        f"prompt bundle: {path} {what}. Release bundles are read-only: restore the file from the release;"
        " to try other wording, copy the bundle to a new version.",
        field="prompt_bundle",
        ids=(str(path),),
    )
