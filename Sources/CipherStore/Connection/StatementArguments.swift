/// The values of a statement's parameters.
///
/// ```swift
/// try db.execute(sql: "INSERT INTO player (name, score) VALUES (?, ?)", arguments: ["Barbara", 550])
/// try db.execute(sql: "UPDATE player SET score = :score", arguments: ["score": 550])
/// ```
public struct StatementArguments: Sendable, Equatable {
    /// The positional values.
    public internal(set) var values: [DatabaseValue]

    /// The values by name, without the leading `:`, `@` or `$`.
    public internal(set) var namedValues: [String: DatabaseValue]

    /// Makes empty arguments.
    public init() {
        values = []
        namedValues = [:]
    }

    /// Makes positional arguments.
    public init<S: Sequence>(_ sequence: S) where S.Element: DatabaseValueConvertible {
        values = sequence.map(\.databaseValue)
        namedValues = [:]
    }

    /// Makes positional arguments; nil is NULL.
    public init<S: Sequence>(_ sequence: S) where S.Element == (any DatabaseValueConvertible)? {
        values = sequence.map { $0?.databaseValue ?? .null }
        namedValues = [:]
    }

    /// Makes positional arguments of values that are already encoded.
    public init(_ values: [DatabaseValue]) {
        self.values = values
        namedValues = [:]
    }

    /// Makes named arguments; nil is NULL.
    public init(_ dictionary: [String: (any DatabaseValueConvertible)?]) {
        values = []
        namedValues = dictionary.mapValues { $0?.databaseValue ?? .null }
    }

    /// Whether there is no value.
    public var isEmpty: Bool { values.isEmpty && namedValues.isEmpty }
}

extension StatementArguments: ExpressibleByArrayLiteral {
    /// Makes positional arguments.
    public init(arrayLiteral elements: (any DatabaseValueConvertible)?...) {
        // Taken out of the array, an element is not copied first.
        var elements = elements
        values = elements.withUnsafeMutableBufferPointer { elements in
            [DatabaseValue](unsafeUninitializedCapacity: elements.count) { values, count in
                for index in elements.indices {
                    values.initializeElement(at: index, to: elements[index].take()?.databaseValue ?? .null)
                }
                count = elements.count
            }
        }
        namedValues = [:]
    }
}

extension StatementArguments: ExpressibleByDictionaryLiteral {
    /// Makes named arguments.
    public init(dictionaryLiteral elements: (String, (any DatabaseValueConvertible)?)...) {
        self.init(Dictionary(elements, uniquingKeysWith: { _, last in last }))
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
