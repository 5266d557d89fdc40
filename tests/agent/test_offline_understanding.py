"""What the offline model understands, through the real hassil: sentence by sentence, in English and Chinese."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent.intents.intent import Meaning, Slot
from agent.intents.understanding import LONGEST, Understanding

FREE = frozenset({"recall", "ask_when"})
"""Meanings whose slots are not told here: recalling reads the whole sentence, and asking back reads none."""

ENGLISH = [
    ("What time is it?", Meaning("time")),
    ("what time is it now", Meaning("time")),
    ("What's the time?", Meaning("time")),
    ("What is the current time?", Meaning("time")),
    ("Tell me the time, please.", Meaning("time")),
    ("Can you tell me what time it is?", Meaning("time")),
    ("Do you know what time it is?", Meaning("time")),
    ("Hey nakari, what time is it?", Meaning("time")),
    ("What day is it today?", Meaning("date")),
    ("What day of the week is it?", Meaning("date")),
    ("What's today's date?", Meaning("date")),
    ("What is the date today?", Meaning("date")),
    ("What is the date tomorrow?", Meaning("date", {"day": 1})),
    ("What day is tomorrow?", Meaning("date", {"day": 1})),
    ("What day was yesterday?", Meaning("date", {"day": -1})),
    ("Set a timer for one minute.", Meaning("timer_start", {"minutes": 1})),
    ("Set a timer for 5 minutes.", Meaning("timer_start", {"minutes": 5})),
    ("set a timer for twenty one minutes", Meaning("timer_start", {"minutes": 21})),
    ("Set a ten minute timer.", Meaning("timer_start", {"minutes": 10})),
    ("Set a 10-minute timer.", Meaning("timer_start", {"minutes": 10})),
    ("Set a timer for half an hour.", Meaning("timer_start", {"minutes": 30})),
    ("set a timer for an hour", Meaning("timer_start", {"hours": 1})),
    ("Set a timer for one and a half hours.", Meaning("timer_start", {"minutes": 90})),
    ("set a timer for an hour and a half", Meaning("timer_start", {"hours": 1, "minutes": 30})),
    ("Set a timer for two and a half hours.", Meaning("timer_start", {"minutes": 150})),
    ("Set a timer for one hour and fifteen minutes.", Meaning("timer_start", {"hours": 1, "minutes": 15})),
    ("Start a timer for 45 seconds", Meaning("timer_start", {"seconds": 45})),
    ("set a timer for a quarter of an hour", Meaning("timer_start", {"minutes": 15})),
    ("timer twenty minutes", Meaning("timer_start", {"minutes": 20})),
    ("Please start a three minute countdown.", Meaning("timer_start", {"minutes": 3})),
    ("Set a pasta timer for twelve minutes.", Meaning("timer_start", {"minutes": 12, "label": "pasta"})),
    ("Set a timer for twelve minutes for pasta.", Meaning("timer_start", {"minutes": 12, "label": "pasta"})),
    ("Wake me up in twenty minutes.", Meaning("timer_start", {"minutes": 20})),
    ("Remind me to call my mother in ten minutes.", Meaning("timer_start", {"minutes": 10, "label": "call my mother"})),
    ("Remind me in one hour to take the cake out.", Meaning("timer_start", {"hours": 1, "label": "take the cake out"})),
    ("Can you set a timer for 25 minutes?", Meaning("timer_start", {"minutes": 25})),
    ("Wake me up at six o'clock.", Meaning("alarm", {"hour": 6})),
    ("Set an alarm for six thirty.", Meaning("alarm", {"hour": 6, "minute": 30})),
    ("Set an alarm for 6:30.", Meaning("alarm", {"hour": 6, "minute": 30})),
    ("Set an alarm for 7 a.m.", Meaning("alarm", {"hour": 7, "period": "morning"})),
    ("Wake me tomorrow at seven in the morning.", Meaning("alarm", {"hour": 7, "day": 1, "period": "morning"})),
    ("Set an alarm for half past seven.", Meaning("alarm", {"hour": 7, "minute": 30})),
    ("Wake me at a quarter to seven.", Meaning("alarm", {"hour": 7, "minute": -15})),
    ("Remind me to take my medicine at nine.", Meaning("alarm", {"hour": 9, "label": "take my medicine"})),
    (
        "Remind me to buy bread, milk and eggs tomorrow at nine.",
        Meaning("alarm", {"hour": 9, "label": "buy bread, milk and eggs", "day": 1}),
    ),
    ("Set an alarm for 18:00.", Meaning("alarm", {"hour": 18, "minute": 0})),
    ("set an alarm for noon", Meaning("alarm", {"exact_hour": 12})),
    ("set an alarm for six oh five", Meaning("alarm", {"hour": 6, "minute": 5})),
    ("Remind me to call my mother.", Meaning("ask_when")),
    ("Remind me to buy bread tomorrow.", Meaning("ask_when")),
    ("Set a timer.", Meaning("ask_when")),
    ("Set an alarm.", Meaning("ask_when")),
    ("Cancel the timer.", Meaning("timer_cancel")),
    ("Stop the timer.", Meaning("timer_cancel")),
    ("Cancel the alarm.", Meaning("timer_cancel")),
    ("Turn off the alarm.", Meaning("timer_cancel")),
    ("cancel the pasta timer", Meaning("timer_cancel", {"label": "pasta"})),
    ("Cancel the five minute timer.", Meaning("timer_cancel", {"start_minutes": 5})),
    ("Cancel all timers.", Meaning("timer_cancel_all")),
    ("Cancel all of my alarms.", Meaning("timer_cancel_all")),
    ("How much time is left?", Meaning("timer_status")),
    ("How much time is left on the timer?", Meaning("timer_status")),
    ("how long is left on my timer", Meaning("timer_status")),
    ("What timers do I have?", Meaning("timer_status")),
    ("What are my reminders?", Meaning("timer_status")),
    ("Are any timers running?", Meaning("timer_status")),
    ("When is my next alarm?", Meaning("timer_status")),
    ("Turn the volume up.", Meaning("volume_up")),
    ("Louder please.", Meaning("volume_up")),
    ("Turn it up a bit.", Meaning("volume_up")),
    ("Turn the volume down.", Meaning("volume_down")),
    ("Speak quieter.", Meaning("volume_down")),
    ("Set the volume to ten.", Meaning("volume_set", {"percent": 10})),
    ("Set the volume to 50%.", Meaning("volume_set", {"percent": 50})),
    ("set volume to fifty percent", Meaning("volume_set", {"percent": 50})),
    ("Mute the speaker.", Meaning("volume_set", {"percent": 0})),
    ("Never mind.", Meaning("never_mind")),
    ("Cancel that.", Meaning("never_mind")),
    ("Forget it.", Meaning("never_mind")),
    ("Stop.", Meaning("stop")),
    ("Stop talking.", Meaning("stop")),
    ("Be quiet please.", Meaning("stop")),
    ("Go to sleep.", Meaning("stop")),
    ("Say that again.", Meaning("repeat")),
    ("Repeat that please.", Meaning("repeat")),
    ("What did you say?", Meaning("repeat")),
    ("Who are you?", Meaning("who_are_you")),
    ("What is your name?", Meaning("who_are_you")),
    ("What's your name?", Meaning("who_are_you")),
    ("What can you do?", Meaning("what_can_you_do")),
    ("Help me.", Meaning("what_can_you_do")),
    ("What can I say?", Meaning("what_can_you_do")),
    ("Hello.", Meaning("hello")),
    ("Hello there.", Meaning("hello")),
    ("Hello computer.", Meaning("hello")),
    ("Good morning.", Meaning("hello")),
    ("Are you there?", Meaning("hello")),
    ("Can you hear me?", Meaning("hello")),
    ("I am home.", Meaning("hello")),
    ("How are you?", Meaning("how_are_you")),
    ("Good night.", Meaning("good_night")),
    ("Goodbye.", Meaning("goodbye")),
    ("I am leaving.", Meaning("goodbye")),
    ("Thank you.", Meaning("thanks")),
    ("Thanks a lot.", Meaning("thanks")),
    ("Yes.", Meaning("yes")),
    ("Yes please.", Meaning("yes")),
    ("No.", Meaning("no")),
    ("No thank you.", Meaning("no")),
    ("Remember that my keys are in the drawer.", Meaning("remember", {"fact": "my keys are in the drawer"})),
    ("Remember my sister is called Anna.", Meaning("remember", {"fact": "my sister is called Anna"})),
    (
        "Don't forget that the plumber comes on Friday, at nine.",
        Meaning("remember", {"fact": "the plumber comes on Friday, at nine"}),
    ),
    ("please remember that I parked on level three", Meaning("remember", {"fact": "I parked on level three"})),
    ("Make a note that the wifi password is rosebud.", Meaning("remember", {"fact": "the wifi password is rosebud"})),
    ("Where are my keys?", Meaning("recall")),
    ("Where is my phone?", Meaning("recall")),
    ("Where did I park?", Meaning("recall")),
    ("What is my sister called?", Meaning("recall")),
    ("When does the plumber come?", Meaning("recall")),
    ("What am I allergic to?", Meaning("recall")),
    ("What is my favorite color?", Meaning("recall")),
    ("Where is the spare key?", Meaning("recall")),
    ("What is the dog called?", Meaning("recall")),
    ("What did I say about the plumber?", Meaning("recall")),
    ("What is my sister's name?", Meaning("recall")),
    ("When is the dentist appointment?", Meaning("recall")),
    ("Do you remember where I parked?", Meaning("recall")),
    ("Which level did I park on?", Meaning("recall")),
    ("What do you know about Anna?", Meaning("recall")),
    ("Tell me where my keys are.", Meaning("recall")),
    ("What's the wifi password?", Meaning("recall")),
    ("Turn on the kitchen light.", Meaning("unknown")),
    ("Tell me a joke.", Meaning("unknown")),
    ("What is seven times eight?", Meaning("unknown")),
    ("How far away are the stars?", Meaning("unknown")),
    ("Play some music.", Meaning("unknown")),
    ("Stop the music.", Meaning("unknown")),
    ("Turn off the oven.", Meaning("unknown")),
    ("Will it rain today?", Meaning("unknown")),
    ("Add milk to the shopping list.", Meaning("unknown")),
    ("Translate good morning to French.", Meaning("unknown")),
    ("Turn the lights down.", Meaning("unknown")),
    ("", Meaning("unknown")),
    ("?!", Meaning("unknown")),
    ("Set the heating to twenty degrees.", Meaning("unknown")),
    ("Feed the cat at seven.", Meaning("unknown")),
    ("Turn up the heating.", Meaning("unknown")),
]

CHINESE = [
    ("现在几点了？", Meaning("time")),
    ("几点了", Meaning("time")),
    ("现在几点钟？", Meaning("time")),
    ("请问现在几点？", Meaning("time")),
    ("现在是什么时间？", Meaning("time")),
    ("告诉我现在的时间", Meaning("time")),
    ("报时", Meaning("time")),
    ("今天几号？", Meaning("date")),
    ("今天是几月几号", Meaning("date")),
    ("今天星期几？", Meaning("date")),
    ("今天是周几", Meaning("date")),
    ("今天的日期是多少", Meaning("date")),
    ("明天星期几", Meaning("date", {"day": 1})),
    ("明天是几号？", Meaning("date", {"day": 1})),
    ("昨天星期几", Meaning("date", {"day": -1})),
    ("设置五分钟的计时器", Meaning("timer_start", {"minutes": 5})),
    ("定一个五分钟的计时器。", Meaning("timer_start", {"minutes": 5})),
    ("帮我设一个10分钟的倒计时", Meaning("timer_start", {"minutes": 10})),
    ("两分钟后提醒我", Meaning("timer_start", {"minutes": 2})),
    ("十五分钟后叫我", Meaning("timer_start", {"minutes": 15})),
    ("二十分钟后提醒我关火", Meaning("timer_start", {"minutes": 20, "label": "关火"})),
    ("设一个半小时的计时器", Meaning("timer_start", {"minutes": 30})),
    ("半小时后叫醒我", Meaning("timer_start", {"minutes": 30})),
    ("定一个一个半小时的闹钟", Meaning("timer_start", {"minutes": 90})),
    ("定时一小时", Meaning("timer_start", {"hours": 1})),
    ("倒计时一小时二十分钟", Meaning("timer_start", {"hours": 1, "minutes": 20})),
    ("倒计时三十秒", Meaning("timer_start", {"seconds": 30})),
    ("计时四十五分钟", Meaning("timer_start", {"minutes": 45})),
    ("定一个八分钟的煮面计时器", Meaning("timer_start", {"minutes": 8, "label": "煮面"})),
    ("请开始三分钟倒计时", Meaning("timer_start", {"minutes": 3})),
    ("过两个小时提醒我", Meaning("timer_start", {"hours": 2})),
    ("早上七点叫我起床", Meaning("alarm", {"hour": 7, "period": "morning"})),
    ("明天早上七点叫醒我", Meaning("alarm", {"hour": 7, "day": 1, "period": "morning"})),
    ("定一个七点半的闹钟", Meaning("alarm", {"hour": 7, "minute": 30})),
    ("明早六点半叫我", Meaning("alarm", {"hour": 6, "minute": 30, "day": 1, "period": "morning"})),
    ("晚上九点提醒我吃药", Meaning("alarm", {"hour": 9, "period": "night", "label": "吃药"})),
    ("明天下午三点提醒我开会", Meaning("alarm", {"hour": 3, "period": "evening", "label": "开会", "day": 1})),
    ("提醒我明天下午三点开会", Meaning("alarm", {"hour": 3, "period": "evening", "label": "开会", "day": 1})),
    ("设一个8点15分的闹钟", Meaning("alarm", {"hour": 8, "minute": 15})),
    ("设一个中午十二点的闹钟", Meaning("alarm", {"hour": 12, "period": "noon"})),
    ("闹钟定到六点三刻", Meaning("alarm", {"hour": 6, "minute": 45})),
    ("提醒我给妈妈打电话", Meaning("ask_when")),
    ("设一个闹钟", Meaning("ask_when")),
    ("明天提醒我买面包", Meaning("ask_when")),
    ("取消计时器", Meaning("timer_cancel")),
    ("取消闹钟。", Meaning("timer_cancel")),
    ("把闹钟关掉", Meaning("timer_cancel")),
    ("停止倒计时", Meaning("timer_cancel")),
    ("取消五分钟的计时器", Meaning("timer_cancel", {"start_minutes": 5})),
    ("取消煮面的计时器", Meaning("timer_cancel", {"label": "煮面"})),
    ("取消所有计时器", Meaning("timer_cancel_all")),
    ("把所有闹钟都取消", Meaning("timer_cancel_all")),
    ("还剩多久？", Meaning("timer_status")),
    ("计时器还有多久", Meaning("timer_status")),
    ("还有多长时间", Meaning("timer_status")),
    ("我有哪些闹钟", Meaning("timer_status")),
    ("我的闹钟是几点", Meaning("timer_status")),
    ("有计时器吗", Meaning("timer_status")),
    ("大声一点", Meaning("volume_up")),
    ("把音量调大一点", Meaning("volume_up")),
    ("声音大一点", Meaning("volume_up")),
    ("小声点", Meaning("volume_down")),
    ("音量调低", Meaning("volume_down")),
    ("声音太大了", Meaning("volume_down")),
    ("把音量调到百分之三十", Meaning("volume_set", {"percent": 30})),
    ("音量设为50%", Meaning("volume_set", {"percent": 50})),
    ("静音", Meaning("volume_set", {"percent": 0})),
    ("算了", Meaning("never_mind")),
    ("没事了", Meaning("never_mind")),
    ("取消", Meaning("never_mind")),
    ("停", Meaning("stop")),
    ("别说了", Meaning("stop")),
    ("闭嘴", Meaning("stop")),
    ("再说一遍", Meaning("repeat")),
    ("你刚才说什么", Meaning("repeat")),
    ("你是谁？", Meaning("who_are_you")),
    ("你叫什么名字？", Meaning("who_are_you")),
    ("自我介绍", Meaning("who_are_you")),
    ("你能做什么？", Meaning("what_can_you_do")),
    ("你会什么", Meaning("what_can_you_do")),
    ("我可以问你什么", Meaning("what_can_you_do")),
    ("你好", Meaning("hello")),
    ("早上好！", Meaning("hello")),
    ("你在吗", Meaning("hello")),
    ("听得到吗", Meaning("hello")),
    ("你好吗", Meaning("how_are_you")),
    ("晚安", Meaning("good_night")),
    ("再见", Meaning("goodbye")),
    ("谢谢", Meaning("thanks")),
    ("谢谢你", Meaning("thanks")),
    ("是的", Meaning("yes")),
    ("对", Meaning("yes")),
    ("好的", Meaning("yes")),
    ("不是", Meaning("no")),
    ("不用谢谢", Meaning("no")),
    ("记住我的钥匙在抽屉里。", Meaning("remember", {"fact": "我的钥匙在抽屉里"})),
    ("记住，我的钥匙在抽屉里", Meaning("remember", {"fact": "我的钥匙在抽屉里"})),
    ("请记住我妹妹叫安娜", Meaning("remember", {"fact": "我妹妹叫安娜"})),
    ("别忘了水管工星期五来", Meaning("remember", {"fact": "水管工星期五来"})),
    ("帮我记一下我把车停在地下三层", Meaning("remember", {"fact": "我把车停在地下三层"})),
    ("记住我对花生过敏", Meaning("remember", {"fact": "我对花生过敏"})),
    ("我的钥匙在哪？", Meaning("recall")),
    ("我的钥匙在哪里", Meaning("recall")),
    ("钥匙放哪儿了", Meaning("recall")),
    ("我把车停在哪了", Meaning("recall")),
    ("我妹妹叫什么名字？", Meaning("recall")),
    ("水管工什么时候来", Meaning("recall")),
    ("我对什么过敏", Meaning("recall")),
    ("我最喜欢什么颜色", Meaning("recall")),
    ("WiFi的密码是多少", Meaning("recall")),
    ("你记得我的钥匙在哪吗", Meaning("recall")),
    ("关于水管工我说过什么", Meaning("recall")),
    ("备用钥匙在哪儿", Meaning("recall")),
    ("狗叫什么", Meaning("recall")),
    ("打开客厅的灯", Meaning("unknown")),
    ("讲个笑话", Meaning("unknown")),
    ("今天会下雨吗", Meaning("unknown")),
    ("七乘八等于几", Meaning("unknown")),
    ("放点音乐", Meaning("unknown")),
    ("把空调调到二十度", Meaning("unknown")),
    ("我今天很高兴", Meaning("unknown")),
    ("倒计时30秒", Meaning("timer_start", {"seconds": 30})),
    ("设一个30分钟的计时器", Meaning("timer_start", {"minutes": 30})),
    ("定时1小时5分钟", Meaning("timer_start", {"hours": 1, "minutes": 5})),
    ("定七点零五分的闹钟", Meaning("alarm", {"hour": 7, "minute": 5})),
    ("定一个19:30的闹钟", Meaning("alarm", {"hour": 19, "minute": 30})),
    ("定时一个半小时", Meaning("timer_start", {"minutes": 90})),
    ("定时一刻钟", Meaning("timer_start", {"minutes": 15})),
]


@pytest.fixture(scope="module")
def understand() -> Understanding:
    return Understanding()


@pytest.mark.shows("V30")
@pytest.mark.parametrize(("words", "meaning"), ENGLISH + CHINESE)
def test_a_sentence_means_what_it_asks_for(understand: Understanding, words: str, meaning: Meaning) -> None:
    understood = understand(words)
    assert understood.name == meaning.name
    if meaning.name not in FREE:
        assert without_wakes(understood.slots) == meaning.slots


def without_wakes(slots: Mapping[str, Slot]) -> dict[str, Slot]:
    return {name: value for name, value in slots.items() if name != "wakes"}


@pytest.mark.parametrize("words", ["Wake me up at six.", "早上七点叫我起床", "明天七点叫醒我"])
def test_a_wake_up_call_is_told_from_an_alarm(understand: Understanding, words: str) -> None:
    assert understand(words).number("wakes") == 1
    assert understand("Set an alarm for six.").number("wakes") == 0


@pytest.mark.parametrize(
    ("words", "slot", "text"),
    [
        ("Remember, my wife likes tea, milk and honey!", "fact", "my wife likes tea, milk and honey"),
        ("remember that it’s Anna's birthday", "fact", "it's Anna's birthday"),
        ("记住：我喜欢茶，也喜欢咖啡。", "fact", "我喜欢茶，也喜欢咖啡"),
        ("Remind me to call Dr. Smith at nine.", "label", "call Dr. Smith"),
    ],
)
def test_free_text_is_kept_as_it_was_said(understand: Understanding, words: str, slot: str, text: str) -> None:
    assert understand(words).text(slot) == text


@pytest.mark.parametrize(
    "words",
    ["what time is it", "WHAT TIME IS IT", "What time is it?!", "  what   time is it  ", "nakari, what time is it"],
)
def test_case_punctuation_and_spaces_do_not_matter(understand: Understanding, words: str) -> None:
    assert understand(words) == Meaning("time")


@pytest.mark.parametrize(
    ("word", "number"), [("one", 1), ("twenty one", 21), ("fifty-nine", 59), ("60", 60), ("90", 90)]
)
@pytest.mark.parametrize("unit", ["second", "minute", "hour"])
def test_every_number_and_unit_of_a_timer(understand: Understanding, word: str, number: int, unit: str) -> None:
    meaning = understand(f"Set a timer for {word} {unit}s.")
    assert meaning.seconds() == number * {"second": 1, "minute": 60, "hour": 3600}[unit]


@pytest.mark.parametrize(
    ("down", "up", "to", "timer"),
    [
        ("Turn the volume down by ten.", "Turn the volume up by ten.", "Set the volume to ten.", "ten minute timer"),
        ("音量调低百分之十", "音量调高百分之十", "把音量调到百分之十", "定时十分钟"),
    ],
)
def test_a_number_keeps_its_sign_whatever_was_said_before(down: str, up: str, to: str, timer: str) -> None:
    understand = Understanding()
    for _ in range(2):
        assert understand(down).number("volume_step") == -10
        assert understand(up).number("volume_step") == 10
        assert understand(to).number("percent") == 10
        assert understand(timer).number("minutes") == 10


def test_a_story_is_no_command(understand: Understanding) -> None:
    assert understand("set a timer for five minutes " + "and then " * LONGEST).name == "unknown"
    assert understand("remember that " + "x" * (LONGEST - 20)).name == "remember"


HOUSEHOLD = Path(__file__).parents[1] / "data" / "whisper-household" / "sentences.txt"


@pytest.mark.shows("V30")
def test_what_the_household_says_is_understood_where_no_model_is_needed(understand: Understanding) -> None:
    sentences = HOUSEHOLD.read_text(encoding="utf-8").splitlines()
    understood = Counter(understand(sentence).name for sentence in sentences)
    assert understood["unknown"] == 96  # lights, music, heating, shopping, messages, general knowledge
    assert understood["timer_start"] == 8
    assert understood["alarm"] == 7
    assert understood["remember"] == 8
    assert understood["recall"] == 18
    assert understood["hello"] == 7
    assert understood.total() == 179
