"""Terms of a text for the index and for a question: stems by its language, told by stop words; pairs of characters."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from unicodedata import combining, normalize

from msgspec import Struct

from memory.chinese import simplified
from memory.state.words import pairs, storable

STOP_WORDS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(words.split())
    for name, words in {
        "english": """
            a about after again all also am an and any are as at be because been before being both but by can could
            did do does doing done down each few for from further get got had has have having he her here hers him his
            how i if in into is it its itself just let like many me more most much my myself no nor not of off on once
            only or other our ours out over own really same shall she should so some such than that the their theirs
            them then there these they thing things this those through to too under until up us very was we well were
            what when where which while who whom whose why will with would yes you your yours yourself ll re ve don
            didn doesn isn wasn aren weren won wouldn couldn shouldn hasn haven hadn im ive id oh ok okay hey hi hello
            thanks thank please said say says tell told ask asked mention mentioned talk talked""",
        "german": """
            aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf aus
            bei bin bis bist da damit dann das dass dazu dein deine deinem deinen deiner dem den denn der des dich die
            dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einig
            einige er es etwas euch euer eure für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich
            ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jetzt kann kein
            keine keinem keinen keiner können könnte machen man manche mein meine meinem meinen meiner mich mir mit
            muss nach nein nicht nichts noch nun nur ob oder ohne schon sehr sein seine seinem seinen seiner sich sie
            sind so solche soll sollte sondern sonst über um und uns unser unsere unter viel vom von vor war waren
            warst was weg weil welche welchem welchen welcher welches wenn wer werde werden wie wieder will wir wird
            wirst wo wollen wollte würde würden zu zum zur zwar zwischen wann warum wem wen bitte danke hallo gesagt
            sagte sagen erzählt""",
        "french": """
            ai aie as au aux avait avec avez avoir avons c ce ceci cela celle celui ces cet cette comme d dans de des
            donc du elle elles en est et eu eux fait il ils j je l la le les leur leurs lui m ma mais me même mes moi
            mon n ne nos notre nous on ont ou où par pas plus pour qu quand que quel quelle quelles quels qui quoi s
            sa sans se ses si son sont sur t ta te tes toi ton tu un une vos votre vous y été était étaient être dit""",
        "spanish": """
            a al algo ante como con cual cuando cuándo de del desde donde dónde durante e el él ella ellas ellos en
            entre era es esa ese eso esta está estas este esto estos fue ha había han hasta hay la las le les lo los
            más me mi mis mucho muy nada ni no nos nosotros o os otra otro para pero por porque qué que quien quién se
            ser si sí sin sobre son soy su sus también te tiene todo tu tú tus un una uno unos usted y ya yo dijo""",
        "italian": """
            a ad agli ai al alla alle allo anche avere aveva c che chi ci come con così cosa da dagli dai dal dalla de
            degli dei del della delle dello di dove e è ed era erano gli ha hai hanno ho i il in io la le lei li lo
            loro lui ma me mi mia mie miei mio ne nei nel nella noi non nostra nostro o per perché più quale quando
            quanto quello questa questo qui se sei si sia siamo siete sono su sua sue sugli sui sul sulla suo te ti
            tra tu tua tuo tutto un una uno voi vostro detto""",
        "dutch": """
            aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een eens en er
            ge geen geweest haar had heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je kan kon
            kunnen maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat ons ook op over reeds te
            tegen toch toen tot u uit uw van veel voor waar wanneer want waren was wat we werd wie wil worden wordt
            zal ze zei zelf zich zij zijn zo zonder zou""",
        "portuguese": """
            a ao aos aquela aquele aquilo as até com como da das de dela dele deles depois do dos e é ela elas ele
            eles em entre era essa esse esta está este eu foi foram há isso isto já lhe lhes mais mas me mesmo meu
            meus minha muito na nas não nem no nos nós nossa nosso num numa o os ou para pela pelo por qual quando que
            quem são se sem ser seu seus só sua suas também te tem têm teu tu tua um uma você vocês disse onde""",
        "swedish": """
            alla allt att av blev bli de dem den denna deras dess det detta dig din dina ditt du där då efter ej eller
            en er ett från för ha hade han hans har henne hennes hon honom hur här i icke ingen inom inte jag ju kan
            kunde man med mellan men mig min mina mitt mot mycket ni nu när någon något några och om oss på samma
            sedan sig sin sina sitt själv skulle som så till under upp ut utan vad var vara varför varit vem vi vid
            vilken är över""",
        "russian": """
            а без бы был была были было быть в вам вас весь во вот все всё вы где да для до его ее её если есть ещё же
            за здесь и из или им их к как ко когда кто ли мне мы на надо наш не него нет ни но ну о об он она они от
            очень по под при с со так также там те тебя тем то того только том ты у уже чего чем что чтобы эта эти это
            этот я мой моя""",
    }.items()
}
"""By the names of Snowball's stemmers: words that so many sentences have that they tell nothing."""

CHINESE_STOPS: Final = re.compile(
    "为什么|什么时候|的时候|有没有|是不是|能不能|什么|怎么样|怎么|怎样|多少|多久|多长|多大|多远|哪里|哪儿|哪个|哪些|哪天|哪年|"
    "哪|谁|几|现在|以前|之前|后来|最后|告诉|说过|知道|记得|关于|我们|你们|他们|她们|咱们|大家|自己|这个|那个|这些|那些|一下|"
    "已经|还是|可以|应该|因为|所以|但是|如果|[的了吗呢吧啊呀是在有和跟与就都也还很我你他她它这那把被给到说要会不没个]"
)
"""What a question has in any case; where it stands, the words of a spaceless question are parted."""

DEFAULT_LANGUAGE: Final = "english"
"""Of a text too short to tell."""

MOST_TERMS: Final = 24
"""Terms of one question; what a person or a model asks for has fewer."""

CHARACTER: Final = 0.5
"""Weight of a single character of a spaceless script beside its pair with the next one."""

_SPACELESS: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3"
"""Kana, Han and Hangul: no spaces between the words, or endings glued to them."""

_TOKEN: Final = re.compile(rf"[{_SPACELESS}]+|[^\W_{_SPACELESS}]+(?:['’][^\W_{_SPACELESS}]+)?")

_ENDING: Final = re.compile("['’](s|ll|re|ve|d|m|t)$")


def language_of(text_words: frozenset[str], default: str = "") -> str:
    """Return the language whose stop words a text has most of, the default where it has none, or of two as many."""
    counts = sorted(((len(text_words & stops), name) for name, stops in STOP_WORDS.items()), reverse=True)
    (most, name), (second, _) = counts[0], counts[1]
    return name if most > second else default


class Term(Struct, frozen=True):
    """Something to be found in the index by any of its forms."""

    text: str
    """As it was asked for, in lower case."""
    forms: tuple[str, ...]
    weight: float = 1.0
    """How much it counts beside others that are as rare; what is no whole word has less."""


def tokens(text: str) -> list[str]:
    """Return the words of a text in lower case, runs of a spaceless script whole and in simplified characters."""
    return [_ENDING.sub("", each) for each in _TOKEN.findall(simplified(storable(text)).lower())]


def index_terms(text: str) -> list[str]:
    """Return what a text is found by, in its order, stop words left out unless it has nothing else."""
    words = tokens(text)
    language = language_of(frozenset(words), DEFAULT_LANGUAGE)
    kept = [word for word in words if word not in STOP_WORDS[language]] or words
    return [term for word in kept for term in _of_word(word, language)]


def question_terms(text: str) -> list[Term]:
    """Return the terms of a question, each once."""
    words = tokens(text)
    language = language_of(frozenset(words), DEFAULT_LANGUAGE)
    telling = [part for word in words for part in _parted(word)]
    kept = [word for word in telling if word not in STOP_WORDS[language]] or words
    found: dict[tuple[str, ...], Term] = {}
    for word in kept:
        if _is_spaceless(word):
            for piece in (*pairs(word), *word):
                found.setdefault((piece,), Term(piece, (piece,), CHARACTER if len(piece) < min(2, len(word)) else 1.0))
        else:
            forms = tuple(dict.fromkeys(_stem(word, each) for each in (language, DEFAULT_LANGUAGE)))
            found.setdefault(forms, Term(word, forms))
    return list(found.values())[:MOST_TERMS]


def is_common(text: str) -> bool:
    """Whether no word of a text tells anything by itself."""
    words = tokens(text)
    language = language_of(frozenset(words), DEFAULT_LANGUAGE)
    return all(part in STOP_WORDS[language] for word in words for part in _parted(word))


def _parted(word: str) -> list[str]:
    """Return what is left of a word of a question without what tells nothing; of a language with spaces, itself."""
    return CHINESE_STOPS.sub(" ", word).split() if _is_spaceless(word) else [word]


def _of_word(word: str, language: str) -> list[str]:
    if not _is_spaceless(word):
        return [_stem(word, language)]
    return [*word, *pairs(word)] if len(word) > 1 else [word]


def _is_spaceless(word: str) -> bool:
    return re.match(f"[{_SPACELESS}]", word) is not None


@lru_cache(maxsize=20_000)
def _stem(word: str, language: str) -> str:
    """Return the stem of a word without its accents, "Straße" and "strasse" the same."""
    import snowballstemmer

    stem: str = snowballstemmer.stemmer(language).stemWord(word)  # works on it in itself: no two threads share one
    return "".join(each for each in normalize("NFKD", stem.replace("ß", "ss")) if not combining(each)) or word
