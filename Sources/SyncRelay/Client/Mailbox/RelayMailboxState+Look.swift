extension RelayMailboxState {
    /// What is known of the channel, and what may have happened to it while it was looked at: several threads may look and
    /// write at once.
    struct Look {
        /// How it stood when a look was begun.
        struct Start {
            let directory: RelayDirectory?
            let seen: RelayMoment?
            fileprivate let number: Int
            fileprivate let changeCount: Int
        }

        /// What it holds; nil before it was looked at.
        var directory: RelayDirectory?
        /// The last moment that the relay has told.
        var seen: RelayMoment?
        /// How often something was written, removed or doubted.
        var changeCount = 0
        private var startCount = 0
        /// The number of the look that found the directory.
        private var number = 0

        /// Begins with nothing.
        ///
        /// - parameter seen: The last moment that an earlier process saw.
        init(seen: RelayMoment?) { self.seen = seen }

        /// Begins another look.
        mutating func begin() -> Start {
            startCount += 1
            return Start(directory: directory, seen: seen, number: startCount, changeCount: changeCount)
        }

        /// Keeps what a look has found, unless there is what a later one found.
        ///
        /// It is stale when something changed during the look: it may have that, or not. And when the channel was seen
        /// meanwhile at a later moment, which stays the last one. One that was seen before is given up: the channel
        /// went back then, which was told.
        ///
        /// - returns: Whether what it has not found is not there.
        @discardableResult mutating func keep(_ new: RelayDirectory, from start: Start) -> Bool {
            guard start.number > number else { return false }
            number = start.number
            let isPassed =
                seen.map { seen in
                    seen != start.seen && seen.epoch == new.moment.epoch
                        && seen.position > new.moment.position
                } ?? false
            let isStale = isPassed || start.changeCount != changeCount
            directory = new
            directory?.isStale = isStale
            if !isPassed { seen = new.moment }
            return !isStale
        }
    }
}
