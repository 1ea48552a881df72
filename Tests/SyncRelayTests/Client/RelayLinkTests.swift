import Foundation
import SyncHTTP
import Testing

@testable import SyncRelay

@Suite struct RelayLinkTests {
    private let fingerprint = [UInt8](repeating: 0xab, count: 32)

    @Test(arguments: ["relay.example", "127.0.0.1", "::1", "a-b.c_d"], [true, false])
    func aLinkIsReadAsItWasWritten(host: String, isPinned: Bool) throws {
        let address = try RelayAddress(host: host, port: 7444, fingerprint: isPinned ? fingerprint : nil)
        let link = RelayLink(address: address)
        let text = link.description
        #expect(text.hasPrefix("cipherstore-relay://") && text.contains("?fp=") == isPinned)
        #expect(RelayLink(text) == link)
    }

    @Test func nothingElseIsALink() throws {
        let link = RelayLink(address: try RelayAddress(host: "relay.example", fingerprint: fingerprint))
            .description
        let hash = try #require(link.firstIndex(of: "#"))
        let wrong = [
            "", "cipherstore-relay://", String(link.dropLast()), link + "0", link.uppercased(),
            String(link[..<hash]), link.replacing(":7444", with: ""), link.replacing(":7444", with: ":0"),
            link.replacing(":7444", with: ":65536"), link.replacing("?fp=", with: "?fq="),
            link.replacing("?fp=ab", with: "?fp="), link.replacing("relay.example", with: "a b"),
            link.replacing("relay.example", with: "user@relay.example"), link.replacing("#", with: "?x=1#"),
            link.replacing("cipherstore-relay:", with: "https:"), " " + link,
            String(repeating: "a", count: 10_000), "cipherstore-relay:///#", "cipherstore-relay://a:1/#?",
        ]
        for text in wrong { #expect(RelayLink(text) == nil, "\(text)") }
    }

    /// It would be used up otherwise, and the relay would be blamed.
    @Test func aSecretThatWasNotCopiedExactlyIsSeenBeforeTheLinkIsUsed() throws {
        let text = RelayLink(address: try RelayAddress(host: "relay.example")).description
        let hash = try #require(text.firstIndex(of: "#"))
        for offset in 1...64 {
            var characters = Array(text)
            let index = text.distance(from: text.startIndex, to: hash) + offset
            characters[index] = characters[index] == "f" ? "e" : "f"
            #expect(RelayLink(String(characters)) == nil, "\(offset)")
        }
        // As in Schemas/relay/v1.md.
        let secret = (0..<32).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let example = "cipherstore-relay://relay.example:7444/0001020304050607d8fb7efb1b35d138#" + secret
        #expect(RelayLink(example) != nil && RelayLink(example.replacing("d138#", with: "d139#")) == nil)
    }

    @Test func aLinkByAnOlderProgramIsReadAndSaysThatItMayBeMiscopied() throws {
        let invitation = RelayInvitationID.random()
        let secret = String(repeating: "5d", count: 32)
        let text = "cipherstore-relay://relay.example:7444/\(invitation)#\(secret)"
        let link = try #require(RelayLink(text))
        #expect(link.invitation == invitation && link.description == text)
        let channel = RelayChannel.random()
        let sealed = try link.seal(channel)
        #expect(try link.open(RelayInvitation(channel: channel.id, sealed: sealed)).channel == channel)
        let wrong = try #require(RelayLink(String(text.dropLast()) + "e"))
        let error = #expect(throws: RelayError.self) {
            try wrong.open(RelayInvitation(channel: channel.id, sealed: sealed))
        }
        #expect(error?.code == .forgedInvitation)
        #expect(error?.message.contains("not copied exactly") == true)
    }

    @Test func whatALinkSealsOnlyItOpens() throws {
        let address = try RelayAddress(host: "relay.example")
        let (link, other) = (RelayLink(address: address), RelayLink(address: address))
        let channel = RelayChannel.random()
        let sealed = try link.seal(channel)
        #expect(sealed.count <= RelayBounds.invitationByteCountMax)
        let opened = try link.open(RelayInvitation(channel: channel.id, sealed: sealed))
        #expect(opened.channel == channel && opened.membership == nil)
        var damaged = sealed
        damaged[20] ^= 1
        for (link, handed) in [
            (other, RelayInvitation(channel: channel.id, sealed: sealed)),
            (link, RelayInvitation(channel: channel.id, sealed: damaged)),
            (link, RelayInvitation(channel: .random(), sealed: sealed)),
            (link, RelayInvitation(channel: channel.id, sealed: Data([1, 2]))),
        ] {
            let error = #expect(throws: RelayError.self) { try link.open(handed) }
            #expect(error?.code == .forgedInvitation)
            #expect(error?.message.contains("copied") == false)
        }
    }

    @Test func anAddressIsReadFromAURL() throws {
        let plain = try RelayAddress(url: "https://relay.example:7444")
        #expect(
            plain.host == "relay.example" && plain.port == 7444 && plain.url == "https://relay.example:7444")
        #expect(try RelayAddress(url: "https://relay.example/") == plain)
        #expect(try RelayAddress(url: "HTTPS://[::1]:1").url == "https://[::1]:1")
        #expect(try RelayAddress(url: "https://[::1]").port == 7444)
        for wrong in [
            "", "relay.example", "http://relay.example", "https://", "https://a:b:1",
            "https://relay.example/path",
            "https://u@relay.example", "https://relay.example:0", "https://relay.example:99999",
            "https://a?b",
        ] {
            let error = #expect(throws: RelayError.self) { try RelayAddress(url: wrong) }
            #expect(error?.code == .invalidAddress, "\(wrong)")
        }
        let digits = String(repeating: "ab", count: 32)
        #expect(RelayAddress.fingerprint(digits) == fingerprint)
        #expect(
            RelayAddress.fingerprint(Array(repeating: "AB", count: 32).joined(separator: ":")) == fingerprint)
        #expect(RelayAddress.fingerprint("ab") == nil && RelayAddress.fingerprint(digits + "0") == nil)
    }
}
