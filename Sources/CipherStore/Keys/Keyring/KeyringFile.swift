import Crypto
import Foundation

/// The content of a keyring's file, as `Schemas/keyring/v2.md` and `v1.md` describe it. A file stays of the version that
/// it has.
///
/// There is one way to write each content: a file that is read and written
/// again has the same bytes.
struct KeyringFile: Equatable {
    static let magic = Array("CSKEYRNG".utf8)
    /// The first version has no lengths of slots, so that it can hold no slot of an unknown kind.
    static let versions: ClosedRange<UInt16> = 1...2
    static let slotCountMax = 32
    /// More than 32 slots of the largest size take.
    static let byteCountMax = 16_384
    static let storeIDByteCount = 16
    static let checksumByteCount = 16
    static let macByteCount = 32

    /// The version of the file.
    let version: UInt16

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

    /// Slots of kinds that only newer programs know.
    var unknownSlots: [UnknownKeySlot] = []

    /// All slots.
    var slotCount: Int { slots.count + unknownSlots.count }

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
        writer.append(version)
        writer.append(settings)
        writer.append(storeID)
        writer.append(generation)
        writer.append(activeSalt)
        writer.append(UInt8(pendingSalt == nil ? 0 : 1))
        writer.append(pendingSalt ?? [])
        writer.append(UInt8(slotCount))
        for slot in slots {
            var slotWriter = KeyringWriter()
            slotWriter.append(slot)
            if version > 1 { writer.append(UInt16(slotWriter.bytes.count)) }
            writer.append(slotWriter.bytes)
        }
        for slot in unknownSlots {
            writer.append(UInt16(slot.bytes.count))
            writer.append(slot.bytes)
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
        version = try reader.takeUInt16()
        guard Self.versions.contains(version) else {
            throw StoreError(
                .formatTooNew,
                "the keyring has format \(version); this program knows up to \(Self.versions.upperBound)",
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
        slots = []
        for _ in 0..<count {
            switch try version > 1
                ? reader.takeSizedSlot(hasPending: hasPending) : reader.takeSlot(hasPending: hasPending)
            {
            case .known(let slot): slots.append(slot)
            case .unknown(let slot): unknownSlots.append(slot)
            }
        }
        guard Set(slots.map(\.id) + unknownSlots.map(\.id)).count == count else {
            throw reader.damaged("two slots have one name")
        }
        guard reader.remainingByteCount == Self.checksumByteCount + Self.macByteCount else {
            throw reader.damaged("it has bytes that mean nothing")
        }
    }

    /// Makes the content of a new keyring.
    init(storeID: [UInt8], settings: CipherSettings, activeSalt: [UInt8]) {
        self.storeID = storeID
        self.settings = settings
        self.activeSalt = activeSalt
        version = Self.versions.upperBound
        generation = 1
        slots = []
    }
}
