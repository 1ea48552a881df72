import Crypto
import Foundation
import SyncWire

/// The signature of a device over what a replica says about its files.
///
/// It is over the database and the replica, too, so that no head can stand in another place.
package enum HeadSignature {
    /// How many bytes it has.
    package static let byteCount = 64

    private static func message(_ content: Data, _ store: StoreID, _ replica: ReplicaID) -> [UInt8] {
        Domain.head.bytes + store.bytes + replica.bytes + Array(content)
    }

    /// The hexadecimal digits of a signature.
    package static func text(_ signature: [UInt8]) -> String { Hexadecimal.text(signature) }

    /// The signature that such digits stand for; nil for any other text.
    package static func bytes(_ text: String) -> [UInt8]? { Hexadecimal.bytes(text, count: byteCount) }

    /// Signs the bytes of a head.
    package static func sign(
        _ content: Data, store: StoreID, replica: ReplicaID, by keys: MemberDeviceKeys
    ) throws(MembershipError) -> [UInt8] {
        try keys.signature(of: message(content, store, replica))
    }

    /// Whether a signature of these bytes is by a device.
    package static func isValid(
        _ signature: [UInt8], of content: Data, store: StoreID, replica: ReplicaID, by card: DeviceCard
    ) -> Bool {
        signature.count == byteCount && card.isValid(signature, of: message(content, store, replica))
    }
}
