import SyncEngine
import SyncWire

/// Who knew what before and after a bundle was applied.
struct SimulatedTransfer: Equatable {
    /// What a bundle says of one table.
    struct Part: Equatable {
        let base: VersionVector
        let target: VersionVector
    }

    let base: VersionVector
    let target: VersionVector
    /// The tables of which it says something else.
    let parts: [String: Part]
    /// The tables that it brings; nil for all.
    let tables: Set<String>?
    /// Deletions up to here are forgotten by the sender.
    let floor: VersionVector
    /// What the sender knew.
    let known: ChangeSet
    /// The table of which the sender holds some rows only, and sends its own changes.
    let partialTable: String?
    /// What of it belongs to rows whose deletion was forgotten.
    let forgotten: ChangeSet

    /// - parameters:
    ///     - frames: The bundle; its header says what it builds on, which can be less than what was
    ///       asked for.
    ///     - hasScopes: Whether it may bring some tables only.
    ///     - partialTable: The table of which the sender holds some rows only.
    init(_ frames: [[UInt8]], from sender: ModelReplica, hasScopes: Bool, partialTable: String?) throws {
        guard let first = frames.first else {
            throw SimulationViolation(.progress, "a bundle has no header")
        }
        let header = try first.withUnsafeBytes { try BundleParts.header(of: $0) }
        base = header.base
        floor = header.facts.floor
        target = hasScopes ? header.target : sender.vector
        known = sender.known
        self.partialTable = partialTable
        forgotten = sender.forgotten
        parts = Dictionary(
            header.facts.parts.flatMap { part in
                part.tables.joined().map { ($0.identifierKey, Part(base: part.base, target: part.target)) }
            }, uniquingKeysWith: { $1 })
        guard hasScopes else {
            tables = nil
            return
        }
        let names = header.tables.map { $0.name.identifierKey }.filter { !$0.hasPrefix("_sync_") }
        tables = Set(names)
        for name in names
        where name != partialTable && (parts[name]?.target ?? target) != sender.vector(of: name) {
            throw SimulationViolation(
                .progress, "a bundle says of table \(name) what its sender does not know")
        }
    }

    /// What the receiver has to know of a table.
    func base(of table: String) -> VersionVector { parts[table]?.base ?? base }

    /// What the sender knew of a table.
    func target(of table: String) -> VersionVector { parts[table]?.target ?? target }

    /// Whether a replica knows what the bundle builds on.
    ///
    /// - parameter partialTable: The table of which it holds some rows only.
    func isDue(for model: ModelReplica, partialTable: String?) -> Bool {
        model.vectorAfterFold.covers(base)
            && parts.allSatisfy { $0 == partialTable || model.vector(of: $0).covers($1.base) }
    }
}
