import Testing

@testable import CipherStoreMacros

@Suite struct PluraliserTests {
    @Test(arguments: [
        ("Reminder", "reminders"), ("RemindersList", "remindersLists"), ("Category", "categories"),
        ("Day", "days"), ("Key", "keys"), ("Bus", "buses"), ("Address", "addresses"), ("Box", "boxes"),
        ("Branch", "branches"), ("Dish", "dishes"), ("URLEntry", "urlEntries"), ("URL", "urls"), ("X", "xes"),
        ("ID3Tag", "id3Tags"), ("Tag2", "tag2s"), ("already", "alreadies"), ("Query", "queries"),
        ("Photo", "photos"), ("Item_", "item_s"),
    ])
    func aTypeNameBecomesATableName(type: String, table: String) {
        #expect(Pluraliser.tableName(forType: type) == table)
    }

    @Test func anEmptyNameStaysEmpty() {
        #expect(Pluraliser.tableName(forType: "") == "")
    }
}

@Suite struct DeclaredNameTests {
    @Test(arguments: ["class", "default", "case", "in", "self", "Self", "Any"])
    func aKeywordHasBackticksWhereItIsDeclared(keyword: String) {
        #expect(DeclaredName(text: keyword).source == "`\(keyword)`")
    }

    @Test(arguments: ["title", "id", "set", "get", "some", "_x", "größe", "title2"])
    func anOrdinaryNameHasNone(name: String) {
        #expect(DeclaredName(text: name).source == name)
        #expect(DeclaredName(text: name).label == name)
    }

    @Test func fewKeywordsNeedBackticksAfterADotOrAsALabel() {
        #expect(DeclaredName(text: "default").member == "default")
        #expect(DeclaredName(text: "self").member == "`self`")
        #expect(DeclaredName(text: "default").label == "default")
        #expect(DeclaredName(text: "inout").label == "`inout`")
    }

    @Test func backticksAreNoPartOfTheText() {
        #expect(DeclaredName(.identifier("`class`")).text == "class")
        #expect(DeclaredName(.identifier("a")).text == "a")
    }
}
