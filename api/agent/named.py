"""Chinese persons, firms and places, known by what stands around them: who is manager, by whom it is made, where it lies. Pure.

No capital letter marks such a name, so only a few plain frames are read, and a name only by its surname or by the word that it
ends with. What no frame holds is left to the other rules.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from api.agent.evidence import Evidence
from api.agent.facts import plain_text
from api.agent.words import simplified
from shared.text.fold import fold


class Named(Struct, frozen=True, kw_only=True):
    """`role`: what of, the same for 由李梅负责 and 负责人是李梅. `core`: simplified and folded, without 市 or 公司."""

    role: str
    core: str
    written: str


_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林郭马罗梁宋郑谢韩唐冯董萧曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪任姜范姚谭廖邹熊陆郝孔崔康"
    "毛邱秦江史顾侯邵孟雷钱汤尹黎武乔贺赖龚庞樊兰殷施陶洪翟倪严芦俞章鲁葛韦申尤毕聂柳邢岳齐梅庄涂耿詹"
)
_NO_PERSON = "曾[一二三两多几任在先经被为是于]|任[何务课职期]|高[管层校级度]|施工|马[上力达路]|江[河湖]|严[格重]|史[书料]|武[器警]|武汉|钱款|黄金|林业|章节|康复|毛利|余额|余款|许可|许多"
_NO_GIVEN = "经理|主任|先生|女士|老师|教授|博士|医生|律师|同志|总|工|某|老|主[管席编]|书记|代表|[院校所局部处科厂队组站会董市省县行]长|氏|姓|家|(?<=[韩罗马毛武施江])方"
_PERSON = (
    rf"(?!{_NO_PERSON})(?:欧阳|司马|诸葛|上官|夏侯|皇甫|司徒|慕容|[{_SURNAMES}])(?!{_NO_GIVEN})[\u4e00-\u9fff]{{1,2}}?"
)
_ENDS_OF_FIRMS = "有限公司|公司|集团|银行|大学|学院|医院|研究院|研究所|设计院|事务所|出版社|基金会"
_NO_FIRM = "[一两三多几各该本这那某其另同子母总分我你贵全]|当地|国内|国外|海外|外部|第三方|施工|承包|设计|监理|建设|供应|供货|相关|有关|所在|上述|原"
_FIRM = rf"(?!{_NO_FIRM})[\u4e00-\u9fffA-Za-z0-9]{{2,12}}?(?:{_ENDS_OF_FIRMS})"
_PERSON_NAMED = rf"(?P<name>{_PERSON})"
_NAMED = rf"(?P<name>{_PERSON}|{_FIRM})"
_TITLE_OF = re.compile(r"[人者商方]$")
_TITLES = (
    "负责人 发明人 发明者 发现者 创始人 创办人 作者 主编 导演 编剧 设计者 设计师 审批人 批准人 审核人 签字人 经办人 申请人 联系人 项目经理 总经理 副总经理"
    " 经理 董事长 总裁 总监 主任 主席 副主席 院长 校长 所长 局长 部长 处长 科长 厂长 队长 组长 站长 会长 理事长 秘书长 书记 市长 省长 县长 总统 总理 首相 总工程师"
    " 首席执行官 首席财务官 首席运营官 首席技术官 首席信息官 首席代表 行长 店长 监事长 董事会秘书 合伙人 班主任 总编辑 总干事 ceo cfo coo cto"
    " 法定代表人 供应商 承包商 承建商 制造商 生产商 开发商 运营商 施工单位 建设单位 设计单位 监理单位 母公司 甲方 乙方 买方 卖方"
)
_IN_ENGLISH = {"ceo": "首席执行官", "cfo": "首席财务官", "coo": "首席运营官", "cto": "首席技术官"}
_DONE = "负责 主管 批准 审批 审核 签字 签署 生产 制造 承建 承包 建造 开发 研发 设计 出版 编写 主编 发明 发现 创立 创办 创建 收购 投资 运营 经营 供应 主持 执导"
_TITLE = "|".join(sorted(_TITLES.split(), key=len, reverse=True))
_VERB = "|".join(_DONE.split())
_SAYS = "表示|指出|宣布|介绍|认为|强调|透露|称|说"
_TITLED = rf"(?:[\u4e00-\u9fff]{{0,8}}?(?:{_TITLE}))?"  # 人力资源总监 before the name
_ENDS = r"(?=[\s，。、；：！？,.;:!?()（）]|先生|女士|同志|博士|教授|和|与|及|$)"
_FRAMES = (
    re.compile(
        rf"由{_TITLED}{_NAMED}(?:全权|主要|具体|直接|共同|统一|亲自|单独|首先|最早)?(?:(?P<role>{_VERB})|担任(?P<title>{_TITLE}))"
    ),
    re.compile(rf"(?P<role>{_TITLE})(?:是|为|：|:|叫){_NAMED}{_ENDS}"),
    re.compile(
        rf"(?:^|[\s，。；：,;:]){_PERSON_NAMED}(?:担任|出任|兼任|接任|当选|任|是|为)[\u4e00-\u9fff]{{0,6}}?(?P<role>{_TITLE}){_ENDS}"
    ),
    re.compile(rf"(?:^|[\s，。；：,;:]){_TITLED}{_PERSON_NAMED}(?P<role>{_VERB})了"),
    re.compile(rf"(?P<role>{_TITLE}){_PERSON_NAMED}(?={_SAYS})"),
)
_HEADING = re.compile(
    rf"(?P<role>{_TITLE}){_NAMED}{_ENDS}"
)  # 项目经理李梅: of a source only, a sentence goes on too often

_LIES = re.compile(
    r"(?P<role>位于|坐落于|坐落在|地处|设在|设于|设立于|迁至|迁往|搬到|出生于|生于)(?:今|现址|现在的|现)?(?P<run>[\u4e00-\u9fff]{2,14})"
)
_ROLE = {
    "坐落于": "位于",
    "坐落在": "位于",
    "地处": "位于",
    "设在": "位于",
    "设于": "位于",
    "设立于": "位于",
    "迁往": "迁至",
    "搬到": "迁至",
    "出生于": "生于",
}
_CITIES = (
    "北京 上海 天津 重庆 香港 澳门 台北 广州 深圳 苏州 南京 杭州 成都 武汉 西安 郑州 长沙 青岛 大连 宁波 厦门 无锡 合肥 福州 济南 沈阳 哈尔滨 长春 昆明 贵阳"
    " 南宁 海口 太原 石家庄 南昌 兰州 西宁 银川 乌鲁木齐 呼和浩特 拉萨 珠海 东莞 佛山 常州 温州 烟台 徐州 洛阳 桂林 东京 大阪 首尔 伦敦 巴黎 柏林 纽约 华盛顿 莫斯科"
)
_PROVINCES = "河北 山西 辽宁 吉林 黑龙江 江苏 浙江 安徽 福建 江西 山东 河南 湖北 湖南 广东 海南 四川 贵州 云南 陕西 甘肃 青海 台湾 广西 内蒙古 宁夏 新疆 西藏"
_COUNTRIES = (
    "中国 美国 英国 法国 德国 日本 韩国 俄罗斯 印度 意大利 西班牙 加拿大 澳大利亚 巴西 荷兰 瑞士 瑞典 新加坡 泰国 越南"
)
_LEVELS = {
    **dict.fromkeys(_CITIES.split(), "市"),
    **dict.fromkeys(_PROVINCES.split(), "省"),
    **dict.fromkeys(_COUNTRIES.split(), "国"),
}
_PLACE = re.compile(
    rf"(?P<known>{'|'.join(_LEVELS)})[省市]?|(?P<core>[\u4e00-\u9fff]{{2,4}}?)(?P<level>[省市县镇乡村])"
)
_NO_PLACE = re.compile(r"[该本此某全各城郊区的其同这那一两几多山河中心东西南北]")


def other_names(sentence: str, shown: Evidence) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names, as written, of which the evidence shows another one in the same role, and those that only don't stand there."""
    said = named(sentence)
    seen = simplified(shown.squeezed) if said else ""
    absent = [one for one in said if one.core not in seen]
    if not absent:
        return (), ()
    others = _by_role(shown.text)
    absent = [one for one in absent if not any(_short_for(one.core, other) for other in others.get(one.role, ()))]
    return (
        tuple(dict.fromkeys(one.written for one in absent if one.role in others)),
        tuple(dict.fromkeys(one.written for one in absent if one.role not in others)),
    )


@lru_cache(maxsize=512)
def named(text: str) -> tuple[Named, ...]:
    plain = plain_text(text)
    return tuple(_found(simplified(plain), plain))


@lru_cache(maxsize=64)
def _by_role(text: str) -> dict[str, frozenset[str]]:
    plain = plain_text(text)
    simple = simplified(plain)
    found: dict[str, set[str]] = {}
    for one in (*_found(simple, plain), *(_name(match, plain) for match in _HEADING.finditer(simple))):
        found.setdefault(one.role, set()).add(one.core)
    return {role: frozenset(cores) for role, cores in found.items()}


def _short_for(one: str, other: str) -> bool:
    """Whether one has all the characters of the other in their order: 中铁, 中国铁路."""
    short, long = sorted((one, other), key=len)
    rest = iter(long)
    return all(character in rest for character in short)


def _found(simple: str, written: str) -> Iterator[Named]:
    for frame in _FRAMES:
        for match in frame.finditer(simple):
            yield _name(match, written)
    for match in _LIES.finditer(simple):
        yield from _places(match, written)


def _name(match: re.Match[str], written: str) -> Named:
    title = match["role"] or match["title"]
    name = match["name"]
    core = re.sub(rf"(?:{_ENDS_OF_FIRMS})$", "", name)
    start, end = match.span("name")
    return Named(role=_role(title), core=fold(core if len(core) > 1 else name), written=written[start:end])


def _role(title: str) -> str:
    """负责人 and 负责 are one, 发明人, 发明者 and 发明 too."""
    done = _TITLE_OF.sub("", title)
    return done if done in _DONE.split() else _IN_ENGLISH.get(title, title)


def _places(match: re.Match[str], written: str) -> Iterator[Named]:
    """One inside the other, 江苏省苏州市, as far as they follow each other."""
    at = match.start("run")
    while place := _PLACE.match(match.string, at, match.end("run")):
        core, level = place["known"] or place["core"], _LEVELS.get(place["known"] or "") or place["level"]
        if not place["known"] and _NO_PLACE.search(core):
            return
        role = _ROLE.get(match["role"], match["role"])
        yield Named(role=f"{role} {level}", core=core, written=written[place.start() : place.end()])
        at = place.end()
