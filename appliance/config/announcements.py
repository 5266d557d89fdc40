"""What the configuration may say of what is said unasked."""

from dataclasses import dataclass

from appliance.config.meaning import setting


@dataclass(frozen=True, slots=True)
class AnnouncementSettings:
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
