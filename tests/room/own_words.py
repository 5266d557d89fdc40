"""What it says in the room: sentences of a household, the words in them that could be taken for orders included."""

from typing import Final

import numpy as np

SENTENCES: Final = (
    "The bus to the station leaves at ten past eight, and it does not stop at the market on Sundays.",
    "Your sister called while you were out; she would like to come over for dinner on Friday.",
    "There is a light rain until noon, and then it should clear up with a little wind from the west.",
    "For the bread you need a pound of flour, a little yeast, salt, and about three cups of warm water.",
    "Wait until the dough has doubled in size before you put it into the oven.",
    "The washing machine was done twenty minutes ago, and the clothes are still in it.",
    "You asked me to remind you of the letter to the insurance; it is on the shelf in the hallway.",
    "The moon is about two hundred and forty thousand miles away, which light crosses in little more than a second.",
    "I wrote down that the spare key is under the third pot, behind the house.",
    "Turn left at the church, go on for half a mile, and you will see the garden on your right.",
    "The tomatoes on the balcony should be watered in the evening, when the sun is no longer on them.",
    "Nobody rang the bell this afternoon, but a parcel was left with the people upstairs.",
    "Hamlet was written around the year sixteen hundred, and it is the longest of his plays.",
    "It is quieter in the back room, so I would put the desk there and the sofa by the window.",
    "There are four eggs left, some butter, and a jar of the plum jam that your mother made.",
    "If you stop the car in front of the school you will get a ticket, so better park behind it.",
    "The heating in the bedroom is set to eighteen degrees, and it is nineteen in there now.",
    "The dentist could see you on Tuesday at nine or on Thursday at a quarter past four.",
    "Seven times eight is fifty six, and if you add the four from before you get sixty.",
    "The film begins at half past eight, so we would have time for a short walk.",
    "Your phone was last seen in the kitchen this morning, next to the coffee machine.",
    "The train was louder than I thought, because they are fixing the bridge behind the wood.",
    "Good morning in French is bonjour, and good night is bonne nuit.",
    "That is all I know about it; if you want I can look it up again tomorrow.",
)


def speech(sentences: int, seed: int = 0) -> str:
    """Return so many of the sentences in an order of the seed's; each comes once before one comes again."""
    random, chosen = np.random.default_rng(seed), list[str]()
    while len(chosen) < sentences:
        chosen += [SENTENCES[number] for number in random.permutation(len(SENTENCES))]
    return " ".join(chosen[:sentences])
