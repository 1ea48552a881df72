/// What a bundle is, and the names that its rows refer to by number.
public struct BundleHeader: Equatable, Sendable {
    /// A table and its columns.
    public struct Table: Equatable, Sendable {
        /// The table's name.
        public let name: String
        /// The name of its key column.
        public let key: String
        /// The names of its other columns.
        public let columns: [String]

        /// Makes a table.
        public init(name: String, key: String, columns: [String]) {
            self.name = name
            self.key = key
            self.columns = columns
        }
    }

    /// The newest version of the format. Version 1 has no facts about replicas, and
    /// is written when there are none.
    public static let version: UInt64 = 2

    /// The first bytes of each bundle.
    static let magic = Array("CSBN".utf8)

    /// The database that the bundle belongs to.
    public let store: StoreID
    /// The replica that made it.
    public let sender: ReplicaID
    /// What the receiver has to know already.
    public let base: VersionVector
    /// What the receiver knows afterwards.
    public let target: VersionVector
    /// The replicas that stamps refer to.
    public let replicas: [ReplicaID]
    /// The tables that rows refer to.
    public let tables: [Table]
    /// What the sender says about replicas.
    public let facts: ReplicaFacts

    /// Makes a header.
    public init(
        store: StoreID, sender: ReplicaID, base: VersionVector, target: VersionVector,
        replicas: [ReplicaID], tables: [Table], facts: ReplicaFacts = ReplicaFacts()
    ) {
        self.store = store
        self.sender = sender
        self.base = base
        self.target = target
        self.replicas = replicas
        self.tables = tables
        self.facts = facts
    }

    /// Writes the header.
    func encode(to writer: inout WireWriter) {
        writer.raw(Self.magic)
        writer.unsigned(facts.isEmpty ? 1 : Self.version)
        writer.raw(store.bytes)
        writer.raw(sender.bytes)
        for vector in [base, target] { vector.encode(to: &writer) }
        writer.unsigned(UInt64(replicas.count))
        for replica in replicas { writer.raw(replica.bytes) }
        writer.unsigned(UInt64(tables.count))
        for table in tables {
            writer.string(table.name)
            writer.string(table.key)
            writer.unsigned(UInt64(table.columns.count))
            for column in table.columns { writer.string(column) }
        }
        if !facts.isEmpty { facts.encode(to: &writer) }
    }

    /// Reads a header.
    init(from bytes: UnsafeRawBufferPointer, limits: WireLimits) throws(WireError) {
        var reader = WireReader(bytes)
        guard Array(try reader.raw(4)) == Self.magic else {
            throw WireError(.malformed, "this is not a bundle")
        }
        let version = try reader.unsigned()
        guard (1...Self.version).contains(version) else {
            throw WireError(
                .unsupported, "version \(version); this program reads version \(Self.version)",
                isOfNewerVersion: version > Self.version)
        }
        store = try reader.identifier()
        sender = try reader.identifier()
        base = try VersionVector(from: &reader, limits: limits)
        target = try VersionVector(from: &reader, limits: limits)
        let replicaCount = try reader.count(upTo: limits.replicaCountMax, "replicas")
        var replicas: [ReplicaID] = []
        for _ in 0..<replicaCount { replicas.append(try reader.identifier()) }
        guard Set(replicas).count == replicas.count else {
            throw WireError(.malformed, "a replica is listed twice")
        }
        self.replicas = replicas
        let tableCount = try reader.count(upTo: limits.tableCountMax, "tables")
        var tables: [Table] = []
        var columnTotal = 0
        for _ in 0..<tableCount {
            let name = try reader.string(upTo: limits.nameByteCountMax)
            let key = try reader.string(upTo: limits.nameByteCountMax)
            let columnCount = try reader.count(upTo: limits.columnCountMax, "columns")
            columnTotal += columnCount
            guard columnTotal <= limits.columnTotalMax else {
                throw WireError(.tooLarge, "the tables have over \(limits.columnTotalMax) columns")
            }
            var columns: [String] = []
            for _ in 0..<columnCount { columns.append(try reader.string(upTo: limits.nameByteCountMax)) }
            tables.append(Table(name: name, key: key, columns: columns))
        }
        self.tables = tables
        facts = version > 1 ? try ReplicaFacts(from: &reader, limits: limits) : ReplicaFacts()
        guard reader.isAtEnd else { throw WireError(.malformed, "the header has trailing bytes") }
    }
}
