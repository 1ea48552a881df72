/// How long a bundle may take whose device has bounds and can't divide it.
///
/// Such a bundle would be refused for ever where its rows alone take longer than others are to wait, with all that its device writes
/// later. So the device gets twice the time after each one that was refused, up to a bound, until the server ends.
struct LongApplications {
    /// So often the time of a device is doubled.
    private static let doublingCountMax = 3
    /// The most seconds that they may become by that.
    private static let secondsMax = 16.0

    private var refusalCounts: [Int64: Int] = [:]

    /// How many seconds a device has.
    ///
    /// - parameter usual: What each bundle may take.
    func seconds(of device: Int64, usual: Double) -> Double {
        let doubled = usual * Double(1 << (refusalCounts[device] ?? 0))
        return max(usual, min(doubled, Self.secondsMax))
    }

    /// Notes that a bundle took longer than that.
    mutating func noteRefusal(of device: Int64) {
        refusalCounts[device] = min((refusalCounts[device] ?? 0) + 1, Self.doublingCountMax)
    }
}
