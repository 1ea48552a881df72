import Foundation
import Testing

@testable import CipherStore
@testable import SyncctlCommands

/// What is advised about a keyring never costs the only key.
@Suite struct KeyringAdviceTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<1)
        try StoreRekey.makeKeyring(
            path: place.path("a.db"), from: Passphrase(Workplace.passphrase("a")), cost: .minimum)
    }

    private var keyring: String { place.path("a.db.keys") }
    private var copy: String { place.path("a.db.keys.bak") }

    private func change(_ path: String, at offset: Int, to byte: UInt8? = nil) throws {
        let url = URL(fileURLWithPath: path)
        var bytes = try Data(contentsOf: url)
        bytes[offset] = byte ?? bytes[offset] ^ 1
        try bytes.write(to: url)
    }

    private func verify() throws -> (status: Int32, document: [String: Any], advice: String) {
        let arguments = ["verify", place.path("a.db"), "--json", "--passphrase-file", place.secret("a")]
        let result = try place.run(arguments)
        let document = try result.document()
        let advice = try #require(document["advice"] as? [String])
        return (result.status, document, advice.joined(separator: "\n"))
    }

    private func findings() -> [Finding] {
        StoreFileChecks(store: place.path("a.db"), now: 4_000_000_000).findings()
    }

    @Test func aMissingCopyIsNoDamageAndIsMadeFromTheKeyring() throws {
        try FileManager.default.removeItem(atPath: copy)
        let (status, document, advice) = try verify()
        let problems = try #require(document["problems"] as? [[String: Any]])
        #expect(status == 1 && problems.map { $0["kind"] as? String } == ["keyring-copy"])
        #expect(advice == "make the copy again: cp \(keyring) \(copy)")
        let named = findings().filter { $0.what.contains(copy) }
        #expect(named.map(\.advice) == [advice])
    }

    @Test func aDamagedCopyIsMadeAnewFromTheKeyring() throws {
        try change(copy, at: 40)
        let (status, _, advice) = try verify()
        #expect(status == 16)
        #expect(advice.contains("mv -n \(copy) \(copy).damaged && cp -n \(keyring) \(copy)"), "\(advice)")
        #expect(findings().contains { $0.what.contains(copy) && $0.advice == advice })
    }

    @Test func aDamagedKeyringIsRenamedBeforeItsCopyTakesItsPlace() throws {
        try change(keyring, at: 40)
        let found = findings().filter { $0.severity == .error }
        #expect(found.count == 1)
        let advice = try #require(found.first?.advice)
        #expect(
            advice.contains("mv -n \(keyring) \(keyring).damaged && cp -n \(copy) \(keyring)"), "\(advice)")
        try change(copy, at: 40)
        let both = try #require(findings().first { $0.severity == .error }?.advice)
        #expect(both.contains("mv -n \(keyring)") && !both.contains("cp -n"), "\(both)")
    }

    @Test func aKeyringThatIsOnlyOutOfReachIsNotToBeReplaced() throws {
        try change(keyring, at: KeyringFile.magic.count, to: 3)
        let newer = findings().filter { $0.severity == .error }
        #expect(
            newer.count == 1 && newer.allSatisfy { $0.advice.hasPrefix("use a newer syncctl") }, "\(newer)")
        try FileManager.default.removeItem(atPath: keyring)
        try FileManager.default.createDirectory(atPath: keyring, withIntermediateDirectories: false)
        let unread = findings().filter { $0.severity == .error }
        #expect(unread.map(\.advice) == ["look at it with: ls -ld \(keyring)"])
    }

    @Test func aCopyOfANewerVersionIsNoDamage() throws {
        try change(copy, at: KeyringFile.magic.count, to: 3)
        let (status, _, advice) = try verify()
        #expect(status == 1 && advice.hasPrefix("use a newer syncctl"), "\(advice)")
    }
}
