import Foundation
import SyncWire
import TestSupport
import Testing

@testable import SyncMembers

@Suite(.anyEngine) struct StatementCodingTests {
    @Test func eachKindIsReadAsItWasWritten() throws {
        for statement in try SampleStatements().all {
            let read = try SignedStatement(bytes: statement.bytes)
            #expect(read.statement == statement.statement)
            #expect(read.id == statement.id)
            #expect(read.bytes == statement.bytes)
        }
        #expect(Set(try SampleStatements().all.map { $0.statement.kind.code }) == Set(1...9))
    }

    @Test func eachFlippedBitIsRefused() throws {
        for statement in try SampleStatements().all {
            // One bit of each byte; of the first bytes three.
            for index in statement.bytes.indices {
                for bit in index < 24 ? [0, 6, 7] : [index % 8] {
                    var bytes = statement.bytes
                    bytes[index] ^= 1 << UInt8(bit)
                    #expect(throws: MembershipError.self, "\(statement.statement.kind.code), byte \(index)") {
                        try SignedStatement(bytes: bytes)
                    }
                }
            }
        }
    }

    @Test func eachCutAndEachAppendedByteIsRefused() throws {
        for statement in try SampleStatements().all {
            for count in 0..<statement.bytes.count {
                #expect(throws: MembershipError.self) {
                    try SignedStatement(bytes: Array(statement.bytes.prefix(count)))
                }
                #expect(throws: MembershipError.self) {
                    try Statement(content: Array(statement.statement.content.prefix(max(0, count - 64))))
                }
            }
            #expect(throws: MembershipError.self) { try SignedStatement(bytes: statement.bytes + [0]) }
        }
    }

    @Test func aChangedContentHasAnotherName() throws {
        // Whoever can sign may sign the changed bytes, too: then it is another statement.
        let club = try Club()
        let statement = try club.says(
            club.founder, .bindReplica(ReplicaID(high: 1, low: 2)), after: club.found)
        let other = try club.says(club.founder, .bindReplica(ReplicaID(high: 1, low: 3)), after: club.found)
        #expect(statement.id != other.id)
        var swapped = statement.bytes
        swapped.replaceSubrange((swapped.count - 64)..., with: other.bytes.suffix(64))
        #expect(code(of: swapped) == .signatureInvalid)
    }

    @Test func damagedContentIsRefusedOrHasOneForm() throws {
        var random = SplitMix64(seed: 5)
        let contents = try SampleStatements().all.map(\.statement.content)
        var readCount = 0
        for _ in 0..<3000 {
            var content = contents[random.below(contents.count)]
            for _ in 0...random.below(3) {
                let place = random.below(content.count)
                switch random.below(4) {
                case 0: content.remove(at: place)
                case 1: content.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
                case 2: content[place] = random.oneIn(2) ? 0xFF : 0
                default: content[place] = UInt8(truncatingIfNeeded: random.next())
                }
            }
            guard let statement = try? Statement(content: content) else { continue }
            #expect(statement.content == content)
            readCount += 1
        }
        // Most of the bytes are keys and hashes, any of which is one.
        #expect(readCount > 500)
    }

    @Test func aLaterVersionOrKindAsksForANewerProgram() throws {
        let content = try Club().found.statement.content
        for (index, value) in [(4, 2), (5, 10), (5, 0), (5, 255), (22, 3)] as [(Int, UInt8)] {
            var bytes = content
            bytes[index] = value
            let error = #expect(throws: MembershipError.self) { try Statement(content: bytes) }
            #expect(error?.code == .newerProgramNeeded, "byte \(index)")
        }
    }

    @Test func hostileCountsAreRefusedBeforeMemoryIsTaken() throws {
        let samples = try SampleStatements()
        for count in [65, 1 << 20, UInt64(Int64.max), UInt64.max] {
            #expect(contentCode(of: samples.content(parents: count)) == .tooLarge)
            #expect(
                contentCode(of: samples.content(cutOffs: count)) == (count == 65 ? .malformed : .tooLarge))
            #expect(
                contentCode(of: samples.content(recipients: count)) == (count == 65 ? .malformed : .tooLarge))
            #expect(
                contentCode(of: samples.content(nameByteCount: count))
                    == (count == 65 ? .malformed : .tooLarge))
        }
        #expect(
            code(of: [UInt8](repeating: 7, count: MembershipLimits.statementByteCountMax + 1)) == .tooLarge)
        #expect(code(of: []) == .malformed)
        #expect(code(of: [UInt8](repeating: 0, count: 200)) == .malformed)
    }

    @Test func unsortedAndDoubledPartsAreRefused() throws {
        let samples = try SampleStatements()
        let (low, high) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
        #expect(contentCode(of: samples.content(parents: 2, bytes: high + low)) == .malformed)
        #expect(contentCode(of: samples.content(parents: 2, bytes: low + low)) == .malformed)
        #expect(contentCode(of: samples.content(parents: 0)) == .malformed)
        let (one, two) = ([UInt8](repeating: 1, count: 16), [UInt8](repeating: 2, count: 16))
        #expect(contentCode(of: samples.content(cutOffs: 2, bytes: two + [5] + one + [5])) == .malformed)
        #expect(contentCode(of: samples.content(cutOffs: 2, bytes: one + [5] + one + [5])) == .malformed)
        // Change 0, a number over 2^63 - 1 (which is how a negative one would look), one that is too long.
        #expect(contentCode(of: samples.content(cutOffs: 1, bytes: one + [0])) == .malformed)
        let negative = [UInt8](repeating: 0xFF, count: 9) + [1]
        #expect(contentCode(of: samples.content(cutOffs: 1, bytes: one + negative)) == .malformed)
        #expect(contentCode(of: samples.content(cutOffs: 1, bytes: one + [0x85, 0])) == .malformed)
        // The largest number is one.
        let largest = [UInt8](repeating: 0xFF, count: 8) + [0x7F]
        let read = try Statement(content: samples.content(cutOffs: 1, bytes: one + largest))
        #expect(
            read.kind == .removeMember(MemberRemoval(member: samples.member, cutOffs: [samples.ones: .max])))
    }

    @Test func whatCanNotBeReadCanNotBeMade() throws {
        let club = try Club()
        func make(_ kind: StatementKind, parents: [StatementID]) throws {
            _ = try Statement(
                store: Club.store, issuer: .device(club.founder.keys.card), parents: parents, kind: kind)
        }
        let replica = ReplicaID(high: 1, low: 1)
        #expect(throws: MembershipError.self) { try make(.bindReplica(replica), parents: []) }
        #expect(throws: MembershipError.self) {
            try make(.bindReplica(replica), parents: [club.found.id, club.found.id])
        }
        for sequence in [0, -1, Int64.min] {
            #expect(throws: MembershipError.self) {
                try make(
                    .removeMember(MemberRemoval(member: club.founder.member, cutOffs: [replica: sequence])),
                    parents: [club.found.id])
            }
        }
        #expect(throws: MembershipError.self) {
            try make(
                .setRole(RoleChange(member: club.founder.member, role: .writer, cutOffs: [replica: 1])),
                parents: [club.found.id])
        }
        #expect(throws: MembershipError.self) {
            _ = try Statement(
                store: Club.store, issuer: .recovery(club.recovery.card), parents: [club.found.id],
                kind: .bindReplica(replica))
        }
    }

    private func contentCode(of content: [UInt8]) -> MembershipError.Code? {
        do {
            _ = try Statement(content: content)
            return nil
        } catch { return error.code }
    }

    private func code(of bytes: [UInt8]) -> MembershipError.Code? {
        do {
            _ = try SignedStatement(bytes: bytes)
            return nil
        } catch { return error.code }
    }
}
