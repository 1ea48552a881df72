/// The functions that were added to a connection, by name and number of arguments.
final class RegisteredFunctions {
    private var argumentCounts: [String: Set<CInt>] = [:]

    func add(_ name: String, argumentCount: CInt) {
        argumentCounts[name.foldedIdentifier, default: []].insert(argumentCount)
    }

    func remove(_ name: String, argumentCount: CInt) {
        let name = name.foldedIdentifier
        argumentCounts[name]?.remove(argumentCount)
        if argumentCounts[name]?.isEmpty == true { argumentCounts[name] = nil }
    }

    /// Returns whether a function of a name was added.
    ///
    /// - parameter foldedName: The name in lower case.
    func contains(foldedName: String) -> Bool { argumentCounts[foldedName] != nil }
}
