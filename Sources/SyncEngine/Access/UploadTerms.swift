import SyncWire

/// On what terms a bundle is applied: who sent it, and what that may bring.
package struct UploadTerms: Sendable {
    /// The number of the device; nil for a replica that is no device of a server.
    package let device: Int64?
    /// What it may exchange; nil for everything.
    package let bounds: AccessBounds?
    /// What a bundle may hold.
    package let limits: WireLimits

    /// Makes terms.
    package init(device: Int64? = nil, bounds: AccessBounds? = nil, limits: WireLimits = WireLimits()) {
        (self.device, self.bounds, self.limits) = (device, bounds, limits)
    }

    /// Those of replicas that are no devices: whoever can write to the file can do all of that anyway.
    static let unbounded = UploadTerms()
}
