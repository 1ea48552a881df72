import Foundation
import Synchronization

@testable import SyncRelay

/// A storage that has figures and nothing else, and counts how often they are read.
final class CountingStorage: RelayStorage {
    private struct State {
        var readCount = 0
        var onRead: (@Sendable () async -> Void)?
    }

    private let known: RelayStorageFigures?
    private let state = Mutex(State())

    /// - parameter known: The figures; nil when they can't be read.
    init(_ known: RelayStorageFigures?) { self.known = known }

    var outline: RelayStorageOutline {
        RelayStorageOutline(
            kind: "figures", channelByteCountMax: .max, channelFileCountMax: .max, channelCountMax: .max)
    }

    var readCount: Int { state.withLock { $0.readCount } }

    /// Done while the figures are read.
    var onRead: (@Sendable () async -> Void)? {
        get { state.withLock { $0.onRead } }
        set { state.withLock { $0.onRead = newValue } }
    }

    func figures() async throws -> RelayStorageFigures {
        state.withLock { $0.readCount += 1 }
        await onRead?()
        guard let known else { throw Self.nothing }
        return known
    }

    // MARK: What it doesn't have

    private static let nothing = RelayProblem(.unavailable, "there is nothing in it")

    func makeChannel(
        _ channel: RelayChannelID, _ registration: RelayRegistration
    ) async throws -> Bool { throw Self.nothing }
    func registration(of channel: RelayChannelID) async throws -> RelayRegistration? { nil }
    func state(of channel: RelayChannelID) async throws -> RelayChannelState { throw Self.nothing }
    func removeChannel(_ channel: RelayChannelID) async throws {}
    func observe(
        _ channel: RelayChannelID, _ onMoment: @escaping @Sendable (RelayMoment?) -> Void
    ) -> RelayObservation { RelayObservation {} }
    func list(
        _ channel: RelayChannelID, _ request: RelayListingRequest
    ) async throws -> RelayListing { throw Self.nothing }
    func version(of file: RelayFileName, in channel: RelayChannelID) async throws -> RelayFileVersion {
        throw Self.nothing
    }
    func read(_ version: RelayFileVersion, from offset: Int64) async throws -> Data { throw Self.nothing }
    func change(
        _ channel: RelayChannelID, _ changes: [RelayChanges.Change]
    ) async throws -> RelayChangeResult { throw Self.nothing }
    func beginUpload(
        _ request: RelayUploadRequest, to channel: RelayChannelID
    ) async throws -> RelayUpload { throw Self.nothing }
    func append(_ bytes: Data, at offset: Int64, to upload: RelayUpload) async throws { throw Self.nothing }
    func finish(_ upload: RelayUpload) async throws -> RelayOutcome { throw Self.nothing }
    func abandon(_ upload: RelayUpload) async {}
    func leave(
        _ deposit: RelayInvitationDeposit, as invitation: RelayInvitationID, in channel: RelayChannelID
    ) async throws { throw Self.nothing }
    func removeInvitation(_ invitation: RelayInvitationID, of channel: RelayChannelID) async throws {}
    func takeInvitation(_ invitation: RelayInvitationID) async throws -> RelayInvitation {
        throw Self.nothing
    }
    func keep(_ value: Data, as name: String) async throws -> Data { value }
    func kept(_ name: String) async throws -> Data? { nil }
    func tidy() async throws {}
}
