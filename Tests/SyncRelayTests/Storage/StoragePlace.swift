import CipherStore
import Foundation
import TestSupport
import Testing

@testable import SyncRelay
@testable import SyncRelayPostgres

/// The kinds of storage, all of which keep the same promises.
enum StorageKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite
    case postgres

    /// Those that can be had here.
    static let tested = allCases.filter { $0 == .sqlite || PostgresServer.isInstalled }

    var testDescription: String { rawValue }
}

@Suite struct StorageKindTests {
    @Test(.enabled(if: ProcessInfo.processInfo.environment["CI"] == "true"))
    func eachKindOfStorageIsTestedWhereAllTestsAreMeantToRun() {
        #expect(PostgresServer.isInstalled, "PostgreSQL is not installed: run Scripts/setup --tests")
    }
}

/// What all storages have that tests look into.
protocol TestedStorage: RelayStorage {
    /// How many rows a table has: channel, file, block, upload, discarded, invitation.
    func count(_ table: String) async throws -> Int
    /// Waits until what can wait is done.
    func settle() async throws
    /// Moves the position of all channels.
    func setPosition(_ position: RelayPosition) async throws
    /// Lets changes gather.
    func hold()
    func release()
    var waitingCount: Int { get }
    var commitCount: Int64 { get }
    var observedChannelCount: Int { get }
    func end() throws
}

extension TestedStorage {
    /// A moment of the present epoch.
    func moment(_ channel: TestChannel, at position: RelayPosition) async throws -> RelayMoment {
        RelayMoment(epoch: try await state(of: channel.id).epoch, position: position)
    }

    func counts(_ tables: String...) async throws -> [Int] {
        try await settle()
        var counts: [Int] = []
        for table in tables { counts.append(try await count(table)) }
        return counts
    }
}

/// Where a storage of some kind is, until the test and the storage have ended.
final class StoragePlace: Sendable {
    /// Bounds that all kinds have.
    struct Bounds {
        var channelByteCountMax: Int64 = 1 << 30
        var channelFileCountMax = RelayBounds.fileCountMax
        var channelCountMax: Int64 = 100_000
    }

    let kind: StorageKind
    private let folder: StorageFolder
    private let address: PostgresAddress?

    init(_ kind: StorageKind) throws {
        self.kind = kind
        folder = try StorageFolder()
        switch kind {
        case .sqlite: address = nil
        case .postgres:
            let server = try PostgresServer.shared()
            address = try PostgresAddress(server.address(of: server.makeDatabase()))
        }
    }

    var clock: RelayClockHand { folder.clock }

    /// Opens the storage, which keeps this place as long as it is there.
    func open(_ change: (inout Bounds) -> Void = { _ in }) throws -> any TestedStorage {
        var bounds = Bounds()
        change(&bounds)
        guard let address else {
            return try folder.open { options in
                options.channelByteCountMax = bounds.channelByteCountMax
                options.channelFileCountMax = bounds.channelFileCountMax
                options.channelCountMax = bounds.channelCountMax
                options.milliseconds = { [self] in clock.milliseconds }
            }
        }
        var options = PostgresRelayStorage.Options()
        options.channelByteCountMax = bounds.channelByteCountMax
        options.channelFileCountMax = bounds.channelFileCountMax
        options.channelCountMax = bounds.channelCountMax
        options.connectionCountMax = 4
        options.secondsMax = 60
        options.milliseconds = { [self] in clock.milliseconds }
        return try PostgresRelayStorage(address, options: options)
    }
}

extension SQLiteRelayStorage: TestedStorage {
    func count(_ table: String) async throws -> Int {
        try await read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0 }
    }

    func settle() async throws { queue.drain() }

    func setPosition(_ position: RelayPosition) async throws {
        try await queue.run { db in
            try db.execute(sql: "UPDATE channel SET position = ?", arguments: [position])
        }
    }

    func hold() { queue.hold() }
    func release() { queue.release() }
    var waitingCount: Int { queue.waitingCount }
    var commitCount: Int64 { queue.commitCount }
    var observedChannelCount: Int { feed.channelCount }
    func end() throws { try close() }
}

extension PostgresRelayStorage: TestedStorage {
    func count(_ table: String) async throws -> Int {
        let statement = PostgresStatement(
            "count-\(table)", [], "SELECT count(*) FROM cipherstore_relay.\(table)")
        return try await pool.run { Int(try $0.run(statement).first?.integer(0) ?? -1) }
    }

    func settle() async throws {
        while !cleaner.isIdle { await Task.yield() }
    }

    func setPosition(_ position: RelayPosition) async throws {
        let statement = PostgresStatement(
            "set-position", [.integer], "UPDATE cipherstore_relay.channel SET position = $1")
        _ = try await pool.run { try $0.run(statement, [.integer(position)]).changedCount }
    }

    func hold() { queue.hold() }
    func release() { queue.release() }
    var waitingCount: Int { queue.waitingCount }
    var commitCount: Int64 { queue.commitCount }
    var observedChannelCount: Int { feed.channelCount }
    func end() throws { close() }
}
