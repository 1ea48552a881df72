import CipherStore

/// A line of what `verify` found, for people: pages that follow each other are one line.
struct ProblemLine: Equatable {
    let kind: StoreProblem.Kind
    let table: String?
    let text: String

    /// The lines of a report.
    static func lines(_ report: StoreCheckReport) -> [ProblemLine] {
        lines(report.problems, presentPageCount: report.presentPageCount)
    }

    /// The lines of problems.
    ///
    /// - parameter presentPageCount: How many pages the file has; nil when that can't be told, or all are there.
    static func lines(_ problems: [StoreProblem], presentPageCount: Int?) -> [ProblemLine] {
        var lines: [ProblemLine] = []
        var run: [StoreProblem] = []
        func isMissing(_ page: Int) -> Bool { presentPageCount.map { page > $0 } ?? false }
        func endRun() {
            guard let first = run.first, let from = first.page, let to = run.last?.page else { return }
            let what = isMissing(from) ? "missing" : "not authentic"
            lines.append(
                ProblemLine(
                    kind: .page, table: first.table,
                    text: from == to
                        ? (isMissing(from) ? "page \(from) is missing" : first.message)
                        : "pages \(from) to \(to) are \(what)"
                            + (from == 1 ? ", page 1 holds the header and the schema" : "")))
            run = []
        }
        for problem in problems {
            guard problem.kind == .page, let page = problem.page else {
                endRun()
                lines.append(ProblemLine(kind: problem.kind, table: problem.table, text: problem.message))
                continue
            }
            if let last = run.last, let before = last.page,
                page != before + 1 || last.table != problem.table || isMissing(page) != isMissing(before)
            {
                endRun()
            }
            run.append(problem)
        }
        endRun()
        return lines
    }
}
