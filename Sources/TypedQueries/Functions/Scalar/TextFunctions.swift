// Functions of texts and bytes. Each is NULL when one of its arguments is.

extension QueryExpression where QueryValue: QueryRepresentable & Collection {
    /// The number of characters of a text up to the first NUL, or of bytes of a blob.
    ///
    /// ```swift
    /// Reminder.select { $0.title.length() }    // SELECT length("reminders"."title") FROM "reminders"
    /// ```
    public func length() -> FunctionExpression<Int> { FunctionExpression("length", self) }

    /// The number of bytes.
    ///
    /// ```swift
    /// Reminder.select { $0.title.octetLength() }    // octet_length("reminders"."title")
    /// ```
    public func octetLength() -> FunctionExpression<Int> { FunctionExpression("octet_length", self) }
}

extension QueryExpression {
    /// The number of characters of a text up to the first NUL, or of bytes of a blob.
    public func length<Wrapped: QueryRepresentable & Collection>() -> FunctionExpression<Int?>
    where QueryValue == Wrapped? {
        FunctionExpression("length", self)
    }

    /// The number of bytes.
    public func octetLength<Wrapped: QueryRepresentable & Collection>() -> FunctionExpression<Int?>
    where QueryValue == Wrapped? {
        FunctionExpression("octet_length", self)
    }
}

extension QueryExpression where QueryValue == String {
    /// The position of a text within this one, counted in characters from 1; 0 when it is not there.
    public func instr(_ occurrence: some QueryExpression<String>) -> FunctionExpression<Int> {
        FunctionExpression("instr", self, occurrence)
    }

    /// The number of the first character in Unicode, NULL when there is none.
    public func unicode() -> FunctionExpression<Int?> { FunctionExpression("unicode", self) }
}

extension QueryExpression where QueryValue == String? {
    /// The position of a text within this one, counted in characters from 1; 0 when it is not there.
    public func instr(_ occurrence: some QueryExpression<String>) -> FunctionExpression<Int?> {
        FunctionExpression("instr", self, occurrence)
    }

    /// The number of the first character in Unicode, NULL when there is none.
    public func unicode() -> FunctionExpression<Int?> { FunctionExpression("unicode", self) }
}

extension QueryExpression where QueryValue: QueryRepresentable, QueryValue.QueryUnwrapped == String {
    /// The text in lower case, as far as its letters are ASCII.
    ///
    /// ```swift
    /// Reminder.where { $0.title.lower().eq("milk") }    // WHERE (lower("reminders"."title")) = ('milk')
    /// ```
    public func lower() -> FunctionExpression<QueryValue> { FunctionExpression("lower", self) }

    /// The text in upper case, as far as its letters are ASCII.
    public func upper() -> FunctionExpression<QueryValue> { FunctionExpression("upper", self) }

    /// The text without blanks at its begin and end.
    public func trim() -> FunctionExpression<QueryValue> { FunctionExpression("trim", self) }

    /// The text without certain characters at its begin and end.
    ///
    /// - parameter characters: The characters, in any order.
    public func trim(_ characters: some QueryExpression<String>) -> FunctionExpression<QueryValue> {
        FunctionExpression("trim", self, characters)
    }

    /// The text without blanks at its begin.
    public func ltrim() -> FunctionExpression<QueryValue> { FunctionExpression("ltrim", self) }

    /// The text without certain characters at its begin.
    public func ltrim(_ characters: some QueryExpression<String>) -> FunctionExpression<QueryValue> {
        FunctionExpression("ltrim", self, characters)
    }

    /// The text without blanks at its end.
    public func rtrim() -> FunctionExpression<QueryValue> { FunctionExpression("rtrim", self) }

    /// The text without certain characters at its end.
    public func rtrim(_ characters: some QueryExpression<String>) -> FunctionExpression<QueryValue> {
        FunctionExpression("rtrim", self, characters)
    }

    /// A part of the text, from a character on.
    ///
    /// - parameter offset: The position of the first character, counted from 1; from the end when it is negative.
    public func substr(_ offset: some QueryExpression<Int>) -> FunctionExpression<QueryValue> {
        FunctionExpression("substr", self, offset)
    }

    /// A part of the text.
    ///
    /// - parameters:
    ///     - offset: The position of the first character, counted from 1; from the end when it is negative.
    ///     - length: The number of characters.
    public func substr(
        _ offset: some QueryExpression<Int>, _ length: some QueryExpression<Int>
    ) -> FunctionExpression<QueryValue> {
        FunctionExpression("substr", self, offset, length)
    }

    /// The text with one text put in the place of another, wherever that is.
    public func replace(
        _ other: some QueryExpression<String>, _ replacement: some QueryExpression<String>
    ) -> FunctionExpression<QueryValue> {
        FunctionExpression("replace", self, other, replacement)
    }

    /// The bytes that the text's pairs of hexadecimal digits stand for, NULL when it has anything else.
    public func unhex() -> FunctionExpression<[UInt8]?> { FunctionExpression("unhex", self) }

    /// The bytes that the text's pairs of hexadecimal digits stand for.
    ///
    /// - parameter ignored: Characters that may stand between the pairs.
    public func unhex(_ ignored: some QueryExpression<String>) -> FunctionExpression<[UInt8]?> {
        FunctionExpression("unhex", self, ignored)
    }
}

extension QueryExpression where QueryValue: QueryRepresentable {
    /// The bytes as hexadecimal digits, of a number those of its text; empty for NULL.
    public func hex() -> FunctionExpression<String> { FunctionExpression("hex", self) }

    /// The value as an SQL literal.
    public func quote() -> FunctionExpression<String> { FunctionExpression("quote", self) }
}
