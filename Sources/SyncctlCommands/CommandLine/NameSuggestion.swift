/// Finds what somebody may have meant who mistyped a name.
enum NameSuggestion {
    /// So many mistyped characters are forgiven.
    private static let distanceMax = 2

    /// The name that is nearest to what was written; nil when none is near.
    static func nearest(_ text: String, among names: [String]) -> String? {
        let text = text.lowercased()
        let scored = names.map { (name: $0, distance: distance(text, $0.lowercased())) }
        let found = scored.filter { $0.distance <= min(distanceMax, max(1, text.count / 2)) }
        return found.min { ($0.distance, $0.name) < ($1.distance, $1.name) }?.name
            ?? (text.count > 1 ? names.first { $0.lowercased().hasPrefix(text) } : nil)
    }

    /// How many characters have to be added, removed, replaced or swapped with the next one.
    private static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        var before: [Int] = []
        var previous = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let isEqual = left[row] == right[column]
                var best = min(
                    previous[column] + (isEqual ? 0 : 1), previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, before[column - 1] + 1)
                }
                current.append(best)
            }
            (before, previous) = (previous, current)
        }
        return previous.last ?? 0
    }
}
