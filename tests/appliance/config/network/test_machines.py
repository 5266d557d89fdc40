"""What the configuration says of several machines: refused where it cannot be meant, silent where nothing is set."""

import pytest

from appliance.config.file import SettingsText
from appliance.config.network.machines import MachineSettings, name_of, role_of
from appliance.errors import ConfigError

pytestmark = pytest.mark.shows("H10")


def parse(text: str) -> MachineSettings:
    return SettingsText("nakari.toml", f"[machines]\n{text}").parse().machines


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            'url = "http://server"',
            "line 2: [machines] url should begin with nats:// or tls:// or redis:// or rediss://",
        ),
        ('url = "nats://me:hunter2@server"', "url should hold no user and no password"),
        ('url = "nats://"', "url names no host"),
        ('url = "nats://server:x"', "url is no address"),
        ('role = "ears"', '[machines] role is "ears", and url is "": name the server where its mind can be met'),
        ('role = "mind"', "name the server where its ears can be met"),
        ('role = "mouth"', '[machines] role should be "all", "ears" or "mind"'),
        ('household = "our home"', "[machines] household should be of up to 32 small letters, digits and -"),
        ('household = "a.b"', "household should be of"),
        ('household = "*"', "household should be of"),
        ('name = "the kitchen"', '[machines] name should be of up to 63 letters, digits and -; it is "the kitchen"'),
        ('ca = "ca.pem"', "[machines] ca should begin with / or ~/"),
        (
            'url = "nats://server"\nca = "/ca.pem"',
            'ca stands beside url = "nats://server", which has no TLS',
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse(text)
    assert sentence in raised.value.sentence
    assert "hunter2" not in raised.value.sentence


def test_a_machine_is_alone_until_a_server_is_named() -> None:
    assert parse("") == MachineSettings(url="", role="all", name="", household="home", ca="", users="")


@pytest.mark.parametrize("scheme", ["nats", "tls", "redis", "rediss"])
def test_the_role_of_the_command_line_goes_first(scheme: str) -> None:
    settings = parse(f'url = "{scheme}://[::1]:4222"\nrole = "ears"')
    assert (role_of(settings, None), role_of(settings, "mind"), role_of(settings, "all")) == ("ears", "mind", "all")


def test_a_part_alone_is_refused_without_a_server() -> None:
    with pytest.raises(ConfigError, match=r'--role is "ears", and \[machines\] url is "": name the server'):
        role_of(MachineSettings(), "ears")


@pytest.mark.parametrize(
    ("host", "name"), [("pi", "pi"), ("pi.local", "pi"), ("my_pi 4", "my-pi-4"), ("", "machine"), ("é", "machine")]
)
def test_the_host_gives_a_machine_its_name(host: str, name: str) -> None:
    assert name_of(host) == name
