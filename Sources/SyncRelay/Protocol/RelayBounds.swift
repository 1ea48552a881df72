/// What a relay takes at most, whoever runs it. `Schemas/relay/v1.md` has these.
public enum RelayBounds {
    /// The most bytes of a file: 4 GiB.
    public static let fileByteCountMax: Int64 = 4 << 30
    /// The greatest sum that a storage keeps: more than any disk has bytes, and a few of them overflow in no sum.
    package static let sumMax: Int64 = 1 << 53
    /// The most files of a channel.
    public static let fileCountMax: Int64 = 100_000
    /// The most entries on a page of a listing.
    public static let pageEntryCountMax = 1_000
    /// How long an upload takes room of its channel after its last piece: 5 minutes. A client that is waited for sends a piece
    /// each 64 seconds at least, and none comes later than 184 seconds after the one before.
    package static let uploadRoomMilliseconds: Int64 = 300_000
    /// How long after its last piece an upload is given up: a quarter of an hour.
    package static let uploadMilliseconds: Int64 = 900_000
    /// How many uploads that could not be given up are remembered, to be given up later.
    package static let leftUploadCountMax = 4_096
    /// How many removals of a channel a relay remembers at least.
    public static let removalCountMin: Int64 = 1_000
    /// The most changes of one document.
    public static let changeCountMax = 256
    /// The most bytes of a document of changes: 4 MiB.
    public static let changesByteCountMax = 4 << 20
    /// The most bytes of any other document.
    public static let documentByteCountMax = 16 << 10
    /// The most bytes of what is sealed in an invitation.
    public static let invitationByteCountMax = 1_024
    /// How long an invitation is kept at most, in seconds: 30 days.
    public static let invitationSecondsMax: Int64 = 30 * 86_400
    /// The most open invitations of a channel.
    public static let invitationCountMax: Int64 = 100
    /// The most bytes of a page of a listing, as a client takes it.
    public static let listingByteCountMax = 512 << 10
}
