#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension CommandContext {
    /// Asks a person whether to go on. A script, which nobody sits before, has said what it wants.
    ///
    /// - throws: ``Failure/cancelled`` unless the answer is yes.
    func confirm(_ question: String) throws {
        guard CommandSurroundings.current == nil, terminal.errorIsTerminal, isatty(STDIN_FILENO) == 1 else {
            return
        }
        terminal.writeError("\(PrintableText.escaped(question)) [y/N] ", terminator: "")
        let answer = readLine(strippingNewline: true)?.lowercased() ?? ""
        guard ["y", "yes"].contains(answer) else { throw Failure.cancelled }
    }
}
