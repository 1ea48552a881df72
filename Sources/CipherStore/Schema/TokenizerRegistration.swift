import CSQLCipher

extension FTS5 {
    /// Returns what the library offers to extend FTS5 with: auxiliary functions,
    /// and tokenizers.
    ///
    /// It is valid as long as the connection. For tokenizers there is
    /// ``Database/add(tokenizer:)``.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/fts5.html#extending_fts5>
    ///
    /// - throws: A ``DatabaseError`` where the library has no FTS5, or is older than SQLite 3.20.
    public static func api(_ db: Database) throws -> UnsafePointer<fts5_api> {
        UnsafePointer(try mutableAPI(db))
    }

    fileprivate static func mutableAPI(_ db: Database) throws -> UnsafeMutablePointer<fts5_api> {
        if db.isClosed { throw Database.closedError(sql: nil) }
        try requireAvailable()
        if let known = db.fullTextInterface { return known.assumingMemoryBound(to: fts5_api.self) }
        // Without the library's own objects around it: a tokenizer is also asked for while
        // another statement is being prepared.
        var statement: SQLiteStatement?
        defer { sqlite3_finalize(statement) }
        var api: UnsafeMutablePointer<fts5_api>?
        let code = withUnsafeMutablePointer(to: &api) { api in
            var code = sqlite3_prepare_v2(db.handle, "SELECT fts5(?1)", -1, &statement, nil)
            if code == SQLITE_OK { code = csqlcipher_bind_fts5_api(statement, 1, api) }
            return code == SQLITE_OK ? sqlite3_step(statement) : code
        }
        guard code == SQLITE_ROW, let api else {
            guard code == SQLITE_ROW || code == SQLITE_NOTFOUND else { throw db.lastError() }
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message: """
                    the tokenizers of FTS5 can't be reached: that needs SQLite 3.20, and this library is \
                    \(EngineFeatures.current.sqliteVersion)
                    """)
        }
        db.fullTextInterface = UnsafeMutableRawPointer(api)
        return api
    }
}

extension Database {
    /// Makes a tokenizer: one of the library, or one that was added to the connection.
    ///
    /// ```swift
    /// let tokenizer = try db.makeTokenizer(.unicode61())
    /// try tokenizer.tokenize(query: "Jérôme").map(\.token)  // ["jerome"]
    /// ```
    ///
    /// - throws: A ``DatabaseError`` when there is no such tokenizer, or it does not take the
    ///   arguments, or the library has no FTS5.
    public func makeTokenizer(_ descriptor: FTS5TokenizerDescriptor) throws -> any FTS5Tokenizer {
        let api = try FTS5.mutableAPI(self)
        var context: UnsafeMutableRawPointer?
        var functions = fts5_tokenizer()
        guard api.pointee.xFindTokenizer?(api, descriptor.name, &context, &functions) == SQLITE_OK else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message: "no such tokenizer: \(descriptor.name); Database.add(tokenizer:) adds your own")
        }
        return try LibraryTokenizer(functions, context, descriptor.arguments)
    }

    /// Adds a tokenizer of your own to the connection, in the place of one with the same name.
    ///
    /// Call it in ``Configuration/prepareDatabase(_:)``, so that all the
    /// connections of a pool have the tokenizer. It does nothing where the library has no FTS5:
    /// the tables that would use it can't be made or opened there.
    public func add<Tokenizer: FTS5CustomTokenizer>(tokenizer: Tokenizer.Type) {
        guard EngineFeatures.current.supportsFTS5, !isClosed else { return }
        do {
            let api = try FTS5.mutableAPI(self)
            let registration = TokenizerRegistration(self) { try Tokenizer(db: $0, arguments: $1) }
            let code = registration.add(name: Tokenizer.name, to: api)
            precondition(code == SQLITE_OK, "could not add the tokenizer \(Tokenizer.name): \(code)")
        } catch {
            preconditionFailure("could not add the tokenizer \(Tokenizer.name): \(error)")
        }
    }
}

/// A tokenizer that FTS5 has made.
private final class LibraryTokenizer: FTS5Tokenizer {
    private let functions: fts5_tokenizer
    private let tokenizer: OpaquePointer

    init(
        _ functions: fts5_tokenizer, _ context: UnsafeMutableRawPointer?, _ arguments: ArraySlice<String>
    ) throws {
        // The C function takes an array of C strings, which live until it returns.
        let strings = arguments.map { Array($0.utf8CString) }
        var tokenizer: OpaquePointer?
        let code = strings.withCStrings {
            functions.xCreate?(context, $0.baseAddress, CInt($0.count), &tokenizer) ?? SQLITE_ERROR
        }
        guard code == SQLITE_OK, let tokenizer else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code == SQLITE_OK ? SQLITE_ERROR : code),
                message: "the tokenizer could not be made with these arguments")
        }
        self.functions = functions
        self.tokenizer = tokenizer
    }

    deinit { functions.xDelete?(tokenizer) }

    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?,
        nText: CInt, tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt {
        functions.xTokenize?(tokenizer, context, tokenization.rawValue, pText, nText, tokenCallback)
            ?? SQLITE_ERROR
    }
}

extension [[CChar]] {
    /// Calls a function with the addresses of strings that end with NUL.
    fileprivate func withCStrings<T>(_ body: (UnsafeMutableBufferPointer<UnsafePointer<CChar>?>) -> T) -> T {
        var addresses: [UnsafePointer<CChar>?] = []
        func next(_ index: Int) -> T {
            guard index < count else { return addresses.withUnsafeMutableBufferPointer { body($0) } }
            return self[index].withUnsafeBufferPointer {
                addresses.append($0.baseAddress)
                return next(index + 1)
            }
        }
        return next(0)
    }
}

/// What FTS5 keeps of a tokenizer that was added to a connection.
private final class TokenizerRegistration {
    /// The connection, which a statement that still lives can survive.
    private weak var database: Database?
    private let make: (Database, [String]) throws -> any FTS5Tokenizer

    init(_ database: Database, _ make: @escaping (Database, [String]) throws -> any FTS5Tokenizer) {
        self.database = database
        self.make = make
    }

    /// One tokenizer of a table. A C pointer can't be to an existential.
    private final class Instance {
        let tokenizer: any FTS5Tokenizer

        init(_ tokenizer: any FTS5Tokenizer) { self.tokenizer = tokenizer }
    }

    func add(name: String, to api: UnsafeMutablePointer<fts5_api>) -> CInt {
        var functions = fts5_tokenizer(
            xCreate: { context, arguments, count, tokenizer in
                guard let context, let tokenizer else { return SQLITE_MISUSE }
                let registration = Unmanaged<TokenizerRegistration>.fromOpaque(context)
                let arguments = UnsafeBufferPointer(start: arguments, count: Int(count))
                return registration.takeUnretainedValue().create(
                    arguments.map { $0.map { String(cString: $0) } ?? "" }, tokenizer)
            },
            xDelete: { tokenizer in
                if let tokenizer {
                    Unmanaged<Instance>.fromOpaque(UnsafeRawPointer(tokenizer)).release()
                }
            },
            xTokenize: { tokenizer, context, flags, text, count, callback in
                guard let tokenizer, let callback else { return SQLITE_MISUSE }
                let instance = Unmanaged<Instance>.fromOpaque(UnsafeRawPointer(tokenizer))
                return instance.takeUnretainedValue().tokenizer.tokenize(
                    context: context, tokenization: FTS5Tokenization(rawValue: flags), pText: text,
                    nText: count, tokenCallback: callback)
            })
        let registration = Unmanaged.passRetained(self)
        let code =
            api.pointee.xCreateTokenizer?(api, name, registration.toOpaque(), &functions) { registration in
                if let registration {
                    Unmanaged<TokenizerRegistration>.fromOpaque(registration).release()
                }
            } ?? SQLITE_ERROR
        // FTS5 releases what it has taken only.
        if code != SQLITE_OK { registration.release() }
        return code
    }

    private func create(_ arguments: [String], _ tokenizer: UnsafeMutablePointer<OpaquePointer?>) -> CInt {
        guard let database else { return SQLITE_MISUSE }
        do {
            // It may run statements, in the middle of the one that opens the table.
            let instance = try database.broker.keepingStatement {
                try database.authorizer.keepingEffects { Instance(try make(database, arguments)) }
            }
            tokenizer.pointee = OpaquePointer(Unmanaged.passRetained(instance).toOpaque())
            return SQLITE_OK
        } catch {
            return error.failureCode
        }
    }
}
