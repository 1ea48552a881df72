import CipherStore
import Foundation
import SyncEngine
import SyncWire

/// One replica: an encrypted file, the program that has it open, and what the model expects of it.
final class SimulatedReplica {
    let name: String
    let number: Int
    let world: SimulatedWorld
    private(set) var queue: DatabaseQueue
    private(set) var synchronizer: Synchronizer
    var model: ModelReplica
    /// Where other replicas reach it.
    let entrance: StoreEntrance
    /// What the tables held when they were last looked at.
    private(set) var rows: ModelRows = [:]
    private(set) var tables: [SchemaOracle.Table] = []
    private(set) var columns: [String: Set<String>] = [:]
    private(set) var oracle: SchemaOracle
    /// How far its clock is from the true time, in milliseconds.
    var skew: Int64 = 0
    /// The version of the app that it runs.
    var appVersion = 0
    /// What nobody may lose, because others know of it, or a user was told that it is saved.
    private var committed: (mark: StoreFiles.Mark, model: ModelReplica, rows: ModelRows)

    /// Opens a file that is new, or a clone of another replica's.
    init(_ world: SimulatedWorld, number: Int, tables: [String] = [], from source: ModelReplica? = nil) throws
    {
        self.world = world
        self.number = number
        name = "\(number)"
        queue = try world.factory.open(name)
        entrance = world.factory.entrance(name)
        let clock = world.clock(of: number)
        if number == 0 { try world.app.migrate(queue, 0) }
        synchronizer = try Synchronizer(queue, tables: tables, environment: clock)
        oracle = try SchemaOracle(schema: [], tables: [])
        if source == nil { try synchronizer.setPolicies(world.app.policies) }
        let observation = try queue.read { try StoreObservation($0) }
        model = ModelReplica(
            id: observation.replica, vector: observation.vector, clock: observation.clock,
            folded: observation.folded)
        committed = (StoreFiles.Mark(), model, [:])
        if let source {
            model.parts = source.parts
            model.partial = source.partial
            model.known = source.known
            model.forgotten = source.forgotten
        }
        try readSchema()
        try readRows()
        try markCommitted()
    }

    /// Opens a plain copy of another replica's file.
    init(_ world: SimulatedWorld, number: Int, copyOf source: SimulatedReplica) throws {
        self.world = world
        self.number = number
        name = "\(number)"
        queue = try world.factory.open(name)
        entrance = world.factory.entrance(name)
        oracle = source.oracle
        model = source.model
        appVersion = source.appVersion
        skew = source.skew
        committed = (StoreFiles.Mark(), model, [:])
        world.clock.setSkew(skew, of: number)
        synchronizer = try Synchronizer(queue, environment: world.clock.environment(of: number))
        try readSchema()
        try readRows()
        try observe(now: environment.milliseconds())
        try markCommitted()
    }

    var environment: SyncEnvironment { world.clock(of: number) }

    /// What an edit knows of it.
    var device: SimulatedDevice { SimulatedDevice(number: number, version: appVersion) }

    /// The rows that follow from what it knows.
    func state() -> MergedState { world.state(of: model.known.subtracting(model.forgotten)) }

    // MARK: Looking

    func readSchema() throws {
        let (tables, schema) = try queue.read { db in
            let tables = try Row.fetchAll(
                db, sql: "SELECT name, key FROM _sync_table WHERE tracked = 1 ORDER BY name"
            )
            .map { SchemaOracle.Table(name: $0[0], key: $0[1]) }
            let names = Set(tables.map { $0.name.identifierKey })
            let schema = try Row.fetchAll(
                db,
                sql: """
                    SELECT tbl_name, sql FROM sqlite_master
                    WHERE type IN ('table', 'index') AND sql IS NOT NULL AND substr(name, 1, 6) <> '_sync_'
                    ORDER BY type DESC, name
                    """
            ).filter { names.contains(($0[0] as String).identifierKey) }.map { $0[1] as String }
            return (tables, schema)
        }
        self.tables = tables
        oracle = try world.oracle(schema: schema, tables: tables)
        columns = try queue.read { db in
            Dictionary(
                try tables.map { table in
                    let names = try db.columns(in: table.name).map { $0.name.identifierKey }
                    return (table.name.identifierKey, Set(names).subtracting([table.key.identifierKey]))
                }, uniquingKeysWith: { $1 })
        }
    }

    func readRows() throws { rows = try queue.read { try SchemaOracle.read($0, tables) } }

    // MARK: Writing

    /// Does something in a transaction, as a program of a user, and takes note of what it wrote.
    ///
    /// - parameters:
    ///     - queue: The connection, when it is another program's.
    ///     - marks: Whether the user is told that it is saved.
    ///     - edits: Makes edits; `check` compares the log with the tables after each.
    func write(
        _ queue: DatabaseQueue? = nil, now: Int64, isStrict: Bool, marks: Bool = true,
        _ edits: (_ db: Database, _ check: () throws -> Void) throws -> Database.TransactionCompletion
    ) throws {
        let queue = queue ?? self.queue
        let tables = tables
        var written: [ModelReplica.Entry] = []
        let first = model.pending.last?.sequence ?? model.folded
        try queue.inTransaction(.immediate) { db in
            let observation = try StoreObservation(db)
            var last = first
            var before = try SchemaOracle.read(db, tables)
            let completion = try edits(db) {
                let after = try SchemaOracle.read(db, tables)
                let end = try Int64.fetchOne(db, sql: "SELECT max(seq) FROM _sync_log") ?? 0
                // Less than before: a savepoint was undone.
                let entries = try observation.entries(db, after: min(last, end))
                if end >= last {
                    try CaptureCheck(before: before, after: after, entries: entries, isStrict: isStrict).run()
                }
                (before, last) = (after, end)
            }
            // The triggers ask SQLite for the time, and time here is simulated.
            try db.execute(
                sql: "UPDATE _sync_log SET ms = ? WHERE seq > ?", arguments: [now, first])
            written = try observation.entries(db, after: first)
            return completion
        }
        let end = try self.queue.read { try Int64.fetchOne($0, sql: "SELECT max(seq) FROM _sync_log") ?? 0 }
        if end > first { model.append(written) }
        try readRows()
        if marks { try markCommitted() }
    }

    /// Brings it to a version of the app.
    ///
    /// What was pending is folded with the values of before. What the migration itself writes is
    /// folded with those of after.
    func migrate(to version: Int) throws {
        try world.app.migrate(queue, version)
        appVersion = version
        let now = environment.milliseconds()
        let last = model.pending.last?.sequence ?? model.folded
        let (folded, entries) = try queue.read { db in
            let observation = try StoreObservation(db)
            return (observation.folded, try observation.entries(db, after: last))
        }
        if folded >= last {
            fold(now: now)
        }
        try readSchema()
        try readRows()
        model.append(entries)
        try observe(now: now)
        try markCommitted()
    }

    // MARK: Dying and coming back

    /// Notes that everything that was written so far has to stay.
    func markCommitted() throws {
        committed = (try StoreFiles.mark(path: world.factory.path(name)), model, rows)
    }

    /// What the disk would hold if the process died now, and of what is not committed only a part
    /// was written.
    func filesAfterCrash(keeping fraction: Double) throws -> StoreFiles {
        var files = try StoreFiles(path: world.factory.path(name))
        files.cut(since: committed.mark, keeping: fraction)
        return files
    }

    /// Starts the program again.
    func restart() throws {
        try open(nil)
        try observe(now: environment.milliseconds())
        try markCommitted()
    }

    /// Starts the program again after it died in a synchronization.
    func restart(_ files: StoreFiles, now: Int64, transfer: SimulatedTransfer?) throws {
        try open(files)
        world.abandoned.formUnion(model.known.subtracting(committed.model.known))
        (_, model, rows) = committed
        try observe(now: now, transfer: transfer)
        try markCommitted()
    }

    /// Starts the program again after it died in a user's transaction, of which all or nothing is there.
    func restart(_ files: StoreFiles, after: ModelRows) throws {
        try open(files)
        (_, model, rows) = committed
        let first = model.pending.last?.sequence ?? model.folded
        let (found, entries) = try queue.read { db in
            (try SchemaOracle.read(db, tables), try StoreObservation(db).entries(db, after: first))
        }
        guard found == (entries.isEmpty ? rows : after) else {
            throw SimulationViolation(.atomicity, "replica \(name) holds a part of a transaction")
        }
        model.append(entries)
        rows = found
        try observe(now: environment.milliseconds())
        try markCommitted()
    }

    /// Opens other files in the place of its own.
    func reopen(_ files: StoreFiles, _ model: ModelReplica, _ rows: ModelRows) throws {
        try open(files)
        (self.model, self.rows) = (model, rows)
    }

    /// Starts the program again, with other files in the place of its own if some are given.
    private func open(_ files: StoreFiles?) throws {
        try close()
        try files?.write(path: world.factory.path(name))
        queue = try world.factory.open(name)
        synchronizer = try Synchronizer(queue, environment: environment)
    }

    /// Ends the program.
    func close() throws {
        try entrance.close()
        try queue.close()
    }
}
