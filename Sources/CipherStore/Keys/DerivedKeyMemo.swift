import Crypto
import Synchronization

/// Remembers derived keys, in a process of tests.
///
/// Deriving a key is made to be slow, and tests make thousands of files under few passphrases. With the memo, a key is
/// derived in full once. New files of one name have one salt, and files of different names different ones; else each
/// file is what it would be without. It is off unless tests switch it on: it keeps keys and passphrases for as long as
/// the process runs.
package enum DerivedKeyMemo {
    private struct Input: Hashable {
        let function: String
        let secret: [UInt8]
        let salt: [UInt8]
    }

    private static let isOn = Atomic(false)
    private static let keys = Mutex<[Input: (key: SecretBytes, requestCount: Int)]>([:])

    /// Remembers keys from here on. Only for tests.
    package static func enable() { isOn.store(true, ordering: .relaxed) }

    /// The salt of a new file.
    static func saltForNewFile(_ path: String) -> [UInt8] {
        guard isOn.load(ordering: .relaxed) else { return KeyDerivation.randomSalt() }
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last ?? path.utf8[...]
        return Array(SHA256.hash(data: Array(name)).prefix(CipherSettings.saltByteCount))
    }

    /// A key, derived if it is not remembered.
    ///
    /// - parameter function: What derives it, with everything but secret and salt that it depends on.
    static func key(
        _ function: @autoclosure () -> String, _ secret: SecretBytes, _ salt: [UInt8],
        derive: () throws -> SecretBytes
    ) rethrows -> SecretBytes {
        guard isOn.load(ordering: .relaxed) else { return try derive() }
        let input = Input(function: function(), secret: secret.withUnsafeBytes { Array($0) }, salt: salt)
        let known = keys.withLock { keys in
            keys[input]?.requestCount += 1
            return keys[input]?.key
        }
        if let known { return known }
        let key = try derive()
        keys.withLock { $0[input] = (key, 1) }
        return key
    }

    /// How often keys of a passphrase were asked for, each of which is a derivation outside of tests.
    package static func requestCount(of passphrase: borrowing Passphrase) -> Int {
        let secret = passphrase.bytes.withUnsafeBytes { Array($0) }
        return keys.withLock { keys in
            keys.filter { $0.key.secret == secret }.values.reduce(0) { $0 + $1.requestCount }
        }
    }
}
