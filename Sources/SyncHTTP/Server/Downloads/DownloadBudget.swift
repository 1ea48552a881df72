import SyncWire
import Synchronization

/// Bounds what waits on a server's disk to be fetched, of one device and of all, and how much is made of it at a time.
///
/// A device has one download. Before another one takes its place, it may have begun many, and may still read former ones.
final class DownloadBudget: Sendable {
    /// How many bundles and snapshots are made for a device at a time.
    static let makingCountMax = 4
    /// What a device may have beside the largest download: others that are being made, up to where one takes the other's place.
    private static let besideByteCount: Int64 = 64 << 20

    private struct State {
        var byteCount: Int64 = 0
        var devices: [Int64: Int64] = [:]
        var makings: [Int64: Int] = [:]

        mutating func release(_ count: Int64, of device: Int64) {
            let held = (devices[device] ?? 0) - count
            devices[device] = held > 0 ? held : nil
        }
    }

    private let byteCountMax: Int64
    private let deviceByteCountMax: Int64
    private let state = Mutex(State())

    /// Makes a budget of which nothing is taken.
    ///
    /// - parameters:
    ///     - byteCountMax: The most bytes of all devices. One download is always possible.
    ///     - downloadByteCountMax: The most bytes of one download.
    init(byteCountMax: Int64, downloadByteCountMax: Int64) {
        self.byteCountMax = max(byteCountMax, downloadByteCountMax)
        deviceByteCountMax = downloadByteCountMax.addingSaturated(Self.besideByteCount)
    }

    /// How many bytes wait.
    var byteCount: Int64 { state.withLock { $0.byteCount } }

    /// Begins to make something for a device.
    ///
    /// - throws: ``RemoteError`` of code `busy` when too much is being made for it already.
    func beginMaking(for device: Int64) throws {
        try state.withLock { state in
            let count = state.makings[device] ?? 0
            guard count < Self.makingCountMax else {
                throw RemoteError(.busy, "too many downloads are being made for this device at a time")
            }
            state.makings[device] = count + 1
        }
    }

    /// Says that it is made, or will not be.
    func endMaking(for device: Int64) {
        state.withLock { state in
            let count = (state.makings[device] ?? 0) - 1
            state.makings[device] = count > 0 ? count : nil
        }
    }

    /// What one spool takes of the budget.
    struct Share: Sendable {
        fileprivate let budget: DownloadBudget
        /// Which device's it is.
        let device: Int64

        /// Counts bytes.
        ///
        /// - throws: ``RemoteError`` of code `busy`; nothing is counted then.
        func take(_ count: Int64) throws { try budget.take(count, of: device) }

        /// Gives back what was counted.
        func release(_ count: Int64) { budget.release(count, of: device) }

        /// Counts what was counted here to another one of the same budget, also beyond what that one may have.
        func pass(_ count: Int64, to other: Share) { budget.pass(count, from: device, to: other.device) }

        /// The same, with more bytes.
        ///
        /// - throws: ``RemoteError`` of code `busy` when the other one has no room for all; nothing changes then.
        func pass(_ count: Int64, to other: Share, taking more: Int64) throws {
            try budget.take(more, of: other.device, with: count, from: device)
        }
    }

    /// What a spool for a device takes.
    func share(of device: Int64) -> Share { Share(budget: self, device: device) }

    /// - parameters:
    ///     - passed: What counts to the device, too, and is there already.
    ///     - former: Whom that counted to.
    private func take(
        _ count: Int64, of device: Int64, with passed: Int64 = 0, from former: Int64? = nil
    ) throws {
        try state.withLock { state in
            let held = (state.devices[device] ?? 0).addingSaturated(passed).addingSaturated(count)
            guard held <= deviceByteCountMax else {
                throw RemoteError(.busy, "too many bytes wait for this device to be fetched")
            }
            let total = state.byteCount.addingSaturated(count)
            guard total <= byteCountMax else {
                throw RemoteError(
                    .busy, "too many bytes wait for devices to be fetched; try again in some minutes")
            }
            state.devices[device] = held
            state.byteCount = total
            if let former { state.release(passed, of: former) }
        }
    }

    private func pass(_ count: Int64, from former: Int64, to device: Int64) {
        guard count > 0 else { return }
        state.withLock { state in
            state.release(count, of: former)
            state.devices[device] = (state.devices[device] ?? 0).addingSaturated(count)
        }
    }

    private func release(_ count: Int64, of device: Int64) {
        guard count > 0 else { return }
        state.withLock { state in
            state.byteCount -= count
            state.release(count, of: device)
        }
    }
}
