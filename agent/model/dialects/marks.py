"""The marks that models set into their text: around thinking, before and after calls, and at the end of a message."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

_TAGS: Final = "think thinking thought thoughts reasoning analysis reflection scratchpad scratch_pad inner_monologue"
THINKING: Final[Mapping[str, str]] = {
    **{f"<{each}>": f"</{each}>" for name in _TAGS.split() for each in (name, name.capitalize(), name.upper())},
    "[THINK]": "[/THINK]",
    "<seed:think>": "</seed:think>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|inner_prefix|>": "<|inner_suffix|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<unused94>": "<unused95>",
    "◁think▷": "◁/think▷",
    "<|channel>thought": "<channel|>",
    "<tool_response>": "</tool_response>",
    "[TOOL_RESULTS]": "[/TOOL_RESULTS]",
}
"""Opening and closing tags: DeepSeek's, Qwen's and most others', Granite's, Mistral's, Seed's, Cohere's, Apertus'.

Behind them what smaller models write, OpenThinker's, MedGemma's, Kimi's and Gemma 4's; the last are of a result that a
model makes up behind its own call.
"""

_OF_BLOCK: Final = (
    *("Context", "Event", "Human_Input", "context", "event", "human_input"),
    *("Current_Time", "Timezone", "Room", "Evidence", "From_Outside", "Note", "Recent", "Recalled", "Remembered"),
    *("Unsaid", "Interrupted_After", "Continues", "Children", "Reflexes", "Rang", "Mood", "Confirmed", "Confirmation"),
    *("Context_Full", "Waited_Seconds", "Late_Seconds", "Also_Missed"),
)
PROMPT: Final[Mapping[str, tuple[str, ...]]] = {
    **{f"<{name}>": (f"</{name}>",) for name in _OF_BLOCK},
    **{f"<{name} ": ("/>", f"</{name}>") for name in ("Event", "event", "Evidence")},
    "<From_Outside ": ("</From_Outside>",),
}
"""What hands the model its event (`agent.context.block`) and opens an epoch, as models say it after; and its ends."""

HIDDEN: Final[Mapping[str, tuple[str, ...]]] = {**{tag: (end,) for tag, end in THINKING.items()}, **PROMPT}
"""Everything between marks that is nobody's to hear."""


def _spelled(*marks: str) -> tuple[str, ...]:
    """Return DeepSeek's marks with the signs of their own and with those of ASCII, which its models mix."""
    return tuple(mark.replace("｜", bar).replace("▁", blank) for mark in marks for bar in "｜|" for blank in "▁_")


CALLS: Final = (
    # Hermes, Qwen, GLM; Granite; Nemotron; Apertus; LM Studio
    *("<tool_call>", "<tool_calls>", "<|tool_call|>", "<TOOLCALL>", "<|tools_prefix|>", "[TOOL_REQUEST]"),
    # What Hermes, Qwen2.5-Coder and others write in place of their own tag at times
    *("<function_call>", "<tools>", "<tool>", "<json>", "<JSON>", "<xml>", "<function name="),
    *("<tool name=", "<tool_call name=", "<action name=", "<call name=", "<longcat_tool_call>"),
    *("<TOOL_CALL>", "<ToolCall>", "<tool_use>", "<tool_code>", "[TOOL_CALL]", "[tool_call]"),
    # Gemma 4; FunctionGemma
    *("<|tool_call>", "<start_function_call>"),
    # Llama 3 and 4; LFM2; Mistral; Phi 4
    *("<function=", "<|python_tag|>", "<|python_start|>", "<|tool_call_start|>", "[TOOL_CALLS]", "functools["),
    # DeepSeek V3 to V3.2
    *_spelled("<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁calls｜>"),
    *("<｜DSML｜function_calls>", "<｜DSML｜tool_calls>", "<｜DSML｜invoke"),
    # Anthropic's older notation, MiniMax, Seed; Kimi; Cohere; InternLM
    *("<function_calls>", "<invoke name=", "<minimax:tool_call>", "<seed:tool_call>"),
    *("<|tool_calls_section_begin|>", "<|START_ACTION|>", "<|action_start|>"),
)
"""Each says that a call follows."""

HARMONY: Final = ("<|start|>", "<|channel|>", "to=functions.", "commentary to=functions.")
"""The head of a message in gpt-oss's format begins with one of these and ends with `HEAD_END`."""

GOES_ON: Final = ("<|channel|>", "<|start|>assistant")
"""What begins a further message of the same answer, in that format."""

HARMONY_ENDS: Final = ("<|end|>", "<|return|>", "<|call|>", "<|start|>", "<|channel|>")
"""What ends a message of it."""

HEAD_END: Final = re.compile(r"<\|message\|>|to=[\w.:-]+(?: |json|code|<\|constrain\|>)*(?=\{)")
"""What ends the head of a message; some servers leave the mark out before an object."""

TURN_ENDS: Final = (
    *("<|end|>", "<|return|>", "<|call|>", "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>"),
    *("<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>", "<end_of_turn>"),
    *("<｜end▁of▁sentence｜>", "<|END_OF_TURN_TOKEN|>", "<turn|>", "<|tool_response>", "<start_function_response>"),
    "```tool_output",
)
"""Ends of a message that a server let through: gpt-oss's, ChatML's, Llama's, Mistral's, Gemma's, DeepSeek's, Cohere's.

The answer is at its end there, but for the messages that gpt-oss's format parts one answer into.
"""

ROLE: Final = "assistant\n\n"
"""What is left of the head of a turn of Llama 3's where its marks were taken out, but not what stands between them."""

_ROLES: Final = ("<|im_start|>", "<|start_header_id|>", "<|header_start|>", "<|start_of_role|>", "<|turn>")
"""What stands before whoever speaks."""

OWN_TURNS: Final = (
    *(f"{before}assistant" for before in _ROLES),
    *("<|turn>model", "<start_of_turn>model", "<|assistant|>", "[|assistant|]", "<|im_assistant|>"),
    *("<|CHATBOT_TOKEN|>", "<｜Assistant｜>", "[/INST]", ROLE),
)
"""How the prompt has a turn of the model's begin: dropped before the first words, the end of the answer behind them."""

OTHERS_TURNS: Final = (
    *(f"{before}{role}" for before in _ROLES for role in ("user", "system", "tool", "ipython")),
    *("<start_of_turn>user", "<|user|>", "[|user|]", "<|system|>", "<|observation|>", "<|im_user|>"),
    *("<|USER_TOKEN|>", "<｜User｜>", "[INST]", "<s>[INST]", "<s> [INST]"),
)
"""How another's turn begins, which a model makes up behind its own: the answer is at its end there."""

DROPPED: Final = (
    *("<s>", "<bos>", "<pad>", "<unk>", "/no_think", "[END FINAL RESPONSE]"),
    *(f"{begins}{name}>" for name in ("response", "answer", "final_answer") for begins in ("<", "</")),
    *(f"</{name}>" for name in _OF_BLOCK),
    *(f"</{mark[1:]}" for mark in CALLS if re.fullmatch(r"<(?:｜DSML｜)?[\w:]+>", mark)),
)
"""What else is set around a message, Qwen's order to it, tags around what is not thinking, and ends of calls."""

TOKEN: Final = re.compile(r"<[|｜][^][\s<>|｜]{3,40}[|｜]>|\[\|\w{3,40}\|]")
TOKEN_BEGUN: Final = re.compile(r"(?:<[|｜]|\[\|)[^][\s<>|｜]{0,40}[|｜]?\Z")
"""A special token of any model's vocabulary, and what may become one: nobody's to hear. A shorter one is a formula."""


def _labels(*names: str) -> tuple[str, ...]:
    """Return how models name at the beginning of a line what stands behind it: plain, in bold, or under a heading.

    In these capitals, in one at the beginning, and in nothing else.
    """
    forms = ("{}:", "{}：", "**{}:**", "**{}：**", "**{}**:", "**{}**：", "### {}:")
    written = dict.fromkeys(each for name in names for each in (name, name.capitalize(), name.upper()))
    return tuple(form.format(name) for name in written for form in forms)


THOUGHT_LABELS: Final = _labels("Thought", "思考")
WEAK_LABELS: Final = _labels("Thoughts", "Thinking", "Reasoning", "Plan", "思考过程")
ACTION_LABELS: Final = _labels(
    *("Action", "Tool", "Function", "Tool Call", "Function Call", "Calling Tool", "tool_call", "function_call"),
    *("行动", "动作", "工具", "调用"),
)
INPUT_LABELS: Final = _labels(
    *("Action Input", "Input", "Tool Input", "Arguments", "Args", "Parameters", "行动输入", "动作输入", "输入", "参数"),
)
RESULT_LABELS: Final = _labels("Observation", "观察", "观察结果")
ANSWER_LABELS: Final = _labels(
    *("Final Answer", "Answer", "Response", "reply", "Speak", "最终答案", "最终回答", "回答", "回复"),
)
"""The notation of ReAct, in which models of every maker have seen agents think and act, and what they make of it."""

OWN_LABELS: Final = _labels("assistant", "AI", "助手", "nakari")
OTHERS_LABELS: Final = (*_labels("User", "Human", "用户"), "### Instruction:")
"""How a prompt names whoever speaks in plain words: as a turn of the model's, and as another's."""

OTHERS_TURN_ENDS: Final = (*TURN_ENDS, *OWN_TURNS)

ENDS: Final = (*TURN_ENDS, *OWN_TURNS, *OTHERS_TURNS, *DROPPED)
"""All of them that are marks wherever they stand."""

FENCE: Final = "```"

DIRECTION_START: Final = re.compile(r"\*{1,3}|_{1,3}|`+|[(\[（【]")
"""What a stage direction begins with: emphasis, or a bracket."""

CLOSERS: Final = (
    *("</function>", "</invoke>", "</｜DSML｜invoke>", "<tool_call|>", "<end_function_call>", "<|tools_suffix|>"),
    *("[END_TOOL_REQUEST]", "[/TOOL_CALLS]", "[/TOOL_CALL]", "[/tool_call]"),
    *("<|python_end|>", "<|tool_call_end|>", "<|/tool_call|>"),
    *(*_spelled("<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"), "<|tool_calls_section_end|>", "<|END_ACTION|>"),
    *("<|action_end|>", "PAUSE", FENCE, *ENDS),
)
"""What may follow a call, and is dropped there."""

BETWEEN: Final = (
    *CALLS,
    *(*_spelled("function<｜tool▁sep｜>"), "<tool_sep>", "[ARGS]", "<response>"),
    *("```json", "```xml", "```python", "```tool_call", "```tool_code", FENCE),
)
"""What may stand between the mark of a call, its name and its arguments, beside any special token."""

THINKERS: Final = re.compile(
    r"(deepseek-)?r1\b|qwq|think|reason|magistral|glm-z1|marco-o1|skywork-o1|exaone-deep|minimax-m", re.IGNORECASE
)
"""Names of models whose prompt ends with the opening tag, so that their text begins within their thinking."""

OPENINGS: Final = (
    *("the user", "okay, the user", "okay, so the user", "ok, the user", "ok, so the user", "alright, the user"),
    *("alright, so the user", "hmm, the user", "hmm, so the user", "so the user", "first, the user", "we need to"),
    "here are my reasoning steps",
    *("用户", "好的，用户", "嗯，用户", "首先，用户", "好，用户"),
    *("analysisthe ", "analysiswe ", "analysisuser ", "analysisi ", "analysisthey "),
)
"""How thinking begins whose opening tag stood in the prompt, in small letters: nobody is spoken to as "the user"."""

THOUGHT_ENDS: Final = (*THINKING.values(), "[BEGIN FINAL RESPONSE]", "assistantfinal", "assistantcommentary")
"""Behind Apriel's the last two are what is left of gpt-oss's marks where a server took them out."""
FIXED: Final = (*HIDDEN, *THOUGHT_ENDS, *CALLS, *HARMONY, *ENDS)
REACT: Final = frozenset((*THOUGHT_LABELS, *WEAK_LABELS, *ACTION_LABELS, *RESULT_LABELS))
WEAK: Final = frozenset((*WEAK_LABELS, *OTHERS_LABELS))
"""What is a label only where a step, an answer or a turn of the model's own follows on a line of its own."""

WEAK_ENDS: Final = (
    *(f"\n{label}" for label in (*ACTION_LABELS, *RESULT_LABELS, *ANSWER_LABELS, *OWN_LABELS)),
    *("\n{", "\n```", *CALLS),
)
REACT_ENDS: Final = (*WEAK_ENDS, *_labels("Action", "Observation", "Final Answer", "行动", "观察", "最终答案"))
"""What ends thinking that a label began, and is looked at: the step behind it, of which some stand in the same line."""
LABELS: Final = (*OWN_LABELS, *ANSWER_LABELS, *OTHERS_LABELS, *REACT)
TURNS: Final = frozenset((*ENDS, *OWN_LABELS, *ANSWER_LABELS, *OTHERS_LABELS))
END_ANSWER: Final = TURNS.difference(DROPPED, ANSWER_LABELS)
"""Behind others, as behind a special token that is in no table, more of the same answer follows."""
_ANYWHERE: Final = "|".join(re.escape(mark) for mark in sorted((*FIXED, FENCE, "{"), key=len, reverse=True))


PACKER: Final = "multi_tool_use.parallel"
"""What OpenAI's models, and others that learnt from them, call to make several calls at once."""

BEFORE_CALL: Final = r"(?:[a-z_]\w* ?= ?)?(?:print\(|await |call:|[a-z_]\w*\.)*"
"""What models put before a call that they write as one of Python's, or nearly: what it is given to, and whose it is."""

_CALL_BEGUN: Final = re.compile(rf"(?=[a-z_]){BEFORE_CALL}(?:[A-Za-z_][\w-]*(?::\d*)? ?=?)?", re.ASCII)


def beginnings(marks: Iterable[str]) -> frozenset[str]:
    """Return everything that may become one of the marks."""
    return frozenset(mark[:size] for mark in marks for size in range(1, len(mark)))


beginnings_of = lru_cache(maxsize=64)(beginnings)
"""The same, kept for a tuple that is asked for again."""

LABEL_STARTS: Final = beginnings(LABELS)


def begun(text: str, starts: frozenset[str], longest: int = 40) -> int:
    """Return how many characters at the end of the text may be the beginning of a mark."""
    return next((size for size in range(min(longest, len(text)), 0, -1) if text[-size:] in starts), 0)


def may_begin_call(line: str, names: Iterable[str]) -> bool:
    """Whether the line of a call that is written as one of Python's may begin so."""
    return bool(_CALL_BEGUN.fullmatch(line)) or any(name.startswith(line.rstrip()) for name in names)


def _several(names: Iterable[str]) -> list[str]:
    """Return the names of several words, which nobody writes but to call; else a pattern that never matches."""
    return [re.escape(name) for name in names if "_" in name] or ["(?!)"]


@lru_cache(maxsize=8)
def marks_of(names: tuple[str, ...]) -> tuple[re.Pattern[str], frozenset[str]]:
    """Return what finds a mark where these tools are known, and the beginnings of marks that stand anywhere."""
    elements = [*names, *map(str.capitalize, names), *(("respond",) if "reply" in names else ())]
    either, element = ("|".join(map(re.escape, each)) for each in ((*names, PACKER), elements))
    alone = rf"(?:{'|'.join(_several(names))})(?=[:：]|[ \t]*(?:\n|\Z))"
    lines = rf"{BEFORE_CALL}(?:{either})(?:\(|(?::\d+)? ?\{{)|{alone}"
    called = rf"|\[(?:{either})\(|^[ \t]*(?!{_ANYWHERE})(?:\[|{lines})"
    bare = rf"|<(?:{element})(?=[\s/>]){called}" if names else ""
    labels = rf"|^[ \t]*(?:{'|'.join(map(re.escape, LABELS))})"
    anywhere = beginnings((*FIXED, FENCE, *(f"[{name}(" for name in names), *(f"<{name}>" for name in elements)))
    found = f"{_ANYWHERE}|{TOKEN.pattern}{bare}{labels}|{DIRECTION_START.pattern}"
    return re.compile(found, re.MULTILINE), anywhere


def make_ready(names: Iterable[str]) -> None:
    """Make what the marks of an answer with these tools are found by, before its first word waits for it: 0.04 s."""
    for known in (tuple(names), ()):  # a reply's own text knows none
        marks_of(known)
