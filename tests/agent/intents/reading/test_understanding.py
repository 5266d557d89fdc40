"""What the offline model understands, through the real hassil: sentence by sentence, in English and Chinese."""

import gc
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent.intents.intent import Intent, Slot
from agent.intents.reading.understanding import Understanding, load_understanding
from memory.chinese import traditional

FREE = frozenset({"recall", "ask_when"})
"""Meanings whose slots are not told here: recalling reads the whole sentence, and asking back reads none."""

ENGLISH = [
    ("What time is it?", Intent("time")),
    ("what time is it now", Intent("time")),
    ("What's the time?", Intent("time")),
    ("What is the current time?", Intent("time")),
    ("Tell me the time, please.", Intent("time")),
    ("Can you tell me what time it is?", Intent("time")),
    ("Do you know what time it is?", Intent("time")),
    ("Hey nakari, what time is it?", Intent("time")),
    ("Could you tell me what the time is please?", Intent("time")),
    ("What's the date going to be next Monday?", Intent("date", {"weekday": 0})),
    ("I need to be up by seven tomorrow.", Intent("alarm", {"hour": 7, "day": 1})),
    ("Wake me up in the morning at 6.", Intent("alarm", {"hour": 6, "period": "morning"})),
    ("Don't let me forget the oven in twenty minutes.", Intent("timer_start", {"minutes": 20, "label": "the oven"})),
    ("Tell me in five minutes to check the soup.", Intent("timer_start", {"minutes": 5, "label": "check the soup"})),
    ("How much longer for the cake?", Intent("timer_status", {"named": 1, "label": "cake"})),
    ("What's left on the timer?", Intent("timer_status")),
    ("Forget the gate code.", Intent("forget_other", {"fact": "the gate code"})),
    ("Tell me what you can do.", Intent("what_can_you_do")),
    ("Wake me at seven, will you please?", Intent("alarm", {"hour": 7})),
    ("Turn off the alarm just for tomorrow.", Intent("timer_cancel", {"on_day": 1})),
    ("Forget everything.", Intent("forget_all")),
    ("Delete everything you know about me.", Intent("forget_all")),
    ("Erase everything I have ever told you.", Intent("forget_all")),
    ("Wipe your memory, please.", Intent("forget_all")),
    ("Forget everything I just said.", Intent("forget_last")),
    ("Forget everything about the gate code.", Intent("forget_other", {"fact": "everything about the gate code"})),
    ("Forget the xylophone.", Intent("forget_other", {"fact": "the xylophone"})),
    ("What day is it today?", Intent("date")),
    ("What day of the week is it?", Intent("date")),
    ("What's today's date?", Intent("date")),
    ("What is the date today?", Intent("date")),
    ("What is the date tomorrow?", Intent("date", {"day": 1})),
    ("What day is tomorrow?", Intent("date", {"day": 1})),
    ("What day was yesterday?", Intent("date", {"day": -1})),
    ("Set a timer for one minute.", Intent("timer_start", {"minutes": 1})),
    ("Set a timer for 5 minutes.", Intent("timer_start", {"minutes": 5})),
    ("set a timer for twenty one minutes", Intent("timer_start", {"minutes": 21})),
    ("Set a ten minute timer.", Intent("timer_start", {"minutes": 10})),
    ("Set a 10-minute timer.", Intent("timer_start", {"minutes": 10})),
    ("Set a timer for half an hour.", Intent("timer_start", {"minutes": 30})),
    ("set a timer for an hour", Intent("timer_start", {"hours": 1})),
    ("Set a timer for one and a half hours.", Intent("timer_start", {"minutes": 90})),
    ("set a timer for an hour and a half", Intent("timer_start", {"hours": 1, "minutes": 30})),
    ("Set a timer for two and a half hours.", Intent("timer_start", {"minutes": 150})),
    ("Set a timer for one hour and fifteen minutes.", Intent("timer_start", {"hours": 1, "minutes": 15})),
    ("Start a timer for 45 seconds", Intent("timer_start", {"seconds": 45})),
    ("set a timer for a quarter of an hour", Intent("timer_start", {"minutes": 15})),
    ("timer twenty minutes", Intent("timer_start", {"minutes": 20})),
    ("Please start a three minute countdown.", Intent("timer_start", {"minutes": 3})),
    ("Set a pasta timer for twelve minutes.", Intent("timer_start", {"minutes": 12, "label": "pasta"})),
    ("Set a timer for twelve minutes for pasta.", Intent("timer_start", {"minutes": 12, "label": "pasta"})),
    ("Wake me up in twenty minutes.", Intent("timer_start", {"minutes": 20})),
    ("Remind me to call my mother in ten minutes.", Intent("timer_start", {"minutes": 10, "label": "call my mother"})),
    ("Remind me in one hour to take the cake out.", Intent("timer_start", {"hours": 1, "label": "take the cake out"})),
    ("Can you set a timer for 25 minutes?", Intent("timer_start", {"minutes": 25})),
    ("Wake me up at six o'clock.", Intent("alarm", {"hour": 6})),
    ("Set an alarm for six thirty.", Intent("alarm", {"hour": 6, "minute": 30})),
    ("Set an alarm for 6:30.", Intent("alarm", {"hour": 6, "minute": 30})),
    ("Set an alarm for 7 a.m.", Intent("alarm", {"hour": 7, "period": "morning"})),
    ("Wake me tomorrow at seven in the morning.", Intent("alarm", {"hour": 7, "day": 1, "period": "morning"})),
    ("Set an alarm for half past seven.", Intent("alarm", {"hour": 7, "minute": 30})),
    ("Wake me at a quarter to seven.", Intent("alarm", {"hour": 7, "minute": -15})),
    ("Remind me to take my medicine at nine.", Intent("alarm", {"hour": 9, "label": "take my medicine"})),
    (
        "Remind me to buy bread, milk and eggs tomorrow at nine.",
        Intent("alarm", {"hour": 9, "label": "buy bread, milk and eggs", "day": 1}),
    ),
    ("Set an alarm for 18:00.", Intent("alarm", {"hour": 18, "minute": 0})),
    ("set an alarm for noon", Intent("alarm", {"exact_hour": 12})),
    ("set an alarm for six oh five", Intent("alarm", {"hour": 6, "minute": 5})),
    ("Remind me to call my mother.", Intent("ask_when")),
    ("Remind me to buy bread tomorrow.", Intent("ask_when")),
    ("Set a timer.", Intent("ask_when")),
    ("Set an alarm.", Intent("ask_when")),
    ("Cancel the timer.", Intent("timer_cancel")),
    ("Stop the timer.", Intent("timer_cancel")),
    ("Cancel the alarm.", Intent("timer_cancel")),
    ("Turn off the alarm.", Intent("timer_cancel")),
    ("cancel the pasta timer", Intent("timer_cancel", {"label": "pasta"})),
    ("Cancel the five minute timer.", Intent("timer_cancel", {"start_minutes": 5})),
    ("Cancel my seven o'clock alarm.", Intent("timer_cancel", {"at_hour": 7})),
    ("Cancel the alarm at half past six.", Intent("timer_cancel", {"at_hour": 6, "at_minute": 30})),
    ("Move the seven o'clock alarm to eight.", Intent("timer_change", {"at_hour": 7, "hour": 8})),
    ("Cancel all alarms and timers.", Intent("timer_cancel_all")),
    ("Cancel tomorrow's alarm.", Intent("timer_cancel", {"on_day": 1})),
    ("Cancel the alarm for tonight.", Intent("timer_cancel", {"on_day": 0})),
    ("Stop reminding me about my pills.", Intent("timer_cancel", {"label": "my pills"})),
    ("When do I have to get up on Monday?", Intent("timer_status", {"weekday": 0})),
    ("What year is it?", Intent("date")),
    ("Cancel all timers.", Intent("timer_cancel_all")),
    ("Cancel all of my alarms.", Intent("timer_cancel_all")),
    ("How much time is left?", Intent("timer_status")),
    ("How much time is left on the timer?", Intent("timer_status")),
    ("how long is left on my timer", Intent("timer_status")),
    ("What timers do I have?", Intent("timer_status")),
    ("What are my reminders?", Intent("timer_status")),
    ("Are any timers running?", Intent("timer_status")),
    ("When is my next alarm?", Intent("timer_status")),
    ("Turn the volume up.", Intent("volume_up")),
    ("Louder please.", Intent("volume_up")),
    ("Turn it up a bit.", Intent("volume_up")),
    ("Turn the volume down.", Intent("volume_down")),
    ("Speak quieter.", Intent("volume_down")),
    ("Hey, turn it down a bit, the baby's asleep.", Intent("volume_down")),
    ("You're too loud.", Intent("volume_down")),
    ("算了，你声音小一点，孩子睡了。", Intent("volume_down")),
    ("Fair enough. How long till six o'clock?", Intent("time_until", {"hour": 6})),
    ("how many weeks till new year's day", Intent("weeks_until", {"month_day": 101})),
    ("delete everything", Intent("forget_all")),
    ("cancel everything", Intent("timer_cancel_all")),
    ("When is Christmas?", Intent("date", {"month_day": 1225})),
    ("when's good friday", Intent("date", {"easter": -2})),
    ("when is christmas dinner", Intent("recall", {"topic": "christmas dinner"})),
    ("圣诞节是什么时候？", Intent("date", {"month_day": 1225})),
    ("what day was the first of November", Intent("date", {"past": 1, "date": 1, "month": 11})),
    ("What's the date three weeks from today?", Intent("date", {"weeks": 3})),
    ("what time is it in Tokyo right now, my sister's over there", Intent("time_there", {"place": "Tokyo"})),
    ("Who are you, then?", Intent("who_are_you")),
    ("yo what can you even do without wifi", Intent("what_can_you_do")),
    ("Why can't you do the other stuff?", Intent("why_not", {"outside": "do the other stuff"})),
    ("Hey, good afternoon.", Intent("hello")),
    ("Good afternoon, are you awake?", Intent("hello")),
    ("Hey, how's it going?", Intent("how_are_you")),
    ("thanks love", Intent("thanks")),
    ("Thanks, you're a star.", Intent("thanks")),
    ("Brilliant, thank you.", Intent("thanks")),
    ("Alright. Good night then.", Intent("good_night")),
    ("sorry say that again", Intent("repeat")),
    ("刚才那个再说一遍", Intent("repeat")),
    ("what alarms have i got", Intent("timer_status")),
    ("What's still running?", Intent("timer_status")),
    ("what have i got on monday", Intent("timer_status", {"weekday": 0})),
    ("How long has the lasagne got?", Intent("timer_status", {"named": 1, "label": "lasagne"})),
    ("the pasta one how long", Intent("timer_status", {"named": 1, "label": "pasta"})),
    (
        "the lasagne needs five more minutes",
        Intent("timer_change", {"adds": 1, "begins": 1, "label": "lasagne", "minutes": 5}),
    ),
    (
        "I do hope I do this properly, but might you be able to wake me at, let me see, a quarter to eight tomorrow?",
        Intent("alarm", {"minute": -15, "hour": 8, "day": 1}),
    ),
    ("That's very kind, thank you. Would it be at all possible to know what time it is?", Intent("time")),
    (
        "could you perhaps remember for me that my daughter is called helen",
        Intent("remember", {"fact": "my daughter is called helen"}),
    ),
    ("put twenty five minutes on for the rolls", Intent("timer_start", {"minutes": 25, "label": "rolls"})),
    (
        "Wake me at three every day except Sunday.",
        Intent("alarm", {"hour": 3, "repeat": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA"}),
    ),
    ("在书房说饭好了", Intent("say_in", {"room": "书房", "message": "饭好了"})),
    ("say in the kitchen that we go now", Intent("say_in", {"room": "kitchen", "message": "we go now"})),
    ("remember that the bins go out on friday now", Intent("remember", {"fact": "the bins go out on friday now"})),
    ("what day of the week is christmas day this year", Intent("date", {"month_day": 1225})),
    ("Make the second one forty minutes.", Intent("timer_change", {"ordinal": 2, "minutes": 40})),
    ("Twenty minutes for the lasagne, please.", Intent("timer_start", {"minutes": 20, "label": "lasagne"})),
    ("add ten minutes", Intent("timer_change", {"adds": 1, "minutes": 10})),
    (
        "And the tulips are by the gate, if you could remember that.",
        Intent("remember", {"fact": "the tulips are by the gate"}),
    ),
    ("wake me in 20 mins", Intent("timer_start", {"minutes": 20})),
    (
        "And I must take my pill every evening at eight, kindly remind me.",
        Intent(
            "alarm",
            {"repeat": "FREQ=DAILY", "period": "evening", "hour": 8, "label": "I must take my pill"},
        ),
    ),
    (
        "Can you remember something for me? The key is under the pot.",
        Intent("remember", {"fact": "The key is under the pot"}),
    ),
    ("Tom is allergic to nuts. Please don't forget that.", Intent("remember", {"fact": "Tom is allergic to nuts"})),
    ("can you ring the vet for me", Intent("outside", {"outside": "the vet"})),
    ("take the milk off the shopping list", Intent("list_remove", {"item": "the milk", "list": "shopping"})),
    ("五花肉买好了划掉吧", Intent("list_remove", {"item": "五花肉"})),
    ("花椒还要不要买", Intent("list_tell", {"item": "花椒"})),
    ("Set the volume to ten.", Intent("volume_set", {"percent": 10})),
    ("Set the volume to 50%.", Intent("volume_set", {"percent": 50})),
    ("set volume to fifty percent", Intent("volume_set", {"percent": 50})),
    ("Mute the speaker.", Intent("volume_set", {"percent": 0})),
    ("What is the volume?", Intent("volume_told")),
    ("what's your volume set to", Intent("volume_told")),
    ("How loud are you?", Intent("volume_told")),
    ("How long does the pasta still need?", Intent("timer_status", {"named": 1, "label": "pasta"})),
    ("How much time is left for the bread?", Intent("timer_status", {"named": 1, "label": "bread"})),
    ("Never mind.", Intent("never_mind")),
    ("Cancel that.", Intent("never_mind")),
    ("Forget it.", Intent("never_mind")),
    ("Stop.", Intent("stop")),
    ("Stop talking.", Intent("stop")),
    ("Be quiet please.", Intent("stop")),
    ("Go to sleep.", Intent("stop")),
    ("Say that again.", Intent("repeat")),
    ("Repeat that please.", Intent("repeat")),
    ("What did you say?", Intent("repeat")),
    ("Who are you?", Intent("who_are_you")),
    ("What is your name?", Intent("who_are_you")),
    ("What's your name?", Intent("who_are_you")),
    ("What can you do?", Intent("what_can_you_do")),
    ("Help me.", Intent("what_can_you_do")),
    ("help", Intent("what_can_you_do")),
    ("What can I say?", Intent("what_can_you_do")),
    ("Hello.", Intent("hello")),
    ("Hello there.", Intent("hello")),
    ("Hello computer.", Intent("hello")),
    ("Good morning.", Intent("hello")),
    ("Are you there?", Intent("hello")),
    ("Can you hear me?", Intent("hello")),
    ("I am home.", Intent("hello")),
    ("How are you?", Intent("how_are_you")),
    ("How are you doing?", Intent("status")),
    ("Status report.", Intent("status")),
    ("What is your status?", Intent("status")),
    ("Give me a status report, please.", Intent("status")),
    ("Status", Intent("status")),
    ("Good night.", Intent("good_night")),
    ("Goodbye.", Intent("goodbye")),
    ("I am leaving.", Intent("goodbye")),
    ("Thank you.", Intent("thanks")),
    ("Thanks a lot.", Intent("thanks")),
    ("Yes.", Intent("yes")),
    ("Yes please.", Intent("yes")),
    ("No.", Intent("no")),
    ("No thank you.", Intent("no")),
    ("Remember that my keys are in the drawer.", Intent("remember", {"fact": "my keys are in the drawer"})),
    ("Remember my sister is called Anna.", Intent("remember", {"fact": "my sister is called Anna"})),
    (
        "Don't forget that the plumber comes on Friday, at nine.",
        Intent("remember", {"fact": "the plumber comes on Friday, at nine"}),
    ),
    ("please remember that I parked on level three", Intent("remember", {"fact": "I parked on level three"})),
    ("Make a note that the wifi password is rosebud.", Intent("remember", {"fact": "the wifi password is rosebud"})),
    ("Where are my keys?", Intent("recall")),
    ("Where is my phone?", Intent("recall")),
    ("Where did I park?", Intent("recall")),
    ("What is my sister called?", Intent("recall")),
    ("When does the plumber come?", Intent("recall")),
    ("What am I allergic to?", Intent("recall")),
    ("What is my favorite color?", Intent("recall")),
    ("Where is the spare key?", Intent("recall")),
    ("What is the dog called?", Intent("recall")),
    ("What did I say about the plumber?", Intent("recall")),
    ("What is my sister's name?", Intent("recall")),
    ("When is the dentist appointment?", Intent("recall")),
    ("Do you remember where I parked?", Intent("recall")),
    ("Which level did I park on?", Intent("recall")),
    ("What do you know about Anna?", Intent("recall")),
    ("Tell me where my keys are.", Intent("recall")),
    ("What's the wifi password?", Intent("recall")),
    ("Turn on the kitchen light.", Intent("outside", {"outside": "the kitchen light"})),
    ("Tell me a joke.", Intent("unknown")),
    ("What is seven times eight?", Intent("unknown")),
    ("How far away are the stars?", Intent("unknown")),
    ("Play some music.", Intent("outside", {"outside": "some music"})),
    ("Stop the music.", Intent("outside", {"outside": "the music"})),
    ("Turn off the oven.", Intent("outside", {"outside": "the oven"})),
    ("Will it rain today?", Intent("weather", {"day": 0})),
    ("We've run out of washing powder.", Intent("list_add", {"item": "washing powder"})),
    ("We've run out of time.", Intent("unknown")),
    ("Add milk to the shopping list.", Intent("list_add", {"item": "milk", "list": "shopping"})),
    ("Translate good morning to French.", Intent("unknown")),
    ("Turn the lights down.", Intent("unknown")),
    ("", Intent("unknown")),
    ("?!", Intent("unknown")),
    ("Set the heating to twenty degrees.", Intent("outside", {"outside": "the heating", "outside2": "twenty degrees"})),
    ("Feed the cat at seven.", Intent("unknown")),
    ("Turn up the heating.", Intent("unknown")),
]

CHINESE = [
    ("把你知道的一切都删掉", Intent("forget_all")),
    ("把所有的都忘掉吧", Intent("forget_all")),
    ("清空你的记忆", Intent("forget_all")),
    ("现在几点了？", Intent("time")),
    ("几点了", Intent("time")),
    ("现在几点钟？", Intent("time")),
    ("请问现在几点？", Intent("time")),
    ("现在是什么时间？", Intent("time")),
    ("告诉我现在的时间", Intent("time")),
    ("报时", Intent("time")),
    ("今天几号？", Intent("date")),
    ("今天是几月几号", Intent("date")),
    ("今天星期几？", Intent("date")),
    ("今天是周几", Intent("date")),
    ("今天的日期是多少", Intent("date")),
    ("明天星期几", Intent("date", {"day": 1})),
    ("明天是几号？", Intent("date", {"day": 1})),
    ("昨天星期几", Intent("date", {"day": -1})),
    ("设置五分钟的计时器", Intent("timer_start", {"minutes": 5})),
    ("定一个五分钟的计时器。", Intent("timer_start", {"minutes": 5})),
    ("帮我设一个10分钟的倒计时", Intent("timer_start", {"minutes": 10})),
    ("两分钟后提醒我", Intent("timer_start", {"minutes": 2})),
    ("十五分钟后叫我", Intent("timer_start", {"minutes": 15})),
    ("二十分钟后提醒我关火", Intent("timer_start", {"minutes": 20, "label": "关火"})),
    ("设一个半小时的计时器", Intent("timer_start", {"minutes": 30})),
    ("半小时后叫醒我", Intent("timer_start", {"minutes": 30})),
    ("定一个一个半小时的闹钟", Intent("timer_start", {"minutes": 90})),
    ("定时一小时", Intent("timer_start", {"hours": 1})),
    ("倒计时一小时二十分钟", Intent("timer_start", {"hours": 1, "minutes": 20})),
    ("倒计时三十秒", Intent("timer_start", {"seconds": 30})),
    ("计时四十五分钟", Intent("timer_start", {"minutes": 45})),
    ("定一个八分钟的煮面计时器", Intent("timer_start", {"minutes": 8, "label": "煮面"})),
    ("请开始三分钟倒计时", Intent("timer_start", {"minutes": 3})),
    ("过两个小时提醒我", Intent("timer_start", {"hours": 2})),
    ("早上七点叫我起床", Intent("alarm", {"hour": 7, "period": "morning"})),
    ("明天早上七点叫醒我", Intent("alarm", {"hour": 7, "day": 1, "period": "morning"})),
    ("定一个七点半的闹钟", Intent("alarm", {"hour": 7, "minute": 30})),
    ("明早六点半叫我", Intent("alarm", {"hour": 6, "minute": 30, "day": 1, "period": "morning"})),
    ("晚上九点提醒我吃药", Intent("alarm", {"hour": 9, "period": "night", "label": "吃药"})),
    ("明天下午三点提醒我开会", Intent("alarm", {"hour": 3, "period": "evening", "label": "开会", "day": 1})),
    ("提醒我明天下午三点开会", Intent("alarm", {"hour": 3, "period": "evening", "label": "开会", "day": 1})),
    ("设一个8点15分的闹钟", Intent("alarm", {"hour": 8, "minute": 15})),
    ("设一个中午十二点的闹钟", Intent("alarm", {"hour": 12, "period": "noon"})),
    ("闹钟定到六点三刻", Intent("alarm", {"hour": 6, "minute": 45})),
    ("提醒我给妈妈打电话", Intent("ask_when")),
    ("设一个闹钟", Intent("ask_when")),
    ("明天提醒我买面包", Intent("ask_when")),
    ("取消计时器", Intent("timer_cancel")),
    ("取消闹钟。", Intent("timer_cancel")),
    ("把闹钟关掉", Intent("timer_cancel")),
    ("停止倒计时", Intent("timer_cancel")),
    ("取消五分钟的计时器", Intent("timer_cancel", {"start_minutes": 5})),
    ("取消煮面的计时器", Intent("timer_cancel", {"label": "煮面"})),
    ("取消所有计时器", Intent("timer_cancel_all")),
    ("把所有闹钟都取消", Intent("timer_cancel_all")),
    ("还剩多久？", Intent("timer_status")),
    ("计时器还有多久", Intent("timer_status")),
    ("还有多长时间", Intent("timer_status")),
    ("我有哪些闹钟", Intent("timer_status")),
    ("我的闹钟是几点", Intent("timer_status")),
    ("有计时器吗", Intent("timer_status")),
    ("大声一点", Intent("volume_up")),
    ("把音量调大一点", Intent("volume_up")),
    ("声音大一点", Intent("volume_up")),
    ("小声点", Intent("volume_down")),
    ("音量调低", Intent("volume_down")),
    ("声音太大了", Intent("volume_down")),
    ("把音量调到百分之三十", Intent("volume_set", {"percent": 30})),
    ("音量设为50%", Intent("volume_set", {"percent": 50})),
    ("静音", Intent("volume_set", {"percent": 0})),
    ("现在音量是多少", Intent("volume_told")),
    ("算了", Intent("never_mind")),
    ("没事了", Intent("never_mind")),
    ("取消", Intent("never_mind")),
    ("停", Intent("stop")),
    ("别说了", Intent("stop")),
    ("闭嘴", Intent("stop")),
    ("再说一遍", Intent("repeat")),
    ("你刚才说什么", Intent("repeat")),
    ("你是谁？", Intent("who_are_you")),
    ("你叫什么名字？", Intent("who_are_you")),
    ("自我介绍", Intent("who_are_you")),
    ("你能做什么？", Intent("what_can_you_do")),
    ("你会什么", Intent("what_can_you_do")),
    ("你会做什么？", Intent("what_can_you_do")),
    ("帮助", Intent("what_can_you_do")),
    ("我可以问你什么", Intent("what_can_you_do")),
    ("你好", Intent("hello")),
    ("早上好！", Intent("hello")),
    ("你在吗", Intent("hello")),
    ("听得到吗", Intent("hello")),
    ("你好吗", Intent("how_are_you")),
    ("状态", Intent("status")),
    ("你的状态怎么样？", Intent("status")),
    ("报告一下状态", Intent("status")),
    ("晚安", Intent("good_night")),
    ("再见", Intent("goodbye")),
    ("谢谢", Intent("thanks")),
    ("谢谢你", Intent("thanks")),
    ("是的", Intent("yes")),
    ("对", Intent("yes")),
    ("好的", Intent("yes")),
    ("不是", Intent("no")),
    ("不用谢谢", Intent("no")),
    ("记住我的钥匙在抽屉里。", Intent("remember", {"fact": "我的钥匙在抽屉里"})),
    ("记住，我的钥匙在抽屉里", Intent("remember", {"fact": "我的钥匙在抽屉里"})),
    ("请记住我妹妹叫安娜", Intent("remember", {"fact": "我妹妹叫安娜"})),
    ("别忘了水管工星期五来", Intent("remember", {"fact": "水管工星期五来"})),
    ("帮我记一下我把车停在地下三层", Intent("remember", {"fact": "我把车停在地下三层"})),
    ("记住我对花生过敏", Intent("remember", {"fact": "我对花生过敏"})),
    ("我的钥匙在哪？", Intent("recall")),
    ("我的钥匙在哪里", Intent("recall")),
    ("钥匙放哪儿了", Intent("recall")),
    ("我把车停在哪了", Intent("recall")),
    ("我妹妹叫什么名字？", Intent("recall")),
    ("水管工什么时候来", Intent("recall")),
    ("我对什么过敏", Intent("recall")),
    ("我最喜欢什么颜色", Intent("recall")),
    ("WiFi的密码是多少", Intent("recall")),
    ("你记得我的钥匙在哪吗", Intent("recall")),
    ("关于水管工我说过什么", Intent("recall")),
    ("备用钥匙在哪儿", Intent("recall")),
    ("狗叫什么", Intent("recall")),
    ("打开客厅的灯", Intent("outside", {"outside": "客厅的灯"})),
    ("讲个笑话", Intent("unknown")),
    ("今天会下雨吗", Intent("weather", {"day": 0})),
    ("七乘八等于几", Intent("unknown")),
    ("放点音乐", Intent("outside")),
    ("把空调调到二十度", Intent("unknown")),
    ("我今天很高兴", Intent("unknown")),
    ("倒计时30秒", Intent("timer_start", {"seconds": 30})),
    ("设一个30分钟的计时器", Intent("timer_start", {"minutes": 30})),
    ("定时1小时5分钟", Intent("timer_start", {"hours": 1, "minutes": 5})),
    ("定七点零五分的闹钟", Intent("alarm", {"hour": 7, "minute": 5})),
    ("定一个19:30的闹钟", Intent("alarm", {"hour": 19, "minute": 30})),
    ("定时一个半小时", Intent("timer_start", {"minutes": 90})),
    ("定时一刻钟", Intent("timer_start", {"minutes": 15})),
]


@pytest.fixture(scope="module")
def understand() -> Understanding:
    return load_understanding()


@pytest.mark.shows("V30")
@pytest.mark.parametrize(("words", "meaning"), ENGLISH + CHINESE)
def test_a_sentence_means_what_it_asks_for(understand: Understanding, words: str, meaning: Intent) -> None:
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
    assert understand(words) == Intent("time")


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
    assert understand("set a timer for five minutes " + "and then " * 500).name == "unknown"
    assert understand("remember that " + "x" * 480).name == "remember"


@pytest.mark.shows("V29")
def test_what_was_said_is_kept_nowhere(understand: Understanding) -> None:
    words = " ".join(["what time is it and set a timer for", "seven", "minutes"])
    understand(words)
    gc.collect()
    assert [type(each).__name__ for each in gc.get_referrers(words)] == []


HOUSEHOLD = Path(__file__).parents[3] / "data" / "whisper-household" / "sentences.txt"


@pytest.mark.shows("V30")
def test_what_the_household_says_is_understood_where_no_model_is_needed(understand: Understanding) -> None:
    sentences = HOUSEHOLD.read_text(encoding="utf-8").splitlines()
    understood = Counter(understand(sentence).name for sentence in sentences)
    assert understood["forget_last"] == 1
    assert (understood["agenda"], understood["agenda_next"]) == (2, 1)
    assert understood["weather"] == 5
    assert (understood["coin"], understood["draw"], understood["forget_other"]) == (1, 1, 1)
    assert understood["outside"] == 48  # lights, music, heating, calls and messages
    assert understood["unknown"] == 24  # questions of the house, general knowledge
    assert (understood["list_add"], understood["list_remove"], understood["list_clear"]) == (8, 1, 1)
    assert understood["timer_start"] == 8
    assert understood["timer_status"] >= 1  # is the washing machine done: where no timer is called so, another room's
    assert understood["alarm"] == 7
    assert understood["remember"] == 8
    assert understood["recall"] == 15
    assert understood["hello"] == 7
    assert understood.total() == 179


@pytest.mark.shows("X10")
@pytest.mark.parametrize(("words", "meaning"), CHINESE)
def test_a_sentence_in_traditional_characters_means_the_same(
    understand: Understanding, words: str, meaning: Intent
) -> None:
    """Whisper writes Mandarin in them where it likes."""
    assert understand(traditional(words)) == understand(words)


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("set a timer for an hour and a quarter", 4500),
        ("set an alarm for an hour and a quarter", 4500),
        ("set a timer for two hours and a quarter", 8100),
        ("set a timer for two and a quarter hours", 8100),
        ("set a timer for a hundred minutes", 6000),
        ("give us ten minutes on the clock", 600),
        ("put twenty minutes on the clock", 1200),
        ("定一个小时一刻钟的计时器", 4500),
        ("定一个两小时三刻钟的计时器", 9900),
        ("set a timer for a quarter of an hour", 900),
        ("set a timer for an hour and a half", 5400),
    ],
)
def test_quarters_of_hours_are_lengths(words: str, seconds: int) -> None:
    intent = load_understanding()(words)
    assert (intent.name, intent.seconds(), intent.text("label")) == ("timer_start", seconds, "")


def test_a_quarter_past_is_no_length() -> None:
    assert load_understanding()("wake me at a quarter past two").slots["minute"] == 15


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("记下垃圾袋", "list_add"),
        ("记一下牛奶和鸡蛋", "list_add"),
        ("记下车牌号", "remember"),
        ("记下小明喜欢喝茶", "remember"),
    ],
)
def test_what_is_noted_is_a_thing_of_a_list_where_it_is_one(words: str, name: str) -> None:
    assert load_understanding()(words).name == name
