import SyncWire

/// A remote that others use too, and that takes no more at once than lets it serve them in between.
package protocol PacedPeer: SyncPeer {
    /// About how many changes one bundle should bring at most.
    var changeCountMax: Int64 { get }

    /// Asks it to take longer over a bundle than it would for others, which it may refuse. It may be asked again, and take longer
    /// each time.
    func askForMoreTime()
}

/// How changes go to a remote: in one bundle, or in several, each of which is one of the store as it would be without
/// the later changes of this replica.
extension SessionDriver {
    /// Sends what the remote takes. Of both directions, what came is here, which must not read as a failure; what did
    /// not go, goes another time.
    ///
    /// - parameter greeting: What this replica said of itself.
    func push(
        _ request: TransferRequest, _ direction: SyncDirection, _ greeting: Greeting?
    ) throws -> (transfer: SyncReport.Transfer?, refusal: SyncError?) {
        let paced = local is StorePeer ? remote as? any PacedPeer : nil
        var course = PushCourse(request, to: paced)
        let ahead = (paced as? any OverlappingPeer).flatMap { remote in
            greeting.map { PushAhead(from: local, to: remote, $0, cancellation) }
        }
        while true {
            // What was applied of it stays, and the next push begins after that.
            try cancellation?.check()
            do {
                let passage = try transfer(
                    .push, from: ahead?.source ?? local, to: ahead?.target ?? remote, course.request,
                    after: course.sent?.sent.rowCount ?? 0)
                course.add(passage)
                guard let end = passage.sent.portionEnd else {
                    return (course.sent?.report, course.refusal)
                }
                course.goOn(try remote.greet(), after: end)
            } catch let error as SyncError where error.code == .outsideScope {
                let isNew = course.holdBack(error)
                if isNew, local is StorePeer { continue }
                var refusal = course.refusal ?? error
                refusal.rows = []
                if direction != .both { throw refusal }
                return (course.sent?.report, refusal)
            } catch let error as SyncError where error.code == .tooMuchAtOnce {
                guard course.slowDown() else { throw error }
            }
        }
    }
}

/// How far a push has come.
private struct PushCourse {
    private(set) var request: TransferRequest
    /// What has gone.
    private(set) var sent: Passage?
    /// Why rows are held back.
    private(set) var refusal: SyncError?
    private let remote: (any PacedPeer)?
    private var held: Set<StateRows> = []
    private var refusalCount = 0
    private var reductionCount = 0
    private var lastEnd = Int64.min

    // A server names up to 1,000 rows at once, and one that makes them up would have everything sent for ever.
    private static let refusalCountMax = 100
    private static let reductionCountMax = 4
    /// A server gives a device more time each time that it asks, a few times.
    private static let askingCountMax = 4

    init(_ request: TransferRequest, to remote: (any PacedPeer)?) {
        self.request = request
        self.remote = remote
        self.request.changeCountMax = remote?.changeCountMax
    }

    mutating func add(_ passage: Passage) {
        if sent == nil { sent = passage } else { sent?.add(passage) }
    }

    /// Goes on with what the remote does not know yet. One that does not get further, whatever it says, is sent all of the
    /// rest at once: it would be sent the same for ever.
    ///
    /// - parameter end: The last change that went.
    mutating func goOn(_ greeting: Greeting, after end: Int64) {
        request.base = greeting.vector
        request.parts = greeting.facts.parts
        if end <= lastEnd { request.changeCountMax = nil }
        lastEnd = max(lastEnd, end)
        assert(sent != nil, "a push goes on before it began")
    }

    /// Leaves out the rows that the remote names.
    ///
    /// - returns: Whether it named any that were not left out yet.
    mutating func holdBack(_ error: SyncError) -> Bool {
        refusalCount += 1
        let named = Set(
            error.rows.flatMap { rows in rows.keys.map { StateRows(table: rows.table, keys: [$0]) } })
        let isNew = !named.isSubset(of: held)
        held.formUnion(named)
        request.heldBack = Array(held)
        assert(request.heldBack.allSatisfy { $0.keys.count == 1 }, "a row is held back under two names")
        var first = refusal ?? error
        first.rows = request.heldBack
        refusal = first
        return isNew && refusalCount < Self.refusalCountMax
    }

    /// Sends less at once, and asks for more time when even little takes too long.
    ///
    /// - returns: Whether that can help.
    mutating func slowDown() -> Bool {
        guard let remote, reductionCount < Self.reductionCountMax + Self.askingCountMax else { return false }
        reductionCount += 1
        if reductionCount > Self.reductionCountMax {
            remote.askForMoreTime()
        } else {
            request.changeCountMax = max(1, (request.changeCountMax ?? remote.changeCountMax) / 8)
            request.dividesRows = true
        }
        return true
    }
}
