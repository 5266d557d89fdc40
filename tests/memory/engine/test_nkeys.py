"""Keys as NATS has them, by a pair that its own tools made."""

import pytest

from memory.engine.nats.nkeys import UserKey, in_credentials

SEED = "SUAG4YLLMFZGSIDUMVZXI4ZAMEQGWZLZEBXWMIDUNBUXE5DZOR3W6IOMZE"
PUBLIC = "UB2RKCA4ZNGJOUBJIE7KTFVBNPVMFP5O3UY2M3FYWWMEZAXVXDZTUFXL"

CREDENTIALS = f"""-----BEGIN NATS USER JWT-----
eyJ0eXAi.eyJqdGki.c2ln
------END NATS USER JWT------

************************* IMPORTANT *************************
-----BEGIN USER NKEY SEED-----
{SEED}
------END USER NKEY SEED------
"""


@pytest.mark.shows("E11")
def test_a_seed_is_read_and_written_as_the_tools_of_nats_do() -> None:
    key = UserKey.of_seed(SEED)
    assert (key.seed, key.public) == (SEED, PUBLIC)
    assert in_credentials(CREDENTIALS) == ("eyJ0eXAi.eyJqdGki.c2ln", key)


@pytest.mark.parametrize("seed", ["", "SU", PUBLIC, SEED[:-1] + "Z", SEED[:-6], "not base32 at all!", "字"])
def test_what_is_no_seed_is_refused(seed: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        UserKey.of_seed(seed)


@pytest.mark.parametrize("text", ["", SEED, CREDENTIALS.replace("JWT", "TOKEN"), CREDENTIALS.replace(SEED, "")])
def test_credentials_without_a_part_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        in_credentials(text)
