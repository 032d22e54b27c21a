"""What counts as a claim: nothing that asserts slips through as a greeting, a heading, a question or "not covered"."""

import pytest

from api.agent.stated import Stated, stated

CASES: list[tuple[Stated, str]] = [
    ("facts", "退货率是 3.2%。"),
    ("facts", "The pump weighs 80 kg."),
    ("facts", "- It was built by Borealis in 2019."),
    ("facts", "您好，退货率是 9.9%。"),
    ("facts", "Hello, the rate is 9.9%."),
    ("facts", "第三季度的退货率是 9.9%："),
    ("facts", "您是指 9.9% 的退货率吗？"),
    ("facts", "## 保修期 24 个月"),
    ("facts", "文档没有直接说明，不过第三季度的退货率是 9.9%，由张三负责。"),
    ("facts", "文档没有提到保修期；退货率是9.9%。"),
    ("facts", "The documents do not mention it, but the rate is 9.9%."),
    ("facts", "The rate is 9.9%, which no document mentions."),
    ("facts", "退货率是 9.9%并且没有提到其他。"),
    ("facts", "The rate is 9.9% and I found nothing else."),
    ("facts", "我查到退货率是 9.9%，没有找到其他数据。"),
    ("nothing", "I searched for ZX-9 and ZX-10 and found nothing."),
    ("something", "产品不含铅，可用于食品加工。"),
    ("something", "李娜负责采购部。"),
    ("something", "任何人都可以退货而不受限制。"),
    ("something", "The pump is safe for food."),
    ("something", "文档没有说明，但李娜负责采购部。"),
    ("nothing", "文档中没有提到 9.9% 的退货率。"),
    ("nothing", "The documents do not mention the weight of 80 kg."),
    ("nothing", "No document mentions the price of the ZX-9, ZX-10 and ZX-11."),
    ("nothing", "推断：大约需要 50 天。"),
    ("nothing", "Inference: that is about 500 days."),
    ("nothing", "## Seals in 2024"),
    ("nothing", "Here is what the Manual of 2024 says:"),
    ("nothing", "您指的是 2023 年还是 2024 年？"),
    ("nothing", "Which of the two do you mean?"),
    ("nothing", "您好！"),
    ("nothing", "希望以上内容对您有帮助。"),
    ("nothing", "I hope that helps."),
    ("nothing", "是的。"),
    ("nothing", "——"),
]


@pytest.mark.parametrize(("expected", "sentence"), CASES)
def test_what_a_sentence_states(expected: Stated, sentence: str) -> None:
    assert stated(sentence) == expected
