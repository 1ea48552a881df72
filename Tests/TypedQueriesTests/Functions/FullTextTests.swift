import Foundation
import Testing

@testable import TypedQueries

private struct Article: FTS5 {
    var title: String
    var body: String

    typealias QueryValue = Self
    typealias QueryOutput = Self
    struct TableColumns: TableDefinition {
        typealias QueryValue = Article
        var title: TableColumn<Article, String> { .init("title") }
        var body: TableColumn<Article, String> { .init("body") }
        static var columnList: ColumnList { .init(Self().title, Self().body) }
    }
    static var tableName: String { "articles" }
    static var columnWidth: Int { 2 }
    init(title: String, body: String) { (self.title, self.body) = (title, body) }
    init(decoder: inout some QueryDecoder) throws {
        title = try decoder.value(String.self)
        body = try decoder.value(String.self)
    }
    func writeValues(to row: inout RowWriter) {
        row.write(title, as: String.self)
        row.write(body, as: String.self)
    }
}

@Suite struct FullTextTests {
    private let article = Article.columns

    @Test func theSQLIsThatOfFTS5() {
        expectSQL(article.match("milk"), #"("articles" MATCH 'milk')"#)
        expectSQL(article.title.match(#"o"at"#), #"("articles" MATCH '"title" : "o""at"')"#)
        expectSQL(article.rank, #""articles"."rank""#)
        expectSQL(article.bm25(), #"bm25("articles")"#)
        expectSQL(article.bm25([\.title: 10]), #"bm25("articles", 10.0, 1.0)"#)
        expectSQL(article.body.highlight("<b>", "</b>"), #"highlight("articles", 1, '<b>', '</b>')"#)
        expectSQL(
            article.title.snippet("<b>", "</b>", "…", 8), #"snippet("articles", 0, '<b>', '</b>', '…', 8)"#)
    }

    /// FTS5 looks at bytes. A quote that one of these marks follows is no `Character` of its own.
    @Test func aQuoteInAPhraseIsDoubledWhateverFollowsIt() {
        for mark in ["\u{301}", "\u{200D}", "\u{FE0F}"] {
            let sql = article.title.match("o\"\(mark)'\(mark) OR at").queryFragment.debugDescription
            let expected = "(\"articles\" MATCH '\"title\" : \"o\"\"\(mark)''\(mark) OR at\"')"
            #expect(Array(sql.utf8) == Array(expected.utf8))
        }
    }

    @Test func anEngineWithoutFTS5SaysSo() throws {
        try withTables { db throws in
            let query = Article.where { $0.match("oat") }.order { $0.rank }
            guard EngineFeatures.current.supportsFTS5 else {
                let error = #expect(throws: DatabaseError.self) { try query.fetchAll(db) }
                #expect(error?.message?.contains("FTS5 is missing") == true)
                return
            }
            try db.execute(sql: "CREATE VIRTUAL TABLE articles USING fts5(title, body)")
            try Article.insert { Article(title: "Oat", body: "milk of oat") }.execute(db)
            #expect(try query.select { $0.title.highlight("<", ">") }.fetchAll(db) == ["<Oat>"])
        }
    }
}
