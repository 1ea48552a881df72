import CipherStore

/// The schema of a file that somebody else may have written: nothing in it may reach into what synchronization keeps for itself.
///
/// A trigger on a table of keys could copy each key into a table that is synchronized, and a view in the place of a table
/// could answer for it. So this is asked before the file gets any key.
struct ForeignSchema {
    /// What triggers and views of an app may read: nothing in these tables is a secret to who has the rows.
    private static let readable: Set<String> = [
        "_sync_state", "_sync_replica", "_sync_table", "_sync_column", "_sync_log", "_sync_row", "_sync_cell",
        "_sync_shadow", "_sync_conflict", "_sync_hidden",
    ]
    /// What the triggers that track a table read and write, in the form of any version.
    private static let (readByTracking, writtenByTracking): (Set<String>, Set<String>) = (
        ["_sync_state", "_sync_row", "_sync_log", "_sync_last"], ["_sync_log", "_sync_last"]
    )

    /// The texts of all that the metadata of this version consist of.
    private let known: Set<[SchemaObject.Part]>
    /// The names of its objects.
    private let names: Set<String>
    /// The names of its tables.
    private let tables: Set<String>

    private init() throws {
        // What ALTER makes of a text only SQLite can say.
        let texts = try DatabaseQueue().write { db throws in
            try db.execute(sql: MetadataSchema.sql)
            return try Self.objects(db).map { $0.text }
        }
        let former = LastRows.formerSchema.prefix { $0 != ";" }
        let all = (texts + [String(former)]).map { SQLTokens($0) }
        known = Set(all.map(SchemaObject.parts))
        let objects = all.compactMap { SchemaObject($0) }
        names = Set(objects.map { $0.name.identifierKey })
        tables = Set(objects.filter { $0.kind == .table }.map { $0.name.identifierKey })
    }

    /// Checks all objects of a file whose metadata, if there are any, are of this version.
    ///
    /// - parameters:
    ///     - db: The file, or a copy of it.
    ///     - original: What errors call the file.
    /// - throws: ``SyncError`` of code `unsafeSchema` for the first one that is none of the library's and none that an app may
    ///   have; `DatabaseError`.
    static func check(_ db: Database, of original: String) throws {
        let schema = try ForeignSchema()
        for object in try objects(db) {
            if let finding = schema.finding(object.text, named: object.name) {
                throw error(finding.text, original)
            }
        }
    }

    /// Looks for the same in a store that is in use, whose metadata are of this version.
    ///
    /// What has the name of an object of the metadata, or of a trigger that tracks a table, is none of it: ``MetadataCheck``
    /// compares these with what they should be.
    ///
    /// - returns: A problem for each object that is none of the library's and none that an app may have.
    /// - throws: `DatabaseError`.
    static func problems(_ db: Database) throws -> [StoreProblem] {
        let schema = try ForeignSchema()
        var problems: [StoreProblem] = []
        for (name, text) in try objects(db) where !schema.names.contains(name.identifierKey) {
            guard let finding = schema.finding(text, named: name) else { continue }
            if let object = finding.object, object.kind == .trigger, object.hasNameOfTracking { continue }
            let problem = """
                \(finding.text); what is made like that can copy keys and falsify what is synchronized, and the store can't be \
                cloned while it is there: drop it, and if no program of yours made it, take the keys of this device for known \
                to others
                """
            problems.append(StoreProblem(.schema, problem, table: finding.object?.target.map { shown($0) }))
        }
        return problems
    }

    /// What is wrong with an object that is none of the library's; nil when an app may have it.
    private func finding(_ text: String, named name: String) -> (text: String, object: SchemaObject?)? {
        let sql = SQLTokens(text)
        guard !known.contains(SchemaObject.parts(sql)) else { return nil }
        guard let object = SchemaObject(sql) else {
            return ("\(Self.shown(name)) of its schema can't be read", nil)
        }
        guard let problem = self.problem(object) else { return nil }
        return ("\(object.kind) \(Self.shown(object.name)) \(problem)", object)
    }

    private static func objects(_ db: Database) throws -> [(name: String, text: String)] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT coalesce(CAST(name AS TEXT), ''), CAST(sql AS TEXT) FROM main.sqlite_master
                WHERE length(sql) > 0 ORDER BY rowid
                """
        ).map { (name: try $0.decode(atIndex: 0), text: try $0.decode(atIndex: 1)) }
    }

    private static func error(_ problem: String, _ original: String) -> SyncError {
        SyncError(
            .unsafeSchema,
            """
            \(original): \(problem); what is made like that can copy the keys of a device. If the file is yours, drop it there \
            and try again
            """)
    }

    /// A name that somebody else chose, cut where it is long.
    private static func shown(_ name: String) -> String {
        name.utf8.count <= 128 ? name : String(decoding: name.utf8.prefix(128), as: UTF8.self) + "…"
    }

    /// What is wrong with an object that is none of the metadata as this version makes them.
    private func problem(_ object: SchemaObject) -> String? {
        if SyncNames.contains(object.name) {
            guard !object.keepsRows && !isTracking(object) else { return nil }
            return "has a name that synchronization keeps for itself, and is not made by it"
        }
        if let target = object.target, SyncNames.contains(target) {
            return "is on \(Self.shown(target)), which synchronization keeps for itself"
        }
        guard object.usesTables else { return nil }
        let closed = tables.subtracting(Self.readable)
        if let name = object.names.first(where: { closed.contains($0.identifierKey) }) {
            return "names \(name), which synchronization keeps for itself"
        }
        if let name = object.writtenNames.first(where: { SyncNames.contains($0) }) {
            return "writes to \(Self.shown(name)), which synchronization keeps for itself"
        }
        return nil
    }

    /// Whether it is one of the triggers that track a table, or as harmless.
    ///
    /// Their texts follow the names of columns, whichever program changes them, and older programs made others. So what counts
    /// is what they read and write.
    private func isTracking(_ object: SchemaObject) -> Bool {
        guard object.kind == .trigger, object.hasNameOfTracking, let target = object.target else {
            return false
        }
        let read = object.names.map(\.identifierKey).filter { tables.contains($0) }
        return !SyncNames.contains(target) && Self.readByTracking.isSuperset(of: read)
            && Self.writtenByTracking.isSuperset(of: object.writtenNames.map(\.identifierKey))
    }
}

extension SchemaObject {
    /// What stands between the lines of the name, but for the one that it begins with.
    private var nameParts: [Substring] {
        name.dropFirst().split(separator: "_", omittingEmptySubsequences: false)
    }

    private static func isNumber(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Whether its name is one of a trigger that tracks a table: `_sync_i_5`, `_sync_u0_5`.
    fileprivate var hasNameOfTracking: Bool {
        let parts = nameParts
        guard parts.count == 3, parts[0] == "sync", Self.isNumber(parts[2]) else { return false }
        return ["i", "d", "k"].contains(parts[1])
            || parts[1].first == "u" && Self.isNumber(parts[1].dropFirst())
    }

    /// Whether it is a table in which the rows of one stay that was dropped or taken out: `_sync_dropped_5`.
    fileprivate var keepsRows: Bool {
        let parts = nameParts
        guard kind == .table, !isVirtual, parts.count == 3 || parts.count == 4, parts[0] == "sync",
            parts[1] == "dropped", Self.isNumber(parts[2])
        else { return false }
        return parts.count == 3 || ["known", "base"].contains(parts[3])
    }
}
