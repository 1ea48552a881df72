/// Makes the default name of a table from the name of a type, as English does for most words.
///
/// `RemindersList` becomes `remindersLists`, `Category` becomes `categories`, `URLEntry` becomes `urlEntries`. What it
/// makes is part of an app's schema: a word that it spells today must stay as it is. An app that wants another
/// name says so: `@Table("people")`.
enum Pluraliser {
    /// The default table name of the type called `typeName`.
    static func tableName(forType typeName: String) -> String {
        plural(of: lowerCamel(typeName))
    }

    /// `word` with its last letters in the plural.
    static func plural(of word: String) -> String {
        guard let last = word.last else { return word }
        let lowered = word.lowercased()
        // A number or a sign at the end: nothing to inflect.
        guard last.isLetter else { return word + "s" }
        if endings(lowered, "s", "x", "z") {
            return word + "es"
        }
        if endings(lowered, "ch", "sh") {
            return word + "es"
        }
        if last == "y", let before = lowered.dropLast().last, !"aeiou".contains(before) {
            return word.dropLast() + "ies"
        }
        return word + "s"
    }

    private static func endings(_ word: String, _ candidates: String...) -> Bool {
        candidates.contains(where: word.hasSuffix)
    }

    /// `RemindersList` to `remindersList`; an acronym at the start is lowered as a whole: `URLEntry` to `urlEntry`.
    static func lowerCamel(_ name: String) -> String {
        let letters = Array(name)
        let capitals = letters.prefix(while: \.isUppercase).count
        let follows = capitals < letters.count && letters[capitals].isLetter
        // The last capital of several begins the next word.
        let lowered = capitals > 1 && follows ? capitals - 1 : max(capitals, 1)
        return String(letters.prefix(lowered)).lowercased() + String(letters.dropFirst(lowered))
    }
}
