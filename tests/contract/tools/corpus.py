"""Two departments and a secret: the documents most tests of the tools are about."""

from shared.types.documents import ROOT_PATH
from tests.factories import NOW_MS, ADocument, a_document

DAY_MS = 86_400_000

LEAVE = a_document(
    "制度/请假.md",
    title="请假管理制度",
    source="人事手册",
    aliases=("HR", "Personnel"),
    trust="official",
    tags=("制度",),
    page=3,
    updated_at_ms=NOW_MS - DAY_MS,
    sections={
        ROOT_PATH: ["本制度自发布之日起施行。\n"],
        "年假": ["年假\n员工工作满一年享有五天年假。\n", "年假应在当年用完，不得跨年累计。\n"],
        "年假 › 审批": ["审批\n年假申请由部门经理在系统 v2.1.3 中审批。\n"],
        "病假": ["病假\n病假需提交医院证明。\n"],
    },
)
EXPENSES = a_document(
    "policies/expenses.md",
    title="Expense Policy",
    source="Finance",
    lang="en",
    trust="internal",
    tags=("policy", "finance"),
    sections={
        "Travel": ["Travel\nFlights are booked in economy class.\n"],
        "Travel › Hotels": ["Hotels\nHotels cost at most 150 EUR per night; see error ERR_TIMEOUT in the tool.\n"],
        "Meals": ["Meals\nMeals are refunded up to 40 EUR per day.\n"],
    },
)
SECRET = a_document(
    "董事会/并购.md",
    title="并购计划代号海燕",
    source="董事会",
    aliases=("Board",),
    access=("board",),
    tags=("机密",),
    sections={"背景": ["背景\n海燕项目的年假安排与报价为九亿元。\n"]},
)
CORPUS: tuple[ADocument, ...] = (LEAVE, EXPENSES, SECRET)
