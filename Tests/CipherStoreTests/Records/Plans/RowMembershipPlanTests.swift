import CipherStore
import Testing

private struct School: TableRecord {
    static let links = hasMany(Link.self, using: ForeignKey(["a", "b"], to: ["a", "b"]))
    static let teachers = hasMany(Teacher.self, through: links, using: Link.teacher)
}

private struct Link: TableRecord {
    static let teacher = belongsTo(Teacher.self, using: ForeignKey(["a"], to: ["a"]))
}

private struct Teacher: TableRecord {}

/// Joins by `IN` of several columns, of which SQLite 3.15 can't carry out some.
@Suite struct RowMembershipPlanTests {
    private func names(_ keyOfLink: String, _ request: QueryInterfaceRequest<School>) throws -> [[String]] {
        let queue = try DatabaseQueue()
        return try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE school (a TEXT, b INTEGER, PRIMARY KEY (a, b));
                    CREATE TABLE link (a TEXT, b INTEGER, t INTEGER, \(keyOfLink);
                    CREATE TABLE teacher (id INTEGER PRIMARY KEY, a TEXT, name TEXT);
                    CREATE INDEX linkB ON link (b, t);
                    CREATE INDEX teacherA ON teacher (a, name);
                    INSERT INTO school VALUES ('x', 1), ('x', 2), ('y', 1);
                    INSERT INTO link (a, b, t) VALUES ('x', 1, 1), ('y', 1, 2), ('z', 1, 3);
                    INSERT INTO teacher VALUES (1, 'x', 'Ann'), (2, 'y', 'Bob'), (3, 'x', 'Cy'), (4, 'z', 'Di');
                    """)
            return try Row.fetchAll(db, request).map { row in
                (row.prefetchedRows["teachers"] ?? []).map { $0["name"] as String }
            }
        }
    }

    @Test(arguments: ["id INTEGER PRIMARY KEY)", "PRIMARY KEY (a, b, t)) WITHOUT ROWID"])
    func rowsThatAreReachedByKeysOfSeveralColumnsAreFetched(keyOfLink: String) throws {
        let schools = School.orderByPrimaryKey().including(all: School.teachers.order(Column("name")))
        let all = try names(keyOfLink, schools)
        #expect(all == [["Ann", "Cy"], [], ["Bob"]])
        // With a limit the keys are listed.
        let limited = try names(keyOfLink, schools.limit(3))
        #expect(limited == [["Ann", "Cy"], [], ["Bob"]])
    }
}
