#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension PostgresConnection {
    /// Waits until the server says something, another descriptor can be read, or the time is over.
    ///
    /// - throws: ``PostgresFailure`` when the connection has ended.
    func waitForNotifications(orReading other: CInt, until deadline: Deadline) throws {
        try requireUsable()
        var descriptors = [
            pollfd(fd: library.socket(handle), events: Int16(POLLIN), revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&descriptors, 2, Self.milliseconds(until: deadline)) > 0 else { return }
        if descriptors[0].revents != 0, library.consumeInput(handle) != 1 { throw fail(.connectionLost) }
    }

    /// The payloads of the notifications that came.
    func takeNotifications() -> [String] {
        var payloads: [String] = []
        while let notification = library.notification(handle) {
            if let payload = LibPQ.text(notification, at: LibPQ.Notification.payload) {
                payloads.append(payload)
            }
            library.freeMemory(notification)
        }
        return payloads
    }
}
