import CipherStore
import Foundation
import TestSupport

/// A folder of its own for a test, removed when the test ends.
final class TemporaryFolder: Sendable {
    let path: String

    /// - parameter isInMemory: Whether to make it where nothing waits for a disk, if the system has
    ///   such a place: for tests that open hundreds of files.
    init(isInMemory: Bool = false) throws {
        // A test that is about the derivation of keys finds a memo of no use.
        DerivedKeys.remember()
        let memory = "/dev/shm/"
        let parent =
            isInMemory && FileManager.default.isWritableFile(atPath: memory)
            ? memory : NSTemporaryDirectory()
        path = parent + "cipherstore-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    func contents() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }
}

extension Configuration {
    /// A configuration with a passphrase.
    static func keyed(_ passphrase: String) -> Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(passphrase) }
        return configuration
    }
}
