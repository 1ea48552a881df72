import SyncWire

/// On what terms a bundle is applied: who sent it, and what that may bring.
package struct UploadTerms: Sendable {
    /// The number of the device; nil for a replica that is no device of a server.
    package let device: Int64?
    /// What it may exchange; nil for everything.
    package let bounds: AccessBounds?
    /// What a bundle may hold.
    package let limits: WireLimits
    /// Starts the clock: what it returns says whether the bundle has taken the time that it may take.
    package let startClock: @Sendable () -> @Sendable () -> Bool
    /// Whether the sender says that it can't divide the bundle any further: the time counts only while its rows come, then.
    package let isIndivisible: Bool
    /// Whether the bundle lay in a mailbox, and so was made for nobody in particular: it says the same of all tables.
    package let isOfMailbox: Bool

    /// Makes terms.
    package init(
        device: Int64? = nil, bounds: AccessBounds? = nil, limits: WireLimits = WireLimits(),
        isOfMailbox: Bool = false, isIndivisible: Bool = false,
        startClock: @escaping @Sendable () -> @Sendable () -> Bool = { { false } }
    ) {
        (self.device, self.bounds, self.limits) = (device, bounds, limits)
        self.startClock = startClock
        self.isOfMailbox = isOfMailbox
        self.isIndivisible = isIndivisible
    }

    /// Those of replicas that are no devices: whoever can write to the file can do all of that anyway.
    static let unbounded = UploadTerms()
    /// Those of the bundles in a mailbox.
    static let ofMailbox = UploadTerms(isOfMailbox: true)
}
