"""What the offline model says, in English and Chinese."""

import re
from collections.abc import Mapping
from functools import cache
from string import Formatter
from typing import Final

from agent.intents.intent import Language

_PHRASES: Final[Mapping[str, tuple[str, str]]] = {
    # the clock
    "time": ("It is {clock}.", "现在是{clock}。"),
    "date": ("Today is {date}.", "今天是{date}。"),
    "date_1": ("Tomorrow is {date}.", "明天是{date}。"),
    "date_2": ("The day after tomorrow is {date}.", "后天是{date}。"),
    "date_-1": ("Yesterday was {date}.", "昨天是{date}。"),
    "date_of": ("That is {date}.", "那天是{date}。"),
    "days_until": ("In {count} days, on {date}.", "还有{count}天，{date}。"),
    "days_until_0": ("That is today.", "就是今天。"),
    "days_until_1": ("That is tomorrow, {date}.", "就是明天，{date}。"),
    "days_ago": ("{count} days ago, on {date}.", "{count}天以前，{date}。"),
    "weeks_until": ("In {weeks}, on {date}.", "还有{weeks}，{date}。"),
    "time_until": ("{length} from now.", "还有{length}。"),
    "days_of_month": ("It has {count} days in {year}.", "{year}年的这个月有{count}天。"),
    "leap_year": ("Yes, {year} is a leap year.", "是的，{year}年是闰年。"),
    "no_leap_year": ("No, {year} is no leap year.", "不是，{year}年不是闰年。"),
    "week": ("It is week {week}.", "现在是第{week}周。"),
    "time_there": ("It is {clock} there{day}.", "那里现在是{day}{clock}。"),
    "there_-1": (", and still yesterday", "昨天"),
    "there_+1": (", and already tomorrow", "明天"),
    # chance
    "heads": ("Heads.", "正面。"),
    "tails": ("Tails.", "反面。"),
    "drawn": ("{number}.", "{number}。"),
    "no_clock": ("I do not know what time it is.", "我不知道现在几点。"),
    "spelled": ("{word}: {letters}.", "{word}：{letters}。"),
    # rooms
    "said_there": ("All right, I said it.", "好的，已经说了。"),
    "no_such_room": (
        "There is no such room. I can speak here: {rooms}.",
        "没有这个房间。我能在这里说话：{rooms}。",
    ),
    "room_away": (
        "That room cannot be reached just now. I can speak here: {rooms}.",
        "那个房间现在连不上。我能在这里说话：{rooms}。",
    ),
    # timers and alarms
    "timer_set": ("Your timer is set for {length}.", "{length}的计时器已经开始了。"),
    "timer_set_for": ("I will tell you in {length}: {label}.", "{length}后我会提醒你：{label}。"),
    "timer_cancelled": ("All right, it is cancelled.", "好的，已经取消了。"),
    "timer_cancelled_length": ("All right, I cancelled your {label}.", "好的，已经取消{label}。"),
    "timer_cancelled_named": ("All right, I cancelled this: {label}.", "好的，已经取消：{label}。"),
    "alarm_cancelled": ("All right, I cancelled your alarm: {clock}{day}.", "好的，已经取消{day}{clock}的闹钟。"),
    "rings_cancelled": ("I cancelled {what}.", "已取消{what}。"),
    "rings_go_on": ("{told} What comes again rings as before after that.", "{told}重复的之后照常。"),
    "rings_left": (
        "Not yet cancelled: {count}. Say it again, and I go on.",
        "还有{count}个没取消，再说一遍就接着取消。",
    ),
    "timer_several": ("There are several. {told} Which of them?", "有好几个：{told}是哪一个？"),
    "alarm_left_out": (
        "All right, {day} it does not ring at {clocks}; after that it rings as before.",
        "好的，{day}{clocks}不响，之后照常。",
    ),
    "alarm_off_on": ("All right, I cancelled the alarm {day} at {clocks}.", "好的，已经取消{day}{clocks}的闹钟。"),
    "alarm_none_on": ("No alarm is set for {day}.", "{day}没有闹钟。"),
    "reminder_left": ("I will remind you in {left}: {label}.", "{left}后提醒你：{label}。"),
    "timer_changed": ("All right. {told}", "好的，{told}"),
    "timer_none": ("No timer is set.", "现在没有计时器。"),
    "timer_not_that": ("I find no such timer.", "我没有找到这个计时器。"),
    # By these two a pause is found again.
    "timer_paused": ("Paused, with {left} left. Say go on, and it runs on.", "暂停了，还剩{left}。说“继续”就接着走。"),
    "timer_paused_for": (
        "Paused, with {left} left: {label}. Say go on, and it runs on.",
        "暂停了，还剩{left}：{label}。说“继续”就接着走。",
    ),
    "timer_goes_on": ("It runs on: {left} left.", "接着走，还有{left}。"),
    "timer_none_paused": ("No timer is paused.", "没有暂停的计时器。"),
    "timer_left": ("{left} left on your timer.", "计时器还有{left}。"),
    "timer_left_of": ("{left} left on your {label}.", "{label}还有{left}。"),
    "timer_left_for": ("{left} left for {label}.", "{label}还有{left}。"),
    "timer_left_to": ("{left} left: {label}.", "{label}还有{left}。"),
    "timer_there": ("{told} It rings here: {room}.", "{told}在这里响：{room}。"),
    "alarm_left": ("Your alarm is due at {clock}{day}.", "闹钟设在{day}{clock}。"),
    "alarm_left_for": ("This is due at {clock}{day}: {label}.", "{day}{clock}：{label}。"),
    "timer_up": ("Your {timer} is up.", "{timer}到时间了。"),
    "time_up": ("Time is up.", "时间到了。"),
    "timer_up_for": ("Time is up: {label}.", "时间到了：{label}。"),
    "alarm_up": ("It is {clock}. This is your alarm.", "现在是{clock}，闹钟响了。"),
    "alarm_up_for": ("It is {clock}: {label}.", "现在是{clock}：{label}。"),
    "was_due": ("It was due {length} ago, while I was off.", "本来应该在{length}前提醒，那时我没有开机。"),
    "alarm_set": ("The alarm is set for {clock}{day}.", "闹钟已设在{day}{clock}。"),
    "alarm_set_for": ("I will remind you at {clock}{day}: {label}.", "我会在{day}{clock}提醒你：{label}。"),
    "alarm_repeats": ("The alarm is set for {clock}, {every}.", "闹钟已设在{every}{clock}。"),
    "alarm_repeats_for": (
        "I will remind you {every} at {clock}: {label}.",
        "我会在{every}{clock}提醒你：{label}。",
    ),
    "day_1": (" tomorrow", "明天"),
    "day_2": (" the day after tomorrow", "后天"),
    "day": (" on {date}", "{date}"),
    "clocks_skip": ("The clocks go forward then, and there is no earlier one.", "那时时钟要拨快，没有更早的那个时间。"),
    "clocks_twice": (
        "The clocks go back then; it rings the first time.",
        "那时时钟要拨慢，这个时间会出现两次，第一次就响。",
    ),
    "time_past": ("That time is past already.", "这个时间已经过了。"),
    "no_such_day": ("There is no such day.", "没有这一天。"),
    "ask_when": (
        "When? Say for example: in ten minutes, or at seven in the evening.",
        "什么时候？比如十分钟后，或者晚上七点。",
    ),
    "interrupted": ("I was interrupted while I did that. {timers}", "我做到一半被打断了。{timers}"),
    # what waits to be done
    "tasks": ("On my list there is this: {tasks}.", "我的清单上有：{tasks}。"),
    "tasks_none": ("There is nothing on my list.", "我的清单是空的。"),
    "task_cancelled": ("All right, I took this off my list: {task}.", "好的，已经从清单上去掉：{task}。"),
    "task_not_that": ("I find nothing like that on my list.", "我的清单上没有这件事。"),
    "task_several": (
        "There are several like that on my list. Say a little more of the one.",
        "清单上有好几件这样的事，请说得具体一点。",
    ),
    # lists; by these sentences a list is read again, so a journal of years holds to them
    "list_added": ("On the {list} list now: {items}.", "{list}清单上加了：{items}。"),
    "list_removed": ("Off the {list} list now: {items}.", "{list}清单上去掉了：{items}。"),
    "list_cleared": ("The {list} list is empty now.", "{list}清单清空了。"),
    "list_changed": ("On the {list} list now, instead of {gone}: {items}.", "{list}清单上，{gone}改成了{items}。"),
    "list_started": ("The {list} list is ready. Tell me what goes on it.", "{list}清单建好了。说说要加什么。"),
    "list_told": ("On the {list} list there is: {items}.", "{list}清单上有：{items}。"),
    "list_empty": ("There is nothing on the {list} list.", "{list}清单上什么都没有。"),
    "list_has": ("Yes, {item} is on the {list} list.", "是的，{list}清单上有{item}。"),
    "list_has_not": ("No, {item} is not on the {list} list.", "没有，{list}清单上没有{item}。"),
    "list_names": ("There are these lists: {lists}.", "有这些清单：{lists}。"),
    "list_none": ("There is no list yet.", "现在还没有清单。"),
    "list_words": ("{list} list", "{list}清单"),
    # the calendar
    "agenda": ("{day} there is: {events}.", "{day}有：{events}。"),
    "agenda_at": ("at {clock}, {title}", "{clock}，{title}"),
    "agenda_all_day": ("all day, {title}", "全天，{title}"),
    "agenda_none": ("{day} there is nothing in the calendar.", "{day}没有安排。"),
    "agenda_next": ("Next comes this, {day} at {clock}: {title}.", "接下来是{day}{clock}：{title}。"),
    "agenda_next_day": ("Next comes this, {day}: {title}.", "接下来是{day}：{title}。"),
    "agenda_no_next": ("There is nothing more in the calendar.", "日历上没有别的安排了。"),
    "agenda_soon": ("In {length}: {title}.", "{length}后：{title}。"),
    "agenda_now": ("It is time: {title}.", "时间到了：{title}。"),
    "agenda_on": ("{day}: {title}.", "{day}：{title}。"),
    "agenda_something": ("There is a reminder in your calendar.", "你的日历上有一个提醒。"),
    "agenda_old": (
        "The calendar {calendar} cannot be reached; I know it as it was {length} ago.",
        "日历{calendar}现在连不上，这是{length}前的内容。",
    ),
    "agenda_partly": ("I could not read all of the calendar {calendar}.", "日历{calendar}太大，我没能读完。"),
    "agenda_no_calendar": ("Nothing is set, and no calendar is connected.", "没有定什么，也没有连接日历。"),
    "agenda_unread": ("I cannot read the calendar {calendar}: {reason}.", "日历{calendar}读不到：{reason}。"),
    # the weather
    "weather_now": ("Now {temperature}, {sky}.", "现在{temperature}，{sky}。"),
    "weather_day": (
        "{day}: {sky}, {lowest} to {highest}; the chance of rain or snow is {chance}.",
        "{day}：{sky}，{lowest}到{highest}，下雨或下雪的可能是{chance}。",
    ),
    "weather_far": (
        "I know the weather of the coming {count} days alone, today among them.",
        "我只知道从今天起{count}天的天气。",
    ),
    "weather_not_here": (
        "I do not know the weather: no forecast is connected here.",
        "我不知道天气：这里没有连接天气预报。",
    ),
    "weekday": ("on {day}", "{day}"),
    "weather_none": ("Nobody told me the weather of that day.", "没有查到那天的天气。"),
    "on_day_0": ("today", "今天"),
    "on_day_1": ("tomorrow", "明天"),
    "on_day_2": ("the day after tomorrow", "后天"),
    "on_day": ("on {date}", "{date}"),
    "on_days": ("from {date}", "{date}"),
    "days_on_end": ("{first} to {last}", "{first}到{last}"),
    # the volume
    "volume_set": ("The volume is at {percent} percent.", "音量已调到百分之{percent}。"),
    "volume_told": ("The volume is at {percent} percent.", "现在的音量是百分之{percent}。"),
    "volume_up": ("A little louder now.", "声音调大了一点。"),
    "volume_down": ("A little quieter now.", "声音调小了一点。"),
    "no_volume": ("I cannot change the volume yet.", "我现在还不能调节音量。"),
    "distress": (
        "I cannot call anybody. Call out as loud as you can, or ring the emergency number if a phone is within reach.",
        "我打不了电话。请大声呼救，够得着电话就打急救电话。",
    ),
    "outside": (
        "I cannot do that: there is nothing here for it without a model, and none can be reached.",
        "这个我做不到：没有模型，这里没有能做这件事的东西，模型现在又连不上。",
    ),
    "cannot": ("I have nothing here to do that with.", "我这里没有办法做这件事。"),
    "failed": ("That did not work: {reason}.", "没有成功：{reason}。"),
    "done": ("It is done.", "已经好了。"),
    "perhaps_done": ("I was interrupted, and I am not sure whether it was done.", "我被打断了，不确定有没有做成。"),
    "nothing_to_do": ("There is nothing to do that to.", "现在没有可以这样做的。"),
    # the house
    "home_uncertain": (
        "I was interrupted while I told that to the house. Please look whether it is done.",
        "我正在让家里做这件事时被打断了，请看看有没有做好。",
    ),
    "home_watched": ("All right, I will tell you.", "好的，到时候我告诉你。"),
    "home_no_such": ("I find nothing in the house that is called {thing}.", "家里没有叫{thing}的东西。"),
    "home_away": (
        "I cannot reach Home Assistant right now, and for anything else I need a model.",
        "现在连不上Home Assistant，别的事又需要模型。",
    ),
    "home_refused": (
        "Home Assistant could not do that, and for anything else I need a model.",
        "Home Assistant没能做到，别的事又需要模型。",
    ),
    "home_unanswered": (
        "Home Assistant gave no answer. Please look whether it was done.",
        "Home Assistant没有回答，请看看有没有做好。",
    ),
    # sums
    "sum": ("That is {value}.", "等于{value}。"),
    "sum_about": ("That is about {value}.", "大约等于{value}。"),
    "forget_all": (
        "I do not erase everything at a word. Say what it was about, or how many minutes back; "
        "all that I know is erased at the box, and its manual says how.",
        "我不会一句话就把所有的都删掉。请说是关于什么的，或者最近几分钟的；要全部删掉得在盒子上操作，手册里有说明。",
    ),
    "number_too_long": ("That number is too long for me.", "这个数太长了，我算不了。"),
    "sum_zero": ("Nothing can be divided by zero.", "不能除以零。"),
    "converted": ("That is {value} {unit}.", "是{value}{unit}。"),
    "converted_about": ("That is about {value} {unit}.", "大约是{value}{unit}。"),
    # memory
    "remembered": ("I will keep that: {fact}.", "我记住了：{fact}。"),
    "remembered_here": (
        "I keep that in my journal, but could not note it down for later: {reason}.",
        "我的日志里有这句话，但是没能记下来留到以后：{reason}。",
    ),
    # By this sentence it is found again, so a journal of years holds to it.
    "name_kept": ("All right. Your name is {called}.", "好的，我叫你{called}。"),
    "put_right": ("I have put it right: {fact}.", "我改过来了：{fact}。"),
    "recalled": ("You told me: {fact}.", "你告诉过我：{fact}。"),
    "recalled_yes": ("Yes: you told me that {fact}.", "是的，你告诉过我：{fact}。"),
    "recalled_no": ("No: you told me that {fact}.", "不是，你告诉过我：{fact}。"),
    "recalled_both": (
        "You told me last: {fact}. Before that: {before}.",
        "你最后说的是：{fact}。之前说的是：{before}。",
    ),
    "recalled_other": ("I don't know that; you told me only this: {fact}.", "这个我不知道，你只告诉过我：{fact}。"),
    "not_told": (
        "I don't know; nothing that you asked me to remember says so.",
        "我不知道，你让我记住的事里没有提到。",
    ),
    "listed": ("You told me: {facts}.", "你告诉过我：{facts}。"),
    "listed_more": ("; and {count} more things", "；还有{count}件"),
    "nothing_kept": ("You have not asked me to remember anything yet.", "你还没有让我记住什么。"),
    "not_found": (
        "I find nothing about that in what was said here; to know more I need a model, and none can be reached.",
        "这里说过的话里没有找到；要知道更多需要模型，现在连不上。",
    ),
    "told_only": (
        "I keep your words; ask me, and I will find them again. To think about them I need a model.",
        "你的话我留着，问起来我能找到。要想一想就需要模型了。",
    ),
    "rest_unclear": ("I did not understand the rest: {rest}.", "另外这句我没听懂：{rest}。"),
    "nothing_about": ("Nothing that was said here has that in it: {fact}.", "这里说过的话里没有这个：{fact}。"),
    "too_many": (
        "That is more than I set at one word: eight at most. I have set none of them.",
        "一次最多设八个，所以一个也没有设。",
    ),
    "not_done": (
        "I did not understand that well enough, so I did nothing. Please say it in other words.",
        "这句我没听明白，所以什么也没做。请换个说法。",
    ),
    # voices
    "voice_learnt": ("I know {who} by voice now.", "现在我听得出{who}的声音了。"),
    "voice_is": ("By your voice you are {who}.", "听声音你是{who}。"),
    "voice_unknown": (
        "I do not know your voice. Say: my name is, and your name.",
        "我听不出你是谁。请说“我叫”，再加上你的名字。",
    ),
    "voice_corrected": ("All right, that was {who}.", "好的，那是{who}说的。"),
    "voice_forgotten": ("I no longer know that voice.", "那个声音我已经忘掉了。"),
    # company
    "fine": ("All right.", "好的。"),
    "left_alone": ("All right, I leave it.", "好的，那就算了。"),
    "who": (
        "I am nakari. I live in this box: I listen, I keep what matters, and I answer.",
        "我是nakari，住在这个盒子里：我听你说话，记住重要的事，然后回答你。",
    ),
    "privacy": (
        "Unless I am muted I listen all the time. What I hear and keep stays in this box, but for what its owner lets "
        "out: nakari status says what that is.",
        "没有静音的时候，我一直在听。听到的、记住的都留在这个盒子里，除了主人允许送出去的：nakari status 会说有哪些。",
    ),
    "abilities": (
        "Without a model I can tell the time and the date, set timers and alarms, do sums, "
        "keep what you ask me to remember, and find it again.",
        "没有模型的时候，我可以报时间和日期，设计时器和闹钟，做算术，记住你让我记的事，再帮你找出来。",
    ),
    "help": (
        "{abilities} Ask me for a status report to hear how I am; typed, /help lists the commands.",
        "{abilities}问我状态，我会说现在怎么样；打字的话，/帮助 列出所有命令。",
    ),
    "hello": ("Hello. I am listening.", "你好，我在听。"),
    "how_are_you": (
        "I am well, but the model I think with cannot be reached right now.",
        "我很好，只是现在连不上我思考用的模型。",
    ),
    "status": (
        "{well} In my mailbox: {pending} waiting, {suspended} put aside, {dead} given up. Timers: {timers}.",
        "{well}信箱里有{pending}件在等，{suspended}件搁置，{dead}件放弃。计时器有{timers}个。",
    ),
    "good_night": ("Good night.", "晚安。"),
    "goodbye": ("Goodbye.", "再见。"),
    "welcome": ("You are welcome.", "不客气。"),
    "nothing_said": ("I have said nothing yet.", "我还没有说过话。"),
    # doubt
    "did_you_say": ("Did you say: {words}?", "你说的是：{words}，对吗？"),
    "did_you_mean": ("Did you mean: {words}?", "你的意思是：{words}，对吗？"),
    "to_be_sure": ("To be sure, once more: {words}?", "再确认一下：{words}，对吗？"),
    "not_heard": ("I did not catch that. Please say it again.", "我没有听清楚，请再说一遍。"),
    "not_caught": (
        "I am not sure what I heard. It sounded like: {words}. Please say it again.",
        "我没有听清楚，听起来像是：{words}。请再说一遍。",
    ),
    "needs_model": (
        "I heard you, but I need a model to answer that, and none can be reached right now. {abilities}",
        "我听到了，但是回答这个需要模型，现在连不上。{abilities}",
    ),
    "needs_model_still": (
        "I need a model for that too, and I still cannot reach one.",
        "这个也需要模型，现在还是连不上。",
    ),
    "lost_thread": (
        "Sorry, I lost the model I think with in the middle of that.",
        "对不起，说到一半，我和思考用的模型断开了。",
    ),
}


def phrase(name: str, language: Language, **values: object) -> str:
    """Return a sentence with its gaps filled and a capital at its beginning.

    Raises KeyError for a name or a gap that is missing.
    """
    english, chinese = _PHRASES[name]
    words = (chinese if language == "zh" else english).format_map(values)
    return words[:1].upper() + words[1:] if english.startswith("{") else words


def gaps(name: str, said: str, language: Language) -> dict[str, str]:
    """Return what stands in the gaps of a phrase that was said, perhaps behind others; {} where it was not."""
    found = _pattern(name, language).search(said)
    return found.groupdict() if found else {}


@cache
def _pattern(name: str, language: Language) -> re.Pattern[str]:
    """Return what finds a phrase: the last gap takes all that it can, an enumeration or a number with a full stop."""
    english, chinese = _PHRASES[name]
    parts = list(Formatter().parse(chinese if language == "zh" else english))
    last = [gap for _, gap, _, _ in parts if gap][-1]
    wide = {gap: f"(?P<{gap}>.+{'' if gap == last else '?'})" for _, gap, _, _ in parts if gap}
    return re.compile("".join(re.escape(before) + (wide[gap] if gap else "") for before, gap, _, _ in parts))
