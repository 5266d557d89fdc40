"""What the training voices say: reflex words, words near them, and words that are nothing to nakari."""

from typing import Final

REFLEX_WORDS: Final = (
    *("stop", "wait", "mute", "pause", "louder", "quieter", "repeat", "quiet", "be quiet", "enough", "continue"),
    *("resume", "hold on", "go on", "shut up", "stop it", "softer", "volume up", "volume down", "speak up"),
    *("stop talking", "turn it down", "turn it up", "repeat that", "say again", "say that again", "mute yourself"),
)
"""Each a class of its own; `audio.reflexes.words` says what reflex it is."""

NEAR_WORDS: Final = (
    *("stock", "step", "shop", "top", "start", "stuff", "stopped", "spot", "store", "star", "drop", "chop", "pop"),
    *("stay", "still", "stamp", "state", "story", "stove", "stomach", "scott", "stab", "sob", "swap", "soup", "setup"),
    *("what", "way", "wake", "late", "great", "eight", "wade", "wet", "win", "water", "rate", "white", "want", "well"),
    *("wheat", "wave", "waste", "wow", "one", "twenty", "gate", "eighty", "web", "away", "while", "women"),
    *("mutter", "cute", "moot", "music", "move", "news", "new", "you", "minute", "mood", "boot", "suit", "milk", "mug"),
    *("room", "route", "use", "youth", "few", "fuel", "menu", "moon", "noon", "match", "meat", "paws", "laughter"),
)
"""Words that share sounds with stop, wait or mute; each a class of its own."""

OTHER_WORDS: Final = (
    *("yes", "no", "on", "off", "up", "down", "left", "right", "go", "zero", "two", "three", "four", "five", "six"),
    *("seven", "nine", "ten", "backward", "bed", "bird", "cat", "dog", "follow", "forward", "happy", "house", "learn"),
    *("marvin", "sheila", "tree", "visual", "okay", "thanks", "thank you", "hello", "hi", "please", "sure", "really"),
    *("cool", "nice", "lights", "kitchen", "timer", "tomorrow", "today", "coffee", "time", "weather", "next", "back"),
    *("play", "cancel", "sorry", "oh", "ah", "hmm", "uh huh", "good morning", "never mind", "what time is it"),
    *("computer", "alexa", "jarvis", "snowboy", "smart mirror", "view glass", "athena", "amelia", "i want", "hey"),
    *("turn it off", "lights on", "living room", "set a timer", "how are you", "the end", "and then", "i know"),
    *("maybe", "nothing", "help", "open", "close", "bedroom", "garden", "bread", "sugar", "water please", "good"),
    *("second", "seconds", "hundred", "seventy", "sixty", "thirty", "fifteen", "eleven", "twelve", "million", "press"),
    *("november", "monday", "sunday", "january", "dollar", "bravo", "delta", "number", "message", "record", "from"),
    *("a", "b", "c", "p", "v", "z", "received", "folder", "extension", "goodbye", "hello world", "correct", "paused"),
    *("yeah", "nope", "so", "and", "but", "exactly", "of course", "alright", "why", "who", "where", "when", "bathroom"),
)
"""Each a class of its own."""

LONGER: Final = (
    *("stop by the shop", "stop sign", "bus stop", "stopwatch", "stop the timer", "nonstop flight", "the stop", "top"),
    *("wait for the bus", "can't wait", "waiting list", "wait and see", "heavy weight", "no wait time", "waiter"),
    *("muted colours", "mute the television", "commute", "computer science", "muting", "stopping", "i stopped"),
    *("one stop shop", "don't stop the music", "step by step", "pit stop", "doorstop", "stop motion", "full stop then"),
    *("what a day", "wait until tomorrow", "i'll wait here", "he waited", "weights", "straight ahead", "stop at eight"),
    *("go to bed", "see you soon", "let me see", "on the table", "at the station", "in a minute", "put it there"),
)
"""Words in which a reflex word is a part, and pieces of sentences: all one class, which is none."""
