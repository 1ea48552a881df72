extension ReplicaFacts {
    /// Writes parts: for each, the names of its tables, and three vectors.
    static func encode(_ parts: [Part], to writer: inout WireWriter) {
        writer.unsigned(UInt64(parts.count))
        for part in parts {
            writer.unsigned(UInt64(part.tables.count))
            for names in part.tables {
                writer.unsigned(UInt64(names.count))
                for name in names { writer.string(name) }
            }
            for vector in [part.base, part.target, part.floor] { vector.encode(to: &writer) }
        }
    }

    /// Reads the parts. A table belongs to one of them.
    static func readParts(
        _ reader: inout WireReader, _ limits: WireLimits
    ) throws(WireError) -> [Part] {
        var parts: [Part] = []
        var seen: Set<String> = []
        var nameTotal = 0
        for _ in 0..<(try reader.count(upTo: limits.tableCountMax, "parts")) {
            var tables: [[String]] = []
            for _ in 0..<(try reader.count(upTo: limits.tableCountMax, "tables of a part")) {
                var names: [String] = []
                let count = try reader.count(upTo: limits.tableCountMax, "names of a table")
                nameTotal += count
                guard nameTotal <= limits.columnTotalMax else {
                    throw WireError(.tooLarge, "the parts have over \(limits.columnTotalMax) names")
                }
                for _ in 0..<count { names.append(try reader.string(upTo: limits.nameByteCountMax)) }
                // By bytes: Swift takes an "é" of one code point and one of two for the same text, SQLite does not.
                guard let name = names.first, seen.insert(name.nameKey).inserted else {
                    throw WireError(.malformed, "a table of a part has no name, or comes twice")
                }
                tables.append(names)
            }
            guard !tables.isEmpty else { throw WireError(.malformed, "a part has no tables") }
            parts.append(
                Part(
                    tables: tables, base: try VersionVector(from: &reader, limits: limits),
                    target: try VersionVector(from: &reader, limits: limits),
                    floor: try VersionVector(from: &reader, limits: limits)))
        }
        return parts
    }
}

extension [ReplicaFacts.Part] {
    /// What is known of a table, by the table's name, or else by one of its other names. SQLite
    /// does not tell capitals from small letters.
    ///
    /// - parameter vector: What is known of all tables.
    func known(of names: [String], beside vector: VersionVector) -> VersionVector {
        guard !isEmpty, let name = names.first?.nameKey else { return vector }
        let exact = first { $0.tables.contains { $0.first?.nameKey == name } }
        let wanted = Set(names.map { $0.nameKey })
        let part =
            exact
            ?? first { part in part.tables.contains { $0.contains { wanted.contains($0.nameKey) } } }
        guard let part else { return vector }
        var known = vector
        known.join(part.target)
        return known
    }
}

extension ReplicaState {
    /// What the replica knows of a table, by the table's names.
    public func known(of names: [String]) -> VersionVector { parts.known(of: names, beside: vector) }
}

extension Greeting {
    /// What the replica knows of a table, by the table's names.
    public func known(of names: [String]) -> VersionVector { facts.parts.known(of: names, beside: vector) }

    /// The last change of each replica of which anything is known.
    public var reach: VersionVector {
        let reach = facts.parts.reduce(into: vector) { $0.join($1.target) }
        return facts.partials.reduce(into: reach) { $0.join($1.known) }
    }

    /// Whether the replica knows all that another one knows: of some tables, each by its names, or
    /// of all. Tables of which one of the two holds some rows only don't count.
    public func covers(_ other: Greeting, within tables: [[String]]? = nil) -> Bool {
        func counts(_ names: [String]) -> Bool {
            facts.partials.find(names) == nil && other.facts.partials.find(names) == nil
        }
        if let tables {
            return tables.allSatisfy { !counts($0) || known(of: $0).covers(other.known(of: $0)) }
        }
        return vector.covers(other.vector)
            && other.facts.parts.allSatisfy { part in
                part.tables.allSatisfy { !counts($0) || known(of: $0).covers(part.target) }
            }
    }
}

extension BundleHeader {
    /// The last change of each replica of which the receiver knows anything afterwards.
    public var reach: VersionVector {
        facts.parts.reduce(into: target) { $0.join($1.target) }
    }
}
