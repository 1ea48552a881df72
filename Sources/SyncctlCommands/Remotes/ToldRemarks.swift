/// What was said of the files of a place, so that a watch says it when it is new, and not after each change again.
final class ToldRemarks {
    private var last: Set<String> = []

    /// The lines to print after an exchange.
    ///
    /// - parameters:
    ///   - remarks: All that is to be said of this exchange.
    ///   - output: How exchanges are printed. Where there are several, a line has the time.
    func lines(of remarks: [String], _ output: PreparedExchange.Output) -> [String] {
        let former = last
        last = Set(remarks)
        guard case .watched = output else { return remarks.map(output.line) }
        return remarks.filter { !former.contains($0) }.map(output.line)
    }
}
