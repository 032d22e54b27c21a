"""A word of polarity, a day, a label or a doer that the source binds to something else is not supported, and what it does say is."""

import pytest

from api.agent.verify import check

PRICES = "Delivery to Rotterdam costs EUR 85 per pallet; each pump costs EUR 1,250."
REGIONS = "华东区贡献收入的41%，华南区为27%。"
SHOPS = "本季度新开门店17家，关闭5家，期末门店总数为236家。"
ALLOWANCES = "每位员工每月可领取设备补贴人民币300元，网络补贴人民币120元。"
BOARD = "It was approved by the board on 9 December and signed by Maria Lund."
CONTRARY = [
    ("实习生适用。", "本制度适用于全体正式员工，实习生不适用。"),
    ("实习生也适用。", "实习生不适用本制度。"),
    ("允许携带液体。", "禁止携带液体。"),
    ("费用包含运费。", "费用不包含运费。"),
    ("无需审批。", "需要审批。"),
    ("不得转让。", "可以转让。"),
    ("上午九点开始。", "下午九点开始。"),
    ("Seals and bearings are included in the warranty.", "Seals and bearings are excluded from the warranty."),
    ("The warranty covers seals.", "The warranty excludes seals."),
    ("Smoking is permitted.", "Smoking is prohibited."),
    ("The limit was raised.", "The limit was lowered."),
    ("补贴于当月10日发放。", "补贴于次月10日发放。"),
    ("每周三开会。", "每周五开会。"),
    ("We meet on Wednesday.", "We meet on Friday."),
    ("优先选择A方案。", "优先选择B方案。"),
    ("We chose option A.", "We chose option B."),
    ("由人力资源总监李建华批准。", "由人力资源总监李建国批准。"),
    ("人力资源总监李建华批准了本制度。", "本制度由人力资源总监李建国批准。"),
    ("由部门负责人王方审批。", "由部门负责人王芳审批。"),
    ("首席执行官是陈思明。", "首席执行官陈思远表示，公司计划扩张。"),
    ("首席执行官陈思明表示，公司计划扩张。", "CEO陈思远表示，公司计划扩张。"),
]
DOUBTED = [
    ("华南区贡献收入的41%。", REGIONS),
    ("新开门店5家，关闭17家。", SHOPS),
    ("网络补贴为每月300元，设备补贴为120元。", ALLOWANCES),
    ("Delivery costs EUR 85 per pump.", PRICES),
    ("The contract was approved by Maria Lund.", BOARD),
    ("The buyer pays the seller.", "The seller pays the buyer."),
]
QUARTER = "公司第三季度营业收入为4.82亿元，同比增长12.5%；净利润为3,610万元，同比下降4.2%。\n退货率为2.3%，比第二季度的3.1%有所下降。"
SAID = [
    ("第三季度营业收入为4.82亿元，同比增长12.5%。", QUARTER),
    ("实习生不适用。", "本制度适用于全体正式员工，实习生不适用。"),
    ("本制度适用于全体正式员工。", "本制度适用于全体正式员工，实习生不适用。"),
    ("实习生不能申请。", "实习生不可以申请。"),
    ("费用包括运费。", "费用包含运费。"),
    ("Seals are not included in the warranty.", "Seals and bearings are excluded from the warranty."),
    ("补贴于次月10日发放。", "补贴随工资于次月10日发放。"),
    ("每周三开会。", "每周三开会，周五汇报。"),
    ("优先选择B方案。", "优先选择B方案，而不是A方案。"),
    ("由部门负责人王芳审批。", "超过两天的，由部门负责人王芳审批。"),
    ("由王芳审批。", "超过两天的，由部门负责人王芳审批。"),
    ("华东区贡献收入的41%。", REGIONS),
    ("华南区为27%。", REGIONS),
    ("新开门店17家，关闭5家。", SHOPS),
    ("网络补贴为每月120元，设备补贴为300元。", ALLOWANCES),
    ("Delivery to Rotterdam costs EUR 85 per pallet.", PRICES),
    ("It was approved by the board.", BOARD),
    ("It was signed by Maria Lund.", BOARD),
    ("The seller pays the buyer.", "The seller always pays the buyer."),
]
NOT_WRONG = [
    ("周三可以办理。", "周一至周五可以办理。"),
    ("The office is open on Wednesday.", "The office is open Monday to Friday."),
    ("每周三次例会。", "每周开三次例会，周五汇报。"),
    ("不允许携带液体。", "禁止携带液体。"),
    ("Smoking is not permitted.", "Smoking is prohibited."),
    ("患者感到不适。", "患者感到不适。"),
    ("利润2023年为5亿元。", "利润2022年为3亿元，2023年为5亿元。"),
]


@pytest.mark.parametrize(("sentence", "evidence"), CONTRARY)
def test_the_contrary_of_its_source_is_unsupported(sentence: str, evidence: str) -> None:
    assert check(sentence, [evidence]).verdict == "unsupported"


@pytest.mark.parametrize(("sentence", "evidence"), DOUBTED)
def test_what_the_source_says_of_another_is_not_supported(sentence: str, evidence: str) -> None:
    assert check(sentence, [evidence]).verdict == "unchecked"


@pytest.mark.parametrize(("sentence", "evidence"), SAID)
def test_what_the_source_says_of_the_same_is_supported(sentence: str, evidence: str) -> None:
    assert check(sentence, [evidence]).verdict == "supported"


@pytest.mark.parametrize(("sentence", "evidence"), NOT_WRONG)
def test_what_may_be_the_same_is_not_unsupported(sentence: str, evidence: str) -> None:
    assert check(sentence, [evidence]).verdict != "unsupported"
