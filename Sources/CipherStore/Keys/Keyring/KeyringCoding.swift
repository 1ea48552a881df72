/// Writes the parts of a keyring's file: numbers in little-endian order.
struct KeyringWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ bytes: [UInt8]) { self.bytes += bytes }
    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes += Array($0) }
    }

    mutating func append(_ settings: CipherSettings) {
        append(UInt8(settings.format.rawValue))
        append(UInt8(settings.pageSize.trailingZeroBitCount))
    }

    /// What a slot says about itself.
    mutating func append(describing slot: KeySlot) {
        append(slot.id.bytes)
        append(slot.kind.rawValue)
        append(slot.createdMilliseconds)
        append(UInt8(slot.label.utf8.count))
        append(Array(slot.label.utf8))
        if let cost = slot.cost {
            append([UInt8(cost.logN), UInt8(ScryptCost.blockSize), UInt8(ScryptCost.parallelism)])
        }
        append(slot.salt)
    }

    mutating func append(_ slot: KeySlot) {
        append(describing: slot)
        append(slot.commitment)
        append(slot.active)
        append(UInt8(slot.pending == nil ? 0 : 1))
        if let pending = slot.pending { append(pending) }
    }

    mutating func append(_ key: SealedDataKey) {
        append(key.nonce)
        append(key.box)
    }
}

/// Reads the parts of a keyring's file, and checks each before it is used.
struct KeyringReader {
    private let bytes: [UInt8]
    private let makeError: (String) -> StoreError
    private var position = 0

    /// - parameter makeError: Makes the error that says what is wrong with the file.
    init(_ bytes: [UInt8], makeError: @escaping (String) -> StoreError) {
        self.bytes = bytes
        self.makeError = makeError
    }

    init(_ bytes: [UInt8], path: String) {
        self.init(bytes) { reason in
            // Nobody is told to write over it: it may be all that is left.
            StoreError(
                .keyringDamaged,
                path.hasSuffix(KeyringStorage.suffix + KeyringStorage.backupSuffix)
                    ? "the copy of the keyring is damaged (\(reason)); rename it, and copy the keyring to this name"
                    : "the keyring is damaged (\(reason)); rename it, and put a backup there, such as the copy with \"\(KeyringStorage.backupSuffix)\" at the end of its name",
                path: path)
        }
    }

    var remainingByteCount: Int { bytes.count - position }

    func damaged(_ reason: String) -> StoreError { makeError(reason) }

    mutating func take(_ count: Int) throws -> [UInt8] {
        guard remainingByteCount >= count else { throw damaged("it is too short") }
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }

    mutating func takeByte() throws -> UInt8 { try take(1)[0] }

    /// The next byte, which stays the next one.
    func peekByte() throws -> UInt8 {
        var copy = self
        return try copy.takeByte()
    }

    mutating func takeUInt16() throws -> UInt16 {
        try take(2).reversed().reduce(0) { $0 << 8 | UInt16($1) }
    }

    mutating func takeUInt64() throws -> UInt64 {
        try take(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func takeFlag() throws -> Bool {
        let byte = try takeByte()
        guard byte <= 1 else { throw damaged("a flag is \(byte)") }
        return byte == 1
    }

    mutating func takeSettings() throws -> CipherSettings {
        let number = Int(try takeByte())
        guard let format = CipherSettings.Format.current.first(where: { $0.rawValue == number }) else {
            throw damaged("there is no file format \(number)")
        }
        let shift = Int(try takeByte())
        guard (9...16).contains(shift) else { throw damaged("there is no page size 2^\(shift)") }
        return CipherSettings(format: format, pageSize: 1 << shift)
    }

    /// A slot, of a kind that is known or not.
    enum Slot {
        case known(KeySlot)
        case unknown(UnknownKeySlot)
    }

    /// A slot of version 2, after its length.
    mutating func takeSizedSlot(hasPending: Bool) throws -> Slot {
        let count = Int(try takeUInt16())
        guard count >= UnknownKeySlot.byteCountMin else {
            throw damaged("a slot of \(count) bytes has no kind")
        }
        let bytes = try take(count)
        var reader = KeyringReader(bytes, makeError: makeError)
        let id = KeySlot.ID(bytes: try reader.take(KeySlot.ID.byteCount))
        let number = try reader.takeByte()
        guard KeySlot.Kind(rawValue: number) != nil else {
            return .unknown(UnknownKeySlot(id: id, kindNumber: number, bytes: bytes))
        }
        reader = KeyringReader(bytes, makeError: makeError)
        let slot = try reader.takeSlot(hasPending: hasPending)
        guard reader.remainingByteCount == 0 else { throw damaged("a slot has bytes that mean nothing") }
        return slot
    }

    /// A slot of version 1, which has no length.
    mutating func takeSlot(hasPending: Bool) throws -> Slot {
        let id = KeySlot.ID(bytes: try take(KeySlot.ID.byteCount))
        let number = try takeByte()
        guard let kind = KeySlot.Kind(rawValue: number) else {
            throw damaged("there is no slot type \(number)")
        }
        let created = Int64(bitPattern: try takeUInt64())
        let label = try takeLabel()
        let cost = kind == .passphrase ? try takeCost() : nil
        let salt = try take(SlotKey.saltByteCount)
        let commitment = try take(SlotKey.commitmentByteCount)
        let active = try takeSealedKey()
        let pending = try takeFlag() ? try takeSealedKey() : nil
        guard hasPending || pending == nil else { throw damaged("a slot has a key that no rotation makes") }
        return .known(
            KeySlot(
                id: id, kind: kind, label: label, createdMilliseconds: created, cost: cost, salt: salt,
                commitment: commitment, active: active, pending: pending))
    }

    mutating func takeSealedKey() throws -> SealedDataKey {
        SealedDataKey(nonce: try take(SlotKey.nonceByteCount), box: try take(SealedDataKey.byteCount))
    }

    private mutating func takeLabel() throws -> String {
        let count = Int(try takeByte())
        guard count <= KeySlot.labelByteCountMax,
            let label = String(validating: try take(count), as: UTF8.self),
            (try? KeySlot.checkedLabel(label)) != nil
        else { throw damaged("a label is not text") }
        return label
    }

    mutating func takeCost() throws -> ScryptCost {
        let parameters = try take(3)
        guard let cost = try? ScryptCost(logN: Int(parameters[0])),
            Int(parameters[1]) == ScryptCost.blockSize, Int(parameters[2]) == ScryptCost.parallelism
        else { throw damaged("a slot has parameters of scrypt that are not allowed") }
        return cost
    }
}
