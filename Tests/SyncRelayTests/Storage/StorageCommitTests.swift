import CipherStore
import Foundation
import Synchronization
import Testing

@testable import SyncRelay

@Suite(.fewAtATime) struct StorageCommitTests {
    @Test(arguments: StorageKind.tested) func manyWritersGetContiguousPositionsAndLoseNothing(
        _ kind: StorageKind
    ) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        let other = try await TestChannel(in: storage)
        let positions = try await withThrowingTaskGroup(of: [RelayPosition].self) { group in
            for writer in 0..<16 {
                group.addTask {
                    var positions: [RelayPosition] = []
                    for number in 0..<20 {
                        let content = pattern(300 + number, seed: UInt64(writer * 100 + number))
                        positions.append(
                            try await storage.put("f\(number)", content, in: channel.id, folder: writer)
                                .position)
                        try await storage.put("head", content, in: other.id, folder: writer)
                    }
                    return positions
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(positions.sorted() == Array(1...320))
        #expect(try await storage.state(of: other.id).position == 320)
        let listing = try await storage.listing(channel.id)
        #expect(Set(listing.files.values.map(\.position)) == Set(1...320))
        for writer in 0..<16 {
            let content = try await storage.content("f7", in: channel.id, folder: writer)
            #expect(content == pattern(307, seed: UInt64(writer * 100 + 7)))
        }
    }

    @Test(arguments: StorageKind.tested) func whatWaitsIsWrittenByOneCommitAndEachGetsItsOwnResult(
        _ kind: StorageKind
    ) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        try await storage.put("there", Data([1]), in: channel.id)
        let before = storage.commitCount
        storage.hold()
        let results = try await withThrowingTaskGroup(of: (Int, RelayProblem.Code?).self) { group in
            for number in 0..<50 {
                group.addTask {
                    do {
                        // Each fifth is refused, and takes nothing with it.
                        let name = number % 5 == 0 ? "there" : "f\(number)"
                        try await storage.put(name, Data([2]), in: channel.id, replacing: false)
                        return (number, nil)
                    } catch let problem as RelayProblem {
                        return (number, problem.code)
                    }
                }
            }
            while storage.waitingCount < 50 { await Task.yield() }
            storage.release()
            return try await group.reduce(into: [:]) { $0[$1.0] = .some($1.1) }
        }
        #expect(storage.commitCount == before + 1)
        for number in 0..<50 { #expect(results[number] == .some(number % 5 == 0 ? .exists : nil)) }
        let state = try await storage.state(of: channel.id)
        #expect(state.position == 41 && state.fileCount == 41)
    }

    @Test func aFailureOfTheDatabaseFailsTheOneThatMeetsItOnly() async throws {
        let folder = try StorageFolder()
        let storage = try folder.open()
        let channel = try await TestChannel(in: storage)
        storage.queue.hold()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<5 {
                group.addTask { try await storage.put("f\(number)", Data([1]), in: channel.id) }
            }
            group.addTask {
                await expectProblem(.unavailable) {
                    try await storage.queue.run { try $0.execute(sql: "INSERT INTO nothing VALUES (1)") }
                }
            }
            while storage.queue.waitingCount < 6 { await Task.yield() }
            storage.queue.release()
            try await group.waitForAll()
        }
        #expect(try await storage.state(of: channel.id).position == 5)
    }

    @Test func aFullDiskIsSaidAndLeavesNothingHalfDone() async throws {
        let folder = try StorageFolder()
        let storage = try folder.open()
        let channel = try await TestChannel(in: storage)
        try await storage.put("there", pattern(1_000), in: channel.id)
        let before = try await storage.state(of: channel.id)
        try await storage.setPageCountMax(adding: 200)
        await expectProblem(.diskFull) {
            try await storage.put("large", pattern(2_000_000), in: channel.id)
        }
        let content = pattern(2_000_000)
        let upload = try await storage.begin("pieces", content, to: channel.id)
        await expectProblem(.diskFull) { try await storage.send(content, to: upload) }
        await storage.abandon(upload)
        storage.queue.drain()
        #expect(try await storage.state(of: channel.id) == before)
        #expect(try await storage.content("there", in: channel.id) == pattern(1_000))
        // What needs no room goes on, and so does everything when there is room again.
        try await storage.remove("there", in: channel.id)
        try await storage.setPageCountMax(adding: 1_000_000)
        try await storage.put("large", pattern(2_000_000), in: channel.id)
        #expect(try await storage.content("large", in: channel.id) == pattern(2_000_000))
    }

    @Test func aFullDiskIsToldFromOtherFailures() {
        let full = RelayProblem(storage: DatabaseError(resultCode: .SQLITE_FULL))
        #expect(
            full.code == .diskFull && full.status == 503 && full.message.contains("full")
                && full.retrySeconds == 30)
        let other = RelayProblem(storage: DatabaseError(resultCode: .SQLITE_IOERR))
        #expect(other.code == .unavailable && !other.message.contains("full") && other.cause != nil)
    }

    // MARK: Observers

    @Test(arguments: StorageKind.tested) func observersAreToldOfEachChangeInOrder(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        let other = try await TestChannel(in: storage)
        let told = Mutex<[RelayMoment?]>([])
        let observation = storage.observe(channel.id) { moment in told.withLock { $0.append(moment) } }
        try await storage.put("a", Data(), in: channel.id)
        try await storage.put("a", Data(), in: other.id)
        try await storage.upload("b", pattern(300_000), to: channel.id)
        try await storage.remove("a", in: channel.id)
        try await storage.remove("a", in: channel.id)
        let epoch = try await storage.state(of: channel.id).epoch
        let moments = told.withLock { $0 }
        // A relay that shares its database looks at a channel once when it begins to listen, and may tell what it saw.
        let start = RelayMoment(epoch: epoch, position: 0)
        let expected = (1...3).map { RelayMoment(epoch: epoch, position: $0) }
        #expect(
            (kind == .postgres && moments.first == start ? Array(moments.dropFirst()) : moments) == expected)
        observation.cancel()
        try await storage.put("c", Data(), in: channel.id)
        #expect(told.withLock { $0.count } == moments.count)
        #expect(storage.observedChannelCount == 0)
    }

    @Test(arguments: StorageKind.tested) func observersOfARemovedChannelAreTold(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        let told = Mutex<[RelayMoment?]>([])
        let observation = storage.observe(channel.id) { moment in told.withLock { $0.append(moment) } }
        try await storage.removeChannel(channel.id)
        // A relay that shares its database may have told before how the channel stood.
        let start = kind == .postgres ? told.withLock { $0.prefix { $0?.position == 0 } } : []
        #expect(told.withLock { $0.dropFirst(start.count) } == [nil])
        observation.cancel()
    }
}
