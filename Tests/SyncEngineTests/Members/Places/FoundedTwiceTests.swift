import CipherStore
import Foundation
import SyncMembers
import Testing

@testable import SyncEngine

/// Members of one database who were founded apart.
@Suite struct FoundedTwiceTests {
    private let words = "founded twice"

    private func remarks(_ report: FolderReport) -> [String] { report.remarks.filter { $0.contains(words) } }

    @Test func twoFoundersWhoMeetAreToldOfEachOtherEachTime() throws {
        let stores = try TestStores()
        let folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        let first = try stores.create()
        let second = try stores.clone(first, as: "b.db")
        _ = try first.synchronizer.membership.found(MemberName("anna"))
        _ = try second.synchronizer.membership.found(MemberName("ben"))
        for replica in [first, second] { try replica.insert(1, "of one") }
        _ = try first.synchronizer.run(.both, folder)
        let ofSecond = remarks(try second.synchronizer.run(.both, folder))
        #expect(ofSecond.count == 1 && ofSecond.first?.contains("'anna'") == true, "\(ofSecond)")
        #expect(ofSecond.first?.contains("member accept --replace") == true)
        let ofFirst = remarks(try first.synchronizer.run(.both, folder))
        #expect(ofFirst.count == 1 && ofFirst.first?.contains("'ben'") == true, "\(ofFirst)")
        // It is said as long as it is so, and the files are not read again each hour.
        for replica in [first, second] {
            stores.clock.advance(milliseconds: 7_200_000)
            let again = try replica.synchronizer.run(.both, folder)
            #expect(remarks(again) == (replica === first ? ofFirst : ofSecond))
            let entries = try replica.synchronizer.database.read {
                try StatementFiles.load($0, mailbox: folder.transport.mailbox.name)
            }
            let waitCount = entries.values.filter(\.waits).count
            #expect(entries.count == 2 && waitCount == 0)
        }
    }

    @Test func whoLooksFirstIsToldAllTheSame() throws {
        let stores = try TestStores()
        let folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        let first = try stores.create()
        let second = try stores.clone(first, as: "b.db")
        _ = try first.synchronizer.membership.found(MemberName("anna the first"))
        _ = try second.synchronizer.membership.found(MemberName("ben"))
        try first.insert(1, "of one")
        _ = try first.synchronizer.run(.both, folder)
        // A preview has no words for it, and reads the files.
        _ = try second.synchronizer.preview(.both, with: folder.transport)
        let told = remarks(try second.synchronizer.run(.both, folder))
        #expect(told.count == 1 && told.first?.contains("'anna the first'") == true, "\(told)")
    }

    @Test func whatIsKeptIsOfOneMailboxAndNotOfCopies() throws {
        let stores = try TestStores()
        let first = try stores.create()
        let folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        let second = try stores.clone(first, as: "b.db")
        _ = try first.synchronizer.membership.found(MemberName("anna"))
        _ = try second.synchronizer.membership.found(MemberName("ben"))
        for replica in [first, second] { _ = try replica.synchronizer.run(.both, folder) }
        let name = folder.transport.mailbox.name
        let kept = try second.queue.write { db in
            let kept = try OtherFounding.load(db, mailbox: name)
            let other = try #require(kept.first)
            try OtherFounding.note(db, mailbox: name + " two", other.key, other.value)
            let beside = try OtherFounding.load(db, mailbox: name)
            #expect(kept.count == 1 && beside == kept)
            return try SyncSetting.texts(db, withPrefix: "membership.founding ")
        }
        #expect(kept.count == 2)
        let copy = try stores.clone(second, as: "c.db")
        let copied = try copy.queue.read { try SyncSetting.texts($0, withPrefix: "membership.founding ") }
        #expect(copied.isEmpty, "\(copied)")
    }

    @Test func whatFilesThatAreGoneHeldIsNotTold() throws {
        let club = try MemberStores()
        let stranger = try club.stranger("stranger")
        try stranger.synchronizer.membership.foundAnew(
            MemberName("stranger"), recoveryKey: MembershipRecoveryKey())
        try club.sync(stranger)
        let told = remarks(try club.sync(club.anna))
        #expect(told.count == 1, "\(told)")
        let mailbox = club.folder.transport.mailbox.name
        let kept = try club.anna.synchronizer.database.read { try OtherFounding.load($0, mailbox: mailbox) }
        for path in kept.keys {
            try FileManager.default.removeItem(atPath: "\(club.folder.path)/\(path)")
        }
        let after = remarks(try club.sync(club.anna))
        let left = try club.anna.synchronizer.database.read { try OtherFounding.load($0, mailbox: mailbox) }
        #expect(kept.count == 1 && after.isEmpty && left.isEmpty, "\(after)")
    }

    @Test func whoFoundsAnewIsNotToldOfWhatWasBefore() throws {
        let club = try MemberStores()
        let ben = try club.join("ben")
        try club.settle(ben, club.anna)
        try club.anna.synchronizer.membership.foundAnew(
            MemberName("anna"), recoveryKey: MembershipRecoveryKey())
        let ofAnna = remarks(try club.sync(club.anna))
        #expect(ofAnna.isEmpty, "\(ofAnna)")
        let invitation = try club.anna.synchronizer.membership.invite(MemberName("ben"), as: .writer)
        try club.sync(club.anna)
        let isApart = try ben.synchronizer.membership.isApart(from: invitation)
        #expect(isApart)
        try ben.synchronizer.membership.acceptAnew(invitation, through: club.folder.transport)
        let isApartStill = try ben.synchronizer.membership.isApart(from: invitation)
        #expect(!isApartStill)
        let ofBen = remarks(try club.sync(ben))
        #expect(ofBen.isEmpty, "\(ofBen)")
    }

    @Test func aFewFoundingsOfStrangersAreTold() throws {
        let club = try MemberStores()
        for number in 0..<6 {
            let stranger = try club.stranger("stranger\(number)")
            try stranger.synchronizer.membership.foundAnew(
                MemberName("stranger \(number)"), recoveryKey: MembershipRecoveryKey())
            try club.sync(stranger)
        }
        let told = remarks(try club.sync(club.anna))
        #expect(told.count == 3, "\(told)")
        // Those that are not told of don't wait either.
        let entries = try club.anna.synchronizer.database.read {
            try StatementFiles.load($0, mailbox: club.folder.transport.mailbox.name)
        }
        let waitCount = entries.values.filter(\.waits).count
        #expect(waitCount == 0)
        let again = remarks(try club.sync(club.anna))
        #expect(again == told)
    }
}
