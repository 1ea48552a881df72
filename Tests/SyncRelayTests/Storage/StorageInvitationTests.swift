import Foundation
import Testing

@testable import SyncRelay

@Suite(.fewAtATime) struct StorageInvitationTests {
    @Test(arguments: StorageKind.tested) func anInvitationIsHandedOutOnce(_ kind: StorageKind) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        let id = RelayInvitationID.random()
        try await storage.leave(.init(sealed: Data([1, 2]), seconds: 60), as: id, in: channel.id)
        #expect(
            try await storage.takeInvitation(id)
                == RelayInvitation(channel: channel.id, sealed: Data([1, 2])))
        await expectProblem(.missing) { try await storage.takeInvitation(id) }
        await expectProblem(.missing) { try await storage.takeInvitation(.random()) }
    }

    @Test(arguments: StorageKind.tested) func onlyOneOfManyWhoAskAtOnceGetsIt(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        let id = RelayInvitationID.random()
        try await storage.leave(.init(sealed: Data([1]), seconds: 60), as: id, in: channel.id)
        let count = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 { group.addTask { (try? await storage.takeInvitation(id)) != nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(count == 1)
    }

    @Test(arguments: StorageKind.tested) func anInvitationExpires(_ kind: StorageKind) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        let (early, late) = (RelayInvitationID.random(), RelayInvitationID.random())
        try await storage.leave(.init(sealed: Data([1]), seconds: 60), as: early, in: channel.id)
        try await storage.leave(.init(sealed: Data([1]), seconds: 61), as: late, in: channel.id)
        place.clock.advance(seconds: 60)
        await expectProblem(.missing) { try await storage.takeInvitation(early) }
        _ = try await storage.takeInvitation(late)
        try await storage.tidy()
        #expect(try await storage.count("invitation") == 0)
    }

    @Test(arguments: StorageKind.tested) func anInvitationThatIsLeftAgainStaysAndAnotherOneOfItsNameIsRefused(
        _ kind: StorageKind
    ) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        let other = try await TestChannel(in: storage)
        let id = RelayInvitationID.random()
        let deposit = try RelayInvitationDeposit(sealed: Data([1]), seconds: 60)
        try await storage.leave(deposit, as: id, in: channel.id)
        try await storage.leave(deposit, as: id, in: channel.id)
        await expectProblem(.conflict) { try await storage.leave(deposit, as: id, in: other.id) }
        await expectProblem(.conflict) {
            try await storage.leave(.init(sealed: Data([2]), seconds: 60), as: id, in: channel.id)
        }
        await expectProblem(.unauthorized) { try await storage.leave(deposit, as: .random(), in: .random()) }
    }

    @Test(arguments: StorageKind.tested) func onlyItsChannelRemovesAnInvitation(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        let other = try await TestChannel(in: storage)
        let id = RelayInvitationID.random()
        try await storage.leave(.init(sealed: Data([1]), seconds: 60), as: id, in: channel.id)
        try await storage.removeInvitation(id, of: other.id)
        _ = try await storage.takeInvitation(id)
        let second = RelayInvitationID.random()
        try await storage.leave(.init(sealed: Data([1]), seconds: 60), as: second, in: channel.id)
        try await storage.removeInvitation(second, of: channel.id)
        try await storage.removeInvitation(second, of: channel.id)
        await expectProblem(.missing) { try await storage.takeInvitation(second) }
    }

    @Test(arguments: StorageKind.tested) func openInvitationsAreBoundedAndThoseThatExpiredDoNotCount(
        _ kind: StorageKind
    ) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        let deposit = try RelayInvitationDeposit(sealed: Data([1]), seconds: 60)
        for _ in 0..<100 { try await storage.leave(deposit, as: .random(), in: channel.id) }
        await expectProblem(.full) { try await storage.leave(deposit, as: .random(), in: channel.id) }
        place.clock.advance(seconds: 60)
        try await storage.leave(deposit, as: .random(), in: channel.id)
    }
}
