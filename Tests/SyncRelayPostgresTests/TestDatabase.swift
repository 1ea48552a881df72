import Foundation
import SyncRelay
import TestSupport
import Testing

@testable import SyncRelayPostgres

extension Trait where Self == ConditionTrait {
    /// Where PostgreSQL is missing, the tests say that they were skipped.
    static var needsPostgres: Self {
        .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed: run Scripts/setup --tests")
    }
}

/// A database of its own, and the storages that a test opens on it.
struct TestDatabase {
    let server: PostgresServer
    let name: String

    /// - parameter server: A server that the test stops; the common one otherwise.
    init(_ server: PostgresServer? = nil) throws {
        self.server = try server ?? PostgresServer.shared()
        name = try self.server.makeDatabase()
    }

    func address(role: String = "relay") throws -> PostgresAddress {
        try PostgresAddress(server.address(of: name, role: role))
    }

    /// Opens a storage, as each relay on the database does.
    func open(
        role: String = "relay", _ change: (inout PostgresRelayStorage.Options) -> Void = { _ in }
    ) throws -> PostgresRelayStorage {
        var options = PostgresRelayStorage.Options()
        options.connectionCountMax = 4
        options.secondsMax = 30
        change(&options)
        return try PostgresRelayStorage(address(role: role), options: options)
    }

    @discardableResult func run(_ sql: String) throws -> String { try server.run(sql, in: name) }

    /// A connection of the kind that storages use.
    func connect(seconds: Double = 30) throws -> PostgresConnection {
        try PostgresConnection(
            LibPQ.shared(), address(), statementSeconds: seconds, until: .now + .seconds(seconds))
    }
}

/// The kind of a failure that something throws.
func failure(_ body: () throws -> Void) -> PostgresFailure? {
    do {
        try body()
        return nil
    } catch {
        return error as? PostgresFailure
    }
}

/// Expects that a storage can't be opened.
func expectStorageError(
    _ code: RelayStorageError.Code, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) {
    do {
        try body()
        Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    } catch let error as RelayStorageError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
}

/// The problems of a test itself.
struct TestProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
