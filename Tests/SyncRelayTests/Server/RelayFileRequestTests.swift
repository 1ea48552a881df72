import Foundation
import NIOHTTP1
import TestSupport
import Testing

@testable import SyncRelay

@Suite struct RelayFileRequestTests {
    @Test(arguments: [0, 1, 812, 262_144, 262_145, 3_000_000])
    func aFileIsWrittenReadReplacedAndRemoved(_ count: Int) async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        let content = pattern(count)
        let written = try await relay.put("head", content, in: channel)
        #expect(written.status == 201)
        #expect(try written.document(RelayPlace.self).position == 1)
        let read = try await relay.get("head", in: channel)
        #expect(read.status == 200 && read.body == content)
        #expect(read.headers["etag"] == "\"1\"" && read.headers["accept-ranges"] == "bytes")
        #expect(read.headers["content-type"] == "application/octet-stream")
        #expect(read.headers["content-length"] == "\(count)")
        let replaced = try await relay.put("head", pattern(count, seed: 2), in: channel)
        #expect(replaced.status == 200)
        #expect(try replaced.document(RelayPlace.self).position == 2)
        let removed = try await relay.request(.DELETE, channel.path("head"), token: channel.writeToken)
        #expect(removed.status == 200)
        #expect(try removed.document(RelayPlace.self).position == 3)
        let again = try await relay.request(.DELETE, channel.path("head"), token: channel.writeToken)
        #expect(try again.document(RelayPlace.self).position == 3)
        let gone = try await relay.get("head", in: channel)
        #expect(gone.status == 404 && gone.problem == .missing)
    }

    @Test func aFileThatIsNotToBeReplacedStays() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        for count in [5, 600_000] {
            let headers = [("if-none-match", "*")]
            let content = pattern(count)
            #expect(try await relay.put("f\(count)", content, in: channel, headers: headers).status == 201)
            let position = try await relay.storage.state(of: channel.id).position
            let same = try await relay.put("f\(count)", content, in: channel, headers: headers)
            #expect(same.status == 200)
            #expect(try same.document(RelayPlace.self).position == position)
            let other = try await relay.put(
                "f\(count)", pattern(count, seed: 2), in: channel, headers: headers)
            #expect(other.status == 412 && other.problem == .exists)
            #expect(try await relay.get("f\(count)", in: channel).body == content)
        }
        let answer = try await relay.put("a", Data(), in: channel, headers: [("if-none-match", "\"1\"")])
        #expect(answer.problem == .malformed)
    }

    @Test func aBodyWithAnotherDigestIsRefusedAndLeavesNothing() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        for count in [5, 900_000] {
            let wrong = RelayDigest(of: pattern(count, seed: 2)).contentDigest
            let answer = try await relay.request(
                .PUT, channel.path("a"), token: channel.writeToken, headers: [("content-digest", wrong)],
                body: pattern(count))
            #expect(answer.status == 400 && answer.problem == .digestMismatch)
        }
        for header in [nil, "md5=:AAAA:", "sha-256=:AAAA:", "sha-256", ""] {
            let headers = header.map { [("content-digest", $0)] } ?? []
            let answer = try await relay.request(
                .PUT, channel.path("a"), token: channel.writeToken, headers: headers, body: Data([1]))
            #expect(answer.status == 400 && answer.problem == .malformed)
        }
        #expect(try await relay.storage.state(of: channel.id).position == 0)
        relay.storage.queue.drain()
        #expect(try await relay.storage.blockCount() == 0)
    }

    @Test(arguments: [
        "A", ".hidden", "a%2fb", "%2e%2e", String(repeating: "a", count: 65), "a%00", "", "a+b",
    ]) func malformedNamesAreRefused(_ name: String) async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        let answers = [
            try await relay.put(name, Data([1]), in: channel), try await relay.get(name, in: channel),
            try await relay.request(.DELETE, channel.path(name), token: channel.writeToken),
            try await relay.request(.GET, channel.path + "/files/x/a", token: channel.readToken),
        ]
        for answer in answers { #expect(answer.status == 400 && answer.problem == .malformed) }
    }

    // MARK: Parts

    @Test(arguments: [
        ("bytes=0-0", 0, 1), ("bytes=5-", 5, 700_000), ("bytes=-7", 699_993, 700_000),
        ("bytes=262143-262144", 262_143, 262_145), ("bytes=1-600000", 1, 600_001),
        ("bytes=699999-9223372036854775807", 699_999, 700_000), ("bytes=-9223372036854775807", 0, 700_000),
    ]) func aPartIsRead(_ range: String, _ start: Int, _ end: Int) async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        let content = pattern(700_000)
        _ = try await relay.put("a", content, in: channel)
        let answer = try await relay.get("a", in: channel, headers: [("range", range)])
        #expect(answer.status == 206 && answer.body == content[start..<end])
        #expect(answer.headers["content-range"] == "bytes \(start)-\(end - 1)/700000")
    }

    @Test(arguments: ["bytes=700000-", "bytes=9223372036854775807-", "bytes=-0"])
    func aPartThatIsNotThereIsRefused(_ range: String) async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        _ = try await relay.put("a", pattern(700_000), in: channel)
        let answer = try await relay.get("a", in: channel, headers: [("range", range)])
        #expect(answer.status == 416 && answer.headers["content-range"] == "bytes */700000")
    }

    @Test(arguments: [
        "bytes=0-1,3-4", "bytes=2-1", "bytes=x-", "bytes=-", "items=0-1", "bytes=9223372036854775808-",
        "bytes=--1",
    ]) func aRangeThatCannotBeReadCountsAsNone(_ range: String) async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        _ = try await relay.put("a", pattern(10), in: channel)
        let answer = try await relay.get("a", in: channel, headers: [("range", range)])
        #expect(answer.status == 200 && answer.body == pattern(10))
    }

    @Test func aPartIsOfTheVersionThatWasAskedFor() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        _ = try await relay.put("a", pattern(10), in: channel)
        _ = try await relay.put("a", pattern(10, seed: 2), in: channel)
        let range = ("range", "bytes=0-3")
        #expect(try await relay.get("a", in: channel, headers: [range, ("if-match", "\"2\"")]).status == 206)
        #expect(try await relay.get("a", in: channel, headers: [range, ("if-match", "*")]).status == 206)
        let old = try await relay.get("a", in: channel, headers: [range, ("if-match", "\"1\"")])
        #expect(old.status == 412 && old.problem == .conflict)
        #expect(try await relay.get("a", in: channel, headers: [range, ("if-range", "\"1\"")]).status == 200)
        #expect(try await relay.get("a", in: channel, headers: [range, ("if-range", "\"2\"")]).status == 206)
    }

    @Test func anAnswerIsCutWhenItsFileIsReplacedMeanwhile() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        // More than all buffers on the way hold.
        _ = try await relay.put("a", pattern(60_000_000), in: channel)
        let answer = try await relay.open(.GET, channel.path("a"), token: channel.readToken)
        _ = try await relay.put("a", pattern(5), in: channel)
        relay.storage.queue.drain()
        await #expect(throws: (any Error).self) { try await answer.body.collect(upTo: 64 << 20) }
    }

    // MARK: Bounds

    @Test func theQuotaRefusesWritingAndNothingElse() async throws {
        let relay = try await RunningRelay(storage: { $0.channelByteCountMax = 1_000_000 })
        let channel = try await relay.channel()
        _ = try await relay.put("a", pattern(900_000), in: channel)
        for count in [200_000, 400_000] {
            let answer = try await relay.put("b", pattern(count), in: channel)
            let problem = try answer.document(RelayProblem.self)
            #expect(answer.status == 507 && problem.code == .full)
            #expect(problem.byteCount == Int64(900_000 + count) && problem.byteCountMax == 1_000_000)
        }
        #expect(try await relay.get("a", in: channel).body.count == 900_000)
        #expect(
            try await relay.request(.GET, channel.path + "/files", token: channel.readToken).status == 200)
        #expect(try await relay.request(.DELETE, channel.path("a"), token: channel.writeToken).status == 200)
        #expect(try await relay.put("b", pattern(400_000), in: channel).status == 201)
    }

    @Test func aFullDiskIsUnavailableAndGoesOnWhenThereIsRoom() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        _ = try await relay.put("a", pattern(1_000), in: channel)
        try await relay.storage.setPageCountMax(adding: 150)
        for count in [200_000, 2_000_000] {
            // The first of them may still fit in.
            let answer = try await relay.put("b\(count)", pattern(count), in: channel)
            guard count > 200_000 else { continue }
            #expect(
                answer.status == 503 && answer.problem == .diskFull
                    && answer.headers["retry-after"] == "30")
        }
        #expect(try await relay.get("a", in: channel).body == pattern(1_000))
        try await relay.storage.setPageCountMax(adding: 1_000_000)
        #expect(try await relay.put("b", pattern(2_000_000), in: channel).status == 201)
    }

    @Test(arguments: [
        ("content-length: 4294967297\r\n", 413), ("content-length: 9223372036854775807\r\n", 413),
        ("transfer-encoding: chunked\r\n", 411), ("content-length: 99999999999999999999\r\n", 400),
        ("content-length: -1\r\n", 400),
    ]) func lengthsThatCannotBeAreRefusedBeforeTheBody(_ header: String, _ status: Int) async throws {
        // It is read until the relay ends the connection.
        let relay = try await RunningRelay { $0.limits.refusalSeconds = 0.2 }
        let channel = try await relay.channel()
        let digest = RelayDigest(of: Data()).contentDigest
        let head =
            "PUT \(channel.path("a")) HTTP/1.1\r\nhost: relay\r\nauthorization: \(channel.writeToken.authorization)\r\n"
            + "content-digest: \(digest)\r\n\(header)\r\n"
        let port = relay.port
        let answer = await onThread { LoopbackSocket(port: port)?.exchange(Data(head.utf8)) }
        #expect(String(decoding: answer ?? Data(), as: UTF8.self).hasPrefix("HTTP/1.1 \(status) "))
    }

    @Test(arguments: [1_000, 1_000_000]) func aBodyThatIsCutLeavesNothing(_ count: Int) async throws {
        let relay = try await RunningRelay { $0.limits.silenceSeconds = 0.3 }
        let channel = try await relay.channel()
        let content = pattern(count)
        let head =
            "PUT \(channel.path("a")) HTTP/1.1\r\nhost: relay\r\nauthorization: \(channel.writeToken.authorization)\r\n"
            + "content-digest: \(RelayDigest(of: content).contentDigest)\r\ncontent-length: \(count)\r\n\r\n"
        let port = relay.port
        // All but the last byte, and then nothing: the relay ends the connection.
        _ = await onThread { LoopbackSocket(port: port)?.exchange(Data(head.utf8) + content.dropLast()) }
        await expectProblem(.missing) {
            try await relay.storage.version(of: .numbered(0, "a"), in: channel.id)
        }
        // On a busy machine, the connection may end before the relay comes to begin the upload.
        await relay.end()
        #expect(try await relay.storage.uploadCount() == 0)
        relay.storage.queue.drain()
        #expect(try await relay.storage.blockCount() == 0)
        #expect(try await relay.storage.state(of: channel.id).position == 0)
    }

    @Test func manyWritersAtOnceGetContiguousPositions() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        let positions = try await withThrowingTaskGroup(of: RelayPosition.self) { group in
            for number in 0..<200 {
                group.addTask {
                    try await relay.put(
                        "f\(number)", pattern(number * 1_500, seed: UInt64(number)), in: channel
                    )
                    .document(RelayPlace.self).position
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(positions.sorted() == Array(1...200))
        for number in [0, 1, 199] {
            let content = try await relay.get("f\(number)", in: channel).body
            #expect(content == pattern(number * 1_500, seed: UInt64(number)))
        }
    }

    // MARK: Several at once

    @Test func severalChangesAreMadeTogether() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        let file = try RelayFileName.numbered(0, "a")
        let changes = try RelayChanges([
            .write(file, replacing: false, content: pattern(10)), .remove(file),
            .write(file, replacing: true, content: pattern(300_000)),
        ])
        let path = channel.path + "/changes"
        let answer = try await relay.request(
            .POST, path, token: channel.writeToken, body: Data(try RelayJSON.encode(changes)))
        #expect(answer.status == 200)
        #expect(try answer.document(RelayPlace.self).position == 3)
        #expect(try await relay.storage.content("a", in: channel.id) == pattern(300_000))
        let refused = try RelayChanges([
            .remove(file), .write(file, replacing: true, content: Data()),
            .write(file, replacing: false, content: Data([1])),
        ])
        let second = try await relay.request(
            .POST, path, token: channel.writeToken, body: Data(try RelayJSON.encode(refused)))
        #expect(second.status == 412 && second.problem == .exists)
        #expect(try await relay.storage.state(of: channel.id).position == 3)
    }

    @Test func tooManyChangesAndTooLongDocumentsAreRefused() async throws {
        // It is read until the relay ends the connection.
        let relay = try await RunningRelay { $0.limits.refusalSeconds = 0.2 }
        let channel = try await relay.channel()
        let one = #"{"remove":{"folder":"\#(TestChannel.folder)","name":"a"}}"#
        let many = "{\"changes\":[" + Array(repeating: one, count: 257).joined(separator: ",") + "]}"
        let path = channel.path + "/changes"
        let answer = try await relay.request(.POST, path, token: channel.writeToken, body: Data(many.utf8))
        #expect(answer.status == 413 && answer.problem == .tooLarge)
        // A longer one is refused before it is sent, which the client of these tests takes for a broken connection.
        let head =
            "POST \(path) HTTP/1.1\r\nhost: relay\r\nauthorization: \(channel.writeToken.authorization)\r\n"
            + "content-length: \((4 << 20) + 1)\r\n\r\n"
        let port = relay.port
        let refusal = await onThread { LoopbackSocket(port: port)?.exchange(Data(head.utf8)) }
        let text = String(decoding: refusal ?? Data(), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 413 ") && text.contains("\"tooLarge\""), "\(text)")
        for text in [
            "", "[]", "{\"changes\":[{}]}", "{\"changes\":{}}",
            String(repeating: "{\"changes\":[", count: 50_000),
        ] {
            let answer = try await relay.request(
                .POST, path, token: channel.writeToken, body: Data(text.utf8))
            #expect(answer.status == 400 && answer.problem == .malformed)
        }
        let empty = try await relay.request(
            .POST, path, token: channel.writeToken, body: Data("{\"changes\":[]}".utf8))
        #expect(try empty.document(RelayPlace.self).position == 0)
    }

    @Test func aFileWhoseUploadWasGivenUpIsToBeSentAgain() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        // As in a storage that was put back while the file came.
        try await relay.storage.pool.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER lost AFTER UPDATE ON upload WHEN NEW.received = NEW.byteCount
                    BEGIN DELETE FROM upload WHERE body = NEW.body; END
                    """)
        }
        let answer = try await relay.put("a", pattern(700_000), in: channel)
        #expect(answer.status == 503 && answer.problem == .unavailable)
        #expect(answer.headers["retry-after"] == "1")
        try await relay.storage.pool.writeWithoutTransaction { db in
            try db.execute(sql: "DROP TRIGGER lost")
        }
        let again = try await relay.put("a", pattern(700_000), in: channel)
        #expect(again.status == 201)
    }
}
