import SyncEngine
import TestSupport
import Testing

@testable import SyncHTTP

@Suite(.anyEngine) struct InviteLinkTests {
    static let store = StoreID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)

    static func link(_ host: String = "hub.example", _ trust: ServerAddress.Trust) throws -> InviteLink {
        InviteLink(
            address: try ServerAddress(host: host, port: 7443, trust: trust), store: store,
            secret: Array(1...16))
    }

    @Test(arguments: [
        ServerAddress.Trust.fingerprint([UInt8](repeating: 7, count: 32)), .systemRoots,
    ])
    func itIsReadAsItWasWritten(trust: ServerAddress.Trust) throws {
        for host in ["hub.example", "192.168.0.7", "fe80::1"] {
            let link = try Self.link(host, trust)
            #expect(InviteLink(link.description) == link)
            #expect(link.description.hasPrefix("cipherstore://"))
        }
    }

    @Test func anyTypingErrorIsNoticed() throws {
        let text = Array(try Self.link("hub.example", .systemRoots).description.utf8)
        for index in text.indices {
            for replacement in [UInt8(ascii: "a"), UInt8(ascii: "1"), UInt8(ascii: "-")]
            where replacement != text[index] {
                var other = text
                other[index] = replacement
                #expect(InviteLink(String(decoding: other, as: UTF8.self)) == nil)
            }
            var shorter = text
            shorter.remove(at: index)
            #expect(InviteLink(String(decoding: shorter, as: UTF8.self)) == nil)
        }
    }

    @Test(arguments: [
        "", "cipherstore://", "cipherstore:///", "cipherstore://hub", "cipherstore://hub:1/",
        "https://hub:1/AAAA",
        "cipherstore://hub:99999/AQ", "cipherstore://hub:1/====", "cipherstore://[::1/AQ",
    ])
    func whatIsNoLinkIsNotRead(text: String) { #expect(InviteLink(text) == nil) }

    @Test func aServerWithoutTLSIsOnThisMachine() throws {
        #expect(throws: RemoteError.self) {
            try ServerAddress(host: "hub.example", port: 1, trust: .loopback)
        }
        #expect(throws: RemoteError.self) {
            try ServerAddress(host: "127.0.0.1.example", port: 1, trust: .loopback)
        }
        let link = try Self.link("127.0.0.1", .loopback)
        #expect(InviteLink(link.description) == link)
    }

    @Test(arguments: ["", "a b", "höb", "a/b", "a@b", "a?b", String(repeating: "a", count: 254)])
    func aHostHasOnlyLettersOfHosts(host: String) {
        #expect(throws: RemoteError.self) {
            try ServerAddress(host: host, port: 1, trust: .systemRoots)
        }
    }
}
