"""What became of a check, in words for people: what is the matter, and what to do. Both languages; pure."""

from typing import Literal

from msgspec import Struct

from shared.providers.verdict import Code, Part, Verdict


class Said(Struct, frozen=True, kw_only=True):
    what: str
    remedy: str  # "" = nothing needs to be done


class Told(Struct, frozen=True, kw_only=True):
    zh: Said
    en: Said


Lang = Literal["zh", "en"]
_OFF: dict[Part, tuple[str, str]] = {
    "chat": (
        "尚未连接语言模型，回答将逐字引用原文。",
        "No language model is connected: answers quote the documents word for word.",
    ),
    "embedding": ("使用自带的模型，无需连接。", "The bundled model is used; nothing needs to be connected."),
    "rerank": ("未使用重排。", "Reranking is off."),
}
_WORKS: dict[Part, tuple[str, str]] = {
    "chat": ("连接成功，模型 {model} 已应答。", "It works: the model {model} answered."),
    "embedding": (
        "连接成功，模型 {model} 返回了 {dimensions} 维的向量。",
        "It works: {model} returned vectors of {dimensions} numbers.",
    ),
    "rerank": ("连接成功，模型 {model} 已为文字评分。", "It works: {model} scored the texts."),
}
# what (zh), what to do (zh), what (en), what to do (en); {host}, {model} are filled in
_TEXTS: dict[Code, tuple[str, str, str, str]] = {
    "bad_address": (
        "这个地址无法使用。",
        "地址应以 http:// 或 https:// 开头，通常以 /v1 结尾。请从服务商的说明中复制。",
        "This address can't be used.",
        "It begins with http:// or https:// and usually ends in /v1. Copy it from the provider's instructions.",
    ),
    "bad_key": (
        "密钥中有不该出现的字符。",
        "请重新复制密钥，不要带上空格、换行或引号。",
        "The key holds characters that no key has.",
        "Copy it again, without spaces, line breaks or quotation marks.",
    ),
    "unknown_dimensions": (
        "不知道这个模型的向量有多少维。",
        "请查看该模型的说明，填入维数，例如 1024。",
        "How long this model's vectors are is not known.",
        "Look it up in the model's description and enter it under dimensions, for example 1024.",
    ),
    "wrong_key": (
        "{host} 不接受这个密钥。",
        "请检查是否复制完整、是否属于这家服务商、是否已停用；必要时在服务商的网站上新建一个。",
        "{host} does not accept this key.",
        "See whether it was copied whole, belongs to this provider and still holds; make a new one on the provider's site if need be.",
    ),
    "no_credit": (
        "{host} 表示账户余额或额度已用完。",
        "请在服务商的网站上充值，或换一家服务商。",
        "{host} says that the account has no money or quota left.",
        "Top it up on the provider's site, or use another provider.",
    ),
    "rate_limited": (
        "{host} 目前收到的请求超过了您的限额。",
        "密钥没有问题。请等一分钟再试；如果经常出现，请向服务商申请更高的限额。",
        "{host} is getting more requests than it allows you.",
        "The key is fine. Try again in a minute; if it happens often, ask the provider for a higher limit.",
    ),
    "wrong_model": (
        "{host} 没有名为“{model}”的模型。",
        "请检查名称，大小写也要一致；服务商的网站列有全部模型。在本机运行的模型需要先下载。",
        "{host} has no model called “{model}”.",
        "Check the spelling, capitals included; the provider's site lists its models. One on this machine must be downloaded first.",
    ),
    "wrong_address": (
        "{host} 有应答，但这个地址下没有所需的服务。",
        "请检查地址的后半部分，多数服务商以 /v1 结尾。",
        "{host} answers, but there is nothing of this kind at the address.",
        "Check its last part: at most providers it is /v1.",
    ),
    "unknown_host": (
        "找不到 {host}。",
        "请检查地址有无拼写错误，以及这台机器是否连上了网络。",
        "There is no {host} to be found.",
        "Check the address for a slip of the pen, and whether this machine is online.",
    ),
    "unreachable": (
        "无法连接 {host}。",
        "如果模型在本机运行，请先启动它；否则请检查地址和网络，或公司网络是否需要代理。",
        "{host} can't be reached.",
        "If the model runs on this machine, start it first; else check the address, the network, and whether your company wants a proxy.",
    ),
    "tls": (
        "与 {host} 的加密连接没有建立。",
        "在本机运行的模型，地址通常以 http:// 开头；如果公司网络使用自己的证书，请联系网络管理员。",
        "No encrypted connection to {host} came about.",
        "A model on this machine usually has an address that begins with http://; where a company's network has certificates of its own, ask whoever runs it.",
    ),
    "timeout": (
        "{host} 没有及时应答。",
        "请稍后再试。在本机运行的模型第一次载入需要一些时间。",
        "{host} did not answer in time.",
        "Try again later. A model on this machine takes a while when it is loaded for the first time.",
    ),
    "overloaded": (
        "{host} 自身目前有故障或过于繁忙。",
        "设置没有问题的话，稍后再试即可。",
        "{host} has trouble of its own at the moment, or too much to do.",
        "If the settings are right, trying again later is enough.",
    ),
    "broke_off": (
        "{host} 中断了应答。",
        "请再试一次；如果仍然如此，请检查地址，以及应为 http:// 还是 https://。",
        "{host} broke off its answer.",
        "Try again; if it stays like that, check the address, and whether it is http:// or https://.",
    ),
    "not_compatible": (
        "{host} 的应答不是所需的形式。",
        "请检查地址是否指向与 OpenAI 兼容的接口，而不是网页。",
        "{host} answers in a form that is of no use here.",
        "See whether the address leads to an OpenAI-compatible interface and not to a web page.",
    ),
    "no_tools": (
        "模型“{model}”不能调用函数。",
        "请换一个模型，或把 chat.protocol 设为 react：那种方式适用于任何模型。",
        "The model “{model}” can't call functions.",
        "Choose another model, or set chat.protocol to react: that way suits any model.",
    ),
    "empty_answer": (
        "模型“{model}”有应答，但没有文字。",
        "请换一个用于对话的模型；嵌入模型或重排模型不会写字。",
        "The model “{model}” answered without a word.",
        "Choose a model for conversations; one for embeddings or reranking writes nothing.",
    ),
    "no_model": (
        "{host} 可以连接，还需要选择一个模型。",
        "请从列表中选择，或填入服务商说明中的名称。",
        "{host} can be reached; a model is still to be chosen.",
        "Choose one from the list, or enter a name from the provider's instructions.",
    ),
    "refused": (
        "{host} 拒绝了这个请求。",
        "请检查地址和模型名称；下面是服务商的原话。",
        "{host} refused the request.",
        "Check the address and the model's name; the provider's own words are below.",
    ),
}


def told(verdict: Verdict) -> Told:
    """A verdict in both languages."""
    if verdict.code in ("works", "off"):
        zh, en = (_WORKS if verdict.code == "works" else _OFF)[verdict.part]
        texts = (zh, "", en, "")
    else:
        texts = _TEXTS[verdict.code]
    filled = [
        text.format(
            host=_host(verdict.base_url),
            model=verdict.answered_by or verdict.model or "—",
            dimensions=verdict.dimensions,
        )
        for text in texts
    ]
    return Told(zh=Said(what=filled[0], remedy=filled[1]), en=Said(what=filled[2], remedy=filled[3]))


def _host(base_url: str | None) -> str:
    """The part of an address that people know it by, without a user and a password."""
    rest = (base_url or "").partition("://")[2] or (base_url or "")
    return rest.partition("/")[0].rpartition("@")[2] or "—"
