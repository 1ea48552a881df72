import SyncWire

extension Statement {
    static let magic = Array("CSMS".utf8)
    static let version: UInt64 = 1

    /// The bytes of the statement without a signature. A statement has one form.
    var content: [UInt8] {
        var writer = WireWriter(capacity: 512)
        writer.raw(Self.magic)
        writer.unsigned(Self.version)
        writer.byte(kind.code)
        writer.raw(store.bytes)
        switch issuer {
        case .device: writer.byte(1)
        case .recovery: writer.byte(2)
        }
        writer.card(issuer.card)
        writer.unsigned(UInt64(parents.count))
        for parent in parents { writer.raw(parent.bytes) }
        writer.body(kind)
        return Array(writer.bytes)
    }

    /// What is signed, and what the statement's name is the hash of.
    static func signed(_ content: [UInt8]) -> [UInt8] { Domain.statement.bytes + content }
}

extension WireWriter {
    fileprivate mutating func card(_ card: DeviceCard) {
        raw(card.signingKey)
        raw(card.agreementKey)
    }

    fileprivate mutating func cutOffs(_ cutOffs: [ReplicaID: Int64]) {
        unsigned(UInt64(cutOffs.count))
        for (replica, sequence) in cutOffs.sorted(by: { $0.key < $1.key }) {
            raw(replica.bytes)
            unsigned(UInt64(bitPattern: sequence))
        }
    }

    fileprivate mutating func body(_ kind: StatementKind) {
        switch kind {
        case .found(let founding):
            raw(founding.member.bytes)
            string(founding.name.text)
            card(founding.device)
            card(founding.recovery)
        case .addMember(let new):
            raw(new.member.bytes)
            string(new.name.text)
            byte(new.role.rawValue)
            card(new.device)
        case .setRole(let change):
            raw(change.member.bytes)
            byte(change.role.rawValue)
            cutOffs(change.cutOffs)
        case .removeMember(let removal):
            raw(removal.member.bytes)
            cutOffs(removal.cutOffs)
        case .addDevice(let new):
            raw(new.member.bytes)
            card(new.device)
        case .removeDevice(let removal):
            raw(removal.device.bytes)
            cutOffs(removal.cutOffs)
        case .bindReplica(let replica): raw(replica.bytes)
        case .epoch(let content): epoch(content)
        case .recover(let recovery):
            raw(recovery.member.bytes)
            string(recovery.name.text)
            card(recovery.device)
            byte(recovery.successor == nil ? 0 : 1)
            if let successor = recovery.successor { card(successor) }
        }
    }

    private mutating func epoch(_ epoch: Epoch) {
        unsigned(UInt64(bitPattern: epoch.generation))
        raw(epoch.commitment)
        unsigned(UInt64(epoch.recipients.count))
        epoch.recipients.bytes.withUnsafeBytes { raw($0) }
        raw(epoch.recovery.recipient.bytes)
        raw(epoch.recovery.bytes)
        unsigned(UInt64(epoch.earlier.count))
        for id in epoch.earlier { raw(id.bytes) }
        raw(epoch.sealedKeys)
    }
}
