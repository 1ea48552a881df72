/// The functions that were added to a connection, by name and number of arguments.
final class RegisteredFunctions {
    /// A function of any number of arguments, as it was added.
    struct Variadic {
        let function: DatabaseFunction
        let watch: ConnectionWatch?
    }

    private struct Entry {
        var argumentCounts: Set<CInt> = []
        var removedCounts: Set<CInt> = []
        var variadic: Variadic?
    }

    private var entries: [String: Entry] = [:]

    /// What the app has added, and a copy of its database needs.
    var definitions = SchemaDefinitions()

    func add(_ function: DatabaseFunction, _ watch: ConnectionWatch?) {
        let count = function.argumentCount
        var entry = entries[function.name.foldedIdentifier] ?? Entry()
        entry.argumentCounts.insert(count)
        entry.removedCounts.remove(count)
        if count < 0 { entry.variadic = Variadic(function: function, watch: watch) }
        entries[function.name.foldedIdentifier] = entry
    }

    func remove(_ function: DatabaseFunction) {
        let count = function.argumentCount
        var entry = entries[function.name.foldedIdentifier] ?? Entry()
        entry.argumentCounts.remove(count)
        if count < 0 { entry.variadic = nil } else { entry.removedCounts.insert(count) }
        entries[function.name.foldedIdentifier] = entry
    }

    /// Forgets the functions, which may capture what is to be released.
    func removeAll() {
        entries.removeAll()
        definitions = SchemaDefinitions()
    }

    /// Returns whether a function of a name was added.
    ///
    /// - parameter foldedName: The name in lower case.
    func contains(foldedName: String) -> Bool { entries[foldedName]?.argumentCounts.isEmpty == false }

    /// The numbers of arguments that SQLite has to be told of a function: its own and, where it takes any number, those
    /// of removed functions of its name. To SQLite, these still go before one of any number, and are none.
    func argumentCounts(of function: DatabaseFunction) -> [CInt] {
        guard function.argumentCount < 0 else { return [function.argumentCount] }
        return [function.argumentCount] + (entries[function.name.foldedIdentifier]?.removedCounts ?? [])
    }

    /// The function of any number of arguments that has the name of a function, if there is one.
    func variadic(named name: String) -> Variadic? { entries[name.foldedIdentifier]?.variadic }
}
