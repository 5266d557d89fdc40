"""The replies of the system itself: fixed sentences to a person, and one filler while something takes its time."""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from time import monotonic
from typing import Final

from msgspec import Struct, field

from agent.event import ASR_TRANSCRIPT, Event, utc_now
from agent.mailbox.mail import first_words
from agent.replies import Delivered, Reply, ReplySink
from agent.run.budget import SIGN_AFTER
from agent.run.run import Run
from agent.run.run_state import RunState
from memory.chinese import has_chinese
from memory.errors import DiskFull, MemoryFailure

MOST_FILLED: Final = 64
"""Events that stand back at a time, and are remembered as having had their sign."""

FILLER: Final = "filler-"
"""How the call id of a filler begins: it is a sound, and no answer."""

_PHRASES: Final[Mapping[str, tuple[str, str]]] = {
    "no_model": (
        "I heard you, but I cannot reach the model I think with right now. "
        "I will answer when it is back; say never mind, and I drop it.",
        "我听到了，但是现在连不上我思考用的模型。等连上了我再回答，不用的话就说“算了”。",
    ),
    "no_answer": (
        "I heard you, but the model I think with gives me no whole answer to that. "
        "I will ask it again later; say never mind, and I drop it.",
        "我听到了，但是我思考用的模型没给出完整的回答。我稍后再问它，不用的话就说“算了”。",
    ),
    "no_answer_empty": (
        "I heard you, but the model I think with gave me an empty answer to that. "
        "I will ask it again later; say never mind, and I drop it.",
        "我听到了，但是我思考用的模型只给了一个空的回答。我稍后再问它，不用的话就说“算了”。",
    ),
    "no_answer_thought": (
        "I heard you, but the model I think with used all its room up for thinking, and came to no answer. "
        "I will ask it again later; say never mind, and I drop it.",
        "我听到了，但是我思考用的模型把篇幅都用在思考上了，没有给出回答。我稍后再问它，不用的话就说“算了”。",
    ),
    "no_answer_filtered": (
        "I heard you, but the model I think with was kept from answering that by its own rules. "
        "I will ask it again later; say never mind, and I drop it.",
        "我听到了，但是我思考用的模型按它自己的规定没有回答这个。我稍后再问它，不用的话就说“算了”。",
    ),
    "no_model_there": (
        "I heard you, but the server I think with does not have the model that is set for me. "
        "I will answer when it does; say never mind, and I drop it.",
        "我听到了，但是我用的服务器上没有给我设置的那个模型。等有了我再回答，不用的话就说“算了”。",
    ),
    "no_model_key": (
        "I heard you, but the server of the model I think with does not take my key. "
        "I will answer when it does; say never mind, and I drop it.",
        "我听到了，但是模型的服务器不接受我的密钥。等它接受了我再回答，不用的话就说“算了”。",
    ),
    "no_model_credit": (
        "I heard you, but there is no credit left for the model I think with. "
        "I will answer when there is; say never mind, and I drop it.",
        "我听到了，但是我思考用的模型账户里没有余额了。等有了我再回答，不用的话就说“算了”。",
    ),
    "no_model_free": (
        "I heard you, but the model I think with takes no more questions right now. "
        "I will answer when it does; say never mind, and I drop it.",
        "我听到了，但是我思考用的模型现在不再接受问题了。等它接受了我再回答，不用的话就说“算了”。",
    ),
    "no_model_refused": (
        "I heard you, but the server of the model I think with refuses what I ask of it. "
        "I will answer when it does not; say never mind, and I drop it.",
        "我听到了，但是模型的服务器拒绝了我的请求。等它接受了我再回答，不用的话就说“算了”。",
    ),
    "no_model_working": (
        "I heard you, but the model I think with does not work as it should right now. "
        "I will answer when it does; say never mind, and I drop it.",
        "我听到了，但是我思考用的模型现在不正常。等它正常了我再回答，不用的话就说“算了”。",
    ),
    "no_model_silent": (
        "I heard you, but the model I think with says nothing. "
        "I will answer when it does; say never mind, and I drop it.",
        "我听到了，但是我思考用的模型一直没有回应。等它回应了我再回答，不用的话就说“算了”。",
    ),
    "slow": (
        "This takes long. I am still waiting for the model I think with.",
        "这个要等一会儿，我还在等我思考用的模型。",
    ),
    "no_words": ("I have nothing to say to that.", "这个我没有什么可说的。"),
    "done_without_words": ("Done.", "好了。"),
    "no_model_either": ("That waits for the model too.", "这个也要等模型连上。"),
    "out_of_budget": (
        "I have used up the steps I may take for: {task}. I kept a note of how far I got.",
        "这件事我能用的步骤已经用完了：{task}。进度我记下来了。",
    ),
    "failed": (
        "Something went wrong inside me while I was working on that. It is in my log.",
        "处理这件事的时候，我内部出了问题，日志里有记录。",
    ),
    "failed_midway": (
        "Something went wrong inside me while I was working on that. It is in my log. "
        "Part of it may be done already: please look before you ask for it again.",
        "处理这件事的时候，我内部出了问题，日志里有记录。可能已经做了一部分，再叫我做之前请先看一看。",
    ),
    "moment": ("One moment.", "请稍等。"),
    "timed_out": ("This takes me too long. I have stopped working on it.", "这件事花的时间太长了，我先停下来了。"),
    "gave_up": (
        "I have tried as often as I may, and I am giving this up: {task}.",
        "我试了好几次都没有做完，只好放弃了：{task}。",
    ),
    "too_long": (
        "This is more at once than the model I think with can read. Please give it to me in smaller parts.",
        "这一次的内容太长，我思考用的模型读不下，请分成小一点的部分再给我。",
    ),
    "context_lost": (
        "I could not read all of what we said before any more. I go on with what my journal still has.",
        "我们之前说的话有一部分读不出来了，我接着日志里还有的内容继续。",
    ),
    "disk_full": (
        "I heard you, but I cannot write it down: my disk is full. I will answer when there is room.",
        "我听到了，但是磁盘满了，我记不下来。等有了空间我再回答。",
    ),
    "disk_unusable": (
        "I heard you, but I cannot write it down: something is wrong with my disk. I will answer when it works.",
        "我听到了，但是磁盘出了问题，我记不下来。等磁盘好了我再回答。",
    ),
    "disk_still": ("I heard that too. It waits for my disk as well.", "这句我也听到了，也要等磁盘。"),
    "confirm": ("I am about to {phrase}. Shall I?", "我要{phrase}，可以吗？"),
    "confirm_again": ("To be sure: I am about to {phrase}. Shall I?", "再确认一下，我要{phrase}，可以吗？"),
    "confirm_in_writing": ("(Write yes within a minute.)", "（请在一分钟内回答“好的”。）"),
    "confirm_by_command": ("(Within a minute: nakari ask yes)", "（请在一分钟内输入：nakari ask 好的）"),
    "not_confirmed": ("All right, I will not {phrase}.", "好的，我不会{phrase}。"),
    "confirmed_late": ("That came too late. This was not done: {phrase}.", "已经过了时间，这件事没有做：{phrase}。"),
    "confirmed_doubtful": (
        "I could not be sure of that yes. This was not done: {phrase}.",
        "我没能听准你是不是同意，这件事没有做：{phrase}。",
    ),
    "unwanted": ("All right, I will not tell you such things any more.", "好的，以后不跟你说这些了。"),
    "wanted_again": ("All right, I will tell you such things again.", "好的，以后这些又会跟你说了。"),
    "disk_too_long": (
        "I cannot keep any more in my head. Please say that again when my disk works.",
        "我脑子里记不下更多了，等磁盘好了请再说一遍。",
    ),
}
"""English and Chinese."""


class Question(Struct, frozen=True):
    """A question as it was heard."""

    is_whole: bool
    """Whether to its end."""
    at: datetime
    """Aware UTC; when it was over."""
    clock: float
    """The same in seconds on the clock of the ears."""


class SystemReplies(Struct):
    """Speaks where a person waits for words; says nothing in the agent's own work."""

    reply_sink: ReplySink
    run_state: RunState
    earcon: Callable[[], Awaitable[object]] | None = None
    """Plays the sign that it goes on, at the box; None says a sentence instead, as elsewhere."""
    sign_after: float = SIGN_AFTER
    """Seconds without a word until such a sign; 0 is never."""
    clock: Callable[[], float] = monotonic
    """The one that the times of what is heard are on; in seconds."""
    now: Callable[[], datetime] = utc_now
    _filled: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_FILLED))
    """Ids of the newest events that have had their filler or sign."""
    _told_of_outage: set[str] = set()
    """Ids of events whose person knows; as many as were accepted before the disk refused, and not handled yet."""

    async def say(self, run: Run, name: str) -> None:
        """Say one of the fixed sentences, and wait until it was heard."""
        await self.deliver(run, name, phrase(name, run.event.content))

    async def deliver(self, run: Run, name: str, text: str) -> None:
        """Say a text as a reply of its own, and wait until it was heard."""
        if not run.event.is_from_person:
            return
        await self._hand_over(Reply(run.event, f"{name}-{run.id}", self.run_state.already, stages=run.stages), text)

    async def ask(self, run: Run, call_id: str, text: str) -> Question:
        """Ask whoever spoke, and wait until that is over; it is asked whole, whatever was said before a crash."""
        account = await self._hand_over(Reply(run.event, call_id, stages=run.stages), text)
        is_whole = not account.interrupted and account.heard.strip() == account.text.strip() != ""
        return Question(is_whole, self.now(), self.clock())

    async def sign(self, event: Event) -> None:
        """Let whoever spoke hear that it goes on: once an event."""
        if event.type != ASR_TRANSCRIPT or event.id in self._filled:
            return
        if self.earcon is None or event.source != "mic":
            await self.fill(event)
        else:
            self._filled.append(event.id)
            await self.earcon()

    async def fill(self, event: Event) -> None:
        """Tell whoever spoke that it takes a moment: once an event, and without waiting for the sound."""
        if event.type != ASR_TRANSCRIPT or event.id in self._filled:
            return
        self._filled.append(event.id)
        await self._begin(Reply(event, f"{FILLER}{event.id}", is_sign=True), phrase("moment", event.content))

    async def tell_slow(self, event: Event) -> None:
        """Say that the answer takes long, once an event; not to a program, which would take it for the answer."""
        name = f"slow-{event.id}"
        is_program = event.source == "http" and not event.metadata.get("speak")
        if is_program or name in self._filled:
            return
        self._filled.append(name)
        await self.tell(event, "slow")

    async def tell(self, event: Event, name: str, **values: str) -> None:
        """Say one of the fixed sentences to a person beside the answer, without waiting for the sound."""
        words = phrase(name, values.get("phrase", event.content), **values)
        await self._begin(Reply(event, f"{FILLER}{name}-{event.id}"), words)

    async def tell_of_outage(self, event: Event, failure: MemoryFailure) -> None:
        """Say that a person's words were heard and are answered once the state can be written again.

        Once an event and outage, without waiting for the sound.
        """
        if not event.is_from_person or event.id in self._told_of_outage:
            return
        self._told_of_outage.add(event.id)
        delivery = self.reply_sink.open(Reply(event, f"{FILLER}disk-{event.id}"))
        await delivery.feed(phrase(of_outage(failure), event.content))
        with suppress(MemoryFailure):  # that it was said is not written down either
            await delivery.close()

    async def _hand_over(self, reply: Reply, text: str) -> Delivered:
        """Say a whole reply of the run in hand, and wait until it was heard; return what became of it."""
        delivery = self.run_state.deliveries[reply.call_id] = self.reply_sink.open(reply)
        await delivery.feed(text)
        await delivery.close()
        return await delivery.ended()

    async def _begin(self, reply: Reply, text: str) -> None:
        """Say a whole reply beside the answer, without waiting for the sound."""
        delivery = self.reply_sink.open(reply)
        await delivery.feed(text)
        await delivery.close()

    def outage_ended(self) -> None:
        """Take note that the state can be written again: people are told of the next outage anew."""
        self._told_of_outage.clear()


def phrase(name: str, words: str, **values: str) -> str:
    """Return the sentence of that name in the language the words are in (Chinese or English). Raises KeyError.

    One that comes later than its question names that by the first of the words; `values` fill its other gaps.
    """
    english, chinese = _PHRASES[name]
    sentence = (chinese if has_chinese(words) else english).replace("{task}", first_words(words).rstrip("…"))
    for gap, value in values.items():
        sentence = sentence.replace(f"{{{gap}}}", value)
    return sentence


def of_outage(failure: MemoryFailure) -> str:
    """Return the name of the sentence for words that could not be written down because of this."""
    return "disk_full" if isinstance(failure, DiskFull) else "disk_unusable"
