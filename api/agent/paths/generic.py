"""Words that name nothing: a question of these alone asks about something that was named before. Pure; Chinese and English.

谁批准的？ and The budget? are made of them, 年假有几天？ and Who approved the annual leave? are not. What is not listed counts as a
name, so a missing word costs a follow-up its hint and never a question that stands alone its sense.
"""

import re
from itertools import product

MOST_CHARS = 30  # of a Chinese question that is looked at, words of an English one
_THING_CHARS = 16  # of a name
_LONGEST = 6  # characters of a Chinese word below

_SIMPLIFIED = str.maketrans(
    "麼時誰為幾個嗎說還負責間裡裏過對於從應該沒總當後實際將給讓請問們預費價錢單額數與據經辦審準啟動結閉發佈頒執驗貨計處決換裝維檢測設備變刪聯繫參離開編製寫講買賣採購銷創產現獲獎選擔壞關斷組構圍標規長寬體積溫壓顏號稱"
    "義詳細節內圖註項賠償罰違約議見務師親兒歲國紹釋補證統誤續簽訂廠區別難優勢點職員電話範適損業舉會況減則歷雙響團塊復頭學導壽屆異錄徑態護報擇權條來樣畢狀種級線終絕網認評試敗質達進遠遲郵鐘隊階險隱頁領頻題風驟齡確啓麽",
    "么时谁为几个吗说还负责间里里过对于从应该没总当后实际将给让请问们预费价钱单额数与据经办审准启动结闭发布颁执验货计处决换装维检测设备变删联系参离开编制写讲买卖采购销创产现获奖选担坏关断组构围标规长宽体积温压颜号称"
    "义详细节内图注项赔偿罚违约议见务师亲儿岁国绍释补证统误续签订厂区别难优势点职员电话范适损业举会况减则历双响团块复头学导寿届异录径态护报择权条来样毕状种级线终绝网认评试败质达进远迟邮钟队阶险隐页领频题风骤龄确启么",
)


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_COUNTED = _words(
    "年 月 日 天 周 小时 分钟 次 个 位 人 种 项 份 条 页 章 节 岁 元 钱 块 名 家 届 期 号 版 倍 阶段 步 部分"
)
_ASKING_ZH = _words(
    "什么 什么时候 什么时间 什么样 哪 哪个 哪些 哪里 哪儿 哪位 哪种 谁 何 何时 何地 何处 何人 何种 为何 为什么 怎么 怎样 怎么样 怎么办 如何"
    " 多少 多久 多长 多长时间 多大 多高 多远 多重 多快 多宽 几 几时 是否 有没有 是不是 能不能 可不可以 会不会 要不要 能否 可否 吗 呢 啥 啥时候 啥样 为啥 咋 咋样 咋办"
) | frozenset(map("".join, product(("几", "多少", "哪", "哪一", "第几", "哪几"), _COUNTED)))
_PLAIN_ZH = _words(
    "是 在 于 由 被 把 对 对于 从 到 到底 究竟 的 了 过 都 也 还 又 再 就 才 只 最 最后 最终 最初 最早 最近 目前 现在 当时 后来 之后 之前"
    " 以后 以前 将 会 能 可 可以 要 需 需要 应 应该 应当 必须 想 有 没有 没 不 未 已 已经 曾 曾经 大概 大约 一共 总共 共 分别 具体 主要 一般"
    " 通常 平均 实际 正式 首次 第一次 里 里面 内 中 和 与 或 及 以及 跟 按 按照 根据 请 请问 我 我们 你 您 给 让 帮我 那 那么 所以 好的 嗯 哦"
    " 其他 其它 其余 别的 另外 一个 一些 一下 每次 每个 各 更多 更 很 为 即可 详细 真的 真 吧 啊 呀 人 样 时候 地方 起 得 出 出来 上 下来 完 成"
    " 去年 今年 明年 前年 上半年 下半年 一年 每年 一月 每月 一天 每天 一次 来 怎样 会怎样 什么样 最晚 最早 最多 最少 最高 最低 最大 最小 至少 哪些人 谁来 英文 中文"
)
_NOUNS_ZH = _words(
    "预算 费用 价格 单价 总价 成本 金额 总额 数额 数量 总数 比例 占比 负责人 责任人 联系人 经办人 审批人 批准人 申请人 发起人 创始人 创办人 作者"
    " 编者 设计者 发明者 发明人 供应商 供货商 厂家 厂商 制造商 承包商 甲方 乙方 对方 双方 经理 领导 成员 团队 参与者 参加者 人数 人员 日期 时间"
    " 截止日期 截止时间 开始时间 结束时间 生效日期 到期日 期限 时限 有效期 保修期 质保期 工期 周期 交货期 年限 寿命 使用寿命 时长 频率 间隔 进度"
    " 进展 状态 现状 阶段 步骤 流程 程序 手续 方法 方式 办法 做法 措施 途径 原因 理由 起因 原理 依据 证据 出处 来源 目的 目标 意义 作用 用途 功能"
    " 特点 特征 特性 优点 缺点 优势 劣势 好处 坏处 区别 差别 差异 异同 关系 影响 后果 结果 结论 成果 效果 效益 收益 风险 隐患 问题 难点 要求 条件"
    " 前提 限制 上限 下限 范围 标准 规格 参数 尺寸 长度 宽度 高度 重量 体积 容量 功率 速度 温度 压力 精度 面积 颜色 材料 材质 型号 版本 编号 名称"
    " 名字 全称 简称 全名 含义 意思 定义 地址 地点 位置 电话 邮箱 网址 联系方式 例子 实例 案例 例外 例外情况 情况 细节 详情 内容 重点 要点 附件"
    " 附录 图片 备注 注意事项 补偿 赔偿 处罚 罚则 违约金 建议 意见 方案 计划 决定 项目 工程 产品 活动 会议 事故 事件 任务 职务 职位 年龄 生日"
    " 国籍 籍贯 学历 父亲 母亲 妻子 丈夫 儿子 女儿 老师 子女 父母 人口 首都 回事 部门 材料 文件 资料 表格 费率 最大值 最小值"
)
_THINGS_ZH = _words(
    "项目 工程 产品 活动 会议 方案 计划 任务 事故 事件 团队 部门 程序 文件 资料"
)  # have names of their own
_VERBS_ZH = _words(
    "批准 审批 审核 负责 主管 主持 牵头 开始 启动 结束 完成 完工 竣工 延期 延误 推迟 提前 暂停 停止 中止 终止 取消 恢复 继续 申请 提交 上报"
    " 签 签署 签订 生效 失效 到期 过期 续签 解除 发布 公布 颁布 施行 实施 执行 落实 上线 下线 交付 交货 发货 验收 付款 支付 结算 承担 计算 处理"
    " 解决 排除 避免 预防 更换 更新 升级 安装 拆卸 调整 调试 使用 操作 维护 维修 检修 检查 检测 测试 清洗 校准 设置 修改 变更 删除 查看 查询 联系"
    " 参加 参与 加入 离开 退出 通过 确定 确认 制定 制订 起草 编写 编制 提出 提供 提到 购买 采购 出售 销售 建立 建造 建成 修建 成立 创立 创建 创办"
    " 设立 开发 研发 设计 发明 生产 制造 发生 发现 出现 出版 出生 去世 逝世 毕业 获得 获奖 当选 上任 任职 担任 失败 成功 中断 停机 停产 损坏 关闭"
    " 开放 开通 启用 保存 存放 保管 组成 构成 包括 包含 分 分为 分成 涉及 适用 适用于 符合 达到 超过 增加 减少 提高 降低 上升 下降 变化 改变 导致 造成 引起"
    " 评价 评估 评审 选择 选定 指定 任命 授权 同意 反对 拒绝 撤销 理解 解释 了解 知道 说说 说明 介绍 展开 讲讲 举例 举例说明 举个例子 补充 证明 验证"
    " 统计 收费 收取 写 做 说 讲 用 买 卖 建 修 换 选 算 查 改 付 看 找 叫 指 批 批下来 跨年 折现 转让 结转 累计 退 退款 延长 补办 补交 代办 代签 撤回 查到 看到 找到 算出 说的 花 管理 交 签字 出钱 违反 错过 花费 办 拿 领 领取 报名 加 带"
)
_ORDINALS_ZH = frozenset(map("".join, product("第", "一二三四五六", (*_COUNTED, "点"))))
_ORDERS_ZH = _words(
    "总结 概括 归纳 翻译 换成 列出 列出来 列表 说一遍 简单 简短 一点 说说 说明 介绍 展开 讲讲 举例 举例说明 举个例子 解释 补充 详细"
)
_WORDS_ZH = _ASKING_ZH | _PLAIN_ZH | _NOUNS_ZH | _VERBS_ZH | _ORDERS_ZH | _ORDINALS_ZH

_ASKING_EN = _words(
    "what whats which who whos whom whose when where why how is are was were do does did has have can could may should will would any"
)
_PLAIN_EN = _words(
    "be been being am done had might must shall the a an some all both each every no not of for to from in on at by with about into over under"
    " between during until till since after before as than then there here and or but if so please tell me us i we my our you your much many long"
    " often far old big large high soon well exactly actually really currently now today later again already yet still ever else other others"
    " another anyone anybody anything someone something everything one ones more most less least first last next final latest current exact main"
    " specific general usually typically kind kinds type types way ways out just only also too come happen happens happened cheaper cheapest better best worse faster slower newer older larger bigger smaller longer shorter higher lower english chinese s t re ll ve d"
)
_NOUNS_EN = _words(
    "budget cost costs price prices fee fees amount number total percentage share owner manager leader head author authors supplier vendor"
    " manufacturer contact team member members people participants date dates time deadline duration period term schedule timeline start end status"
    " progress phase phases stage stages step steps process procedure method methods approach reason reasons cause causes basis evidence source"
    " sources purpose goal goals aim aims meaning significance role use uses function functions feature features advantage advantages disadvantage"
    " disadvantages benefit benefits drawback drawbacks difference differences impact effect effects consequence consequences result results outcome"
    " outcomes conclusion conclusions risk risks issue issues problem problems requirement requirements condition conditions limit limits limitation"
    " limitations restriction restrictions exception exceptions range standard specification specifications parameter parameters size length width"
    " height weight volume capacity power speed temperature pressure colour color material materials version name title definition address location"
    " place phone email example examples detail details content appendix attachment attachments note notes penalty penalties compensation warranty"
    " lifetime lifespan recommendation recommendations suggestion suggestions decision plan proposal project product device machine unit event"
    " meeting incident programme program deal day days week weeks month months year years hour hours minute minutes page chapter section country"
    " person parents father mother wife husband son daughter children age birthday nationality population capital area maximum minimum alternative alternatives objection objections document documents form forms department charge option options"
)
_VERBS_EN = _words(
    "approve approved approves start started starts begin began begun end ended ends finish finished complete completed delay delayed postpone"
    " postponed cancel cancelled canceled stop stopped pause paused resume resumed apply applied applies submit submitted sign signed expire expires"
    " expired renew renewed terminate terminated publish published release released issued announce announced implement implemented launch launched"
    " deliver delivered ship shipped accept accepted pay paid pays cover covers covered calculate calculated handle handled resolve resolved solve"
    " solved fix fixed avoid avoided prevent prevented replace replaced update updated upgrade upgraded install installed remove removed adjust"
    " adjusted used operate operated maintain maintained repair repaired inspect inspected check checked test tested clean cleaned set change changed"
    " modify modified join joined attend attended participate participated left pass passed decide decided determine determined confirm"
    " confirmed draft drafted write wrote written make made say said says mention mentioned propose proposed provide provided buy bought sell sold"
    " build built founded establish established create created develop developed design designed invent invented produce produced occur occurs"
    " occurred discover discovered appear appeared born die died marry married graduate graduated win won lose lost get got receive received elected"
    " appointed fail failed succeed succeeded break broke broken open opened close closed store stored keep kept consist include includes included"
    " contain contains involve involved affect affects affected meet exceed extend extended increase increased decrease decreased improve improved reduce reduced"
    " lead leads led pick picked choose chose chosen select selected agree agreed oppose opposed reject rejected mean means meant explain elaborate"
    " clarify describe summarise summarize give know known work works worked take takes took taken need needs needed require requires required last"
    " lasts responsible available valid allowed possible sure late early expensive go find found miss missed opt manage managed ask asked object objected"
)
_ORDERS_EN = _words(
    "explain elaborate clarify describe summarise summarize give please list translate tell mean meant meaning sure really"
)
_WORDS_EN = _ASKING_EN | _PLAIN_EN | _NOUNS_EN | _VERBS_EN | _ORDERS_EN

# what asks about the thing that was said, not about the thing that was named
_OF_WHAT_WAS_SAID = _words(
    "原因 理由 依据 证据 出处 来源 含义 意思 回事 例子 实例 reason reasons basis evidence source sources meaning example examples give"
    " day days week weeks month months year years hour hours minute minutes page"
)
_MATTER = (
    (_NOUNS_ZH | _VERBS_ZH | _NOUNS_EN | _VERBS_EN | {"多少钱"})
    - _ORDERS_ZH
    - _ORDERS_EN
    - _OF_WHAT_WAS_SAID
    - _words("说 说的 say said")
)

_HAN = re.compile(r"[\u3400-\u9fff]")
_QUESTION_MARK = re.compile(r"[?？]\W*$")
_ASKS_ZH = re.compile(r"[是有在谁誰哪几幾怎何]|什么|什麼|多少|如何|可以|需要")
_PERIOD = re.compile(
    r"(?:19|20)\d\d\s*年?(?:\s*\d{1,2}\s*月(?:\s*\d{1,2}\s*[日号])?)?|第?[一二三四1-4]季度|\b[Qq][1-4]\b|(?<!\d)\d{1,2}月(?:\d{1,2}[日号])?"
)
_LATIN = re.compile(r"[^\W_]+")
_NOT_A_LETTER = re.compile(r"[\W_]+")
_DEFINED_ZH = re.compile(r"^(?:请问)?什么(?:是|叫)")
_DEFINED_EN = re.compile(r"^\W*what(?:'s| is| are)(?: an?)? (?!the\b)[a-z]+\W*$|\bwhat does \w+ mean\b", re.IGNORECASE)


def names_nothing(question: str) -> bool:
    """Whether a question holds no word that could name what it asks about."""
    words = _generic(question)
    if not words:
        return words is not None and _PERIOD.search(question) is not None  # 2023年？
    asking = _ASKING_ZH | _ORDERS_ZH | _ASKING_EN | _ORDERS_EN
    return _QUESTION_MARK.search(question) is not None or any(word in asking for word in words)


def has_matter(question: str) -> bool:
    """Whether a question that names nothing says at least what of it is asked about (预算, approved), so that a name completes it."""
    words = _generic(question) or ()
    return any(word in _MATTER or word.removesuffix("s") in _MATTER for word in words)


def leading_noun(question: str) -> str | None:
    """预算 of 预算是多少？: what the asked thing's name stands before, with 的."""
    said = question.translate(_SIMPLIFIED)
    found = [said[:length] for length in range(2, _LONGEST + 1) if said[:length] in _NOUNS_ZH]
    return question[: len(found[-1])] if found else None


def owner_in(name: str) -> str:
    """合同 of 合同金额: a name without the noun that it is the owner of; itself where it is none's (猎鹰项目)."""
    said = name.translate(_SIMPLIFIED)
    ends = [noun for noun in _NOUNS_ZH - _THINGS_ZH if said.endswith(noun) and len(said) - len(noun) > 1]
    return name[: -len(max(ends, key=len))] if ends else name


def asked_object(question: str) -> str | None:
    """猎鹰项目 of 谁负责猎鹰项目？: what stands behind the listed verb of a Chinese question, where that is a name alone."""
    plain = _NOT_A_LETTER.sub("", question)[:MOST_CHARS].rstrip("的了吗嗎呢")
    begun = _reach(plain.translate(_SIMPLIFIED), _WORDS_ZH - _NOUNS_ZH)
    at = max(place for place, words in enumerate(begun) if words is not None)
    verbs = [word for word in begun[at] or () if word not in ("了", "过", "的")]
    thing = plain[at:]
    named = 1 < len(thing) <= _THING_CHARS and _HAN.search(thing) and not _ASKS_ZH.search(thing)
    return thing if named and verbs and len(verbs[-1]) > 1 and verbs[-1] in _VERBS_ZH else None


def _generic(question: str) -> list[str] | None:
    """The question's words, if all of them are listed here."""
    said = _PERIOD.sub(" ", question)
    if _HAN.search(said):
        return None if _DEFINED_ZH.search(said) else _cut(_NOT_A_LETTER.sub("", said).translate(_SIMPLIFIED))
    if _DEFINED_EN.search(said):
        return None
    words = _LATIN.findall(said.casefold())
    if any(word[0].isupper() for word in _LATIN.findall(said)[1:] if word not in ("I", "English", "Chinese")):
        return None
    return (
        words
        if len(words) <= MOST_CHARS and all(word in _WORDS_EN or word.removesuffix("s") in _VERBS_EN for word in words)
        else None
    )


def _cut(said: str) -> list[str] | None:
    """A Chinese text as listed words without a rest, the longer ones preferred; None where there is a rest."""
    return _reach(said, _WORDS_ZH)[-1] if 0 < len(said) <= MOST_CHARS else None


def _reach(said: str, known: frozenset[str]) -> list[list[str] | None]:
    """The words up to each place of a text, None where listed words don't end."""
    cut: list[list[str] | None] = [[], *(None for _ in said)]
    for at, before in enumerate(cut):
        if before is None:
            continue
        for end in range(at + 1, min(at + _LONGEST, len(said)) + 1):
            better = cut[end]
            if said[at:end] in known and (better is None or len(better) > len(before) + 1):
                cut[end] = [*before, said[at:end]]
    return cut
