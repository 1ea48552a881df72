/// Requests of a device, one after the other.
struct RequestChain {
    /// Why they are made.
    enum Purpose {
        /// It was taken up, or finds the relay again after an outage.
        case wake(isBack: Bool)
        /// Something was edited.
        case edit
        /// An edit of another device was told.
        case hearing
        /// The head of another device was told, which says only what it has read.
        case head
        /// Nothing was asked for long.
        case poll
    }

    let device: Int
    let purpose: Purpose
    /// When that began which they are made for.
    let start: Double
    private(set) var connects = false
    private(set) var lists = true
    /// How many files are read: known when the listing was answered.
    var readCount = 0
    /// Whether the device says in its head what it has read.
    var acknowledges = false
    /// An edit is a bundle and a head.
    private(set) var writeCount = 0
    private(set) var watches = false

    init(_ purpose: Purpose, device: Int, start: Double, sends: Bool = false) {
        (self.purpose, self.device, self.start) = (purpose, device, start)
        if sends { writeCount = 2 }
        switch purpose {
        case .wake: (connects, watches) = (true, true)
        case .head: readCount = 1
        case .edit, .hearing, .poll: break
        }
    }

    /// The next request; nil after the last one.
    mutating func next() -> RequestKind? {
        if connects {
            connects = false
            return .connection
        }
        if lists {
            lists = false
            return .listing
        }
        if readCount > 0 {
            readCount -= 1
            return .reading
        }
        if acknowledges || writeCount > 0 { return .writing }
        if watches {
            watches = false
            return .watch
        }
        return nil
    }

    /// Notes that a file was written.
    ///
    /// - returns: What others are told by it: whether it is an edit, or nil for a bundle that no head names yet.
    mutating func noteWriting() -> (isEdit: Bool, Void)? {
        if acknowledges {
            acknowledges = false
            return (false, ())
        }
        writeCount -= 1
        return writeCount == 0 ? (true, ()) : nil
    }
}
