import CipherStore
import Logging
import SyncWire

/// Something that a synchronization did, as it is logged.
///
/// The message of a log line is the ``name``, which never changes; the fields are its
/// metadata. No event holds a value or a key of a row, or a secret. `docs/observability.md` lists
/// all of them, and a test compares that list with this type.
public enum SyncEvent: Sendable, Equatable {
    /// A synchronization began.
    case started(direction: SyncDirection)
    /// It is done.
    case finished(direction: SyncDirection, rowCount: Int64, byteCount: Int64, milliseconds: Int64)
    /// It failed. What was applied before stays.
    case failed(direction: SyncDirection, code: String, milliseconds: Int64)
    /// It could not be noted in the status that a synchronization was done, or failed.
    case unrecorded(code: String)
    /// New entries of the log got versions.
    case folded(entryCount: Int64)
    /// A bundle was applied: pulled here, or pushed to the remote.
    case applied(direction: SyncDirection, rowCount: Int64, byteCount: Int64)
    /// Values lost against writes that did not know them; they are in the journal.
    case conflictsFound(count: Int64)
    /// Rows could not be written yet.
    case rowsParked(count: Int64)
    /// Rows that waited could be written.
    case rowsUnparked(count: Int64)
    /// A restored copy got a new identity.
    case identityRenewed(replica: ReplicaID)
    /// Both sides knew the same and did not hold the same.
    case diverged(tableCount: Int, rowCount: Int, isRepaired: Bool)
    /// What came has times that are ahead of the clock here.
    case clockSkewed(milliseconds: Int64)
    /// Tables differ from what was tracked, and the tracking followed.
    case schemaChanged
    /// Files of a replica were not taken in, because of who wrote them.
    case filesRefused(replica: ReplicaID, reason: String)

    /// One of each, for the list of all names and fields.
    static let examples: [SyncEvent] = [
        .started(direction: .both), .finished(direction: .both, rowCount: 1, byteCount: 2, milliseconds: 3),
        .failed(direction: .pull, code: "", milliseconds: 3), .unrecorded(code: ""), .folded(entryCount: 1),
        .applied(direction: .pull, rowCount: 1, byteCount: 2), .conflictsFound(count: 1),
        .rowsParked(count: 1),
        .rowsUnparked(count: 1), .identityRenewed(replica: ReplicaID(high: 0, low: 0)),
        .diverged(tableCount: 1, rowCount: 2, isRepaired: true), .clockSkewed(milliseconds: 1),
        .schemaChanged, .filesRefused(replica: ReplicaID(high: 0, low: 0), reason: ""),
    ]

    /// The stable name: the message of the log line.
    public var name: String {
        switch self {
        case .started: "sync.started"
        case .finished: "sync.finished"
        case .failed: "sync.failed"
        case .unrecorded: "sync.unrecorded"
        case .folded: "log.folded"
        case .applied: "bundle.applied"
        case .conflictsFound: "conflicts.found"
        case .rowsParked: "rows.parked"
        case .rowsUnparked: "rows.unparked"
        case .identityRenewed: "identity.renewed"
        case .diverged: "divergence.found"
        case .clockSkewed: "clock.skewed"
        case .schemaChanged: "schema.changed"
        case .filesRefused: "files.refused"
        }
    }

    /// How much attention it needs.
    public var level: Logger.Level {
        switch self {
        case .failed, .unrecorded, .diverged: .error
        case .conflictsFound, .rowsParked, .clockSkewed, .identityRenewed, .filesRefused: .warning
        case .finished, .schemaChanged: .info
        case .started, .folded, .applied, .rowsUnparked: .debug
        }
    }

    /// The fields.
    public var metadata: Logger.Metadata {
        switch self {
        case .started(let direction): ["direction": "\(direction.rawValue)"]
        case .finished(let direction, let rows, let bytes, let milliseconds):
            [
                "direction": "\(direction.rawValue)", "rows": "\(rows)", "bytes": "\(bytes)",
                "milliseconds": "\(milliseconds)",
            ]
        case .failed(let direction, let code, let milliseconds):
            ["direction": "\(direction.rawValue)", "code": "\(code)", "milliseconds": "\(milliseconds)"]
        case .unrecorded(let code): ["code": "\(code)"]
        case .folded(let count): ["entries": "\(count)"]
        case .applied(let direction, let rows, let bytes):
            ["direction": "\(direction.rawValue)", "rows": "\(rows)", "bytes": "\(bytes)"]
        case .conflictsFound(let count), .rowsParked(let count), .rowsUnparked(let count):
            ["count": "\(count)"]
        case .identityRenewed(let replica): ["renewed": "\(replica)"]
        case .diverged(let tables, let rows, let isRepaired):
            ["tables": "\(tables)", "rows": "\(rows)", "repaired": "\(isRepaired)"]
        case .clockSkewed(let milliseconds): ["milliseconds": "\(milliseconds)"]
        case .schemaChanged: [:]
        case .filesRefused(let replica, let reason): ["refused": "\(replica)", "reason": "\(reason)"]
        }
    }
}

extension SyncEnvironment {
    /// Logs an event.
    func log(_ event: SyncEvent, _ more: Logger.Metadata) {
        logger.log(
            level: event.level, "\(event.name)", metadata: event.metadata.merging(more) { first, _ in first })
    }
}
