import CipherStore
import Foundation
import SyncEngine
import SyncHTTP
import TestSupport
import Testing

/// The code of `Examples`, all but what talks to a terminal: `Shared` has links to its files.
@Suite struct ExampleTests {
    private let folder: String

    init() throws {
        DerivedKeys.remember()
        folder = NSTemporaryDirectory() + "examples-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func notes(_ name: String, _ passphrase: String) throws -> NoteStore {
        try NoteStore(path: "\(folder)/\(name)", passphrase: Passphrase(passphrase))
    }

    @Test func notesAreAddedAndTicked() async throws {
        let store = try notes("notes.db", "correct horse")
        try await store.add("Groceries")
        try await store.add("Holidays")
        #expect(try await store.finish(1)?.title == "Groceries")
        #expect(try await store.finish(3) == nil)
        #expect(try await store.notes().map(\.title) == ["Holidays", "Groceries"])
        #expect(throws: (any Error).self) { try notes("notes.db", "wrong") }
    }

    @Test func twoDevicesStayEqual() async throws {
        let store = try notes("notes.db", "correct horse")
        try await store.add("Groceries")
        let (links, continuation) = AsyncStream.makeStream(of: InviteLink.self)
        let serving = Task { try await store.serve(port: 0, label: "phone") { continuation.yield($0) } }
        let link = try #require(await links.first { _ in true })
        let path = "\(folder)/phone.db"
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try NoteStore.join(link, at: path, passphrase: Passphrase("battery staple"))
                    })
            }
        }
        let phone = try notes("phone.db", "battery staple")
        let live = try phone.synchronizeLive()
        try await phone.add("Ideas")
        for try await notes in store.updates() where notes.count == 2 { break }
        try await store.add("Music")
        for try await notes in phone.updates() where notes.count == 3 { break }
        live.stop()
        serving.cancel()
        _ = await serving.result
    }

    // MARK: Import

    private func trips(_ lines: [String]) throws -> (TripImport, String) {
        let file = "\(folder)/trips.csv"
        try (["day,zone,kilometres"] + lines).joined(separator: "\n").write(
            toFile: file, atomically: true, encoding: .utf8)
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase("correct horse") }
        let database = try DatabaseQueue(path: "\(folder)/trips.db", configuration: configuration)
        return (TripImport(database: database, stride: 10), file)
    }

    @Test func aFileIsImported() async throws {
        let (trips, file) = try trips((1...25).map { "2026-11-25,Harlem,\($0).5" })
        let shares = AsyncStream.makeStream(of: Double.self)
        let count = try await trips.run(file) { _, share in shares.continuation.yield(share) }
        shares.continuation.finish()
        #expect(count == 25)
        #expect(await shares.stream.reduce(into: []) { $0.append($1) }.count == 3)
        let sum = try await trips.database.read {
            try Double.fetchOne($0, sql: "SELECT sum(kilometres) FROM trip WHERE zone = 'Harlem'")
        }
        #expect(sum == 337.5)
    }

    @Test func aLineThatIsNoTripUndoesAll() async throws {
        let (trips, file) = try trips(["2026-11-25,Harlem,1", "2026-11-25,Harlem"])
        let error = await #expect(throws: LineError.self) { try await trips.run(file) { _, _ in } }
        #expect(error?.number == 3)
        #expect(try await trips.database.read { try $0.tableExists("trip") } == false)
    }

    @Test func aCancellationLeavesTheStoreAsItWas() async throws {
        let (trips, file) = try trips((1...5000).map { "2026-11-25,Harlem,\($0)" })
        let importing = Task {
            try await trips.run(file) { rows, _ in
                if rows == 100 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await importing.value }
        #expect(try await trips.database.read { try $0.tableExists("trip") } == false)
    }
}
