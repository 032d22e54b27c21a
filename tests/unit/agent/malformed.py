"""Replies as chat models really write them, and what each must mean.

`expected`: ("tool", name, arguments), ("answer" | "refusal" | "clarification", text) or ("error", problem).
"""

from typing import Any

from msgspec import Struct


class Case(Struct, frozen=True):
    name: str
    reply: str
    expected: tuple[Any, ...]
    cut: bool = False


ID = "abcdefgh.v1#3"
SEARCH = ("tool", "search_blocks", {"query": "年假天数"})
CASES: tuple[Case, ...] = (
    # --- as asked
    Case("plain", 'Thought: 先查。\nAction: search_blocks[{"query": "年假天数"}]', SEARCH),
    Case("plain finish", f"Thought: enough.\nAction: Finish[Five days [source: {ID}].]", ("answer", f"Five days [source: {ID}].")),
    Case("refusal", "Action: Refuse[查过年假，没有写到。]", ("refusal", "查过年假，没有写到。")),
    Case("clarification", "Action: Clarify[Which year do you mean?]", ("clarification", "Which year do you mean?")),
    # --- fences
    Case("all fenced", '```\nThought: a\nAction: search_blocks[{"query": "年假天数"}]\n```', SEARCH),
    Case("all fenced with language", '```text\nAction: search_blocks[{"query": "年假天数"}]\n```\n', SEARCH),
    Case("fenced action", 'Thought: a\n```\nAction: search_blocks[{"query": "年假天数"}]\n```', SEARCH),
    Case("fenced arguments in brackets", 'Action: search_blocks[```json\n{"query": "年假天数"}\n```]', SEARCH),
    Case("fenced arguments without brackets", 'Action: search_blocks\n```json\n{"query": "年假天数"}\n```', SEARCH),
    Case("code in an answer", "Action: Finish[Run\n```sh\nls a[0]\n```\nthen stop.]", ("answer", "Run\n```sh\nls a[0]\n```\nthen stop.")),
    # --- full-width forms
    Case("full-width colon", 'Thought：查\nAction：search_blocks[{"query": "年假天数"}]', SEARCH),
    Case("full-width brackets", 'Action: search_blocks［{"query": "年假天数"}］', SEARCH),
    Case("lenticular brackets", 'Action: search_blocks【{"query": "年假天数"}】', SEARCH),
    Case("full-width braces and quotes", "Action: search_blocks[｛“query”：“年假天数”｝]", SEARCH),
    Case("full-width finish", f"Action：Finish［五天【来源：{ID}】］", ("answer", f"五天【来源：{ID}】")),
    Case("chinese labels", '思考：先查\n行动：search_blocks[{"query": "年假天数"}]', SEARCH),
    # --- labels
    Case("bold labels", '**Thought:** a\n**Action:** search_blocks[{"query": "年假天数"}]', SEARCH),
    Case("bold label, bold name", 'Action: **search_blocks**[{"query": "年假天数"}]', SEARCH),
    Case("code name", 'Action: `search_blocks`[{"query": "年假天数"}]', SEARCH),
    Case("code call", 'Action: `search_blocks[{"query": "年假天数"}]`', SEARCH),
    Case("numbered labels", 'Thought 1: a\nAction 1: search_blocks[{"query": "年假天数"}]', SEARCH),
    Case("heading label", '### Action: search_blocks[{"query": "年假天数"}]', SEARCH),
    Case("lower case", 'thought: a\naction: search_blocks[{"query": "年假天数"}]', SEARCH),
    Case("one line", 'Thought: I search. Action: search_blocks[{"query": "年假天数"}]', SEARCH),
    Case("label on its own line", 'Action:\nsearch_blocks[{"query": "年假天数"}]', SEARCH),
    Case("no label", 'search_blocks[{"query": "年假天数"}]', SEARCH),
    Case("no label before finish", "Finish[五天]", ("answer", "五天")),
    Case("action input", 'Action: search_blocks\nAction Input: {"query": "年假天数"}', SEARCH),
    Case("final answer", "Thought: done\nFinal Answer: 五天", ("answer", "五天")),
    Case("trailing spaces", 'Action: search_blocks[{"query": "年假天数"}]   \n\n  ', SEARCH),
    Case("trailing prose", 'Action: search_blocks[{"query": "年假天数"}]\nI will wait for the result.', SEARCH),
    # --- brackets
    Case("parentheses", 'Action: search_blocks({"query": "年假天数"})', SEARCH),
    Case("no brackets", 'Action: search_blocks {"query": "年假天数"}', SEARCH),
    Case("no arguments at all", "Action: list_documents[]", ("tool", "list_documents", {})),
    Case("missing closing bracket", 'Action: search_blocks[{"query": "年假天数"}', SEARCH),
    Case("missing brace and bracket", 'Action: search_blocks[{"query": "年假天数"', SEARCH),
    Case("missing brace only", 'Action: search_blocks[{"query": "年假天数"]', SEARCH),
    Case("one brace too many", 'Action: search_blocks[{"query": "年假天数"}}]', SEARCH),
    Case("bracket inside a string", 'Action: scan_term[{"term": "a[0]] }"}]', ("tool", "scan_term", {"term": "a[0]] }"})),
    Case("unclosed finish", "Action: Finish[五天，见第二条", ("answer", "五天，见第二条")),
    Case("answer with brackets", "Action: Finish[see [1] and x[0] here]", ("answer", "see [1] and x[0] here")),
    Case("answer with a lone bracket", "Action: Finish[the interval ]0, 1] is open]", ("answer", "the interval ]0, 1] is open")),
    Case("answer that opens too many", "Action: Finish[an open [ bracket]", ("answer", "an open [ bracket")),
    Case("answer over lines", "Action: Finish[一、甲\n二、乙\n]", ("answer", "一、甲\n二、乙")),
    Case("finish with an object", 'Action: Finish[{"answer": "五天\\n见 [1]"}]', ("answer", "五天\n见 [1]")),
    Case("finish with an object that is the answer", 'Action: Finish[{"a": 1, "b": 2}]', ("answer", '{"a": 1, "b": 2}')),
    # --- JSON as models write it
    Case("trailing comma", 'Action: search_blocks[{"query": "年假天数",}]', SEARCH),
    Case("single quotes", "Action: search_blocks[{'query': '年假天数'}]", SEARCH),
    Case("names without quotes", 'Action: search_blocks[{query: "年假天数"}]', SEARCH),
    Case("full-width comma", 'Action: search_blocks[{"query": "年假天数"，"doc_ids": ["a"，"b"，]}]', ("tool", "search_blocks", {"query": "年假天数", "doc_ids": ["a", "b"]})),
    Case("python words", 'Action: list_documents[{"source": None, "x": True, "y": False}]', ("tool", "list_documents", {"source": None, "x": True, "y": False})),
    Case("numbers", 'Action: t[{"a": 1, "b": -2.5, "c": 1e3}]', ("tool", "t", {"a": 1, "b": -2.5, "c": 1000.0})),
    Case("line break in a string", 'Action: search_blocks[{"query": "年假\n天数"}]', ("tool", "search_blocks", {"query": "年假\n天数"})),
    Case("escapes", 'Action: scan_term[{"term": "a\\"b\\\\c\\u4e2d\\ud83d\\ude00"}]', ("tool", "scan_term", {"term": 'a"b\\c中😀'})),
    Case("label inside an argument", 'Action: search_blocks[{"query": "Action: Finish[x]"}]', ("tool", "search_blocks", {"query": "Action: Finish[x]"})),
    Case("label on its own line inside an argument", 'Action: search_blocks[{"query": "x\nAction: Finish[y]\nz"}]', ("tool", "search_blocks", {"query": "x\nAction: Finish[y]\nz"})),
    # --- self-made observations
    Case("invented continuation", 'Action: search_blocks[{"query": "年假天数"}]\nObservation: {"harness_status": "ok"}\nThought: found\nAction: Finish[七天]', SEARCH),
    Case("invented observation in chinese", 'Action: search_blocks[{"query": "年假天数"}]\n观察：七天\n行动：Finish[七天]', SEARCH),
    Case("observation after finish", "Action: Finish[五天]\nObservation: done", ("answer", "五天")),
    Case("envelope after unclosed finish", 'Action: Finish[五天\nObservation: {"harness_status":"ok","payload":1}', ("answer", "五天")),
    Case("fenced envelope after unclosed finish", 'Action: Finish[五天\n**Observation:**\n```json\n{ "harness_status": "ok"}\n```', ("answer", "五天")),
    Case("envelope after a final answer", 'Final Answer: 五天\n{"harness_status":"ok"}', ("answer", "五天")),
    Case("answer with an observation of its own", "Action: Finish[叶片：\n观察：变黄。\n结论：缺氮。", ("answer", "叶片：\n观察：变黄。\n结论：缺氮。")),
    Case("final answer with an observation of its own", "Final Answer: Leaves:\nObservation: yellow.\nSo: no iron.", ("answer", "Leaves:\nObservation: yellow.\nSo: no iron.")),
    Case("brackets in an invented observation", "Action: Finish[five [a]]\nObservation: [x]]", ("answer", "five [a]")),
    # --- hidden reasoning
    Case("thinking tags", '<think>maybe Action: Finish[x]</think>\nAction: search_blocks[{"query": "年假天数"}]', SEARCH),
    Case("thinking without its opening tag", 'I should search.\n</think>\n\nAction: search_blocks[{"query": "年假天数"}]', SEARCH),
    Case("thinking that never ends", "<think>I could do Action: Finish[x] or", ("error", "thinking_only")),
    # --- wrong in meaning
    Case("nothing", "", ("error", "empty")),
    Case("blanks", " \n\t ", ("error", "empty")),
    Case("prose", "五天。", ("error", "no_action")),
    Case("thought only", "Thought: I wonder.", ("error", "no_action")),
    Case("two actions", 'Action: search_blocks[{"query": "a"}]\nAction: search_blocks[{"query": "b"}]', ("error", "several_actions")),
    Case("tool and finish", 'Action: search_blocks[{"query": "a"}]\nThought: b\nAction: Finish[c]', ("error", "several_actions")),
    Case("two actions without label", 'search_blocks[{"query": "a"}]\nscan_term[{"term": "b"}]', ("error", "several_actions")),
    Case("finish and tool", 'Action: Finish[c]\nAction: search_blocks[{"query": "a"}]', ("error", "several_actions")),
    Case("name alone", "Action: list_documents", ("error", "no_brackets")),
    Case("sentence as action", "Action: I will search for it", ("error", "no_brackets")),
    Case("no name", "Action: 查一下", ("error", "no_brackets")),
    Case("text as arguments", "Action: search_blocks[年假天数]", ("error", "not_an_object")),
    Case("list as arguments", 'Action: search_blocks[["年假"]]', ("error", "not_an_object")),
    Case("name twice", 'Action: search_blocks[{"query": "a", "query": "b"}]', ("error", "bad_json")),
    Case("no comma", 'Action: search_blocks[{"query": "a" "doc_ids": []}]', ("error", "bad_json")),
    Case("quote inside a string", 'Action: search_blocks[{"query": "the "best" one"}]', ("error", "bad_json")),
    Case("unknown escape", 'Action: scan_term[{"term": "C:\\dir"}]', ("error", "bad_json")),
    Case("half a surrogate", 'Action: scan_term[{"term": "\\ud800"}]', ("error", "bad_json")),
    Case("unfinished string", 'Action: search_blocks[{"query": "年假', ("error", "bad_json")),
    Case("nested too deeply", "Action: t[{" + '"a": {' * 40, ("error", "bad_json")),
    Case("empty finish", "Action: Finish[ ]", ("error", "empty_answer")),
    Case("finish without brackets", "Action: Finish\n五天", ("error", "no_brackets")),
    # --- cut at the output limit
    Case("cut in the arguments", 'Action: search_blocks[{"query": "年', ("error", "cut"), cut=True),
    Case("cut in the answer", "Action: Finish[五天，见", ("error", "cut"), cut=True),
    Case("cut in the thought", "Thought: I am thinking", ("error", "cut"), cut=True),
    Case("cut behind the action", 'Action: search_blocks[{"query": "年假天数"}]\nObservation: {"harn', SEARCH, cut=True),
)  # fmt: skip
