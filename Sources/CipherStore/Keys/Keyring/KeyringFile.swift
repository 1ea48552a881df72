import Crypto
import Foundation

/// The content of a keyring's file, as `Schemas/keyring/v1.md` describes it.
///
/// There is one way to write each content: a file that is read and written
/// again has the same bytes.
struct KeyringFile: Equatable {
    static let magic = Array("CSKEYRNG".utf8)
    static let version: UInt16 = 1
    static let slotCountMax = 32
    /// More than 32 slots of the largest size take.
    static let byteCountMax = 16_384
    static let storeIDByteCount = 16
    static let checksumByteCount = 16
    static let macByteCount = 32

    /// The random name of the store; a copy of the file has the same one.
    let storeID: [UInt8]

    /// The format and page size of the database file.
    let settings: CipherSettings

    /// Grows with each change.
    var generation: UInt64

    /// The salt of the file under the active data key.
    var activeSalt: [UInt8]

    /// The salt of the file that a rotation is making, while it runs.
    var pendingSalt: [UInt8]?

    var slots: [KeySlot]

    /// What a slot commits to: whose slot it is, and all that it says about itself.
    ///
    /// - parameter dataKeySalt: The salt that belongs to the data key, for the sealing of one.
    func associatedData(of slot: KeySlot, dataKeySalt: [UInt8] = []) -> [UInt8] {
        var writer = KeyringWriter()
        writer.append(SlotKey.label("slot"))
        writer.append(storeID)
        writer.append(settings)
        writer.append(describing: slot)
        writer.append(dataKeySalt)
        return writer.bytes
    }

    /// The file's bytes.
    ///
    /// - parameter key: The active data key, which authenticates the whole.
    func encoded(authenticatedBy key: DataKey) -> [UInt8] {
        let content = encodedContent
        return content + Self.mac(of: content, key: key, storeID: storeID)
    }

    private var encodedContent: [UInt8] {
        var writer = KeyringWriter()
        writer.append(Self.magic)
        writer.append(Self.version)
        writer.append(settings)
        writer.append(storeID)
        writer.append(generation)
        writer.append(activeSalt)
        writer.append(UInt8(pendingSalt == nil ? 0 : 1))
        writer.append(pendingSalt ?? [])
        writer.append(UInt8(slots.count))
        for slot in slots {
            writer.append(describing: slot)
            writer.append(slot.commitment)
            writer.append(slot.active)
            writer.append(UInt8(slot.pending == nil ? 0 : 1))
            if let pending = slot.pending { writer.append(pending) }
        }
        return writer.bytes + Self.checksum(of: writer.bytes)
    }

    /// Finds accidental damage before a key is known, so that it does not read as a wrong passphrase.
    static func checksum(of content: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: content).prefix(checksumByteCount))
    }

    private static func mac(of content: [UInt8], key: DataKey, storeID: [UInt8]) -> [UInt8] {
        Array(
            HMAC<SHA256>.authenticationCode(for: content, using: key.key(for: "file", storeID: storeID)))
    }

    /// Returns whether the file is what a holder of the active data key wrote.
    static func isAuthentic(_ bytes: [UInt8], key: DataKey, storeID: [UInt8]) -> Bool {
        guard bytes.count > macByteCount else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            bytes.suffix(macByteCount), authenticating: bytes.dropLast(macByteCount),
            using: key.key(for: "file", storeID: storeID))
    }

    /// Reads a file's bytes. Nothing is known about who wrote them until a slot was opened.
    ///
    /// - throws: A ``StoreError`` of code `keyringDamaged`, or `formatTooNew`.
    init(parsing bytes: [UInt8], path: String) throws {
        var reader = KeyringReader(bytes, path: path)
        guard bytes.count <= Self.byteCountMax else { throw reader.damaged("it is too long") }
        guard try reader.take(Self.magic.count) == Self.magic else {
            throw reader.damaged("it is no keyring")
        }
        let version = try reader.takeUInt16()
        guard version == Self.version else {
            throw StoreError(
                .formatTooNew, "the keyring has format \(version); this program knows \(Self.version)",
                path: path, needsNewerLibrary: true)
        }
        let content = bytes.dropLast(Self.macByteCount + Self.checksumByteCount)
        guard
            Array(bytes.dropLast(Self.macByteCount).suffix(Self.checksumByteCount))
                == Self.checksum(of: Array(content))
        else { throw reader.damaged("its checksum is wrong") }
        settings = try reader.takeSettings()
        storeID = try reader.take(Self.storeIDByteCount)
        generation = try reader.takeUInt64()
        // Nobody counts so far, and a change adds one.
        guard generation < .max else { throw reader.damaged("its generation can't grow") }
        activeSalt = try reader.take(CipherSettings.saltByteCount)
        pendingSalt = try reader.takeFlag() ? try reader.take(CipherSettings.saltByteCount) : nil
        let count = Int(try reader.takeByte())
        guard (1...Self.slotCountMax).contains(count) else { throw reader.damaged("it has \(count) slots") }
        let hasPending = pendingSalt != nil
        slots = try (0..<count).map { _ in try reader.takeSlot(hasPending: hasPending) }
        guard Set(slots.map(\.id)).count == count else { throw reader.damaged("two slots have one name") }
        guard reader.remainingByteCount == Self.checksumByteCount + Self.macByteCount else {
            throw reader.damaged("it has bytes that mean nothing")
        }
    }

    /// Makes the content of a new keyring.
    init(storeID: [UInt8], settings: CipherSettings, activeSalt: [UInt8]) {
        self.storeID = storeID
        self.settings = settings
        self.activeSalt = activeSalt
        generation = 1
        slots = []
    }
}
