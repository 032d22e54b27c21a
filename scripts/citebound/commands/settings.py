"""`citebound settings`: what is set and from where, whether the providers work, keys in and out of the system's credential store.

On this machine. What is listed is what the next start from this shell would read; what is checked is what the running instance
would, where one runs: its environment may be another than this shell's. A key is never an argument: those stand in the shell's
history and in the list of processes.
"""

import argparse
import asyncio
import getpass
import os
import sys

from msgspec import Struct, structs

from scripts.citebound.api import Api
from scripts.citebound.console import note, plain, print_json, words
from scripts.citebound.failure import FAILED, OK, USAGE, CommandFailed
from scripts.citebound.supervisor.instance import is_alive, read_instance
from shared.credentials import SystemStore, variable_of
from shared.layout import Layout
from shared.providers.connections import Connections, Overview
from shared.providers.verdict import PARTS, Part, Verdict
from shared.providers.words import Told, told
from shared.settings_load import data_folder, load_settings
from shared.settings_shown import without_userinfo

_ORIGINS = {
    "environment": ("environment", "环境变量"),
    "file": ("file", "设置文件"),
    "credential_store": ("credential store", "系统凭据库"),
    "default": ("default", "默认"),
}

_MARKS = {"works": ("✓", "green"), "off": ("–", "dim")}  # what is not connected was not tried
_PATIENCE_S = 300  # three providers, each of which may take its time


class Checked(Struct, frozen=True, kw_only=True):
    verdict: Verdict
    said: Told


class Kept(Struct, frozen=True, kw_only=True):
    name: str
    store: str
    kept: bool


def settings(arguments: argparse.Namespace) -> int:
    found = _overview()
    if arguments.json:
        print_json(found)
        return OK
    plain(words(f"settings file     {found.file}", f"设置文件    {found.file}"))
    store = found.store.name or words("none that can be used here", "没有可用的")
    plain(words(f"credential store  {store}", f"系统凭据库  {store}"))
    for one in found.settings:
        if one.origin != "default":
            plain(f"{one.name} = {one.value} ({words(*_ORIGINS[one.origin])})")
    return OK


def check(arguments: argparse.Namespace) -> int:
    parts: tuple[Part, ...] = PARTS if arguments.part is None else (arguments.part,)
    instance = read_instance(Layout(root=data_folder(os.environ)))
    if instance is not None and instance.address and is_alive(instance.pid):
        note(words("as the running instance is set", "按正在运行的 Citebound 的设置"))
        api = Api(instance.address, key=load_settings(os.environ).api.api_key)
        found = api.post("/api/settings/check", {"parts": parts}, list[Checked], timeout_s=_PATIENCE_S)
    else:
        found = _checked_here(parts)
    if arguments.json:
        print_json(found)
    else:
        for one in found:
            _print(one)
    return OK if all(one.verdict.is_fine for one in found) else FAILED


def _checked_here(parts: tuple[Part, ...]) -> list[Checked]:
    from shared.providers.check import (
        check_part,  # engines and models: seconds of imports that no other command should pay
    )

    loaded = load_settings(os.environ)
    found: list[Checked] = []
    for part in parts:
        verdict = asyncio.run(check_part(loaded, part))
        if verdict.base_url is not None:
            verdict = structs.replace(verdict, base_url=without_userinfo(verdict.base_url))
        found.append(Checked(verdict=verdict, said=told(verdict)))
    return found


def set_key(arguments: argparse.Namespace) -> int:
    name = f"{arguments.part}.api_key"
    store = SystemStore()
    if not store.state().usable:
        raise CommandFailed(
            words("this machine has no credential store that can be used", "这台机器没有可用的系统凭据库"),
            remedy=words(
                f"set {variable_of(name)} in the environment that Citebound is started from",
                f"请在启动 Citebound 的环境中设置 {variable_of(name)}",
            ),
            error="invalid_settings",
        )
    key = _read_key()
    if not (key and key.isascii() and key.isprintable() and " " not in key):
        raise CommandFailed(
            words(
                "that is no key: it is empty, or holds spaces or letters that no key has",
                "这不是密钥：内容为空，或含有空格等不该出现的字符",
            ),
            remedy=words("copy it again", "请重新复制"),
            code=USAGE,
            error="invalid_argument",
        )
    store.put(name, key)
    if os.environ.get(variable_of(name)):
        note(
            words(
                f"{variable_of(name)} is set here and wins; unset it to use the stored key",
                f"此处设置了 {variable_of(name)}，以它为准；取消后才使用凭据库中的密钥",
            ),
            "yellow",
        )
    return _told(arguments, Kept(name=name, store=store.state().name, kept=True))


def forget_key(arguments: argparse.Namespace) -> int:
    name, store = f"{arguments.part}.api_key", SystemStore()
    store.forget(name)
    return _told(arguments, Kept(name=name, store=store.state().name, kept=False))


def _overview() -> Overview:
    return Connections(os.environ, in_force=load_settings(os.environ)).overview()


def _read_key() -> str:
    if sys.stdin.isatty():
        return getpass.getpass(words("key (not shown): ", "密钥（不会显示）：")).strip()
    return sys.stdin.readline().strip()


def _told(arguments: argparse.Namespace, kept: Kept) -> int:
    if arguments.json:
        print_json(kept)
        return OK
    plain(
        words(f"{kept.name} is kept in: {kept.store}", f"{kept.name} 已存入：{kept.store}")
        if kept.kept
        else words(f"{kept.name} is not kept any more", f"{kept.name} 已移除"),
        "green",
    )
    note(words("a running Citebound sees it when it is started again", "正在运行的 Citebound 重新启动后生效"))
    return OK


def _print(one: Checked) -> None:
    said = words(one.said.en.what, one.said.zh.what)
    mark, style = _MARKS.get(one.verdict.code, ("✗", "red"))
    plain(f"{mark} {one.verdict.part}: {said}", style)
    if remedy := words(one.said.en.remedy, one.said.zh.remedy):
        plain(f"    → {remedy}")
    if one.verdict.models:
        plain(f"    {words('models', '可用模型')}: {', '.join(one.verdict.models[:20])}")
    if one.verdict.detail:
        plain(f"    {one.verdict.detail}", "dim")
