import SyncctlCommands

/// A number of bytes on the command line: `500M`, `10G`, `2T`, or digits alone.
struct ByteSize: FormedArgument, Equatable {
    static let forms = "500M, 10G, 2T, or a number of bytes"

    /// How many bytes.
    let byteCount: Int64

    init?(argument: String) {
        let units: [Character: Int64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
        let unit = argument.last.flatMap { units[Character($0.uppercased())] }
        guard let count = Int64(unit == nil ? argument[...] : argument.dropLast()), count > 0 else {
            return nil
        }
        let (product, isTooLarge) = count.multipliedReportingOverflow(by: unit ?? 1)
        guard !isTooLarge else { return nil }
        byteCount = product
    }
}
