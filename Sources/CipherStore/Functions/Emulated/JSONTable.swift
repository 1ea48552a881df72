import CSQLCipher

/// `json_each`: the elements of JSON as the rows of a table, for a library that was built without it.
///
/// Sources: "The Virtual Table Mechanism Of SQLite", section 2, <https://www.sqlite.org/vtab.html>; "JSON Functions And
/// Operators", section 4.23, <https://www.sqlite.org/json1.html>
enum JSONTable {
    /// The columns, in the order of SQLite's.
    private enum Column: CInt {
        case key
        case value
        case type
        case atom
        case id
        case parent
        case fullKey
        case path
        case json
        case root
    }

    private static let schema = """
        CREATE TABLE json_each(key, value, type, atom, id, parent, fullkey, path, json HIDDEN, root HIDDEN)
        """

    // SQLite reads the functions as long as a connection is open; it is written once and never freed.
    nonisolated(unsafe) private static let module: UnsafeMutablePointer<sqlite3_module> = {
        let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        module.initialize(to: sqlite3_module())
        module.pointee.xConnect = { handle, _, _, _, table, _ in JSONTable.connect(handle, table) }
        module.pointee.xBestIndex = { _, plan in JSONTable.choose(plan) }
        module.pointee.xDisconnect = { table in
            table?.deallocate()
            return SQLITE_OK
        }
        module.pointee.xOpen = { _, cursor in JSONTable.open(cursor) }
        module.pointee.xClose = { cursor in JSONTable.close(cursor) }
        module.pointee.xFilter = { cursor, plan, _, count, arguments in
            JSONTable.filter(cursor, plan, FunctionCall(nil, count, arguments))
        }
        module.pointee.xNext = { cursor in
            JSONTable.rows(of: cursor)?.position += 1
            return SQLITE_OK
        }
        module.pointee.xEof = { cursor in JSONTable.rows(of: cursor)?.isAtEnd == false ? 0 : 1 }
        module.pointee.xColumn = { cursor, context, column in
            let call = FunctionCall(context, 0, nil)
            guard let rows = JSONTable.rows(of: cursor), let column = Column(rawValue: column) else {
                return SQLITE_OK
            }
            call.run { try JSONTable.give(column, of: rows, to: $0) }
            return SQLITE_OK
        }
        module.pointee.xRowid = { cursor, number in
            number?.pointee = Int64(JSONTable.rows(of: cursor)?.position ?? 0)
            return SQLITE_OK
        }
        return module
    }()

    /// Adds the table to a connection. It needs no `CREATE`.
    ///
    /// - returns: An SQLite result code.
    static func add(to handle: SQLiteConnection) -> CInt {
        sqlite3_create_module_v2(handle, "json_each", module, nil, nil)
    }

    private static func connect(
        _ handle: SQLiteConnection?, _ table: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?
    ) -> CInt {
        let code = sqlite3_declare_vtab(handle, schema)
        guard code == SQLITE_OK else { return code }
        let new = UnsafeMutablePointer<sqlite3_vtab>.allocate(capacity: 1)
        new.initialize(to: sqlite3_vtab())
        table?.pointee = new
        return SQLITE_OK
    }

    /// Takes the JSON and the path from the conditions on the hidden columns: what stands between the parentheses.
    private static func choose(_ plan: UnsafeMutablePointer<sqlite3_index_info>?) -> CInt {
        guard let plan else { return SQLITE_ERROR }
        var given: (json: Int?, root: Int?) = (nil, nil)
        for index in 0..<Int(plan.pointee.nConstraint) {
            let constraint = plan.pointee.aConstraint[index]
            guard constraint.usable != 0, constraint.op == UInt8(SQLITE_INDEX_CONSTRAINT_EQ) else { continue }
            if constraint.iColumn == Column.json.rawValue { given.json = index }
            if constraint.iColumn == Column.root.rawValue { given.root = index }
        }
        plan.pointee.idxNum = 0
        // Without the JSON there is nothing to read: any other order of the tables is better.
        plan.pointee.estimatedCost = 1e99
        guard let json = given.json else { return SQLITE_OK }
        plan.pointee.estimatedCost = 1
        plan.pointee.idxNum = 1
        plan.pointee.aConstraintUsage[json].argvIndex = 1
        plan.pointee.aConstraintUsage[json].omit = 1
        if let root = given.root {
            plan.pointee.aConstraintUsage[root].argvIndex = 2
            plan.pointee.aConstraintUsage[root].omit = 1
        }
        return SQLITE_OK
    }

    // MARK: Cursors

    /// A cursor is SQLite's part, and a reference to the rows behind it.
    private static let rowsOffset = MemoryLayout<sqlite3_vtab_cursor>.stride

    private static func open(
        _ cursor: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab_cursor>?>?
    ) -> CInt {
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: rowsOffset + MemoryLayout<UnsafeMutableRawPointer>.size,
            alignment: MemoryLayout<sqlite3_vtab_cursor>.alignment)
        let new = memory.bindMemory(to: sqlite3_vtab_cursor.self, capacity: 1)
        new.initialize(to: sqlite3_vtab_cursor())
        memory.storeBytes(
            of: Unmanaged.passRetained(JSONElementRows()).toOpaque(), toByteOffset: rowsOffset,
            as: UnsafeMutableRawPointer.self)
        cursor?.pointee = new
        return SQLITE_OK
    }

    private static func close(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> CInt {
        guard let cursor else { return SQLITE_OK }
        let memory = UnsafeMutableRawPointer(cursor)
        Unmanaged<JSONElementRows>.fromOpaque(
            memory.load(fromByteOffset: rowsOffset, as: UnsafeMutableRawPointer.self)
        ).release()
        memory.deallocate()
        return SQLITE_OK
    }

    private static func rows(of cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> JSONElementRows? {
        guard let cursor else { return nil }
        let rows = UnsafeMutableRawPointer(cursor).load(
            fromByteOffset: rowsOffset, as: UnsafeMutableRawPointer.self)
        return Unmanaged<JSONElementRows>.fromOpaque(rows).takeUnretainedValue()
    }

    private static func filter(
        _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ plan: CInt, _ call: FunctionCall
    ) -> CInt {
        guard let rows = rows(of: cursor) else { return SQLITE_ERROR }
        do {
            rows.clear()
            if plan == 1 { try rows.read(call) }
            return SQLITE_OK
        } catch {
            if let table = cursor?.pointee.pVtab {
                report((error as? DatabaseError)?.message ?? "\(error)", to: table)
            }
            return SQLITE_ERROR
        }
    }

    /// Leaves a message to SQLite, in memory that SQLite frees.
    private static func report(_ message: String, to table: UnsafeMutablePointer<sqlite3_vtab>) {
        let bytes = Array(message.utf8CString)
        guard let copy = sqlite3_malloc(CInt(bytes.count)) else { return }
        bytes.withUnsafeBytes {
            copy.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(copy), byteCount: $0.count)
        }
        sqlite3_free(table.pointee.zErrMsg)
        table.pointee.zErrMsg = copy.assumingMemoryBound(to: CChar.self)
    }

    private static func give(_ column: Column, of rows: JSONElementRows, to call: FunctionCall) throws {
        guard let json = rows.json, !rows.isAtEnd else { return }
        let node = rows.node
        switch column {
        case .key: rows.giveKey(to: call)
        case .value: try JSONFunctions.returnSQLValue(json, node, call)
        case .type: call.returnText(json.nodes[node].kind.rawValue)
        case .atom:
            if [.array, .object].contains(json.nodes[node].kind) { return call.returnNull() }
            try JSONFunctions.returnSQLValue(json, node, call)
        case .id: call.returnInt64(Int64(node))
        case .parent: call.returnNull()
        case .fullKey: call.returnText(rows.fullKey)
        case .path: call.returnText(rows.root)
        case .json: json.bytes.withUnsafeBytes { call.returnText($0) }
        case .root: call.returnText(rows.root)
        }
    }
}
