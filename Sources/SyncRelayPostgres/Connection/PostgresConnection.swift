import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A connection to PostgreSQL.
///
/// It is used by one thread, which waits for the server at most until a deadline. After a failure that ends the connection,
/// each further call fails too.
final class PostgresConnection {
    typealias Deadline = ContinuousClock.Instant

    let library: LibPQ
    private(set) var handle: LibPQ.Connection
    var prepared: Set<String> = []
    var isUsable = true

    /// Connects, to the first of the hosts that can be used. Each has its share of the time.
    ///
    /// - parameter statementSeconds: How long the server lets a statement run.
    /// - throws: ``PostgresFailure``.
    init(
        _ library: LibPQ, _ address: PostgresAddress, statementSeconds: Double, until deadline: Deadline
    ) throws {
        self.library = library
        let hosts = address.hosts.inOrder
        handle = try Self.start(library, hosts[0].parameters)
        var messages: [String] = []
        for (place, host) in hosts.enumerated() {
            if place > 0 { try startAnew(host.parameters) }
            let share: Duration = (deadline - .now) / (hosts.count - place)
            let end = ContinuousClock.now + share
            do {
                try connect(until: end)
                try setUp(statementSeconds, until: end)
                address.hosts.note(host.number)
                return
            } catch let failure as PostgresFailure {
                messages.append(failure.message)
            }
        }
        throw PostgresFailure(kind: .cannotConnect, message: messages.joined(separator: "; "))
    }

    /// Begins to connect.
    private static func start(
        _ library: LibPQ, _ given: PostgresHosts.Parameters
    ) throws -> LibPQ.Connection {
        let parameters = defaults + given
        var names = parameters.map { strdup($0.name) }
        var values = parameters.map { strdup($0.value) }
        defer { for text in names + values { free(text) } }
        names.append(nil)
        values.append(nil)
        let started = names.withUnsafeBufferPointer { names in
            values.withUnsafeBufferPointer { values -> LibPQ.Connection? in
                guard let names = names.baseAddress, let values = values.baseAddress else { return nil }
                // Arrays of pointers to characters, which libpq only reads.
                return names.withMemoryRebound(to: UnsafePointer<CChar>?.self, capacity: parameters.count + 1)
                {
                    names in
                    values.withMemoryRebound(
                        to: UnsafePointer<CChar>?.self, capacity: parameters.count + 1
                    ) { library.connectStart(names, $0, 0) }
                }
            }
        }
        guard let started else {
            throw PostgresFailure(kind: .cannotConnect, message: "there is no memory for a connection")
        }
        _ = library.setNoticeProcessor(started, { _, _ in }, nil)
        return started
    }

    private func startAnew(_ parameters: PostgresHosts.Parameters) throws {
        let next = try Self.start(library, parameters)
        library.finish(handle)
        handle = next
        isUsable = true
    }

    deinit { library.finish(handle) }

    /// What is used when the connection string doesn't say otherwise.
    private static let defaults: [(name: String, value: String)] = [
        ("fallback_application_name", "cipherstore-relay"), ("client_encoding", "UTF8"),
        // A standby can be read and not written: of several hosts, the one that can is meant.
        ("target_session_attrs", "read-write"),
        // A host that is gone without a word is noticed.
        ("keepalives_idle", "15"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
        ("tcp_user_timeout", "20000"),
    ]

    // MARK: Connecting

    private func connect(until deadline: Deadline) throws {
        var wanted = LibPQ.Status.pollingWriting
        while true {
            guard library.status(handle) != LibPQ.Status.bad else { throw fail(.cannotConnect) }
            let events = wanted == LibPQ.Status.pollingReading ? POLLIN : POLLOUT
            guard try wait(for: Int16(events), until: deadline) else {
                throw fail(.cannotConnect, "the server did not answer in time")
            }
            wanted = library.connectPoll(handle)
            switch wanted {
            case LibPQ.Status.pollingOK: return
            case LibPQ.Status.pollingReading, LibPQ.Status.pollingWriting: continue
            default: throw fail(.cannotConnect)
            }
        }
    }

    private func setUp(_ statementSeconds: Double, until deadline: Deadline) throws {
        guard library.setNonblocking(handle, 1) == 0 else { throw fail(.cannotConnect) }
        // A relay that hangs or loses its network must not keep others from a channel: the server ends what it holds.
        let milliseconds = Int64(max(1, statementSeconds * 1000))
        do {
            try execute(
                """
                SET statement_timeout = \(milliseconds); SET lock_timeout = \(milliseconds);
                SET idle_in_transaction_session_timeout = \(milliseconds);
                SET standard_conforming_strings = on;
                SELECT set_config('synchronous_commit', 'on', false)
                    WHERE current_setting('synchronous_commit') = 'off'
                """, until: deadline)
        } catch let failure as PostgresFailure {
            throw PostgresFailure(kind: .cannotConnect, message: failure.message)
        }
        if library.serverVersion(handle) >= 140_000 {
            // The server looks whether the other side is still there while a statement runs. Not each system can.
            try? execute("SET client_connection_check_interval = 5000", until: deadline)
        }
        for setting in Self.planSettings { try? execute("SET \(setting)", until: deadline) }
    }

    // MARK: Statements

    /// Runs statements of constant text, and gives nothing back.
    ///
    /// - throws: ``PostgresFailure``.
    func execute(_ sql: String, until deadline: Deadline) throws {
        try requireUsable()
        guard library.sendQuery(handle, sql) == 1 else { throw fail(.connectionLost) }
        _ = try answer(until: deadline)
    }

    /// Runs a statement, which is prepared when it comes the first time.
    ///
    /// - throws: ``PostgresFailure``.
    @discardableResult func run(
        _ statement: PostgresStatement, _ values: [PostgresValue] = [], until deadline: Deadline
    ) throws -> PostgresResult {
        try requireUsable()
        precondition(
            values.map(\.kind) == statement.parameters, "a statement gets the values that it was written for")
        if !prepared.contains(statement.name) {
            guard sendPreparation(of: statement) else { throw fail(.connectionLost) }
            _ = try answer(until: deadline)
            prepared.insert(statement.name)
        }
        guard send(statement.name, values) else { throw fail(.connectionLost) }
        return try answer(until: deadline)
    }

    func sendPreparation(of statement: PostgresStatement) -> Bool {
        let kinds = statement.parameters.map(\.rawValue)
        return library.sendPrepare(handle, statement.name, statement.sql, CInt(kinds.count), kinds) == 1
    }

    func send(_ name: String, _ values: [PostgresValue]) -> Bool {
        var bytes: [UInt8] = []
        var places: [Range<Int>?] = []
        for value in values {
            let start = bytes.count
            places.append(value.encode(into: &bytes) ? start..<bytes.count : nil)
        }
        // One byte more than there are, so that an empty value has an address too: NULL has none.
        bytes.append(0)
        let lengths = places.map { CInt($0?.count ?? 0) }
        let formats = [CInt](repeating: 1, count: values.count)
        return bytes.withUnsafeBytes { bytes in
            let pointers = places.map { place in
                place.flatMap { bytes.baseAddress?.advanced(by: $0.lowerBound) }?
                    .assumingMemoryBound(to: CChar.self)
            }
            return library.sendPrepared(handle, name, CInt(values.count), pointers, lengths, formats, 1) == 1
        }
    }

    /// Sends what waits, and reads until the server is done.
    private func answer(until deadline: Deadline) throws -> PostgresResult {
        var failure: PostgresFailure?
        var result = PostgresResult(rows: [], changedCount: 0)
        try sendRest(until: deadline)
        while true {
            guard let next = try nextResult(until: deadline) else { break }
            defer { library.clear(next) }
            switch library.resultStatus(next) {
            case LibPQ.Status.commandOK, LibPQ.Status.tuplesOK, LibPQ.Status.emptyQuery:
                result = read(next)
            default: failure = failure ?? refusal(next)
            }
        }
        if library.status(handle) == LibPQ.Status.bad { throw lost(failure) }
        if let failure {
            if failure.endsConnection { isUsable = false }
            throw failure
        }
        return result
    }

    func sendRest(until deadline: Deadline) throws {
        while true {
            switch library.flush(handle) {
            case 0: return
            case 1:
                // What the server says meanwhile has to be read, or both would wait for each other.
                guard try wait(for: Int16(POLLIN) | Int16(POLLOUT), until: deadline) else {
                    throw fail(.tooLate, Self.late)
                }
                guard library.consumeInput(handle) == 1 else { throw fail(.connectionLost) }
            default: throw fail(.connectionLost)
            }
        }
    }

    func read(_ result: LibPQ.Result) -> PostgresResult {
        let columnCount = library.columnCount(result)
        let rows = (0..<library.rowCount(result)).map { row in
            PostgresRow(
                (0..<columnCount).map { column in
                    guard library.isNull(result, row, column) == 0,
                        let value = library.value(result, row, column)
                    else { return nil }
                    return Data(bytes: value, count: Int(library.length(result, row, column)))
                })
        }
        let changed = library.changedCount(result).flatMap { Int(String(cString: $0)) }
        return PostgresResult(rows: rows, changedCount: changed ?? 0)
    }

    // MARK: Waiting

    static let reading = Int16(POLLIN)
    static let late = "the server did not answer in time"

    static func milliseconds(until deadline: Deadline) -> CInt {
        let rest = (deadline - .now) / .milliseconds(1)
        return CInt(min(max(rest.rounded(.up), 0), 60_000))
    }

    /// - returns: Whether the socket is ready; false when the time is over.
    func wait(for events: Int16, until deadline: Deadline) throws -> Bool {
        while true {
            let descriptor = library.socket(handle)
            guard descriptor >= 0 else { throw fail(.connectionLost) }
            var request = pollfd(fd: descriptor, events: events, revents: 0)
            let count = poll(&request, 1, Self.milliseconds(until: deadline))
            if count > 0 { return true }
            if count == 0 && deadline <= .now { return false }
            if count < 0 && errno != EINTR { throw fail(.connectionLost) }
        }
    }

    // MARK: Failures

    func requireUsable() throws {
        guard isUsable else {
            throw PostgresFailure(kind: .connectionLost, message: "the connection has ended")
        }
    }

    func fail(_ kind: PostgresFailure.Kind, _ message: String? = nil) -> PostgresFailure {
        isUsable = false
        let known = library.errorMessage(handle).map { String(cString: $0) } ?? ""
        let lines = (message ?? known).split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "; ")
        return PostgresFailure(kind: kind, message: lines.isEmpty ? "the connection has ended" : lines)
    }

    func refusal(_ result: LibPQ.Result) -> PostgresFailure {
        func field(_ field: CInt) -> String? { library.errorField(result, field).map { String(cString: $0) } }
        guard let state = field(LibPQ.Field.state) else {
            let message = field(LibPQ.Field.message) ?? "the connection has ended"
            return PostgresFailure(kind: .connectionLost, message: message)
        }
        // The details of an error may have values, and are not read.
        return PostgresFailure(kind: .refused(state), message: field(LibPQ.Field.message) ?? "")
    }
}
