import Foundation
import Testing

@testable import SyncRelay

@Suite struct RelayDocumentTests {
    private let folder = String(repeating: "0a", count: 16)

    private func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try RelayJSON.decode(type, from: Array(text.utf8))
    }

    @Test func identifiersAreThirtyTwoDigitsInLowerCase() throws {
        let id = RelayChannelID.random()
        #expect(RelayChannelID(id.description) == id)
        for text in [
            "", "0", id.description + "0", String(repeating: "A", count: 32),
            String(repeating: "é", count: 16),
        ] {
            #expect(RelayChannelID(text) == nil)
        }
        #expect(RelayEpoch(bytes: [1]) == nil)
    }

    @Test(arguments: [
        "head", "0001.bundle", "a", String(repeating: "z", count: 64), "a..b", "-",
    ]) func namesOfFilesAreTaken(_ name: String) throws {
        #expect(try RelayFileName(folder: folder, name: name).name == name)
    }

    @Test(arguments: [
        "", ".", "..", ".hidden", "a/b", "A", "é", "a\u{0}", "a b", "a%2f", String(repeating: "z", count: 65),
    ]) func otherNamesAreNot(_ name: String) {
        #expect(throws: RelayProblem.self) { try RelayFileName(folder: folder, name: name) }
    }

    @Test(arguments: ["", "..", String(repeating: "g", count: 32), String(repeating: "A", count: 32)])
    func foldersAreIdentifiers(_ folder: String) {
        #expect(throws: RelayProblem.self) { try RelayFileName(folder: folder, name: "head") }
    }

    @Test func tokensAreNotShown() throws {
        let token = RelayToken.random()
        var dumped = ""
        dump(token, to: &dumped)
        let shown = "\(token) \(String(reflecting: token)) \(dumped)"
        #expect(!shown.contains(token.secretText))
        #expect(RelayToken(authorization: token.authorization) == token)
        #expect(RelayToken(authorization: "Basic " + token.secretText) == nil)
        #expect(RelayToken(authorization: token.secretText) == nil)
        #expect(RelayToken(authorization: token.authorization + "0") == nil)
    }

    @Test func digestsTravelInHeaders() throws {
        let digest = RelayDigest(of: Data("text".utf8))
        #expect(RelayDigest(contentDigest: digest.contentDigest) == digest)
        #expect(RelayDigest(contentDigest: "md5=:AAAA:, " + digest.contentDigest) == digest)
        #expect(RelayDigest(contentDigest: "md5=:AAAA:") == nil)
        #expect(RelayDigest(contentDigest: "sha-256=:AAAA:") == nil)
        #expect(RelayDigest(contentDigest: "sha-256=:AAAA") == nil)
        #expect(digest.isSame(as: digest))
        #expect(!digest.isSame(as: RelayDigest(of: Data())))
    }

    @Test func changesAreWrittenAsTheContractHasThem() throws {
        let file = try RelayFileName(folder: folder, name: "head")
        let changes = try RelayChanges([
            .write(file, replacing: true, content: Data([1, 2, 3])), .remove(file),
        ])
        let text = String(decoding: try RelayJSON.encode(changes), as: UTF8.self)
        #expect(
            text == """
                {"changes":[{"write":{"content":"AQID","folder":"\(folder)","name":"head","replacing":true}},\
                {"remove":{"folder":"\(folder)","name":"head"}}]}
                """)
        #expect(try decode(RelayChanges.self, text) == changes)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"changes":1}"#, #"{"changes":[{}]}"#,
        #"{"changes":[{"remove":{"folder":"","name":""}}]}"#,
        #"{"changes":[{"write":{"folder":"00000000000000000000000000000000","name":"a","replacing":true}}]}"#,
        #"{"changes":[{"write":{"folder":"00000000000000000000000000000000","name":"a","replacing":1,"content":""}}]}"#,
    ]) func malformedChangesAreRefused(_ text: String) {
        #expect(throws: RelayProblem.self) { try decode(RelayChanges.self, text) }
    }

    @Test func tooManyChangesAreNotReadToTheEnd() throws {
        let one = #"{"remove":{"folder":"\#(folder)","name":"a"}}"#
        let most = #"{"changes":["# + Array(repeating: one, count: 256).joined(separator: ",") + "]}"
        #expect(try decode(RelayChanges.self, most).changes.count == 256)
        let more = #"{"changes":["# + Array(repeating: one, count: 257).joined(separator: ",") + "]}"
        #expect { try decode(RelayChanges.self, more) } throws: { ($0 as? RelayProblem)?.code == .tooLarge }
    }

    @Test func listingsTravelAndAreBounded() throws {
        let file = try RelayFileName(folder: folder, name: "head")
        let entry = RelayListing.Entry(
            file: file, byteCount: 812, position: 12, milliseconds: 1_700_000_000_000)
        let listing = RelayListing(
            epoch: .random(), position: .max, isComplete: false, files: [entry],
            removed: [try RelayFileName(folder: folder, name: "0001.bundle")], next: "x")
        #expect(try RelayJSON.decode(RelayListing.self, from: RelayJSON.encode(listing)) == listing)
        let long = RelayListing(
            epoch: .random(), position: 1, isComplete: true, files: Array(repeating: entry, count: 1_001),
            removed: [])
        #expect(throws: RelayProblem.self) {
            try RelayJSON.decode(RelayListing.self, from: RelayJSON.encode(long))
        }
    }

    @Test(arguments: ["-1", "9223372036854775808", "1.5", "\"1\"", "null", "1e30"])
    func positionsAreNaturalNumbers(_ number: String) {
        #expect(throws: RelayProblem.self) {
            try decode(RelayPlace.self, #"{"position":\#(number)}"#)
        }
    }

    @Test func unknownMembersAreIgnored() throws {
        #expect(
            try decode(RelayPlace.self, #"{"position":9223372036854775807,"more":[{}]}"#).position == .max)
    }

    @Test func problemsTravel() throws {
        let problem = RelayProblem(.full, "the channel is full", byteCount: 5, byteCountMax: 4)
        #expect(problem.status == 507)
        #expect(try RelayJSON.decode(RelayProblem.self, from: RelayJSON.encode(problem)) == problem)
        let full = RelayProblem(.diskFull, "the relay's disk is full")
        #expect(full.status == 503 && full.retrySeconds == 30)
        #expect(try RelayJSON.decode(RelayProblem.self, from: RelayJSON.encode(full)).code == .diskFull)
        let unknown = try decode(RelayProblem.self, #"{"type":"new","title":"x","status":499}"#)
        #expect(unknown.code == .unavailable && unknown.status == 499)
    }

    @Test func invitationsAreBounded() throws {
        #expect(throws: RelayProblem.self) {
            try RelayInvitationDeposit(sealed: Data(count: 1_025), seconds: 1)
        }
        #expect(throws: RelayProblem.self) { try RelayInvitationDeposit(sealed: Data(), seconds: 1) }
        for seconds in [Int64.min, -1, 0, 30 * 86_400 + 1, .max] {
            #expect(throws: RelayProblem.self) {
                try RelayInvitationDeposit(sealed: Data(count: 1), seconds: seconds)
            }
        }
    }
}
