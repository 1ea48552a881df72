import Foundation
import SyncEngine
import Testing

@testable import SyncRelay

/// A relay that speaks the protocol and tells what is not so.
@Suite struct RelayLieTests {
    private let path = MailboxPath(folder: String(repeating: "0a", count: 16), name: "head")
    private let relay = MemoryRelay()
    private let channel = RelayChannel.random()

    private func write(_ mailbox: any Mailbox, _ path: MailboxPath, _ bytes: [UInt8]) throws {
        try mailbox.write(path, replacing: true) { try $0(Data(bytes)) }
    }

    private func bundle(_ number: Int) -> MailboxPath {
        MailboxPath(folder: path.folder, name: "\(number).bundle")
    }

    // MARK: Going back

    @Test func anOlderPositionIsToldOnceAndEverythingIsListed() throws {
        let mailbox = try relay.mailbox(channel)
        try write(mailbox, bundle(1), [1])
        let old = relay.channel
        for number in 2..<5 { try write(mailbox, bundle(number), [1]) }
        _ = try mailbox.folders()
        relay.channel = old
        #expect(try mailbox.folders() == [path.folder])
        #expect(try mailbox.files(in: path.folder).map(\.name) == ["1.bundle"])
        #expect(mailbox.takeEvents() == [.wentBack(from: 4, to: 1)])
        _ = try mailbox.folders()
        #expect(mailbox.takeEvents().isEmpty && mailbox.known?.position == 1)
    }

    @Test func anOlderPositionIsNoticedAmongWhatChanged() throws {
        let mailbox = try relay.mailbox(channel)
        for number in 0..<4 { try write(mailbox, bundle(number), [1]) }
        _ = try mailbox.folders()
        // It answers as if nothing had changed, at a position that was passed.
        let epoch = relay.channel.epoch
        relay.lie { request, answer in
            guard request.kind == .list, request.path.contains("after=") else { return answer }
            return try MemoryRelay.document(
                RelayListing(epoch: epoch, position: 2, isComplete: false, files: [], removed: []))
        }
        _ = try mailbox.folders()
        #expect(mailbox.takeEvents() == [.wentBack(from: 4, to: 2)] && mailbox.known?.position == 4)
        #expect(try mailbox.files(in: path.folder).count == 4)
    }

    @Test func anotherEpochIsToldAndEverythingIsListed() throws {
        let mailbox = try relay.mailbox(channel)
        for number in 0..<4 { try write(mailbox, bundle(number), [1]) }
        _ = try mailbox.folders()
        var fresh = MemoryRelay.Channel(registration: channel.key.registration)
        for _ in 0..<4 {
            _ = try fresh.write(RelayFileName(folder: path.folder, name: "9.bundle"), Data([1]))
        }
        relay.channel = fresh
        _ = try mailbox.folders()
        #expect(try mailbox.files(in: path.folder).map(\.name) == ["9.bundle"])
        #expect(mailbox.takeEvents() == [.otherEpoch] && mailbox.known?.epoch == fresh.epoch)
        // In an epoch of its own, too, the channel does not go back.
        relay.channel = MemoryRelay.Channel(registration: channel.key.registration)
        #expect(try mailbox.folders().isEmpty)
        #expect(mailbox.takeEvents() == [.wentBack(from: 4, to: 0)])
    }

    @Test func aLaterProcessNoticesItToo() throws {
        let former = try relay.mailbox(channel)
        try write(former, bundle(1), [1])
        let old = relay.channel
        try write(former, bundle(2), [1])
        _ = try former.folders()
        relay.channel = old
        var options = RelayMailbox.Options()
        options.seen = former.seen
        let mailbox = try relay.mailbox(channel, options)
        _ = try mailbox.folders()
        #expect(mailbox.takeEvents() == [.wentBack(from: 2, to: 1)])
    }

    @Test func aWriteAtAPositionThatWasPassedIsLookedInto() throws {
        let mailbox = try relay.mailbox(channel)
        for number in 0..<4 { try write(mailbox, bundle(number), [1]) }
        _ = try mailbox.folders()
        relay.channel = MemoryRelay.Channel(registration: channel.key.registration)
        try write(mailbox, path, [1])
        #expect(mailbox.known == nil)
        #expect(try mailbox.files(in: path.folder).map(\.name) == ["head"])
        #expect(mailbox.takeEvents() == [.wentBack(from: 4, to: 1)])
    }

    @Test func anOlderVersionOfAFileIsLeftOut() throws {
        let (mailbox, other) = (try relay.mailbox(channel), try relay.mailbox(channel))
        try write(other, path, [1])
        let old = relay.channel.files
        try write(other, path, [2])
        _ = try mailbox.folders()
        relay.channel.files = old
        let error = #expect(throws: MailboxError.self) { try mailbox.open(path) }
        #expect(error?.code == .failed)
        #expect(mailbox.takeEvents() == [.olderFile(try RelayFileName(folder: path.folder, name: path.name))])
    }

    @Test func ofManyLiesSomeAreKept() throws {
        let mailbox = try relay.mailbox(channel)
        for number in 0..<300 {
            var fresh = MemoryRelay.Channel(registration: channel.key.registration)
            fresh.position = Int64(1000 - number)
            relay.channel = fresh
            _ = try mailbox.folders()
        }
        #expect(mailbox.takeEvents().count == 100)
    }

    // MARK: Listings

    private func failsToList(_ mailbox: RelayMailbox, _ pages: Int) throws {
        let before = mailbox.requestCounts
        #expect(throws: (any Error).self) { try mailbox.folders() }
        #expect((mailbox.requestCounts - before).list <= pages)
        relay.lie(nil)
        #expect(try mailbox.folders().isEmpty)
    }

    @Test func aListingWithoutAnEndIsLeft() throws {
        let mailbox = try relay.mailbox(channel)
        let epoch = relay.channel.epoch
        relay.lie { request, answer in
            guard request.kind == .list else { return answer }
            return try MemoryRelay.document(
                RelayListing(epoch: epoch, position: 1, isComplete: true, files: [], removed: [], next: "1"))
        }
        try failsToList(mailbox, 3)
    }

    @Test func aListingOfMoreFilesThanAChannelHasIsLeft() throws {
        let mailbox = try relay.mailbox(channel)
        let epoch = relay.channel.epoch
        relay.lie { [path] request, answer in
            guard request.kind == .list else { return answer }
            let number = request.path.split(separator: "=").last.flatMap { Int($0) } ?? 0
            let files = try (0..<1000).map { index in
                RelayListing.Entry(
                    file: try RelayFileName(folder: path.folder, name: "\(number)-\(index)"), byteCount: 1,
                    position: 1, milliseconds: 0)
            }
            return try MemoryRelay.document(
                RelayListing(
                    epoch: epoch, position: 1, isComplete: true, files: files, removed: [],
                    next: "\(number + 1)"))
        }
        try failsToList(mailbox, 101)
    }

    @Test(arguments: [
        #"{"epoch":"E","position":9223372036854775808,"complete":true,"files":[],"removed":[]}"#,
        #"{"epoch":"E","position":-1,"complete":true,"files":[],"removed":[]}"#,
        #"{"epoch":"E","position":1e300,"complete":true,"files":[],"removed":[]}"#,
        #"{"epoch":"E","position":1,"complete":true,"files":[{"folder":"F","name":"head","byteCount":9223372036854775807,"position":1,"milliseconds":0}],"removed":[]}"#,
        #"{"epoch":"E","position":1,"complete":true,"files":[{"folder":"F","name":"head","byteCount":1,"position":2,"milliseconds":0}],"removed":[]}"#,
        #"{"epoch":"E","position":1,"complete":true,"files":[{"folder":"F","name":"../head","byteCount":1,"position":1,"milliseconds":0}],"removed":[]}"#,
        #"{"epoch":"","position":1,"complete":true,"files":[],"removed":[]}"#,
        #"{"epoch":"E","position":1,"complete":true}"#, "", "[]", "{", "null", "\u{0}",
    ])
    func aListingThatCannotBeRightIsRefused(text: String) throws {
        let mailbox = try relay.mailbox(channel)
        let document = Data(
            text.replacing("\"E\"", with: "\"\(relay.channel.epoch)\"").replacing(
                "\"F\"", with: "\"\(path.folder)\""
            )
            .utf8)
        relay.lie { request, answer in
            request.kind == .list ? RelayAnswer(status: 200, headers: [], body: document) : answer
        }
        try failsToList(mailbox, 3)
    }

    @Test func theLargestPositionIsOneLikeOthers() throws {
        let mailbox = try relay.mailbox(channel)
        let epoch = relay.channel.epoch
        relay.lie { request, answer in
            guard request.kind == .list else { return answer }
            return try MemoryRelay.document(
                RelayListing(epoch: epoch, position: .max, isComplete: true, files: [], removed: []))
        }
        _ = try mailbox.folders()
        #expect(mailbox.known?.position == .max)
        // There is no position after it, and nothing overflows.
        try write(mailbox, path, [1])
        #expect(mailbox.known == nil)
    }

    @Test func aChannelThatChangesAllTheTimeIsAskedSomeTimesOnly() throws {
        let mailbox = try relay.mailbox(channel)
        relay.lie { request, answer in request.kind == .list ? MemoryRelay.problem(.conflict) : answer }
        try failsToList(mailbox, 3)
    }

    // MARK: Files

    @Test(arguments: [
        "bytes 0-8388607/9223372036854775807", "bytes 0-0/1", "bytes 1-3/4", "bytes 0-2/", "bytes */3",
        "nonsense",
        "bytes 0-9223372036854775807/9223372036854775807", "bytes -1-2/3", "bytes 2-0/3",
    ])
    func aRangeThatWasNotAskedForIsRefused(range: String) throws {
        let mailbox = try relay.mailbox(channel)
        try write(mailbox, path, [1, 2, 3])
        relay.lie { request, answer in
            guard request.kind == .get else { return answer }
            return RelayAnswer(
                status: 206, headers: [("ETag", "\"1\""), ("Content-Range", range)], body: answer.body)
        }
        let error = #expect(throws: MailboxError.self) { try mailbox.open(path) }
        #expect(error?.code == .failed)
    }

    @Test(arguments: ["", "\"\"", "\"x\"", "\"-1\"", "W/\"1\"", "\"9223372036854775808\"", "1"])
    func aVersionThatIsNoneIsRefused(tag: String) throws {
        let mailbox = try relay.mailbox(channel)
        try write(mailbox, path, [1, 2, 3])
        relay.lie { request, answer in
            guard request.kind == .get else { return answer }
            return RelayAnswer(
                status: 206, headers: [("ETag", tag), ("Content-Range", "bytes 0-2/3")], body: answer.body)
        }
        let error = #expect(throws: MailboxError.self) { try mailbox.open(path) }
        #expect(error?.code == .failed)
    }

    @Test func anotherSizeThanTheListingsIsRefused() throws {
        let mailbox = try relay.mailbox(channel)
        try write(mailbox, path, [1, 2, 3])
        _ = try mailbox.folders()
        relay.lie { request, answer in
            guard request.kind == .get else { return answer }
            return RelayAnswer(status: 200, headers: [("ETag", "\"1\"")], body: Data([1]))
        }
        let error = #expect(throws: MailboxError.self) { try mailbox.open(path) }
        #expect(error?.code == .failed)
    }

    /// Answers each request for a range by a piece of a file that is as long as it is said to be.
    private func serve(_ total: Int) {
        relay.lie { request, answer in
            guard request.kind == .get else { return answer }
            let count = RelayDownload.rangeByteCount
            return RelayAnswer(
                status: 206,
                headers: [("ETag", "\"9\""), ("Content-Range", "bytes 0-\(count - 1)/\(total)")],
                body: Data(count: count))
        }
    }

    @Test func aFileThatIsTooLongEndsAfterOneRequest() throws {
        let mailbox = try relay.mailbox(channel)
        try write(mailbox, path, [1])
        try write(mailbox, bundle(1), [1])
        for isListed in [false, true] {
            if isListed { _ = try mailbox.folders() }
            serve(1 << 30)
            // Without a listing, nobody knows how long a bundle is.
            for file in isListed ? [path, bundle(1)] : [path] {
                let before = mailbox.requestCounts
                let error = #expect(throws: MailboxError.self) { try mailbox.open(file) }
                #expect(error?.code == .failed && (mailbox.requestCounts - before).get == 1)
            }
            relay.lie(nil)
        }
    }

    @Test func aHeadThatIsListedTooLongIsNotAskedFor() throws {
        let mailbox = try relay.mailbox(channel)
        let (epoch, file) = (relay.channel.epoch, try RelayFileName(folder: path.folder, name: path.name))
        relay.lie { request, answer in
            guard request.kind == .list else { return answer }
            let entry = RelayListing.Entry(file: file, byteCount: 1 << 30, position: 1, milliseconds: 0)
            return try MemoryRelay.document(
                RelayListing(epoch: epoch, position: 1, isComplete: true, files: [entry], removed: []))
        }
        _ = try mailbox.folders()
        let error = #expect(throws: MailboxError.self) { try mailbox.open(path) }
        #expect(error?.code == .failed && mailbox.requestCounts.get == 0)
    }

    @Test func aWrittenFileWithoutAPositionIsDoubted() throws {
        let mailbox = try relay.mailbox(channel)
        _ = try mailbox.folders()
        relay.lie { request, answer in
            request.kind == .put ? RelayAnswer(status: 201, headers: [], body: Data("{}".utf8)) : answer
        }
        let error = #expect(throws: MailboxError.self) { try write(mailbox, path, [1]) }
        #expect(error?.code == .failed && mailbox.known == nil)
    }
}
