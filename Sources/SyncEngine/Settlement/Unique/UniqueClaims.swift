import CipherStore
import SyncWire

/// Brings rows that wait into their table, in the order of their claims.
///
/// Which rows stand is what the following gives: of all rows that meet the
/// constraints of their own, in ascending ``ClaimOrder``, each stands unless one that
/// stands already holds the same value under a UNIQUE index. A loser claims nothing.
///
/// The rows that are in the table do not collide, whatever came in whatever order:
/// SQLite sees to that. So only rows that wait can change who stands. They are tried
/// in order. One that collides waits on when any row in its way is older; otherwise it
/// takes the place of all of them. A row in the table that is older than the one at
/// hand can't be moved any more, since only older ones than itself could.
///
/// For that, all rows of the table that wait for a UNIQUE value have to be among
/// the candidates, and so have orphans: they hold their claims while they wait.
final class UniqueClaims {
    private struct Candidate {
        let key: OwnedValue
        let order: ClaimOrder
    }

    private let db: Database
    private let table: AppliedTable
    private let parking: Parking
    private let orders: ClaimOrderLookup
    private var rivals: UniqueRivals?
    private let columns: [Int: String]

    /// Whether rows may be taken out of the table. Not while SQLite enforces foreign
    /// keys, which would delete their children too.
    private let canEvict: Bool
    /// The foreign keys that SQLite enforces.
    private let enforced: EnforcedKeys?

    /// The rows that were written, and those that gave way.
    private(set) var moved: [OwnedValue] = []

    /// The rows that wait on.
    private(set) var waitingKeys: [OwnedValue] = []

    init(
        _ db: Database, _ table: AppliedTable, _ parking: Parking, _ orders: ClaimOrderLookup,
        canEvict: Bool
    ) throws {
        self.db = db
        self.table = table
        self.parking = parking
        self.orders = orders
        self.canEvict = canEvict
        enforced = try canEvict ? nil : EnforcedKeys(db, table.table)
        columns = table.presentNames
    }

    /// Tries rows that wait.
    ///
    /// - returns: How many could be written.
    func settle(_ keys: [OwnedValue]) throws -> Int64 {
        defer { rivals?.finish() }
        let candidates = try keys.compactMap { key -> Candidate? in
            let order = try orders.order(table.table.number, RowKey(key.value))
            // Without a version nobody knows the row.
            return order.map { Candidate(key: key, order: $0) }
        }
        var count: Int64 = 0
        for candidate in candidates.sorted(by: { $0.order < $1.order }) {
            if try settle(candidate) { count += 1 } else { waitingKeys.append(candidate.key) }
        }
        assert(
            Int(count) + waitingKeys.count == candidates.count, "a row has its place and waits, or neither")
        return count
    }

    private func settle(_ candidate: Candidate) throws -> Bool {
        try withExtendedLifetime(candidate.key) {
            let key = RowKey(candidate.key.value)
            if try table.hasRow(key) { return try complete(key, candidate) }
            return try enter(key, candidate)
        }
    }

    /// The values that wait for a place in the table.
    private func waiting(_ key: RowKey) throws -> (owned: [OwnedValue], numbers: [Int], values: [Value]) {
        let parked = try parking.values(table.table.number, key).filter { columns[$0.key] != nil }
            .sorted { $0.key < $1.key }
        return (
            parked.map(\.value), parked.map(\.key),
            parked.map { (name: columns[$0.key] ?? "", value: $0.value.value) }
        )
    }

    private typealias Value = (name: String, value: WireValue)

    /// Writes values of a row that is in the table without them: its columns came
    /// back, or somebody wrote a row of the same key.
    private func complete(_ key: RowKey, _ candidate: Candidate) throws -> Bool {
        let (owned, numbers, values) = try waiting(key)
        return try withExtendedLifetime(owned) {
            if let failure = try values.isEmpty ? nil : write(key, { try table.update(key, values) }) {
                guard canEvict else { return false }
                try parking.hide(table, key, because: failure)
                moved.append(candidate.key)
                return try enter(key, candidate)
            }
            try show(key, numbers, candidate)
            return true
        }
    }

    /// Inserts a row that is not in the table.
    private func enter(_ key: RowKey, _ candidate: Candidate) throws -> Bool {
        let (owned, numbers, values) = try waiting(key)
        return try withExtendedLifetime(owned) {
            guard let failure = try write(key, { try table.insert(key, values) }) else {
                try show(key, numbers, candidate)
                return true
            }
            guard failure.reason == .unique, canEvict else {
                try parking.setReason(table.table.number, key, failure)
                return false
            }
            return try contend(key, candidate, values, numbers, failure)
        }
    }

    /// Writes a row, unless a foreign key that SQLite enforces has no parent for it.
    ///
    /// - returns: What stands against the row, which is as it was then.
    private func write(
        _ key: RowKey, _ change: () throws -> ConstraintFailure?
    ) throws -> ConstraintFailure? {
        guard let enforced else { return try change() }
        var failure: ConstraintFailure?
        try db.inSavepoint {
            failure = try change()
            if failure == nil { failure = try enforced.failure(key) }
            return failure == nil ? .commit : .rollback
        }
        return failure
    }

    private func show(_ key: RowKey, _ numbers: [Int], _ candidate: Candidate) throws {
        try parking.show(table.table.number, key, columns: numbers)
        moved.append(candidate.key)
    }

    /// Compares a row with those that hold what it claims.
    private func contend(
        _ key: RowKey, _ candidate: Candidate, _ values: [Value], _ numbers: [Int],
        _ failure: ConstraintFailure
    ) throws -> Bool {
        let number = table.table.number
        if rivals == nil { rivals = try UniqueRivals(db, table) }
        let found = try rivals?.rivals(key, values) ?? []
        if let winner = try winner(over: candidate, of: found) {
            try parking.setReason(
                number, key,
                ConstraintFailure(.unique, failure.message, other: .init(table: number, key: winner)))
            return false
        }
        guard !found.isEmpty else {
            // What collides is not this table: a trigger wrote to another one.
            try parking.setReason(
                number, key, rivals?.failure ?? ConstraintFailure(.trigger, failure.message))
            return false
        }
        assert(canEvict)
        // Nobody gives way to a row that something else stands against.
        if let failure = try obstacle(to: key, values, without: found) {
            try parking.setReason(number, key, failure)
            return false
        }
        for loser in found {
            try withExtendedLifetime(loser) {
                try parking.hide(
                    table, RowKey(loser.value),
                    because: ConstraintFailure(
                        .unique, failure.message, other: .init(table: number, key: candidate.key)))
            }
            moved.append(loser)
        }
        if let failure = try table.insert(key, values) {
            try parking.setReason(number, key, failure)
            return false
        }
        try show(key, numbers, candidate)
        return true
    }

    /// What else stands against a row, if its rivals give way: a trigger of the user's, which runs only when nobody collides, or an
    /// expression that fails for its values.
    private func obstacle(
        to key: RowKey, _ values: [Value], without rivals: [OwnedValue]
    ) throws -> ConstraintFailure? {
        guard table.hasUserTriggers || self.rivals?.failure != nil else { return nil }
        var failure: ConstraintFailure?
        try db.inSavepoint {
            for rival in rivals {
                try withExtendedLifetime(rival) { try table.delete(RowKey(rival.value)) }
            }
            failure = try table.insert(key, values)
            return .rollback
        }
        return failure
    }

    /// The first of the rivals of a row that stand before it.
    private func winner(over candidate: Candidate, of rivals: [OwnedValue]) throws -> OwnedValue? {
        var first: (key: OwnedValue, order: ClaimOrder)?
        for rival in rivals {
            let order = try withExtendedLifetime(rival) {
                try orders.order(table.table.number, RowKey(rival.value))
            }
            // A row that is not synchronized can't be hidden: nothing would keep it.
            guard let order else { return rival }
            if order < first?.order ?? candidate.order { first = (rival, order) }
        }
        assert(first.map { $0.order < candidate.order } ?? true, "only an older row keeps its place")
        return first?.key
    }
}
