/// How far the removal has come. It goes through the bodies in their order, round after round.
struct CleaningState {
    private(set) var isRunning = false
    /// Whether there may be more than what this round sees.
    var isAsked = false
    /// Whether the last round left something: it failed, or others had it in hand.
    private(set) var hasRest = false
    /// How many bytes were written since the last slice began.
    private(set) var newByteCount: Int64 = 0
    /// How many bytes more were written than removed since nothing was left.
    private(set) var aheadByteCount: Int64 = 0

    /// The body behind which the next slice begins. What was removed before it isn't looked at again in this round: the
    /// index has it until the server has tidied.
    private var last = Int64.min
    /// Whether this round removed something, and whether it left something.
    private var hasProgress = false
    private var leaves = false

    /// - returns: Whether somebody has to begin.
    mutating func begin() -> Bool {
        defer { isRunning = true }
        return !isRunning
    }

    /// Counts what was written, unless there is nothing to be removed.
    mutating func note(_ byteCount: Int64) {
        guard isRunning || hasRest else { return }
        newByteCount += byteCount
        aheadByteCount += byteCount
    }

    /// - returns: Behind which body a slice begins, and how many bytes it has to remove: twice what came.
    mutating func beginSlice() -> (body: Int64, byteCount: Int64) {
        if last == .min { (isAsked, hasProgress, leaves) = (false, false, false) }
        defer { newByteCount = 0 }
        return (last, 2 * newByteCount)
    }

    /// - parameter removal: What was removed; nil when that failed.
    /// - returns: Whether there is to be another slice.
    mutating func endSlice(_ removal: BlockRemoval?) -> Bool {
        guard let removal else {
            // It is tried again when there is more to do, or when the relay tidies. Another round then begins.
            hasRest = true
            isRunning = isAsked
            isAsked = false
            last = .min
            return isRunning
        }
        aheadByteCount = max(0, aheadByteCount - removal.byteCount)
        if removal.hasProgress { hasProgress = true }
        guard removal.isLast else {
            if let bodies = removal.bodies {
                // Those that were not finished are looked at again when there was too much for one slice.
                last = removal.isCut ? max(bodies.lowerBound, .min + 1) - 1 : bodies.upperBound
            }
            if !removal.isCut && removal.finishedCount < removal.bodyCount { leaves = true }
            return true
        }
        last = .min
        hasRest = leaves || removal.finishedCount < removal.bodyCount
        if !hasRest { aheadByteCount = 0 }
        isRunning = isAsked || (hasRest && hasProgress)
        return isRunning
    }
}
