import SyncWire

@testable import SyncMembers

/// A statement of each kind, and contents that nobody would sign.
struct SampleStatements {
    let all: [SignedStatement]
    let member = MemberID(high: 5, low: 6)
    let ones = ReplicaID(high: 0x0101_0101_0101_0101, low: 0x0101_0101_0101_0101)
    private let club: Club

    init() throws {
        var club = try Club()
        let (bob, phone, rescued) = (try club.person(), try club.person(), try club.person())
        var all = [club.found, try club.adds(bob, .writer, by: club.founder, after: club.found)]
        let kinds: [StatementKind] = [
            .setRole(RoleChange(member: bob.member, role: .reader, cutOffs: [club.identifier(): 3])),
            .addDevice(NewDevice(member: bob.member, device: phone.keys.card)),
            .removeDevice(DeviceRemoval(device: phone.device, cutOffs: [club.identifier(): 300])),
            .bindReplica(club.identifier()),
            .removeMember(
                MemberRemoval(member: bob.member, cutOffs: [club.identifier(): 1, club.identifier(): .max])),
        ]
        for kind in kinds { all.append(try club.says(club.founder, kind, after: all[all.count - 1])) }
        var ring = EpochKeyring()
        for _ in 0..<2 {
            let state = try club.state(of: all)
            ring.open(state, with: club.founder.keys)
            all.append(try state.nextEpoch(by: club.founder.keys, keyring: ring))
        }
        let successor = try club.recoveryKey().card
        all.append(
            try club.recovers(rescued, successor: successor, after: all[all.count - 1], all[all.count - 2]))
        self.all = all
        self.club = club
    }

    private func content(_ code: UInt8, _ body: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        writer.raw(Statement.magic)
        writer.unsigned(Statement.version)
        writer.byte(code)
        writer.raw(Club.store.bytes)
        writer.byte(1)
        writer.raw(club.founder.keys.card.signingKey + club.founder.keys.card.agreementKey)
        body(&writer)
        return Array(writer.bytes)
    }

    private func parent(_ writer: inout WireWriter) {
        writer.unsigned(1)
        writer.raw(club.found.id.bytes)
    }

    /// A claim of a replica with so many parents.
    func content(parents: UInt64, bytes: [UInt8] = []) -> [UInt8] {
        content(7) {
            $0.unsigned(parents)
            $0.raw(bytes + ones.bytes)
        }
    }

    /// A removal that names so many replicas.
    func content(cutOffs: UInt64, bytes: [UInt8] = []) -> [UInt8] {
        content(4) {
            parent(&$0)
            $0.raw(member.bytes)
            $0.unsigned(cutOffs)
            $0.raw(bytes)
        }
    }

    /// An epoch for so many devices.
    func content(recipients: UInt64) -> [UInt8] {
        content(8) {
            parent(&$0)
            $0.unsigned(1)
            $0.raw([UInt8](repeating: 0, count: 32))
            $0.unsigned(recipients)
        }
    }

    /// A member with a name of so many bytes.
    func content(nameByteCount: UInt64) -> [UInt8] {
        content(2) {
            parent(&$0)
            $0.raw(member.bytes)
            $0.unsigned(nameByteCount)
        }
    }
}
