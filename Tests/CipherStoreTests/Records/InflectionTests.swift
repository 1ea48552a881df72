import CipherStore
import Foundation
import TestSupport
import Testing

/// The names of tables and associations.
@Suite(.anyEngine) struct InflectionTests {
    @Test(arguments: [
        ("book", "books"), ("country", "countries"), ("day", "days"), ("box", "boxes"), ("person", "people"),
        ("wife", "wives"), ("status", "statuses"), ("movie", "movies"), ("fish", "fish"), ("photo", "photos"),
        ("datum", "data"), ("house", "houses"), ("slice", "slices"), ("price", "prices"), ("woman", "women"),
        ("human", "humans"), ("olive", "olives"), ("database", "databases"), ("category", "categories"),
    ])
    func aWordHasOnePlural(singular: String, plural: String) {
        let inflections = Inflections()
        for (singular, plural) in [
            (singular, plural), (singular.capitalized, plural.capitalized),
            ("my_\(singular)", "my_\(plural)"), ("my\(singular.capitalized)", "my\(plural.capitalized)"),
            ("\(singular)12", "\(plural)12"),
        ] {
            #expect(inflections.pluralize(singular) == plural)
            #expect(inflections.pluralize(plural) == plural)
            #expect(inflections.singularize(plural) == singular)
            #expect(inflections.singularize(singular) == singular)
        }
    }

    @Test(arguments: ["", " ", "_", "12", "é", "猫", "S"])
    func namesThatAreNoWordsKeepWhatTheyHave(name: String) {
        let inflections = Inflections()
        #expect(inflections.singularize(name) == name)
        #expect(inflections.pluralize(name).hasPrefix(name))
    }

    @Test func wordsCanBeAdded() {
        var inflections = Inflections()
        inflections.irregularSuffix("cow", "kine")
        inflections.uncountableWords(["Stuff"])
        #expect(inflections.pluralize("brownCow") == "brownKine")
        #expect(inflections.singularize("kine3") == "cow3")
        #expect(inflections.pluralize("my stuff") == "my stuff")
    }
}
