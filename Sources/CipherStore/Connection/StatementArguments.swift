/// The values of a statement's parameters.
///
/// ```swift
/// try db.execute(sql: "INSERT INTO player (name, score) VALUES (?, ?)", arguments: ["Barbara", 550])
/// try db.execute(sql: "UPDATE player SET score = :score", arguments: ["score": 550])
/// ```
///
/// Arguments may have positional and named values at once: parameters without a
/// name, and those whose name is not given, take the positional values in order.
public struct StatementArguments: Sendable, Hashable {
    /// The positional values.
    public internal(set) var values: [DatabaseValue]

    /// The values by name, without the leading `:`, `@` or `$`.
    public internal(set) var namedValues: [String: DatabaseValue]

    /// Makes empty arguments.
    public init() {
        values = []
        namedValues = [:]
    }

    // MARK: Positional

    /// Makes positional arguments.
    public init(_ sequence: some Sequence<some DatabaseValueConvertible>) {
        values = sequence.map(\.databaseValue)
        namedValues = [:]
    }

    /// Makes positional arguments; nil is NULL.
    public init(_ sequence: some Sequence<(any DatabaseValueConvertible)?>) {
        values = sequence.map { $0?.databaseValue ?? .null }
        namedValues = [:]
    }

    /// Makes positional arguments of values that are already encoded.
    public init(_ values: [DatabaseValue]) {
        self.values = values
        namedValues = [:]
    }

    /// Makes positional arguments of values of any type.
    ///
    /// - returns: nil when one of them can't be stored.
    public init?(_ array: [Any]) {
        values = []
        namedValues = [:]
        for element in array {
            guard let value = DatabaseValue(value: element) else { return nil }
            values.append(value)
        }
    }

    // MARK: Named

    /// Makes named arguments; nil is NULL.
    public init(_ dictionary: [String: (any DatabaseValueConvertible)?]) {
        self.init(dictionary.map { ($0.key, $0.value) })
    }

    /// Makes named arguments; nil is NULL. Of equal names the last one counts.
    public init(_ sequence: some Sequence<(String, (any DatabaseValueConvertible)?)>) {
        values = []
        namedValues = Dictionary(
            sequence.map { ($0, $1?.databaseValue ?? .null) }, uniquingKeysWith: { _, last in last })
    }

    /// Makes named arguments of values of any type.
    ///
    /// - returns: nil when a key is no string or a value can't be stored.
    public init?(_ dictionary: [AnyHashable: Any]) {
        values = []
        namedValues = [:]
        for (key, element) in dictionary {
            guard let name = key as? String, let value = DatabaseValue(value: element) else { return nil }
            namedValues[name] = value
        }
    }

    /// Whether there is no value.
    public var isEmpty: Bool { values.isEmpty && namedValues.isEmpty }

    // MARK: Joining

    /// Appends the values of other arguments.
    ///
    /// - returns: The named values that were replaced.
    @discardableResult
    public mutating func append(contentsOf arguments: StatementArguments) -> [String: DatabaseValue] {
        var replaced: [String: DatabaseValue] = [:]
        values.append(contentsOf: arguments.values)
        for (name, value) in arguments.namedValues {
            if let old = namedValues.updateValue(value, forKey: name) { replaced[name] = old }
        }
        return replaced
    }

    /// Returns the values of both arguments. A name that is in both is a
    /// programming error: see ``&+(_:_:)``.
    public static func + (left: StatementArguments, right: StatementArguments) -> StatementArguments {
        var result = left
        result += right
        return result
    }

    /// Returns the values of both arguments. Of equal names the right one counts.
    public static func &+ (left: StatementArguments, right: StatementArguments) -> StatementArguments {
        var result = left
        result.append(contentsOf: right)
        return result
    }

    /// Appends the values of other arguments. A name that is in both is a
    /// programming error: see ``append(contentsOf:)``.
    public static func += (left: inout StatementArguments, right: StatementArguments) {
        let replaced = left.append(contentsOf: right)
        precondition(
            replaced.isEmpty,
            "already defined statement arguments: \(replaced.keys.sorted().joined(separator: ", "))")
    }
}

extension StatementArguments: ExpressibleByArrayLiteral {
    /// Makes positional arguments.
    public init(arrayLiteral elements: (any DatabaseValueConvertible)?...) {
        var elements = elements
        var values: [DatabaseValue] = []
        values.reserveCapacity(elements.count)
        elements.withUnsafeMutableBufferPointer { elements in
            // Taken out of the array, an element is not copied first.
            for index in elements.indices { values.append(elements[index].take()?.databaseValue ?? .null) }
        }
        self.values = values
        namedValues = [:]
    }
}

extension StatementArguments: ExpressibleByDictionaryLiteral {
    /// Makes named arguments. Of equal names the last one counts.
    public init(dictionaryLiteral elements: (String, (any DatabaseValueConvertible)?)...) {
        self.init(elements)
    }
}

extension StatementArguments: CustomStringConvertible {
    /// The values, as `[1, "Bobby"]`. Do not log it.
    public var description: String {
        let positional = values.map(\.description)
        let named = namedValues.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
        return "[" + (named + positional).joined(separator: ", ") + "]"
    }
}

/// Returns the placeholders of so many parameters: `"?,?,?"`.
///
/// ```swift
/// let sql = "SELECT * FROM player WHERE id IN (\(databaseQuestionMarks(count: ids.count)))"
/// ```
public func databaseQuestionMarks(count: Int) -> String {
    Array(repeating: "?", count: count).joined(separator: ",")
}
