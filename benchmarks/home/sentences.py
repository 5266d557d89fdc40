"""A hundred sentences as people say them to a house, fifty in English and fifty in Chinese, and what each should do.

They were written before any was tried, and nothing is fitted on them.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from msgspec import Struct

State: TypeAlias = Mapping[str, str]
"""By entity: one of the states that `house.py` can bring about and read: "on", "50 %", "blue", "21 degrees", "open"."""


class Sentence(Struct, frozen=True):
    """One sentence."""

    words: str
    kind: str
    before: State = {}
    """What it finds."""
    after: State = {}
    """What it should leave; every other state has to stay. Of a query and of none: nothing."""
    answer: str = ""
    """A pattern that the answer has to have in it, whatever the case; "" for any."""
    asks: bool = False
    """Whether nakari asks first, and does it after a yes."""

    @property
    def language(self) -> str:
        """Return en or zh."""
        return "en" if self.words.isascii() else "zh"


BED, CEILING, FLOOR = "light.bed_light", "light.ceiling_lights", "light.living_room_rgbww_lights"
KITCHEN, DESK, HALL = "light.kitchen_lights", "light.office_rgbw_lights", "light.entrance_color_white_lights"
COFFEE, TREE, FAN = "switch.ac", "switch.decorative_lights", "fan.ceiling_fan"
BLINDS, BEDROOM_BLINDS, GARAGE = "cover.living_room_window", "cover.hall_window", "cover.garage_door"
THERMOSTAT, FRONT, VACUUM = "climate.hvac", "lock.entrance", "vacuum.demo_vacuum_0_ground_floor"
TELEVISION, WASHER = "media_player.living_room", "sensor.washing_machine"
SHOPPING, CHORES, MOVIE = "todo.shopping_list", "todo.chores", "scene.movie_night"

LIVING_ROOM: Final = (CEILING, FLOOR)
LIGHTS: Final = (BED, CEILING, FLOOR, KITCHEN, DESK, HALL)


def on(*entities: str) -> State:
    """Return that all are on."""
    return dict.fromkeys(entities, "on")


def off(*entities: str) -> State:
    """Return that all are off."""
    return dict.fromkeys(entities, "off")


def switched(words: str, kind: str, *entities: str, to: str) -> Sentence:
    """Return a sentence that turns these on or off."""
    before = on(*entities) if to == "off" else off(*entities)
    return Sentence(words, kind, before, dict.fromkeys(entities, to))


def changed(words: str, kind: str, entity: str, before: str, after: str) -> Sentence:
    """Return a sentence that changes one state."""
    return Sentence(words, kind, {entity: before}, {entity: after})


def asked(words: str, before: State, answer: str) -> Sentence:
    """Return a question about a state."""
    return Sentence(words, "question", before, answer=answer)


ENGLISH: Final = (
    switched("Turn on the bed light", "name", BED, to="on"),
    switched("Switch off the kitchen light please", "name", KITCHEN, to="off"),
    switched("Could you turn on the desk lamp?", "name", DESK, to="on"),
    switched("Turn the floor lamp off", "name", FLOOR, to="off"),
    switched("Hall light on", "name", HALL, to="on"),
    switched("Please turn off the coffee machine", "name", COFFEE, to="off"),
    switched("Turn on the Christmas tree", "name", TREE, to="on"),
    switched("Start the ceiling fan", "name", FAN, to="on"),
    switched("Turn off the lights in the living room", "area", *LIVING_ROOM, to="off"),
    switched("Turn on the lights in the office", "area", DESK, to="on"),
    switched("Lights off in the kitchen", "area", KITCHEN, to="off"),
    switched("Switch on the bedroom lights", "area", BED, to="on"),
    switched("Turn the living room lights on, please", "area", *LIVING_ROOM, to="on"),
    switched("Make it dark in the living room", "area", *LIVING_ROOM, to="off"),
    switched("Turn off all the lights", "all", *LIGHTS, to="off"),
    switched("Switch all lights on", "all", *LIGHTS, to="on"),
    switched("All lights off please", "all", *LIGHTS, to="off"),
    changed("Set the desk lamp to 50 percent", "brightness", DESK, "100 %", "50 %"),
    changed("Dim the bed light to twenty percent", "brightness", BED, "100 %", "20 %"),
    changed("Set the brightness of the floor lamp to 80", "brightness", FLOOR, "20 %", "80 %"),
    changed("Set the hall light to full brightness", "brightness", HALL, "20 %", "100 %"),
    Sentence(
        "Set the living room brightness to 30 percent",
        "brightness",
        {CEILING: "100 %", FLOOR: "100 %"},
        {CEILING: "30 %", FLOOR: "30 %"},
    ),
    changed("Make the desk lamp blue", "colour", DESK, "red", "blue"),
    changed("Set the bed light to red", "colour", BED, "green", "red"),
    changed("Turn the floor lamp green", "colour", FLOOR, "red", "green"),
    changed("Set the thermostat to 21 degrees", "temperature", THERMOSTAT, "18 degrees", "21 degrees"),
    changed(
        "Set the temperature in the living room to 19 degrees", "temperature", THERMOSTAT, "22 degrees", "19 degrees"
    ),
    asked("What is the outside temperature?", {}, "15.6"),
    asked("Is the front door locked?", {FRONT: "locked"}, "yes|locked"),
    asked("Is the bed light on?", on(BED), "yes|(?<!not )on"),
    asked("Are any lights on in the kitchen?", off(KITCHEN), "no|off"),
    asked("What is the state of the washing machine?", {}, "idle"),
    asked("Is the garage door open?", {GARAGE: "closed"}, "no|closed"),
    asked("Which lights are on?", {**off(CEILING, FLOOR, KITCHEN, DESK, HALL), **on(BED)}, "bed light"),
    asked("How humid is it outside?", {}, "54"),
    asked("What's the weather like?", {}, "sunny"),
    changed("Add milk to my shopping list", "list", SHOPPING, "without milk", "with milk"),
    changed("Put eggs on the shopping list", "list", SHOPPING, "without eggs", "with eggs"),
    changed(
        "Add call the dentist to my chores list", "list", CHORES, "without call the dentist", "with call the dentist"
    ),
    Sentence("What is on my shopping list?", "list", {SHOPPING: "with bread"}, answer="bread"),
    Sentence("Activate movie night", "scene", on(*LIVING_ROOM), {CEILING: "off", MOVIE: "activated"}),
    changed("Close the living room blinds", "cover", BLINDS, "open", "closed"),
    changed("Set the living room blinds to 40 percent", "cover", BLINDS, "open", "40 %"),
    Sentence("Open the garage door", "cover", {GARAGE: "closed"}, {GARAGE: "open"}, asks=True),
    changed("Lock the front door", "lock", FRONT, "unlocked", "locked"),
    Sentence("Unlock the front door", "lock", {FRONT: "locked"}, {FRONT: "unlocked"}, asks=True),
    changed("Start the vacuum cleaner", "device", VACUUM, "docked", "cleaning"),
    Sentence("Tell me a joke", "none", on(BED)),
    Sentence("How are you today?", "none", on(BED)),
    Sentence("I had to switch off my phone on the train", "none", on(BED)),
)

CHINESE: Final = (
    switched("打开床头灯", "name", BED, to="on"),
    switched("把厨房灯关掉", "name", KITCHEN, to="off"),
    switched("帮我开一下台灯", "name", DESK, to="on"),
    switched("关闭落地灯", "name", FLOOR, to="off"),
    switched("走廊灯打开", "name", HALL, to="on"),
    switched("请关掉咖啡机", "name", COFFEE, to="off"),
    switched("打开圣诞树", "name", TREE, to="on"),
    switched("把吊扇打开", "name", FAN, to="on"),
    switched("关闭客厅的灯", "area", *LIVING_ROOM, to="off"),
    switched("打开书房的灯", "area", DESK, to="on"),
    switched("把厨房的灯关了", "area", KITCHEN, to="off"),
    switched("开卧室灯", "area", BED, to="on"),
    switched("客厅的灯都打开", "area", *LIVING_ROOM, to="on"),
    switched("把客厅弄暗", "area", *LIVING_ROOM, to="off"),
    switched("关闭所有灯", "all", *LIGHTS, to="off"),
    switched("打开全部的灯", "all", *LIGHTS, to="on"),
    switched("把所有的灯都关掉", "all", *LIGHTS, to="off"),
    changed("把台灯调到百分之五十", "brightness", DESK, "100 %", "50 %"),
    changed("把床头灯的亮度调到百分之二十", "brightness", BED, "100 %", "20 %"),
    changed("落地灯亮度设为80%", "brightness", FLOOR, "20 %", "80 %"),
    changed("走廊灯调到最亮", "brightness", HALL, "20 %", "100 %"),
    Sentence(
        "客厅亮度调到百分之三十",
        "brightness",
        {CEILING: "100 %", FLOOR: "100 %"},
        {CEILING: "30 %", FLOOR: "30 %"},
    ),
    changed("把台灯调成蓝色", "colour", DESK, "red", "blue"),
    changed("床头灯设为红色", "colour", BED, "green", "red"),
    changed("把落地灯变成绿色", "colour", FLOOR, "red", "green"),
    changed("把恒温器调到21度", "temperature", THERMOSTAT, "18 degrees", "21 degrees"),
    changed("客厅温度设为十九度", "temperature", THERMOSTAT, "22 degrees", "19 degrees"),
    asked("室外温度是多少？", {}, "15.6"),
    asked("前门锁了吗？", {FRONT: "locked"}, "锁|是"),
    asked("床头灯开着吗？", on(BED), "是|开"),
    asked("厨房有灯开着吗？", off(KITCHEN), "没|不|否|关"),
    asked("洗衣机现在是什么状态？", {}, "idle"),
    asked("车库门开着吗？", {GARAGE: "closed"}, "没|不|否|关"),
    asked("哪些灯开着？", {**off(CEILING, FLOOR, KITCHEN, DESK, HALL), **on(BED)}, "bed light|床头灯"),
    asked("外面湿度多少？", {}, "54"),
    asked("今天天气怎么样？", {}, "晴|sunny"),
    changed("把牛奶加到购物清单", "list", SHOPPING, "without 牛奶", "with 牛奶"),
    changed("在购物清单里加上鸡蛋", "list", SHOPPING, "without 鸡蛋", "with 鸡蛋"),
    changed("往家务清单里加上给牙医打电话", "list", CHORES, "without 给牙医打电话", "with 给牙医打电话"),
    Sentence("购物清单上有什么？", "list", {SHOPPING: "with 面包"}, answer="面包"),
    Sentence("启动电影之夜", "scene", on(*LIVING_ROOM), {CEILING: "off", MOVIE: "activated"}),
    changed("关上客厅窗帘", "cover", BLINDS, "open", "closed"),
    changed("把客厅窗帘开到百分之四十", "cover", BLINDS, "open", "40 %"),
    Sentence("打开车库门", "cover", {GARAGE: "closed"}, {GARAGE: "open"}, asks=True),
    changed("把前门锁上", "lock", FRONT, "unlocked", "locked"),
    Sentence("解锁前门", "lock", {FRONT: "locked"}, {FRONT: "unlocked"}, asks=True),
    changed("关掉电视", "device", TELEVISION, "on", "off"),
    Sentence("讲个笑话", "none", on(BED)),
    Sentence("你今天怎么样？", "none", on(BED)),
    Sentence("我在火车上把手机关了", "none", on(BED)),
)

SENTENCES: Final = (*ENGLISH, *CHINESE)
assert len(ENGLISH) == len(CHINESE) == 50, (len(ENGLISH), len(CHINESE))
