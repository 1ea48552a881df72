import CipherStore
import Foundation
import Testing

@testable import SyncRelay

@Suite(.fewAtATime) struct StorageListingTests {
    /// Writes empty files, 200 at a time.
    private func fill(
        _ storage: some RelayStorage, _ channel: TestChannel, _ names: some Collection<String>
    ) async throws {
        var rest = Array(names)
        while !rest.isEmpty {
            _ = try await storage.change(
                channel.id,
                rest.prefix(200).map { .write(try .numbered(0, $0), replacing: true, content: Data()) })
            rest.removeFirst(min(200, rest.count))
        }
    }

    private func removeAll(
        _ storage: some RelayStorage, _ channel: TestChannel, _ names: some Collection<String>
    ) async throws {
        var rest = Array(names)
        while !rest.isEmpty {
            _ = try await storage.change(channel.id, rest.prefix(200).map { .remove(try .numbered(0, $0)) })
            rest.removeFirst(min(200, rest.count))
        }
    }

    @Test(arguments: StorageKind.tested) func aListingOfEverythingNamesWhatIsThere(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        place.clock.advance(seconds: 5)
        try await storage.put("a", pattern(7), in: channel.id, folder: 1)
        try await storage.put("gone", pattern(7), in: channel.id, folder: 1)
        try await storage.remove("gone", in: channel.id, folder: 1)
        try await storage.put("b", Data(), in: channel.id, folder: 2)
        let page = try await storage.list(channel.id, .all)
        #expect(page.isComplete && page.next == nil && page.removed.isEmpty && page.position == 4)
        #expect(
            page.files == [
                .init(
                    file: try .numbered(1, "a"), byteCount: 7, position: 1,
                    milliseconds: place.clock.milliseconds),
                .init(
                    file: try .numbered(2, "b"), byteCount: 0, position: 4,
                    milliseconds: place.clock.milliseconds),
            ])
    }

    @Test(arguments: StorageKind.tested) func aListingSinceAMomentNamesEachChangedFileOnceInItsLastState(
        _ kind: StorageKind
    ) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        for name in ["a", "b", "c"] { try await storage.put(name, Data(), in: channel.id) }
        let moment = try await storage.moment(channel, at: 3)
        #expect(try await storage.listing(channel.id, .since(moment)).files.isEmpty)
        try await storage.put("b", Data([1]), in: channel.id)
        try await storage.put("b", Data([1, 2]), in: channel.id)
        try await storage.remove("a", in: channel.id)
        try await storage.put("d", Data(), in: channel.id)
        try await storage.remove("d", in: channel.id)
        let page = try await storage.list(channel.id, .since(moment))
        #expect(!page.isComplete && page.position == 8)
        #expect(page.files.map(\.file.name) == ["b"] && page.files.first?.byteCount == 2)
        #expect(Set(page.removed.map(\.name)) == ["a", "d"])
    }

    @Test(arguments: StorageKind.tested) func whatCannotBeContinuedListsEverything(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        try await storage.put("a", Data(), in: channel.id)
        let epoch = try await storage.state(of: channel.id).epoch
        let moments = [
            RelayMoment(epoch: .random(), position: 1), RelayMoment(epoch: epoch, position: 2),
            RelayMoment(epoch: epoch, position: .max), RelayMoment(epoch: .random(), position: .max),
        ]
        for moment in moments {
            let page = try await storage.list(channel.id, .since(moment))
            #expect(page.isComplete && page.files.count == 1 && page.epoch == epoch)
        }
    }

    @Test(arguments: StorageKind.tested) func pagesAreContinuedAndBounded(_ kind: StorageKind) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        let names = (0..<2_500).map { "f\($0)" }
        try await fill(storage, channel, names)
        let first = try await storage.list(channel.id, .all)
        #expect(first.files.count == 1_000 && first.next != nil)
        let all = try await storage.listing(channel.id)
        #expect(Set(all.files.keys.map(\.name)) == Set(names) && all.pageCount == 3 && all.last.isComplete)
        let since = try await storage.listing(channel.id, .since(storage.moment(channel, at: 1_400)))
        #expect(since.files.count == 1_100 && since.pageCount == 2 && !since.last.isComplete)
        // Exactly one page has no next one.
        let exact = try await storage.list(channel.id, .since(storage.moment(channel, at: 1_500)))
        #expect(exact.files.count == 1_000 && exact.next == nil)
    }

    @Test(arguments: StorageKind.tested) func whatChangesWhileAListingIsReadIsOnALaterPage(
        _ kind: StorageKind
    ) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        let names = (0..<1_500).map { "f\($0)" }
        try await fill(storage, channel, names)
        for request in [RelayListingRequest.all, .since(try await storage.moment(channel, at: 0))] {
            let first = try await storage.list(channel.id, request)
            // One that was listed, one that was not yet, a new one, and one that comes and goes.
            try await storage.put("f3", Data([1]), in: channel.id)
            try await storage.remove("f5", in: channel.id)
            try await storage.remove("f1200", in: channel.id)
            try await storage.put("f1300", Data([1]), in: channel.id)
            try await storage.put("new", Data(), in: channel.id)
            try await storage.put("short", Data(), in: channel.id)
            try await storage.remove("short", in: channel.id)
            var page = first
            var files = Dictionary(uniqueKeysWithValues: first.files.map { ($0.file.name, $0.byteCount) })
            while let next = page.next {
                page = try await storage.list(channel.id, .page(next))
                for entry in page.files { files[entry.file.name] = entry.byteCount }
                for file in page.removed { files[file.name] = nil }
            }
            let now = try await storage.listing(channel.id)
            #expect(
                files == Dictionary(uniqueKeysWithValues: now.files.map { ($0.key.name, $0.value.byteCount) })
            )
            #expect(page.position == now.last.position)
            try await fill(storage, channel, ["f5", "f1200", "f3", "f1300"])
            try await storage.remove("new", in: channel.id)
        }
    }

    @Test(arguments: StorageKind.tested) func theLastThousandRemovalsAreRememberedAndNotAllOfThem(
        _ kind: StorageKind
    ) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        let names = (0..<2_300).map { "f\($0)" }
        try await fill(storage, channel, names)
        try await removeAll(storage, channel, names)
        let position = try await storage.state(of: channel.id).position
        #expect(position == 4_600)
        let recent = try await storage.listing(
            channel.id, .since(storage.moment(channel, at: position - 1_000)))
        #expect(!recent.last.isComplete && Set(recent.removed.map(\.name)) == Set(names.suffix(1_000)))
        let old = try await storage.listing(channel.id, .since(storage.moment(channel, at: 2_300)))
        #expect(old.last.isComplete && old.files.isEmpty && old.removed.isEmpty)
        let rows = try await storage.count("file")
        #expect((1_000...2_000).contains(rows))
    }

    @Test(arguments: StorageKind.tested) func aPageIsRefusedWhenRemovalsWereForgottenMeanwhile(
        _ kind: StorageKind
    ) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        let names = (0..<2_300).map { "f\($0)" }
        try await fill(storage, channel, names)
        let next = try #require(try await storage.list(channel.id, .all).next)
        try await removeAll(storage, channel, names)
        await expectProblem(.conflict) { try await storage.list(channel.id, .page(next)) }
    }

    @Test func aPageOfAnotherEpochIsRefused() async throws {
        let folder = try StorageFolder()
        let storage = try folder.open()
        let channel = try await TestChannel(in: storage)
        try await fill(storage, channel, (0..<1_001).map { "f\($0)" })
        let next = try #require(try await storage.list(channel.id, .all).next)
        try storage.close()
        let again = try folder.open()
        await expectProblem(.conflict) { try await again.list(channel.id, .page(next)) }
    }

    @Test(arguments: [
        "", "-", "a-0-0-all", "x", String(repeating: "0", count: 32) + "-0-0-some",
        String(repeating: "0", count: 32) + "--1-0-all",
        String(repeating: "0", count: 32) + "-9223372036854775808-0-all",
        String(repeating: "0", count: 300),
    ])
    func whatIsNoPageIsRefused(_ text: String) async throws {
        for kind in StorageKind.tested {
            let storage = try StoragePlace(kind).open()
            let channel = try await TestChannel(in: storage)
            await expectProblem(.malformed) { try await storage.list(channel.id, .page(text)) }
        }
    }

    @Test(arguments: StorageKind.tested) func aPageFromTheEndOfAllNumbersIsRefused(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        let epoch = try await storage.state(of: channel.id).epoch
        for numbers in ["0-9223372036854775807", "9223372036854775807-0"] {
            await expectProblem(.conflict) {
                try await storage.list(channel.id, .page("\(epoch)-\(numbers)-all"))
            }
        }
    }
}
