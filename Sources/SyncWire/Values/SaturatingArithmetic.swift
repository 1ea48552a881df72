extension FixedWidthInteger {
    /// The sum, or the bound that it would go beyond: for numbers that others made up.
    package func addingSaturated(_ other: Self) -> Self {
        let (sum, isOver) = addingReportingOverflow(other)
        guard isOver else { return sum }
        return other < 0 ? .min : .max
    }
}
