import Foundation
import SyncEngine

/// A picture of replicas: one in the middle and the others around it, above a table of who knows what.
struct ReplicaDrawing {
    /// The most replicas that can be told apart; of more, the first are drawn.
    static let replicasMax = 24

    let title: String
    let now: Int64
    private let replicas: [ReplicaInformation]
    private let leftOutCount: Int

    /// - parameters:
    ///     - title: What the picture is of.
    ///     - replicas: The replicas, the one of the store first.
    ///     - now: The time, in milliseconds of Unix time.
    init(title: String, replicas: [ReplicaInformation], now: Int64) {
        self.title = title
        self.now = now
        self.replicas = Array(replicas.prefix(Self.replicasMax))
        leftOutCount = replicas.count - self.replicas.count
    }

    private var others: ArraySlice<ReplicaInformation> { replicas.dropFirst() }

    // MARK: Places

    private static let margin = 24
    private static let nodeRadius = 30
    private static let cellWidth = 76
    private static let cellHeight = 24
    private static let nameWidth = 230

    /// How far the others are from the one in the middle: as far as they need not to touch.
    private var ringRadius: Int { max(150, others.count * (2 * Self.nodeRadius + 40) * 10 / 63) }
    private var ringHeight: Int { others.isEmpty ? 140 : 2 * (ringRadius + Self.nodeRadius) + 90 }
    private var width: Int {
        let table = Self.nameWidth + replicas.count * Self.cellWidth
        return 2 * Self.margin + max(table, others.isEmpty ? 360 : 2 * (ringRadius + 110))
    }
    private var tableTop: Int { 56 + ringHeight }
    private var height: Int { tableTop + (replicas.count + 2) * Self.cellHeight + 40 }
    private var middle: (x: Int, y: Int) { (width / 2, 56 + ringHeight / 2 - 10) }

    private func place(_ index: Int) -> (x: Int, y: Int) {
        // The first one is at the top, the next ones follow clockwise.
        let angle = 2 * Double.pi * Double(index) / Double(max(1, others.count)) - Double.pi / 2
        return (
            middle.x + Int((Double(ringRadius) * cos(angle)).rounded()),
            middle.y + Int((Double(ringRadius) * sin(angle)).rounded())
        )
    }

    // MARK: The picture

    /// The picture as a document.
    var svg: String {
        var parts = [
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" \
            viewBox="0 0 \(width) \(height)" role="img">
            <title>Replicas of \(Self.escaped(title))</title>
            <style>\(Self.style)</style>
            <rect class="page" width="\(width)" height="\(height)"/>
            <text class="title" x="\(Self.margin)" y="34">\(Self.escaped(title)): \(replicaCountText)</text>
            """
        ]
        for (index, replica) in others.enumerated() { parts.append(line(to: replica, at: place(index))) }
        for (index, replica) in others.enumerated() { parts.append(node(replica, at: place(index))) }
        if let local = replicas.first { parts.append(node(local, at: middle)) }
        parts.append(contentsOf: table)
        parts.append("</svg>\n")
        return parts.joined(separator: "\n")
    }

    private var replicaCountText: String {
        let count = HumanFormat.count(replicas.count + leftOutCount, "replica")
        return leftOutCount == 0 ? count : "\(count), of which \(replicas.count) are drawn"
    }

    private func line(to replica: ReplicaInformation, at place: (x: Int, y: Int)) -> String {
        let kind = replica.isPeer ? "met" : "heard"
        return """
            <line class="\(kind)" x1="\(middle.x)" y1="\(middle.y)" x2="\(place.x)" y2="\(place.y)"/>
            """
    }

    private func node(_ replica: ReplicaInformation, at place: (x: Int, y: Int)) -> String {
        let state = Self.state(replica)
        let seen = replica.lastSeenMilliseconds.map { HumanFormat.age(of: $0, now: now) }
        let notes = [replica.isLocal ? "this store" : Self.shortened(replica.name), seen ?? ""]
            .filter { !$0.isEmpty }
        var lines = [
            """
            <circle class="node \(state)" cx="\(place.x)" cy="\(place.y)" r="\(Self.nodeRadius)">\
            <title>\(replica.replica.description): \(Self.stateText(replica))</title></circle>
            <text class="name" x="\(place.x)" y="\(place.y + 4)">\(replica.replica.shortDescription)</text>
            """
        ]
        // Away from the middle, so that no line crosses them.
        let isAbove = place.y < middle.y
        for (number, text) in notes.enumerated() {
            let y =
                isAbove
                ? place.y - Self.nodeRadius - 8 - 14 * (notes.count - 1 - number)
                : place.y + Self.nodeRadius + 15 + 14 * number
            lines.append("<text class=\"note\" x=\"\(place.x)\" y=\"\(y)\">\(Self.escaped(text))</text>")
        }
        return lines.joined(separator: "\n")
    }

    // MARK: Who knows what

    private var table: [String] {
        let left = Self.margin + Self.nameWidth
        var lines = [
            """
            <text class="head" x="\(Self.margin)" y="\(tableTop)">Changes that are missing at each replica, by who made \
            them</text>
            """
        ]
        for (index, writer) in replicas.enumerated() {
            lines.append(
                """
                <text class="column" x="\(left + index * Self.cellWidth + Self.cellWidth / 2)" \
                y="\(tableTop + Self.cellHeight)">\(writer.replica.shortDescription)</text>
                """)
        }
        for (row, replica) in replicas.enumerated() {
            let y = tableTop + (row + 1) * Self.cellHeight + 10
            let name = replica.isLocal ? "this store" : Self.shortened(replica.name)
            lines.append(
                """
                <text class="row" x="\(Self.margin)" y="\(y + 16)">\(replica.replica.shortDescription) \
                \(Self.escaped(name))</text>
                """)
            for (column, writer) in replicas.enumerated() {
                lines.append(cell(replica, writer, x: left + column * Self.cellWidth, y: y))
            }
        }
        return lines
    }

    private func cell(_ replica: ReplicaInformation, _ writer: ReplicaInformation, x: Int, y: Int) -> String {
        let known = replica.known[writer.replica] ?? 0
        // Both numbers may be anything that another program has written.
        let (difference, overflow) = writer.sequence.subtractingReportingOverflow(known)
        let missing = overflow ? Int64.max : max(0, difference)
        let isUnknown = known == 0 && missing > 0 && !replica.isLocal
        let (kind, text): (String, String) =
            writer.sequence <= 0
            ? ("none", "")
            : isUnknown ? ("unknown", "all?") : missing == 0 ? ("all", "0") : ("some", "\(missing)")
        return """
            <rect class="cell \(kind)" x="\(x + 2)" y="\(y)" width="\(Self.cellWidth - 4)" \
            height="\(Self.cellHeight - 3)"/><text class="number" x="\(x + Self.cellWidth / 2)" \
            y="\(y + 15)">\(text)</text>
            """
    }

    // MARK: Words

    private static func state(_ replica: ReplicaInformation) -> String {
        if replica.retirement != nil { return "retired" }
        return replica.isLocal ? "local" : replica.isUpToDate ? "all" : "some"
    }

    private static func stateText(_ replica: ReplicaInformation) -> String {
        if replica.retirement != nil { return "retired" }
        return replica.isLocal
            ? "this store" : replica.isUpToDate ? "up to date" : "behind, as far as is known"
    }

    private static func shortened(_ name: String) -> String {
        name.count <= 28 ? name : "…" + name.suffix(27)
    }

    /// Text as it stands in a document: what XML has no place for becomes a sign for it.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static let style = """

        text { font: 12px system-ui, sans-serif; fill: #1c2330; }
        .page { fill: #ffffff; }
        .title { font-size: 18px; font-weight: 600; }
        .head { font-weight: 600; }
        .name, .note, .column, .number { text-anchor: middle; }
        .name, .column, .row, .number { font-family: ui-monospace, monospace; font-size: 11px; }
        .note { fill: #5b6577; }
        line { stroke: #8a94a6; stroke-width: 2; }
        line.heard { stroke-dasharray: 3 5; stroke-width: 1; }
        .node { stroke: #8a94a6; stroke-width: 2; fill: #eef1f6; }
        .node.local { fill: #dbe7ff; stroke: #3565c8; }
        .node.all { fill: #dcf5e3; stroke: #2f8f4e; }
        .node.some { fill: #fdf0d2; stroke: #b7791f; }
        .node.retired { stroke-dasharray: 4 4; }
        .cell { fill: #eef1f6; }
        .cell.all { fill: #dcf5e3; }
        .cell.some, .cell.unknown { fill: #fdf0d2; }
        @media (prefers-color-scheme: dark) {
          text { fill: #e6eaf2; }
          .page { fill: #12161f; }
          .note { fill: #9aa5b8; }
          .node, .cell { fill: #232a38; }
          .node.local { fill: #22345c; }
          .node.all, .cell.all { fill: #1b3d28; }
          .node.some, .cell.some, .cell.unknown { fill: #46371a; }
        }

        """
}
