extension QRCode {
    /// The light border that readers need, in modules.
    private static let quietZone = 4

    /// The code as text, two rows of modules a line.
    ///
    /// Light modules are drawn, so that a terminal with light text on a dark ground shows what readers expect; most
    /// read it inverted as well.
    package var text: String {
        let side = size + 2 * Self.quietZone
        func isLight(_ row: Int, _ column: Int) -> Bool {
            let (row, column) = (row - Self.quietZone, column - Self.quietZone)
            guard modules.indices.contains(row), modules.indices.contains(column) else { return true }
            return !modules[row][column]
        }
        return stride(from: 0, to: side, by: 2).map { row in
            (0..<side).map { column in
                // Below the last row there is nothing.
                let lower = row + 1 < side && isLight(row + 1, column)
                return switch (isLight(row, column), lower) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }.joined()
        }.joined(separator: "\n")
    }

    /// The columns that the text needs.
    var columnCount: Int { size + 2 * Self.quietZone }
}

extension CommandContext {
    /// Prints a link as a QR code, for a camera. With `--json` there is none.
    ///
    /// - throws: A ``Failure`` when stdout can't show it.
    package func printQRCode(of link: String) throws {
        guard !global.isJSON else { return }
        guard terminal.usesUnicode else {
            throw Failure(
                "a QR code needs a terminal that shows Unicode",
                hints: ["set the locale, for example: LC_ALL=C.UTF-8"])
        }
        guard let code = QRCode(link) else {
            throw Failure("the link is too long for a QR code")
        }
        if terminal.outputIsTerminal, terminal.width < code.columnCount {
            note("the QR code needs \(code.columnCount) columns; make the window wider")
        }
        try terminal.writeOutput(code.text)
    }
}
