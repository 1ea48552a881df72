extension ReplicaFacts {
    /// A table of which the sender holds some rows only, by the value of a column. Nobody asks it for
    /// others' changes of the table, nor sends it any that it does not ask for.
    public struct Partial: Equatable, Sendable {
        /// The table's name and other names.
        public var names: [String]
        /// The changes that were taken into account in the rows that it holds.
        public var since: VersionVector
        /// Its own changes, under its identity and earlier ones.
        public var own: VersionVector
        /// Its own changes in rows that it holds no longer.
        public var dropped: VersionVector
        /// Whether it still holds all rows, and so others' changes as any replica does.
        public var isWhole = false
        /// Whether it holds not yet all that it wants.
        public var isDue = false
        /// Whether it wants all rows again.
        public var wantsEverything = false

        /// Makes an entry.
        public init(
            names: [String], since: VersionVector = VersionVector(), own: VersionVector = VersionVector(),
            dropped: VersionVector = VersionVector()
        ) {
            self.names = names
            self.since = since
            self.own = own
            self.dropped = dropped
        }

        /// The changes that are known, of the rows that it holds.
        public var known: VersionVector {
            var known = since
            known.join(own)
            return known
        }

        /// What another one has to know so that the rows here can be exchanged with it. Own changes are not
        /// needed, though they were taken into account: whoever lost them, or has not heard of them, gets them from
        /// here. Those in rows that were taken out nobody gets from here.
        package var needed: VersionVector {
            var needed = dropped
            for (replica, sequence) in since.sequences where sequence > max(own[replica], needed[replica]) {
                needed[replica] = sequence
            }
            return needed
        }
    }

    /// Which rows of a table are in a bundle: those that have one of some values in a column.
    public struct Restriction: Equatable, Sendable {
        /// The table.
        public var table: String
        /// The column.
        public var column: String
        /// The values; nil for all rows.
        public var values: [ScopeValue]?
        /// Who asked for them, and by which of its requests: what it has is left out.
        public var receiver: ReplicaID
        /// The number of the request.
        public var revision: Int64

        /// Makes a restriction.
        public init(
            table: String, column: String, values: [ScopeValue]?, receiver: ReplicaID, revision: Int64
        ) {
            self.receiver = receiver
            self.revision = revision
            self.table = table
            self.column = column
            self.values = values
        }
    }

    // MARK: Coding

    private enum PartialFlag {
        static let whole: UInt8 = 1
        static let due: UInt8 = 2
        static let everything: UInt8 = 4
    }

    /// Writes the tables that are held in part.
    static func encode(_ partials: [Partial], to writer: inout WireWriter) {
        writer.unsigned(UInt64(partials.count))
        for partial in partials {
            writer.unsigned(UInt64(partial.names.count))
            for name in partial.names { writer.string(name) }
            for vector in [partial.since, partial.own, partial.dropped] { vector.encode(to: &writer) }
            var flags: UInt8 = 0
            if partial.isWhole { flags |= PartialFlag.whole }
            if partial.isDue { flags |= PartialFlag.due }
            if partial.wantsEverything { flags |= PartialFlag.everything }
            writer.byte(flags)
        }
    }

    /// Reads the tables that are held in part.
    static func readPartials(
        _ reader: inout WireReader, _ limits: WireLimits
    ) throws(WireError) -> [Partial] {
        var partials: [Partial] = []
        var nameTotal = 0
        for _ in 0..<(try reader.count(upTo: limits.tableCountMax, "tables that are held in part")) {
            let count = try reader.count(upTo: limits.tableCountMax, "names of a table")
            nameTotal += count
            guard count > 0 else { throw WireError(.malformed, "a table that is held in part has no name") }
            guard nameTotal <= limits.columnTotalMax else {
                throw WireError(.tooLarge, "the tables have over \(limits.columnTotalMax) names")
            }
            var partial = Partial(names: [])
            for _ in 0..<count { partial.names.append(try reader.string(upTo: limits.nameByteCountMax)) }
            partial.since = try VersionVector(from: &reader, limits: limits)
            partial.own = try VersionVector(from: &reader, limits: limits)
            partial.dropped = try VersionVector(from: &reader, limits: limits)
            let flags = try reader.byte()
            partial.isWhole = flags & PartialFlag.whole != 0
            partial.isDue = flags & PartialFlag.due != 0
            partial.wantsEverything = flags & PartialFlag.everything != 0
            partials.append(partial)
        }
        return partials
    }

    /// Writes restrictions.
    static func encode(_ restrictions: [Restriction], to writer: inout WireWriter) {
        writer.unsigned(UInt64(restrictions.count))
        for restriction in restrictions {
            writer.string(restriction.table)
            writer.string(restriction.column)
            writer.raw(restriction.receiver.bytes)
            writer.unsigned(UInt64(bitPattern: max(0, restriction.revision)))
            writer.byte(restriction.values == nil ? 1 : 0)
            guard let values = restriction.values else { continue }
            writer.unsigned(UInt64(values.count))
            for value in values { value.withWireValue { writer.value($0) } }
        }
    }

    /// Reads restrictions.
    static func readRestrictions(
        _ reader: inout WireReader, _ limits: WireLimits
    ) throws(WireError) -> [Restriction] {
        var restrictions: [Restriction] = []
        var restricted: Set<String> = []
        for _ in 0..<(try reader.count(upTo: limits.tableCountMax, "restrictions")) {
            let table = try reader.string(upTo: limits.nameByteCountMax)
            let column = try reader.string(upTo: limits.nameByteCountMax)
            guard restricted.insert(table.nameKey).inserted else {
                throw WireError(.malformed, "a table is restricted twice")
            }
            let receiver = try reader.identifier()
            let revision = try reader.unsigned()
            guard revision <= UInt64(Int64.max) else {
                throw WireError(.malformed, "\(revision) is not the number of a request")
            }
            let kind = try reader.byte()
            guard kind < 2 else { throw WireError(.unsupported, "a restriction of kind \(kind)") }
            var values: [ScopeValue]?
            if kind == 0 {
                var list: [ScopeValue] = []
                for _ in 0..<(try reader.count(upTo: limits.scopeValueCountMax, "values of a restriction")) {
                    guard let value = ScopeValue(try reader.value()) else {
                        throw WireError(.malformed, "rows can't be chosen by a floating-point number")
                    }
                    list.append(value)
                }
                values = list
            }
            restrictions.append(
                Restriction(
                    table: table, column: column, values: values, receiver: receiver,
                    revision: Int64(revision)))
        }
        return restrictions
    }
}

extension [ReplicaFacts.Partial] {
    /// The entry of a table, by any of its names.
    public func find(_ names: [String]) -> ReplicaFacts.Partial? {
        guard !isEmpty else { return nil }
        let wanted = Set(names.map { $0.nameKey })
        return first { $0.names.contains { wanted.contains($0.nameKey) } }
    }
}
