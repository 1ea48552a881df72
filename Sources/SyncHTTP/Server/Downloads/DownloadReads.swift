import Synchronization

/// Bounds how many answers send a device its download at a time. Each holds a connection, also while it waits for what is not
/// made yet.
///
/// A device asks for one piece after the other. Where its connection broke it asks anew, maybe before the server has noticed: so
/// the newest answer is the one that counts, and the oldest makes room.
final class DownloadReads: Sendable {
    /// The most answers of one device at a time.
    static let deviceCountMax = 4

    /// What ends an answer, unless it is over: its connection may serve another request by then.
    final class Place: Sendable {
        private let isOver = Mutex(false)
        private let onRemoval: @Sendable () -> Void

        init(onRemoval: @escaping @Sendable () -> Void) { self.onRemoval = onRemoval }

        /// Says that the answer is over. It is not ended from then on.
        func leave() { isOver.withLock { $0 = true } }

        /// Ends the answer.
        func remove() {
            // Under the lock: whoever finds that it has left goes on with the next request.
            isOver.withLock { isOver in
                if !isOver { onRemoval() }
                isOver = true
            }
        }
    }

    private let places = Mutex<[Int64: [Place]]>([:])

    /// How many answers of a device are being sent.
    func count(of device: Int64) -> Int { places.withLock { $0[device]?.count ?? 0 } }

    /// Begins an answer.
    ///
    /// - parameters:
    ///     - device: Who gets it.
    ///     - onRemoval: Ends the answer when newer ones of the device take its place. It is called at most once, and not after
    ///       the answer was over. It must not wait.
    /// - returns: What counts the answer.
    func begin(for device: Int64, onRemoval: @escaping @Sendable () -> Void) -> DownloadRead {
        let place = Place(onRemoval: onRemoval)
        let oldest = places.withLock { places -> Place? in
            var own = places[device] ?? []
            let oldest = own.count < Self.deviceCountMax ? nil : own.removeFirst()
            own.append(place)
            places[device] = own
            return oldest
        }
        oldest?.remove()
        return DownloadRead { [weak self] in
            place.leave()
            self?.forget(place, of: device)
        }
    }

    private func forget(_ place: Place, of device: Int64) {
        places.withLock { places in
            guard var own = places[device] else { return }
            own.removeAll { $0 === place }
            places[device] = own.isEmpty ? nil : own
        }
    }
}

/// An answer that sends a device its download. It counts until it is ended, or nothing has it any more: of an answer whose device is gone
/// before its body began, nobody says a word.
final class DownloadRead: Sendable {
    private let onEnd: @Sendable () -> Void

    fileprivate init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }

    /// Says that the answer is over. It may be said again.
    func end() { onEnd() }
}
