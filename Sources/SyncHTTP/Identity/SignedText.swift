import Crypto
import Foundation
import SyncWire

/// What devices sign.
///
/// Each text begins with what it is for, and each part with its length, so that no signature can be
/// used for anything else.
enum SignedText {
    /// For enrolment: the challenge of the server, and whom the device takes for the server.
    static func enrolment(
        challenge: [UInt8], secretHash: [UInt8], key: [UInt8], store: StoreID, server: [UInt8]
    ) -> [UInt8] {
        text("cipherstore enrolment 1", [challenge, secretHash, key, store.bytes, server])
    }

    /// For a session: the challenge of the server, and whom the device takes for the server.
    static func session(
        challenge: [UInt8], key: [UInt8], store: StoreID, server: [UInt8]
    ) -> [UInt8] {
        text("cipherstore session 1", [challenge, key, store.bytes, server])
    }

    /// For a request: its session, its number in it, and all of its content.
    static func request(
        session: [UInt8], number: UInt64, method: String, target: String, body: some DataProtocol
    ) -> [UInt8] {
        text(
            "cipherstore request 1",
            [
                session, withUnsafeBytes(of: number.bigEndian) { Array($0) }, Array(method.utf8),
                Array(target.utf8), Array(SHA256.hash(data: body)),
            ])
    }

    private static func text(_ label: String, _ parts: [[UInt8]]) -> [UInt8] {
        var bytes = Array(label.utf8) + [0]
        for part in parts {
            withUnsafeBytes(of: UInt32(part.count).bigEndian) { bytes += $0 }
            bytes += part
        }
        return bytes
    }
}
