/// What a progress line says at one moment, and its text for a given width.
///
///     pull  [0:29]  54%  ━━━━━━━━━━───────  182,000 rows  61,204 rows/s  ETA 0:03
struct ProgressText: Equatable, Sendable {
    var label = ""
    var elapsed: Duration = .zero
    var completed = 0
    /// The whole amount, where it is known; without it there is no percentage, bar or ETA.
    var total: Int?
    /// The amount of data behind `completed`, where it is known.
    var bytes: Int?
    /// What is completed in a second, once something can be said about it.
    var rate: Double?
    var unit = ProgressUnit.items("rows")
    /// Whether the work has ended; a finished line has no ETA.
    var isFinished = false

    /// The line, no wider than `width`. Where it is too narrow, the least useful parts go first:
    /// the bar, the bytes, the rate, the ETA.
    func line(width: Int, style: Style = .plain, usesUnicode: Bool = true) -> String {
        let head = [label.isEmpty ? nil : PrintableText.escaped(label), clockAndPercentage]
            .compactMap { $0 }.joined(separator: "  ")
        let tails = [[bytes.map(HumanFormat.bytes), rateText, remainingText], [rateText, remainingText]]
        if unit == .time { return PrintableText.truncated(head, to: max(0, width)) }
        for tail in tails + [[remainingText], []] {
            let fields = ([unit.text(completed)] + tail.compactMap { $0 }).joined(separator: "  ")
            let room = width - PrintableText.width(of: head) - PrintableText.width(of: fields) - 2
            guard room >= 0 else { continue }
            let bar = bar(room: room - 2, style: style, usesUnicode: usesUnicode)
            return [head, bar, fields].compactMap { $0 }.joined(separator: "  ")
        }
        return PrintableText.truncated("\(head)  \(unit.text(completed))", to: max(0, width))
    }

    /// The share of the work that is done, from 0 to 1.
    private var fraction: Double? {
        guard let total else { return nil }
        return total <= 0 ? 1 : min(1, max(0, Double(completed) / Double(total)))
    }

    private var clockAndPercentage: String {
        let clock = "[\(HumanFormat.clock(elapsed))]"
        guard let total else { return clock }
        let percentage = total <= 0 ? 100 : min(100, max(0, Double(completed) * 100 / Double(total)))
        return "\(clock) \(PrintableText.padded("\(Int(percentage))%", to: 4, right: true))"
    }

    private var rateText: String? {
        rate.flatMap { Int(exactly: $0.rounded()) }.map { "\(unit.text($0))/s" }
    }

    /// The time left at the present rate. Nothing is said about more than 99 hours.
    private var remainingText: String? {
        guard !isFinished, let total, let rate, rate > 0 else { return nil }
        let seconds = (Double(max(0, total - completed)) / rate).rounded(.up)
        return seconds < 360_000 ? "ETA \(HumanFormat.clock(.seconds(Int64(seconds))))" : nil
    }

    /// A slim bar, none where it would be too short to show anything. It has few possible widths,
    /// so that it does not change with each digit of the numbers beside it.
    private func bar(room: Int, style: Style, usesUnicode: Bool) -> String? {
        guard let fraction, let width = [24, 16, 8].first(where: { $0 <= room }) else { return nil }
        let filled = Int(fraction * Double(width))
        let done = String(repeating: usesUnicode ? "━" : "=", count: filled)
        let rest = String(repeating: usesUnicode ? "─" : "-", count: width - filled)
        return style.green(done) + style.dim(rest)
    }
}

/// What a progress line counts.
package enum ProgressUnit: Equatable, Sendable {
    /// Things with a name in the plural: `rows`, `changes`, `pages`.
    case items(String)
    case bytes
    /// Nothing: how long it takes is all that can be said.
    case time

    func text(_ amount: Int) -> String {
        switch self {
        case .items(let name): "\(HumanFormat.count(amount)) \(name)"
        case .bytes: HumanFormat.bytes(amount)
        case .time: ""
        }
    }
}
