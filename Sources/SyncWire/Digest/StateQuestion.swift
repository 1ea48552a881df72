/// What a replica knows, and the digests of what it holds by that.
public struct ReplicaState: Equatable, Sendable {
    /// What it knows.
    public let vector: VersionVector
    /// The tables of which it knows more.
    public let parts: [ReplicaFacts.Part]
    /// What it holds.
    public let digest: StateDigest

    /// Makes a state.
    public init(vector: VersionVector, parts: [ReplicaFacts.Part] = [], digest: StateDigest) {
        self.vector = vector
        self.parts = parts
        self.digest = digest
    }
}

/// The key of a row, as the table holds it.
public struct StateRowKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// 16 bytes, or 36 characters.
    public let bytes: [UInt8]
    /// Whether it is text.
    public let isText: Bool

    /// Makes a key.
    public init(bytes: [UInt8], isText: Bool) {
        self.bytes = bytes
        self.isText = isText
    }

    /// The key as UUID text.
    public var description: String {
        if isText { return String(decoding: bytes, as: UTF8.self) }
        let digits = bytes.flatMap { byte -> [Character] in
            let hexadecimal = String(byte, radix: 16)
            return Array(hexadecimal.count == 1 ? "0" + hexadecimal : hexadecimal)
        }
        guard digits.count == 32 else { return String(digits) }
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
        return parts.joined(separator: "-")
    }

    /// Blobs before text, then byte by byte.
    public static func < (left: StateRowKey, right: StateRowKey) -> Bool {
        guard left.isText == right.isText else { return right.isText }
        return left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// A question about the rows of a table, to find those in which two replicas differ.
public struct StateQuestion: Hashable, Sendable {
    /// A column.
    public struct Column: Hashable, Sendable {
        /// What either side calls it.
        public var names: [String]
        /// Whether its values are compared, or only who wrote them.
        public var includesValues: Bool

        /// Makes a column.
        public init(names: [String], includesValues: Bool) {
            self.names = names
            self.includesValues = includesValues
        }
    }

    /// What either side calls the table.
    public var table: [String]
    /// Its columns: their order says which is which in the hashes.
    public var columns: [Column]
    /// The buckets whose rows are asked for; none for the sums of all buckets.
    public var buckets: Set<UInt8>

    /// Makes a question.
    public init(table: [String], columns: [Column], buckets: Set<UInt8> = []) {
        self.table = table
        self.columns = columns
        self.buckets = buckets
    }
}

/// The answer to a ``StateQuestion``.
public struct StateAnswer: Equatable, Sendable {
    /// What the replica knows of the table.
    public var vector: VersionVector
    /// The sums of the buckets, when no bucket was named.
    public var sums: [DigestSum]
    /// The rows of the buckets that were named.
    public var rows: [StateRowKey: DigestSum]

    /// Makes an answer.
    public init(vector: VersionVector, sums: [DigestSum] = [], rows: [StateRowKey: DigestSum] = [:]) {
        self.vector = vector
        self.sums = sums
        self.rows = rows
    }
}

/// Rows of a table.
public struct StateRows: Hashable, Sendable {
    /// What either side calls the table.
    public var table: [String]
    /// The keys of the rows.
    public var keys: [StateRowKey]

    /// Makes a selection.
    public init(table: [String], keys: [StateRowKey]) {
        self.table = table
        self.keys = keys
    }

    /// Whether two selections have the same rows of a table, by what SQLite takes for one name. Swift's strings
    /// would take two tables for one, of which one has an "é" of one code point and the other one of two.
    ///
    /// - parameters:
    ///     - left: A selection.
    ///     - right: Another one.
    /// - returns: Whether names and keys are the same.
    public static func == (left: StateRows, right: StateRows) -> Bool {
        left.keys == right.keys && left.table.map(\.nameKey) == right.table.map(\.nameKey)
    }

    /// Feeds what `==` compares.
    ///
    /// - parameter hasher: The hasher that takes it.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(table.map(\.nameKey))
        hasher.combine(keys)
    }
}
