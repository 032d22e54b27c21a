"""The new for the old: what a source changed from one thing to another."""

import pytest

from api.agent.verify import check

FALSE = [
    ("项目负责人由李国强改为赵敏。", "项目负责人由赵敏改为李国强。"),
    ("项目负责人由李国强改为赵敏。", "项目负责人改为李国强。"),
    ("上线日期由2025年10月15日推迟至2025年11月20日。", "上线日期推迟至2025年10月15日。"),
    ("上线日期由2025年10月15日推迟至2025年11月20日。", "上线日期由2025年11月20日推迟至10月15日。"),
    ("自2025年起，年费由300元调整为500元。", "年费调整为300元。"),
    ("公司总部从苏州迁至杭州。", "公司总部从杭州迁至苏州。"),
    ("公司总部从苏州迁至杭州。", "公司总部迁至苏州。"),
    ("客服电话由400-1234改为400-5678。", "客服电话改为400-1234。"),
    ("保修期由12个月延长至24个月。", "保修期延长至12个月。"),
    ("The launch was moved from 15 June 2025 to 20 August 2025.", "The launch was moved to 15 June 2025."),
    (
        "The launch was moved from 15 June 2025 to 20 August 2025.",
        "The launch was moved from 20 August 2025 to 15 June.",
    ),
    ("The budget was raised from EUR 1.2 million to EUR 1.8 million.", "The budget was raised to EUR 1.2 million."),
    ("The budget was raised from EUR 1.2 million to EUR 1.8 million.", "The budget rose from €1.8m to €1.2m."),
    ("The contact changed from Tom Hughes to Anna Weber.", "The contact changed from Anna Weber to Tom Hughes."),
    ("The servers were migrated from Dublin to Frankfurt.", "The servers were migrated to Dublin."),
    ("The price per seat dropped from $40 to $25 in March.", "The price per seat dropped to $40."),
    ("They replaced the steel seal with a ceramic seal.", "They replaced the ceramic seal with a steel seal."),
]
HONEST = [
    ("项目负责人由李国强改为赵敏。", "项目负责人改为赵敏。"),
    ("上线日期由2025年10月15日推迟至2025年11月20日。", "上线日期推迟至11月20日。"),
    ("年费由300元调整为500元，后又由500元调整为300元。", "年费后来调整为300元。"),
    ("公司总部从苏州迁至杭州，研发中心迁至苏州。", "研发中心迁至苏州。"),
    ("公司总部从苏州迁至杭州。", "公司总部没有迁至苏州。"),
    ("营业时间从9点到17点，午休由1小时改为2小时。", "营业时间从9点到17点。"),
    ("The launch was moved from 15 June 2025 to 20 August 2025.", "The launch was moved from June 15, 2025 to August 20."),
    ("The budget was raised from EUR 1.2 million to EUR 1.8 million.", "The budget was raised to €1.8m, from €1.2m."),
    ("The contact changed from Tom Hughes to Anna Weber, then from Anna Weber to Tom Hughes.", "The contact changed to Tom Hughes."),
    ("The price dropped from $40 to $25.", "Before the price dropped to $25 it was $40."),
    ("The office is open from 9:00 to 17:00.", "The office is open from 9:00 to 17:00."),
]  # fmt: skip


@pytest.mark.parametrize(("source", "sentence"), FALSE)
def test_the_old_for_the_new_is_unsupported(source: str, sentence: str) -> None:
    assert check(sentence, (source,)).verdict == "unsupported"


@pytest.mark.parametrize(("source", "sentence"), HONEST)
def test_the_new_for_the_new_is_not(source: str, sentence: str) -> None:
    assert check(sentence, (source,)).verdict != "unsupported"
