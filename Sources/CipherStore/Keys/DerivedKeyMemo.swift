import Crypto
import Foundation
import Synchronization

/// Remembers derived keys, in a process of tests.
///
/// Deriving a key is made to be slow, and tests make thousands of files under few passphrases. With the memo, a key is
/// derived in full once. New files of one name have one salt, files of different names different ones, and everything
/// else that needs a new salt has one of two in turn. Otherwise each file is what it would be without the memo. It is off
/// unless tests switch it on: it keeps keys and passphrases for as long as the process runs. In debug builds, programs that tests start can be shown the keys that the tests know.
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

    private static let turn = Atomic(0)

    /// A salt of anything but a new file.
    static func newSalt(for purpose: String, byteCount: Int) -> [UInt8] {
        guard isOn.load(ordering: .relaxed) else { return SlotKey.randomBytes(byteCount) }
        let number = turn.wrappingAdd(1, ordering: .relaxed).oldValue % 2
        return Array(SHA256.hash(data: Array("\(purpose) \(number)".utf8)).prefix(byteCount))
    }

    /// The group for whose files a key is derived. With the memo, all random ones are two.
    static func group(_ group: [UInt8]) -> [UInt8] {
        guard isOn.load(ordering: .relaxed) else { return group }
        return [(group.last ?? 0) % 2]
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
        #if DEBUG
            let key = try sharedKey(input) ?? derive()
            share(key, input)
        #else
            let key = try derive()
        #endif
        keys.withLock { $0[input] = (key, 1) }
        return key
    }

    #if DEBUG
        /// A folder in which the keys lie of tests and of the programs that they start.
        private static let folder = Mutex<String?>(nil)

        /// Remembers keys from here on, and shares them with other processes.
        ///
        /// - parameter folder: A folder that only the tests read. Who can read it has the keys.
        package static func enable(sharing folder: String) {
            Self.folder.withLock { $0 = folder }
            enable()
        }

        private static func file(_ input: Input, in folder: String) -> String {
            var hash = SHA256()
            for part in [Array(input.function.utf8), input.secret, input.salt] {
                hash.update(data: Data(SHA256.hash(data: part)))
            }
            return folder + "/"
                + hash.finalize().map { String(Int($0) | 256, radix: 16).dropFirst() }.joined()
        }

        private static func sharedKey(_ input: Input) -> SecretBytes? {
            guard let folder = folder.withLock({ $0 }),
                let data = FileManager.default.contents(atPath: file(input, in: folder)), !data.isEmpty
            else { return nil }
            return try? data.withUnsafeBytes { try SecretBytes($0) }
        }

        private static func share(_ key: SecretBytes, _ input: Input) {
            guard let folder = folder.withLock({ $0 }) else { return }
            let url = URL(fileURLWithPath: file(input, in: folder))
            // Without the file, the other process derives the key itself. A process that is killed leaves no half of one.
            try? key.withUnsafeBytes { try Data($0).write(to: url, options: .atomic) }
        }
    #endif

    /// How often keys of a passphrase were asked for, each of which is a derivation outside of tests.
    package static func requestCount(of passphrase: borrowing Passphrase) -> Int {
        let secret = passphrase.bytes.withUnsafeBytes { Array($0) }
        return keys.withLock { keys in
            keys.filter { $0.key.secret == secret }.values.reduce(0) { $0 + $1.requestCount }
        }
    }
}
