import Foundation
import Testing

@testable import CipherStore

/// The ways to have a database in which bad input is tried.
struct StoreKind: Sendable, CustomTestStringConvertible {
    var isPool: Bool
    var isEncrypted: Bool

    static let all = [
        StoreKind(isPool: false, isEncrypted: false), StoreKind(isPool: false, isEncrypted: true),
        StoreKind(isPool: true, isEncrypted: false), StoreKind(isPool: true, isEncrypted: true),
    ]

    var testDescription: String { (isEncrypted ? "encrypted " : "plain ") + (isPool ? "pool" : "queue") }

    var passphrase: String? { isEncrypted ? "secret" : nil }

    func open(_ path: String) throws -> any DatabaseWriter {
        let configuration = passphrase.map(Configuration.keyed) ?? Configuration()
        return isPool
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
    }
}
