import TestSupport
import Testing

@testable import CipherStore

/// Passphrases that open many files, and those of some groups of them.
@Suite struct SharedPassphraseTests {
    init() { DerivedKeys.remember() }

    @Test func thePassphraseOfAGroupIsDerivedOnceForAllThatShareTheOneOfTheRest() throws {
        let text = "a group's own, of this test alone"
        let salt = SharedPassphrase.exactSalt(of: [1, 2, 3])
        let shared = SharedPassphrase(try Passphrase("of the rest"), cost: .minimum)
        func key(_ passphrase: String) throws -> SecretBytes {
            // Each synchronization has its own.
            let groups = SharedPassphrase(shared, groups: [salt: { Secret(try Passphrase(passphrase)) }])
            return try groups.key(cost: .minimum, salt: salt)
        }
        let key1 = try key(text)
        let key2 = try key(text)
        #expect(key1.matches(key2))
        #expect(DerivedKeyMemo.requestCount(of: try Passphrase(text)) == 1)
        let other = try key("another")
        #expect(!other.matches(key1))
        // Who has no passphrase of the group gets nothing of what others derived.
        let own = try shared.key(cost: .minimum, salt: salt)
        #expect(!own.matches(key1))
    }

    @Test func thePassphraseOfAGroupIsMadeWhenAFileOfItIsOpened() throws {
        let made = Lock<[Int]>([])
        var secrets: SharedPassphrase.GroupSecrets = [:]
        for number in 0..<100 {
            secrets[SharedPassphrase.exactSalt(of: [UInt8(number)])] = {
                made.withLock { $0.append(number) }
                return Secret(try Passphrase("of group \(number)"))
            }
        }
        let base = SharedPassphrase(try Passphrase("of the rest"), cost: .minimum)
        let shared = SharedPassphrase(base, groups: secrets)
        #expect(made.withLock { $0 } == [])
        _ = try shared.key(cost: .minimum, salt: SharedPassphrase.exactSalt(of: [7]))
        #expect(made.withLock { $0 } == [7])
    }
}
