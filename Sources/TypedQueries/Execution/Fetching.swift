// What reads the rows of a fragment.

extension Database {
    /// All rows of a fragment, which may be a change that the engine can't run as it is.
    @inlinable @inline(__always)
    func fetchAll<Output>(
        _ fragment: QueryFragment, width: Int, rowType: Any.Type,
        _ decode: (inout SQLiteQueryDecoder) throws -> Output
    ) throws -> [Output] {
        guard fragment.isMarkedChange else {
            return try fetchRows(fragment, width: width, rowType: rowType, decode)
        }
        var rows: [Output] = []
        let isDone = try emulateChange(fragment) {
            rows += try fetchRows($0, width: width, rowType: rowType, decode)
        }
        return isDone ? rows : try fetchRows(fragment, width: width, rowType: rowType, decode)
    }

    /// The first row of a fragment, which may be a change that the engine can't run as it is.
    @inlinable @inline(__always)
    func fetchOne<Output>(
        _ fragment: QueryFragment, width: Int, rowType: Any.Type,
        _ decode: (inout SQLiteQueryDecoder) throws -> Output
    ) throws -> Output? {
        guard fragment.isMarkedChange else {
            return try fetchRow(fragment, width: width, rowType: rowType, decode)
        }
        var row: Output?
        let isDone = try emulateChange(fragment) {
            if row == nil { row = try fetchRow($0, width: width, rowType: rowType, decode) }
        }
        return isDone ? row : try fetchRow(fragment, width: width, rowType: rowType, decode)
    }

    /// Runs a change by other statements if the engine lacks what it has.
    ///
    /// - parameter read: Gets the SELECT of what is returned.
    /// - returns: Whether it was run.
    @usableFromInline func emulateChange(
        _ fragment: QueryFragment, _ read: (QueryFragment) throws -> Void
    ) throws -> Bool {
        try withoutActuallyEscaping(read) { try ChangeEmulation.run(self, fragment, read: $0) }
    }

    /// All rows of a fragment.
    @inlinable
    func fetchRows<Output>(
        _ fragment: QueryFragment, width: Int, rowType: Any.Type,
        _ decode: (inout SQLiteQueryDecoder) throws -> Output
    ) throws -> [Output] {
        guard let run = try directRun(fragment) else { return [] }
        guard try run.step() else { return [] }
        var decoder = SQLiteQueryDecoder(run.sqliteStatement)
        var rows: [Output] = []
        do {
            try run.requireColumns(width, rowType)
            rows.append(try decode(&decoder))
        } catch {
            throw run.fail(error, at: decoder.index - 1, rowType: rowType)
        }
        while try run.step() {
            decoder.index = 0
            // To move many elements to fresh pages costs more than pages that are not used.
            if rows.count == rows.capacity, rows.count &* MemoryLayout<Output>.stride >= 262_144 {
                rows.reserveCapacity(4 &* rows.count)
            }
            do {
                rows.append(try decode(&decoder))
            } catch {
                throw run.fail(error, at: decoder.index - 1, rowType: rowType)
            }
        }
        return rows
    }

    /// The first row of a fragment.
    @inlinable
    func fetchRow<Output>(
        _ fragment: QueryFragment, width: Int, rowType: Any.Type,
        _ decode: (inout SQLiteQueryDecoder) throws -> Output
    ) throws -> Output? {
        guard let run = try directRun(fragment) else { return nil }
        guard try run.step() else { return nil }
        var decoder = SQLiteQueryDecoder(run.sqliteStatement)
        let row: Output
        do {
            try run.requireColumns(width, rowType)
            row = try decode(&decoder)
        } catch {
            throw run.fail(error, at: decoder.index - 1, rowType: rowType)
        }
        try run.abandon()
        return row
    }
}

extension QueryFragment {
    /// Whether it is a change that is marked because the engine may lack what it has.
    @inlinable
    var isMarkedChange: Bool { code.first == Code.part }
}

extension SQLQueryExpression where QueryValue == () {
    /// Runs a statement of which nothing says a type: `try #sql("CREATE TABLE …").execute(db)`.
    ///
    /// - throws: A `DatabaseError`.
    @inlinable
    public func execute(_ db: Database) throws {
        try withFragment(db) { try db.executeFragment($0) }
    }
}

extension Statement {
    /// Runs the statement, whatever rows it gives.
    ///
    /// - throws: A `DatabaseError`.
    @inlinable
    public func execute(_ db: Database) throws {
        try withFragment(db) { try db.executeFragment($0) }
    }

    /// Writes the statement into a piece that the connection keeps for it.
    @inlinable @inline(__always)
    func withFragment<Result>(_ db: Database, _ body: (QueryFragment) throws -> Result) throws -> Result {
        var fragment = db.takeScratch()
        writeStatement(to: &fragment)
        let result: Result
        do {
            result = try body(fragment)
        } catch {
            db.keepScratch(&fragment)
            throw error
        }
        db.keepScratch(&fragment)
        return result
    }
}

extension Statement where QueryValue: QueryRepresentable {
    /// All rows.
    ///
    /// - throws: A `DatabaseError`, or a ``QueryDecodingFailure``.
    @inlinable
    public func fetchAll(_ db: Database) throws -> [QueryValue.QueryOutput] {
        try withFragment(db) {
            try db.fetchAll($0, width: QueryValue.columnWidth, rowType: QueryValue.self) { decoder in
                try decoder.value(QueryValue.self)
            }
        }
    }

    /// The first row, or nil. It adds no limit to the statement.
    ///
    /// - throws: A `DatabaseError`, or a ``QueryDecodingFailure``.
    @inlinable
    public func fetchOne(_ db: Database) throws -> QueryValue.QueryOutput? {
        try withFragment(db) {
            try db.fetchOne($0, width: QueryValue.columnWidth, rowType: QueryValue.self) { decoder in
                try decoder.value(QueryValue.self)
            }
        }
    }
}

extension Statement {
    /// All rows, as tuples.
    ///
    /// - throws: A `DatabaseError`, or a ``QueryDecodingFailure``.
    @inlinable
    public func fetchAll<V1: QueryRepresentable, V2: QueryRepresentable, each V: QueryRepresentable>(
        _ db: Database
    ) throws -> [(V1.QueryOutput, V2.QueryOutput, repeat (each V).QueryOutput)]
    where QueryValue == (V1, V2, repeat each V) {
        try withFragment(db) {
            try db.fetchAll(
                $0, width: columnWidth(of: V1.self, V2.self, repeat (each V).self), rowType: QueryValue.self
            ) {
                (
                    try $0.value(V1.self), try $0.value(V2.self),
                    repeat try $0.value((each V).self)
                )
            }
        }
    }

    /// The first row, as a tuple, or nil.
    ///
    /// - throws: A `DatabaseError`, or a ``QueryDecodingFailure``.
    @inlinable
    public func fetchOne<V1: QueryRepresentable, V2: QueryRepresentable, each V: QueryRepresentable>(
        _ db: Database
    ) throws -> (V1.QueryOutput, V2.QueryOutput, repeat (each V).QueryOutput)?
    where QueryValue == (V1, V2, repeat each V) {
        try withFragment(db) {
            try db.fetchOne(
                $0, width: columnWidth(of: V1.self, V2.self, repeat (each V).self), rowType: QueryValue.self
            ) {
                (
                    try $0.value(V1.self), try $0.value(V2.self),
                    repeat try $0.value((each V).self)
                )
            }
        }
    }
}

/// The number of columns of types that are read one after the other.
@inlinable
func columnWidth<each V: QueryRepresentable>(of types: repeat (each V).Type) -> Int {
    var width = 0
    for type in repeat each types { width += type.columnWidth }
    return width
}

extension SelectStatement where QueryValue == (), Joins == NoJoins {
    /// All rows.
    ///
    /// - throws: A `DatabaseError`, or a ``QueryDecodingFailure``.
    @inlinable
    public func fetchAll(_ db: Database) throws -> [From.QueryOutput] {
        try withFragment(db) {
            try db.fetchAll($0, width: From.columnWidth, rowType: From.self) { try $0.value(From.self) }
        }
    }

    /// The first row, or nil. It adds no limit to the statement.
    ///
    /// - throws: A `DatabaseError`, or a ``QueryDecodingFailure``.
    @inlinable
    public func fetchOne(_ db: Database) throws -> From.QueryOutput? {
        try withFragment(db) {
            try db.fetchOne($0, width: From.columnWidth, rowType: From.self) { try $0.value(From.self) }
        }
    }
}

extension SelectStatement where QueryValue == () {
    /// All rows with those that are joined to them, as tuples.
    ///
    /// - throws: A `DatabaseError`, or a ``QueryDecodingFailure``.
    @inlinable
    public func fetchAll<J1: Table, each J: Table>(
        _ db: Database
    ) throws -> [(From.QueryOutput, J1.QueryOutput, repeat (each J).QueryOutput)]
    where Joins == Joined<J1, repeat each J> {
        try withFragment(db) {
            try db.fetchAll(
                $0, width: columnWidth(of: From.self, J1.self, repeat (each J).self), rowType: From.self
            ) {
                (
                    try $0.value(From.self), try $0.value(J1.self),
                    repeat try $0.value((each J).self)
                )
            }
        }
    }

    /// The first row with those that are joined to it, as a tuple, or nil.
    ///
    /// - throws: A `DatabaseError`, or a ``QueryDecodingFailure``.
    @inlinable
    public func fetchOne<J1: Table, each J: Table>(
        _ db: Database
    ) throws -> (From.QueryOutput, J1.QueryOutput, repeat (each J).QueryOutput)?
    where Joins == Joined<J1, repeat each J> {
        try withFragment(db) {
            try db.fetchOne(
                $0, width: columnWidth(of: From.self, J1.self, repeat (each J).self), rowType: From.self
            ) {
                (
                    try $0.value(From.self), try $0.value(J1.self),
                    repeat try $0.value((each J).self)
                )
            }
        }
    }
}
