import Foundation
import Synchronization

/// The PostgreSQL server of `Scripts/postgres-server`, on a Unix socket, with databases that tests make for themselves.
///
/// It ends with the tests, whose end closes its standard input.
public final class PostgresServer: Sendable {
    /// The problems of a test.
    public struct Problem: Error, CustomStringConvertible {
        /// What happened.
        public let description: String
    }

    private struct Greeting: Decodable {
        let folder: String
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path
    private static let script = root + "/Scripts/postgres-server"

    /// Whether PostgreSQL is installed: `Scripts/setup --tests` does that.
    public static let isInstalled: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [script, "--probe"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// How many tests use the common server at a time: each has connections of its own.
    public static let gate = Gate(6)

    private static let common = Result { try PostgresServer() }

    /// A server that all tests use which don't stop it.
    public static func shared() throws -> PostgresServer { try common.get() }

    private let greeting: Greeting
    private let input = Pipe()
    private let output = Pipe()
    private let lock = Mutex(())

    /// Starts a server.
    public init() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [Self.script, "--seconds", "3600"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = Self.line(output)
        do {
            greeting = try JSONDecoder().decode(Greeting.self, from: line)
        } catch {
            throw Problem(description: "the PostgreSQL server did not start: \(error)")
        }
    }

    deinit { try? input.fileHandleForWriting.close() }

    private static func line(_ pipe: Pipe) -> Data {
        var line = Data()
        while let byte = try? pipe.fileHandleForReading.read(upToCount: 1), let first = byte.first,
            first != 0x0A
        {
            line.append(first)
        }
        return line
    }

    // MARK: Databases

    /// Makes a database.
    ///
    /// - returns: Its name.
    public func makeDatabase() throws -> String {
        let name = "test_" + UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased()
        try run("CREATE DATABASE \(name) TEMPLATE template0", in: "postgres")
        return name
    }

    /// The connection string of a database.
    ///
    /// - parameter role: Who connects.
    public func address(of database: String, role: String = "relay") -> String {
        "postgresql://\(role)@/\(database)?host=\(greeting.folder)"
    }

    /// Where its socket is.
    public var folder: String { greeting.folder }

    /// Runs SQL, and gives the rows as psql prints them: columns separated by `|`.
    ///
    /// The script runs psql: a process of tests has many files open, and Foundation's `Process` can crash there (it reads
    /// beyond the end of a list of them).
    @discardableResult public func run(_ sql: String, in database: String) throws -> String {
        try command("sql \(database) \(Data(sql.utf8).base64EncodedString())")
    }

    // MARK: The server

    /// Ends the server as an administrator does.
    public func stop() throws { try command("stop") }

    /// Ends all of its processes by SIGKILL.
    public func kill() throws { try command("kill") }

    /// Starts it again.
    public func start() throws { try command("start") }

    /// Stops all of its processes in the midst of what they do.
    public func hang() throws { try command("hang") }

    /// Lets them go on.
    public func goOn() throws { try command("go") }

    private struct Answer: Decodable {
        let output: String?
        let error: String?
    }

    @discardableResult private func command(_ words: String) throws -> String {
        try lock.withLock { _ in
            try input.fileHandleForWriting.write(contentsOf: Data((words + "\n").utf8))
            let answer = try JSONDecoder().decode(Answer.self, from: Self.line(output))
            guard let output = answer.output else {
                throw Problem(description: answer.error ?? "the PostgreSQL server gave no answer")
            }
            return output
        }
    }
}
