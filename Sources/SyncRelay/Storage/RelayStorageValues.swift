import Foundation

/// Which page of which listing is meant.
public enum RelayListingRequest: Hashable, Sendable {
    /// The first page of all files.
    case all
    /// The first page of what changed since a moment.
    case since(RelayMoment)
    /// The page that another one named.
    case page(String)
}

/// A version of a file.
public struct RelayFileVersion: Hashable, Sendable {
    /// How many bytes it has.
    public let byteCount: Int64
    /// At which position it was written.
    public let position: RelayPosition
    /// How the storage finds its bytes.
    public let handle: Int64

    /// Makes a version.
    public init(byteCount: Int64, position: RelayPosition, handle: Int64) {
        self.byteCount = byteCount
        self.position = position
        self.handle = handle
    }
}

/// A file that will come in pieces.
public struct RelayUploadRequest: Hashable, Sendable {
    /// Where it goes.
    public let file: RelayFileName
    /// Whether it takes the place of a file that has the name.
    public let isReplacing: Bool
    /// How many bytes it will have.
    public let byteCount: Int64
    /// The digest that they will have.
    public let digest: RelayDigest

    /// Makes a request.
    public init(file: RelayFileName, isReplacing: Bool, byteCount: Int64, digest: RelayDigest) {
        self.file = file
        self.isReplacing = isReplacing
        self.byteCount = byteCount
        self.digest = digest
    }
}

/// A file that comes in pieces.
public struct RelayUpload: Hashable, Sendable {
    /// How many bytes a piece has: 256 KiB.
    public static let pieceByteCount = 256 << 10

    /// The channel that it is for.
    public let channel: RelayChannelID
    /// What was announced.
    public let request: RelayUploadRequest
    /// How the storage finds it.
    public let handle: Int64

    /// Makes an upload.
    public init(channel: RelayChannelID, request: RelayUploadRequest, handle: Int64) {
        self.channel = channel
        self.request = request
        self.handle = handle
    }
}

/// What became of one change.
public struct RelayOutcome: Hashable, Sendable {
    /// The position of the change. Where nothing had to change, that of the file as it is, or of the channel when there is no file.
    public let position: RelayPosition
    /// Whether there is a file now where none was.
    public let isNew: Bool

    /// Makes an outcome.
    public init(position: RelayPosition, isNew: Bool) {
        self.position = position
        self.isNew = isNew
    }
}

/// What became of several changes.
public struct RelayChangeResult: Hashable, Sendable {
    /// The position of the channel after all of them.
    public let position: RelayPosition
    /// What became of each.
    public let outcomes: [RelayOutcome]

    /// Makes a result.
    public init(position: RelayPosition, outcomes: [RelayOutcome]) {
        self.position = position
        self.outcomes = outcomes
    }
}

/// How much a storage has.
public struct RelayStorageFigures: Hashable, Sendable {
    /// How many channels.
    public let channelCount: Int64
    /// How many files, in all channels.
    public let fileCount: Int64
    /// How many bytes these have.
    public let byteCount: Int64
    /// How many bytes the storage takes on its disk.
    public let storageByteCount: Int64

    /// Makes figures.
    public init(channelCount: Int64, fileCount: Int64, byteCount: Int64, storageByteCount: Int64) {
        self.channelCount = channelCount
        self.fileCount = fileCount
        self.byteCount = byteCount
        self.storageByteCount = storageByteCount
    }
}

/// Why a storage can't be opened.
public struct RelayStorageError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of failure. New kinds may be added.
    public enum Code: String, Sendable {
        /// Another relay has it open.
        case inUse
        /// The file is something else.
        case notAStorage
        /// A newer version of this library made it.
        case tooNew
        /// The file can't be opened, or not be written; or the database can't be reached or used.
        case cannotOpen
        /// The library is not installed that the database needs.
        case noLibrary
    }

    /// The kind of failure.
    public let code: Code
    /// What happened, and what helps.
    public let message: String
    /// The file, or the database without its password.
    public let path: String

    /// Makes an error.
    public init(_ code: Code, _ message: String, path: String) {
        self.code = code
        self.message = message
        self.path = path
    }

    /// The file and what happened.
    public var description: String { "\(path): \(message)" }
}
