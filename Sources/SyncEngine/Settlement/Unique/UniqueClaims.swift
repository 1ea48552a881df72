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
/// For that, orphans of the table have to be among the candidates: they hold their claims while they wait. So have the rows
/// that wait for a UNIQUE value, unless the row that they gave way to stays as it is (``LoserLookup``). When it moves they
/// join the others. They are younger, so their turn is still to come.
final class UniqueClaims {
    private typealias Candidate = ClaimQueue.Candidate

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
    /// Finds the rows that gave way to one that moves; nil when all of the table that wait are tried anyway.
    private let losers: LoserLookup?
    private let requireTime: () throws -> Void

    private var queue = ClaimQueue()
    /// The place of the row at hand.
    private var place: ClaimOrder?
    /// Whether a row gave way to a younger one, by what another program noted. Then all that wait have to be tried.
    private(set) var isOutOfOrder = false
    /// Whether rows were tried, or have to be, because of what happened to others.
    private(set) var hasJoined = false
    /// Whether a row gave way to one that has no version, or none yet.
    private(set) var hasMetUnversioned = false

    /// The rows that were written, and those that gave way.
    private(set) var moved: [OwnedValue] = []

    /// The rows that wait on.
    private(set) var waitingKeys: [OwnedValue] = []

    /// - parameters:
    ///     - canEvict: Whether rows may be taken out of the table.
    ///     - losers: Finds the rows that are not tried yet; nil when none is left out.
    ///     - requireTime: Asked for each row. Throws when the settlement takes longer than it may.
    init(
        _ db: Database, _ table: AppliedTable, _ parking: Parking, _ orders: ClaimOrderLookup,
        canEvict: Bool, losers: LoserLookup?, requireTime: @escaping () throws -> Void
    ) throws {
        assert(canEvict || losers == nil, "rows that are not tried wait for what others gave up")
        self.db = db
        self.table = table
        self.parking = parking
        self.orders = orders
        self.canEvict = canEvict
        self.losers = losers
        self.requireTime = requireTime
        enforced = try canEvict ? nil : EnforcedKeys(db, table.table)
        columns = table.presentNames
    }

    /// Tries rows that wait.
    ///
    /// - returns: How many were written.
    func settle(_ keys: [OwnedValue]) throws -> Int64 {
        defer { rivals?.finish() }
        queue = ClaimQueue(try keys.compactMap(candidate))
        var count: Int64 = 0
        while let candidate = queue.popFirst() {
            try requireTime()
            place = candidate.order
            if try settle(candidate) {
                count += 1
            } else {
                waitingKeys.append(candidate.key)
                // It may have stood until now, as an orphan.
                try wakeLosers(to: candidate.key)
            }
        }
        return count
    }

    private func candidate(_ key: OwnedValue) throws -> Candidate? {
        let order = try withExtendedLifetime(key) {
            try orders.order(table.table.number, RowKey(key.value))
        }
        // Without a version nobody knows the row.
        return order.map { Candidate(key: key, order: $0) }
    }

    private func settle(_ candidate: Candidate) throws -> Bool {
        try withExtendedLifetime(candidate.key) {
            let key = RowKey(candidate.key.value)
            guard try table.hasRow(key) else { return try enter(key, candidate) }
            guard try complete(key, candidate) else { return false }
            // It may have other values now.
            try wakeLosers(to: candidate.key)
            return true
        }
    }

    /// Lets the rows be tried that gave way to one which moves.
    private func wakeLosers(to winner: OwnedValue) throws {
        guard let losers, let place else { return }
        for key in try losers.losers(table.table.number, to: winner) {
            // The row at hand itself may have given way to one that is younger by now.
            guard let loser = try candidate(key), loser.order != place else { continue }
            hasJoined = true
            if place < loser.order { queue.insert(loser) } else { isOutOfOrder = true }
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
            // One that gets its version later may turn out to be younger, without being written again.
            if !winner.hasOrder { hasMetUnversioned = true }
            try parking.setReason(
                number, key,
                ConstraintFailure(
                    .unique, failure.message,
                    other: winner.hasOrder ? .init(table: number, key: winner.key) : nil))
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
            try wakeLosers(to: loser)
            moved.append(loser)
        }
        if let refusal = try table.insert(key, values) {
            try parking.setReason(number, key, refusal)
            // They gave way to nobody, and are tried again the next time.
            for loser in found {
                try withExtendedLifetime(loser) {
                    try parking.setReason(
                        number, RowKey(loser.value), ConstraintFailure(.unique, failure.message))
                }
            }
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

    /// The first of the rivals of a row that stand before it, and whether it has a place in the order.
    private func winner(
        over candidate: Candidate, of rivals: [OwnedValue]
    ) throws -> (key: OwnedValue, hasOrder: Bool)? {
        var first: (key: OwnedValue, order: ClaimOrder)?
        for rival in rivals {
            let order = try withExtendedLifetime(rival) {
                try orders.order(table.table.number, RowKey(rival.value))
            }
            // A row that is not synchronized can't be hidden: nothing would keep it.
            guard let order else { return (rival, false) }
            if order < first?.order ?? candidate.order { first = (rival, order) }
        }
        assert(first.map { $0.order < candidate.order } ?? true, "only an older row keeps its place")
        return first.map { ($0.key, true) }
    }
}
