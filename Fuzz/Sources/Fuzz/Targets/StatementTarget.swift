import Foundation

@testable import SyncMembers
@testable import SyncWire

extension FuzzTarget {
    /// The statements of members. The first byte says whether the rest is one statement, or a history: what several devices
    /// say, each byte of it a choice.
    static let statement = FuzzTarget(
        name: "statement", run: StatementFuzzing.run, seeds: StatementFuzzing.seeds,
        words: [Statement.magic + [1]] + (1...9 as ClosedRange<UInt8>).map { Statement.magic + [1, $0] }
            + [[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]])
}

private enum StatementFuzzing {
    static func run(_ input: [UInt8]) throws {
        guard let mode = input.first else { return }
        if mode & 1 == 0 {
            try readStatement(Array(input.dropFirst()))
        } else {
            try runHistory(input.dropFirst())
        }
    }

    static func seeds(_ schemas: String) throws -> [[UInt8]] {
        let statements = try SeedCorpus.hexadecimal(schemas + "/membership/vectors.json", key: "bytes").map {
            [0] + $0
        }
        // A founding, then each kind of statement after the one before, by each device.
        let histories = (0..<4 as Range<UInt8>).map { issuer in
            [1] + (0..<8 as Range<UInt8>).reduce(into: [UInt8]()) { $0 += [$1, issuer, 1, $1 &* 37, 2] }
        }
        return statements + histories
    }

    // MARK: One statement

    private static func readStatement(_ bytes: [UInt8]) throws {
        let signed = try? SignedStatement(bytes: bytes)
        guard let kept = try? SignedStatement(kept: bytes) else {
            return require(signed == nil, "what is signed has a form")
        }
        require(
            kept.statement.content == Array(bytes.dropLast(SignedStatement.signatureByteCount)),
            "it has one form")
        if let signed {
            require(signed.statement == kept.statement && signed.id == kept.id, "both read the same")
        }
        let alone = try? MembershipState(store: kept.statement.store, founding: kept.id, statements: [kept])
        require(alone != nil, "one statement is not too many")
    }

    // MARK: A history

    /// Eight devices, of which the last is the recovery key, and four members.
    private static let cards: [DeviceCard] = (1...8 as ClosedRange<UInt8>).compactMap { number in
        let seed = [UInt8](repeating: number, count: 32)
        return try? MemberDeviceKeys(signingSeed: seed, agreementSeed: seed).card
    }
    private static let store = Identifier128(high: 1, low: 1)

    private struct Choices {
        var bytes: ArraySlice<UInt8>

        mutating func next(below count: Int) -> Int { Int(bytes.popFirst() ?? 0) % count }
        mutating func member() -> MemberID { Identifier128(high: 2, low: UInt64(next(below: 4))) }
        mutating func card() -> DeviceCard { cards[next(below: 7)] }
        mutating func replica() -> ReplicaID { Identifier128(high: 3, low: UInt64(next(below: 4))) }

        mutating func cutOffs() -> [ReplicaID: Int64] {
            let choice = next(below: 4)
            return choice == 0 ? [:] : [replica(): choice == 1 ? .max : Int64(choice)]
        }

        mutating func kind() throws -> StatementKind {
            let role: (Int) -> MemberRole = { [.reader, .writer, .admin][$0] }
            let name = try MemberName("somebody")
            switch next(below: 8) {
            case 0:
                return .addMember(
                    NewMember(member: member(), name: name, role: role(next(below: 3)), device: card()))
            case 1:
                return .setRole(RoleChange(member: member(), role: role(next(below: 3)), cutOffs: cutOffs()))
            case 2: return .removeMember(MemberRemoval(member: member(), cutOffs: cutOffs()))
            case 3: return .addDevice(NewDevice(member: member(), device: card()))
            case 4: return .removeDevice(DeviceRemoval(device: card().id, cutOffs: cutOffs()))
            case 5: return .bindReplica(replica())
            case 6:
                return .recover(
                    Recovery(
                        member: member(), name: name, device: card(),
                        successor: next(below: 2) == 0 ? nil : card()))
            default: return .epoch(epoch())
            }
        }

        private mutating func epoch() -> Epoch {
            let key = { (id: DeviceID) in
                Epoch.WrappedKey(
                    recipient: id, bytes: [UInt8](repeating: 0, count: Epoch.WrappedKey.byteCount))
            }
            let mask = next(below: 256)
            let recipients = cards.prefix(7).enumerated().filter { mask >> $0.offset & 1 == 1 }.map(
                \.element.id
            ).sorted()
            return Epoch(
                generation: [1, 2, 3, .max][next(below: 4)],
                commitment: [UInt8](repeating: 1, count: Epoch.keyByteCount),
                recipients: recipients.map(key), recovery: key(cards[7].id), earlier: [],
                sealedKeys: [UInt8](repeating: 0, count: Epoch.sealedByteCount(of: 0)))
        }
    }

    private static func runHistory(_ input: ArraySlice<UInt8>) throws {
        var choices = Choices(bytes: input)
        let founding = try kept(
            Statement(
                store: store, issuer: .device(cards[0]), parents: [],
                kind: .found(
                    Founding(
                        member: Identifier128(high: 2, low: 0), name: MemberName("founder"), device: cards[0],
                        recovery: cards[7]))))
        var statements = [founding]
        while !choices.bytes.isEmpty, statements.count < 200 {
            guard let next = try? next(&choices, after: statements) else { continue }
            statements.append(next)
        }
        let state = try MembershipState(store: store, founding: founding.id, statements: statements)
        let reversed = try MembershipState(
            store: store, founding: founding.id, statements: statements.reversed())
        require(state == reversed, "the order of delivery makes no difference")
        let half = try MembershipState(
            store: store, founding: founding.id, statements: statements.dropFirst())
        try require(half.adding([founding]) == state, "what waited is taken in")
        for device in state.devices.values where device.isActive {
            require(state.members[device.member]?.role != nil, "a device is somebody's")
        }
    }

    private static func next(_ choices: inout Choices, after statements: [SignedStatement]) throws
        -> SignedStatement
    {
        let kind = try choices.kind()
        let number = choices.next(below: 8)
        let issuer: Statement.Issuer = number == 7 ? .recovery(cards[7]) : .device(cards[number])
        // The parents are among the last eight.
        let mask = choices.next(below: 256)
        var parents = statements.suffix(8).enumerated().filter { mask >> $0.offset & 1 == 1 }.map(
            \.element.id)
        if parents.isEmpty, let last = statements.last { parents = [last.id] }
        return try kept(Statement(store: store, issuer: issuer, parents: parents, kind: kind))
    }

    /// A statement as one that was checked before: signing each would take most of the time.
    private static func kept(_ statement: Statement) throws -> SignedStatement {
        try SignedStatement(
            kept: statement.content + [UInt8](repeating: 0, count: SignedStatement.signatureByteCount))
    }
}
