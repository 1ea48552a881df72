import CipherStore
import Testing

private struct Course: TableRecord {
    static let pupils = hasMany(Pupil.self)
}

private struct Pupil: TableRecord {}

/// Associations of tables without rowids whose keys have two columns.
@Suite struct CompositeKeyTests {
    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE course (a TEXT, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
                    CREATE TABLE pupil (a TEXT, b INTEGER, FOREIGN KEY (a, b) REFERENCES course);
                    INSERT INTO course VALUES ('x', 1), ('x', 2), ('y', 1);
                    INSERT INTO pupil VALUES ('x', 1), ('x', 1), ('y', 1);
                    """)
        }
        return queue
    }

    @Test func aggregatesAreOfEachRow() throws {
        try makeQueue().read { db in
            let counted = Course.annotated(with: Course.pupils.count).orderByPrimaryKey()
            let counts = try Row.fetchAll(db, counted).map { $0["pupilCount"] as Int }
            #expect(counts == [2, 0, 1])
            let visited = Course.having(!Course.pupils.isEmpty)
            let number = try visited.fetchCount(db)
            #expect(number == 2)
        }
    }

    @Test func rowsOfAnnotatedAndGroupedRequestsGetTheirAssociatedRows() throws {
        let weighed = Course.annotated(with: Column("b").forKey("weight")).filter(Column("weight") < 2)
        let least = Course.select(Column("a"), Column("b"), min(Column("b"))).group(Column("a"))
        try makeQueue().read { db in
            for request in [weighed, least] {
                let rows = try Row.fetchAll(db, request.order(Column("a")).including(all: Course.pupils))
                let names = rows.map { $0["a"] as String }
                #expect(names == ["x", "y"])
                let counts = rows.map { $0.prefetchedRows["pupils"]?.count }
                #expect(counts == [2, 1])
            }
        }
    }
}
