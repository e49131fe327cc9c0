"""Words that the analysers know: colours, materials, sides, directions, parts of a body, verbs of thought."""

from functools import lru_cache

from brasstag.tools.manuscript.language.word_lists import word_list, word_set

_COLOURS = {
    "grey": "grey gray silver-grey steel-grey slate-grey ash-grey greying", "white": "white snow-white snowy",
    "black": "black jet-black coal-black raven", "brown": "brown hazel chestnut tan umber dark-brown",
    "blond": "blond blonde flaxen straw-coloured fair-haired fair golden",
    "red": "red ginger auburn scarlet crimson rust-red",
    "blue": "blue azure navy dark-blue pale-blue", "green": "green emerald bottle-green dark-green",
    "yellow": "yellow amber", "orange": "orange", "purple": "purple violet mauve", "pink": "pink",
}  # fmt: skip
COLOURS = {word: family for family, words in _COLOURS.items() for word in words.split()}
"""Each word for a colour, with the colour that it is a shade of."""

LENGTHS = {"short": "short", "cropped": "short", "long": "long"}

AKIN = frozenset({frozenset({"grey", "white"}), frozenset({"blond", "yellow"}), frozenset({"red", "orange"})})
"""Pairs of colours that two observers may see in the same thing."""

MATERIALS = {
    word: word
    for word in word_list(
        "brass iron steel silver gold copper tin bronze pewter oak pine birch mahogany leather wool linen"
        " cotton silk glass stone marble brick granite bone ivory canvas oilcloth oilskin velvet"
    )
} | {"golden": "gold", "wooden": "wood", "woollen": "wool", "oaken": "oak"}
WOODS = frozenset(["oak", "pine", "birch", "mahogany", "wood"])

SIDES = frozenset({"left", "right"})
DIRECTIONS = word_set(
    "north south east west north-west north-east south-west south-east northwest northeast southwest"
    " southeast northern southern eastern western"
)
BODY_PARTS = {
    "hand": "hand hands palm palms wrist finger fingers thumb knuckles", "arm": "arm arms elbow shoulder forearm sleeve",
    "leg": "leg legs knee foot feet ankle hip thigh shin toe heel", "eye": "eye eyes eyebrow brow",
    "ear": "ear ears", "face": "cheek temple jaw chin",
}  # fmt: skip
PART_OF = {word: part for part, words in BODY_PARTS.items() for word in words.split()}

MARKS = {
    "limp": "limp limps limped limping lame", "scar": "scar scars scarred", "blind": "blind blinded patch",
    "deaf": "deaf deafness",
    "injury": "cut cuts bandage bandaged bandages stitch stitches stitched splint splints sling wound wounded burn burned"
    " burnt sprained sprain broke broken injury injured hurt gash gashed bruise bruised plaster",
    "missing": "missing lost lacks lacking",
}  # fmt: skip
MARK_OF = {word: mark for mark, words in MARKS.items() for word in words.split()}
WRITES = word_set(
    "wrote write writes writing signed sign signs signing drew draws pen pencil handwriting"
    " chalk brush needle steered sewed"
)

RELATIONS = {
    word: word
    for word in word_list(
        "father mother brother sister son daughter husband wife uncle aunt cousin nephew niece grandfather"
        " grandmother grandson granddaughter stepfather stepmother fiancé fiancée"
    )
}
MALE_WORDS = word_set(
    "he him his himself man father brother son husband uncle nephew grandfather grandson mr boy widower king"
)
FEMALE_WORDS = word_set(
    "she her hers herself woman mother sister daughter wife aunt niece grandmother granddaughter mrs miss"
    " ms girl widow queen"
)
THOUGHTS = word_set(
    "thought wondered felt remembered realised realized hoped wished feared regretted dreaded recalled"
    " imagined longed suspected doubted"
)
"""Verbs for what only the person knows."""

PEOPLE_NOUNS = word_set("man men woman women boy girl child person people couple")
TIME_NOUNS = word_set(
    "second minute hour day night week month year decade century morning evening afternoon time moment"
    " o'clock winter summer autumn spring season"
)
MEASURES = word_set(
    "mile metre meter kilometre kilometer foot inch fathom knot yard kilo gram pound ton litre gallon"
    " degree crown krone dollar percent page word sentence line step cup"
) - {"step", "page"}

STOP_WORDS = word_set(
    "a an the and or but if then so as at by for from in into of off on onto out over to up with without"
    " under before after since until while when where who whom whose which what why how that this these"
    " those there here it its he him his she her hers they them their theirs i me my mine we us our you"
    " your yours is are was were be been being am do does did done has have had having will would shall"
    " should can could may might must not no nor only just also too very all any each every some more most"
    " other another one two than about again still yet now"
)
OFTEN_CAPITAL = word_set(
    "i mr mrs miss ms dr god lord sir madam captain father mother grandmother grandfather north south"
    " east west english norwegian german service sunday monday tuesday wednesday thursday friday saturday"
)


def singular(noun: str) -> str:
    """Return the singular of a plural, as far as a few rules go."""
    known = {
        "men": "man", "women": "woman", "children": "child", "feet": "foot", "people": "person", "teeth": "tooth",
        "wives": "wife", "knives": "knife", "shelves": "shelf", "leaves": "leaf", "lives": "life", "mice": "mouse",
    }  # fmt: skip
    if noun in known:
        return known[noun]
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if noun.endswith(("ches", "shes", "sses", "xes")):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us")) else noun


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return what forms of a verb or noun have in common, as far as a few rules go."""
    word = singular(_IRREGULAR.get(word, word).removesuffix("'s"))
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            return word[:-1] if word[-1] == word[-2] and word[-1] not in "ls" else word
    return word.removesuffix("e") if len(word) > 4 else word


_IRREGULAR = {
    "left": "leave", "lay": "lie", "swam": "swim", "swum": "swim", "drank": "drink", "drove": "drive",
    "driven": "drive", "spoke": "speak", "spoken": "speak", "wrote": "write", "written": "write", "ate": "eat",
    "eaten": "eat", "sang": "sing", "sung": "sing", "rode": "ride", "ridden": "ride", "built": "build", "lost": "lose",
    "found": "find", "began": "begin", "begun": "begin", "kept": "keep", "stood": "stand", "shown": "show",
    "dying": "die", "died": "die", "dies": "die", "sank": "sink", "sunk": "sink", "came": "come", "went": "go",
    "taught": "teach", "knew": "know", "known": "know", "slept": "sleep", "shot": "shoot", "sailed": "sail",
}  # fmt: skip
SAYS = word_set(
    "said asked answered replied whispered shouted nodded smiled laughed shrugged called told cried"
)
"""Verbs that stand beside speech."""
