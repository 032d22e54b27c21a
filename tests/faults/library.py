"""The files that are imported again and again: small, Chinese and English, of several formats, one of them broken."""

from pathlib import Path

from shared.settings import WorkerSettings

BATCH = 4  # texts in one request to the provider
DIMENSIONS = 256
BLOCK_TOKENS, BLOCK_MAX_TOKENS = 40, 60
assert WorkerSettings().block_max_tokens > BLOCK_MAX_TOKENS  # so that a few lines make several blocks

_PUMPS = """# 水泵手册

## 启动
启动水泵 P-1042 之前先打开进水阀，再排出泵体内的空气。压力低于 0.8 bar 时不得启动。

## 维护
机械密封每运行 500 小时更换一次。更换前切断电源，并挂上“禁止合闸”的牌子。

## 报警
报警代码 E-17 表示回水管压力过低，应检查过滤网是否堵塞，必要时反冲洗。
"""
_CRANES = """# Harbour cranes

## Wind
Crane 4 must stop lifting when the wind at the mast exceeds 18 metres per second for more than one minute.

## Grease
The slewing ring takes 2 kilograms of lithium grease every fourteen days, pressed in at four nipples.

## Ropes
A hoisting rope with six broken wires in one lay length is taken out of service on the same day.
"""
_BOILER = """第一章 锅炉
锅炉水位必须保持在玻璃管的两条红线之间。水位看不见时立即停炉，不得补水。

第二章 排污
每班排污一次，每次不超过三十秒。排污后核对水位，并记入值班日志。
"""
_VALVES = """部件,规格,检查周期
Gate valve V-2201,DN 80 PN 16,every 90 days
安全阀 V-2202,DN 50 PN 25,每年校验一次
Check valve V-2203,DN 100 PN 10,every 180 days
"""
_LIFTS = """{
  "电梯保养": "制动器每九十天检查一次，闸瓦厚度小于四毫米时更换。",
  "landing doors": "Door locks are tested every thirty days with a pulling force of 300 newtons."
}
"""

_SPARES = """# 备件清单

备用水泵 P-2099 存放在三号库房，每半年盘车一次。

Spare ropes for crane 4 hang dry and greased in bay seven.
"""


def write_library(folder: Path) -> Path:
    """Five good documents and an empty one; none of a format whose parser takes seconds to load."""
    (folder / "手册").mkdir(parents=True)
    (folder / "手册" / "水泵.md").write_text(_PUMPS, encoding="utf-8")
    (folder / "手册" / "锅炉.txt").write_bytes(_BOILER.encode("gb18030"))
    (folder / "cranes.md").write_text(_CRANES, encoding="utf-8")
    (folder / "lifts.json").write_text(_LIFTS, encoding="utf-8")
    (folder / "valves.csv").write_text(_VALVES, encoding="utf-8")
    (folder / "空.txt").write_bytes(b"")
    return folder


def write_addition(folder: Path) -> Path:
    """One document more, to be added to the library."""
    folder.mkdir()
    (folder / "备件.md").write_text(_SPARES, encoding="utf-8")
    return folder
