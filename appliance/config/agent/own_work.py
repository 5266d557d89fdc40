"""What the configuration may say of the agent's own work: what that may take, and what is said unasked."""

from msgspec import Struct

from appliance.config.meaning import setting


class EconomySettings(Struct, frozen=True):
    """What an event may take, by its type, and what the agent's own work may take: what it does without being asked."""

    user_text: int = setting(10, "Tool calls that typed words may use.", between=(0, 1000))
    asr_transcript: int = setting(10, "Tool calls that spoken words may use.", between=(0, 1000))
    timer: int = setting(10, "Tool calls that a due timer may use.", between=(0, 1000))
    self_created: int = setting(
        10, "Tool calls that a task of the agent's own may use, if it says nothing.", between=(0, 1000)
    )
    system: int = setting(10, "Tool calls that a notice of another program may use.", between=(0, 1000))
    reflection: int = setting(10, "Tool calls that a look back after a conversation may use.", between=(0, 1000))
    night: int = setting(10, "Tool calls that a look over the memory at night may use.", between=(0, 1000))
    depth: int = setting(
        3,
        "How many steps a task of the agent's own may be away from what it came of: its children, their children "
        "and so on; 0 lets it make none.",
        between=(0, 100),
    )
    per_minute: int = setting(
        30, "Tasks and timers that the agent may make unasked in a minute, for each owner.", between=(1, 1000)
    )
    calls_per_task: int = setting(
        100, "Model calls of all tasks that came of one event; what is left of them is given up.", between=(1, 100_000)
    )
    calls_per_day: int = setting(
        300,
        "Model calls a day of the agent's own work, for each owner; then that waits for the next day.",
        between=(0, 1_000_000),
    )
    usd_per_day: float = setting(
        1.0,
        "What the agent's own work may cost in a day, for each owner, where the model's price is known; then that "
        "waits for the next day. What a person asks is always answered.",
        between=(0.0, 10_000.0),
        unit="USD",
    )


class GrowthSettings(Struct, frozen=True):
    """When the agent looks back by itself, and what that may take; [economy] bounds it like all its own work."""

    reflect: bool = setting(
        True,
        "Whether it looks back on each conversation that is over, once nobody speaks, and writes into the memory "
        "what it wants to keep.",
    )
    reflect_tokens: int = setting(
        8_000,
        "Of what was said, so much is looked back on at a time, or half of what the model reads; then again.",
        between=(500, 200_000),
    )
    nights: bool = setting(
        True,
        "Whether it looks over the memory once a night, in [mind] quiet_hours, or from 02:00 to 05:00 where none "
        "are set.",
    )
    night_tokens: int = setting(
        200_000,
        "What a night may take of models, read and written together; 0 is none at all.",
        between=(0, 100_000_000),
    )
    night_usd: float = setting(
        0.25, "What a night may cost, where the model's price is known.", between=(0.0, 10_000.0), unit="USD"
    )


class AnnouncementSettings(Struct, frozen=True):
    """What is said that nobody asked for: in a gap of the talk, to somebody who is there, after the quiet hours."""

    per_day: int = setting(
        8,
        "Ideas of the agent's own that are said in a day; what somebody waits to be told does not count.",
        between=(0, 1000),
    )
    urgent: tuple[str, ...] = setting(
        (),
        "Words or entities of the house by which a watch or a notice of another program is urgent: said at once, "
        'over music and in quiet hours too, e.g. ["smoke", "烟雾", "binary_sensor.front_door"].',
    )
    urgent_wait: float = setting(
        10.0,
        "How long even that waits for the end of somebody's sentence; 0 speaks over it.",
        between=(0.0, 60.0),
        unit="s",
    )
