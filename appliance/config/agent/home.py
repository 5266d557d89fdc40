"""What the configuration may say of Home Assistant."""

from msgspec import Struct

from appliance.config.meaning import setting


class HomeSettings(Struct, frozen=True):
    """Home Assistant, which knows the house. It is shown the token in HOME_ASSISTANT_TOKEN."""

    url: str = setting(
        "",
        'Where it answers, e.g. "http://homeassistant.local:8123"; "" is none. What is asked of the house goes '
        "there, and without a model every sentence that is not understood here.",
    )
