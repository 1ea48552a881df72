import Dispatch
import Foundation
import Testing

@testable import CipherStore

/// What tells that something was done to the files of a store.
@Suite(.timeLimit(.minutes(5))) struct FileEventsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Appends to a file, which is made if it is not there.
    private func append(to name: String) throws {
        let path = folder.file(name)
        guard let file = FileHandle(forWritingAtPath: path) else {
            try Data("a".utf8).write(to: URL(fileURLWithPath: path))
            return
        }
        try file.seekToEnd()
        try file.write(contentsOf: Data("b".utf8))
        try file.close()
    }

    enum Change: CaseIterable { case wal, newWAL, replacement }

    private func make(_ change: Change) throws {
        switch change {
        case .wal, .newWAL: try append(to: "a.db-wal")
        case .replacement:
            try append(to: "new")
            try FileManager.default.removeItem(atPath: folder.file("a.db"))
            try FileManager.default.moveItem(atPath: folder.file("new"), toPath: folder.file("a.db"))
        }
    }

    @Test(arguments: Change.allCases) func eachChangeOfTheFilesIsToldAndAgainAfterAPause(change: Change)
        async throws
    {
        try append(to: "a.db")
        if change == .wal { try append(to: "a.db-wal") }
        let queue = DispatchQueue(label: "events")
        let told = AsyncStream.makeStream(of: Void.self)
        let path = folder.file("a.db")
        let events = queue.sync { FileEvents(path: path, queue: queue) { told.continuation.yield() } }
        for _ in 0..<2 {
            let isOn = queue.sync { events?.resume() == true }
            #expect(isOn)
            try make(change)
            for await _ in told.stream { break }
            queue.sync { events?.pause() }
        }
        queue.sync { withExtendedLifetime(events) {} }
    }

    @Test func othersInTheFolderAreNoEvents() async throws {
        for name in ["a.db", "b.db", "b.db-wal"] { try append(to: name) }
        let queue = DispatchQueue(label: "events")
        let count = LockedBox(0)
        let path = folder.file("a.db")
        let events = queue.sync { FileEvents(path: path, queue: queue) { count.change { $0 += 1 } } }
        _ = queue.sync { events?.resume() }
        for name in ["b.db", "b.db-wal", "c.db"] { try append(to: name) }
        try await Task.sleep(for: .milliseconds(200))
        #if os(Linux)
            #expect(count.value == 0)
        #endif
        queue.sync { events?.pause() }
    }
}
