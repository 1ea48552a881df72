import CipherStore
import Foundation
import SyncWire
import Synchronization

/// Where two values were written without knowing of each other.
public struct MergeContext: Sendable {
    /// The table.
    public let table: String
    /// The row's key as the table holds it.
    public let key: DatabaseValue
    /// The column.
    public let column: String
    /// Who wrote the older value, and when.
    public let lost: Conflict.Writer
    /// Who wrote the newer value, and when.
    public let won: Conflict.Writer
}

/// Makes one value of two that were written without knowing of each other.
///
/// The first is the older one, which would lose. The result must depend on nothing but
/// the two values, and not on their order if it can: several replicas may merge the same
/// values at the same time.
public typealias MergeFunction =
    @Sendable (
        _ lost: DatabaseValue, _ won: DatabaseValue, _ context: MergeContext
    ) throws -> DatabaseValue

/// The functions of custom policies, by name.
final class MergePolicies: Sendable {
    private let functions = Mutex<[String: MergeFunction]>([:])

    subscript(name: String) -> MergeFunction? {
        get { functions.withLock { $0[name] } }
        set { functions.withLock { $0[name] = newValue } }
    }
}

/// Merges values by the policies of their columns, while a bundle is applied.
final class CustomMerges {
    /// A value that is to be written when the bundle was applied.
    private struct Pending {
        let table: SyncedTable
        let key: OwnedValue
        let column: Int
        let lostStamp: Stamp
        let result: OwnedValue
        let won: OwnedValue
        /// What gives way, where the result is one of both values.
        let replaced: ReplacedValue?
    }

    private let db: Database
    private let now: Int64
    private let own: ReplicaID
    private let policies: [Int64: [Int: any CellPolicy]]
    private let functions: MergePolicies?
    private var pending: [Pending] = []

    /// - parameter functions: The functions of the app; nil when there are none.
    /// - returns: nil when no column has a policy that decides conflicts.
    static func ifNeeded(
        _ db: Database, _ functions: MergePolicies?, own: ReplicaID, now: Int64
    ) throws -> CustomMerges? {
        var policies: [Int64: [Int: any CellPolicy]] = [:]
        for entry in try PolicyStore.loadAll(db) {
            let policy = entry.policy.kind.policy
            guard policy.decidesConflicts else { continue }
            policies[entry.table, default: [:]][entry.column] = policy
        }
        return policies.isEmpty ? nil : CustomMerges(db, policies, functions, own, now)
    }

    private init(
        _ db: Database, _ policies: [Int64: [Int: any CellPolicy]], _ functions: MergePolicies?,
        _ own: ReplicaID, _ now: Int64
    ) {
        self.db = db
        self.policies = policies
        self.functions = functions
        self.own = own
        self.now = now
    }

    /// Merges the conflicts of a row, which the journal has already.
    func merge(_ plan: MergePlan, local: RowVersion?, _ table: SyncedTable, _ key: RowKey) throws {
        guard let policies = policies[table.number] else { return }
        for conflict in plan.conflicts where conflict.reason == .newer {
            guard let policy = policies[conflict.column],
                let column = table.columns.first(where: { $0.number == conflict.column }),
                let won = won(conflict.column, plan, local)
            else { continue }
            let kept = OwnedValue(copying: won)
            var result = kept
            var replaced: ReplacedValue?
            switch policy.outcome(lost: conflict.lost, won: won) {
            case .latest: continue
            case .chosen(prefersOlder: false): break
            case .chosen(prefersOlder: true):
                result = OwnedValue(copying: conflict.lost)
                replaced = ReplacedValue(
                    table: table.number, key: OwnedValue(copying: key.value), column: conflict.column,
                    life: plan.lostLife, value: kept, stamp: conflict.winner, preferred: conflict.lostStamp)
            case .made(let name):
                guard let function = functions?[name] else { continue }
                let context = MergeContext(
                    table: table.name, key: key.value.databaseValue, column: column.name,
                    lost: writer(conflict.lostStamp), won: writer(conflict.winner))
                do {
                    result = OwnedValue.make(
                        try function(conflict.lost.databaseValue, won.databaseValue, context))
                } catch {
                    try ConflictJournal.markMergeFailed(
                        db, conflict, won: won, life: plan.lostLife, in: table.number,
                        key.value.databaseValue,
                        at: now)
                    continue
                }
            }
            pending.append(
                Pending(
                    table: table, key: OwnedValue(copying: key.value), column: conflict.column,
                    lostStamp: conflict.lostStamp, result: result, won: kept, replaced: replaced))
        }
    }

    /// What stands without a policy; nil when that is the default of a row that is not in its table.
    private func won(_ column: Int, _ plan: MergePlan, _ local: RowVersion?) -> WireValue? {
        plan.writes[column] ?? (plan.resets.contains(column) ? nil : local?.values[column])
    }

    private func writer(_ stamp: Stamp) -> Conflict.Writer {
        Conflict.Writer(
            replica: stamp.replica, isLocal: stamp.replica == own,
            milliseconds: stamp.timestamp.rawValue >> 16)
    }

    /// Writes the results as edits of this replica, when the triggers track again.
    ///
    /// - returns: How many conflicts were merged. A result whose row is not in its table
    ///   or that a constraint refuses is not written, and its conflict stays open.
    func finish() throws -> Int64 {
        var count: Int64 = 0
        var targets: [Int64: AppliedTable] = [:]
        for item in pending {
            let target =
                try targets[item.table.number]
                ?? AppliedTable(db, item.table, columns: item.table.columns)
            targets[item.table.number] = target
            let result = item.result
            let key = RowKey(item.key.value)
            guard let name = target.presentNames[item.column], try target.hasRow(key) else { continue }
            if result.value.compare(item.won.value) != 0 {
                guard try target.edit(key, name, result.value) == nil else { continue }
            }
            count += try ConflictJournal.closeMerged(
                db, item.lostStamp, column: item.column, in: item.table.number, item.key.value.databaseValue,
                at: now)
            try item.replaced?.journal(db, now: now)
        }
        return count
    }
}

extension WireValue {
    /// The value with memory of its own; text that is not well-formed is repaired.
    var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .real(let number): number.databaseValue
        case .text(let bytes): String(decoding: bytes, as: UTF8.self).databaseValue
        case .blob(let bytes): Data(bytes).databaseValue
        }
    }
}
