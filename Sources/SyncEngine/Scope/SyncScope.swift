import SyncWire

/// What of a database is exchanged with a remote.
///
/// ```swift
/// try synchronizer.setScope(.tables(["note", "tag"]), ofRemote: "hub.db")
/// try await synchronizer.sync(with: StoreTransport(path: "hub.db", configuration: configuration))
/// ```
public struct SyncScope: Hashable, Sendable {
    /// The tables, by name; nil when all are exchanged.
    public let tableNames: [String]?

    /// All tables.
    public static let everything = SyncScope(tableNames: nil)

    /// Some tables. What is written in others stays on its side.
    public static func tables(_ names: [String]) -> SyncScope { SyncScope(tableNames: names) }

    /// Whether a bundle names nothing else: for a server that lets a device write some tables only.
    public func permits(_ header: BundleHeader) -> Bool {
        guard let tableNames else { return true }
        let names = Set(tableNames.map { $0.lowercased() })
        return header.tables.allSatisfy {
            MetadataSchema.isReserved($0.name) || names.contains($0.name.lowercased())
        }
    }
}

/// What a replica asks another one for.
public struct TransferRequest: Equatable, Sendable {
    /// What it knows of all tables.
    public var base: VersionVector
    /// The tables of which it knows something else.
    public var parts: [ReplicaFacts.Part]
    /// The tables that it wants, each by its name and its other names; nil for all.
    public var tables: [[String]]?

    /// Makes a request.
    public init(base: VersionVector, parts: [ReplicaFacts.Part] = [], tables: [[String]]? = nil) {
        self.base = base
        self.parts = parts
        self.tables = tables
    }

    /// The last change of each replica of which anything is known.
    var reach: VersionVector { parts.reduce(into: base) { $0.join($1.target) } }
}

extension SyncPeer {
    /// Writes what lies beyond a vector, of all tables.
    package func send(
        since vector: VersionVector, progress: SyncProgressHandler?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        try send(TransferRequest(base: vector), progress: progress, to: sink)
    }
}
