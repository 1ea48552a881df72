import HummingbirdCore
import NIOCore

extension ResponseBodyWriter {
    /// Waits until nearly all that was written is sent: less is left than any connection may keep.
    ///
    /// - parameter channel: The connection. ``UnreadAnswers`` ends one that is not read on.
    /// - throws: An error when it was ended.
    package mutating func waitUntilSent(by channel: any Channel) async throws {
        // A write is handed to the event loop, which finds that the connection takes no more.
        try await channel.eventLoop.submit { () -> Void in }.get()
        // What is written after that waits until it does, even if it is nothing.
        try await write(contentsOf: [ByteBuffer]())
    }
}
