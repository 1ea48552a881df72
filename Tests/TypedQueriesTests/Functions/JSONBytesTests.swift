import Foundation
import Testing

@testable import TypedQueries

/// A table with JSON that holds bytes.
private struct Album: Table {
    struct Cover: Codable, Equatable {
        var photo: Data
        var thumbnail: [UInt8]
        var back: Data?
        var pages: [Data]
    }

    var cover: Cover
    var photos: [Data]
    var parts: [[UInt8]]

    typealias QueryValue = Self
    typealias QueryOutput = Self
    struct TableColumns: TableDefinition {
        typealias QueryValue = Album
        var cover: TableColumn<Album, Cover.JSONRepresentation> { .init("cover") }
        var photos: TableColumn<Album, [Data].JSONRepresentation> { .init("photos") }
        var parts: TableColumn<Album, [[UInt8]].JSONBRepresentation> { .init("parts") }
        static var columnList: ColumnList {
            let columns = Self()
            return .init(columns.cover, columns.photos, columns.parts)
        }
    }
    static var tableName: String { "albums" }
    static var columnWidth: Int { 3 }
    init(cover: Cover, photos: [Data], parts: [[UInt8]]) {
        (self.cover, self.photos, self.parts) = (cover, photos, parts)
    }
    init(decoder: inout some QueryDecoder) throws {
        cover = try decoder.value(Cover.JSONRepresentation.self)
        photos = try decoder.value([Data].JSONRepresentation.self)
        parts = try decoder.value([[UInt8]].JSONBRepresentation.self)
    }
    func writeValues(to row: inout RowWriter) {
        row.write(cover, as: Cover.JSONRepresentation.self)
        row.write(photos, as: [Data].JSONRepresentation.self)
        row.write(parts, as: [[UInt8]].JSONBRepresentation.self)
    }
}

/// Bytes in JSON, where they are texts in Base64 or arrays of numbers.
@Suite struct JSONBytesTests {
    private let photo = Data([1, 2])
    private let bytes: [UInt8] = [3, 255]

    private func withAlbum(_ body: (Database) throws -> Void) throws {
        try withTables { db throws in
            try db.execute(sql: "CREATE TABLE albums (cover TEXT, photos TEXT, parts BLOB)")
            let cover = Album.Cover(photo: photo, thumbnail: bytes, back: nil, pages: [Data(), photo])
            let album = Album(cover: cover, photos: [photo, Data([9])], parts: [bytes, []])
            try Album.insert { album }.execute(db)
            try body(db)
        }
    }

    @Test func theSQLMakesBytesOfJSON() {
        expectSQL(
            Album.columns.cover.jsonExtract(\.photo),
            #"cipherstore_json_unbase64(json_extract("albums"."cover", '$.photo'))"#)
        expectSQL(
            Album.columns.cover.jsonbExtract(\.thumbnail),
            #"cipherstore_json_unbytes(json_extract("albums"."cover", '$.thumbnail'))"#)
    }

    @Test func bytesAreRead() throws {
        try withAlbum { db throws in
            let data = try Album.select { $0.cover.jsonExtract(\.photo) }.fetchOne(db)
            #expect(data == .some(photo))
            let binary = try Album.select { $0.cover.jsonbExtract(\.photo) }.fetchOne(db)
            #expect(binary == .some(photo))
            let array = try Album.select { $0.cover.jsonExtract(\.thumbnail) }.fetchOne(db)
            #expect(array == .some(bytes))
            let binaryArray = try Album.select { $0.cover.jsonbExtract(\.thumbnail) }.fetchOne(db)
            #expect(binaryArray == .some(bytes))
            let missing = try Album.select { $0.cover.jsonExtract(\.back) }.fetchOne(db)
            #expect(missing == .some(nil))
            let byText = try Album.select { $0.cover.jsonExtract("$.photo", as: Data.self) }.fetchOne(db)
            #expect(byText == .some(photo))
        }
    }

    @Test func bytesAreCompared() throws {
        try withAlbum { db throws in
            let counts = [
                try Album.where { $0.cover.jsonExtract(\.photo).eq(photo) }.fetchCount(db),
                try Album.where { $0.cover.jsonExtract(\.photo).neq(photo) }.fetchCount(db),
                try Album.where { $0.cover.jsonExtract(\.thumbnail).eq(bytes) }.fetchCount(db),
                try Album.where { $0.cover.jsonExtract(\.back).is(nil) }.fetchCount(db),
            ]
            #expect(counts == [1, 0, 1, 1])
        }
    }

    @Test func elementsAreBytes() throws {
        try withAlbum { db throws in
            let counts = [
                try Album.where { $0.photos.jsonEach().contains(photo) }.fetchCount(db),
                try Album.where { $0.photos.jsonEach().contains(Data([8])) }.fetchCount(db),
                try Album.where { $0.cover.jsonEach(\.pages).contains(Data()) }.fetchCount(db),
                try Album.where { $0.parts.jsonEach().contains(bytes) }.fetchCount(db),
                try Album.where { $0.photos.jsonEach().where { $0.value.eq(photo) }.exists() }.fetchCount(db),
                try Album.where { $0.parts.jsonEach().where { $0.value.eq(bytes) }.exists() }.fetchCount(db),
            ]
            #expect(counts == [1, 0, 1, 1, 1, 1])
            let elements = try Album.join(Album.columns.photos.jsonEach()) { _, _ in true }
                .order { $1.key }.select { ($1.key, $1.value) }.fetchAll(db)
            #expect(elements.map(\.1) == [photo, Data([9])])
            let rows = try Album.join(Album.columns.parts.jsonEach()) { _, _ in true }
                .order { $1.key }.fetchAll(db)
            #expect(rows.map(\.1) == [bytes, []])
        }
    }

    @Test func elementsThatMayBeAbsentAreBytes() throws {
        try withAlbum { db throws in
            let photos = Album.leftJoin(Album.columns.photos.jsonEach()) { $1.value.eq(photo) }
            let parts = Album.leftJoin(Album.columns.parts.jsonEach()) { $1.value.eq(bytes) }
            let found = try photos.select { $1.value }.fetchAll(db)
            #expect(found == [photo])
            let foundParts = try parts.select { $1.value }.fetchAll(db)
            #expect(foundParts == [bytes])
            let counts = [
                try photos.where { $1.value.eq(photo) }.fetchCount(db),
                try parts.where { $1.value.neq(bytes) }.fetchCount(db),
            ]
            #expect(counts == [1, 0])
            let none = Album.leftJoin(Album.columns.photos.jsonEach()) { $1.value.eq(Data([8])) }
            let absent = try none.select { $1.value }.fetchAll(db)
            #expect(absent == [nil])
        }
    }

    @Test func elementsUnderAnotherNameAreBytes() throws {
        enum Other: AliasName {}
        try withAlbum { db throws in
            let photos = Album.join(Album.columns.photos.jsonEach().as(Other.self)) { $1.value.eq(photo) }
            let found = try photos.select { $1.value }.fetchAll(db)
            #expect(found == [photo])
            let parts = Album.join(Album.columns.parts.jsonEach().as(Other.self)) { $1.value.eq(bytes) }
            let foundParts = try parts.select { $1.value }.fetchAll(db)
            #expect(foundParts == [bytes])
            let perhaps = Album.leftJoin(Album.columns.photos.jsonEach().as(Other.self)) {
                $1.value.eq(photo)
            }
            let foundPerhaps = try perhaps.select { $1.value }.fetchAll(db)
            #expect(foundPerhaps == [photo])
            let partsPerhaps = Album.leftJoin(Album.columns.parts.jsonEach().as(Other.self)) {
                $1.value.eq(bytes)
            }
            let foundPartsPerhaps = try partsPerhaps.select { $1.value }.fetchAll(db)
            #expect(foundPartsPerhaps == [bytes])
        }
    }

    @Test func whatIsNotBytesIsAnErrorWhenItIsRead() throws {
        try withAlbum { db throws in
            try db.execute(
                sql: #"UPDATE albums SET cover = '{"photo":"a b","thumbnail":[256]}', photos = '["?"]'"#)
            #expect(throws: QueryDecodingFailure.self) {
                try Album.select { $0.cover.jsonExtract(\.photo) }.fetchAll(db)
            }
            #expect(throws: QueryDecodingFailure.self) {
                try Album.select { $0.cover.jsonExtract(\.thumbnail) }.fetchAll(db)
            }
            #expect(throws: QueryDecodingFailure.self) {
                try Album.join(Album.columns.photos.jsonEach()) { _, _ in true }.fetchAll(db)
            }
            let count = try Album.where { $0.cover.jsonExtract(\.photo).eq(photo) }.fetchCount(db)
            #expect(count == 0)
        }
    }
}
