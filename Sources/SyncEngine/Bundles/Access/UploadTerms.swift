import SyncWire

/// On what terms a bundle is applied: who sent it, and what that may bring.
package struct UploadTerms: Sendable {
    /// The number of the device; nil for a replica that is no device of a server.
    package let device: Int64?
    /// What it may exchange; nil for everything.
    package let bounds: AccessBounds?
    /// What a bundle may hold.
    package let limits: WireLimits
    /// Says that the bundle has taken the time that it may take.
    package let isOverdue: @Sendable () -> Bool

    /// Makes terms.
    package init(
        device: Int64? = nil, bounds: AccessBounds? = nil, limits: WireLimits = WireLimits(),
        isOverdue: @escaping @Sendable () -> Bool = { false }
    ) {
        (self.device, self.bounds, self.limits) = (device, bounds, limits)
        self.isOverdue = isOverdue
    }

    /// - throws: ``SyncError`` of code `tooMuchAtOnce` when the bundle has taken the time that it may take.
    func requireTime() throws {
        guard isOverdue() else { return }
        throw SyncError(
            .tooMuchAtOnce,
            """
            the bundle takes longer to apply than others are to wait; nothing of it was applied; send less at once, or \
            have the server allow more time
            """)
    }

    /// Those of replicas that are no devices: whoever can write to the file can do all of that anyway.
    static let unbounded = UploadTerms()
}
