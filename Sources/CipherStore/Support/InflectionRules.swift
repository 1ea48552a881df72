extension Inflections {
    /// Words that have no other number.
    static let englishUncountables: Set<String> = [
        "advice", "aircraft", "bison", "chassis", "corps", "deer", "dice", "equipment", "feedback", "fish",
        "furniture", "hardware", "headquarters", "homework", "information", "jeans", "knowledge", "kudos",
        "luggage", "means", "metadata", "money", "moose", "music", "news", "offspring", "police", "rice",
        "salmon",
        "scissors", "sheep", "shrimp", "software", "swine", "trousers", "trout", "weather",
    ]

    /// Pairs that only stand for a whole word, before those that are endings.
    static let englishWords: [Pair] = [
        // Words that look like the other number of another word.
        Pair("taxi", "taxis"), Pair("olive", "olives"), Pair("twelve", "twelves"),
        Pair("specimen", "specimens"),
        Pair("regimen", "regimens"), Pair("abdomen", "abdomens"), Pair("omen", "omens"),
        Pair("human", "humans"),
        Pair("german", "germans"), Pair("roman", "romans"), Pair("ottoman", "ottomans"),
        Pair("shaman", "shamans"),
        Pair("talisman", "talismans"), Pair("mongoose", "mongooses"), Pair("iris", "irises"),
        Pair("gas", "gases"),
        Pair("lens", "lenses"), Pair("menu", "menus"), Pair("guru", "gurus"), Pair("bureau", "bureaus"),
        Pair("plateau", "plateaus"), Pair("emu", "emus"), Pair("flu", "flus"), Pair("yes", "yeses"),
        // Vowels that change.
        Pair("ox", "oxen"), Pair("mouse", "mice"), Pair("dormouse", "dormice"), Pair("louse", "lice"),
        Pair("foot", "feet"), Pair("tooth", "teeth"), Pair("goose", "geese"), Pair("quiz", "quizzes"),
        // Greek and Latin.
        Pair("axis", "axes"), Pair("basis", "bases"), Pair("testis", "testes"), Pair("oasis", "oases"),
        Pair("emphasis", "emphases"), Pair("synopsis", "synopses"), Pair("ellipsis", "ellipses"),
        Pair("datum", "data"), Pair("medium", "media"), Pair("stadium", "stadia"),
        Pair("bacterium", "bacteria"),
        Pair("stratum", "strata"), Pair("erratum", "errata"), Pair("addendum", "addenda"),
        Pair("curriculum", "curricula"), Pair("criterion", "criteria"), Pair("phenomenon", "phenomena"),
        Pair("octopus", "octopi"), Pair("virus", "viri"), Pair("cactus", "cacti"), Pair("fungus", "fungi"),
        Pair("nucleus", "nuclei"), Pair("radius", "radii"), Pair("stimulus", "stimuli"),
        Pair("alumnus", "alumni"),
        Pair("genus", "genera"), Pair("appendix", "appendices"), Pair("codex", "codices"),
        // -ie and -y.
        Pair("pie", "pies"), Pair("tie", "ties"), Pair("lie", "lies"),
    ]

    /// Pairs of endings: the first one that fits counts.
    static let englishEndings: [Pair] = [
        Pair("series", "series"), Pair("species", "species"),
        Pair("person", "people"), Pair("child", "children"), Pair("man", "men"),
        Pair("lysis", "lyses"), Pair("gnosis", "gnoses"), Pair("crisis", "crises"), Pair("thesis", "theses"),
        Pair("index", "indices"), Pair("vertex", "vertices"), Pair("matrix", "matrices"),
        Pair("wife", "wives"), Pair("life", "lives"), Pair("knife", "knives"), Pair("half", "halves"),
        Pair("calf", "calves"), Pair("elf", "elves"), Pair("wolf", "wolves"), Pair("leaf", "leaves"),
        Pair("loaf", "loaves"), Pair("thief", "thieves"), Pair("dwarf", "dwarves"), Pair("scarf", "scarves"),
        Pair("wharf", "wharves"), Pair("safe", "saves"),
        Pair("buffalo", "buffaloes"), Pair("tomato", "tomatoes"), Pair("potato", "potatoes"),
        Pair("hero", "heroes"), Pair("echo", "echoes"), Pair("torpedo", "torpedoes"), Pair("veto", "vetoes"),
        Pair("volcano", "volcanoes"), Pair("mosquito", "mosquitoes"),
        Pair("alias", "aliases"), Pair("bias", "biases"), Pair("canvas", "canvases"),
        Pair("atlas", "atlases"),
        Pair("bus", "buses"), Pair("status", "statuses"), Pair("focus", "focuses"), Pair("bonus", "bonuses"),
        Pair("campus", "campuses"), Pair("census", "censuses"), Pair("consensus", "consensuses"),
        Pair("corpus", "corpuses"), Pair("circus", "circuses"), Pair("genius", "geniuses"),
        Pair("plus", "pluses"),
        Pair("chorus", "choruses"), Pair("nexus", "nexuses"), Pair("apparatus", "apparatuses"),
        Pair("prospectus", "prospectuses"), Pair("syllabus", "syllabuses"), Pair("surplus", "surpluses"),
        Pair("movie", "movies"), Pair("zombie", "zombies"), Pair("cookie", "cookies"),
        Pair("selfie", "selfies"),
        Pair("calorie", "calories"), Pair("brownie", "brownies"), Pair("rookie", "rookies"),
        Pair("hoodie", "hoodies"), Pair("smoothie", "smoothies"), Pair("genie", "genies"),
        Pair("prairie", "prairies"), Pair("birdie", "birdies"), Pair("veggie", "veggies"),
        Pair("cache", "caches"), Pair("niche", "niches"), Pair("ache", "aches"),
        Pair("avalanche", "avalanches"),
        Pair("moustache", "moustaches"),
        Pair("waltz", "waltzes"), Pair("buzz", "buzzes"), Pair("fizz", "fizzes"),
    ]

    /// The plural of a word in lower case that no list has, as the length of the
    /// ending that goes, and what follows.
    static func regularPlural(_ word: String) -> (dropped: Int, added: String) {
        if word.hasSuffix("ss") || isSingularInUS(word) { return (0, "es") }
        if word.hasSuffix("s") { return (0, "") }
        if word.hasSuffix("y"), let before = word.dropLast().last, !"aeiou".contains(before) {
            return (1, "ies")
        }
        if ["x", "z", "ch", "sh"].contains(where: word.hasSuffix) { return (0, "es") }
        return (0, "s")
    }

    /// The singular of a word in lower case that no list has.
    static func regularSingular(_ word: String) -> (dropped: Int, added: String) {
        if !word.hasSuffix("s") || word.hasSuffix("ss") || isSingularInUS(word) || word == "s" {
            return (0, "")
        }
        if word.hasSuffix("ies"), word.count > 4 { return (3, "y") }
        if ["sses", "xes", "ches", "shes"].contains(where: word.hasSuffix) { return (2, "") }
        return (1, "")
    }

    /// Whether a word such as `virus`, but not `fus`, is one thing.
    private static func isSingularInUS(_ word: String) -> Bool {
        word.hasSuffix("us") && word.count > 3
    }
}
