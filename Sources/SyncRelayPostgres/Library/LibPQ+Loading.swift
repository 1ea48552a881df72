#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension LibPQ {
    /// Why libpq can't be used.
    struct LoadingError: Error, Equatable {
        /// What happened, and what helps.
        let message: String
    }

    #if canImport(Darwin)
        static let names = [
            "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib",
            "/opt/homebrew/lib/postgresql@15/libpq.5.dylib", "/usr/local/opt/libpq/lib/libpq.5.dylib",
        ]
        private static let package = "brew install libpq"
    #else
        static let names = ["libpq.so.5"]
        private static let package = "apt-get install libpq5 (on Fedora: dnf install libpq)"
    #endif

    private static let loaded = Swift.Result { try load(names) }

    /// The library of this system. It is loaded once, and stays.
    ///
    /// - throws: ``LoadingError``.
    static func shared() throws -> LibPQ { try loaded.get() }

    /// Loads the first library of some names that there is.
    ///
    /// - throws: ``LoadingError`` when there is none, or when it lacks a function.
    static func load(_ names: [String]) throws -> LibPQ {
        // Its own symbols stay its own: the process may have another OpenSSL than libpq.
        guard let handle = names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else {
            throw LoadingError(
                message: "PostgreSQL's client library, libpq, is not installed; install it with: \(package)")
        }
        do {
            return try LibPQ(handle)
        } catch {
            dlclose(handle)
            throw error
        }
    }

    /// A function of the library, as the type that it has.
    private static func function<Function>(_ handle: UnsafeMutableRawPointer, _ name: String) throws
        -> Function
    {
        guard let symbol = dlsym(handle, name) else {
            throw LoadingError(
                message:
                    "PostgreSQL's client library has no function \(name); install one of PostgreSQL 10 or newer with: \(package)"
            )
        }
        return unsafeBitCast(symbol, to: Function.self)
    }

    private static func pipeline(_ handle: UnsafeMutableRawPointer) -> Pipeline? {
        do {
            return Pipeline(
                enter: try function(handle, "PQenterPipelineMode"),
                sync: try function(handle, "PQpipelineSync"), exit: try function(handle, "PQexitPipelineMode")
            )
        } catch {
            return nil
        }
    }

    private init(_ handle: UnsafeMutableRawPointer) throws {
        func find<Function>(_ name: String) throws -> Function { try Self.function(handle, name) }
        self.init(
            parse: try find("PQconninfoParse"), freeOptions: try find("PQconninfoFree"),
            freeMemory: try find("PQfreemem"), connectStart: try find("PQconnectStartParams"),
            connectPoll: try find("PQconnectPoll"), status: try find("PQstatus"),
            socket: try find("PQsocket"), errorMessage: try find("PQerrorMessage"),
            serverVersion: try find("PQserverVersion"), setNonblocking: try find("PQsetnonblocking"),
            setNoticeProcessor: try find("PQsetNoticeProcessor"), finish: try find("PQfinish"),
            sendQuery: try find("PQsendQuery"), sendPrepare: try find("PQsendPrepare"),
            sendPrepared: try find("PQsendQueryPrepared"), flush: try find("PQflush"),
            consumeInput: try find("PQconsumeInput"), isBusy: try find("PQisBusy"),
            result: try find("PQgetResult"), notification: try find("PQnotifies"),
            resultStatus: try find("PQresultStatus"), errorField: try find("PQresultErrorField"),
            rowCount: try find("PQntuples"), columnCount: try find("PQnfields"),
            isNull: try find("PQgetisnull"), value: try find("PQgetvalue"),
            length: try find("PQgetlength"), changedCount: try find("PQcmdTuples"),
            clear: try find("PQclear"), pipeline: Self.pipeline(handle))
    }
}
