"""`citebound up`: everything, in the foreground, until Ctrl-C."""

import argparse
import os

from scripts.citebound.console import as_called, err, note, plain, words
from scripts.citebound.failure import OK
from scripts.citebound.supervisor.signals import Signals
from scripts.citebound.supervisor.supervise import Supervisor
from shared.lifeline import follow_parent
from shared.settings import Settings
from shared.settings_load import load_settings


def up(_arguments: argparse.Namespace) -> int:
    settings = load_settings(os.environ)
    signals = Signals()
    follow_parent()
    supervisor = Supervisor(settings, env=os.environ, signals=signals, tell=note)
    try:
        with err.status(words("starting …", "正在启动……")):
            supervisor.start()
        if not signals.stopping:
            _welcome(settings, supervisor)
        while not signals.stopping:
            supervisor.tend()
        note(words("stopping …", "正在停止……"))
    finally:
        supervisor.stop()
    return OK


def _welcome(settings: Settings, supervisor: Supervisor) -> None:
    address = supervisor.address
    model = settings.chat.model or words("none: answers are quotations (extractive)", "未连接：回答逐字引用原文")
    plain(words(f"Citebound is ready: {address}", f"Citebound 已就绪：{address}"), "bold green")
    plain(words(f"  data folder  {settings.data_dir}", f"  数据文件夹  {settings.data_dir}"))
    plain(words(f"  chat model   {model}", f"  语言模型  {model}"))
    for trouble in supervisor.troubles:
        plain(f"! {trouble}", "yellow")
    plain(
        words(
            "Open this address in a browser to add documents and ask.", "在浏览器中打开上面的地址，即可添加文档并提问。"
        )
    )
    plain(words("Or in another terminal:", "或在另一个终端中："))
    plain(as_called(words("  ./scripts/run import FOLDER", "  ./scripts/run import 文件夹")))
    plain(
        as_called(
            words('  ./scripts/run ask "a question about what is in it"', '  ./scripts/run ask "关于其中内容的问题"')
        )
    )
    plain(words("Ctrl-C stops it.", "按 Ctrl-C 停止。"), "dim")
