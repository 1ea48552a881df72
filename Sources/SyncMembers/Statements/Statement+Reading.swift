import Foundation
import SyncWire

extension Statement {
    /// Reads the bytes of a statement without a signature, and refuses whatever is not its one form.
    init(content: [UInt8]) throws(MembershipError) {
        try self.init(kept: content[...])
        // Nothing reads two forms of one value. A statement with two names would be two statements.
        guard isWritten(as: content) else {
            throw MembershipError(.malformed, "a statement has another form")
        }
    }

    /// Reads the bytes of a statement that was read before, when it was seen to be in its one form.
    ///
    /// The wrapped keys of an epoch stay in the memory of these bytes.
    init(kept content: ArraySlice<UInt8>) throws(MembershipError) {
        guard content.count <= MembershipLimits.statementByteCountMax else {
            throw MembershipError(.tooLarge, "a statement has too many bytes")
        }
        let result = content.withUnsafeBytes { bytes in
            Result<Statement, MembershipError> { () throws(MembershipError) in
                var reader = StatementReader(WireReader(bytes), of: content)
                return try reader.statement()
            }
        }
        self = try result.get()
    }

    private func isWritten(as content: [UInt8]) -> Bool {
        let written = self.content
        guard written.count == content.count, !content.isEmpty else { return written == content }
        return written.withUnsafeBytes { left in
            content.withUnsafeBytes { right in
                guard let left = left.baseAddress, let right = right.baseAddress else { return false }
                return memcmp(left, right, content.count) == 0
            }
        }
    }
}

/// Reads a statement, and checks each count before memory is taken for it.
private struct StatementReader {
    private var reader: WireReader
    private let content: ArraySlice<UInt8>

    init(_ reader: WireReader, of content: ArraySlice<UInt8>) {
        self.reader = reader
        self.content = content
    }

    mutating func statement() throws(MembershipError) -> Statement {
        guard try raw(Statement.magic.count) == Statement.magic else {
            throw MembershipError(.malformed, "these bytes are no statement")
        }
        guard try unsigned() == Statement.version else {
            throw MembershipError(
                .newerProgramNeeded, "a statement is of a version that a newer program reads")
        }
        let code = try byte()
        let store = try identifier()
        let issuer = try issuer()
        let parentCount = try count(
            upTo: MembershipLimits.parentCountMax, of: StatementID.byteCount, "parents")
        var parents: [StatementID] = []
        for _ in 0..<parentCount { parents.append(try statementID()) }
        let kind = try kind(code)
        guard reader.isAtEnd else { throw MembershipError(.malformed, "bytes follow a statement") }
        return try Statement(store: store, issuer: issuer, readParents: parents, kind: kind)
    }

    private mutating func issuer() throws(MembershipError) -> Statement.Issuer {
        switch try byte() {
        case 1: return .device(try card())
        case 2: return .recovery(try card())
        default:
            throw MembershipError(
                .newerProgramNeeded, "a statement is by somebody whom a newer program knows")
        }
    }

    private mutating func kind(_ code: UInt8) throws(MembershipError) -> StatementKind {
        switch code {
        case 1:
            return .found(
                Founding(member: try identifier(), name: try name(), device: try card(), recovery: try card())
            )
        case 2:
            return .addMember(
                NewMember(member: try identifier(), name: try name(), role: try role(), device: try card()))
        case 3:
            return .setRole(RoleChange(member: try identifier(), role: try role(), cutOffs: try cutOffs()))
        case 4: return .removeMember(MemberRemoval(member: try identifier(), cutOffs: try cutOffs()))
        case 5: return .addDevice(NewDevice(member: try identifier(), device: try card()))
        case 6: return .removeDevice(DeviceRemoval(device: try identifier(), cutOffs: try cutOffs()))
        case 7: return .bindReplica(try identifier())
        case 8: return .epoch(try epoch())
        case 9:
            return .recover(
                Recovery(
                    member: try identifier(), name: try name(), device: try card(), successor: try successor()
                ))
        default:
            throw MembershipError(
                .newerProgramNeeded, "a statement is of the kind \(code), which a newer program reads")
        }
    }

    private mutating func successor() throws(MembershipError) -> RecoveryCard? {
        switch try byte() {
        case 0: return nil
        case 1: return try card()
        default: throw MembershipError(.malformed, "a flag is neither 0 nor 1")
        }
    }

    private mutating func epoch() throws(MembershipError) -> Epoch {
        let generation = try positive()
        let commitment = try raw(Epoch.keyByteCount)
        let recipientCount = try count(
            upTo: MembershipLimits.recipientCountMax, of: WrappedKeys.strideByteCount, "recipients")
        let start = content.endIndex - reader.remaining
        do { _ = try reader.raw(recipientCount * WrappedKeys.strideByteCount) } catch {
            throw MembershipError(error)
        }
        let recipients = WrappedKeys(bytes: content[start..<(content.endIndex - reader.remaining)])
        let recovery = try wrappedKey()
        let earlierCount = try count(upTo: Epoch.earlierCountMax, of: StatementID.byteCount, "earlier epochs")
        var earlier: [StatementID] = []
        earlier.reserveCapacity(earlierCount)
        for _ in 0..<earlierCount { earlier.append(try statementID()) }
        return Epoch(
            generation: generation, commitment: commitment, recipients: recipients, recovery: recovery,
            earlier: earlier, sealedKeys: try raw(Epoch.sealedByteCount(of: earlierCount)))
    }

    private mutating func wrappedKey() throws(MembershipError) -> Epoch.WrappedKey {
        Epoch.WrappedKey(recipient: try identifier(), bytes: try raw(Epoch.WrappedKey.byteCount))
    }

    private mutating func cutOffs() throws(MembershipError) -> [ReplicaID: Int64] {
        let count = try count(upTo: MembershipLimits.cutOffCountMax, of: 17, "replicas of a removal")
        var cutOffs: [ReplicaID: Int64] = [:]
        cutOffs.reserveCapacity(count)
        var last: ReplicaID?
        for _ in 0..<count {
            let replica = try identifier()
            if let last, last >= replica {
                throw MembershipError(.malformed, "the replicas of a removal are not in ascending order")
            }
            cutOffs[replica] = try positive()
            last = replica
        }
        return cutOffs
    }

    private mutating func role() throws(MembershipError) -> MemberRole {
        guard let role = MemberRole(rawValue: try byte()) else {
            throw MembershipError(.newerProgramNeeded, "a role is one that a newer program knows")
        }
        return role
    }

    private mutating func name() throws(MembershipError) -> MemberName {
        let text: String
        do { text = try reader.string(upTo: MembershipLimits.nameByteCountMax) } catch {
            throw MembershipError(error)
        }
        return try MemberName(asWritten: text)
    }

    private mutating func card() throws(MembershipError) -> DeviceCard {
        try DeviceCard(
            signingKey: raw(DeviceCard.keyByteCount), agreementKey: raw(DeviceCard.keyByteCount))
    }

    private mutating func positive() throws(MembershipError) -> Int64 {
        guard let number = Int64(exactly: try unsigned()), number > 0 else {
            throw MembershipError(.malformed, "a number is not from 1 to 2^63 - 1")
        }
        return number
    }

    private mutating func statementID() throws(MembershipError) -> StatementID {
        guard let id = try raw(StatementID.byteCount).withUnsafeBytes({ StatementID(bytes: $0) }) else {
            throw MembershipError(.malformed, "a statement's name is cut off")
        }
        return id
    }

    /// A count that is within its bound, and of which what is left can hold so many parts.
    private mutating func count(
        upTo limit: Int, of byteCount: Int, _ what: String
    ) throws(MembershipError) -> Int {
        let count: Int
        do { count = try reader.count(upTo: limit, what) } catch { throw MembershipError(error) }
        guard count <= reader.remaining / byteCount else {
            throw MembershipError(.malformed, "\(what): \(count) are announced and do not fit")
        }
        return count
    }

    private mutating func byte() throws(MembershipError) -> UInt8 {
        do { return try reader.byte() } catch { throw MembershipError(error) }
    }

    private mutating func unsigned() throws(MembershipError) -> UInt64 {
        do { return try reader.unsigned() } catch { throw MembershipError(error) }
    }

    private mutating func identifier() throws(MembershipError) -> Identifier128 {
        do { return try reader.identifier() } catch { throw MembershipError(error) }
    }

    private mutating func raw(_ count: Int) throws(MembershipError) -> [UInt8] {
        do { return Array(try reader.raw(count)) } catch { throw MembershipError(error) }
    }
}
