import CipherStore
import Foundation

/// A line of what `verify` found, for people: pages that follow each other are one line.
struct ProblemLine: Equatable {
    let kind: StoreProblem.Kind
    let table: String?
    let text: String

    /// The lines of a report.
    ///
    /// - parameter store: The file, whose length says which pages are not damaged but missing.
    static func lines(_ report: StoreCheckReport, store: String) -> [ProblemLine] {
        lines(report.problems, presentPageCount: presentPageCount(store, report))
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

    /// The pages that a file has that was cut off; nil for any other.
    private static func presentPageCount(_ store: String, _ report: StoreCheckReport) -> Int? {
        // The check says so in words: "the file was cut off: 2 of 58 pages are there".
        guard let problem = report.problems.first(where: { $0.kind == .size }),
            let words = problem.message.split(separator: ": ").last?.split(separator: " "),
            words.count > 3, words[1] == "of", words[2] == "\(report.pageCount)"
        else { return nil }
        return Int(words[0])
    }
}
