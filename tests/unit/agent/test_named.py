"""Chinese names: another person, firm or place in the same role is not shown; one that stands nowhere is at most unchecked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.agent.named import named
from api.agent.verify import check

ANOTHER = [
    ("灯塔项目由赵敏负责。", "灯塔项目由李梅负责。", "赵敏"),
    ("灯塔项目由赵敏负责。", "灯塔项目负责人：李梅。", "赵敏"),
    ("项目负责人是赵敏。", "项目由李梅全权负责。", "赵敏"),
    ("項目經理為趙敏。", "项目经理：李梅", "趙敏"),
    ("项目经理是赵敏。", "项目经理李梅，电话见附录。", "赵敏"),
    ("赵敏担任项目经理。", "项目经理是李梅。", "赵敏"),
    ("主要发明人是张伟。", "主要发明人是李强。", "张伟"),
    ("张伟发明了电话。", "李强发明了电话。", "张伟"),
    ("合同由欧阳明签署。", "合同由王建国签署。", "欧阳明"),
    ("供应商是华为公司。", "供应商是中兴公司。", "华为公司"),
    ("该产品由华为公司生产。", "该产品由小米公司生产。", "华为公司"),
    ("该书由商务出版社出版。", "该书由中华出版社出版。", "商务出版社"),
    ("该项目位于上海市。", "该项目位于苏州市。", "上海市"),
    ("总部设在上海。", "总部位于北京市海淀区。", "上海"),
    ("工厂迁至江苏省苏州市。", "工厂迁往江苏省无锡市。", "苏州市"),
    ("他出生于浙江宁波。", "他生于浙江温州。", "宁波"),
]
THE_SAME = [
    ("灯塔项目由李梅负责。", "灯塔项目负责人：李梅。"),
    ("項目經理為李夢。", "项目经理：李梦"),
    ("合同由王建国签署。", "合同由 王建国 签署。"),
    ("承包商是中国铁路工程集团有限公司。", "承包商：中国铁路工程集团。"),
    ("该项目位于苏州市。", "该项目位于江苏省苏州市工业园区。"),
    ("该项目位于江苏省苏州市。", "该项目位于江苏苏州。"),
]
NO_NAMES = [
    "阀门由施工方负责。",
    "合同由高管审批。",
    "报告由任务组编写。",
    "文件由任何人签字都无效。",
    "负责人是李经理。",
    "该产品由一家公司生产。",
    "他曾三次出任总理。",
    "车间位于城市中心。",
    "仓库位于该市北部。",
    "供应商是该公司。",
    "负责人是王某。",
]


@pytest.mark.parametrize(("sentence", "evidence", "name"), ANOTHER)
def test_another_name_in_the_same_role_is_named(sentence: str, evidence: str, name: str) -> None:
    judged = check(sentence, [evidence])
    assert (judged.verdict, judged.missing) == ("unsupported", (name,))


@pytest.mark.parametrize(("sentence", "evidence"), THE_SAME)
def test_the_same_name_in_another_spelling_or_frame_is_not_doubted(sentence: str, evidence: str) -> None:
    judged = check(sentence, [evidence])
    assert judged.verdict != "unsupported"
    assert judged.unproved == ()


def test_a_short_form_of_a_firm_is_no_other_firm() -> None:
    judged = check("该桥由中铁集团承建。", ["该桥由中国铁路工程集团有限公司承建。"])
    assert (judged.verdict != "unsupported", judged.unproved) == (True, ())


@pytest.mark.parametrize("evidence", ["灯塔项目于2019年开始，由三人负责。", "项目经理是李梅，灯塔项目于2019年开始。"])
def test_a_name_that_stands_nowhere_beside_none_of_its_role_is_unproved(evidence: str) -> None:
    judged = check("灯塔项目由赵敏负责。", [evidence])
    assert (judged.verdict, judged.unproved) == ("unchecked", ("赵敏",))


def test_a_unit_that_its_source_does_not_give_is_unproved() -> None:
    judged = check("该泵的流量为300升。", ["该泵的流量为300单位。"])
    assert (judged.verdict, judged.unproved) == ("unchecked", ("300升",))


@pytest.mark.parametrize("sentence", NO_NAMES)
def test_words_that_only_look_like_names_are_none(sentence: str) -> None:
    assert named(sentence) == ()


def test_names_are_not_compared_across_languages() -> None:
    judged = check("灯塔项目由赵敏负责。", ["The lighthouse project is led by Li Mei, who reports to the board."])
    assert (judged.missing, judged.unproved) == ((), ())


@given(st.sampled_from("王李张刘陈杨赵黄周吴"), st.text("明华伟芳敏军杰涛", min_size=1, max_size=2))
def test_a_person_is_found_in_every_frame_and_shown_by_each(surname: str, given_name: str) -> None:
    name = surname + given_name
    frames = (f"本项目由{name}负责。", f"本项目负责人是{name}。", f"本项目负责人：{name}，")
    assert {tuple((one.role, one.core) for one in named(frame)) for frame in frames} == {(("负责", name),)}
    assert all(check(one, [other]).verdict != "unsupported" for one in frames for other in frames)


@pytest.mark.parametrize("opening", ["根据资料，", "文档显示，", "根據資料，", "根据所给材料，", "据该报告记载，"])
def test_words_that_introduce_a_source_are_no_name(opening: str) -> None:
    assert check(f"{opening}阀门每月检查一次。", ["阀门每月检查一次，由班长记录。"]).verdict == "supported"
