import Foundation

/// A way to compare strings, for sorting and for `=` and `<`.
///
/// ```swift
/// let byLength = DatabaseCollation("byLength") { left, right in
///     left.count < right.count ? .orderedAscending : left.count > right.count ? .orderedDescending : .orderedSame
/// }
/// configuration.prepareDatabase { db in
///     db.add(collation: byLength)
/// }
/// try String.fetchAll(db, sql: "SELECT name FROM player ORDER BY name COLLATE byLength")
/// ```
///
/// An index keeps the order that a collation gave when rows were written. When
/// a collation changes its mind, as the localized ones may with the user's
/// language or a new system, call ``Database/reindex(collation:)-(DatabaseCollation)``.
public struct DatabaseCollation: Sendable {
    /// The name of the collation in SQL.
    public let name: String

    private let compare: FunctionRegistration.Comparison

    /// Makes a collation.
    ///
    /// - parameters:
    ///     - name: The name in SQL.
    ///     - function: Compares two strings. It must be a total order that depends on them only.
    public init(_ name: String, function: @escaping @Sendable (String, String) -> ComparisonResult) {
        self.init(name) { left, right in
            let left = String(decoding: left, as: UTF8.self)
            return CInt(function(left, String(decoding: right, as: UTF8.self)).rawValue)
        }
    }

    /// Makes a collation that compares bytes of UTF-8.
    private init(_ name: String, comparison: @escaping FunctionRegistration.Comparison) {
        self.name = name
        compare = comparison
    }

    fileprivate func add(to handle: SQLiteConnection, _ watch: ConnectionWatch?) -> ResultCode {
        ResultCode(rawValue: FunctionRegistration.add(collation: compare, name: name, to: handle, watch))
    }
}

extension DatabaseCollation: Hashable {
    /// Returns whether two collations replace each other on a connection.
    public static func == (left: DatabaseCollation, right: DatabaseCollation) -> Bool {
        left.name.isSameIdentifier(as: right.name)
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name.foldedIdentifier) }
}

// These names are part of the file format: the schemas of existing databases hold them.

extension DatabaseCollation {
    /// Compares as the operators of `String` do: by Unicode, without a locale.
    public static let unicodeCompare = DatabaseCollation("swiftCompare") { left, right -> CInt in
        if isASCII(left) && isASCII(right) {
            // The bytes are the characters, and there is nothing to normalize.
            guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else {
                return CInt((left.count - right.count).signum())
            }
            let order = memcmp(leftStart, rightStart, min(left.count, right.count))
            return order != 0 ? order : CInt((left.count - right.count).signum())
        }
        let left = String(decoding: left, as: UTF8.self)
        let right = String(decoding: right, as: UTF8.self)
        return left == right ? 0 : left < right ? -1 : 1
    }

    private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var bits: UInt8 = 0
        for byte in bytes { bits |= byte }
        return bits < 0x80
    }

    /// Compares without case, see `caseInsensitiveCompare` of `String`.
    public static let caseInsensitiveCompare = DatabaseCollation("swiftCaseInsensitiveCompare") {
        $0.caseInsensitiveCompare($1)
    }

    /// Compares without case, as the user's language has it.
    public static let localizedCaseInsensitiveCompare = DatabaseCollation(
        "swiftLocalizedCaseInsensitiveCompare"
    ) {
        $0.localizedCaseInsensitiveCompare($1)
    }

    /// Compares as the user's language has it.
    public static let localizedCompare = DatabaseCollation("swiftLocalizedCompare") {
        $0.localizedCompare($1)
    }

    /// Compares as file managers sort names, with numbers in their order.
    public static let localizedStandardCompare = DatabaseCollation("swiftLocalizedStandardCompare") {
        $0.localizedStandardCompare($1)
    }
}

extension DatabaseCollation {
    /// The collations that every connection has.
    static let builtIns: [DatabaseCollation] = [
        .unicodeCompare, .caseInsensitiveCompare, .localizedCaseInsensitiveCompare, .localizedCompare,
        .localizedStandardCompare,
    ]
}

extension Database {
    /// Adds a collation to the connection, in the place of one of the same name.
    ///
    /// Call it in ``Configuration/prepareDatabase(_:)``, so that all the
    /// connections of a pool have the collation. It is a programming error to
    /// replace a collation that a running statement uses.
    public func add(collation: DatabaseCollation) {
        add(collation: collation, watch)
        functions.definitions.note(collation)
    }

    /// Adds a collation.
    ///
    /// - parameter watch: What is told about its calls, or nil when it does not
    ///   use the connection.
    func add(collation: DatabaseCollation, _ watch: ConnectionWatch?) {
        guard !isClosed else { return }
        let code = collation.add(to: handle, watch)
        precondition(code == .SQLITE_OK, "could not add the collation \(collation.name): \(code)")
    }

    /// Removes a collation from the connection.
    public func remove(collation: DatabaseCollation) {
        guard !isClosed else { return }
        let code = ResultCode(rawValue: FunctionRegistration.remove(collation: collation.name, from: handle))
        functions.definitions.forget(collation)
        precondition(code == .SQLITE_OK, "could not remove the collation \(collation.name): \(code)")
    }

    /// Rebuilds the indexes that use a collation.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/lang_reindex.html>
    ///
    /// - throws: A ``DatabaseError``, also when there is no such collation.
    public func reindex(collation: DatabaseCollation) throws {
        let isBuiltIn = DatabaseCollation.builtIns.contains(collation)
        // The name of another one may be a keyword.
        let name = isBuiltIn ? collation.name : collation.name.quotedDatabaseIdentifier
        try execute(sql: "REINDEX \(name)")
    }

    /// Rebuilds the indexes that use a collation, see ``reindex(collation:)-(DatabaseCollation)``.
    ///
    /// - throws: A ``DatabaseError``, also when there is no such collation.
    public func reindex(collation: CollationName) throws {
        try execute(sql: "REINDEX \(collation.rawValue)")
    }
}
