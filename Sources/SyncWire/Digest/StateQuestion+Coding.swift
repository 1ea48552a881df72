/// The coding of what replicas ask each other to find the rows in which they differ. Each message is
/// the payload of a frame, or the body of a request.

extension ReplicaState {
    /// The state as bytes.
    public func encode() -> [UInt8] {
        var writer = WireWriter()
        vector.encode(to: &writer)
        digest.encode(to: &writer)
        ReplicaFacts.encode(parts, to: &writer)
        return Array(writer.bytes)
    }

    /// Reads a state.
    ///
    /// - throws: ``WireError``.
    public init(bytes: UnsafeRawBufferPointer, limits: WireLimits = WireLimits()) throws(WireError) {
        var reader = WireReader(bytes)
        vector = try VersionVector(from: &reader, limits: limits)
        digest = try StateDigest(from: &reader, limits: limits)
        parts = try ReplicaFacts.readParts(&reader, limits)
        try reader.requireEnd()
    }
}

extension StateQuestion {
    /// The question as bytes.
    public func encode() -> [UInt8] {
        var writer = WireWriter()
        writer.names(table)
        writer.unsigned(UInt64(columns.count))
        for column in columns {
            writer.names(column.names)
            writer.byte(column.includesValues ? 1 : 0)
        }
        writer.unsigned(UInt64(buckets.count))
        for bucket in buckets.sorted() { writer.byte(bucket) }
        return Array(writer.bytes)
    }

    /// Reads a question.
    ///
    /// - throws: ``WireError``.
    public init(bytes: UnsafeRawBufferPointer, limits: WireLimits = WireLimits()) throws(WireError) {
        var reader = WireReader(bytes)
        var nameTotal = 0
        table = try reader.names(limits, total: &nameTotal)
        columns = []
        buckets = []
        for _ in 0..<(try reader.count(upTo: limits.columnCountMax, "columns of a question")) {
            let names = try reader.names(limits, total: &nameTotal)
            columns.append(Column(names: names, includesValues: try reader.flag()))
        }
        for _ in 0..<(try reader.count(upTo: StateHasher.bucketCount, "buckets")) {
            guard buckets.insert(try reader.byte()).inserted else {
                throw WireError(.malformed, "a bucket comes twice")
            }
        }
        try reader.requireEnd()
    }
}

extension StateAnswer {
    /// The answer as bytes.
    public func encode() -> [UInt8] {
        var writer = WireWriter()
        vector.encode(to: &writer)
        writer.unsigned(UInt64(sums.count))
        for sum in sums { writer.sum(sum) }
        writer.unsigned(UInt64(rows.count))
        for (key, sum) in rows.sorted(by: { $0.key < $1.key }) {
            writer.rowKey(key)
            writer.sum(sum)
        }
        return Array(writer.bytes)
    }

    /// Reads an answer.
    ///
    /// - throws: ``WireError``.
    public init(bytes: UnsafeRawBufferPointer, limits: WireLimits = WireLimits()) throws(WireError) {
        var reader = WireReader(bytes)
        vector = try VersionVector(from: &reader, limits: limits)
        sums = []
        rows = [:]
        for _ in 0..<(try reader.count(upTo: StateHasher.bucketCount, "sums")) {
            sums.append(try reader.sum())
        }
        let count = try reader.count(upTo: Int.max, "rows")
        for _ in 0..<count {
            let key = try reader.rowKey()
            guard rows.updateValue(try reader.sum(), forKey: key) == nil else {
                throw WireError(.malformed, "a row comes twice")
            }
        }
        try reader.requireEnd()
    }
}

extension StateRows {
    /// Selections as bytes.
    public static func encode(_ selections: [StateRows]) -> [UInt8] {
        var writer = WireWriter()
        writer.unsigned(UInt64(selections.count))
        for rows in selections {
            writer.names(rows.table)
            writer.unsigned(UInt64(rows.keys.count))
            for key in rows.keys { writer.rowKey(key) }
        }
        return Array(writer.bytes)
    }

    /// Reads selections.
    ///
    /// - throws: ``WireError``.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer, limits: WireLimits = WireLimits()
    ) throws(WireError) -> [StateRows] {
        var reader = WireReader(bytes)
        var selections: [StateRows] = []
        var nameTotal = 0
        for _ in 0..<(try reader.count(upTo: limits.tableCountMax, "tables")) {
            let names = try reader.names(limits, total: &nameTotal)
            var keys: [StateRowKey] = []
            for _ in 0..<(try reader.count(upTo: Int.max, "rows")) { keys.append(try reader.rowKey()) }
            selections.append(StateRows(table: names, keys: keys))
        }
        try reader.requireEnd()
        return selections
    }
}

extension WireWriter {
    mutating func names(_ names: [String]) {
        unsigned(UInt64(names.count))
        for name in names { string(name) }
    }

    mutating func sum(_ sum: DigestSum) {
        unsigned(UInt64(max(0, sum.count)))
        fixed64(sum.first)
        fixed64(sum.second)
    }

    mutating func rowKey(_ key: StateRowKey) {
        byte(key.isText ? 1 : 0)
        raw(key.bytes)
    }
}

extension WireReader {
    /// The most names of a table or column.
    private static let nameCountMax = 1000

    /// - parameter total: How many names came before in the message: an empty one takes one byte of it, and sixteen of
    ///   memory.
    mutating func names(_ limits: WireLimits, total: inout Int) throws(WireError) -> [String] {
        var names: [String] = []
        let count = try count(upTo: Self.nameCountMax, "names")
        total += count
        guard total <= limits.columnTotalMax else {
            throw WireError(.tooLarge, "the message has over \(limits.columnTotalMax) names")
        }
        for _ in 0..<count {
            names.append(try string(upTo: limits.nameByteCountMax))
        }
        guard !names.isEmpty else { throw WireError(.malformed, "a table or column has no name") }
        return names
    }

    mutating func flag() throws(WireError) -> Bool {
        let flags = try byte()
        guard flags <= 1 else { throw WireError(.unsupported, "the flags \(flags)") }
        return flags == 1
    }

    mutating func sum() throws(WireError) -> DigestSum {
        let count = try unsigned()
        guard count <= UInt64(Int64.max) else {
            throw WireError(.malformed, "a digest counts \(count) members")
        }
        return DigestSum(count: Int64(count), first: try fixed64(), second: try fixed64())
    }

    mutating func rowKey() throws(WireError) -> StateRowKey {
        let isText = try flag()
        return StateRowKey(bytes: Array(try raw(isText ? 36 : 16)), isText: isText)
    }

    func requireEnd() throws(WireError) {
        guard isAtEnd else { throw WireError(.malformed, "a message has trailing bytes") }
    }
}
