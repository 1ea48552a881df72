import CipherStore
import Testing

@testable import SyncEngine
@testable import SyncMembers

/// A content key that was wrapped wrongly for some of those who take part.
@Suite struct WrongKeyTests {
    @Test func aReaderIsToldWhoHasWrappedAnotherKeyForIt() throws {
        let club = try MemberStores()
        let (ben, eve) = (try club.join("ben", as: .reader), try club.join("eve"))
        try club.settle(club.anna, eve, ben)
        let device = try #require(try ben.synchronizer.membership.record()?.device).card.id
        try eve.synchronizer.membership.speak { record, _ in
            let keys = try #require(record.device)
            let right = try record.state.nextEpoch(by: keys, keyring: record.keyring)
            guard case .epoch(let epoch) = right.statement.kind else { return [] }
            let wrapped = epoch.recipients.map { key -> Epoch.WrappedKey in
                guard key.recipient == device else { return key }
                var bytes = key.bytes
                bytes[Epoch.WrappedKey.byteCount - 1] ^= 1
                return Epoch.WrappedKey(recipient: device, bytes: bytes)
            }
            let wrong = Epoch(
                generation: epoch.generation, commitment: epoch.commitment, recipients: wrapped,
                recovery: epoch.recovery, earlier: epoch.earlier, sealedKeys: epoch.sealedKeys)
            return [try record.say(.epoch(wrong))]
        }
        try eve.insert(2, "in a key that ben has not")
        try club.settle(eve, club.anna)
        let wrong = UnsentChanges.Reason.keyWrong(by: try MemberName("eve"))
        let report = try club.sync(ben)
        #expect(report.unsent?.reason == wrong)
        #expect(try ben.titles() == ["of anna"])
        // Its own changes stay for its role, but that it reads nothing matters more.
        try ben.insert(3, "of a reader")
        let more = try club.sync(ben)
        #expect(more.unsent == UnsentChanges(count: 1, reason: wrong))
        _ = try club.anna.synchronizer.membership.invite(MemberName("carl"), as: .reader)
        try club.settle(club.anna, eve)
        try club.settle(ben, club.anna, eve)
        let titles = try ben.titles()
        #expect(titles.contains("in a key that ben has not"))
        let after = try club.sync(ben)
        #expect(after.unsent == UnsentChanges(count: 1, reason: .role(.reader)))
    }
}
