import Foundation

/// Where a relay keeps its channels.
///
/// All methods throw ``RelayProblem``: `unavailable` when the storage can't do it now, `unauthorized` when there is no such
/// channel, and what each says besides. When a method that changes something throws, nothing was changed; when it returns,
/// the change is durable and anybody sees it. A storage on another machine that is lost in the midst of a change, and does
/// not come back in time, throws `unavailable` without knowing which: whoever asks again gets what is so.
///
/// Changes of one channel get positions one after the other, without gaps, in the order in which they become visible.
public protocol RelayStorage: Sendable {
    // MARK: Channels

    /// Makes a channel.
    ///
    /// - returns: Whether it was made; false when it was there, with the same tokens.
    /// - throws: ``RelayProblem``: `conflict` when it is there with others, `full` when there are too many channels.
    func makeChannel(_ channel: RelayChannelID, _ registration: RelayRegistration) async throws -> Bool

    /// The digests of a channel's tokens; nil when there is no such channel.
    func registration(of channel: RelayChannelID) async throws -> RelayRegistration?

    /// How a channel stands.
    func state(of channel: RelayChannelID) async throws -> RelayChannelState

    /// Removes a channel with all that is in it. One that is not there is no problem.
    func removeChannel(_ channel: RelayChannelID) async throws

    /// Tells of each change of a channel, from now on until the observation is cancelled.
    ///
    /// - parameters:
    ///     - channel: The channel.
    ///     - onMoment: Called with the moment after a change, in the order of positions and soon. Some moments may be left
    ///       out when later ones follow, and the first may be the one at which the channel stood when the observation
    ///       began. It gets nil when the channel was removed. It must not block.
    func observe(
        _ channel: RelayChannelID, _ onMoment: @escaping @Sendable (RelayMoment?) -> Void
    ) -> RelayObservation

    // MARK: Files

    /// A page of a listing.
    ///
    /// - throws: ``RelayProblem`` of code `conflict` when the listing that the page belongs to can't go on.
    func list(_ channel: RelayChannelID, _ request: RelayListingRequest) async throws -> RelayListing

    /// The version of a file that is there now.
    ///
    /// - throws: ``RelayProblem`` of code `missing`.
    func version(of file: RelayFileName, in channel: RelayChannelID) async throws -> RelayFileVersion

    /// Reads bytes of a version.
    ///
    /// - returns: At least one byte, and as many as are cheap to read at once; none at the end.
    /// - throws: ``RelayProblem`` of code `missing` when the version was replaced or removed meanwhile.
    func read(_ version: RelayFileVersion, from offset: Int64) async throws -> Data

    /// Makes several changes, all or none, in their order.
    ///
    /// - throws: ``RelayProblem``: `exists`, `full`.
    func change(
        _ channel: RelayChannelID, _ changes: [RelayChanges.Change]
    ) async throws -> RelayChangeResult

    /// Begins to write a file that comes in pieces. Nobody sees it before it is finished.
    ///
    /// - throws: ``RelayProblem``: `exists`, `full`.
    func beginUpload(
        _ request: RelayUploadRequest, to channel: RelayChannelID
    ) async throws -> RelayUpload

    /// Adds bytes to an upload.
    ///
    /// - parameters:
    ///     - bytes: ``RelayUpload/pieceByteCount`` of them; the last piece may have fewer.
    ///     - offset: How many bytes came before.
    ///     - upload: The upload.
    /// - throws: ``RelayProblem`` of code `missing` when the upload was abandoned.
    func append(_ bytes: Data, at offset: Int64, to upload: RelayUpload) async throws

    /// Makes an upload visible, whose bytes are all there and have the digest that was announced.
    ///
    /// - throws: ``RelayProblem``: `exists`, `full`, `missing`.
    func finish(_ upload: RelayUpload) async throws -> RelayOutcome

    /// Gives an upload up. One that is not there is no problem.
    func abandon(_ upload: RelayUpload) async

    // MARK: Invitations

    /// Keeps an invitation for a time.
    ///
    /// - throws: ``RelayProblem``: `conflict` when another one has the name, `full` when the channel has too many.
    func leave(
        _ deposit: RelayInvitationDeposit, as invitation: RelayInvitationID, in channel: RelayChannelID
    ) async throws

    /// Removes an invitation of a channel. One that is not there is no problem.
    func removeInvitation(_ invitation: RelayInvitationID, of channel: RelayChannelID) async throws

    /// Hands out an invitation, once.
    ///
    /// - throws: ``RelayProblem`` of code `missing` when there is none, or none any more.
    func takeInvitation(_ invitation: RelayInvitationID) async throws -> RelayInvitation

    // MARK: The relay

    /// Keeps a value of the relay itself, such as its certificate, unless there is one of that name.
    ///
    /// - returns: The value that is kept.
    func keep(_ value: Data, as name: String) async throws -> Data

    /// The value that is kept under a name.
    func kept(_ name: String) async throws -> Data?

    /// What kind of storage it is, and its bounds.
    var outline: RelayStorageOutline { get }

    /// How much there is.
    func figures() async throws -> RelayStorageFigures

    /// Removes what nobody needs any more: invitations that are too old, uploads that were left. A relay calls it each
    /// minute.
    func tidy() async throws
}

/// Somebody who is told of the changes of a channel, until this is cancelled or gone.
public final class RelayObservation: Sendable {
    private let end: @Sendable () -> Void

    /// - parameter end: Ends it. It may be called more than once.
    public init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }

    /// Ends it.
    public func cancel() { end() }
}
