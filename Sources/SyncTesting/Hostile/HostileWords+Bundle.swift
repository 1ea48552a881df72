import SyncEngine
import SyncWire

/// The bundles of a hostile device.
extension HostileWords {
    /// A bundle.
    ///
    /// - parameters:
    ///     - device: Its replica.
    ///     - tables: Those that it may exchange, to which it keeps as a rule; nil for all.
    ///     - next: The number of its next change.
    mutating func bundle(
        _ view: HostileView, of device: ReplicaID, within tables: Set<String>? = nil, next: inout Int64
    ) -> ForgedBundle {
        var bundle = ForgedBundle(
            store: isOdd() && random.oneIn(4) ? identifier() : view.store, sender: device)
        bundle.replicas += view.replicas.filter { $0 != device && !random.oneIn(4) }
        for _ in 0..<(isOdd() ? random.number(below: 6) : 0) { bundle.replicas.append(identifier()) }
        bundle.tables = headerTables(view, within: isOdd() ? nil : tables)
        bundle.facts = facts(view, of: device, isGreeting: false)
        if random.oneIn(10) { bundle.base = vector(view) }
        for _ in 0..<random.number(below: 6) {
            row(view, in: &bundle, next: &next).map { bundle.rows.append($0) }
        }
        // What it claims to have told is what it has told, or anything else.
        if random.oneIn(5) { bundle.target = vector(view) }
        if isOdd() { next = max(next, sequence()) }
        let isByParts = random.oneIn(2) && !bundle.tables.isEmpty
        if bundle.facts.floor != VersionVector(), !random.oneIn(3) { bundle.target.join(bundle.facts.floor) }
        if isByParts {
            if !isOdd() { bundle.facts.parts = [] }
            for table in bundle.tables where !table.name.hasPrefix("_sync_") && !table.name.isEmpty {
                bundle.facts.parts.append(
                    .init(tables: [[table.name]], target: VersionVector([device: next])))
            }
        } else {
            bundle.target[device] = next
        }
        if isOdd() && random.oneIn(10) { overflow(&bundle, view) }
        return bundle
    }

    // MARK: Tables

    private mutating func headerTables(
        _ view: HostileView, within allowed: Set<String>?
    ) -> [BundleHeader.Table] {
        var tables: [BundleHeader.Table] = []
        for table in view.tables where allowed?.contains(table.name) != false && !random.oneIn(3) {
            var columns = table.columns
            if isOdd() { columns.shuffle(using: &random) }
            if isOdd() { columns.append(strangeName()) }
            if isOdd(), !columns.isEmpty { columns.removeLast() }
            if isOdd(), let first = columns.first { columns.append(first) }
            tables.append(
                .init(
                    name: name(like: table.name), key: name(like: table.key),
                    columns: columns.map { name(like: $0) }))
        }
        if isOdd() {
            tables.append(
                .init(name: strangeName(), key: "id", columns: (0..<random.number(below: 4)).map { "c\($0)" })
            )
        }
        for _ in 0..<(isOdd() ? 1 + random.number(below: 3) : 0) {
            tables.append(declaration(view))
        }
        return tables
    }

    /// Something about names or policies, which a header says as a table without rows.
    private mutating func declaration(_ view: HostileView) -> BundleHeader.Table {
        let table = random.element(of: view.tables)
        let name = table?.name ?? "note"
        let column = table.flatMap { random.element(of: $0.columns) } ?? "title"
        let other = random.element(of: view.tables)?.name ?? "other"
        let alias = random.oneIn(2) ? strangeName() : other
        let otherColumn = table.flatMap { random.element(of: $0.columns) } ?? "other"
        switch random.number(below: 5) {
        case 0: return .init(name: "_sync_table_names", key: name, columns: [name, alias])
        case 1:
            let otherName = random.oneIn(2) ? strangeName() : otherColumn
            return .init(name: "_sync_column_names", key: name, columns: [column, otherName])
        case 2:
            let kinds = ["counter", "counter", "custom", "last writer", "", strangeName()]
            return .init(
                name: "_sync_policy", key: name,
                columns: [
                    column, random.element(of: kinds) ?? "", random.oneIn(3) ? strangeName() : "",
                    "\(number(upTo: AdmissionLimits.timestampMax))", "\(replica(view))",
                ])
        case 3:
            let share = "\(column)+\(replica(view))"
            return .init(
                name: "_sync_share", key: name,
                columns: [column, random.oneIn(2) ? share : otherColumn, "\(replica(view))"])
        default:
            return .init(name: "_sync_" + strangeName(), key: name, columns: [column, alias, "1"])
        }
    }

    // MARK: Rows

    private mutating func row(
        _ view: HostileView, in bundle: inout ForgedBundle, next: inout Int64
    ) -> ForgedBundle.Row? {
        guard !bundle.tables.isEmpty else { return nil }
        var table = random.number(below: bundle.tables.count)
        var row: ForgedBundle.Row
        var known: HostileView.Version?
        if !random.oneIn(3), let version = random.element(of: view.rows),
            let index = bundle.tables.firstIndex(where: { $0.name == view.tables[version.table].name })
        {
            known = version
            table = index
            row = ForgedBundle.Row(key: version.key, isTextKey: version.isTextKey)
        } else {
            let isText = random.oneIn(3)
            row = ForgedBundle.Row(key: key(isText: isText), isTextKey: isText)
        }
        row.table = isOdd() && random.oneIn(10) ? table + 1 : table
        row.life = life(known?.life)
        row.isLeave = isOdd() && random.oneIn(3)
        let columns = bundle.tables[table].columns.count
        if random.oneIn(2) || row.life & 1 == 0 || row.isLeave || known == nil {
            row.base = stamp(view, bundle, known, next: &next)
            for column in 0..<columns where !random.oneIn(4) { row.values[column] = value() }
        }
        guard random.oneIn(2), columns > 0 else { return row.base == nil ? nil : row }
        var column = 0
        while column < columns {
            if random.oneIn(2) {
                row.cells.append(
                    .init(
                        column: column, stamp: stamp(view, bundle, known, next: &next), value: value()))
            }
            column += isOdd() && random.oneIn(4) ? 0 : 1
            if row.cells.count > columns + 2 { break }
        }
        return row.base == nil && row.cells.isEmpty ? nil : row
    }

    private mutating func key(isText: Bool) -> [UInt8] {
        // A few keys only, so that one message is about a row of another one.
        let number = UInt8(random.number(below: 8))
        guard isText else {
            return Array(repeating: 0xE0 | number, count: isOdd() && random.oneIn(8) ? 15 : 16)
        }
        let letter = random.oneIn(3) ? "E" : "e"
        return Array("\(letter)0000000-0000-4000-8000-00000000000\(number)".utf8)
    }

    private mutating func stamp(
        _ view: HostileView, _ bundle: ForgedBundle, _ known: HostileView.Version?, next: inout Int64
    ) -> WireStamp {
        if let known, random.oneIn(8), let index = bundle.replicas.firstIndex(of: known.author) {
            // What somebody else wrote comes back, perhaps with another value.
            return WireStamp(timestamp: known.timestamp, replica: index, sequence: known.sequence)
        }
        let isForeign = isOdd() || random.oneIn(12)
        let replica = isForeign ? random.number(below: bundle.replicas.count + (isOdd() ? 1 : 0)) : 0
        if replica > 0 || isOdd() {
            return WireStamp(timestamp: timestamp(view.now), replica: replica, sequence: sequence())
        }
        next = next.addingReportingOverflow(1).partialValue
        if next <= 0 || next > AdmissionLimits.sequenceMax { next = 1 }
        return WireStamp(timestamp: timestamp(view.now), replica: 0, sequence: next)
    }

    // MARK: Very much

    /// Makes a bundle large in one way.
    private mutating func overflow(_ bundle: inout ForgedBundle, _ view: HostileView) {
        let more = random.number(below: 3) - 1
        switch random.number(below: 6) {
        case 0:
            let count = random.oneIn(4) ? AdmissionLimits.replicaCountMax : DeviceBudgetEdge.replicas + more
            for number in 0..<count {
                let replica = ReplicaID(high: 0xEE, low: UInt64(number))
                bundle.replicas.append(replica)
                bundle.target[replica] = 1
            }
        case 1:
            let count = random.oneIn(4) ? AdmissionLimits.tableCountMax : DeviceBudgetEdge.names / 2 + more
            for number in 0..<count {
                bundle.tables.append(.init(name: "t\(number)", key: "id", columns: ["c"]))
            }
        case 2:
            let count = random.oneIn(4) ? AdmissionLimits.columnCountMax : DeviceBudgetEdge.names + more
            bundle.tables.append(
                .init(name: "wide", key: "id", columns: (0..<max(0, count)).map { "c\($0)" }))
        case 3:
            let name = String(repeating: "m", count: AdmissionLimits.nameByteCountMax - 5)
            for number in 0..<(AdmissionLimits.nameByteTotalMax / AdmissionLimits.nameByteCountMax + more) {
                bundle.tables.append(.init(name: "\(number)" + name, key: "id", columns: []))
            }
        case 4:
            let many = AdmissionLimits.coverageEntryCountMax / max(1, view.tables.count) + 100 * more
            let vector = VersionVector(
                Dictionary(
                    (0..<min(many, 30_000)).map { (ReplicaID(high: 0xEF, low: UInt64($0)), Int64(1)) },
                    uniquingKeysWith: max))
            for table in view.tables where !table.name.isEmpty {
                bundle.facts.parts.append(.init(tables: [[table.name]], target: vector))
            }
        default:
            bundle.facts.known = Dictionary(
                (0..<2_000).map { (ReplicaID(high: 0xED, low: UInt64($0)), view.vector) },
                uniquingKeysWith: { first, _ in first })
        }
    }
}

/// How much one device may bring that is new, about which a hostile one is curious.
enum DeviceBudgetEdge {
    /// In one greeting.
    static let strangers = 1_000
    static let replicas = 1_000
    static let names = 4_000
}
