extension Database {
    /// Runs a block in which SQL can read, and write rows if that is allowed, and nothing else: for
    /// SQL that comes from outside of the program.
    ///
    /// ```swift
    /// let rows = try dbQueue.read { db in
    ///     try db.restrictedToUntrustedSQL { try Row.fetchAll(db, sql: textFromTheUser) }
    /// }
    /// ```
    ///
    /// What is not on the list of the allowed fails with `SQLITE_AUTH`, and leaves the database as it
    /// is: other files (`ATTACH`), definitions (`CREATE`, `DROP`, `ALTER`), the ends of transactions
    /// and savepoints, pragmas that change something (keys, ciphers, `temp_store`, `writable_schema`,
    /// `journal_mode`, …), and writes to the tables of SQLite and of synchronization.
    ///
    /// Of functions, those of SQLite are allowed that compute and do nothing else: of its core, dates,
    /// aggregates, windows, JSON, mathematics and full-text search. So are those that the program added
    /// by ``add(function:)``. All others are refused, also those that a newer library brings, and those
    /// that load code, show addresses or export (`load_extension`, `fts3_tokenizer`,
    /// `sqlcipher_export`) even when the program added functions with these names.
    ///
    /// Lengths and depths of SQL are limited, too; time is not. Cancel the task, or call
    /// ``DatabaseReader/interrupt()``, to stop a statement that takes too long.
    ///
    /// Virtual tables are read as others are. They are connected before the block begins, because their modules may
    /// prepare statements for it that the block could not.
    ///
    /// The whole block is restricted, so begin a transaction outside of it. Statements that were
    /// prepared before are prepared again when they run in it.
    ///
    /// - parameters:
    ///     - allowsWriting: Whether rows may be inserted, updated and deleted.
    ///     - body: What runs the SQL. A cursor must not leave it.
    /// - throws: A ``DatabaseError``, of code `SQLITE_AUTH` for what is denied, or the error of `body`.
    public func restrictedToUntrustedSQL<T>(
        allowsWriting: Bool = false, _ body: () throws -> T
    ) throws -> T {
        try checkIsOpen("")
        let outer = authorizer.restriction
        connectVirtualTables()
        let allowsDeclarations = !hasWritableSchema && EngineFeatures.current.authorizesDeclaredTables
        let limits = UntrustedSQL.lowerLimits(of: handle)
        // A restriction within another one can't allow more.
        authorizer.restriction = UntrustedSQL(
            allowsWriting: allowsWriting && (outer?.allowsWriting ?? true), functions: functions,
            allowsDeclarations: allowsDeclarations)
        authorizer.install(on: self)
        defer {
            authorizer.restriction = outer
            if !isClosed {
                UntrustedSQL.restore(limits, of: handle)
                authorizer.install(on: self)
            }
        }
        return try body()
    }

    /// Has the modules of virtual tables do what they do once for a connection, such as the statements by which an
    /// R*Tree is written.
    private func connectVirtualTables() {
        authorizer.keepingEffects {
            authorizer.trusting {
                withoutTracing {
                    for table in virtualTables {
                        // A table that can't be connected is an error of the statement that names it.
                        _ = SQLiteHandle.execute(handle, "SELECT 1 FROM \(table.quoted) LIMIT 0")
                    }
                }
            }
        }
    }

    /// The virtual tables of all schemas. A schema that can't be read is an error of the first statement.
    private var virtualTables: [DatabaseObjectID] {
        let schemaIDs = (try? schemaIDs()) ?? []
        return schemaIDs.flatMap { schemaID in
            let names = (try? objects(of: schemaID).virtualTables) ?? []
            return names.map { DatabaseObjectID(schemaID: schemaID, name: $0) }
        }
    }

    private var hasWritableSchema: Bool {
        authorizer.trusting {
            withoutTracing { SQLiteHandle.text(handle, "PRAGMA writable_schema") != "0" }
        }
    }
}
